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

// Sum explores the other states, with the given options, and returns the value. It reports false for a chain that cannot be
// split into stages: there is a cycle through several states of a stage, or most states are found again in later stages. An
// error is the context's, or names a state in which the model is wrong.
func (s *Stages) Sum(ctx context.Context, build explicit.Options) (verdict result.Verdict, ok bool, err error) {
	if report := build.Progress; report != nil {
		build.Progress = func(stage progress.Progress) {
			stage.Done += s.states
			report(stage)
		}
	}
	for !s.rest.Empty() {
		err := s.nextStage(ctx, build)
		switch {
		case ctx.Err() != nil || errors.As(err, new(*compile.StateError)):
			return verdict, false, fmt.Errorf("%w, after stages of %s", cmp.Or(err, ctx.Err()), noun.Count(s.states, "state"))
		case err != nil: // the error may be in a state that does not matter
			return verdict, false, nil
		}
	}
	answer := &outcome{value: value(s.sum, s.property.X.Type()), bound: &result.Interval{Lo: s.sum.lo, Hi: s.sum.hi}, results: results{accuracy: result.Bounded, width: relativeWidth(s.sum)}}
	if s.sum.rat != nil {
		answer.accuracy = result.Exact
	}
	verdict = result.Verdict{Resolution: result.NoNondet, States: s.states, Choices: s.states, Transitions: s.transitions}
	if s.overlaps {
		verdict.Resolution = result.Uniform
	}
	err = s.checker.conclude(s.property, s.space, answer, &verdict, fmt.Sprintf("computed in %d stages, each of which forgot the states before: those that were found again are counted again, and not all behind the goal were looked at", s.stages))
	verdict.Seconds = time.Since(s.start).Seconds()
	return verdict, answer.width <= s.checker.opts.epsilon(), err
}

// nextStage explores from the remaining states, with the probabilities that they have, and follows the probabilities
// through the new states.
func (s *Stages) nextStage(ctx context.Context, build explicit.Options) error {
	var given []number
	for i := range s.rest.All() {
		given = append(given, s.mass[i])
	}
	var err error
	if s.space, err = s.space.ExploreFurther(ctx, s.rest, build); err != nil {
		return err
	}
	return s.followPart(ctx, given)
}

// Stages computes the value of a property of a Markov chain stage by stage, and forgets the states of earlier stages. Each
// stage passes the probabilities of its unexplored states on to the next one, and the value is a sum. The numbers are
// fractions if the checker's space has fractions, and otherwise bounds.
type Stages struct {
	checker     *Checker
	start       time.Time
	property    *Property
	left, right sema.Expr        // of x U y, x is nil for F y
	reward      *logic.Objective // what is added until y holds; nil for the probability of that
	exact       bool
	one         number
	sum         number // the value so far

	space *explicit.Space // the current stage
	mass  []number        // the probability of each of its states
	rest  *sparse.Set     // its states with which the next stage begins
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

// newStages returns the evaluation of a property before its first stage. It returns nil if the property cannot be evaluated in stages:
// that needs a DTMC with one initial state, and a query for a reachability probability or reward.
func (c *Checker) newStages(property *Property) *Stages {
	space := c.bounds.space
	stages := &Stages{checker: c, start: time.Now(), property: property, space: space, exact: space.Model().Exact(), milestones: map[uint64]struct{}{}}
	stages.one = point(1)
	if stages.exact {
		stages.one = fraction(big.NewRat(1, 1))
		stages.sum = fraction(new(big.Rat))
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
	if !aboutStateOnly(property, stages.left, false) || !aboutStateOnly(property, stages.right, false) { // parts have initial states of their own
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
		if err := s.passOn(m, weights, rewards, int(state)); err != nil {
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
			s.sum = plus(s.sum, s.mass[i])
		}
	}
	s.stages++
	s.states += int64(m.NumStates() - unexplored.Count())
	s.transitions += int64(m.NumTransitions() - unexplored.Count())
	s.rest = found.Intersect(open).Intersect(unexplored)
	return nil
}

// passOn adds the probability of a state to its successors, in proportion to the weights of w, and the reward of its visits to
// the sum. The probability of a state with no other successor than itself is dropped.
func (s *Stages) passOn(m *sparse.Model, weights []number, rewards *sparse.Reward, state int) error {
	first, end := m.Row(state)
	stays, leaves := false, number{}
	for transition := first; transition < end; transition++ {
		if int(m.Target[transition]) == state {
			stays = true
		} else {
			leaves = plus(leaves, weights[m.Weight[transition]])
		}
	}
	left := s.mass[state]
	if stays {
		if leaves.hi == 0 {
			if s.reward != nil {
				return errNoStages // the reward is infinite
			}
			return nil
		}
		left = over(left, leaves)
	}
	if rewards != nil {
		if g := s.rewardOf(rewards, state); g.hi > 0 {
			s.sum = plus(s.sum, times(left, g))
		}
	}
	for transition := first; transition < end; transition++ {
		if to := m.Target[transition]; int(to) != state {
			right := left
			if end-first > 1 {
				right = times(left, weights[m.Weight[transition]])
			}
			s.mass[to] = plus(s.mass[to], right)
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

// weights returns the weights of a model as numbers.
func (s *Stages) weights(m *sparse.Model) []number {
	w := make([]number, len(m.Weights))
	for i := range w {
		if s.exact {
			w[i] = fraction(m.Rats[i])
		} else {
			w[i] = widen(m.Weights[i], m.Err)
		}
	}
	return w
}

// widen encloses a number whose relative error is at most err.
func widen(value, err float64) number {
	if err == 0 {
		return point(value)
	}
	lower, _ := sum(1, -err)
	_, upper := sum(1, err)
	return times(point(value), number{lo: lower, hi: upper})
}

// plus returns left + right for numbers that are not negative.
func plus(left, right number) number {
	if left.hi == 0 {
		return right
	}
	return enclosed(syntax.OpAdd, left, right)
}

// times returns left * right for numbers that are not negative.
func times(left, right number) number { return enclosed(syntax.OpMul, left, right) }

// over returns left / right for numbers that are not negative.
func over(left, right number) number { return enclosed(syntax.OpDiv, left, right) }

// enclosed applies an operator to numbers that are not negative. If their bounds are too wide to bound the result, it is only
// known to be at least 0.
func enclosed(operator syntax.Op, left, right number) number {
	if out, ok := binary(operator, left, right); ok {
		return out
	}
	return number{lo: 0, hi: math.Inf(1)}
}

// reachedVia returns the states that are reached from the initial states through states in via.
func reachedVia(m *sparse.Model, via *sparse.Set) *sparse.Set {
	reached := sparse.NewSet(m.NumStates())
	var pending []uint32
	visit := func(s uint32) {
		if !reached.Has(int(s)) {
			reached.Add(int(s))
			if via.Has(int(s)) {
				pending = append(pending, s)
			}
		}
	}
	for _, s := range m.Initial {
		visit(s)
	}
	for len(pending) > 0 {
		s := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		first, end := m.Row(int(s))
		for transition := first; transition < end; transition++ {
			visit(m.Target[transition])
		}
	}
	return reached
}
