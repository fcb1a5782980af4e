package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// TestExactGameSteps compares many exact steps of games with steps in lowest terms. The base of the fractions has more than 62 bits in half of the games.
func TestExactGameSteps(t *testing.T) {
	const numStates, numSteps = 4, longSteps
	rng := rand.New(rand.NewPCG(39, 65))
	for i := range 4 {
		primes := []int64{7, 11, 13}
		if i%2 == 1 {
			primes = []int64{999_999_937, 999_999_929, 999_999_893}
		}
		b := sparse.NewBuilder(sparse.MDP)
		reward := &sparse.Reward{State: make([]float64, numStates), StateFractions: make([]*big.Rat, numStates)}
		for s := range numStates {
			b.State()
			reward.State[s] = float64(1 + rng.IntN(4))
			reward.StateFractions[s] = new(big.Rat).SetFloat64(reward.State[s])
			for range 2 {
				b.Choice(0)
				part := big.NewRat(1+rng.Int64N(6), primes[(s+i)%len(primes)])
				b.AddRat(rng.IntN(numStates), part, sparse.NoAction)
				b.AddRat(rng.IntN(numStates), new(big.Rat).Sub(big.NewRat(1, 1), part), sparse.NoAction)
			}
		}
		model, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		graph := sparse.NewGraph(model)
		game := NewGame(graph, sparsetest.RandomSet(rng, numStates, 0.5))
		sys, err := newStepwise(graph, reward, Max, Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		if sys.maximizer = game.maximizer; sys.newBaseFractionSteps(numSteps, numStates) == nil {
			t.Fatalf("game %d: no common base", i)
		}
		got, err := game.CumulReward(t.Context(), reward, numSteps, Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		want := make([]*big.Rat, numStates)
		for s := range want {
			want[s] = new(big.Rat)
		}
		for range numSteps {
			next := make([]*big.Rat, numStates)
			for s := range next {
				first, end := graph.Choices(s)
				for choice := first; choice < end; choice++ {
					value := expectedValue(graph, choice, want)
					value.Add(value, reward.StateFractions[s])
					if next[s] == nil || value.Cmp(next[s]) > 0 == game.maximizer.Has(s) {
						next[s] = value
					}
				}
			}
			want = next
		}
		for s := range want {
			if got.Exact[s].Cmp(want[s]) != 0 {
				t.Errorf("game %d, state %d: %s, want %s", i, s, got.Exact[s].FloatString(20), want[s].FloatString(20))
			}
		}
	}
}
