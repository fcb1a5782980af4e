package shield

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"sort"

	"tilecheck/internal/interval"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Question selects the probability that a shield keeps close to the best one: the maximal (if Max) or minimal
// probability of Left U Right, or of its negation if Negated is true.
type Question struct {
	Space       *explicit.Space // an MDP with exact weights
	Left, Right *sparse.Set
	Negated     bool
	Max         bool
}

// Options control how much the probability may differ from the best one.
type Options struct {
	// Threshold is the greatest allowed loss of one choice, at least 0. If Relative is true, it is a
	// fraction of the best value.
	Threshold *big.Rat
	Relative  bool
	// Total applies the threshold to schedulers instead of choices: the allowed loss of one choice is the
	// greatest for which no allowed scheduler loses more than the threshold.
	Total bool
	// Exact computes in rational arithmetic from the start. Otherwise rational arithmetic is used only for
	// choices that bounds do not decide, and if Total is true.
	Exact bool
}

// Shield is the set of choices that are allowed.
type Shield struct {
	*Question
	graph *sparse.Graph
	// Allowed has the allowed choices, at least one of each state. All choices are allowed in states in which the
	// formula is decided.
	Allowed *sparse.Set
	// Loss is the greatest allowed loss of one choice; relative if Options.Relative is true. It is nil if
	// only a best scheduler is allowed, because with Options.Total no greater loss is within the threshold.
	Loss *big.Rat

	isRelative   bool
	stateValues  *solve.Values // the best probability of each state
	choiceValues *solve.Values // the probability after each choice, if best choices follow
	bestChoices  []uint32      // a scheduler that attains stateValues
}

// isExact reports whether the values are fractions. Otherwise they are floating-point bounds.
func (shield *Shield) isExact() bool { return shield.stateValues.Exact != nil }

// Value returns the best probability of a state.
func (shield *Shield) Value(s int) interval.Number { return shield.stateValues.Number(s) }

// ChoiceValue returns the probability of a choice that is followed by best choices.
func (shield *Shield) ChoiceValue(choice int) interval.Number {
	return shield.choiceValues.Number(choice)
}

var (
	errNoChoices = errors.New("the model has no choices, want an MDP for a shield")
	errInexact   = errors.New("a shield needs exact probabilities")
)

// New computes a shield: the set of choices whose loss of probability is allowed. It first tries floating-point bounds. If they do not decide every
// choice, it computes in rational arithmetic. It is an error if the model is not an MDP, or if its weights are not fractions. The error can also be
// ctx.Err().
func New(ctx context.Context, question *Question, opts *Options) (*Shield, error) {
	model := question.Space.Model()
	switch {
	case model.Kind != sparse.MDP:
		return nil, errNoChoices
	case !model.Exact() || model.Intervals():
		return nil, errInexact
	}
	shield := &Shield{Question: question, graph: sparse.NewGraph(model), isRelative: opts.Relative}
	inFloatRange := model.RelErr < 1e-12
	if !opts.Exact && !opts.Total && inFloatRange {
		decided, err := shield.tryFloats(ctx, opts.Threshold)
		if err != nil {
			return nil, err
		}
		if decided {
			return shield, nil
		}
	}
	if err := shield.computeValues(ctx, withFractions); err != nil {
		return nil, err
	}
	if opts.Total {
		return shield, shield.allowByTotalLoss(ctx, opts.Threshold)
	}
	shield.Loss = opts.Threshold
	shield.Allowed = shield.choicesWithinLoss(ctx, shield.Loss)
	return shield, ctx.Err()
}

// tryFloats computes the allowed choices from floating-point bounds. It reports whether the bounds decide every choice.
func (shield *Shield) tryFloats(ctx context.Context, threshold *big.Rat) (bool, error) {
	if err := shield.computeValues(ctx, withFloats); err != nil {
		return false, err
	}
	shield.Loss = threshold
	return shield.allowByBounds(ctx, threshold)
}

// FromAllowed returns a Shield with the given allowed choices, which must contain at least one of each state. It has
// no values: only its method Model may be called.
func FromAllowed(space *explicit.Space, allowed *sparse.Set) *Shield {
	return &Shield{Question: &Question{Space: space}, Allowed: allowed}
}

// The argument exact of computeValues and solve.
const (
	withFractions = true
	withFloats    = false
)

// computeValues computes the values of all states and choices: as fractions if isExact is true, else as floating-point bounds.
func (shield *Shield) computeValues(ctx context.Context, isExact bool) error {
	var err error
	shield.stateValues, shield.bestChoices, err = shield.solve(ctx, shield.graph, shield.Max, isExact)
	if err != nil {
		return err
	}
	if isExact {
		return shield.computeChoiceValues(ctx)
	}
	shield.computeChoiceBounds()
	return nil
}

// epsilon is the relative width of bounds. Thresholds usually are much greater.
const epsilon = 1e-12

// solve returns the maximal or minimal probability of the formula in each state, and a scheduler that attains it. The probabilities are
// fractions if isExact is true, else floating-point bounds.
func (question *Question) solve(ctx context.Context, graph *sparse.Graph, maximize, isExact bool) (*solve.Values, []uint32, error) {
	direction := solve.Min
	if maximize != question.Negated { // Pmax of a negated formula is 1 - Pmin of the formula
		direction = solve.Max
	}
	values, err := solve.Until(ctx, graph, question.Left, question.Right, direction, solve.Options{Exact: isExact, Epsilon: epsilon, Scheduler: graph.Kind == sparse.MDP})
	if err != nil {
		return nil, nil, err
	}
	scheduler := values.Scheduler
	if question.Negated {
		return complement(values), scheduler, nil
	}
	return values, scheduler, nil
}

// complement returns 1-p for each probability p. Bounds are rounded outwards.
func complement(probabilities *solve.Values) *solve.Values {
	if probabilities.Exact != nil {
		complements := make([]*big.Rat, len(probabilities.Exact))
		for s, probability := range probabilities.Exact {
			complements[s] = new(big.Rat).Sub(one, probability)
		}
		return &solve.Values{Exact: complements}
	}
	numStates := len(probabilities.Lower)
	result := &solve.Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates)}
	for s := range numStates {
		result.Lower[s] = roundDown(1 - probabilities.Upper[s])
		result.Upper[s] = roundUp(1 - probabilities.Lower[s])
	}
	return result
}

// roundDown and roundUp round the result of a few operations outwards, and limit it to a probability.
func roundDown(value float64) float64 { return min(max(0, interval.Below(value)), 1) }

func roundUp(value float64) float64 { return min(max(0, interval.Above(value)), 1) }

// computeChoiceBounds computes floating-point bounds of the value of each choice. If the formula is decided in a state, its choices have the
// value of the state.
func (shield *Shield) computeChoiceBounds() {
	model := shield.Space.Model()
	lower, upper := make([]float64, model.NumChoices()), make([]float64, model.NumChoices())
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			if shield.isDecided(s) {
				lower[choice], upper[choice] = shield.stateValues.Lower[s], shield.stateValues.Upper[s]
			} else {
				lower[choice], upper[choice] = shield.expectedBounds(choice)
			}
		}
	}
	shield.choiceValues = &solve.Values{Lower: lower, Upper: upper}
}

// expectedBounds returns bounds of the sum of P(c,t) value(t) over the successors t of choice c, rounded outwards.
func (shield *Shield) expectedBounds(choice int) (lower, upper float64) {
	model := shield.Space.Model()
	first, end := model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		weight, target := model.Prob(transition), model.Target[transition]
		lower += float64(weight * shield.stateValues.Lower[target])
		upper += float64(weight * shield.stateValues.Upper[target])
	}
	// All terms are nonnegative. The relative error of a sum is at most the error of a weight, plus a unit
	// roundoff for each product and each addition.
	relErr := model.RelErr + float64(end-first+3)*0x1p-53
	return roundDown(lower * (1 - relErr)), roundUp(upper * (1 + relErr))
}

// allowByBounds allows the choices whose loss is at most the threshold. It decides by floating-point bounds, and in rational arithmetic where the bounds
// do not decide. It returns false if rational arithmetic would be needed for more than half of the states.
func (shield *Shield) allowByBounds(ctx context.Context, threshold *big.Rat) (bool, error) {
	model := shield.Space.Model()
	shield.Allowed = sparse.NewSet(model.NumChoices())
	undecidedChoices, undecidedStates := sparse.NewSet(model.NumChoices()), sparse.NewSet(model.NumStates())
	for s := range model.NumStates() {
		if s&0xffff == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if shield.allowChoicesByBounds(s, threshold, undecidedChoices) {
			undecidedStates.Add(s)
		}
	}
	if undecidedChoices.Empty() {
		return true, nil
	}
	relevant := shield.relevantChoices(undecidedChoices)
	reachable := model.Restrict(relevant).ReachableFrom(undecidedStates)
	if reachable.Count() > model.NumStates()/2 {
		return false, nil
	}
	return true, shield.allowExactly(ctx, threshold, relevant, undecidedChoices, undecidedStates, reachable)
}

// allowChoicesByBounds allows the choices of state s whose loss is certainly at most the threshold. If bounds do not decide this for a choice, it adds
// the choice to undecidedChoices. hasUndecided says whether it added a choice.
func (shield *Shield) allowChoicesByBounds(s int, threshold *big.Rat, undecidedChoices *sparse.Set) (hasUndecided bool) {
	first, end := shield.Space.Model().Choices(s)
	thresholdLow, thresholdHigh := shield.thresholdBounds(threshold, s)
	for choice := first; choice < end; choice++ {
		lossLow, lossHigh := shield.lossBounds(s, choice)
		switch {
		case shield.isDecided(s) || end-first == 1 || lossHigh <= thresholdLow:
			shield.Allowed.Add(choice)
		case lossLow <= thresholdHigh:
			undecidedChoices.Add(choice)
			hasUndecided = true
		}
	}
	return hasUndecided
}

// thresholdBounds returns bounds of the loss that is allowed in state s, as a difference of values. A relative threshold is multiplied by the
// value of s.
func (shield *Shield) thresholdBounds(threshold *big.Rat, s int) (low, high float64) {
	rounded, _ := threshold.Float64()
	low, high = rounded*(1-0x1p-50), rounded*(1+0x1p-50)
	if shield.isRelative {
		low *= shield.stateValues.Lower[s]
		high *= shield.stateValues.Upper[s]
	}
	return low, high
}

// lossBounds returns bounds of the loss of a choice in state s: the difference between the best value of s and the value of the choice.
func (shield *Shield) lossBounds(s, choice int) (low, high float64) {
	const slack = 0x1p-50 // a bound on the rounding error of a difference of probabilities
	stateLow, stateHigh := shield.stateValues.Lower[s], shield.stateValues.Upper[s]
	choiceLow, choiceHigh := shield.choiceValues.Lower[choice], shield.choiceValues.Upper[choice]
	if shield.Max {
		return stateLow - choiceHigh - slack, stateHigh - choiceLow + slack
	}
	return choiceLow - stateHigh - slack, choiceHigh - stateLow + slack
}

// relevantChoices returns the undecided choices, and all choices that may be optimal according to their bounds. The losses of the undecided choices can
// be computed in the model with only these choices, because no other choice can be optimal.
func (shield *Shield) relevantChoices(undecidedChoices *sparse.Set) *sparse.Set {
	model := shield.Space.Model()
	relevant := undecidedChoices.Clone()
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			mayBeBest := shield.choiceValues.Lower[choice] <= shield.stateValues.Upper[s]
			if shield.Max {
				mayBeBest = shield.choiceValues.Upper[choice] >= shield.stateValues.Lower[s]
			}
			if mayBeBest {
				relevant.Add(choice)
			}
		}
	}
	return relevant
}

// allowExactly allows each undecided choice whose exact loss is at most the threshold. undecidedStates are the states of these choices. To compute the
// losses, it solves the model with only the relevant choices, on the reachable states.
func (shield *Shield) allowExactly(ctx context.Context, threshold *big.Rat, relevant, undecidedChoices, undecidedStates, reachable *sparse.Set) error {
	model := shield.Space.Model()
	question := &Question{Space: shield.Space, Left: shield.Left.Intersect(reachable), Right: shield.Right, Negated: shield.Negated, Max: shield.Max}
	subproblem := &Shield{Question: question, graph: shield.graph, isRelative: shield.isRelative}
	exactValues, _, err := subproblem.solve(ctx, sparse.NewGraph(model.Restrict(relevant)), shield.Max, withFractions)
	if err != nil {
		return err
	}
	subproblem.stateValues = exactValues
	for s := range undecidedStates.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			if undecidedChoices.Has(choice) && atMost(subproblem.lossOf(s, subproblem.exactChoiceValue(s, choice)), threshold) {
				shield.Allowed.Add(choice)
			}
		}
	}
	return nil
}

// atMost reports whether a loss is at most the threshold. A loss of nil stands for infinity.
func atMost(loss, threshold *big.Rat) bool { return loss != nil && loss.Cmp(threshold) <= 0 }

var one = big.NewRat(1, 1)

// isDecided reports whether the formula is decided in a state.
func (question *Question) isDecided(s int) bool {
	return question.Right.Has(s) || !question.Left.Has(s)
}

// computeChoiceValues computes the exact value of each choice.
func (shield *Shield) computeChoiceValues(ctx context.Context) error {
	model := shield.Space.Model()
	shield.choiceValues = &solve.Values{Exact: make([]*big.Rat, model.NumChoices())}
	for s := range model.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			shield.choiceValues.Exact[choice] = shield.exactChoiceValue(s, choice)
		}
	}
	return nil
}

// exactChoiceValue returns the exact probability of the formula after a choice of state s, if all later choices are optimal.
func (shield *Shield) exactChoiceValue(s, choice int) *big.Rat {
	if shield.isDecided(s) {
		return shield.stateValues.Exact[s]
	}
	model := shield.Space.Model()
	sum, term := new(big.Rat), new(big.Rat)
	first, end := model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		successorValue := shield.stateValues.Exact[model.Target[transition]]
		sum.Add(sum, term.Mul(model.Fraction(transition), successorValue))
	}
	return sum
}

// lossOf returns the exact loss of a choice in state s: the difference between value, the value of the choice, and the best value of s. A relative loss
// is this difference divided by the best value. nil stands for an infinite loss.
func (shield *Shield) lossOf(s int, value *big.Rat) *big.Rat {
	loss := new(big.Rat).Sub(shield.stateValues.Exact[s], value)
	loss.Abs(loss)
	if !shield.isRelative || loss.Sign() == 0 {
		return loss
	}
	if shield.stateValues.Exact[s].Sign() == 0 {
		return nil
	}
	return loss.Quo(loss, shield.stateValues.Exact[s])
}

// choicesWithinLoss returns the choices whose exact loss is at most the threshold. If the context has ended, choices are missing.
func (shield *Shield) choicesWithinLoss(ctx context.Context, threshold *big.Rat) *sparse.Set {
	model := shield.Space.Model()
	choices := sparse.NewSet(model.NumChoices())
	for s := range model.NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			break
		}
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			if atMost(shield.lossOf(s, shield.choiceValues.Exact[choice]), threshold) {
				choices.Add(choice)
			}
		}
	}
	return choices
}

// allowByTotalLoss allows the choices whose loss is at most a limit. It finds by binary search the greatest limit such that every scheduler of
// allowed choices loses at most the threshold in total. If no limit is small enough, it allows only an optimal scheduler.
func (shield *Shield) allowByTotalLoss(ctx context.Context, threshold *big.Rat) error {
	losses := shield.distinctLosses()
	var searchErr error // an error makes all further tests true, which ends the search
	numAllowed := sort.Search(len(losses), func(count int) bool {
		if searchErr != nil {
			return true
		}
		shield.Allowed = shield.choicesWithinLoss(ctx, losses[count])
		withinThreshold, err := shield.isTotalLossAllowed(ctx, threshold)
		searchErr = err
		return !withinThreshold
	})
	if searchErr != nil {
		return searchErr
	}
	if numAllowed == 0 {
		shield.Allowed = shield.bestScheduler()
		return nil
	}
	shield.Loss = losses[numAllowed-1]
	shield.Allowed = shield.choicesWithinLoss(ctx, shield.Loss)
	return ctx.Err()
}

// distinctLosses returns the finite losses of all choices in increasing order, without duplicates.
func (shield *Shield) distinctLosses() []*big.Rat {
	var losses []*big.Rat
	model := shield.Space.Model()
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		for choice := first; choice < end; choice++ {
			if loss := shield.lossOf(s, shield.choiceValues.Exact[choice]); loss != nil {
				losses = append(losses, loss)
			}
		}
	}
	slices.SortFunc(losses, (*big.Rat).Cmp)
	return slices.CompactFunc(losses, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
}

// bestScheduler returns the choices of an optimal scheduler. Where the scheduler allows any choice, the result has all choices of the state.
func (shield *Shield) bestScheduler() *sparse.Set {
	model := shield.Space.Model()
	choices := sparse.NewSet(model.NumChoices())
	for s := range model.NumStates() {
		first, end := model.Choices(s)
		if best := shield.bestChoices[s]; best != sparse.None {
			first, end = int(best), int(best)+1
		}
		for choice := first; choice < end; choice++ {
			choices.Add(choice)
		}
	}
	return choices
}

// isTotalLossAllowed reports whether every scheduler of allowed choices loses at most the threshold from each initial state.
func (shield *Shield) isTotalLossAllowed(ctx context.Context, threshold *big.Rat) (bool, error) {
	worstValues, _, err := shield.solve(ctx, sparse.NewGraph(shield.restricted()), !shield.Max, withFractions)
	if err != nil {
		return false, err
	}
	for _, s := range shield.Space.Model().Initial {
		limit := new(big.Rat).Set(threshold)
		if shield.isRelative {
			limit.Mul(limit, shield.stateValues.Exact[s])
		}
		loss := new(big.Rat).Sub(shield.stateValues.Exact[s], worstValues.Exact[s])
		if loss.Abs(loss).Cmp(limit) > 0 {
			return false, nil
		}
	}
	return true, nil
}

// restricted returns the model with the allowed choices only.
func (shield *Shield) restricted() *sparse.Model {
	return shield.Space.Model().Restrict(shield.Allowed)
}

// Correction returns the given choice if the shield allows it. Otherwise it returns an allowed choice of state s: an optimal choice if the shield knows
// one, else the first allowed choice.
func (shield *Shield) Correction(s, choice int) int {
	if shield.Allowed.Has(choice) {
		return choice
	}
	if best := shield.bestChoices[s]; best != sparse.None {
		return int(best)
	}
	first, end := shield.Space.Model().Choices(s)
	for candidate := first; candidate < end; candidate++ {
		if shield.Allowed.Has(candidate) {
			return candidate
		}
	}
	return choice // unreachable: every state has an allowed choice
}
