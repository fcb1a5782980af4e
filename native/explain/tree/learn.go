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

// maxPairedVars is the number of variables up to which tests compare two of them. There are quadratically
// many such tests.
const maxPairedVars = 24

// Learn returns a tree that gives every example an allowed decision. No two examples may have the same
// values. The tree is grown greedily: each test minimizes the entropy. The error is the context's.
func Learn(ctx context.Context, vars []sema.Variable, examples []Example) (*Node, error) {
	l := &learner{ctx: ctx, examples: examples, tests: candidateTests(vars), columns: make([][]int32, len(vars))}
	for v := range l.columns {
		l.columns[v] = make([]int32, len(examples))
	}
	for i, example := range examples {
		for v, value := range example.Values {
			l.columns[v][i] = value
		}
		largest := example.Allowed[len(example.Allowed)-1]
		l.decisions = max(l.decisions, largest+1)
	}
	all := make([]int, len(examples))
	for i := range all {
		all[i] = i
	}
	return l.grow(all)
}

// candidateTests returns the tests to choose from: each variable with a threshold, which is not set yet, and
// each pair of integer variables whose ranges overlap.
func candidateTests(vars []sema.Variable) []Test {
	var out []Test
	for i := range vars {
		out = append(out, Test{Var: i, Other: -1})
	}
	if len(vars) > maxPairedVars {
		return out
	}
	for i, left := range vars {
		for j, right := range vars {
			if left.Type != sema.Int || right.Type != sema.Int || i == j || left.Low > right.High || right.Low > left.High {
				continue
			}
			out = append(out, Test{Var: i, Other: j})
			if i < j { // equality is symmetric
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

// grow returns a tree for the examples with the given indexes.
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
	yesTree, err := l.grow(yes)
	if err != nil {
		return nil, err
	}
	noTree, err := l.grow(no)
	if err != nil {
		return nil, err
	}
	return &Node{Test: best, Decision: first, Yes: yesTree, No: noTree}, nil
}

// assignLabels gives every example one of its allowed decisions, as its label. It repeatedly finds the
// decision that most examples without a label allow, and gives it to these examples. first is the decision of
// the first round.
func (l *learner) assignLabels(examples []int) (labels []int, first int) {
	labels = make([]int, len(examples))
	for position := range labels {
		labels[position] = -1
	}
	first = -1
	for unlabelled := len(examples); unlabelled > 0; {
		count := make([]int, l.decisions)
		for position, example := range examples {
			if labels[position] < 0 {
				for _, d := range l.examples[example].Allowed {
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
		for position, example := range examples {
			if labels[position] < 0 && slices.Contains(l.examples[example].Allowed, majority) {
				labels[position] = majority
				unlabelled--
			}
		}
	}
	return labels, first
}

// bestTest returns the test after which the labels have the least entropy; the first of several.
func (l *learner) bestTest(examples, labels []int) Test {
	total := make([]int, l.decisions)
	for _, d := range labels {
		total[d]++
	}
	var best Test
	minEntropy := math.Inf(1)
	// consider compares a test with the best one so far. n examples satisfy it, and yes counts their labels.
	consider := func(t Test, yes []int, n int) {
		if n == 0 || n == len(examples) {
			return
		}
		no := make([]int, len(total))
		for d := range total {
			no[d] = total[d] - yes[d]
		}
		// The margin ignores rounding errors, so that the result does not depend on the processor.
		sum := entropy(yes, n) + entropy(no, len(examples)-n)
		if sum < minEntropy-1e-9 {
			best = t
			minEntropy = sum
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
		yes := make([]int, len(total))
		n := 0
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

// considerThresholds considers the tests v<=x and v=x for all values x that variable v has in the examples.
func (l *learner) considerThresholds(variable int, examples, labels []int, consider func(t Test, yes []int, n int)) {
	countsOf := map[int32][]int{}
	column := l.columns[variable]
	var counts []int
	var lastValue int32
	for index, i := range examples {
		if x := column[i]; counts == nil || x != lastValue {
			lastValue = x
			counts = countsOf[x]
			if counts == nil {
				counts = make([]int, l.decisions)
				countsOf[x] = counts
			}
		}
		counts[labels[index]]++
	}
	values := slices.Sorted(maps.Keys(countsOf))
	below := make([]int, l.decisions) // the labels of examples with values up to x
	n := 0
	for index, x := range values {
		valueTotal := 0
		for d, count := range countsOf[x] {
			below[d] += count
			valueTotal += count
		}
		n += valueTotal
		consider(Test{Var: variable, Other: -1, Value: x}, below, n)
		if index > 0 && index < len(values)-1 {
			consider(Test{Var: variable, Other: -1, Value: x, Equal: true}, countsOf[x], valueTotal)
		}
	}
}

// entropy returns n times the entropy, in bits, of n labels. count has the number of labels of each kind.
func entropy(count []int, n int) float64 {
	sum := 0.0
	for _, k := range count {
		if k > 0 {
			sum -= float64(k) * math.Log2(float64(k)/float64(n))
		}
	}
	return sum
}
