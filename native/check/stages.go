package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Stages begins to evaluate a property of a DTMC in stages: each stage explores some states, and the next stage begins in the states that are left
// unexplored. The first stage is the checker's space. The property must be P=? of F or U, or R=? of F, of state formulas. Stages returns nil for
// other properties, and if the first stage has a cycle through several states.
func (checker *Checker) Stages(ctx context.Context, property *Property) *Stages {
	stages := checker.newStages(property)
	if stages == nil {
		return nil
	}
	one := pointNumber(1)
	if stages.hasFractions {
		one = exactNumber(big.NewRat(1, 1))
	}
	if stages.evaluateStage(ctx, []number{one}) != nil {
		return nil
	}
	return stages
}

// Sum evaluates all further stages, and returns the verdict with the sum of their contributions to the value. ok is false if the bounds are too
// wide, or if the chain is unsuitable: a stage has a cycle through several states, or consists mostly of states of earlier stages. The error is
// ctx.Err(), or describes a state in which the model is wrong.
func (stages *Stages) Sum(ctx context.Context, options explicit.Options) (verdict result.Verdict, ok bool, err error) {
	if report := options.Progress; report != nil {
		options.Progress = func(update progress.Progress) {
			update.Done += stages.numStates
			report(update)
		}
	}
	for !stages.remainingStates.Empty() {
		err := stages.nextStage(ctx, options)
		switch {
		case ctx.Err() != nil || errors.As(err, new(*compile.StateError)):
			return verdict, false, fmt.Errorf("%w, after stages of %s", cmp.Or(err, ctx.Err()), noun.Count(stages.numStates, "state"))
		case err != nil: // the error may be in a state that does not matter
			return verdict, false, nil
		}
	}
	verdict, ok = stages.verdict()
	return verdict, ok, nil
}

// verdict returns the verdict after the last stage. isNarrow reports whether the relative width of the bounds is at most epsilon.
func (stages *Stages) verdict() (verdict result.Verdict, isNarrow bool) {
	value := stages.expectedValue
	answer := &outcome{
		value: resultValue(value, stages.property.Expr.Type()), interval: &result.Interval{Lo: value.Lo, Hi: value.Hi},
		results: results{accuracy: result.Bounded, width: relativeWidth(value)},
	}
	if value.Exact != nil {
		answer.accuracy = result.Exact
	}
	verdict = result.Verdict{Resolution: result.NoNondet, States: stages.numStates, Choices: stages.numStates, Transitions: stages.numTransitions}
	if stages.hasOverlaps {
		verdict.Resolution = result.Uniform
	}
	stages.checker.writePartialOutcome(answer, stages.property, stages.space, &verdict)
	verdict.Warnings = append(verdict.Warnings, fmt.Sprintf("computed in %d stages, each of which forgot the states of earlier stages: a state is counted in each stage that finds it, and not all states behind the goal were explored", stages.numStages))
	verdict.Seconds = time.Since(stages.startTime).Seconds()
	return verdict, answer.width <= stages.checker.opts.epsilon()
}

// nextStage explores the next stage from the remaining states, and propagates the probabilities of these states through it.
func (stages *Stages) nextStage(ctx context.Context, options explicit.Options) error {
	var startProbabilities []number
	for s := range stages.remainingStates.All() {
		startProbabilities = append(startProbabilities, stages.reachProbability[s])
	}
	var err error
	stages.space, err = stages.space.ExploreFurther(ctx, stages.remainingStates, options)
	if err != nil {
		return err
	}
	return stages.evaluateStage(ctx, startProbabilities)
}

// Stages computes the value of a property of a Markov chain stage by stage, and forgets the states of earlier stages. Each
// stage passes the probabilities of its unexplored states on to the next one, and the value is a sum. The numbers are
// fractions if the checker's space has fractions, else bounds.
type Stages struct {
	checker       *Checker
	startTime     time.Time
	property      *Property
	left, right   sema.Expr        // of x U y, x is nil for F y
	reward        *logic.Objective // the reward that is earned until right holds; nil for the probability that right is reached
	hasFractions  bool
	expectedValue number // the value so far

	space            *explicit.Space // the current stage
	reachProbability []number        // the probability of reaching each of its states
	remainingStates  *sparse.Set     // its states with which the next stage begins
	// The numbers of stages, states and transitions so far.
	numStages, numStates, numTransitions int64
	hasOverlaps                          bool // a stage has overlapping guards
	// sampledStates has the fingerprints of a sample of the states of all stages, to recognise states of earlier stages.
	sampledStates map[uint64]struct{}
}

// sampleRate is the mean number of states per sampled state.
const sampleRate = 1 << 10

// errNoStages says that a chain cannot be split into stages.
var errNoStages = errors.New("the chain has no stages")

// newStages prepares the evaluation of a property in stages. It returns nil if the model is not a DTMC with one initial state, or if the property
// is not P=? or R=? of reaching a target.
func (checker *Checker) newStages(property *Property) *Stages {
	space, formula := checker.floatModel.space, logic.FormulaOf(property.Expr)
	isSupportedModel := space.Program().Type == syntax.DTMC && len(space.Model().Initial) == 1 && space.Unfit() == nil
	if !isSupportedModel || !formula.IsQuery() {
		return nil
	}
	stages := &Stages{checker: checker, startTime: time.Now(), property: property, space: space, hasFractions: space.Model().Exact(), sampledStates: map[uint64]struct{}{}}
	if stages.hasFractions {
		stages.expectedValue = exactNumber(new(big.Rat))
	}
	if !stages.setOperands(formula) {
		return nil
	}
	// Each stage has other initial states, so the operands must not depend on the label "init".
	if !dependsOnStateOnly(property, stages.left, withoutInit) || !dependsOnStateOnly(property, stages.right, withoutInit) {
		return nil
	}
	return stages
}

// setOperands stores the operands left and right of P [ left U right ], or of R [ F right ] with its reward. isSupported is false for other formulas.
func (stages *Stages) setOperands(formula *logic.Formula) (isSupported bool) {
	switch formula.Kind {
	case logic.Probability:
		stages.left, stages.right = formula.Path.Left, formula.Path.Right
		return formula.Path.Reaches()
	case logic.Reward:
		objective := formula.Objective
		if objective.Form != logic.ReachReward || objective.Err != nil || objective.IsRatio {
			return false
		}
		stages.reward = objective
		stages.left, stages.right = objective.Path.Left, objective.Path.Right
		return true
	}
	return false
}

// evaluateStage adds the contribution of the current stage to the expected value. It also computes the probabilities of reaching the unexplored
// states, with which the next stage begins. startProbabilities are the probabilities of the stage's initial states. The error is errNoStages if
// the stage has a cycle through several states, or if most of its states were in earlier stages.
func (stages *Stages) evaluateStage(ctx context.Context, startProbabilities []number) error {
	space, model := stages.space, stages.space.Model()
	stages.hasOverlaps = stages.hasOverlaps || space.Overlaps() > 0
	evaluation := &evaluation{model: newModel(space), request: request{ctx: ctx, property: stages.property}}
	left, right, err := evaluation.operandStates(stages.left, stages.right)
	if err != nil {
		return err
	}
	if err := space.Unfit(); err != nil {
		return err
	}
	rewards, err := stages.stageRewards(evaluation)
	if err != nil {
		return err
	}
	unexplored := unexploredStates(space)
	undecided := left.Minus(right)
	reached := reachableThrough(model, undecided.Minus(unexplored))
	// Predecessors come before successors, so that one pass computes all probabilities of reaching a state.
	order, err := stages.propagationOrder(reached.Intersect(undecided).Minus(unexplored))
	if err != nil {
		return err
	}
	stages.reachProbability = make([]number, model.NumStates())
	copy(stages.reachProbability, startProbabilities) // the initial states have the first numbers
	if err := stages.propagateAll(ctx, order, rewards); err != nil {
		return err
	}
	if stages.reward == nil {
		stages.addProbabilities(reached.Intersect(right))
	}
	stages.remainingStates = reached.Intersect(undecided).Intersect(unexplored)
	stages.countStates(unexplored.Count())
	return nil
}

// unexploredStates returns the unexplored states of a space. The set is empty if all states are explored.
func unexploredStates(space *explicit.Space) *sparse.Set {
	if unexplored := space.Unexplored(); unexplored != nil {
		return unexplored
	}
	return sparse.NewSet(space.Model().NumStates())
}

// propagationOrder returns some states of the current stage in reverse topological order. The error is errNoStages if a cycle leads through
// several of these states, or if earlier stages had most of them.
func (stages *Stages) propagationOrder(states *sparse.Set) ([]uint32, error) {
	order, isAcyclic := stages.space.Model().Topological(states)
	if !isAcyclic {
		return nil, errNoStages
	}
	return order.Order, stages.addSample(order.Order)
}

// addProbabilities adds the probabilities of some states of the current stage to the expected value.
func (stages *Stages) addProbabilities(states *sparse.Set) {
	for s := range states.All() {
		stages.expectedValue = sumOf(stages.expectedValue, stages.reachProbability[s])
	}
}

// countStates adds the explored states of the current stage and their transitions to the totals.
func (stages *Stages) countStates(numUnexplored int) {
	model := stages.space.Model() // an unexplored state has one transition, a self-loop
	stages.numStages++
	stages.numStates += int64(model.NumStates() - numUnexplored)
	stages.numTransitions += int64(model.NumTransitions() - numUnexplored)
}

// stageRewards returns the reward structure of the current stage, or nil if the property asks for a probability.
func (stages *Stages) stageRewards(evaluation *evaluation) (*sparse.Reward, error) {
	if stages.reward == nil {
		return nil, nil
	}
	return evaluation.reward(stages.reward.Struct)
}

// addSample stores the fingerprints of a sample of the states of a stage. If earlier stages have stored more than half of them, the error is
// errNoStages, because the stages then explore the same states again and again.
func (stages *Stages) addSample(states []uint32) error {
	var sample []uint64
	numStored := 0
	for _, s := range states {
		fingerprint := stages.space.Fingerprint(int(s))
		if fingerprint%sampleRate != 0 {
			continue
		}
		sample = append(sample, fingerprint)
		if _, isStored := stages.sampledStates[fingerprint]; isStored {
			numStored++
		}
	}
	if numStored > len(sample)/2 {
		return errNoStages
	}
	for _, fingerprint := range sample {
		stages.sampledStates[fingerprint] = struct{}{}
	}
	return nil
}

// propagateAll propagates the probabilities of states to their successors. The states are in reverse topological order. If rewards is not nil, it also
// adds the expected rewards that are earned in these states to stages.expectedValue.
func (stages *Stages) propagateAll(ctx context.Context, states []uint32, rewards *sparse.Reward) error {
	weights := stages.weightNumbers(stages.space.Model())
	for i, s := range slices.Backward(states) { // predecessors first
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := stages.propagate(weights, rewards, int(s)); err != nil {
			return err
		}
	}
	return nil
}

// propagate adds the expected number of visits of state s to its successors, and the rewards of these visits to the expected value. weights are the
// transition weights of the model. An absorbing state has no successors; if there are rewards, it is an error, because the expected reward may be
// infinite.
func (stages *Stages) propagate(weights []number, rewards *sparse.Reward, s int) error {
	visits := stages.reachProbability[s] // the expected number of visits
	if exitProbability, hasSelfLoop := stages.exitProbability(weights, s); hasSelfLoop {
		isAbsorbing := exitProbability.Hi == 0
		switch {
		case isAbsorbing && rewards != nil: // the expected reward may be infinite
			return errNoStages
		case isAbsorbing:
			return nil
		}
		visits = quotientOf(visits, exitProbability)
	}
	if rewards != nil {
		if reward := stages.rewardOf(rewards, s); reward.Hi > 0 {
			stages.expectedValue = sumOf(stages.expectedValue, productOf(visits, reward))
		}
	}
	stages.addToSuccessors(weights, s, visits)
	return nil
}

// addToSuccessors adds visits * P(s,t) to the probability of each successor t of state s other than s. weights are the transition weights of the
// model.
func (stages *Stages) addToSuccessors(weights []number, s int, visits number) {
	model := stages.space.Model()
	first, end := model.Transitions(s)
	for transition := first; transition < end; transition++ {
		target := int(model.Target[transition])
		if target == s {
			continue
		}
		share := visits
		if end-first > 1 {
			share = productOf(visits, weights[model.WeightIndex[transition]])
		}
		stages.reachProbability[target] = sumOf(stages.reachProbability[target], share)
	}
}

// exitProbability returns 1 - P(s,s), the probability that a step from state s leads to another state, and whether s has a self-loop.
func (stages *Stages) exitProbability(weights []number, s int) (probability number, hasSelfLoop bool) {
	model := stages.space.Model()
	first, end := model.Transitions(s)
	for transition := first; transition < end; transition++ {
		if int(model.Target[transition]) == s {
			hasSelfLoop = true
		} else {
			probability = sumOf(probability, weights[model.WeightIndex[transition]])
		}
	}
	return probability, hasSelfLoop
}

// rewardOf returns the reward of state s, with bounds for its rounding error.
func (stages *Stages) rewardOf(reward *sparse.Reward, s int) number {
	if stages.hasFractions {
		return exactNumber(reward.ExactChoiceTotal(s, s))
	}
	return widenByError(reward.ChoiceTotal(s, s), reward.RelErr+0x1p-52)
}

// weightNumbers returns the transition weights of a model as numbers, with bounds for their rounding errors.
func (stages *Stages) weightNumbers(model *sparse.Model) []number {
	numbers := make([]number, len(model.Weights))
	for i := range numbers {
		if stages.hasFractions {
			numbers[i] = exactNumber(model.Fractions[i])
		} else {
			numbers[i] = widenByError(model.Weights[i], model.RelErr)
		}
	}
	return numbers
}

// widenByError returns bounds of a number that was rounded to value with a relative error of at most err.
func widenByError(value, err float64) number {
	if err == 0 {
		return pointNumber(value)
	}
	lower, _ := sumBounds(1, -err)
	_, upper := sumBounds(1, err)
	return productOf(pointNumber(value), boundedNumber(lower, upper))
}

// sumOf returns left + right for nonnegative numbers.
func sumOf(left, right number) number {
	if left.Hi == 0 {
		return right
	}
	return nonNegativeResult(syntax.OpAdd, left, right)
}

// productOf returns left * right for nonnegative numbers.
func productOf(left, right number) number { return nonNegativeResult(syntax.OpMul, left, right) }

// quotientOf returns left / right for nonnegative numbers.
func quotientOf(left, right number) number { return nonNegativeResult(syntax.OpDiv, left, right) }

// nonNegativeResult applies an arithmetic operator with a nonnegative result. A result without finite bounds has the bounds 0 and infinity.
func nonNegativeResult(operator syntax.Op, left, right number) number {
	if value, hasBounds := applyArithmetic(operator, left, right); hasBounds {
		return value
	}
	return boundedNumber(0, math.Inf(1))
}

// reachableThrough returns the states that a path from an initial state can reach if all its states, except the last one, are in transitStates.
func reachableThrough(model *sparse.Model, transitStates *sparse.Set) *sparse.Set {
	reached := sparse.NewSet(model.NumStates())
	for _, s := range model.Initial {
		reached.Add(int(s))
	}
	pending := slices.Clone(model.Initial)
	for len(pending) > 0 {
		s := int(pending[len(pending)-1])
		pending = pending[:len(pending)-1]
		if !transitStates.Has(s) {
			continue
		}
		first, end := model.Transitions(s)
		for _, target := range model.Target[first:end] {
			if !reached.Has(int(target)) {
				reached.Add(int(target))
				pending = append(pending, target)
			}
		}
	}
	return reached
}
