package parametric

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"maps"
	"slices"

	"tilecheck/native/explicit/ratfunc"
)

// maxTerms is how many terms a function may have on the way.
const maxTerms = 100_000

// small refuses functions that have become too large.
func small(f *ratfunc.Func) error {
	if n := f.Size(); n > maxTerms {
		return fmt.Errorf("a function of the parameters has more than %d terms: want fewer parameters, or values for them (-c)", maxTerms)
	}
	return nil
}

// eliminate solves equations x = Px + gain over the states that satisfy in, from which every
// path leaves them with probability one, and returns the value of one state for each gain.
func (c *Chain) eliminate(ctx context.Context, of int, in func(s int) bool, gains ...func(s int) *ratfunc.Func) ([]*ratfunc.Func, error) {
	e, err := c.eliminated(ctx, of, in, gains)
	if err != nil {
		return nil, err
	}
	e.leave(of)
	return e.gains[of], e.err
}

// eliminateCycle returns what is gained from one visit of a state to its next one, which
// happens with probability one.
func (c *Chain) eliminateCycle(ctx context.Context, of int, in func(s int) bool, gains ...func(s int) *ratfunc.Func) ([]*ratfunc.Func, error) {
	e, err := c.eliminated(ctx, of, in, gains)
	if err != nil {
		return nil, err
	}
	return e.gains[of], nil
}

// elimination is a system of equations, turned into a smaller one step by step.
type elimination struct {
	one   *ratfunc.Func
	rows  map[int]map[int]*ratfunc.Func
	into  map[int]map[int]bool
	gains map[int][]*ratfunc.Func
	queue queue
	err   error
	// removed are the equations of the states that are gone, in their order, if all is set.
	all     bool
	removed []removed
}

// removed is the equation of a state, on the states that were left then.
type removed struct {
	state int
	row   map[int]*ratfunc.Func
	gain  *ratfunc.Func
}

// eliminated returns the system after all states but one are gone.
func (c *Chain) eliminated(ctx context.Context, of int, in func(s int) bool, gains []func(s int) *ratfunc.Func) (*elimination, error) {
	e := newElimination(c.one, of)
	for stack := []int{of}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if e.rows[s] != nil {
			continue
		}
		var gain []*ratfunc.Func
		for _, g := range gains {
			gain = append(gain, g(s))
		}
		e.add(s, c.rows[s], in, gain)
		for _, t := range c.rows[s] {
			if in(t.to) {
				stack = append(stack, t.to)
			}
		}
	}
	return e, e.run(ctx, of)
}

func newElimination(one *ratfunc.Func, of int) *elimination {
	return &elimination{one: one, rows: map[int]map[int]*ratfunc.Func{}, into: map[int]map[int]bool{of: {}}, gains: map[int][]*ratfunc.Func{}}
}

// add adds the equation of a state, without what leaves the states that satisfy in.
func (e *elimination) add(s int, row []entry, in func(s int) bool, gains []*ratfunc.Func) {
	e.rows[s], e.gains[s] = map[int]*ratfunc.Func{}, gains
	if e.into[s] == nil {
		e.into[s] = map[int]bool{}
	}
	for _, t := range row {
		if !in(t.to) {
			continue
		}
		if e.into[t.to] == nil {
			e.into[t.to] = map[int]bool{}
		}
		e.rows[s][t.to], e.into[t.to][s] = t.prob, true
	}
}

// run removes all states but one.
func (e *elimination) run(ctx context.Context, of int) error {
	for s := range e.rows {
		if s != of {
			e.queue = append(e.queue, e.candidate(s))
		}
	}
	heap.Init(&e.queue)
	for len(e.queue) > 0 && e.err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := heap.Pop(&e.queue).(candidate)
		if e.rows[next.state] == nil {
			continue
		}
		if now := e.candidate(next.state); now.cost > next.cost {
			heap.Push(&e.queue, now)
			continue
		}
		e.remove(next.state, of)
	}
	return e.err
}

// values returns the values of all states, of which only one is left: each is known
// from those that were removed after it.
func (e *elimination) values(of int) (map[int]*ratfunc.Func, error) {
	e.leave(of)
	out := map[int]*ratfunc.Func{of: e.gains[of][0]}
	for _, r := range slices.Backward(e.removed) {
		x := r.gain
		for _, t := range slices.Sorted(maps.Keys(r.row)) {
			x = x.Add(r.row[t].Mul(out[t]))
			e.check(x)
		}
		out[r.state] = x
	}
	return out, e.err
}

// leave divides the equation of a state by the probability of leaving it.
func (e *elimination) leave(s int) {
	again := e.rows[s][s]
	if again == nil {
		return
	}
	delete(e.rows[s], s)
	delete(e.into[s], s)
	out := e.one.Sub(again)
	if out.IsZero() {
		e.err = fmt.Errorf("a state is never left; this is a bug: please report it")
		return
	}
	for t, p := range e.rows[s] {
		e.rows[s][t] = p.Quo(out)
	}
	for i, g := range e.gains[s] {
		e.gains[s][i] = g.Quo(out)
	}
}

// remove puts the equation of a state into the others.
func (e *elimination) remove(s, of int) {
	e.leave(s)
	targets := slices.Sorted(maps.Keys(e.rows[s]))
	for _, from := range slices.Sorted(maps.Keys(e.into[s])) {
		p := e.rows[from][s]
		delete(e.rows[from], s)
		for i, g := range e.gains[s] {
			e.gains[from][i] = e.gains[from][i].Add(p.Mul(g))
			e.check(e.gains[from][i])
		}
		for _, t := range targets {
			x := p.Mul(e.rows[s][t])
			if y := e.rows[from][t]; y != nil {
				x = x.Add(y)
			}
			e.check(x)
			e.rows[from][t], e.into[t][from] = x, true
		}
		if from != of {
			heap.Push(&e.queue, e.candidate(from)) // it may be cheaper now
		}
	}
	for _, t := range targets {
		delete(e.into[t], s)
		if t != of {
			heap.Push(&e.queue, e.candidate(t))
		}
	}
	if e.all {
		e.removed = append(e.removed, removed{s, e.rows[s], e.gains[s][0]})
	}
	delete(e.rows, s)
	delete(e.into, s)
	delete(e.gains, s)
}

func (e *elimination) check(f *ratfunc.Func) {
	if e.err == nil {
		e.err = small(f)
	}
}

// candidate is a state to eliminate, and how many entries that touches.
type candidate struct{ state, cost int }

func (e *elimination) candidate(s int) candidate {
	return candidate{s, len(e.into[s]) * len(e.rows[s])}
}

// queue is a heap.Interface: the cheapest candidate first.
type queue []candidate

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].cost, q[j].cost), cmp.Compare(q[i].state, q[j].state)) < 0
}
func (q *queue) Push(x any) { *q = append(*q, x.(candidate)) }

// Pop removes the last element, as heap.Interface wants it.
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
