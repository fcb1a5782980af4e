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

// Stages begins to evaluate a property of a DTMC in stages. The first stage has the states of the checker's space. The result is
// nil unless the property is P=? of F or U, or R=? of F, over labels and variables, and the first stage has no cycle through
// several states.
func (c *Checker) Stages(ctx context.Context, property *Property) *Stages {
	s := c.newStages(property)
	if s == nil || s.followPart(ctx, []number{s.one}) != nil {
		return nil
	}
	return s
}

// Sum explores the remaining states with the given options, and returns the value of the property. ok is false if the chain
// cannot be split into stages: because a cycle leads through several states of a stage, or because later stages find most
// states again. The error comes from the context, or describes a state in which the model is wrong.
func (stages *Stages) Sum(ctx context.Context, options explicit.Options) (verdict result.Verdict, ok bool, err error) {
	if report := options.Progress; report != nil {
		options.Progress = func(stage progress.Progress) {
			stage.Done += stages.states
			report(stage)
		}
	}
	for !stages.remaining.Empty() {
		err := stages.nextStage(ctx, options)
		switch {
		case ctx.Err() != nil || errors.As(err, new(*compile.StateError)):
			return verdict, false, fmt.Errorf("%w, after stages of %s", cmp.Or(err, ctx.Err()), noun.Count(stages.states, "state"))
		case err != nil: // the error may be in a state that does not matter
			return verdict, false, nil
		}
	}
	answer := &outcome{value: resultValue(stages.expectedValue, stages.property.X.Type()), bound: &result.Interval{Lo: stages.expectedValue.lo, Hi: stages.expectedValue.hi}, results: results{accuracy: result.Bounded, width: relativeWidth(stages.expectedValue)}}
	if stages.expectedValue.rat != nil {
		answer.accuracy = result.Exact
	}
	verdict = result.Verdict{Resolution: result.NoNondet, States: stages.states, Choices: stages.states, Transitions: stages.transitions}
	if stages.overlaps {
		verdict.Resolution = result.Uniform
	}
	err = stages.checker.conclude(stages.property, stages.space, answer, &verdict, fmt.Sprintf("computed in %d stages, each of which forgot the states of earlier stages: a state is counted in each stage that finds it, and not all states behind the goal were explored", stages.stages))
	verdict.Seconds = time.Since(stages.start).Seconds()
	return verdict, answer.width <= stages.checker.opts.epsilon(), err
}

// nextStage explores the states that are reachable from the remaining ones, and propagates the probabilities of the
// remaining states through the new states.
func (stages *Stages) nextStage(ctx context.Context, options explicit.Options) error {
	var startMass []number
	for i := range stages.remaining.All() {
		startMass = append(startMass, stages.mass[i])
	}
	var err error
	if stages.space, err = stages.space.ExploreFurther(ctx, stages.remaining, options); err != nil {
		return err
	}
	return stages.followPart(ctx, startMass)
}

// Stages computes the value of a property of a Markov chain stage by stage, and forgets the states of earlier stages. Each
// stage passes the probabilities of its unexplored states on to the next one, and the value is a sum. The numbers are
// fractions if the checker's space has fractions, and otherwise bounds.
type Stages struct {
	checker       *Checker
	start         time.Time
	property      *Property
	left, right   sema.Expr        // of x U y, x is nil for F y
	reward        *logic.Objective // the reward that is earned until right holds; nil for the probability that right is reached
	exact         bool
	one           number
	expectedValue number // the value so far

	space     *explicit.Space // the current stage
	mass      []number        // the probability of each of its states
	remaining *sparse.Set     // its states with which the next stage begins
	// The numbers of stages, states and transitions so far.
	stages, states, transitions int64
	overlaps                    bool // a stage has overlapping guards
	// milestones has the fingerprints of a sample of the states, one in 2^10, to recognise states of earlier stages.
	milestones map[uint64]struct{}
}

// milestone is the inverse of the fraction of states that are milestones.
const milestone = 1 << 10

// errNoStages says that a chain cannot be split into stages.
var errNoStages = errors.New("the chain has no stages")

// newStages prepares the evaluation of a property in stages. It returns nil if the property cannot be evaluated in stages,
// which requires a DTMC with one initial state, and a query for a reachability probability or a reachability reward.
func (c *Checker) newStages(property *Property) *Stages {
	space := c.bounds.space
	stages := &Stages{checker: c, start: time.Now(), property: property, space: space, exact: space.Model().Exact(), milestones: map[uint64]struct{}{}}
	stages.one = point(1)
	if stages.exact {
		stages.one = fraction(big.NewRat(1, 1))
		stages.expectedValue = fraction(new(big.Rat))
	}
	formula := logic.Of(property.X)
	var path *logic.Path
	switch {
	case formula.Kind == logic.Probability && formula.Path.Reaches():
		path = formula.Path
	case formula.Kind == logic.Reward && formula.Objective.Form == logic.ReachReward && formula.Objective.Err == nil && !formula.Objective.Ratio:
		path = formula.Objective.Path
		stages.reward = formula.Objective
	}
	if path == nil || !formula.Query() || space.Program().Type != syntax.DTMC || len(space.Model().Initial) != 1 || space.Unfit() != nil {
		return nil
	}
	stages.left, stages.right = path.Left, path.Right
	if !dependsOnStateOnly(property, stages.left, false) || !dependsOnStateOnly(property, stages.right, false) { // each stage has different initial states
		return nil
	}
	return stages
}

// followPart evaluates the current stage: it passes the given probabilities of its initial states on, in topological order, to
// its unexplored states, and adds the value of the stage to the sum.
func (s *Stages) followPart(ctx context.Context, given []number) error {
	space := s.space
	s.overlaps = s.overlaps || space.Overlaps() > 0
	e := &evaluation{model: newModel(space), request: request{ctx: ctx, property: s.property}}
	left, right, err := e.operands(s.left, s.right)
	if err != nil {
		return err
	}
	m := space.Model()
	if why := space.Unfit(); why != nil {
		return why
	}
	var rewards *sparse.Reward
	if s.reward != nil {
		if rewards, err = e.reward(s.reward.Struct); err != nil {
			return err
		}
	}
	unexplored := space.Unexplored()
	if unexplored == nil {
		unexplored = sparse.NewSet(m.NumStates())
	}
	open := left.Minus(right)
	found := reachedVia(m, open.Minus(unexplored))
	order, acyclic := m.Topological(found.Intersect(open).Minus(unexplored))
	if !acyclic {
		return errNoStages
	}
	s.mass = append(s.mass[:0], given...)
	s.mass = append(s.mass, make([]number, m.NumStates()-len(given))...)
	weights := s.weights(m)
	seenBefore, milestones := 0, []uint64{}
	for i, state := range slices.Backward(order.Order) {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if f := space.Fingerprint(int(state)); f%milestone == 0 {
			if _, seen := s.milestones[f]; seen {
				seenBefore++
			}
			milestones = append(milestones, f)
		}
		if err := s.distribute(m, weights, rewards, int(state)); err != nil {
			return err
		}
	}
	if seenBefore > len(milestones)/2 {
		return errNoStages
	}
	for _, f := range milestones {
		s.milestones[f] = struct{}{}
	}
	if s.reward == nil {
		for i := range found.Intersect(right).All() {
			s.expectedValue = sumOf(s.expectedValue, s.mass[i])
		}
	}
	s.stages++
	s.states += int64(m.NumStates() - unexplored.Count())
	s.transitions += int64(m.NumTransitions() - unexplored.Count())
	s.remaining = found.Intersect(open).Intersect(unexplored)
	return nil
}

// distribute adds the probability of a state to its successors, multiplied by the transition probabilities, and adds the reward
// of its visits to the expected value. It drops the probability of a state whose only successor is the state itself.
func (s *Stages) distribute(model *sparse.Model, weights []number, rewards *sparse.Reward, state int) error {
	first, end := model.Row(state)
	hasSelfLoop, exitProbability := false, number{}
	for transition := first; transition < end; transition++ {
		if int(model.Target[transition]) == state {
			hasSelfLoop = true
		} else {
			exitProbability = sumOf(exitProbability, weights[model.Weight[transition]])
		}
	}
	visits := s.mass[state]
	if hasSelfLoop {
		if exitProbability.hi == 0 {
			if s.reward != nil {
				return errNoStages // the reward is infinite
			}
			return nil
		}
		visits = quotientOf(visits, exitProbability)
	}
	if rewards != nil {
		if g := s.rewardOf(rewards, state); g.hi > 0 {
			s.expectedValue = sumOf(s.expectedValue, productOf(visits, g))
		}
	}
	for transition := first; transition < end; transition++ {
		if target := model.Target[transition]; int(target) != state {
			share := visits
			if end-first > 1 {
				share = productOf(visits, weights[model.Weight[transition]])
			}
			s.mass[target] = sumOf(s.mass[target], share)
		}
	}
	return nil
}

// rewardOf returns the reward of a state.
func (s *Stages) rewardOf(reward *sparse.Reward, state int) number {
	if s.exact {
		return fraction(reward.OfChoiceRat(state, state))
	}
	return widen(reward.OfChoice(state, state), reward.Err+0x1p-52)
}

// weights returns the transition weights of a model as numbers, with bounds that contain their rounding errors.
func (stages *Stages) weights(model *sparse.Model) []number {
	numbers := make([]number, len(model.Weights))
	for i := range numbers {
		if stages.exact {
			numbers[i] = fraction(model.Rats[i])
		} else {
			numbers[i] = widen(model.Weights[i], model.Err)
		}
	}
	return numbers
}

// widen encloses a number whose relative error is at most err.
func widen(value, err float64) number {
	if err == 0 {
		return point(value)
	}
	lower, _ := sumBounds(1, -err)
	_, upper := sumBounds(1, err)
	return productOf(point(value), number{lo: lower, hi: upper})
}

// sumOf returns left + right for numbers that are not negative.
func sumOf(left, right number) number {
	if left.hi == 0 {
		return right
	}
	return enclosed(syntax.OpAdd, left, right)
}

// productOf returns left * right for numbers that are not negative.
func productOf(left, right number) number { return enclosed(syntax.OpMul, left, right) }

// quotientOf returns left / right for numbers that are not negative.
func quotientOf(left, right number) number { return enclosed(syntax.OpDiv, left, right) }

// enclosed applies an operator to numbers that are not negative. If their bounds are too wide to bound the result, it is only
// known to be at least 0.
func enclosed(operator syntax.Op, left, right number) number {
	if out, ok := binary(operator, left, right); ok {
		return out
	}
	return number{lo: 0, hi: math.Inf(1)}
}

// reachedVia returns the states that are reachable from the initial states on paths whose earlier states are all in via.
func reachedVia(model *sparse.Model, via *sparse.Set) *sparse.Set {
	reached := sparse.NewSet(model.NumStates())
	var pending []uint32
	visit := func(s uint32) {
		if !reached.Has(int(s)) {
			reached.Add(int(s))
			if via.Has(int(s)) {
				pending = append(pending, s)
			}
		}
	}
	for _, s := range model.Initial {
		visit(s)
	}
	for len(pending) > 0 {
		s := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		first, end := model.Row(int(s))
		for transition := first; transition < end; transition++ {
			visit(model.Target[transition])
		}
	}
	return reached
}
