package attack

import (
	"math"
	"slices"

	"tilecheck/native"
	"tilecheck/runner"
)

const confidence = 0.99

// sample estimates the answers to queries, and counts the intervals that miss the truth. An error refuses a question that cannot be sampled.
func (a *attack) sample(i *instance) {
	for _, q := range slices.Repeat(i.sampled, 3) {
		job := i.job()
		job.Method, job.Props = runner.CI, []string{q.text}
		job.Simulation = runner.Simulation{Samples: int64(pick(a.maker, 20, 100, 300)), Confidence: confidence, Seed: a.Uint64(), Workers: 1, MaxPath: 1000}
		verdicts, err := runner.Check(a.Context(), native.New(), job)
		switch {
		case err != nil:
			a.refused(i, q.text, err.Error())
		case verdicts[0].Err != nil:
			a.refused(i, q.text, verdicts[0].Err.Message)
		case verdicts[0].Bound == nil: // only the nominal half-width of a reward without an upper bound
			a.refused(i, q.text, "no interval holds for certain")
		default:
			a.sampled++
			a.answers[[2]string{i.kind, a.mode}]++
			if q.want.outside(&verdicts[0], &job) != "" {
				a.missed++
			}
		}
	}
}

// checkCoverage fails if more intervals missed the truth than chance explains: that many or more would be missed with a probability below 10^-6.
func (a *attack) checkCoverage() {
	n, tail := float64(a.sampled), 0.0
	logGamma := func(x float64) float64 { log, _ := math.Lgamma(x); return log }
	for k := float64(a.missed); k <= n; k++ { // the binomial distribution
		choose := logGamma(n+1) - logGamma(k+1) - logGamma(n-k+1)
		tail += math.Exp(choose + k*math.Log(1-confidence) + (n-k)*math.Log(confidence))
	}
	a.Logf("%d of %d sampled intervals of confidence %v missed the value", a.missed, a.sampled, confidence)
	if tail < 1e-6 {
		a.Errorf("seed %d: %d of %d intervals of confidence %v missed the value", a.seed, a.missed, a.sampled, confidence)
	}
}
