package stats_test

import (
	"fmt"
	"math/rand/v2"

	"tilecheck/stats"
)

// A probability to a given half-width, as prism -sim -simwidth 0.05 does it,
// with the interval that holds beside the one PRISM prints.
func ExamplePlan() {
	plan, err := stats.NewPlan(stats.Params{Width: 0.05}, stats.Property{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	var b stats.Bernoulli
	for !plan.Done(b) {
		b.Add(r.Float64() < 0.3)
	}
	o, err := plan.Outcome(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	sound, err := plan.SoundInterval(b, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan)
	fmt.Printf("%d samples: %.4f (+/- %v with probability %v)\n", o.N, o.Mean, o.Width, o.Confidence)
	fmt.Printf("sound: [%.4f,%.4f] by %v\n", sound.Lo, sound.Hi, sound.Method)
	// Output:
	// CI: width=0.05, confidence=0.99, samples=unknown
	// 522 samples: 0.2682 (+/- 0.05 with probability 0.99)
	// sound: [0.1974,0.3479] by beta-binomial confidence sequence
}

// P>=0.9 [ ... ] by the sequential test, when every path satisfies the formula.
func ExamplePlan_sprt() {
	property := stats.Property{Bound: &stats.Bound{AtLeast: true, Threshold: 0.9}}
	plan, err := stats.NewPlan(stats.Params{}, property)
	if err != nil {
		fmt.Println(err)
		return
	}
	var b stats.Bernoulli
	for !plan.Done(b) {
		b.Add(true)
	}
	o, err := plan.Outcome(b)
	fmt.Println(plan.Method().FullName())
	fmt.Println(o.Decision, "after", o.N, "samples", err)
	// Output:
	// SPRT (Sequential Probability Ratio Test)
	// holds after 42 samples <nil>
}

// Shards that were sampled apart are merged in the order of their samples.
func ExampleMoments_Merge() {
	shards := make([]stats.Moments, 4)
	for i := range 1000 {
		shards[i/250].Add(float64(i % 10))
	}
	var all stats.Moments
	for _, s := range shards {
		all.Merge(s)
	}
	fmt.Printf("%d samples, mean %v, variance %.4f, from %v to %v\n", all.N, all.Mean(), all.Variance(), all.Min, all.Max)
	// Output:
	// 1000 samples, mean 4.5, variance 8.2583, from 0 to 9
}

// All of 1000 paths succeeded. PRISM prints 1.0 (+/- 0.0 with probability 0.99).
func ExampleBernoulliInterval() {
	b := stats.Bernoulli{N: 1000, K: 1000}
	for _, sequential := range []bool{false, true} {
		i, err := stats.BernoulliInterval(b, 0.99, sequential)
		fmt.Printf("[%.4f,%.4f] by %v %v\n", i.Lo, i.Hi, i.Method, err)
	}
	// Output:
	// [0.9947,1.0000] by Clopper-Pearson <nil>
	// [0.9886,1.0000] by beta-binomial confidence sequence <nil>
}

// Without bounds nothing sound can be said about a mean reward.
func ExampleRewardInterval() {
	var m stats.Moments
	for i := range 2000 {
		m.Add(float64(i % 5))
	}
	for _, bounds := range []*stats.Bounds{nil, {Lo: 0, Hi: 10}} {
		i, err := stats.RewardInterval(m, bounds, 0.99, false)
		fmt.Printf("[%.3f,%.3f] by %v, sound %v, %v\n", i.Lo, i.Hi, i.Method, i.Sound(), err)
	}
	// Output:
	// [1.919,2.081] by Student t, sound false, <nil>
	// [1.821,2.179] by empirical Bernstein, sound true, <nil>
}

// Does a published 0.722 from 1000 games agree with 295,000 of our 400,000?
func ExampleCompare() {
	published, err := stats.Published(0.722, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	ours := stats.Bernoulli{N: 400000, K: 295000}
	c, err := stats.Compare(stats.Sample{Bernoulli: published}, stats.Sample{Bernoulli: ours}, stats.CompareConfidence)
	fmt.Printf("compatible %v, p-value %.2f, %v\n", c.Compatible, c.PValue, err)
	// Output:
	// compatible true, p-value 0.28, <nil>
}

// PRISM's -simconf is the probability of error.
func ExampleConfidence() {
	confidence := 0.99
	fmt.Println(stats.Confidence(0.01), stats.Alpha(confidence), 1-confidence)
	// Output:
	// 0.99 0.01 0.010000000000000009
}
