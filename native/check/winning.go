package check

import (
	"slices"

	"tilecheck/native/space/sparse"
)

// quantifier says which paths of a product count: surely those of a scheduler with probability one, possibly any
// path.
type quantifier interface {
	// lasting returns maximal sets of states that a path can visit infinitely often, all of them and no others. It may
	// leave out sets in which the automaton cannot accept.
	lasting(p *productModel) ([][]uint32, error)
	// reaching returns the states from which goal can be reached.
	reaching(p *productModel, goal *sparse.Set) (*sparse.Set, error)
}

// surely quantifies over schedulers: some scheduler must do it with probability one.
type surely struct{ *evaluation }

// lasting returns the maximal end components; in a Markov chain the bottom components.
func (q surely) lasting(product *productModel) ([][]uint32, error) {
	var out [][]uint32
	if product.First == nil {
		comps := product.Components(nil, nil)
		for _, i := range comps.Bottom(product.Model) {
			out = append(out, comps.Members(i))
		}
		return out, nil
	}
	ends, err := product.EndComponents(q.ctx, q.stay(product), nil)
	if err != nil {
		return nil, err
	}
	for i := range ends.Num() {
		out = append(out, ends.Members(i))
	}
	return out, nil
}

// stay returns the states that an accepted path can visit infinitely often.
func (surely) stay(product *productModel) *sparse.Set {
	stay := sparse.NewSet(product.NumStates())
	for i, s := range product.pairs {
		if product.auto.CanStay(s.auto) {
			stay.Add(i)
		}
	}
	return stay
}

// reaching returns the states from which some scheduler reaches goal with probability one.
func (q surely) reaching(product *productModel, goal *sparse.Set) (*sparse.Set, error) {
	return product.Prob1E(q.ctx, product.all(), goal)
}

// possibly quantifies over paths: some path must do it.
type possibly struct{}

// lasting returns the strongly connected components that have a cycle.
func (possibly) lasting(product *productModel) ([][]uint32, error) {
	comps := product.Components(nil, nil)
	var out [][]uint32
	for i := range comps.Num() {
		if comps.Cyclic(product.Model, i) {
			out = append(out, comps.Members(i))
		}
	}
	return out, nil
}

// reaching returns the states from which some path reaches goal.
func (possibly) reaching(product *productModel, goal *sparse.Set) (*sparse.Set, error) {
	return product.ExistsUntil(product.all(), goal), nil
}

// winning returns the states of lasting sets of the product that are accepting, or from which some jump of the
// automaton leads to a part of the product with its accepting part that reaches an accepting lasting set.
func (a *abstraction) winning(product *productModel, q quantifier) (*sparse.Set, error) {
	sets, err := q.lasting(product)
	if err != nil {
		return nil, err
	}
	winning := sparse.NewSet(product.NumStates())
	var jumps []productState
	var from []uint32 // the state of the product from which each jump starts
	for _, i := range slices.Concat(sets...) {
		pair := product.pairs[i]
		if product.auto.Accepting(pair.auto) {
			winning.Add(int(i))
			continue
		}
		targets, err := product.auto.Jumps(pair.auto)
		if err != nil {
			return nil, err
		}
		for _, target := range targets {
			jumps = append(jumps, productState{pair.state, target})
			from = append(from, i)
		}
	}
	if len(jumps) == 0 {
		return winning, nil
	}
	good, err := a.repeating(product, q, jumps)
	if err != nil {
		return nil, err
	}
	for k, i := range from {
		if good[k] {
			winning.Add(int(i))
		}
	}
	return winning, nil
}

// repeating reports, for each jump, whether the product with the accepting part of the automaton, from there on,
// reaches a lasting set that contains an accepting state.
func (a *abstraction) repeating(product *productModel, quantify quantifier, jumps []productState) ([]bool, error) {
	limit, err := newProduct(a.ctx, a.graph.Model, product.auto, a.letters, jumps)
	if err != nil {
		return nil, err
	}
	sets, err := quantify.lasting(limit)
	if err != nil {
		return nil, err
	}
	goal := sparse.NewSet(limit.NumStates())
	for _, set := range sets {
		if slices.ContainsFunc(set, func(i uint32) bool { return product.auto.Accepting(limit.pairs[i].auto) }) {
			goal.Add(int(set[0]))
		}
	}
	reached, err := quantify.reaching(limit, goal)
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(jumps))
	for index, i := range limit.startStates {
		out[index] = reached.Has(int(i))
	}
	return out, nil
}
