package solve

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// Forward computes the state probabilities of a Markov chain forward in time. It starts in the initial
// states with equal probabilities.
//
//	f, err := solve.NewForward(g, solve.Options{})
//	err = f.Steps(ctx, 5)
//	v := f.Values() // probabilities after five steps
type Forward struct {
	graph          *sparse.Graph
	uniformisation *uniformisation // with transposed transitions; all states are maybe states
	opts           Options
	// The probability of state s is probs[s] with relative error relErr. In addition, all states
	// together have an absolute error of at most absErr.
	probs          []float64
	relErr, absErr float64
	exactProbs     []*big.Rat  // replaces probs if fractions are asked for
	reachable      *sparse.Set // from the initial states
	longRunProbs   *Values     // set by SteadyState
}

// NewForward returns the distribution of a DTMC or CTMC at time 0: all initial states are equally likely.
// The error is ErrNotExact if opts.Exact is set and the weights are not exact.
func NewForward(graph *sparse.Graph, opts Options) (*Forward, error) {
	if opts.Exact && !graph.Exact() {
		return nil, ErrNotExact
	}
	numStates := graph.NumStates()
	forward := &Forward{
		graph: graph, opts: opts, probs: make([]float64, numStates), relErr: 2 * unitRoundoff,
		reachable: graph.Reachable(), uniformisation: newUniform(graph, nil, opts),
	}
	forward.setInitialProbs()
	uniform := forward.uniformisation
	uniform.isForward = true
	reversed, maxRow := transposed(graph.Model)
	if graph.Kind == sparse.CTMC {
		uniform.prepare(sparse.FullSet(numStates))
		uniform.useForwardSteps(reversed, maxRow)
	} else {
		uniform.useDTMCSteps(maxRow)
		uniform.graph = sparse.NewGraph(reversed)
	}
	return forward, nil
}

// useForwardSteps makes the steps of a CTMC go forwards in time. It must be prepared. reversed and maxRow are those of transposed.
func (uniform *uniformisation) useForwardSteps(reversed *sparse.Model, maxRow int) {
	uniform.graph = sparse.NewGraph(reversed)
	uniform.relErrPerStep = max(uniform.relErrPerStep, uniform.stepErr(maxRow))
}

// setInitialProbs makes all initial states equally likely.
func (forward *Forward) setInitialProbs() {
	initial := forward.graph.Initial
	for _, state := range initial {
		forward.probs[state] = 1 / float64(len(initial))
	}
	if !forward.opts.Exact {
		return
	}
	forward.exactProbs = slices.Repeat([]*big.Rat{new(big.Rat)}, len(forward.probs))
	for _, state := range initial {
		forward.exactProbs[state] = big.NewRat(1, int64(len(initial)))
	}
}

// useDTMCSteps prepares a uniformisation each of whose steps is one step of a DTMC. maxRow is the greatest number of transitions into one state, for the
// rounding error of a step.
func (uniform *uniformisation) useDTMCSteps(maxRow int) {
	uniform.stepProbs = uniform.graph.Weights
	for state := range uniform.graph.NumStates() {
		uniform.maybeStates = append(uniform.maybeStates, uint32(state))
		first, end := uniform.graph.Transitions(state)
		for transition := first; transition < end; transition++ {
			if int(uniform.graph.Target[transition]) == state {
				uniform.stayProbs[state] += uniform.graph.Prob(transition)
			}
		}
	}
	uniform.relErrPerStep = wideErrMargin * (float64(maxRow+4)*unitRoundoff + uniform.rounding.relErr)
}

// transposed returns a Markov chain with all transitions reversed. maxRow is the greatest number of transitions into one state.
func transposed(model *sparse.Model) (reversed *sparse.Model, maxRow int) {
	numStates := model.NumStates()
	reversed = &sparse.Model{Kind: model.Kind, Weights: model.Weights, Fractions: model.Fractions, RelErr: model.RelErr}
	reversed.FirstTransition = make([]uint32, numStates+2) // in the counting sort, FirstTransition[target+1] is the next free entry in the row of target
	reversed.Target = make([]uint32, len(model.Target))
	reversed.WeightIndex = make([]uint32, len(model.Target))
	for _, target := range model.Target {
		reversed.FirstTransition[target+2]++
	}
	for target := range numStates {
		maxRow = max(maxRow, int(reversed.FirstTransition[target+2]))
		reversed.FirstTransition[target+2] += reversed.FirstTransition[target+1]
	}
	for state := range numStates {
		first, end := model.Transitions(state)
		for transition := first; transition < end; transition++ {
			next := &reversed.FirstTransition[model.Target[transition]+1]
			reversed.Target[*next], reversed.WeightIndex[*next] = uint32(state), model.WeightIndex[transition]
			*next++
		}
	}
	reversed.FirstTransition = reversed.FirstTransition[:numStates+1]
	return reversed, maxRow
}

// TakeSteps advances a DTMC by numSteps steps.
func (forward *Forward) TakeSteps(ctx context.Context, numSteps int) error {
	if forward.exactProbs != nil {
		return forward.exactSteps(ctx, numSteps)
	}
	return forward.applySteps(ctx, &poisson{firstNumber: numSteps, weights: []float64{1}})
}

// AdvanceTime replaces the distribution of a CTMC by the distribution after more time has passed. The error is ErrNotExact if the distribution has
// fractions, because the result is irrational.
func (forward *Forward) AdvanceTime(ctx context.Context, time Time) error {
	if forward.exactProbs != nil {
		return ErrNotExact
	}
	if time.High.Sign() == 0 || forward.uniformisation.uniformRate == 0 {
		return nil
	}
	distribution, err := forward.uniformisation.poissonSteps(ctx, time)
	if err != nil {
		return err
	}
	return forward.applySteps(ctx, distribution)
}

// applySteps replaces the distribution by the mean of the distributions after 0, 1, 2 and so on steps, weighted by the Poisson distribution of the number of
// steps. It updates the bounds relErr and absErr on the errors.
func (forward *Forward) applySteps(ctx context.Context, distribution *poisson) error {
	uniform := forward.uniformisation
	uniform.lossPerStep, uniform.stepsTaken, uniform.skippedErr = 0, 0, 0
	values, err := uniform.poissonMean(ctx, forward.probs, distribution)
	if err != nil {
		return err
	}
	// A step preserves the sum of the probabilities, so it does not increase earlier errors.
	relErr := compound(distribution.relErr + uniform.relErrPerStep*(uniform.stepsTaken+1) + unitRoundoff*float64(len(distribution.weights)+4) + uniform.skippedErr)
	forward.probs, forward.relErr = values, errMargin*(forward.relErr+relErr+forward.relErr*relErr)
	forward.absErr += errMargin*distribution.truncatedProb + uniform.lossPerStep*(uniform.stepsTaken+1)*float64(len(values))
	return nil
}

// exactSteps takes numSteps steps of a DTMC in rational arithmetic.
func (forward *Forward) exactSteps(ctx context.Context, numSteps int) error {
	incoming := forward.uniformisation.graph.Model
	nextProbs := make([]*big.Rat, len(forward.exactProbs))
	var sum, term fraction
	updateState := func(state uint32) (choice uint32, work int) {
		sum.setZero()
		first, end := incoming.Transitions(int(state))
		for transition := first; transition < end; transition++ {
			if sourceProb := forward.exactProbs[incoming.Target[transition]]; sourceProb.Sign() > 0 {
				term.setZero()
				term.addFraction(sourceProb)
				sum.addProduct(incoming.Fraction(transition), &term)
			}
		}
		nextProbs[state] = sum.lowestTerms()
		return sparse.None, 100*(end-first) + reductionCost(nextProbs[state])
	}
	endStep := func() { forward.exactProbs, nextProbs = nextProbs, forward.exactProbs }
	allStates := newStepWindow(sparse.FullSet(len(nextProbs)))
	return allStates.forEachStep(nil, newMeter(ctx, forward.opts, numSteps), numSteps, updateState, endStep)
}

// Values returns bounds on the probability of each state or, if fractions are requested, its exact probability.
// After SteadyState it returns the long-run probabilities.
func (forward *Forward) Values() *Values {
	if forward.longRunProbs != nil {
		return forward.longRunProbs
	}
	values := newValues(forward.graph.Model, Options{Exact: forward.exactProbs != nil})
	if forward.exactProbs != nil {
		for state, prob := range forward.exactProbs {
			values.setExact(state, prob)
		}
		return values
	}
	rounding := forward.uniformisation.rounding
	for state, prob := range forward.probs {
		isZero := !forward.reachable.Has(state) || prob == 0 && forward.absErr == 0
		if isZero {
			continue
		}
		values.Lower[state] = max(rounding.roundDown(prob, forward.relErr)-forward.absErr, 0)
		values.Upper[state] = min(max(rounding.roundUp(prob, forward.relErr)+errMargin*forward.absErr, rounding.leastBound), 1)
	}
	return values
}
