package tree

import (
	"context"
	"maps"
	"math"
	"slices"

	"tilecheck/prism/sema"
)

// Example is a valuation with the decisions that are allowed there.
type Example struct {
	Values  []int32
	Allowed []int // increasing, not empty
}

// maxPairs is how many variables are compared with each other: their number squared is a
// factor of the time.
const maxPairs = 24

// Learn returns a tree that decides as every example allows; no two of them have the same
// values. It is grown greedily: each test leaves the least entropy. The error is that of
// the context.
func Learn(ctx context.Context, vars []sema.Variable, examples []Example) (*Node, error) {
	l := &learner{ctx: ctx, examples: examples, tests: tests(vars), columns: make([][]int32, len(vars))}
	for v := range l.columns {
		l.columns[v] = make([]int32, len(examples))
	}
	for i, x := range examples {
		for v, value := range x.Values {
			l.columns[v][i] = value
		}
		l.decisions = max(l.decisions, x.Allowed[len(x.Allowed)-1]+1)
	}
	all := make([]int, len(examples))
	for i := range all {
		all[i] = i
	}
	return l.grow(all)
}

// tests returns what can be asked, without values to compare with.
func tests(vars []sema.Variable) []Test {
	var out []Test
	for i := range vars {
		out = append(out, Test{Var: i, Other: -1})
	}
	if len(vars) > maxPairs {
		return out
	}
	for i, v := range vars {
		for j, w := range vars {
			if v.Type != sema.Int || w.Type != sema.Int || i == j || v.Low > w.High || w.Low > v.High {
				continue
			}
			if out = append(out, Test{Var: i, Other: j}); i < j {
				out = append(out, Test{Var: i, Other: j, Equal: true})
			}
		}
	}
	return out
}

type learner struct {
	ctx       context.Context
	examples  []Example
	columns   [][]int32 // the values of each variable
	tests     []Test
	decisions int
}

func (l *learner) grow(at []int) (*Node, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	labels, first := l.label(at)
	if !slices.ContainsFunc(labels, func(d int) bool { return d != first }) {
		return &Node{Decision: first}, nil
	}
	best := l.split(at, labels)
	var yes, no []int
	for _, i := range at {
		if best.Holds(l.examples[i].Values) {
			yes = append(yes, i)
		} else {
			no = append(no, i)
		}
	}
	n := &Node{Test: best, Decision: first}
	var err error
	if n.Yes, err = l.grow(yes); err == nil {
		n.No, err = l.grow(no)
	}
	return n, err
}

// label gives every example one decision: the one that most examples allow, to those;
// then the one that most of the others allow, and so on.
func (l *learner) label(at []int) (labels []int, first int) {
	labels = make([]int, len(at))
	for k := range labels {
		labels[k] = -1
	}
	first = -1
	for left := len(at); left > 0; {
		count := make([]int, l.decisions)
		for k, i := range at {
			if labels[k] < 0 {
				for _, d := range l.examples[i].Allowed {
					count[d]++
				}
			}
		}
		most := 0
		for d, n := range count {
			if n > count[most] {
				most = d
			}
		}
		if first < 0 {
			first = most
		}
		for k, i := range at {
			if labels[k] < 0 && slices.Contains(l.examples[i].Allowed, most) {
				labels[k] = most
				left--
			}
		}
	}
	return labels, first
}

// split returns the test that leaves the least entropy of labels, the first of several.
func (l *learner) split(at, labels []int) Test {
	total := make([]int, l.decisions)
	for _, d := range labels {
		total[d]++
	}
	var best Test
	least := math.Inf(1)
	consider := func(t Test, yes []int, n int) {
		if n == 0 || n == len(at) {
			return
		}
		no := make([]int, len(total))
		for d := range total {
			no[d] = total[d] - yes[d]
		}
		// Differences in the last digits are none: which test is taken is not to
		// depend on the processor.
		if x := entropy(yes, n) + entropy(no, len(at)-n); x < least-1e-9 {
			best, least = t, x
		}
	}
	for _, t := range l.tests {
		if l.ctx.Err() != nil {
			break
		}
		if t.Other < 0 {
			l.thresholds(t.Var, at, labels, consider)
			continue
		}
		yes, n := make([]int, len(total)), 0
		left, right := l.columns[t.Var], l.columns[t.Other]
		for k, i := range at {
			if left[i] == right[i] || !t.Equal && left[i] < right[i] {
				yes[labels[k]]++
				n++
			}
		}
		consider(t, yes, n)
	}
	return best
}

// thresholds considers v<=k and v=k for all values of a variable.
func (l *learner) thresholds(v int, at, labels []int, consider func(t Test, yes []int, n int)) {
	same := map[int32][]int{}
	column := l.columns[v]
	var last []int
	var of int32
	for k, i := range at {
		if x := column[i]; last == nil || x != of {
			of, last = x, same[x]
			if last == nil {
				last = make([]int, l.decisions)
				same[x] = last
			}
		}
		last[labels[k]]++
	}
	values := slices.Sorted(maps.Keys(same))
	below, n := make([]int, l.decisions), 0
	for k, x := range values {
		here := 0
		for d, count := range same[x] {
			below[d] += count
			here += count
		}
		n += here
		consider(Test{Var: v, Other: -1, Value: x}, below, n)
		if k > 0 && k < len(values)-1 {
			consider(Test{Var: v, Other: -1, Value: x, Equal: true}, same[x], here)
		}
	}
}

// entropy of n labels, in bits for all of them.
func entropy(count []int, n int) float64 {
	sum := 0.0
	for _, k := range count {
		if k > 0 {
			sum -= float64(k) * math.Log2(float64(k)/float64(n))
		}
	}
	return sum
}
