package tree

import (
	"context"
	"maps"
	"math"
	"slices"

	"tilecheck/prism/sema"
)

// Example is a valuation with its allowed decisions.
type Example struct {
	Values  []int32
	Allowed []int // increasing, not empty
}

// maxPairs is the number of variables up to which tests compare two of them. There are quadratically
// many such tests.
const maxPairs = 24

// Learn returns a tree that gives every example an allowed decision. No two examples may have the same
// values. It is grown greedily: each test minimizes the entropy. The error is the context's.
func Learn(ctx context.Context, vars []sema.Variable, examples []Example) (*Node, error) {
	l := &learner{ctx: ctx, examples: examples, tests: candidateTests(vars), columns: make([][]int32, len(vars))}
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

// candidateTests returns the tests, without thresholds.
func candidateTests(vars []sema.Variable) []Test {
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

// learner grows a decision tree.
type learner struct {
	ctx       context.Context
	examples  []Example
	columns   [][]int32 // the values of each variable
	tests     []Test
	decisions int
}

// grow returns a tree for some examples.
func (l *learner) grow(examples []int) (*Node, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	labels, first := l.assignLabels(examples)
	if !slices.ContainsFunc(labels, func(d int) bool { return d != first }) {
		return &Node{Decision: first}, nil
	}
	best := l.bestTest(examples, labels)
	var yes, no []int
	for _, i := range examples {
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

// assignLabels gives every example one of its allowed decisions: the decision that most examples allow,
// then the one that most of the remaining examples allow, and so on. first is the most frequent one.
func (l *learner) assignLabels(examples []int) (labels []int, first int) {
	labels = make([]int, len(examples))
	for k := range labels {
		labels[k] = -1
	}
	first = -1
	for unlabelled := len(examples); unlabelled > 0; {
		count := make([]int, l.decisions)
		for k, i := range examples {
			if labels[k] < 0 {
				for _, d := range l.examples[i].Allowed {
					count[d]++
				}
			}
		}
		majority := 0
		for d, n := range count {
			if n > count[majority] {
				majority = d
			}
		}
		if first < 0 {
			first = majority
		}
		for k, i := range examples {
			if labels[k] < 0 && slices.Contains(l.examples[i].Allowed, majority) {
				labels[k] = majority
				unlabelled--
			}
		}
	}
	return labels, first
}

// bestTest returns the test with the least entropy of labels; the first of several.
func (l *learner) bestTest(examples, labels []int) Test {
	total := make([]int, l.decisions)
	for _, d := range labels {
		total[d]++
	}
	var best Test
	minEntropy := math.Inf(1)
	consider := func(t Test, yes []int, n int) {
		if n == 0 || n == len(examples) {
			return
		}
		no := make([]int, len(total))
		for d := range total {
			no[d] = total[d] - yes[d]
		}
		// The margin ignores rounding errors, so that the result does not depend on the processor.
		if x := entropy(yes, n) + entropy(no, len(examples)-n); x < minEntropy-1e-9 {
			best, minEntropy = t, x
		}
	}
	for _, t := range l.tests {
		if l.ctx.Err() != nil {
			break
		}
		if t.Other < 0 {
			l.considerThresholds(t.Var, examples, labels, consider)
			continue
		}
		yes, n := make([]int, len(total)), 0
		left, right := l.columns[t.Var], l.columns[t.Other]
		for k, i := range examples {
			if left[i] == right[i] || !t.Equal && left[i] < right[i] {
				yes[labels[k]]++
				n++
			}
		}
		consider(t, yes, n)
	}
	return best
}

// considerThresholds considers the tests v<=k and v=k for all values k of variable v.
func (l *learner) considerThresholds(v int, examples, labels []int, consider func(t Test, yes []int, n int)) {
	countsOf := map[int32][]int{}
	column := l.columns[v]
	var counts []int
	var lastValue int32
	for k, i := range examples {
		if x := column[i]; counts == nil || x != lastValue {
			lastValue, counts = x, countsOf[x]
			if counts == nil {
				counts = make([]int, l.decisions)
				countsOf[x] = counts
			}
		}
		counts[labels[k]]++
	}
	values := slices.Sorted(maps.Keys(countsOf))
	below, n := make([]int, l.decisions), 0
	for k, x := range values {
		valueTotal := 0
		for d, count := range countsOf[x] {
			below[d] += count
			valueTotal += count
		}
		n += valueTotal
		consider(Test{Var: v, Other: -1, Value: x}, below, n)
		if k > 0 && k < len(values)-1 {
			consider(Test{Var: v, Other: -1, Value: x, Equal: true}, countsOf[x], valueTotal)
		}
	}
}

// entropy returns the entropy of n labels times n, in bits.
func entropy(count []int, n int) float64 {
	sum := 0.0
	for _, k := range count {
		if k > 0 {
			sum -= float64(k) * math.Log2(float64(k)/float64(n))
		}
	}
	return sum
}
