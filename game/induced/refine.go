package induced

import (
	"context"
	"maps"
	"math/big"
	"slices"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// Proven is a part with what it proves, and whether the time was over before the
// search was.
type Proven struct {
	Part  *Part
	Bound *Bound
	Late  bool
}

// Improve refines the part so many times, on the boards that it has if they are
// to stay and on canonical ones otherwise, and returns what proves most: the part
// or one of those. The strategy's own bounds are those of the part. The error is
// that of Survey; what was proven before it is returned, too.
func (p *Part) Improve(ctx context.Context, times int, stay bool) (*Proven, error) {
	bound, err := p.Prove(ctx, nil)
	if err != nil {
		return nil, err
	}
	best, part := &Proven{Part: p, Bound: bound}, p
	for i := 0; i < times && !part.Late(); i++ {
		if part, err = part.Refine(ctx, !stay || part.Canonical()); err != nil {
			return best, err
		}
		next, err := part.Prove(ctx, nil)
		if err != nil {
			return best, err
		}
		if next.Optimal > best.Bound.Optimal {
			next.Own = bound.Own
			best.Part, best.Bound = part, next
		}
	}
	best.Late = part.Late()
	return best, nil
}

// Refine surveys again, with the best move that the part knows on each of its boards; the strategy is asked elsewhere only. The best move
// counts leaving the part as bad, so that the next part has more of what is visited, and proves more. What is then called the strategy is
// the refined one. The time of the survey still counts: when it is over, the part itself is returned. With canonical the result is on
// canonical boards, whatever those of the part are: what begins with what a strategy does on boards as they are ends with as many different
// boards as there is room for. The error is that of Survey.
func (p *Part) Refine(ctx context.Context, canonical bool) (*Part, error) {
	v := *p.survey
	v.opt.Canonical = canonical
	v.known, v.decisions = maps.Clone(v.known), slices.Clip(v.decisions) // the part keeps its own
	guide, err := p.guide(ctx, &v)
	if err != nil {
		return nil, err
	}
	v.guide = guide
	part, err := v.deepen(ctx, max(p.cutoff, firstCutoff/1e12))
	if err != nil || part != nil {
		return part, err
	}
	p.survey.late = v.late
	return p, nil
}

// guide returns the best moves on the boards of the part, on those that stand for them in v. They leave the memory at 0.
func (p *Part) guide(ctx context.Context, v *survey) ([]layer, error) {
	g := &guide{survey: v, values: map[int]*table[float64]{}}
	var moves [4]uint32
	for dir := range moves {
		moves[dir] = v.intern([]strategy.Choice{{Dir: game.Dir(dir), Prob: big.NewRat(1, 1)}})
	}
	out := make([]layer, len(p.layers))
	for half := len(p.layers) - 1; half >= 0; half-- {
		delete(g.values, half+3)
		g.values[half] = newTable[float64](0)
		out[half] = make(layer, len(p.layers[half]))
		for m, l := range p.layers[half] {
			if v.opt.Canonical && !p.Canonical() {
				l.boards = v.representatives(l.boards)
			}
			out[half][m] = boards{boards: l.boards, decisions: make([]uint32, len(l.boards))}
			for i, b := range l.boards {
				if i%chunk == 0 {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
				}
				dir, value := g.best(b)
				*g.values[half].at(b) = value
				out[half][m].decisions[i] = moves[dir]
			}
		}
	}
	return out, nil
}

// representatives returns the boards that stand for some, each once and sorted.
func (v *survey) representatives(all []game.Board) []game.Board {
	out := make([]game.Board, len(all))
	for i, b := range all {
		out[i] = v.representative(b)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// guide estimates values: of winning, and of coming far where the part ends.
type guide struct {
	*survey
	values map[int]*table[float64] // by half of the sum
}

func (g *guide) best(b game.Board) (dir game.Dir, value float64) {
	legal := g.opt.Rules.Legal(b)
	value = -1
	for i := range legal.Len() {
		after, _, _ := g.opt.Rules.Move(b, legal.At(i))
		if x := g.mean(after); x > value {
			dir, value = legal.At(i), x
		}
	}
	return dir, value
}

func (g *guide) mean(after game.Board) float64 {
	if after.AtLeast(g.opt.Max) {
		return 1
	}
	sum, n := 0.0, 0.0
	for i := range g.opt.Rules.Shape().Cells() {
		if after>>(4*i)&15 == 0 {
			sum += (game.FourOdds-1)*g.value(after|1<<(4*i)) + g.value(after|2<<(4*i))
			n += game.FourOdds
		}
	}
	return sum / n
}

func (g *guide) value(b game.Board) float64 {
	if b.AtLeast(g.opt.Max) {
		return 1
	}
	b = g.representative(b)
	half := halfSum(b)
	if value, known := g.values[half].get(b); known {
		return value
	}
	if g.opt.Rules.Legal(b) == 0 {
		return 0
	}
	// Outside the part the end is open: worth less than half of a win, and more the later it is.
	return 0.5 * min(1, float64(half)/float64(int(1)<<g.opt.Max))
}
