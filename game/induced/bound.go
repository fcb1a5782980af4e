package induced

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// PartOptions say which part of the game Survey explores. Rules and Max are as in Options; new tiles have the usual odds.
type PartOptions struct {
	Rules *game.Rules
	Max   int
	// Canonical makes the strategy play on canonical boards: see Part.
	Canonical bool
	// States is the greatest number of states of the part; 0 means DefaultPartStates.
	States int
	// Time, if positive, limits the search for a larger part. The part then depends on the machine.
	Time time.Duration
	// Workers is the number of goroutines that ask the strategy; 0 means one for each processor. The part does not depend on it.
	Workers int
	// Progress, if not nil, is called with the progress of the passes.
	Progress func(PartProgress)
}

// DefaultPartStates is the default of PartOptions.States.
const DefaultPartStates = 1_000_000

// PartProgress is the progress of a pass.
type PartProgress struct {
	Pass   int // from 1
	States int // states of this pass so far
	Limit  int
}

// Part is a set of boards that a strategy visits, with the decisions of the strategy on them for each memory.
//
// On canonical boards the strategy decides on the canonical image of a board, and makes the corresponding move. Symmetric boards then count as
// one, so a part covers up to eight times as many boards. This may be another strategy: a preference list, for example, changes. It has the
// same value as the original strategy if [SymmetricValue] says so.
type Part struct {
	survey *survey
	layers []layer // by half of the sum of the tiles
	states int
	passes int
	cutoff float64
}

// Canonical reports whether the boards of the part are canonical.
func (p *Part) Canonical() bool { return p.survey.opt.Canonical }

// SymmetricValue reports whether a strategy certainly wins with the same probability on canonical boards. It knows two such strategies:
//
//   - random chooses each legal move with the same probability, so canonical boards do not change it.
//   - optimal:objective=win makes a best move on the canonical board, and the image of a best move is a best move. So it is optimal on
//     canonical boards too. If several moves are best it may choose another one. Package solve finds the best moves up to rounding, so the
//     two probabilities may differ by its rounding error.
func SymmetricValue(s strategy.Strategy) bool {
	return slices.Contains([]string{"random", "optimal:objective=win"}, s.String())
}

// States returns the number of states; a state is a board with a memory.
func (p *Part) States() int { return p.states }

// Passes returns the number of passes that it took to find the part.
func (p *Part) Passes() int { return p.passes }

// Cutoff returns the visiting probability below which boards were left out; 0 if none were.
func (p *Part) Cutoff() float64 { return p.cutoff }

// TimedOut reports whether PartOptions.Time ended the search.
func (p *Part) TimedOut() bool { return p.survey.timedOut }

// layer has the boards of one sum of tiles, by memory.
type layer []boards

// boards is a sorted list of boards with the number of the strategy's decision on each.
type boards struct {
	boards    []game.Board
	decisions []uint32
}

// find searches for a board from index at on. It returns its decision and the index from which to search for a larger board.
func (b boards) find(board game.Board, start int) (decision uint32, next int, isFound bool) {
	n, isFound := slices.BinarySearch(b.boards[start:], board)
	if !isFound {
		return 0, start + n, false
	}
	return b.decisions[start+n], start + n, true
}

func (o PartOptions) validate() error {
	if o.States < 0 || o.Workers < 0 || o.Time < 0 {
		return fmt.Errorf("states, workers and time are %d, %d and %v, want no negative ones", o.States, o.Workers, o.Time)
	}
	return Options{Rules: o.Rules, Max: o.Max}.validate()
}

// Survey searches for a large part of the boards that a strategy visits: those with a visiting probability of at least a cutoff. Each pass lowers the
// cutoff, as far as the number of states and the time allow. If the strategy visits few boards, the part has all of them. Survey returns an error of
// the strategy or of ctx, or context.DeadlineExceeded if the time was too short for one pass.
func Survey(ctx context.Context, s strategy.Strategy, opt PartOptions) (*Part, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	if opt.States == 0 {
		opt.States = DefaultPartStates
	}
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	search := &survey{strategy: s, opt: opt, decisionIndex: map[string]uint32{}}
	if opt.Time > 0 {
		search.deadline = time.Now().Add(opt.Time)
	}
	for range opt.Workers {
		search.choosers = append(search.choosers, s.Chooser())
	}
	part, err := search.lowerCutoff(ctx, firstCutoff)
	if err == nil && part == nil {
		err = context.DeadlineExceeded
	}
	return part, err
}

// survey searches for a part in passes with lower and lower cutoffs.
type survey struct {
	strategy      strategy.Strategy
	choosers      []strategy.Chooser // one for each worker
	opt           PartOptions
	deadline      time.Time
	timedOut      bool
	passes        int
	decisions     []decision
	decisionIndex map[string]uint32 // index of each decision, by its text
	guideLayers   []layer           // decisions that replace the strategy's, by half of the sum
}

const (
	firstCutoff = 1e-3
	cutoffStep  = 4    // a pass divides the cutoff by at most this
	roomUsed    = 0.95 // share of the allowed states that a pass aims at
	worthwhile  = 1.1  // a further pass must be able to have this many times as many states
	fewStates   = 10_000
	nearlyAll   = 1.01 // if a pass has fewer times as many states than the one before, the next pass tries all boards
)

// lowerCutoff makes passes with lower and lower cutoffs, until the part almost has the allowed number of states. It returns the part of the last
// complete pass; nil if the time was too short for the first pass.
func (v *survey) lowerCutoff(ctx context.Context, cutoff float64) (*Part, error) {
	// Try all boards first, in case there are very few.
	if part, err := v.surveyStates(ctx, 0, min(fewStates, v.opt.States), nil); err != nil || part != nil {
		return part, err
	}
	bestPart, err := v.surveyStates(ctx, cutoff, v.opt.States, nil)
	for ; err == nil && bestPart == nil && !v.timedOut; cutoff *= cutoffStep { // a cutoff above 1 leaves no boards
		bestPart, err = v.surveyStates(ctx, cutoff*cutoffStep, v.opt.States, nil)
	}
	if err != nil || bestPart == nil {
		return nil, err
	}
	allTried := false // whether a pass has tried to visit all boards
	growth := 1.0     // the number of states grows as the cutoff to the power of -growth
	for {
		remainingFactor := roomUsed * float64(v.opt.States) / float64(bestPart.states)
		if remainingFactor < worthwhile {
			return bestPart, nil
		}
		factor := min(cutoffStep, math.Pow(remainingFactor, 1/growth))
		part, err := v.surveyStates(ctx, bestPart.cutoff/factor, v.opt.States, bestPart)
		if err != nil {
			return nil, err
		}
		if part == nil {
			return bestPart, nil
		}
		if !allTried && float64(part.states) < nearlyAll*float64(bestPart.states) {
			allTried = true
			if completePart, err := v.surveyStates(ctx, 0, v.opt.States, part); err != nil || completePart != nil {
				return completePart, err
			}
		}
		growth = min(max(math.Log(float64(part.states)/float64(bestPart.states))/math.Log(factor), 0.1), 1)
		bestPart = part
	}
}

// surveyStates makes one pass with a cutoff, and returns its part; nil if it has more than limit states or took too long. It reuses the decisions in earlierPart,
// the part of an earlier pass, which may be nil.
func (v *survey) surveyStates(ctx context.Context, cutoff float64, limit int, earlierPart *Part) (*Part, error) {
	if v.overdue() {
		return nil, nil
	}
	v.passes++
	forwardPass := &forward{survey: v, maxStates: limit, result: &Part{survey: v, cutoff: cutoff, passes: v.passes}, pending: map[int][]*table[float64]{}}
	if earlierPart != nil {
		forwardPass.lastPass = earlierPart.layers
	}
	if completed, err := forwardPass.run(ctx); err != nil || !completed {
		return nil, err
	}
	return forwardPass.result, nil
}

// representative returns the board under which parts and tables store a board: the board itself, or its canonical image if boards are canonical.
func (v *survey) representative(board game.Board) game.Board {
	if v.opt.Canonical {
		board, _ = v.opt.Rules.Canonical(board)
	}
	return board
}

// overdue reports whether the deadline is over, and remembers it.
func (v *survey) overdue() bool {
	v.timedOut = v.timedOut || !v.deadline.IsZero() && time.Now().After(v.deadline)
	return v.timedOut
}
