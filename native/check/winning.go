package check

import (
	"slices"

	"tilecheck/native/space/sparse"
)

// quantifier says who must satisfy a formula: almost all paths of some scheduler, or some path.
type quantifier interface {
	// recurrentSets returns the maximal sets of states that can be the states that a path visits infinitely often. It may leave out
	// sets in which the automaton cannot accept.
	recurrentSets(product *productModel) ([][]uint32, error)
	// statesReaching returns the states from which goal can be reached.
	statesReaching(product *productModel, goal *sparse.Set) (*sparse.Set, error)
}

// someScheduler is the quantifier of a formula that some scheduler must satisfy with probability one.
type someScheduler struct{ *evaluation }

// recurrentSets returns the maximal end components of the product in which the automaton can stay. In a Markov chain it returns the bottom
// strongly connected components.
func (quantifier someScheduler) recurrentSets(product *productModel) ([][]uint32, error) {
	var sets [][]uint32
	isMarkovChain := product.FirstChoice == nil
	if isMarkovChain {
		components := product.Components(nil, nil)
		for _, i := range components.Bottom(product.Model) {
			sets = append(sets, components.Members(i))
		}
		return sets, nil
	}
	endComponents, err := product.EndComponents(quantifier.ctx, quantifier.statesToStayIn(product), nil)
	if err != nil {
		return nil, err
	}
	for i := range endComponents.Num() {
		sets = append(sets, endComponents.Members(i))
	}
	return sets, nil
}

// statesToStayIn returns the states of the product that a path can visit infinitely often if the automaton accepts the path.
func (someScheduler) statesToStayIn(product *productModel) *sparse.Set {
	allowed := sparse.NewSet(product.NumStates())
	for i, pair := range product.pairs {
		if product.automaton.CanStay(pair.automatonState) {
			allowed.Add(i)
		}
	}
	return allowed
}

// statesReaching returns the states from which some scheduler reaches goal with probability one.
func (q someScheduler) statesReaching(product *productModel, goal *sparse.Set) (*sparse.Set, error) {
	return product.Prob1E(q.ctx, product.allStates(), goal)
}

// somePath is the quantifier of a formula that some path must satisfy.
type somePath struct{}

// recurrentSets returns the strongly connected components of the product that contain a cycle: the sets of states that some path can visit infinitely
// often.
func (somePath) recurrentSets(product *productModel) ([][]uint32, error) {
	components := product.Components(nil, nil)
	var sets [][]uint32
	for i := range components.Num() {
		if components.Cyclic(product.Model, i) {
			sets = append(sets, components.Members(i))
		}
	}
	return sets, nil
}

// statesReaching returns the states from which some path reaches goal.
func (somePath) statesReaching(product *productModel, goal *sparse.Set) (*sparse.Set, error) {
	return product.ExistsUntil(product.allStates(), goal), nil
}

// winningStates returns the states in the recurrent sets of a product from which the formula can be satisfied: the automaton state is accepting, or
// the automaton can jump from it, and an accepting recurrent set can be reached after the jump.
func (linear *linearEvaluation) winningStates(product *productModel, quantifier quantifier) (*sparse.Set, error) {
	sets, err := quantifier.recurrentSets(product)
	if err != nil {
		return nil, err
	}
	winningStates := sparse.NewSet(product.NumStates())
	var jumps []jump
	for _, state := range slices.Concat(sets...) {
		pair := product.pairs[state]
		if product.automaton.Accepting(pair.automatonState) {
			winningStates.Add(int(state))
			continue
		}
		targets, err := product.automaton.Jumps(pair.automatonState)
		if err != nil {
			return nil, err
		}
		for _, target := range targets {
			jumps = append(jumps, jump{origin: state, target: productState{pair.state, target}})
		}
	}
	return winningStates, linear.addAcceptedJumps(winningStates, product, quantifier, jumps)
}

// jump is a jump of an automaton in a state of the product. target has the state of the automaton after the jump.
type jump struct {
	origin uint32
	target productState
}

// addAcceptedJumps adds the origin of each jump to winningStates for which the path can still be accepted after the jump: an accepting recurrent set can
// be reached from the jump's target.
func (linear *linearEvaluation) addAcceptedJumps(winningStates *sparse.Set, product *productModel, quantifier quantifier, jumps []jump) error {
	if len(jumps) == 0 {
		return nil
	}
	var targets []productState
	for _, jump := range jumps {
		targets = append(targets, jump.target)
	}
	accepted, err := linear.acceptedTargets(product, quantifier, targets)
	if err != nil {
		return err
	}
	for i, jump := range jumps {
		if accepted[i] {
			winningStates.Add(int(jump.origin))
		}
	}
	return nil
}

// acceptedTargets reports, for each target of a jump, whether an accepting recurrent set can be reached from it in the product with the accepting
// component of the automaton.
func (linear *linearEvaluation) acceptedTargets(product *productModel, quantifier quantifier, targets []productState) ([]bool, error) {
	acceptingProduct, err := newProduct(linear.evaluation.ctx, linear.evaluation.graph.Model, product.automaton, linear.letters, targets)
	if err != nil {
		return nil, err
	}
	sets, err := quantifier.recurrentSets(acceptingProduct)
	if err != nil {
		return nil, err
	}
	goal := sparse.NewSet(acceptingProduct.NumStates())
	isAccepting := func(state uint32) bool {
		return product.automaton.Accepting(acceptingProduct.pairs[state].automatonState)
	}
	for _, set := range sets {
		if slices.ContainsFunc(set, isAccepting) {
			goal.Add(int(set[0])) // any state of the set will do
		}
	}
	reachingStates, err := quantifier.statesReaching(acceptingProduct, goal)
	if err != nil {
		return nil, err
	}
	accepted := make([]bool, len(targets))
	for i, start := range acceptingProduct.startStates {
		accepted[i] = reachingStates.Has(int(start))
	}
	return accepted, nil
}
