package shield

import (
	"context"
	"fmt"
	"math/big"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// Promise has the probabilities that a shield promises: those of its formula from the first initial state, under several schedulers. A scheduler is
// allowed if it makes only choices that the shield allows.
type Promise struct {
	Best    interval.Number // under the best allowed scheduler
	Worst   interval.Number // under the worst allowed scheduler
	Uniform interval.Number // if the allowed choices of a state are equally likely
	Free    interval.Number // if all choices of a state are equally likely
	// WorstScheduler is an allowed scheduler under which the probability is Worst. It has a choice for each state.
	WorstScheduler []uint32
}

// Promise computes the probability of the formula under the best, the worst and the uniform scheduler of the shield, and under the
// uniform scheduler without the shield. The probabilities are exact if the shield was computed exactly.
func (shield *Shield) Promise(ctx context.Context) (*Promise, error) {
	restricted := shield.restricted()
	promise := &Promise{}
	var err error
	promise.Best, _, err = shield.probabilityIn(ctx, restricted, shield.Max)
	if err != nil {
		return nil, err
	}
	var worstChoices []uint32
	promise.Worst, worstChoices, err = shield.probabilityIn(ctx, restricted, !shield.Max)
	if err != nil {
		return nil, err
	}
	promise.WorstScheduler = shield.originalChoices(worstChoices)
	promise.Uniform, err = shield.uniformProbability(ctx, restricted)
	if err != nil {
		return nil, err
	}
	promise.Free, err = shield.uniformProbability(ctx, shield.Space.Model())
	return promise, err
}

// probabilityIn returns the maximal or minimal probability of the formula from the first initial state of a model, and a scheduler
// that attains it. The model must have the states of the shield's model.
func (shield *Shield) probabilityIn(ctx context.Context, model *sparse.Model, maximize bool) (interval.Number, []uint32, error) {
	values, choices, err := shield.solve(ctx, sparse.NewGraph(model), maximize, shield.isExact())
	if err != nil {
		return interval.Number{}, nil, err
	}
	return values.Number(int(shield.Space.Model().Initial[0])), choices, nil
}

// uniformProbability returns the probability of the formula from the first initial state if all choices of a state are equally likely.
func (shield *Shield) uniformProbability(ctx context.Context, model *sparse.Model) (interval.Number, error) {
	chain, err := uniformChain(model, shield.isExact())
	if err != nil {
		return interval.Number{}, err
	}
	probability, _, err := shield.probabilityIn(ctx, chain, shield.Max)
	return probability, err
}

// originalChoices converts a scheduler of the restricted model, in which only the allowed choices have numbers, to choices of the full model. If the
// scheduler allows any choice in a state, the result has the first allowed choice.
func (shield *Shield) originalChoices(choices []uint32) []uint32 {
	model := shield.Space.Model()
	result := make([]uint32, model.NumStates())
	numberInRestricted := uint32(0) // the number of the next allowed choice in the restricted model
	for s := range result {
		result[s] = sparse.None
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			if !shield.Allowed.Has(choice) {
				continue
			}
			isFirstAllowed := result[s] == sparse.None
			if isFirstAllowed || choices[s] == numberInRestricted {
				result[s] = uint32(choice)
			}
			numberInRestricted++
		}
	}
	return result
}

// BrokenPromise is the error of a shielded model, or of a scheduler, whose probability differs from the promised one.
type BrokenPromise struct{ found string }

func (e *BrokenPromise) Error() string { return e.found + ", which differs from the promised values" }

// Confirm checks a promise on the model that Shield.Model has written, whose guards enforce the shield; shielded has this model and the formula. Confirm
// computes the probability of the formula under the best and under the worst scheduler of the model. The error is a *BrokenPromise if one of them differs
// from the promised probability.
func (promise *Promise) Confirm(ctx context.Context, shielded *Question) error {
	aboveAllLosses := big.NewRat(2, 1) // the loss of a choice is a difference of probabilities, so it is at most 1
	allowsAll, err := New(ctx, shielded, &Options{Threshold: aboveAllLosses, Exact: promise.Best.Exact != nil})
	if err != nil {
		return err
	}
	actual, err := allowsAll.Promise(ctx)
	if err != nil {
		return err
	}
	if !actual.Best.MayEqual(promise.Best) || !actual.Worst.MayEqual(promise.Worst) {
		return &BrokenPromise{fmt.Sprintf("its values are %v and %v", actual.Best.Nearest(), actual.Worst.Nearest())}
	}
	return nil
}

// ConfirmScheduler checks promise.WorstScheduler: it solves the Markov chain that this scheduler induces, and returns a *BrokenPromise if the
// probability of the formula differs from promise.Worst.
func (shield *Shield) ConfirmScheduler(ctx context.Context, promise *Promise) error {
	probability, err := shield.ProbabilityUnder(ctx, promise.WorstScheduler)
	if err != nil {
		return err
	}
	if !probability.MayEqual(promise.Worst) {
		return &BrokenPromise{fmt.Sprintf("the scheduler attains %v", probability.Nearest())}
	}
	return nil
}

// ProbabilityUnder returns the probability of the formula from the first initial state under a memoryless scheduler.
// choices[s] is its choice in state s.
func (shield *Shield) ProbabilityUnder(ctx context.Context, choices []uint32) (interval.Number, error) {
	model := shield.Space.Model()
	schedulerChoices := sparse.NewSet(model.NumChoices())
	for _, choice := range choices {
		schedulerChoices.Add(int(choice))
	}
	// The restricted model has one choice in each state, so its maximal and its minimal probability are equal.
	probability, _, err := shield.probabilityIn(ctx, model.Restrict(schedulerChoices), shield.Max)
	return probability, err
}

// uniformChain returns the Markov chain in which all choices of a state are equally likely. If isExact is false, the probabilities are rounded,
// and a state may have several transitions to the same target.
func uniformChain(model *sparse.Model, isExact bool) (*sparse.Model, error) {
	builder := sparse.NewBuilder(sparse.DTMC)
	for s := range model.NumStates() {
		builder.State()
		if isExact {
			addUniformRow(builder, model, s)
			continue
		}
		first, end := model.Choices(s)
		numChoices := float64(end - first)
		for transition := int(model.FirstTransition[first]); transition < int(model.FirstTransition[end]); transition++ {
			builder.Add(int(model.Target[transition]), model.Prob(transition)/numChoices)
		}
	}
	chain, err := builder.Finish()
	if err != nil {
		return nil, err
	}
	chain.Initial = model.Initial
	if !isExact {
		chain.RelErr = model.RelErr + 0x1p-51 // rounding of the quotients
	}
	return chain, nil
}

// addUniformRow adds the transitions of state s, if all its choices are equally likely, with fractions as probabilities. It merges transitions
// to the same target.
func addUniformRow(builder *sparse.Builder, model *sparse.Model, s int) {
	first, end := model.Choices(s)
	var targets []uint32 // the keys of sums, in the order of their first transitions
	sums := map[uint32]*big.Rat{}
	for transition := int(model.FirstTransition[first]); transition < int(model.FirstTransition[end]); transition++ {
		target := model.Target[transition]
		if sums[target] == nil {
			sums[target] = new(big.Rat)
			targets = append(targets, target)
		}
		sums[target].Add(sums[target], model.Fraction(transition))
	}
	choiceProb := big.NewRat(1, int64(end-first))
	for _, target := range targets {
		builder.AddRat(int(target), sums[target].Mul(sums[target], choiceProb), sparse.NoAction)
	}
}

// Figures say how permissive a shield is. They count only states that are reachable under the shield.
type Figures struct {
	States     int // reachable states
	Deciding   int // deciding states: they have several choices, and the formula is not decided there yet
	Restricted int // deciding states with a choice that is not allowed
	Choices    int // choices of deciding states
	Allowed    int // allowed choices of deciding states
}

// Figures counts the states that are reachable under the shield. It also counts the states with several choices, and their choices.
func (shield *Shield) Figures() Figures {
	var figures Figures
	for s := range shield.reachableStates().All() {
		figures.States++
		first, end := shield.Space.Model().Choices(s)
		if end-first < 2 || shield.isDecided(s) {
			continue
		}
		numAllowed := shield.countAllowed(first, end)
		figures.Deciding++
		figures.Choices += end - first
		figures.Allowed += numAllowed
		if numAllowed < end-first {
			figures.Restricted++
		}
	}
	return figures
}

// countAllowed returns the number of allowed choices from first to end-1.
func (shield *Shield) countAllowed(first, end int) int {
	count := 0
	for choice := first; choice < end; choice++ {
		if shield.Allowed.Has(choice) {
			count++
		}
	}
	return count
}
