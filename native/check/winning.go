package check

import (
	"slices"

	"tilecheck/native/space/sparse"
)

// quantifier is how a path of a product may be chosen.
type quantifier interface {
	// lasting returns sets of states, all of which a path can visit infinitely
	// often, and no others. Only sets matter in which that may be accepted.
	lasting(p *productModel) ([][]uint32, error)
	// reaching returns the states from which a path reaches goal.
	reaching(p *productModel, goal *sparse.Set) (*sparse.Set, error)
}

// surelySatisfied asks that a scheduler makes it so with probability one.
type surely struct{ *evaluation }

func (q surely) lasting(p *productModel) ([][]uint32, error) {
	var out [][]uint32
	if p.First == nil {
		comps := p.Components(nil, nil)
		for _, i := range comps.Bottom(p.Model) {
			out = append(out, comps.Members(i))
		}
		return out, nil
	}
	ends, err := p.EndComponents(q.ctx, q.stay(p), nil)
	if err != nil {
		return nil, err
	}
	for i := range ends.Num() {
		out = append(out, ends.Members(i))
	}
	return out, nil
}

// stay returns the states in which a path may be accepted for ever.
func (surely) stay(p *productModel) *sparse.Set {
	stay := sparse.NewSet(p.NumStates())
	for i, s := range p.pairs {
		if p.auto.CanStay(s.auto) {
			stay.Add(i)
		}
	}
	return stay
}

func (q surely) reaching(p *productModel, goal *sparse.Set) (*sparse.Set, error) {
	return p.Prob1E(q.ctx, p.all(), goal)
}

// possibly asks for one path.
type possibly struct{}

func (possibly) lasting(p *productModel) ([][]uint32, error) {
	comps := p.Components(nil, nil)
	var out [][]uint32
	for i := range comps.Num() {
		if comps.Cyclic(p.Model, i) {
			out = append(out, comps.Members(i))
		}
	}
	return out, nil
}

func (possibly) reaching(p *productModel, goal *sparse.Set) (*sparse.Set, error) {
	return p.ExistsUntil(p.all(), goal), nil
}

// winning returns states of a product with the initial part of an automaton: those
// in sets that last which are accepting, or from which some jump reaches an
// accepting set that lasts.
func (a *abstraction) winning(p *productModel, q quantifier) (*sparse.Set, error) {
	sets, err := q.lasting(p)
	if err != nil {
		return nil, err
	}
	out := sparse.NewSet(p.NumStates())
	var jumps []productState
	var from []uint32
	for _, set := range sets {
		for _, i := range set {
			s := p.pairs[i]
			if p.auto.Accepting(s.auto) {
				out.Add(int(i))
				continue
			}
			to, err := p.auto.Jumps(s.auto)
			if err != nil {
				return nil, err
			}
			for _, j := range to {
				jumps, from = append(jumps, productState{s.state, j}), append(from, i)
			}
		}
	}
	if len(jumps) == 0 {
		return out, nil
	}
	good, err := a.repeating(p, q, jumps)
	if err != nil {
		return nil, err
	}
	for k, i := range from {
		if good[k] {
			out.Add(int(i))
		}
	}
	return out, nil
}

// repeating reports for each of some jumps whether the accepting part, from
// there on, can be accepting for ever.
func (a *abstraction) repeating(p *productModel, q quantifier, jumps []productState) ([]bool, error) {
	limit, err := newProduct(a.ctx, a.graph.Model, p.auto, a.letters, jumps)
	if err != nil {
		return nil, err
	}
	sets, err := q.lasting(limit)
	if err != nil {
		return nil, err
	}
	goal := sparse.NewSet(limit.NumStates())
	for _, set := range sets {
		if slices.ContainsFunc(set, func(i uint32) bool { return p.auto.Accepting(limit.pairs[i].auto) }) {
			goal.Add(int(set[0]))
		}
	}
	reached, err := q.reaching(limit, goal)
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(jumps))
	for k, i := range limit.startStates {
		out[k] = reached.Has(int(i))
	}
	return out, nil
}
