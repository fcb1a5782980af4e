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

// Learn grows a decision tree that gives each example one of its allowed decisions. It selects each test greedily, by least entropy. Two
// examples must not have the same values. The error is ctx.Err().
func Learn(ctx context.Context, vars []sema.Variable, examples []Example) (*Node, error) {
	learner := &learner{ctx: ctx, examples: examples, tests: candidateTests(vars), columns: valueColumns(len(vars), examples)}
	allExamples := make([]int, len(examples))
	for i, example := range examples {
		allExamples[i] = i
		largest := example.Allowed[len(example.Allowed)-1]
		learner.numDecisions = max(learner.numDecisions, largest+1)
	}
	return learner.grow(allExamples)
}

// valueColumns returns the values of each variable in the examples: columns[variable][i] is the value of the variable in example i.
func valueColumns(numVars int, examples []Example) (columns [][]int32) {
	columns = make([][]int32, numVars)
	for variable := range columns {
		columns[variable] = make([]int32, len(examples))
		for i, example := range examples {
			columns[variable][i] = example.Values[variable]
		}
	}
	return columns
}

// candidateTests returns the tests from which a tree is built: for each variable a comparison with a threshold that is selected later, and, if there are
// few variables, comparisons of two integer variables with overlapping ranges.
func candidateTests(vars []sema.Variable) []Test {
	var tests []Test
	for i := range vars {
		tests = append(tests, Test{Var: i, Other: -1})
	}
	if len(vars) > maxPairedVars {
		return tests
	}
	for left := range vars {
		for right := range vars {
			if left == right || !areComparable(&vars[left], &vars[right]) {
				continue
			}
			tests = append(tests, Test{Var: left, Other: right})
			if left < right { // equality is symmetric
				tests = append(tests, Test{Var: left, Other: right, Equal: true})
			}
		}
	}
	return tests
}

// areComparable reports whether two variables are integers whose ranges overlap.
func areComparable(left, right *sema.Variable) bool {
	areIntegers := left.Type == sema.Int && right.Type == sema.Int
	return areIntegers && left.Low <= right.High && right.Low <= left.High
}

// learner grows a decision tree.
type learner struct {
	ctx      context.Context
	examples []Example
	columns  [][]int32 // the values of each variable
	tests    []Test
	// numDecisions is the number of decisions, which are numbered from 0.
	numDecisions int
}

// grow returns a decision tree for the examples with the given indexes. If all examples allow the same decision, the tree is a leaf. Otherwise it
// divides the examples by the best test, and grows a subtree for each part.
func (learner *learner) grow(examples []int) (*Node, error) {
	if err := learner.ctx.Err(); err != nil {
		return nil, err
	}
	labels, majority := learner.assignLabels(examples)
	if !slices.ContainsFunc(labels, func(label int) bool { return label != majority }) {
		return &Node{Decision: majority}, nil
	}
	test := learner.bestTest(examples, labels)
	var yesExamples, noExamples []int
	for _, example := range examples {
		if test.Holds(learner.examples[example].Values) {
			yesExamples = append(yesExamples, example)
		} else {
			noExamples = append(noExamples, example)
		}
	}
	yesTree, err := learner.grow(yesExamples)
	if err != nil {
		return nil, err
	}
	noTree, err := learner.grow(noExamples)
	if err != nil {
		return nil, err
	}
	return &Node{Test: test, Decision: majority, Yes: yesTree, No: noTree}, nil
}

// assignLabels gives each example a label: one of its allowed decisions. It repeatedly finds the decision that is allowed in the most examples
// without a label, and makes it the label of these examples. majority is the decision that it finds first.
func (learner *learner) assignLabels(examples []int) (labels []int, majority int) {
	labels = slices.Repeat([]int{-1}, len(examples))
	majority = -1
	for unlabelled := len(examples); unlabelled > 0; {
		decision := learner.mostAllowed(examples, labels)
		if majority < 0 {
			majority = decision
		}
		for position, example := range examples {
			if labels[position] < 0 && slices.Contains(learner.examples[example].Allowed, decision) {
				labels[position] = decision
				unlabelled--
			}
		}
	}
	return labels, majority
}

// mostAllowed returns the decision that is allowed in the most unlabelled examples. Unlabelled examples have a negative label.
func (learner *learner) mostAllowed(examples, labels []int) int {
	counts := make([]int, learner.numDecisions)
	for position, example := range examples {
		if labels[position] >= 0 {
			continue
		}
		for _, decision := range learner.examples[example].Allowed {
			counts[decision]++
		}
	}
	mostFrequent := 0
	for decision := range counts {
		if counts[decision] > counts[mostFrequent] {
			mostFrequent = decision
		}
	}
	return mostFrequent
}

// bestTest returns the test that divides the labels into two sets with the least total entropy. Of several best tests it returns the first.
func (learner *learner) bestTest(examples, labels []int) Test {
	search := &testSearch{labelCounts: make([]int, learner.numDecisions), numExamples: len(examples), minEntropy: math.Inf(1)}
	for _, decision := range labels {
		search.labelCounts[decision]++
	}
	for _, test := range learner.tests {
		if learner.ctx.Err() != nil {
			break
		}
		comparesTwoVars := test.Other >= 0
		if comparesTwoVars {
			learner.considerComparison(search, test, examples, labels)
		} else {
			learner.considerThresholds(search, test.Var, examples, labels)
		}
	}
	return search.bestTest
}

// testSearch is the search for the test that separates the labels of some examples best.
type testSearch struct {
	labelCounts []int // the number of examples with each label
	numExamples int
	bestTest    Test
	minEntropy  float64 // the total entropy with the best test
}

// consider replaces the best test so far if the given test has less entropy. yesCounts[label] is the number of examples with this label that satisfy the
// test; numYes is their sum. A test that does not divide the examples is ignored.
func (search *testSearch) consider(test Test, yesCounts []int, numYes int) {
	if numYes == 0 || numYes == search.numExamples {
		return
	}
	noCounts := make([]int, len(search.labelCounts))
	for decision, count := range search.labelCounts {
		noCounts[decision] = count - yesCounts[decision]
	}
	totalEntropy := entropy(yesCounts, numYes) + entropy(noCounts, search.numExamples-numYes)
	const margin = 1e-9 // exceeds rounding errors, so that the result does not depend on the processor
	if totalEntropy < search.minEntropy-margin {
		search.bestTest, search.minEntropy = test, totalEntropy
	}
}

// considerComparison counts the examples that satisfy a test of two variables, and makes it the best test so far if it has less entropy.
func (learner *learner) considerComparison(search *testSearch, test Test, examples, labels []int) {
	yesCounts := make([]int, learner.numDecisions) // the number of examples with each label that satisfy the test
	numYes := 0
	left, right := learner.columns[test.Var], learner.columns[test.Other]
	for position, example := range examples {
		holds := left[example] == right[example] || !test.Equal && left[example] < right[example]
		if holds {
			yesCounts[labels[position]]++
			numYes++
		}
	}
	search.consider(test, yesCounts, numYes)
}

// considerThresholds tries the tests v<=k and v=k of a variable v, for each value k that v has in the examples, and keeps the best test so far.
func (learner *learner) considerThresholds(search *testSearch, variable int, examples, labels []int) {
	labelCounts := learner.countLabels(variable, examples, labels)
	values := slices.Sorted(maps.Keys(labelCounts))
	atMostCounts := make([]int, learner.numDecisions) // the labels of the examples with at most the value
	numAtMost := 0
	for position, value := range values {
		numEqual := 0
		for decision, count := range labelCounts[value] {
			atMostCounts[decision] += count
			numEqual += count
		}
		numAtMost += numEqual
		search.consider(Test{Var: variable, Other: -1, Value: value}, atMostCounts, numAtMost)
		isInner := position > 0 && position < len(values)-1 // v=k for the least or greatest k splits like an inequality
		if isInner {
			search.consider(Test{Var: variable, Other: -1, Value: value, Equal: true}, labelCounts[value], numEqual)
		}
	}
}

// countLabels returns allCounts[value][label], the number of examples in which the variable has this value and whose label is this label.
func (learner *learner) countLabels(variable int, examples, labels []int) (allCounts map[int32][]int) {
	allCounts = map[int32][]int{}
	column := learner.columns[variable]
	var counts []int // allCounts[lastValue], which saves map look-ups
	var lastValue int32
	for position, example := range examples {
		value := column[example]
		if counts == nil || value != lastValue {
			lastValue, counts = value, allCounts[value]
		}
		if counts == nil {
			counts = make([]int, learner.numDecisions)
			allCounts[value] = counts
		}
		counts[labels[position]]++
	}
	return allCounts
}

// entropy returns n times the entropy, in bits, of n labels: -sum of c log2(c/n) over the counts c. total is n.
func entropy(counts []int, total int) float64 {
	sum := 0.0
	for _, count := range counts {
		if count > 0 {
			sum -= float64(count) * math.Log2(float64(count)/float64(total))
		}
	}
	return sum
}
