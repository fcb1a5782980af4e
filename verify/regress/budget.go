package regress

import (
	"slices"

	"tilecheck/verify/expect"
)

// splitBudget divides Options.Flakes, the allowed probability of a false alarm, evenly among all statistical expectations of the suite
// (Bonferroni correction).
func (r *suiteRun) splitBudget() {
	for _, test := range r.tests { // of all shards: each shard must divide by the same number
		r.statisticalCount += test.countSampled() * r.numEngines(test)
	}
	if r.statisticalCount == 0 {
		return
	}
	for _, test := range r.tests {
		test.maxFalseAlarm = r.options.Flakes / float64(r.statisticalCount)
	}
}

// countSampled returns the number of property instances whose terms ask for sampling.
func (test *loadedTest) countSampled() int {
	count := 0
	for _, instance := range test.instances {
		if terms := instance.annotations.Terms; terms != nil && terms.Statistical != nil {
			count++
		}
	}
	return count
}

// numEngines returns the number of engines that a test runs on.
func (r *suiteRun) numEngines(test *loadedTest) int {
	count := 0
	for i := range r.engines {
		if test.runsOn(&r.engines[i]) {
			count++
		}
	}
	return count
}

// runsOn reports whether the test is for this engine.
func (test *loadedTest) runsOn(engine *EngineConfig) bool {
	return len(test.Engines) == 0 || slices.Contains(test.Engines, engine.DisplayName())
}

// confidenceLevel returns the confidence of the interval that the test estimates.
func (test *loadedTest) confidenceLevel(statistical *expect.Statistical) float64 {
	return statistical.Level(test.maxFalseAlarm)
}
