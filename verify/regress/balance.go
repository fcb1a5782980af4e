package regress

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tilecheck/report"
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
	totalSeconds := make([]float64, min(r.opt.Shard.Of, len(order))) // by shard
	var ownTests []int                                               // the indices of the tests of this shard
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

// expectedSeconds returns the time in seconds that each test took in the earlier run, Options.Times. A test that was not in that run gets the average
// time. It returns an error if no test was in it.
func (r *suiteRun) expectedSeconds() ([]float64, error) {
	earlier := make(map[string]float64)
	for i := range r.opt.Times.Results {
		result := &r.opt.Times.Results[i]
		earlier[testKey(result)] += result.Seconds
	}
	seconds := make([]float64, len(r.tests))
	total, measured := 0.0, 0
	for i, test := range r.tests {
		result := test.newResult(&r.engines[0], nil)
		seconds[i] = earlier[testKey(&result)]
		if seconds[i] > 0 {
			total += seconds[i]
			measured++
		}
	}
	if measured == 0 {
		return nil, errors.New("the report with the times of an earlier run has no test of this suite")
	}
	for i := range seconds {
		if seconds[i] == 0 {
			seconds[i] = total / float64(measured)
		}
	}
	return seconds, nil
}

// testKey returns a text that identifies the test of a result by its files and switches.
func testKey(result *report.TestResult) string {
	return fmt.Sprintf("%q %q %q", result.Model, result.Props, result.Args)
}
