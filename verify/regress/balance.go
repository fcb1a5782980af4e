package regress

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// keepBalancedPart keeps the tests of this shard and drops the others. It divides the tests among the shards so that each takes about
// the same time, according to an earlier run: it takes the tests from the longest to the shortest, and gives each to the shard with the
// smallest total so far.
//
// Source: Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969: no part takes more than 4/3 of the optimum.
func (r *suiteRun) keepBalancedPart() error {
	seconds, err := r.expectedSeconds()
	if err != nil {
		return err
	}
	order := make([]int, len(r.tests))
	for i := range order {
		order[i] = i
	}
	longestFirst := func(first, second int) int { return cmp.Compare(seconds[second], seconds[first]) }
	slices.SortStableFunc(order, longestFirst)
	totalSeconds := make([]float64, min(r.opt.Shard.Count, len(order))) // by shard
	var ownTests []int                                                  // the indices of the tests of this shard
	for _, test := range order {
		quickest := slices.Index(totalSeconds, slices.Min(totalSeconds))
		totalSeconds[quickest] += seconds[test]
		if quickest == r.opt.Shard.Index-1 {
			ownTests = append(ownTests, test)
		}
	}
	slices.Sort(ownTests)
	keptTests := make([]*loadedTest, len(ownTests))
	for i, test := range ownTests {
		keptTests[i] = r.tests[test]
	}
	r.tests = keptTests
	return nil
}

// expectedSeconds returns the expected duration of each test in seconds: its duration in an earlier run, whose report is Options.Times. The
// expected duration of a test that the report lacks is the average of the others. expectedSeconds returns an error if the report lacks all tests.
func (r *suiteRun) expectedSeconds() ([]float64, error) {
	earlierSeconds := make(map[string]float64) // by testKey
	for i := range r.opt.Times.Results {
		result := &r.opt.Times.Results[i]
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

// testKey returns a text that identifies a test by the names of its files and by its switches.
func testKey(model, props string, args []string) string {
	return fmt.Sprintf("%q %q %q", model, props, args)
}
