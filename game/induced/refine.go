package induced

import (
	"context"
	"maps"
	"math/big"
	"slices"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// Proven is a part with its bounds. TimedOut says that the time ended the search.
type Proven struct {
	Part     *Part
	Bound    *Bound
	TimedOut bool
}

// Improve refines the part up to the given number of times and returns the part with the greatest lower bound. With keepBoards a refined part has
// boards of the same kind, otherwise canonical ones. Own is always the interval of p's strategy. The error is that of Survey; the best part
// so far is returned with it.
func (p *Part) Improve(ctx context.Context, times int, keepBoards bool) (*Proven, error) {
	bound, err := p.Prove(ctx, nil)
	if err != nil {
		return nil, err
	}
	best, part := &Proven{Part: p, Bound: bound}, p
	for i := 0; i < times && !part.TimedOut(); i++ {
		if part, err = part.Refine(ctx, !keepBoards || part.Canonical()); err != nil {
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
	best.TimedOut = part.TimedOut()
	return best, nil
}

// Refine surveys again with another strategy. On the boards of the part it makes the best move according to the part; on other boards it asks the
// strategy. The best move counts boards outside the part as bad, so the next part covers more of the visits and proves more. The time
// of the survey goes on; when it is over, Refine returns p itself. With canonical the new part has canonical boards, whatever p has. On
// boards as they are, the strategy's own moves would lead to more different boards than a part can hold. The error is that of Survey.
func (p *Part) Refine(ctx context.Context, canonical bool) (*Part, error) {
	v := *p.survey
	v.opt.Canonical = canonical
	v.decisionIndex, v.decisions = maps.Clone(v.decisionIndex), slices.Clip(v.decisions) // p keeps its own
	guide, err := p.guideLayers(ctx, &v)
	if err != nil {
		return nil, err
	}
	v.guided = guide
	part, err := v.lowerCutoff(ctx, max(p.cutoff, firstCutoff/1e12))
	if err != nil || part != nil {
		return part, err
	}
	p.survey.timedOut = v.timedOut
	return p, nil
}

// guideLayers returns layers with the best moves on the boards of the part, stored under their representatives in v. These moves set the memory to 0.
func (p *Part) guideLayers(ctx context.Context, v *survey) ([]layer, error) {
	g := &guideMoves{survey: v, values: map[int]*table[float64]{}}
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

// representatives returns the representatives of boards, sorted and without duplicates.
func (v *survey) representatives(all []game.Board) []game.Board {
	out := make([]game.Board, len(all))
	for i, b := range all {
		out[i] = v.representative(b)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// guideMoves estimates values of boards: the probability of winning, or a guess where the part ends.
type guideMoves struct {
	*survey
	values map[int]*table[float64] // by half of the sum
}

func (g *guideMoves) best(b game.Board) (dir game.Dir, value float64) {
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

func (g *guideMoves) mean(after game.Board) float64 {
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

func (g *guideMoves) value(b game.Board) float64 {
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
	// The value outside the part is unknown. The guess is below half of a win and grows with the sum of the tiles.
	return 0.5 * min(1, float64(half)/float64(int(1)<<g.opt.Max))
}
