package parametric

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"tilecheck/native/explicit/ratfunc"
	"tilecheck/native/explicit/solve"
	"tilecheck/native/explicit/sparse"
)

// Question asks for an extremal probability of left U right in an MDP or, where there are
// rewards, for the reward that is expected until right is met.
type Question struct {
	Min         bool
	Left, Right *sparse.Set
	Rewards     []*ratfunc.Func // of each choice
}

// Piece is the value between its ends, which are those of the region or where two
// functions are equal.
type Piece struct {
	Low, High ratfunc.Root
	Value     *ratfunc.Func
}

// Best returns the answer in the initial state, which is infinite if there is none, piece by
// piece, for parameters between two points.
//
// What a memoryless scheduler attains is a function. One that is optimal at a point is so
// wherever no choice of any state is better than its own, that is, where functions do not
// change their signs. For a maximum the values are then an upper bound of what any step makes of them
// (Knaster and Tarski); for a minimum they are a lower bound, and every scheduler that
// counts leaves the open states. Of one parameter the roots of those functions
// are found exactly (Sturm), so that the pieces leave nothing out. Of several it is
// tried to prove that one scheduler is best everywhere.
//
// Source: Hahn, Han, Zhang, Synthesis for PCTL in parametric Markov decision processes, NFM 2011.
func (c *Chain) Best(ctx context.Context, q Question, low, high []*big.Rat) ([]Piece, error) {
	b := &best{Chain: c, ctx: ctx, q: q, known: map[string]*scheduled{}}
	if err := b.regular(low, high); err != nil {
		return nil, err
	}
	g, _, err := b.at(c.point)
	if err != nil {
		return nil, err
	}
	infinite, err := b.prepare(g)
	switch {
	case err != nil || infinite:
		return nil, err
	case !b.open.Has(c.init):
		return []Piece{{Value: b.closed(c.init)}}, nil
	case len(low) == 1:
		return b.sweep(low[0], high[0])
	}
	f, err := b.optimal(c.point)
	if err != nil {
		return nil, err
	}
	for _, x := range f.better {
		if !x.NotNegative(low, high) {
			return nil, errors.New("which scheduler is best depends on several parameters, or could not be proved not to: want one parameter, or smaller bounds of them (p=0.1:0.2)")
		}
	}
	return []Piece{{Value: f.values[c.init]}}, nil
}

// best is a question that is being answered.
type best struct {
	*Chain
	ctx context.Context
	q   Question
	// open are the states whose values are not the same everywhere; of their choices only
	// those in allowed count. one are the states worth 1.
	open, allowed, one *sparse.Set
	known              map[string]*scheduled
}

// regular refuses weights that are not positive everywhere between two points.
func (b *best) regular(low, high []*big.Rat) error {
	seen := map[string]bool{}
	check := func(f *ratfunc.Func, what string) error {
		if _, constant := f.Constant(); constant || seen[f.String()] {
			return nil
		}
		seen[f.String()] = true
		if f.Positive(low, high) {
			return nil
		}
		return fmt.Errorf("the %s %s is not positive everywhere within the bounds of the parameters, or could not be proved to be: want smaller ones (p=0.1:0.4)", what, f)
	}
	for row := range b.rows {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		for _, e := range b.rows[row] {
			if err := check(e.prob, "probability"); err != nil {
				return err
			}
		}
		if b.q.Rewards != nil && !b.q.Rewards[row].IsZero() {
			if err := check(b.q.Rewards[row], "reward"); err != nil {
				return err
			}
		}
	}
	return nil
}

// at returns the MDP at a point, whose choices are numbered as the rows are.
func (b *best) at(point []*big.Rat) (*sparse.Graph, *sparse.Reward, error) {
	m := sparse.NewBuilder(sparse.MDP)
	r := &sparse.Reward{}
	for s := range len(b.first) - 1 {
		if err := b.ctx.Err(); err != nil {
			return nil, nil, err
		}
		m.State()
		for row := b.first[s]; row < b.first[s+1]; row++ {
			m.Choice(sparse.NoAction)
			for _, e := range b.rows[row] {
				v, ok := e.prob.At(point)
				if !ok || v.Sign() <= 0 {
					return nil, nil, fmt.Errorf("probability %s is not positive at a point; this is a bug: please report it", e.prob)
				}
				m.AddRat(e.to, v, sparse.NoAction)
			}
			if b.q.Rewards != nil {
				v, ok := b.q.Rewards[row].At(point)
				if !ok {
					return nil, nil, fmt.Errorf("reward %s is infinite at a point; this is a bug: please report it", b.q.Rewards[row])
				}
				f, _ := v.Float64()
				r.Choice, r.ChoiceRat = append(r.Choice, f), append(r.ChoiceRat, v)
			}
		}
	}
	model, err := m.Finish()
	if err != nil {
		return nil, nil, err
	}
	return sparse.NewGraph(model), r, nil
}

// prepare finds the states whose values the graph says, and reports whether that of the
// initial state is infinite.
func (b *best) prepare(g *sparse.Graph) (infinite bool, err error) {
	all := sparse.FullSet(g.NumStates())
	b.allowed, b.one = sparse.FullSet(g.NumChoices()), b.q.Right
	switch {
	case b.q.Rewards == nil && b.q.Min:
		b.open = g.Prob0E(b.q.Left, b.q.Right).Union(b.q.Right).Complement()
	case b.q.Rewards == nil:
		b.open = g.Prob0A(b.q.Left, b.q.Right).Union(b.q.Right).Complement()
	default:
		sure := g.Prob1A(all, b.q.Right)
		if b.q.Min {
			if sure, err = g.Prob1E(b.ctx, all, b.q.Right); err != nil {
				return false, err
			}
			b.allowed = g.ChoicesWithin(sure)
		}
		b.open, b.one = sure.Minus(b.q.Right), sparse.NewSet(g.NumStates())
		if !sure.Has(b.init) {
			return true, nil
		}
	}
	b.open = b.within()
	return false, nil
}

// within returns the open states that are reached from the initial one through others.
func (b *best) within() *sparse.Set {
	out := sparse.NewSet(len(b.first) - 1)
	if !b.open.Has(b.init) {
		return out
	}
	out.Add(b.init)
	for stack := []int{b.init}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for row := b.first[s]; row < b.first[s+1]; row++ {
			for _, e := range b.rows[row] {
				if b.allowed.Has(row) && b.open.Has(e.to) && !out.Has(e.to) {
					out.Add(e.to)
					stack = append(stack, e.to)
				}
			}
		}
	}
	return out
}

// closed is the value of a state that is not open.
func (b *best) closed(s int) *ratfunc.Func {
	if b.one.Has(s) {
		return b.Chain.one
	}
	return b.eval.ring.Integer(0)
}

// scheduled is what a scheduler attains.
type scheduled struct {
	values map[int]*ratfunc.Func
	// better are functions; where none of them is negative, no choice is better than those
	// of the scheduler.
	better []*ratfunc.Func
	sturm  map[*ratfunc.Func]*ratfunc.Sturm // of these, once they are asked for
}

// optimal returns what a scheduler attains that is optimal at a point.
func (b *best) optimal(point []*big.Rat) (*scheduled, error) {
	how, init, err := b.scheduler(point)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprint(how)
	f := b.known[key]
	if f == nil {
		if f, err = b.attained(how); err != nil {
			return nil, err
		}
		b.known[key] = f
	}
	if v, ok := f.values[b.init].At(point); !ok || v.Cmp(init) != 0 {
		return nil, fmt.Errorf("the function %s is not the value at %v; this is a bug: please report it", f.values[b.init], point)
	}
	for _, x := range f.better {
		if v, ok := x.At(point); !ok || v.Sign() < 0 {
			return nil, fmt.Errorf("a scheduler is not optimal at %v; this is a bug: please report it", point)
		}
	}
	return f, nil
}

// scheduler returns a choice for each state that is optimal at a point, and the value.
func (b *best) scheduler(point []*big.Rat) ([]uint32, *big.Rat, error) {
	g, r, err := b.at(point)
	if err != nil {
		return nil, nil, err
	}
	dir := solve.Max
	if b.q.Min {
		dir = solve.Min
	}
	opts := solve.Options{Exact: true, Scheduler: true}
	var v *solve.Values
	if b.q.Rewards == nil {
		v, err = solve.Until(b.ctx, g, b.q.Left, b.q.Right, dir, opts)
	} else {
		v, err = solve.ReachReward(b.ctx, g, r, b.q.Right, dir, opts)
	}
	if err != nil {
		return nil, nil, err
	}
	for s, c := range v.Scheduler {
		switch {
		case !b.open.Has(s):
			v.Scheduler[s] = sparse.None
		case c == sparse.None: // any will do
			for v.Scheduler[s] = uint32(b.first[s]); !b.allowed.Has(int(v.Scheduler[s])); {
				v.Scheduler[s]++
			}
		}
	}
	return v.Scheduler, v.Exact[b.init], nil
}

// attained returns what a scheduler attains.
func (b *best) attained(how []uint32) (*scheduled, error) {
	in := b.open.Has
	e := newElimination(b.Chain.one, b.init)
	e.all = true
	for s := range b.open.All() {
		e.add(s, b.rows[how[s]], in, []*ratfunc.Func{b.gain(int(how[s]))})
	}
	if err := e.run(b.ctx, b.init); err != nil {
		return nil, err
	}
	values, err := e.values(b.init)
	if err != nil {
		return nil, err
	}
	out, seen := &scheduled{values: values}, map[string]bool{}
	for s := range b.open.All() {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		for row := b.first[s]; row < b.first[s+1]; row++ {
			if row == int(how[s]) || !b.allowed.Has(row) {
				continue
			}
			x := b.gain(row).Sub(values[s])
			for _, t := range b.rows[row] {
				if in(t.to) {
					x = x.Add(t.prob.Mul(values[t.to]))
				}
			}
			if !b.q.Min {
				x = x.Neg()
			}
			if err := small(x); err != nil {
				return nil, err
			}
			if text := x.String(); !x.IsZero() && !seen[text] {
				seen[text] = true
				out.better = append(out.better, x)
			}
		}
	}
	return out, nil
}

// gain is what a row earns, and gains from leaving the open states.
func (b *best) gain(row int) *ratfunc.Func {
	sum := b.eval.ring.Integer(0)
	if b.q.Rewards != nil {
		sum = b.q.Rewards[row]
	}
	for _, e := range b.rows[row] {
		if b.one.Has(e.to) {
			sum = sum.Add(e.prob)
		}
	}
	return sum
}
