package regress

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// keepBalancedPart removes the tests of other shards. It distributes the tests so that all shards take about the same time: the tests are
// assigned from the longest to the shortest, each to the shard with the smallest total time so far.
//
// Source: Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969: no shard takes more than 4/3 of the optimum.
func (r *suiteRun) keepBalancedPart() error {
	seconds, err := r.expectedSeconds()
	if err != nil {
		return err
	}
	longestFirst := make([]int, len(r.tests)) // the indices of the tests
	for i := range longestFirst {
		longestFirst[i] = i
	}
	slices.SortStableFunc(longestFirst, func(first, second int) int { return cmp.Compare(seconds[second], seconds[first]) })
	totalSeconds := make([]float64, min(r.options.Shard.Count, len(r.tests))) // by shard
	var selected []int                                                        // the indices of the tests of this shard
	for _, test := range longestFirst {
		shard := slices.Index(totalSeconds, slices.Min(totalSeconds))
		totalSeconds[shard] += seconds[test]
		if shard == r.options.Shard.Index-1 {
			selected = append(selected, test)
		}
	}
	slices.Sort(selected)
	var tests []*loadedTest
	for _, i := range selected {
		tests = append(tests, r.tests[i])
	}
	r.tests = tests
	return nil
}

// expectedSeconds returns the expected duration of each test in seconds: its duration in the earlier report Options.Times, or the average if the
// report lacks the test. It returns an error if the report has no test of this suite.
func (r *suiteRun) expectedSeconds() ([]float64, error) {
	earlierSeconds := make(map[string]float64) // by testKey
	for i := range r.options.Times.Results {
		result := &r.options.Times.Results[i]
		earlierSeconds[testKey(result.Model, result.Props, result.Args)] += result.Seconds
	}
	expected := make([]float64, len(r.tests))
	totalSeconds, numFound := 0.0, 0
	for i, test := range r.tests {
		expected[i] = earlierSeconds[testKey(test.modelName(), test.propsName(), test.argsWithConstants())]
		if expected[i] > 0 {
			totalSeconds += expected[i]
			numFound++
		}
	}
	if numFound == 0 {
		return nil, errors.New("the report with the times of an earlier run has no test of this suite")
	}
	average := totalSeconds / float64(numFound)
	for i := range expected {
		if expected[i] == 0 {
			expected[i] = average
		}
	}
	return expected, nil
}

// testKey returns a text that identifies a test by its file names and switches.
func testKey(model, props string, args []string) string {
	return fmt.Sprintf("%q %q %q", model, props, args)
}
