package regress

import (
	"slices"

	"tilecheck/verify/expect"
)

// splitBudget divides Options.Flakes, the allowed probability of a false alarm, evenly among the statistical expectations of the whole suite on all
// engines. By Bonferroni's inequality, the suite then fails by chance with at most this probability. splitBudget must run before a shard is selected,
// because the division is the same for all shards.
func (r *suiteRun) splitBudget() {
	for _, test := range r.tests {
		r.statisticalCount += test.statisticalExpectations() * r.enginesOf(test)
	}
	if r.statisticalCount == 0 {
		return
	}
	for _, test := range r.tests {
		test.falseAlarm = r.opt.Flakes / float64(r.statisticalCount)
	}
}

// statisticalExpectations returns the number of property instances whose terms ask for sampling.
func (test *loadedTest) statisticalExpectations() int {
	count := 0
	for _, instance := range test.instances {
		if terms := instance.chosen.Terms; terms != nil && terms.Statistical != nil {
			count++
		}
	}
	return count
}

// enginesOf returns the number of engines that a test runs on.
func (r *suiteRun) enginesOf(test *loadedTest) int {
	count := 0
	for i := range r.engines {
		if test.runsOn(&r.engines[i]) {
			count++
		}
	}
	return count
}

// runsOn reports whether a test is for an engine.
func (test *loadedTest) runsOn(engine *EngineConfig) bool {
	return len(test.Engines) == 0 || slices.Contains(test.Engines, engine.DisplayName())
}

// confidenceLevel returns the confidence of the interval that a test with these terms estimates.
func (test *loadedTest) confidenceLevel(statistical *expect.Statistical) float64 {
	return statistical.Level(test.falseAlarm)
}
