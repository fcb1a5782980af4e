package induced

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// forward is one pass of a survey. It passes visiting probabilities from each layer of equal sums of tiles to the layers above.
type forward struct {
	*survey
	part     *Part
	limit    int                       // largest number of states
	lastPass []layer                   // layers of an earlier pass, whose decisions are reused
	pending  map[int][]*table[float64] // visiting probabilities of boards in layers to come, by half of the sum and memory
}

// visit is a board with its visiting probability.
type visit struct {
	board game.Board
	prob  float64
}

// decision is what a strategy does on some boards: moves with their probabilities.
type decision []weightedMove

type weightedMove struct {
	dir    game.Dir
	memory int
	prob   float64 // approximate, used for the cutoff only
	lo, hi Fixed   // the probability rounded down and up
}

// run makes the pass. It reports whether the pass was completed within the limits of states and time.
func (f *forward) run(ctx context.Context) (bool, error) {
	f.spawnEach(0, 1, func(first game.Board, p float64) {
		if !first.AtLeast(f.opt.Max) {
			f.spawnEach(first, p, func(b game.Board, p float64) { f.addVisit(b, 0, p) })
		}
	})
	for half := 0; len(f.pending) > 0; half++ {
		next := f.pending[half]
		delete(f.pending, half)
		l, probs := make(layer, f.strategy.Memory()), make([][]visit, f.strategy.Memory())
		for m := range next {
			probs[m] = f.boardsAboveCutoff(next[m])
			f.part.states += len(probs[m])
		}
		if f.part.states > f.limit {
			return false, nil
		}
		for m := range probs {
			done, err := f.fillLayer(ctx, half, m, probs[m], &l[m])
			if err != nil || !done {
				return false, err
			}
		}
		f.part.layers = append(f.part.layers, l)
		if f.opt.Progress != nil {
			f.opt.Progress(PartProgress{Pass: f.passes, States: f.part.states, Limit: f.limit})
		}
		if done, err := f.addSuccessors(ctx, l, probs); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

// boardsAboveCutoff returns the boards whose visiting probability is at least the cutoff, sorted.
func (f *forward) boardsAboveCutoff(t *table[float64]) []visit {
	if t == nil {
		return nil
	}
	var out []visit
	for _, s := range t.slots {
		if s.board != 0 && s.value >= f.part.cutoff {
			out = append(out, visit{s.board, s.value})
		}
	}
	slices.SortFunc(out, func(x, y visit) int {
		if x.board < y.board {
			return -1
		}
		return 1
	})
	return out
}

// chunk is the number of boards between two checks of the context and the time.
const chunk = 4096

// boardsOf returns the boards of a layer with a memory, none if the layer does not exist.
func boardsOf(layers []layer, half, memory int) boards {
	if half >= len(layers) || memory >= len(layers[half]) {
		return boards{}
	}
	return layers[half][memory]
}

// fillLayer sets the boards of a layer and their decisions. It asks the strategy where no earlier decision is known. It returns false if the time is over.
func (f *forward) fillLayer(ctx context.Context, half, memory int, probs []visit, out *boards) (bool, error) {
	out.boards, out.decisions = make([]game.Board, len(probs)), make([]uint32, len(probs))
	sources := []boards{boardsOf(f.lastPass, half, memory), boardsOf(f.guided, half, memory)}
	positions := make([]int, len(sources))
	var undecided []int
	for i, p := range probs {
		out.boards[i] = p.board
		found := false
		for j := 0; j < len(sources) && !found; j++ {
			out.decisions[i], positions[j], found = sources[j].find(p.board, positions[j])
		}
		if !found {
			undecided = append(undecided, i)
		}
	}
	for part := range slices.Chunk(undecided, chunk) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if f.overdue() {
			return false, nil
		}
		if err := f.askStrategy(memory, part, out); err != nil {
			return false, err
		}
	}
	return true, nil
}

// askStrategy asks the strategy for its decisions on the boards with the given indices, in parallel.
func (f *forward) askStrategy(memory int, which []int, out *boards) error {
	answers, errs := make([][]strategy.Choice, len(which)), make([]error, len(f.choosers))
	var wg sync.WaitGroup
	for w, chooser := range f.choosers {
		wg.Go(func() {
			for i := w; i < len(which) && errs[w] == nil; i += len(f.choosers) {
				b := out.boards[which[i]]
				if answers[i], errs[w] = chooser.Decide(b, f.opt.Rules.Legal(b), memory); errs[w] != nil {
					errs[w] = fmt.Errorf("decide on the board %s: %w", boardText(f.opt.Rules, b), errs[w])
				}
			}
		})
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	for i, choices := range answers {
		out.decisions[which[i]] = f.intern(choices)
	}
	return nil
}

// intern returns the index of a decision; equal decisions share one.
func (v *survey) intern(choices []strategy.Choice) uint32 {
	var text strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&text, "%d %d %s,", c.Dir, c.Memory, c.Prob.RatString())
	}
	if n, known := v.decisionIndex[text.String()]; known {
		return n
	}
	n := uint32(len(v.decisions))
	v.decisionIndex[text.String()] = n
	var d decision
	for _, c := range choices {
		p, _ := c.Prob.Float64()
		d = append(d, weightedMove{c.Dir, c.Memory, p, fixedOf(c.Prob, false), fixedOf(c.Prob, true)})
	}
	v.decisions = append(v.decisions, d)
	return n
}

// addSuccessors adds the visiting probabilities of the successors of a layer. It returns false if the time is over.
func (f *forward) addSuccessors(ctx context.Context, l layer, probs [][]visit) (bool, error) {
	for m := range l {
		for i, p := range probs[m] {
			if i%chunk == 0 {
				if err := ctx.Err(); err != nil {
					return false, err
				}
				if f.overdue() {
					return false, nil
				}
			}
			for _, mv := range f.decisions[l[m].decisions[i]] {
				after, _, err := f.opt.Rules.Move(p.board, mv.dir)
				if err != nil {
					return false, fmt.Errorf("move %s on the board %s: %w", mv.dir, boardText(f.opt.Rules, p.board), err)
				}
				if !after.AtLeast(f.opt.Max) {
					f.spawnEach(after, p.prob*mv.prob, func(b game.Board, q float64) { f.addVisit(b, mv.memory, q) })
				}
			}
		}
	}
	return true, nil
}

// spawnEach calls each with the boards after a new tile and their shares of the probability p.
func (f *forward) spawnEach(b game.Board, p float64, each func(b game.Board, p float64)) {
	n := f.opt.Rules.Empties(b)
	p /= float64(game.FourOdds * n)
	for i := range f.opt.Rules.Shape().Cells() {
		if b>>(4*i)&15 == 0 {
			each(b|1<<(4*i), p*(game.FourOdds-1))
			each(b|2<<(4*i), p)
		}
	}
}

// addVisit adds to the visiting probability of a board, unless the game is over there.
func (f *forward) addVisit(b game.Board, memory int, p float64) {
	if b.AtLeast(f.opt.Max) || f.opt.Rules.Legal(b) == 0 {
		return
	}
	half := halfSum(b)
	if f.pending[half] == nil {
		f.pending[half] = make([]*table[float64], f.strategy.Memory())
	}
	if f.pending[half][memory] == nil {
		f.pending[half][memory] = newTable[float64](0)
	}
	*f.pending[half][memory].at(f.representative(b)) += p
}
