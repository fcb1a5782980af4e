package parametric

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/ratfunc"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Param is a parameter, with its value at the point.
type Param struct {
	Name string
	At   *big.Rat
}

// PointError says that the point is outside what functions speak about: a weight or a reward
// is not positive there, and not zero everywhere.
type PointError struct {
	Pos  syntax.Pos
	What string
}

// Error returns what is not positive.
func (e *PointError) Error() string { return e.Pos.String() + ": " + e.What }

// Chain is a Markov chain with parameters, or an MDP, which Best is about and nothing else.
type Chain struct {
	space *explicit.Space
	graph *sparse.Graph
	// first is the first row of each state of an MDP, which has one for each choice, and
	// how many there are; nil for chains.
	first []int
	open  *sema.Program
	eval  *evaluator
	point []*big.Rat
	one   *ratfunc.Func
	rows  [][]entry
	// times is the expected time in each state, nil in discrete time, where it is 1.
	times []*ratfunc.Func
	// moves are the commands that leave each state.
	moves [][]move
	init  int
	// constant has the weights of commands that are the same in every state.
	constant map[*sema.Command][]*ratfunc.Func
}

// entry is a transition, with its probability.
type entry struct {
	to   int
	prob *ratfunc.Func
}

// move is an action and the probability that it is what happens.
type move struct {
	action int
	prob   *ratfunc.Func
}

// New returns the chain that a model is when parameters are open. Its states are those of the
// space, which was built exactly of the same model at the point. A *PointError says that
// another point is needed; other errors are *compile.StateError, or of a context.
func New(ctx context.Context, space *explicit.Space, open *sema.Program, params []Param) (*Chain, error) {
	c := &Chain{space: space, graph: sparse.NewGraph(space.Model()), open: open, constant: map[*sema.Command][]*ratfunc.Func{}}
	var names []string
	numbers := map[string]int{}
	for i, p := range params {
		numbers[p.Name] = i
		names, c.point = append(names, p.Name), append(c.point, p.At)
	}
	ring := ratfunc.NewRing(names)
	c.eval = &evaluator{ring, numbers, map[sema.Expr]bool{}}
	c.one = ring.Integer(1)
	if err := c.fixed(); err != nil {
		return nil, err
	}
	m := space.Model()
	if len(m.Initial) != 1 {
		return nil, fmt.Errorf("a model with parameters has one initial state, found %d", len(m.Initial))
	}
	c.init = int(m.Initial[0])
	if open.Type != syntax.MDP {
		c.rows, c.moves = make([][]entry, m.NumStates()), make([][]move, m.NumStates())
	}
	if open.Type == syntax.CTMC {
		c.times = make([]*ratfunc.Func, m.NumStates())
	}
	x := space.Compiled().NewExpanderUntil(ctx)
	state := space.State(nil, 0)
	for s := range m.NumStates() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		state = space.State(state, s)
		if err := c.expand(x, s, state); err != nil {
			return nil, c.failure(state, err)
		}
	}
	if open.Type == syntax.MDP {
		c.first = append(c.first, len(c.rows))
	}
	return c, nil
}

// fixed refuses parameters where they would decide which states there are.
func (c *Chain) fixed() error {
	check := func(e sema.Expr, what string) error {
		if e == nil || !sema.Parametric(e) {
			return nil
		}
		return &syntax.Error{File: c.open.File, Pos: e.Pos(), Msg: "found a parameter in " + what + ", want it in probabilities, rates and rewards only"}
	}
	var errs syntax.ErrorList
	add := func(err error) {
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			errs = append(errs, e)
		}
	}
	add(check(c.open.Init, "the initial states"))
	for _, m := range c.open.Modules {
		for _, cmd := range m.Commands {
			add(check(cmd.Guard, "a guard"))
			for _, u := range cmd.Updates {
				for _, a := range u.Assigns {
					add(check(a.Value, "an update"))
				}
			}
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

// failure gives an error of evaluation its state.
func (c *Chain) failure(state []int32, err error) error {
	if e, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{File: c.open.File, Pos: e.Pos, State: c.space.Compiled().StateText(state), Msg: e.Msg}
	}
	return err
}

// row returns the row that a choice of a state is added to: in an MDP a new one.
func (c *Chain) row(s int) int {
	if c.open.Type == syntax.MDP {
		s = len(c.rows)
		c.rows, c.moves = append(c.rows, nil), append(c.moves, nil)
	}
	return s
}

// expand makes the rows of a state.
func (c *Chain) expand(x compile.Expander, s int, state []int32) error {
	choices, err := x.Enabled(state)
	if err != nil {
		return err
	}
	if c.open.Type == syntax.MDP {
		c.first = append(c.first, len(c.rows))
	}
	if choices.Deadlock() {
		c.rows[c.row(s)] = []entry{{s, c.one}}
		if c.times != nil {
			c.times[s] = c.one
		}
		return nil
	}
	total := c.eval.ring.Integer(0)
	for i := range choices.List {
		choice := &choices.List[i]
		var weights [][]*ratfunc.Func
		sum := c.one
		for _, ref := range choice.Commands {
			ws, all, err := c.weigh(state, &c.open.Modules[ref.Module].Commands[ref.Command])
			if err != nil {
				return err
			}
			weights, sum = append(weights, ws), sum.Mul(all)
		}
		row := c.row(s)
		if err := c.combine(x, row, choice, weights, make([]int, 0, len(weights)), c.one, state); err != nil {
			return err
		}
		c.moves[row], total = append(c.moves[row], move{choice.Action, sum}), total.Add(sum)
	}
	if c.first == nil {
		c.normalise(s, total)
	}
	return nil
}

// normalise divides what has been added to a row by the sum: the number of commands of a
// discrete chain, or the rate at which the state is left.
func (c *Chain) normalise(s int, total *ratfunc.Func) {
	if c.times != nil {
		c.times[s] = c.one.Quo(total)
	}
	if total.Equal(c.one) {
		return
	}
	for i, e := range c.rows[s] {
		c.rows[s][i].prob = e.prob.Quo(total)
	}
	for i, m := range c.moves[s] {
		c.moves[s][i].prob = m.prob.Quo(total)
	}
}

// combine adds to a row the transitions that a choice makes for all combinations of the updates of
// its commands that begin so.
func (c *Chain) combine(x compile.Expander, row int, choice *compile.Choice, weights [][]*ratfunc.Func, picked []int, weight *ratfunc.Func, state []int32) error {
	if k := len(picked); k < len(weights) {
		for u, w := range weights[k] {
			if w.IsZero() {
				continue
			}
			if err := c.combine(x, row, choice, weights, append(picked, u), weight.Mul(w), state); err != nil {
				return err
			}
		}
		return nil
	}
	target := slices.Clone(state)
	if err := x.Apply(target, choice.Commands, picked); err != nil {
		return err
	}
	to, ok := c.space.Find(target)
	if !ok {
		return fmt.Errorf("an update leads to a state that the model has not; this is a bug: please report it")
	}
	for i, e := range c.rows[row] {
		if e.to == to {
			c.rows[row][i].prob = e.prob.Add(weight)
			return nil
		}
	}
	c.rows[row] = append(c.rows[row], entry{to, weight})
	return nil
}

// weigh evaluates the weights of a command, and their sum, which is one in discrete time.
func (c *Chain) weigh(state []int32, cmd *sema.Command) ([]*ratfunc.Func, *ratfunc.Func, error) {
	weights, known := c.constant[cmd]
	if !known {
		same := true
		for _, u := range cmd.Updates {
			w, err := c.eval.number(u.Prob, state)
			if err != nil {
				return nil, nil, err
			}
			pos := cmd.Pos
			if u.Prob != nil {
				pos = u.Prob.Pos()
			}
			if err := c.positive(w, pos, "probability or rate"); err != nil {
				return nil, nil, err
			}
			weights = append(weights, w)
			same = same && (u.Prob == nil || !mentionsVariable(u.Prob))
		}
		if same {
			c.constant[cmd] = weights
		}
	}
	sum := c.eval.ring.Integer(0)
	for _, w := range weights {
		sum = sum.Add(w)
	}
	if c.times == nil && !sum.Equal(c.one) {
		return nil, nil, &compile.StateError{File: c.open.File, Pos: cmd.Pos, State: c.space.Compiled().StateText(state), Msg: fmt.Sprintf("probabilities sum to %s, want 1 for all values of the parameters", sum)}
	}
	if sum.IsZero() {
		return nil, nil, &compile.StateError{File: c.open.File, Pos: cmd.Pos, State: c.space.Compiled().StateText(state), Msg: "rate of every update is zero"}
	}
	return weights, sum, nil
}

func mentionsVariable(e sema.Expr) bool {
	found := false
	sema.Inspect(e, func(e sema.Expr) bool {
		_, is := e.(*sema.Var)
		found = found || is
		return !found
	})
	return found
}

// positive refuses a function that is neither positive at the point nor zero everywhere.
func (c *Chain) positive(f *ratfunc.Func, pos syntax.Pos, what string) error {
	if f.IsZero() {
		return nil
	}
	v, ok := f.At(c.point)
	switch number, constant := f.Constant(); {
	case constant && number.Sign() < 0:
		return &sema.EvalError{Pos: pos, Msg: fmt.Sprintf("%s %s is negative", what, number.RatString())}
	case !ok || v.Sign() <= 0:
		return &PointError{pos, fmt.Sprintf("%s %s is not positive", what, f)}
	}
	return nil
}

// choices returns the range of the rows of a state.
func (c *Chain) choices(s int) (first, end int) {
	if c.first == nil {
		return s, s + 1
	}
	return c.first[s], c.first[s+1]
}

// Rewards returns what is expected to be earned during each visit of each state, by a
// structure of the program; of an MDP, with each choice.
func (c *Chain) Rewards(index int) ([]*ratfunc.Func, error) {
	out := make([]*ratfunc.Func, len(c.rows))
	state := c.space.State(nil, 0)
	for s := range c.space.Model().NumStates() {
		state = c.space.State(state, s)
		first, end := c.choices(s)
		for row := first; row < end; row++ {
			rate, moves, err := c.earned(index, row, state)
			if err != nil {
				return nil, c.failure(state, err)
			}
			if c.times != nil {
				rate = rate.Mul(c.times[s])
			}
			out[row] = rate.Add(moves)
		}
	}
	return out, nil
}

// StateRewards returns the rewards of states alone: each step, or per unit of time.
func (c *Chain) StateRewards(index int) ([]*ratfunc.Func, error) {
	out := make([]*ratfunc.Func, len(c.rows))
	state := c.space.State(nil, 0)
	for s := range out {
		var err error
		state = c.space.State(state, s)
		if out[s], _, err = c.earned(index, s, state); err != nil {
			return nil, c.failure(state, err)
		}
	}
	return out, nil
}

// earned returns the reward of a state and the one expected of leaving it by a row.
func (c *Chain) earned(index, row int, state []int32) (in, leaving *ratfunc.Func, err error) {
	in = c.eval.ring.Integer(0)
	leaving = in
	for _, item := range c.open.Rewards[index].Items {
		if sema.Parametric(item.Guard) {
			return nil, nil, refused(item.Guard, "found a parameter in the guard of a reward, want it in the reward")
		}
		holds, _, err := sema.EvalExact(item.Guard, state)
		if err != nil {
			return nil, nil, err
		}
		if !holds.Bool {
			continue
		}
		prob := c.one
		if item.Transition {
			prob = c.eval.ring.Integer(0)
			for _, m := range c.moves[row] {
				if m.action == item.Action {
					prob = prob.Add(m.prob)
				}
			}
			if prob.IsZero() {
				continue
			}
		}
		f, err := c.eval.number(item.Value, state)
		if err == nil {
			err = c.positive(f, item.Value.Pos(), "reward")
		}
		if err != nil {
			return nil, nil, err
		}
		if item.Transition {
			leaving = leaving.Add(f.Mul(prob))
		} else {
			in = in.Add(f)
		}
	}
	return in, leaving, nil
}
