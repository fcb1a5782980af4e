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

	"tilecheck/internal/progress"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Stages begins to answer a property of a DTMC from the first states, which the checker's space has. It returns nil unless
// the property is P=? of F or U, or R=? of F, over labels and variables; and if there is a cycle through several of those
// states.
func (c *Checker) Stages(ctx context.Context, p *Property) *Stages {
	s := c.newStages(p)
	if s == nil || s.followPart(ctx, []number{s.one}) != nil {
		return nil
	}
	return s
}

// Sum explores the other states, with the given options, and returns the value. It reports false for a chain that cannot be
// split into stages: there is a cycle through several states of a stage, or most states are found again in later stages. An
// error is the context's, or names a state in which the model is wrong.
func (s *Stages) Sum(ctx context.Context, build explicit.Options) (v result.Verdict, ok bool, err error) {
	if tell := build.Progress; tell != nil {
		build.Progress = func(at progress.Progress) {
			at.Done += s.states
			tell(at)
		}
	}
	for !s.rest.Empty() {
		var given []number
		for i := range s.rest.All() {
			given = append(given, s.mass[i])
		}
		if s.space, err = s.space.ExploreFurther(ctx, s.rest, build); err == nil {
			err = s.followPart(ctx, given)
		}
		switch {
		case ctx.Err() != nil || errors.As(err, new(*compile.StateError)):
			return v, false, fmt.Errorf("%w, after stages of %d states", cmp.Or(err, ctx.Err()), s.states)
		case err != nil: // it may matter, or not
			return v, false, nil
		}
	}
	out := &outcome{value: value(s.sum, s.p.X.Type()), bound: &result.Interval{Lo: s.sum.lo, Hi: s.sum.hi}, results: results{accuracy: result.Bounded, width: relativeWidth(s.sum)}}
	if s.sum.rat != nil {
		out.accuracy = result.Exact
	}
	v = result.Verdict{Resolution: result.NoNondet, States: s.states, Choices: s.states, Transitions: s.transitions}
	if s.overlaps {
		v.Resolution = result.Uniform
	}
	err = s.c.conclude(s.p, s.space, out, &v, fmt.Sprintf("computed in %d stages, each of which forgot the states before: those that were found again are counted again, and not all behind the goal were looked at", s.stages))
	v.Seconds = time.Since(s.start).Seconds()
	return v, out.width <= s.c.opts.epsilon(), err
}

// Stages computes the value of a property of a Markov chain stage by stage, and forgets the states of earlier stages. Each
// stage passes the probabilities of its unexplored states on to the next one, and the value is a sum. The numbers are
// fractions if the checker's space has fractions, and otherwise bounds.
type Stages struct {
	c      *Checker
	start  time.Time
	p      *Property
	x, y   sema.Expr        // of x U y, x is nil for F y
	reward *logic.Objective // what is added until y holds; nil for the probability of that
	exact  bool
	one    number
	sum    number

	space *explicit.Space // the last part
	mass  []number        // of its states
	rest  *sparse.Set     // those in which to go on
	// How many there were.
	stages, states, transitions int64
	overlaps                    bool // in one of them
	// milestones are some states of the parts, by their fingerprints: one in milestone.
	milestones map[uint64]struct{}
}

const milestone = 1 << 10

// errNoStages says that parts of a chain are no stages of it.
var errNoStages = errors.New("the chain has no stages")

func (c *Checker) newStages(p *Property) *Stages {
	space := c.bounds.space
	s := &Stages{c: c, start: time.Now(), p: p, space: space, exact: space.Model().Exact(), milestones: map[uint64]struct{}{}}
	if s.one = point(1); s.exact {
		s.one, s.sum = fraction(big.NewRat(1, 1)), fraction(new(big.Rat))
	}
	f := logic.Of(p.X)
	var path *logic.Path
	switch {
	case f.Kind == logic.Probability && f.Path.Reaches():
		path = f.Path
	case f.Kind == logic.Reward && f.Objective.Form == logic.ReachReward && f.Objective.Err == nil && !f.Objective.Ratio:
		path, s.reward = f.Objective.Path, f.Objective
	}
	if path == nil || !f.Query() || space.Program().Type != syntax.DTMC || len(space.Model().Initial) != 1 || space.Unfit() != nil {
		return nil
	}
	s.x, s.y = path.Left, path.Right
	if !aboutStateOnly(p, s.x, false) || !aboutStateOnly(p, s.y, false) { // parts have initial states of their own
		return nil
	}
	return s
}

// followPart distributes the probabilities of the initial states of a stage to its last states.
func (s *Stages) followPart(ctx context.Context, given []number) error {
	space := s.space
	s.overlaps = s.overlaps || space.Overlaps() > 0
	e := &evaluation{model: newModel(space), request: request{ctx: ctx, p: s.p}}
	left, right, err := e.operands(s.x, s.y)
	if err != nil {
		return err
	}
	m := space.Model()
	if why := space.Unfit(); why != nil {
		return why
	}
	var gains *sparse.Reward
	if s.reward != nil {
		if gains, err = e.reward(s.reward.Struct); err != nil {
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
	w := s.weights(m)
	again, some := 0, []uint64{}
	for i, state := range slices.Backward(order.Order) {
		if i&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if f := space.Fingerprint(int(state)); f%milestone == 0 {
			if _, seen := s.milestones[f]; seen {
				again++
			}
			some = append(some, f)
		}
		if err := s.passOn(m, w, gains, int(state)); err != nil {
			return err
		}
	}
	if again > len(some)/2 {
		return errNoStages
	}
	for _, f := range some {
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

// passOn adds the probability of a state to its successors. A path ends in a state that it cannot leave.
func (s *Stages) passOn(m *sparse.Model, w []number, gains *sparse.Reward, state int) error {
	first, end := m.Row(state)
	stays, leaves := false, number{}
	for t := first; t < end; t++ {
		if int(m.Target[t]) == state {
			stays = true
		} else {
			leaves = plus(leaves, w[m.Weight[t]])
		}
	}
	x := s.mass[state]
	if stays {
		if leaves.hi == 0 {
			if s.reward != nil {
				return errNoStages // the reward is infinite
			}
			return nil
		}
		x = over(x, leaves)
	}
	if gains != nil {
		if g := s.rewardOf(gains, state); g.hi > 0 {
			s.sum = plus(s.sum, times(x, g))
		}
	}
	for t := first; t < end; t++ {
		if to := m.Target[t]; int(to) != state {
			y := x
			if end-first > 1 {
				y = times(x, w[m.Weight[t]])
			}
			s.mass[to] = plus(s.mass[to], y)
		}
	}
	return nil
}

func (s *Stages) rewardOf(r *sparse.Reward, state int) number {
	if s.exact {
		return fraction(r.OfChoiceRat(state, state))
	}
	return widened(r.OfChoice(state, state), r.Err+0x1p-52)
}

// weights returns the numbers of a model's weights.
func (s *Stages) weights(m *sparse.Model) []number {
	w := make([]number, len(m.Weights))
	for i := range w {
		if s.exact {
			w[i] = fraction(m.Rats[i])
		} else {
			w[i] = widened(m.Weights[i], m.Err)
		}
	}
	return w
}

// widened encloses a number whose relative error is at most err.
func widened(x, err float64) number {
	if err == 0 {
		return point(x)
	}
	lo, _ := sum(1, -err)
	_, hi := sum(1, err)
	return times(point(x), number{lo: lo, hi: hi})
}

// plus, times and over compute with numbers that are not negative.
func plus(x, y number) number {
	if x.hi == 0 {
		return y
	}
	return enclosed(syntax.OpAdd, x, y)
}

func times(x, y number) number { return enclosed(syntax.OpMul, x, y) }

func over(x, y number) number { return enclosed(syntax.OpDiv, x, y) }

// enclosed applies an operator. If the bounds of the operands do not determine bounds of the result, that is at least 0.
func enclosed(op syntax.Op, x, y number) number {
	if out, ok := binary(op, x, y); ok {
		return out
	}
	return number{lo: 0, hi: math.Inf(1)}
}

// reachedVia returns the states that are reached from the initial states through states in via.
func reachedVia(m *sparse.Model, via *sparse.Set) *sparse.Set {
	out := sparse.NewSet(m.NumStates())
	var todo []uint32
	visit := func(s uint32) {
		if !out.Has(int(s)) {
			out.Add(int(s))
			if via.Has(int(s)) {
				todo = append(todo, s)
			}
		}
	}
	for _, s := range m.Initial {
		visit(s)
	}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		first, end := m.Row(int(s))
		for t := first; t < end; t++ {
			visit(m.Target[t])
		}
	}
	return out
}
