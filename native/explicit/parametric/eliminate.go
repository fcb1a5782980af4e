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
}

// eliminated returns the system after all states but one are gone.
func (c *Chain) eliminated(ctx context.Context, of int, in func(s int) bool, gains []func(s int) *ratfunc.Func) (*elimination, error) {
	e := &elimination{one: c.one, rows: map[int]map[int]*ratfunc.Func{}, into: map[int]map[int]bool{of: {}}, gains: map[int][]*ratfunc.Func{}}
	for stack := []int{of}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if e.rows[s] != nil {
			continue
		}
		e.rows[s] = map[int]*ratfunc.Func{}
		for _, gain := range gains {
			e.gains[s] = append(e.gains[s], gain(s))
		}
		for _, t := range c.rows[s] {
			if !in(t.to) {
				continue
			}
			if e.into[t.to] == nil {
				e.into[t.to] = map[int]bool{}
			}
			e.rows[s][t.to], e.into[t.to][s] = t.prob, true
			stack = append(stack, t.to)
		}
	}
	for s := range e.rows {
		if s != of {
			e.queue = append(e.queue, e.candidate(s))
		}
	}
	heap.Init(&e.queue)
	for len(e.queue) > 0 && e.err == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
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
	return e, e.err
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
