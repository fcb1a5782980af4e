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

// forward is one pass: probabilities go from layer to layer of equal sums of tiles.
type forward struct {
	*survey
	part    *Part
	limit   int                       // states
	last    []layer                   // of a pass before this one, whose decisions hold
	pending map[int][]*table[float64] // by half of the sum and memory: probabilities of visiting the boards
}

// visit is a board with the probability of visiting it.
type visit struct {
	board game.Board
	prob  float64
}

// decision is what a strategy does on some boards: moves with their probabilities, exact to the last digit of either rounding.
type decision []move

type move struct {
	dir    game.Dir
	memory int
	prob   float64 // for the cutoff only
	lo, hi Fixed
}

// run reports whether the pass came to its end.
func (f *forward) run(ctx context.Context) (bool, error) {
	f.spawn(0, 1, func(first game.Board, p float64) {
		if !first.AtLeast(f.opt.Max) {
			f.spawn(first, p, func(b game.Board, p float64) { f.visit(b, 0, p) })
		}
	})
	for half := 0; len(f.pending) > 0; half++ {
		next := f.pending[half]
		delete(f.pending, half)
		l, probs := make(layer, f.strategy.Memory()), make([][]visit, f.strategy.Memory())
		for m := range next {
			probs[m] = f.visited(next[m])
			f.part.states += len(probs[m])
		}
		if f.part.states > f.limit {
			return false, nil
		}
		for m := range probs {
			done, err := f.decide(ctx, half, m, probs[m], &l[m])
			if err != nil || !done {
				return false, err
			}
		}
		f.part.layers = append(f.part.layers, l)
		if f.opt.Progress != nil {
			f.opt.Progress(PartProgress{Pass: f.passes, States: f.part.states, Limit: f.limit})
		}
		if done, err := f.expand(ctx, l, probs); err != nil || !done {
			return false, err
		}
	}
	return true, nil
}

// visited returns the boards above the cutoff, sorted.
func (f *forward) visited(t *table[float64]) []visit {
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

// chunk is the number of boards between two looks at the clock.
const chunk = 4096

// boardsOf returns the boards of a layer, none when it does not exist.
func boardsOf(layers []layer, half, memory int) boards {
	if half >= len(layers) || memory >= len(layers[half]) {
		return boards{}
	}
	return layers[half][memory]
}

// decide fills in a layer: the boards and what is done on them, which may be known.
func (f *forward) decide(ctx context.Context, half, memory int, probs []visit, out *boards) (bool, error) {
	out.boards, out.decisions = make([]game.Board, len(probs)), make([]uint32, len(probs))
	sources := []boards{boardsOf(f.last, half, memory), boardsOf(f.guide, half, memory)}
	at := make([]int, len(sources))
	var open []int
	for i, p := range probs {
		out.boards[i] = p.board
		known := false
		for j := 0; j < len(sources) && !known; j++ {
			out.decisions[i], at[j], known = sources[j].find(p.board, at[j])
		}
		if !known {
			open = append(open, i)
		}
	}
	for part := range slices.Chunk(open, chunk) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if f.overdue() {
			return false, nil
		}
		if err := f.ask(memory, part, out); err != nil {
			return false, err
		}
	}
	return true, nil
}

// ask asks the strategy about some boards of a layer.
func (f *forward) ask(memory int, which []int, out *boards) error {
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

// intern returns the number of a decision. Equal ones share it.
func (v *survey) intern(choices []strategy.Choice) uint32 {
	var text strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&text, "%d %d %s,", c.Dir, c.Memory, c.Prob.RatString())
	}
	if n, known := v.known[text.String()]; known {
		return n
	}
	n := uint32(len(v.decisions))
	v.known[text.String()] = n
	var d decision
	for _, c := range choices {
		p, _ := c.Prob.Float64()
		d = append(d, move{c.Dir, c.Memory, p, fixedOf(c.Prob, false), fixedOf(c.Prob, true)})
	}
	v.decisions = append(v.decisions, d)
	return n
}

// expand gives the probabilities of a layer to its successors.
func (f *forward) expand(ctx context.Context, l layer, probs [][]visit) (bool, error) {
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
					f.spawn(after, p.prob*mv.prob, func(b game.Board, q float64) { f.visit(b, mv.memory, q) })
				}
			}
		}
	}
	return true, nil
}

// spawn calls f for the boards after a new tile, with their share of the probability.
func (f *forward) spawn(b game.Board, p float64, each func(b game.Board, p float64)) {
	n := f.opt.Rules.Empties(b)
	p /= float64(game.FourOdds * n)
	for i := range f.opt.Rules.Shape().Cells() {
		if b>>(4*i)&15 == 0 {
			each(b|1<<(4*i), p*(game.FourOdds-1))
			each(b|2<<(4*i), p)
		}
	}
}

// visit adds to the probability of a board, unless the game is over.
func (f *forward) visit(b game.Board, memory int, p float64) {
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
