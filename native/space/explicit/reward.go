package explicit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Reward evaluates Program.Rewards[index] in every state and for every choice. The self-loop of a
// deadlock has no reward. A negative or infinite reward is a *compile.StateError. In a model with
// float64 weights, Reward.Unfit is a *RangeError if a reward is outside the range of float64.
//
// Source: reference, sections 4.8 and 4.10.
func (s *Space) Reward(index int) (*sparse.Reward, error) {
	if s.blocks != nil {
		if r := s.blocks.rewards[index]; r != nil {
			return r, nil
		}
		return nil, fmt.Errorf("rewards %d of a quotient that was made without them", index)
	}
	if s.imported != nil {
		return &s.model.Rewards[index], nil
	}
	if s.model.Exact() {
		return s.exactReward(index)
	}
	src := &s.Program().Rewards[index]
	out := &sparse.Reward{Name: src.Name}
	var state, transition bool
	for _, it := range src.Items {
		state, transition = state || !it.Transition, transition || it.Transition
	}
	if state {
		out.State = make([]float64, s.store.n)
	}
	if transition {
		out.Choice = make([]float64, s.model.NumChoices())
	}
	earners, err := s.visit(index, func(e *earner, i int, state []int32) error {
		return s.stateReward(out, e, i, state)
	})
	if err != nil {
		return nil, err
	}
	worst := 0.0
	for _, e := range earners { // in the order of the states
		worst = max(worst, e.err)
		out.Unfit = cmp.Or(out.Unfit, e.rangeErr)
	}
	if out.Err = s.rewardError(src, worst); out.Unfit != nil {
		out.Err = math.Inf(1)
	}
	return out, nil
}

// visit calls f for every state, with one earner per goroutine, and returns the earners.
func (s *Space) visit(index int, f func(e *earner, i int, state []int32) error) ([]*earner, error) {
	var earners []*earner
	err := s.each(func() (func(i int, state []int32) error, error) {
		e, err := s.newEarner(index)
		earners = append(earners, e)
		return func(i int, state []int32) error { return f(e, i, state) }, err
	})
	return earners, err
}

// earner evaluates the rewards of a structure and bounds their errors. Not safe for concurrent
// use.
type earner struct {
	s       *Space
	src     *sema.RewardStruct
	rewards *compile.Rewards
	exact   *exactEarner
	// unbounded has the items without an error bound that holds in every state.
	unbounded []*sema.RewardItem
	err       float64 // bound on the relative error of all rewards so far
	rangeErr  error   // the first reward outside the range of float64
}

func (s *Space) newEarner(index int) (*earner, error) {
	r, err := s.compiled.Rewards(index)
	if err != nil {
		return nil, err
	}
	e := &earner{s: s, src: &s.Program().Rewards[index], rewards: r}
	if e.exact, err = s.newExactEarner(e.src); err != nil {
		return nil, err
	}
	known := analysis{floats: sema.NewFloatAnalysis(s.Program())}
	for i := range e.src.Items {
		it := &e.src.Items[i]
		if a := known.of(it.Value); !math.IsNaN(a.err) {
			e.err = max(e.err, a.err)
		} else {
			e.unbounded = append(e.unbounded, it)
		}
	}
	return e, nil
}

// state returns the reward of a state.
func (e *earner) state(state []int32) (float64, error) {
	x, err := e.rewards.State(state)
	return e.checked(x, err, state, inState)
}

// choice returns the reward of a choice, or of a transition, with the given action.
func (e *earner) choice(state []int32, action int) (float64, error) {
	x, err := e.rewards.Choice(state, action)
	return e.checked(x, err, state, byAction(action))
}

// inState selects the items of states, byAction those of transitions with an action.
func inState(it *sema.RewardItem) bool { return !it.Transition }

func byAction(action int) func(*sema.RewardItem) bool {
	return func(it *sema.RewardItem) bool { return it.Transition && it.Action == action }
}

// checked checks x, the float64 sum of the items that apply. It returns x if that is close to the
// exact sum, otherwise the float64 nearest to the exact sum.
func (e *earner) checked(x float64, err error, state []int32, applies func(*sema.RewardItem) bool) (float64, error) {
	if _, wrong := errors.AsType[*compile.StateError](err); err != nil && !wrong {
		return 0, err
	}
	if err == nil && !slices.ContainsFunc(e.unbounded, applies) {
		return e.inRange(x, state), nil
	}
	r, exactErr := e.exact.earned(state, applies)
	switch {
	case err == nil && errors.As(exactErr, new(*compile.UnsupportedError)):
		return e.enclosed(x, exactErr, state, applies)
	case err != nil && errors.As(exactErr, new(*compile.UnsupportedError)):
		return 0, err
	case exactErr != nil:
		return 0, exactErr
	case err == nil && sema.Close(x, r):
		e.err = max(e.err, relativeError(x, r))
	default:
		e.err = max(e.err, unit)
		if x = 0; r.Sign() != 0 {
			x, _ = sparse.NormalFloat(r)
		}
	}
	return e.inRange(x, state), nil
}

// enclosed bounds the error of x when some items are irrational. If the bound is too large, it
// returns a float64 from the enclosure of the sum instead; none is the error if that fails too.
func (e *earner) enclosed(x float64, none error, state []int32, applies func(*sema.RewardItem) bool) (float64, error) {
	lo, hi := new(big.Rat), new(big.Rat)
	for i := range e.src.Items {
		it := &e.src.Items[i]
		if !applies(it) {
			continue
		}
		guard, _, err := sema.EvalExact(it.Guard, state)
		if err == nil && !guard.Bool {
			continue
		}
		in, valueErr := sema.Enclose(it.Value, state)
		if err = cmp.Or(err, valueErr); err != nil {
			return 0, evalFailure(e.s.compiled, state, err)
		}
		least, most, ok := in.Ends()
		if !ok {
			return 0, none
		}
		lo.Add(lo, least)
		hi.Add(hi, most)
	}
	if lo.Sign() < 0 || lo.Sign() != hi.Sign() {
		return 0, none
	}
	off := max(relativeError(x, lo), relativeError(x, hi))
	if !(off <= maxError) {
		x, _ = lo.Float64()
		off = max(relativeError(x, lo), relativeError(x, hi))
	}
	if !(off <= maxError) {
		return 0, none
	}
	e.err = max(e.err, off)
	return e.inRange(x, state), nil
}

// normal reports whether a reward is a normal float64. The smallest and the largest float64 stand
// for numbers outside the range.
func normal(x float64) bool { return x > 0x1p-1022 && x < math.MaxFloat64 }

// inRange returns a reward and records the first one outside the range of float64.
func (e *earner) inRange(x float64, state []int32) float64 {
	if x != 0 && !normal(x) && e.rangeErr == nil {
		e.rangeErr = &RangeError{
			File: e.s.Program().File, Pos: e.src.Items[0].Pos, State: e.s.compiled.StateText(state),
			What: fmt.Sprintf("reward %.4g", x),
		}
	}
	return x
}

// stateReward evaluates the rewards of state i and of its choices.
func (s *Space) stateReward(out *sparse.Reward, r *earner, i int, state []int32) error {
	var err error
	if out.State != nil {
		if out.State[i], err = r.state(state); err != nil {
			return err
		}
	}
	if out.Choice == nil || s.model.Deadlocks != nil && s.model.Deadlocks.Has(i) {
		return nil
	}
	first, end := s.model.Choices(i)
	for c := first; c < end && err == nil; c++ {
		if s.model.Kind == sparse.MDP {
			out.Choice[c], err = r.choice(state, s.action(c))
			continue
		}
		lo, hi := s.model.Row(c)
		for t := lo; t < hi && err == nil; t++ {
			var x float64
			x, err = r.choice(state, s.action(t))
			if err == nil && x > 0 { // record underflow and overflow
				part, limit := max(s.model.Prob(t)*x, 0x1p-1022), math.MaxFloat64/float64(hi-lo)
				if part > limit {
					r.inRange(math.MaxFloat64, state)
				}
				out.Choice[c] += r.inRange(min(part, limit), state)
			}
		}
	}
	return err
}

// action returns the index into Program.Actions of a choice or transition.
func (s *Space) action(i int) int {
	if s.model.Actions == nil || s.model.Actions[i] == sparse.NoAction {
		return sema.Unlabelled
	}
	return int(s.model.Actions[i]) - 1
}

// rewardError bounds the relative error of the rewards of a structure whose items have the
// relative error err. It adds the errors of summing the items and, in a Markov chain, of weighting
// them with the transitions.
func (s *Space) rewardError(src *sema.RewardStruct, err float64) float64 {
	widest := 0
	if s.model.Kind != sparse.MDP {
		for i := range s.store.n {
			lo, hi := s.model.Row(i)
			widest = max(widest, hi-lo)
		}
		err += s.model.Err
	}
	return 1.01 * (err + float64(len(src.Items)+widest+2)*unit)
}

// exactReward computes Reward with fractions.
func (s *Space) exactReward(index int) (*sparse.Reward, error) {
	src := &s.Program().Rewards[index]
	n := s.store.n
	out := &sparse.Reward{
		Name: src.Name, Err: unit,
		State: make([]float64, n), StateRat: make([]*big.Rat, n),
		Choice: make([]float64, s.model.NumChoices()), ChoiceRat: make([]*big.Rat, s.model.NumChoices()),
	}
	state, transitions := s.State(nil, 0), earnsOnTransitions(src)
	e, err := s.newExactEarner(src)
	if err != nil {
		return nil, err
	}
	for i := range n {
		s.State(state, i)
		x, err := e.earned(state, inState)
		if err != nil {
			return nil, err
		}
		s.setReward(out, out.State, out.StateRat, i, x)
		if !transitions || s.model.Deadlocks != nil && s.model.Deadlocks.Has(i) {
			continue
		}
		if err := s.exactChoiceRewards(out, e, i, state); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// setReward stores reward x and records the first one outside the range of float64.
func (s *Space) setReward(r *sparse.Reward, f []float64, rats []*big.Rat, i int, x *big.Rat) {
	storeRational(f, rats, i, x)
	if f[i] != 0 && !normal(f[i]) && r.Unfit == nil {
		r.Unfit, r.Err = &RangeError{File: s.Program().File, What: "reward " + shortRat(x)}, math.Inf(1)
	}
}

// storeRational sets entry i of both lists to a fraction and its nearest float64. It leaves entries unset if the fraction is 0.
func storeRational(f []float64, r []*big.Rat, i int, x *big.Rat) {
	switch {
	case x.Sign() == 0:
		return
	case i > 0 && r[i-1] == x: // the same constant as before
		f[i] = f[i-1]
	default:
		f[i], _ = sparse.NormalFloat(x)
	}
	r[i] = x
}

// oneAction reports whether all transitions from lo to hi have the same action.
func (s *Space) oneAction(lo, hi int) bool {
	for t := lo + 1; t < hi; t++ {
		if s.action(t) != s.action(lo) {
			return false
		}
	}
	return true
}

// exactChoiceRewards computes the rewards of the choices of state i with fractions. In a Markov
// chain that is the mean of the rewards of the transitions.
func (s *Space) exactChoiceRewards(out *sparse.Reward, e *exactEarner, i int, state []int32) error {
	earned := func(j int) (*big.Rat, error) { return e.earned(state, byAction(s.action(j))) }
	first, end := s.model.Choices(i)
	for c := first; c < end; c++ {
		sum := new(big.Rat)
		switch lo, hi := s.model.Row(c); {
		case s.model.Kind == sparse.MDP, s.model.Intervals(), s.model.Kind == sparse.DTMC && s.oneAction(lo, hi):
			at := c
			if s.model.Kind != sparse.MDP { // all transitions have the same reward
				at = lo
			}
			x, err := earned(at)
			if err != nil {
				return err
			}
			sum = x
		default:
			for t := lo; t < hi; t++ {
				x, err := earned(t)
				if err != nil {
					return err
				}
				sum.Add(sum, new(big.Rat).Mul(x, s.model.Rat(t)))
			}
		}
		s.setReward(out, out.Choice, out.ChoiceRat, c, sum)
	}
	return nil
}

// exactEarner sums the items of a reward structure as fractions. Equal results may share memory,
// so callers must not change them. Not safe for concurrent use.
type exactEarner struct {
	s        *Space
	items    []exactItem
	integers map[float64]*big.Rat
}

// exactItem is an item with compiled evaluators of its guard and, if its value is an integer, of
// the value; integers is nil otherwise. known is the value of an item whose value is a constant.
type exactItem struct {
	*sema.RewardItem
	guard, integer compile.Evaluator
	constant       *big.Rat
}

func (s *Space) newExactEarner(src *sema.RewardStruct) (*exactEarner, error) {
	e := &exactEarner{s: s, integers: make(map[float64]*big.Rat)}
	for i := range src.Items {
		it := exactItem{RewardItem: &src.Items[i]}
		var err error
		if it.guard, err = s.compiled.Evaluator(it.Guard); err != nil {
			return nil, err
		}
		if it.Value.Type() == sema.Int {
			if it.integer, err = s.compiled.Evaluator(it.Value); err != nil {
				return nil, err
			}
		}
		e.items = append(e.items, it)
	}
	return e, nil
}

// earned returns the sum of the items that apply and whose guards hold in a state.
func (e *exactEarner) earned(state []int32, applies func(*sema.RewardItem) bool) (*big.Rat, error) {
	var sum *big.Rat
	for i := range e.items {
		it := &e.items[i]
		if !applies(it.RewardItem) {
			continue
		}
		if holds, err := it.guard.Bool(state); err != nil {
			return nil, err
		} else if !holds {
			continue
		}
		x, err := e.value(it, state)
		if err != nil {
			return nil, err
		}
		if sum != nil {
			x = new(big.Rat).Add(sum, x)
		}
		sum = x
	}
	if sum == nil {
		sum = e.integer(0)
	}
	return sum, nil
}

// value evaluates an item in a state.
func (e *exactEarner) value(it *exactItem, state []int32) (*big.Rat, error) {
	var x *big.Rat
	switch {
	case it.constant != nil:
		return it.constant, nil
	case it.integer != nil:
		n, err := it.integer.Num(state)
		if err != nil {
			return nil, err
		}
		x = e.integer(n)
	default:
		v, exact, err := sema.EvalExact(it.Value, state)
		switch {
		case err != nil:
			return nil, evalFailure(e.s.compiled, state, err)
		case !exact:
			return nil, unsupported(e.s.compiled, state, it.Value.Pos(), fmt.Sprintf("reward %v is not a fraction", v))
		}
		x = v.Rat
	}
	if x.Sign() < 0 {
		return nil, e.s.fail(state, it.Value.Pos(), fmt.Sprintf("reward %s, it must be finite and not negative", x.RatString()))
	}
	if isConst(it.Value) {
		it.constant = x
	}
	return x, nil
}

// maxIntegers is the largest number of integers that are cached as fractions.
const maxIntegers = 1 << 16

// integer returns an int32 as a fraction.
func (e *exactEarner) integer(n float64) *big.Rat {
	x := e.integers[n]
	if x == nil {
		x = new(big.Rat).SetInt64(int64(n))
		if len(e.integers) < maxIntegers {
			e.integers[n] = x
		}
	}
	return x
}

func (s *Space) fail(state []int32, pos syntax.Pos, msg string) error {
	return &compile.StateError{File: s.Program().File, Pos: pos, State: s.compiled.StateText(state), Msg: msg}
}
