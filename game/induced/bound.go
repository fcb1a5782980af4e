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

// PartOptions says which part of the game Survey looks at. Rules and Max are as in Options; new tiles are those of the game.
type PartOptions struct {
	Rules *game.Rules
	Max   int
	// Canonical makes the strategy play on canonical boards: see Part.
	Canonical bool
	// States is the greatest number of states of the part; 0 is DefaultPartStates.
	States int
	// Time is when to stop looking for a larger part; 0 is never. The part then depends on the machine.
	Time time.Duration
	// Workers is how many goroutines ask the strategy; 0 is one for each processor. The part does not depend on it.
	Workers int
	// Progress, if not nil, is told about the passes.
	Progress func(PartProgress)
}

// DefaultPartStates is the size of a part unless PartOptions say otherwise.
const DefaultPartStates = 1_000_000

// PartProgress is how far a pass is.
type PartProgress struct {
	Pass   int // from 1
	States int // of the pass so far
	Limit  int
}

// Part is a part of the boards that a strategy visits, each with what the strategy remembers there.
//
// On canonical boards the strategy sees the least of the images of the board and makes the image of the move that it chooses there. Symmetric
// boards are then one, so that a part has up to eight times as many. That strategy has the value of the strategy itself when
// [SymmetricValue] says so. It is another one for, say, a preference list.
type Part struct {
	survey *survey
	layers []layer // by half of the sum of the tiles
	states int
	passes int
	cutoff float64
}

// Canonical reports whether the boards are canonical; otherwise they are as they are.
func (p *Part) Canonical() bool { return p.survey.opt.Canonical }

// SymmetricValue reports whether a strategy is known to win with the same probability on canonical boards. It does not ask the strategy, and
// knows two:
//
//   - random treats images alike, since each legal move is as likely, and so is itself on canonical boards.
//   - optimal:objective=win makes a best move on the canonical board, and its image is a best move on the board. So it makes a best move
//     everywhere and wins with the greatest probability, as it does on boards as they are. Between best moves it may choose differently,
//     and moves that are best to the last bit of package solve need not be best: the two probabilities may differ by its rounding error.
func SymmetricValue(s strategy.Strategy) bool {
	return slices.Contains([]string{"random", "optimal:objective=win"}, s.String())
}

// States returns the number of states, boards with a memory.
func (p *Part) States() int { return p.states }

// Passes returns how many passes it took.
func (p *Part) Passes() int { return p.passes }

// Cutoff returns the probability of a visit below which boards were left out; 0 when none were.
func (p *Part) Cutoff() float64 { return p.cutoff }

// Late reports whether the search ended because the time was over.
func (p *Part) Late() bool { return p.survey.late }

// layer is the boards of one sum, by memory.
type layer []boards

// boards are sorted, each with what is done on it.
type boards struct {
	boards    []game.Board
	decisions []uint32
}

// find looks for a board from position at on. It returns its decision and where to look for a larger one.
func (b boards) find(board game.Board, at int) (decision uint32, next int, found bool) {
	n, found := slices.BinarySearch(b.boards[at:], board)
	if !found {
		return 0, at + n, false
	}
	return b.decisions[at+n], at + n, true
}

func (o PartOptions) validate() error {
	if o.States < 0 || o.Workers < 0 || o.Time < 0 {
		return fmt.Errorf("states, workers and time are %d, %d and %v, want no negative ones", o.States, o.Workers, o.Time)
	}
	return Options{Rules: o.Rules, Max: o.Max}.validate()
}

// Survey looks for a large part: boards that are visited with at least a probability, which is lowered from pass to pass as far as the
// number of states and the time allow. A strategy that visits few enough boards is surveyed completely. The error is that of the strategy
// or of ctx, or context.DeadlineExceeded when there was no time for a single pass.
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
	v := &survey{strategy: s, opt: opt, known: map[string]uint32{}}
	if opt.Time > 0 {
		v.deadline = time.Now().Add(opt.Time)
	}
	for range opt.Workers {
		v.choosers = append(v.choosers, s.Chooser())
	}
	part, err := v.deepen(ctx, firstCutoff)
	if err == nil && part == nil {
		err = context.DeadlineExceeded
	}
	return part, err
}

// survey makes passes with lower and lower cutoffs.
type survey struct {
	strategy  strategy.Strategy
	choosers  []strategy.Chooser // one for each worker
	opt       PartOptions
	deadline  time.Time
	late      bool // the time was over
	passes    int
	decisions []decision
	known     map[string]uint32 // decisions by their text
	guide     []layer           // where the strategy is not asked, by half of the sum
}

const (
	firstCutoff = 1e-3
	cutoffStep  = 4 // the cutoff is divided by this from pass to pass, at most
	roomUsed    = 0.95
	worthwhile  = 1.1 // another pass is made for this many times as many states
	fewStates   = 10_000
	nearlyAll   = 1.01 // a pass with fewer times as many states than the one before suggests that there are hardly any more
)

// deepen makes passes from a cutoff on, and returns the part of the last one that was completed, nil if the time was over
// before.
func (v *survey) deepen(ctx context.Context, cutoff float64) (*Part, error) {
	// All boards, if they are very few.
	if part, err := v.pass(ctx, 0, min(fewStates, v.opt.States), nil); err != nil || part != nil {
		return part, err
	}
	best, err := v.pass(ctx, cutoff, v.opt.States, nil)
	for ; err == nil && best == nil && !v.late; cutoff *= cutoffStep { // a cutoff above 1 leaves none
		best, err = v.pass(ctx, cutoff*cutoffStep, v.opt.States, nil)
	}
	if err != nil || best == nil {
		return nil, err
	}
	whole := false // whether all boards have been tried
	growth := 1.0  // the states grow as the cutoff to the power of -growth
	for {
		room := roomUsed * float64(v.opt.States) / float64(best.states)
		if room < worthwhile {
			return best, nil
		}
		step := min(cutoffStep, math.Pow(room, 1/growth))
		part, err := v.pass(ctx, best.cutoff/step, v.opt.States, best)
		if err != nil {
			return nil, err
		}
		if part == nil {
			return best, nil
		}
		if !whole && float64(part.states) < nearlyAll*float64(best.states) {
			whole = true
			if all, err := v.pass(ctx, 0, v.opt.States, part); err != nil || all != nil {
				return all, err
			}
		}
		growth = min(max(math.Log(float64(part.states)/float64(best.states))/math.Log(step), 0.1), 1)
		best = part
	}
}

// pass makes a pass and returns its part, nil when it had too many states or took too long. The decisions of the last part hold.
func (v *survey) pass(ctx context.Context, cutoff float64, limit int, last *Part) (*Part, error) {
	if v.overdue() {
		return nil, nil
	}
	v.passes++
	f := &forward{survey: v, limit: limit, part: &Part{survey: v, cutoff: cutoff, passes: v.passes}, pending: map[int][]*table[float64]{}}
	if last != nil {
		f.last = last.layers
	}
	if done, err := f.run(ctx); err != nil || !done {
		return nil, err
	}
	return f.part, nil
}

// representative returns the board that stands for a board, in parts and in tables: itself, unless boards are canonical.
func (v *survey) representative(b game.Board) game.Board {
	if v.opt.Canonical {
		b, _ = v.opt.Rules.Canonical(b)
	}
	return b
}

func (v *survey) overdue() bool {
	v.late = v.late || !v.deadline.IsZero() && time.Now().After(v.deadline)
	return v.late
}
