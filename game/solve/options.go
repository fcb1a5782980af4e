package solve

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"runtime"

	"tilecheck/game"
	"tilecheck/internal/shard"
)

// Objective is the quantity whose expectation the player maximises.
type Objective uint8

// The objectives. The game ends when MAX is on the board or no move is legal.
const (
	Win   Objective = iota // 1 if MAX appears, 0 if the game is lost; discounted
	Score                  // the score, with the merge that makes MAX
	Moves                  // the number of moves until the game is won or lost
	numObjectives
)

var objectiveNames = [numObjectives]string{"win", "score", "moves"}

// String returns "win", "score" or "moves".
func (o Objective) String() string {
	if o >= numObjectives {
		return fmt.Sprintf("Objective(%d)", uint8(o))
	}
	return objectiveNames[o]
}

// ParseObjective returns the objective with a name: win, score or moves.
func ParseObjective(name string) (Objective, error) {
	for number, objectiveName := range objectiveNames {
		if name == objectiveName {
			return Objective(number), nil
		}
	}
	return 0, fmt.Errorf("objective is %q, want win, score or moves", name)
}

// Options say which problem to solve, and how.
type Options struct {
	Shape     game.Shape
	Max       int       // the tile that ends the game: a power of two from 4 to 32768
	Objective Objective // the zero value is Win
	// Discount is the factor gamma of each move, in (0,1]; 0 means 1. Only Win takes one other than 1.
	Discount float64
	// P2 is the probability that a new tile is a 2, otherwise it is a 4; nil means 9/10. Its denominator is at most MaxOdds.
	P2 *big.Rat
	// Against is who places the new tiles; the zero value is Chance. Against an opponent, the player maximises the guaranteed value.
	Against Against

	Workers int   // goroutines; 0 means one for each processor. The result does not depend on it
	Memory  int64 // approximate limit in bytes; 0 means no limit. The result does not depend on it

	// Process is the number of this process if several processes solve the problem together by SolveFile; the zero value means one process.
	// The result does not depend on it.
	Process shard.Part

	Progress func(Progress) // called after each layer; may be nil
}

// MaxOdds is the largest denominator of P2.
const MaxOdds = 1 << 20

// Problem is a checked problem, as it is stored in tables.
type Problem struct {
	Shape       game.Shape
	MaxExp      int // log2 MAX, from 2 to game.MaxExponent
	Objective   Objective
	Discount    float64
	Twos, Total uint32 // a new tile is a 2 with probability Twos/Total, in lowest terms
	Against     Against
}

// String describes the problem, such as "win on 3x3 to 1024", with the parameters that are not the defaults.
func (p Problem) String() string {
	text := fmt.Sprintf("%s on %s to %d", p.Objective, p.Shape, game.Value(p.MaxExp))
	if p.Discount != 1 {
		text += fmt.Sprintf(", discount %g", p.Discount)
	}
	if p.Twos != 9 || p.Total != 10 {
		text += fmt.Sprintf(", probability of a 2 %d/%d", p.Twos, p.Total)
	}
	if p.Against != Chance {
		text += fmt.Sprintf(", against %s", p.Against)
	}
	return text
}

// Problem checks the options and returns the problem.
func (o *Options) Problem() (Problem, error) {
	problem := Problem{Shape: o.Shape, MaxExp: bits.TrailingZeros(uint(o.Max)), Objective: o.Objective, Discount: o.Discount, Twos: 9, Total: 10, Against: o.Against}
	if problem.Discount == 0 {
		problem.Discount = 1
	}
	if o.P2 != nil {
		if !o.P2.Num().IsUint64() || !o.P2.Denom().IsUint64() || o.P2.Denom().Uint64() > MaxOdds || o.P2.Cmp(big.NewRat(1, 1)) > 0 {
			return problem, fmt.Errorf("probability of a 2 is %s, want a fraction from 0 to 1 with a denominator of at most %d", o.P2.RatString(), MaxOdds)
		}
		problem.Twos, problem.Total = uint32(o.P2.Num().Uint64()), uint32(o.P2.Denom().Uint64())
	}
	if o.Max < 4 || o.Max != 1<<problem.MaxExp || problem.MaxExp > game.MaxExponent {
		return problem, fmt.Errorf("MAX is %d, want a power of two from 4 to %d", o.Max, game.Value(game.MaxExponent))
	}
	return problem, problem.validate()
}

// validate returns an error if a parameter of the problem is outside its range.
func (p Problem) validate() error {
	if err := p.Shape.Validate(); err != nil {
		return err
	}
	switch {
	case p.MaxExp < 2 || p.MaxExp > game.MaxExponent:
		return fmt.Errorf("MAX is 2 to the power of %d, want a power from 2 to %d", p.MaxExp, game.MaxExponent)
	case p.Total == 0 || p.Total > MaxOdds || p.Twos > p.Total:
		return fmt.Errorf("probability of a 2 is %d/%d, want a fraction from 0 to 1 with a denominator of at most %d", p.Twos, p.Total, MaxOdds)
	case p.Objective >= numObjectives:
		return fmt.Errorf("objective is %d, want one of %d", p.Objective, numObjectives)
	case int(p.Against) >= len(againstNames()):
		return fmt.Errorf("opponent is %d, want one of %d", p.Against, len(againstNames()))
	case math.IsNaN(p.Discount) || p.Discount <= 0 || p.Discount > 1:
		return fmt.Errorf("discount is %g, want a factor above 0 and at most 1", p.Discount)
	case p.Discount != 1 && p.Objective != Win:
		return fmt.Errorf("discount is %g, want 1 for the objective %s", p.Discount, p.Objective)
	}
	return nil
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}
