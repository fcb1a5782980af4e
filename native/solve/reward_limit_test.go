package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"tilecheck/native/space/sparse"
)

// rewardOfManySteps returns the reward of 2^doublings steps of a chain, with 400 bits, by squaring the map of one step.
func rewardOfManySteps(graph *sparse.Graph, reward *sparse.Reward, doublings int) []*big.Float {
	n := graph.NumStates()
	matrix, sum := make([][]*big.Float, n), make([]*big.Float, n)
	for s := range n {
		sum[s] = with400Bits(reward.State[s])
		matrix[s] = make([]*big.Float, n)
		for target := range n {
			matrix[s][target] = with400Bits(0)
		}
		first, end := graph.Transitions(s)
		for i := first; i < end; i++ {
			entry := matrix[s][graph.Target[i]]
			entry.Add(entry, with400Bits(graph.Prob(i)))
		}
	}
	for range doublings {
		nextSum, nextMatrix := make([]*big.Float, n), make([][]*big.Float, n)
		for s := range n {
			nextSum[s] = with400Bits(0).Set(sum[s])
			nextMatrix[s] = make([]*big.Float, n)
			for target := range n {
				nextMatrix[s][target] = with400Bits(0)
			}
			for middle := range n {
				nextSum[s].Add(nextSum[s], with400Bits(0).Mul(matrix[s][middle], sum[middle]))
				for target := range n {
					entry := nextMatrix[s][target]
					entry.Add(entry, with400Bits(0).Mul(matrix[s][middle], matrix[middle][target]))
					if entry.MantExp(nil) < -1000 { // its sums would take as many bits
						entry.SetInt64(0)
					}
				}
			}
		}
		matrix, sum = nextMatrix, nextSum
	}
	return sum
}

// The bounds from long-run averages contain the reward of 2^50 steps, also with several BSCCs, periods, and states without reward.
func TestRewardLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 34))
	const doublings = 50
	narrow, zero := 0, 0
	for i := range 60 {
		graph, _, reward := randomSteps(t, rng, sparse.DTMC, 2+rng.IntN(6))
		for s := range reward.State {
			if rng.IntN(2) == 0 {
				reward.State[s] = 0
			}
		}
		sys, err := newStepwise(graph, reward, Max, Options{})
		if err != nil {
			t.Fatal(err)
		}
		limit := &rewardLimit{system: sys, reward: reward, numSteps: 1 << doublings, epsilon: Options{}.epsilon(), opts: Options{Epsilon: Options{}.epsilon() / 8}}
		values, err := limit.bounds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for s, want := range rewardOfManySteps(graph, reward, doublings) {
			if want.Cmp(big.NewFloat(values.Lower[s])) < 0 || want.Cmp(big.NewFloat(values.Upper[s])) > 0 {
				t.Errorf("model %d, state %d: [%v, %v] does not contain %.20g", i, s, values.Lower[s], values.Upper[s], want)
			}
			switch {
			case values.Upper[s]-values.Lower[s] <= limit.epsilon*values.Upper[s]:
				narrow++
			case values.Lower[s] == 0:
				zero++
			default:
				t.Errorf("model %d, state %d: [%v, %v] is too wide", i, s, values.Lower[s], values.Upper[s])
			}
		}
	}
	if narrow == 0 || zero == 0 {
		t.Errorf("%d values are narrow, and %d are bounded by the total reward, want some of both", narrow, zero)
	}
}

// A chain of more than denseMaxStates states with transient states, two BSCCs and a period has its value for 10^15 steps at once.
func TestRewardOf10To15Steps(t *testing.T) {
	const n = 600
	builder := sparse.NewBuilder(sparse.DTMC)
	for s := range n {
		builder.State()
		switch { // 0 and n-1 return to their neighbours, and the states between are left after a long time
		case s == 0:
			builder.Add(1, 1)
		case s == 1:
			builder.Add(0, 1)
		case s == n-1:
			builder.Add(n-1, 1)
		default:
			builder.Add(s+1, 0.75)
			builder.Add(s-1, 0.25)
		}
	}
	model, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	reward := &sparse.Reward{State: make([]float64, n)}
	reward.State[0], reward.State[n-1] = 1, 3
	start := time.Now()
	const steps = 1_000_000_000_000_000
	values, err := CumulReward(t.Context(), sparse.NewGraph(model), reward, steps, Max, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// From state 2, the walk reaches state 1 before n-1 with probability 1/3, up to 1e-280. Then every second step earns 1.
	toFirst := 1.0 / 3
	want := steps * (toFirst*0.5 + (1-toFirst)*3)
	if !(values.Lower[2] <= want*(1+1e-9) && want*(1-1e-9) <= values.Upper[2]) || values.Upper[2]-values.Lower[2] > 1e-6*want {
		t.Errorf("[%v, %v], want about %v", values.Lower[2], values.Upper[2], want)
	}
	t.Logf("%v", time.Since(start))
}

// TestRewardOfDriftingWalk: the reward of 10^15 steps of a chain that almost never visits its first states is bounded quickly. So the bounds do not
// depend on the expected number of steps to the first states.
func TestRewardOfDriftingWalk(t *testing.T) {
	const n = 600
	builder := sparse.NewBuilder(sparse.DTMC)
	for s := range n {
		builder.State()
		builder.Add(min(s+1, n-1), 0.75)
		builder.Add(max(s-1, 0), 0.25)
	}
	model, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	reward := &sparse.Reward{State: make([]float64, n)}
	reward.State[n-1] = 1
	const steps = 1_000_000_000_000_000
	values, err := CumulReward(t.Context(), sparse.NewGraph(model), reward, steps, Max, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = steps * (2.0 / 3) // state n-1-i has the long-run probability 2/3^(i+1)
	for _, s := range []int{0, n - 1} {
		if !(values.Lower[s] <= want && want <= values.Upper[s]) || values.Upper[s]-values.Lower[s] > 1e-6*want {
			t.Errorf("state %d: [%v, %v], want about %v", s, values.Lower[s], values.Upper[s], want)
		}
	}
}
