package omega

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/certify/product"
)

// Product is the product of a model with an automaton. Its first states are the given start states; the others follow
// in the order of a breadth-first search, choice by choice, successors in the order of the model's states.
type Product struct {
	*certificate.Model
	ModelState, AutomatonState []uint32 // the model's state and the automaton's state of each product state
	Choice                     []uint32 // the model's choice of each choice; None for an absorbing state's
	automaton                  *certificate.Automaton
	letterIndex                []uint32 // the index of the letter of each state of the model
}

// Model returns the model to which a vector refers. For the operators E and A it is an MDP in which a scheduler selects single transitions: each
// transition of the given model becomes a choice, in the order of the choices and then of their targets.
func Model(model *certificate.Model, vector *certificate.Vector) *certificate.Model {
	if !vector.ExistsPath {
		return model
	}
	paths := &certificate.Model{
		Kind: certificate.MDP, Initial: model.Initial, FirstChoice: []uint32{0}, FirstTransition: []uint32{0},
		Prob: make([]uint32, len(model.Target)), Numbers: []*big.Rat{big.NewRat(1, 1)},
	}
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			firstTransition, endTransition := model.Row(c)
			paths.Target = append(paths.Target, product.SortedTargets(model.Target[firstTransition:endTransition])...)
		}
		paths.FirstChoice = append(paths.FirstChoice, uint32(len(paths.Target)))
	}
	for i := range paths.Target {
		paths.FirstTransition = append(paths.FirstTransition, uint32(i+1))
	}
	return paths
}

// Pairs returns the product of a model with an automaton that reads the path. sets[i] has the states in which proposition i is true. It is an
// error if the product has more states than automaton.Pairs.
func Pairs(ctx context.Context, model *certificate.Model, automaton *certificate.Automaton, sets []certificate.Bits, coSafe bool) (*Product, error) {
	letterIndex := map[uint64]uint32{}
	for i, letter := range automaton.Letters {
		letterIndex[letter] = uint32(i)
	}
	letter := make([]uint32, model.NumStates())
	starts := make([]state, len(letter))
	for s := range letter {
		stateLetter := uint64(0)
		for i, set := range sets {
			if set.Has(s) {
				stateLetter |= 1 << i
			}
		}
		index, ok := letterIndex[stateLetter]
		if !ok {
			return nil, fmt.Errorf("state %d is a letter that the automaton does not have", s)
		}
		letter[s] = index
		starts[s] = state{uint32(s), automaton.Next[0][index]}
	}
	isAbsorbing := func(automatonState uint32) bool {
		return coSafe && (automaton.Accepting[automatonState] || automaton.IsAbsorbing(automatonState))
	}
	return buildProduct(ctx, model, automaton, letter, starts, isAbsorbing, automaton.Pairs)
}

// productName is the memory of the products with an automaton, for errors.
const productName = "the automaton"

// state is a state of a product: a state of the model, and a state of the automaton.
type state struct{ model, automaton uint32 }

// Runs returns the product of the pairs with the part of the automaton after a jump. Its first states are the targets of the pairs' jumps, in
// order. It is an error if it has more states than automaton.Runs.
func (p *Product) Runs(ctx context.Context) (*Product, error) {
	letter := make([]uint32, len(p.ModelState))
	var starts []state
	for i, s := range p.ModelState {
		letter[i] = p.letterIndex[s]
		for _, jump := range p.automaton.Jumps[p.AutomatonState[i]] {
			starts = append(starts, state{uint32(i), jump})
		}
		if len(starts) > p.automaton.Runs {
			return nil, fmt.Errorf("the product with %s has more states than it says", productName)
		}
	}
	isAbsorbing := func(automatonState uint32) bool {
		return !p.automaton.Accepting[automatonState] && p.automaton.IsAbsorbing(automatonState)
	}
	return buildProduct(ctx, p.Model, p.automaton, letter, starts, isAbsorbing, p.automaton.Runs)
}

// buildProduct returns the product of a model with an automaton, from the given start states. letters[s] is the letter of state s of the model. A
// product state gets a self-loop if isAbsorbing returns true for its automaton state. It is an error if the product has more states than size.
func buildProduct(ctx context.Context, model *certificate.Model, automaton *certificate.Automaton, letters []uint32, starts []state, isAbsorbing func(automatonState uint32) bool, size int) (*Product, error) {
	builtProduct, err := product.Build(ctx, model, &product.Memory[state]{
		Name:       productName,
		ModelState: func(s state) uint32 { return s.model },
		Next: func(source state, _ int, target uint32) state {
			return state{target, automaton.Next[source.automaton][letters[target]]}
		},
		IsDecided: func(s state) bool { return isAbsorbing(s.automaton) },
	}, starts, size)
	if err != nil {
		return nil, err
	}
	if builtProduct.Kind == certificate.CTMC { // the embedded chain
		builtProduct.Kind = certificate.DTMC
	}
	result := &Product{Model: builtProduct.Model, Choice: builtProduct.Choice, automaton: automaton, letterIndex: letters}
	for _, s := range builtProduct.States {
		result.ModelState, result.AutomatonState = append(result.ModelState, s.model), append(result.AutomatonState, s.automaton)
	}
	return result, nil
}

// LiftRewards returns the rewards of the choices of the product: the rewards of the choices of the model, and 0 for absorbing states.
func (p *Product) LiftRewards(rewards *certificate.Rewards) *certificate.Rewards {
	return product.LiftRewards(rewards, p.Choice)
}

// Part returns the part of the automaton that a state of it belongs to.
func (p *Product) Part(q uint32) int { return p.automaton.Part(q) }

// Accepts reports whether a state of the automaton is accepting.
func (p *Product) Accepts(q uint32) bool { return p.automaton.Accepting[q] }

// Accepting returns the product states whose automaton state is accepting.
func (p *Product) Accepting() certificate.Bits {
	acceptingPairs := certificate.NewBits(len(p.ModelState))
	for i, automatonState := range p.AutomatonState {
		if p.Accepts(automatonState) {
			acceptingPairs.Add(i)
		}
	}
	return acceptingPairs
}

// CheckRuns checks the ranks and the layers of all runs. A pair is a state of the model with a state of the automaton. It returns three kinds of sets:
// allPairs has every pair. winningPairs[k] has the pairs that can jump to a run of part k of the automaton that has a rank. surePairs[k] has the pairs
// whose upper bound is at least payoffs[k], the payoff of an accepting run of part k.
func CheckRuns(ctx context.Context, pairs *Product, vector *certificate.Vector, payoffs [2]*big.Rat) (allPairs certificate.Bits, winningPairs, surePairs [2]certificate.Bits, err error) {
	numPairs := len(pairs.ModelState)
	allPairs = certificate.NewBits(numPairs)
	for part, payoff := range payoffs {
		winningPairs[part], surePairs[part] = certificate.NewBits(numPairs), certificate.NewBits(numPairs)
		comparePayoff := vector.Upper.Compare(payoff)
		for i := range numPairs {
			allPairs.Add(i)
			if comparePayoff(i) >= 0 {
				surePairs[part].Add(i)
			}
		}
	}
	runs, err := pairs.Runs(ctx)
	if err != nil || len(runs.ModelState) == 0 {
		return allPairs, winningPairs, surePairs, err
	}
	columns := &runColumns{runs: runs, rank: vector.WinningRanks, layer: vector.Layer, accepting: runs.Accepting()}
	for i := range runs.ModelState {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, winningPairs, surePairs, ctx.Err()
		}
		if err := columns.checkRun(i, surePairs[pairs.automaton.Part(runs.AutomatonState[i])]); err != nil {
			return nil, winningPairs, surePairs, err
		}
	}
	run := 0 // the first runs are the jumps of the pairs, in order
	for i, automatonState := range pairs.AutomatonState {
		for _, successor := range pairs.automaton.Jumps[automatonState] {
			if columns.rank[run] != certificate.None {
				winningPairs[pairs.automaton.Part(successor)].Add(i)
			}
			run++
		}
	}
	return allPairs, winningPairs, surePairs, nil
}

// runColumns has the ranks and layers of the runs, which are to be checked.
type runColumns struct {
	runs        *Product
	rank, layer []uint32
	accepting   certificate.Bits
}

// checkRun returns an error unless the rank and the layer of a run are correct. The upper bounds of the pairs in surePairs need no layers that prove
// runs to be lost.
func (columns *runColumns) checkRun(run int, surePairs certificate.Bits) error {
	if columns.rank[run] != certificate.None && !columns.hasWinningChoice(run) {
		return fmt.Errorf("run %d: it has a rank, but no choice that the rank allows", run)
	}
	if !surePairs.Has(int(columns.runs.ModelState[run])) && !columns.isLost(run, surePairs) {
		return fmt.Errorf("run %d: its layer does not prove that it is lost", run)
	}
	return nil
}

// hasWinningChoice reports whether a run has a choice whose successors all have a rank, where the run is accepting or a successor has a smaller
// rank.
func (columns *runColumns) hasWinningChoice(run int) bool {
	rank := columns.rank
	hasNoRank := func(target uint32) bool { return rank[target] == certificate.None }
	hasSmallerRank := func(target uint32) bool { return rank[target] < rank[run] }
	first, end := columns.runs.Choices(run)
	for c := first; c < end; c++ {
		targets := columns.targets(c)
		if slices.ContainsFunc(targets, hasNoRank) {
			continue
		}
		if columns.accepting.Has(run) || slices.ContainsFunc(targets, hasSmallerRank) {
			return true
		}
	}
	return false
}

// isLost reports whether the layers prove that a run is not accepted with probability 1. Each choice must have a successor in a lower layer or
// at a pair of surePairs; otherwise the run is not accepting and all successors are in its layer.
func (columns *runColumns) isLost(run int, surePairs certificate.Bits) bool {
	layer := columns.layer
	leavesLayer := func(target uint32) bool {
		return surePairs.Has(int(columns.runs.ModelState[target])) || layer[target] < layer[run]
	}
	isInOtherLayer := func(target uint32) bool { return layer[target] != layer[run] }
	first, end := columns.runs.Choices(run)
	for c := first; c < end; c++ {
		targets := columns.targets(c)
		if slices.ContainsFunc(targets, leavesLayer) {
			continue
		}
		if columns.accepting.Has(run) || slices.ContainsFunc(targets, isInOtherLayer) {
			return false
		}
	}
	return true
}

// targets returns the successors of a choice of a run.
func (columns *runColumns) targets(choice int) []uint32 {
	first, end := columns.runs.Row(choice)
	return columns.runs.Target[first:end]
}
