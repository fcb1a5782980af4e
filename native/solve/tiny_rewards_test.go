package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/native/space/sparse"
)

// The bounds of rewards near the least float64 are narrow, contain the values of 400 bits, and are found by skipping steps, also if other
// rewards are great.
func TestTinyRewards(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 9))
	for number := range 8 {
		kind, dir := sparse.Kind(number%2), Direction(number/2%2)
		graph, _, reward := randomSteps(t, rng, kind, 4)
		const k = 3000
		want := afterSteps(graph, nil, reward, dir == Min, k)
		tiny := &sparse.Reward{State: scaledNumbers(reward.State, -997)}
		values, err := CumulReward(t.Context(), graph, tiny, k, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for s, sum := range want {
			lower, upper := values.Lower[s], values.Upper[s]
			sum.SetMantExp(sum, -997)
			if sum.Cmp(big.NewFloat(lower)) < 0 || sum.Cmp(big.NewFloat(upper)) > 0 || upper-lower > 1e-8*upper {
				t.Errorf("model %d, state %d: [%v, %v] is wide or does not contain %.20g", number, s, lower, upper, sum)
			}
		}
	}
	// States 0 and 1 earn only a tiny reward, and state 2 a reward of 1.
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range 3 {
		b.State()
		b.Add(s, 0.5)
		b.Add(s^s>>1^1, 0.5)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	reward := &sparse.Reward{State: []float64{0, 0x1p-997, 1}}
	const k = 10_000_001 // half of the steps after the first one are in state 1
	values, err := CumulReward(t.Context(), sparse.NewGraph(model), reward, k, Max, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if lower, upper, want := values.Lower[0], values.Upper[0], 0x1p-998*(k-1); lower > want || upper < want || upper-lower > 1e-8*upper {
		t.Errorf("[%v, %v], want %v", lower, upper, want)
	}
}
