package solve_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// passingTime returns the automaton without the choices of immediate states that only stay. A state with no other choice gets the rate 1.
func passingTime(graph *sparse.Graph, rates solve.Rates) *sparse.Graph {
	b := sparse.NewDerivedBuilder(graph.Model, sparse.MDP)
	for s := range graph.NumStates() {
		b.State()
		before := b.NumChoices()
		first, end := graph.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := graph.Transitions(c)
			if rates.Low[s] > 0 || hi > lo+1 || graph.Target[lo] != uint32(s) {
				b.Copy(c, func(i int) uint32 { return graph.Target[i] })
			}
		}
		if b.NumChoices() == before {
			b.Loop(uint32(s))
			rates.Low[s], rates.High[s] = 1, 1
		}
	}
	passing := sparse.NewGraph(b.Finish())
	passing.Initial = []uint32{0}
	return passing
}

// randomRewards returns rewards of states and choices, which are 0 with the given probability.
func randomRewards(rng *rand.Rand, graph *sparse.Graph, zero float64) *sparse.Reward {
	draw := func(n int) []float64 {
		rewards := make([]float64, n)
		for i := range rewards {
			if rng.Float64() >= zero {
				rewards[i] = math.Ldexp(float64(1+rng.IntN(7)), rng.IntN(7)-3)
			}
		}
		return rewards
	}
	return &sparse.Reward{State: draw(graph.NumStates()), Choice: draw(graph.NumChoices())}
}

// Below tiny, the bounds are wide because of the omitted numbers of steps.
const tiny = 1e-10

// integratedEpsilon is the wanted width of bounds that are compared with an integral. Narrow bounds of great rewards take long.
const integratedEpsilon = 1e-4

// TestMarkovReward compares instant and cumulative rewards with the integral of Bellman's equation.
func TestMarkovReward(t *testing.T) {
	for seed := range needs.Models(t, 1000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		graph, r := automaton(t, rng, 3, 0.5)
		graph = passingTime(graph, r)
		n := graph.NumStates()
		reward := randomRewards(rng, graph, []float64{0.3, 0.8}[seed%2])
		time := math.Ldexp(float64(1+rng.IntN(15)), rng.IntN(5)-4)
		if seed%10 == 0 {
			time = 0
		}
		totals, rewardRates := make([]float64, graph.NumChoices()), make([]float64, n)
		for s := range n {
			first, end := graph.Choices(s)
			for c := first; c < end; c++ {
				totals[c] = reward.ChoiceTotal(s, c)
			}
			rewardRates[s] = reward.State[s] * r.Low[s]
		}
		all, none := sparse.FullSet(n), sparse.NewSet(n)
		for _, dir := range []solve.Direction{solve.Max, solve.Min} {
			instant, err := solve.MarkovInstantReward(t.Context(), graph, reward, r, at(time), dir, solve.Options{Epsilon: integratedEpsilon})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			cumul, err := solve.MarkovCumulReward(t.Context(), graph, reward, r, at(time), dir, solve.Options{Epsilon: integratedEpsilon})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			final := append([]float64(nil), rewardRates...)
			checkBounds(t, seed, dir, "I", instant, integrateFrom(final, nil, graph, r, all, none, time, dir))
			checkBounds(t, seed, dir, "C", cumul, integrateFrom(make([]float64, n), totals, graph, r, all, none, time, dir))
		}
	}
}

// checkBounds checks that bounds contain the wanted values, up to an error of the integration, and that those of state 0 are narrow.
func checkBounds(t *testing.T, seed uint64, dir solve.Direction, objective string, values *solve.Values, want []float64) {
	t.Helper()
	for s, x := range want {
		// What the oracle is off by is that of steps in which the best choice changes.
		tolerance := 1e-6 * (1 + x)
		if lo, hi := values.Lower[s], values.Upper[s]; !(lo <= x+tolerance && x-tolerance <= hi && lo <= hi) {
			t.Errorf("seed %d, direction %d, %s, state %d: found [%v, %v], want %v", seed, dir, objective, s, lo, hi, x)
		}
	}
	if lo, hi := values.Lower[0], values.Upper[0]; hi > tiny && (!values.Converged || hi-lo > integratedEpsilon*hi) {
		t.Errorf("seed %d, direction %d, %s: found [%v, %v], want a relative width of %v", seed, dir, objective, lo, hi, integratedEpsilon)
	}
}

// TestMarkovChainReward compares automata without immediate states with the CTMC engine.
func TestMarkovChainReward(t *testing.T) {
	for seed := range needs.Models(t, 1000) {
		rng := rand.New(rand.NewPCG(seed, 10))
		graph, r := automaton(t, rng, 1, 0)
		n := graph.NumStates()
		reward := randomRewards(rng, graph, 0.4)
		b := sparse.NewBuilder(sparse.CTMC)
		perTime := &sparse.Reward{State: make([]float64, n), Choice: make([]float64, n)}
		for s := range n {
			b.State()
			perTime.State[s], perTime.Choice[s] = reward.State[s]*r.Low[s], reward.Choice[s]*r.Low[s]
			first, end := graph.Transitions(s)
			for i := first; i < end; i++ {
				b.AddRat(int(graph.Target[i]), new(big.Rat).Mul(graph.Fraction(i), new(big.Rat).SetFloat64(r.Low[s])), sparse.NoAction)
			}
		}
		model, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		time := at(math.Ldexp(float64(rng.IntN(15)), rng.IntN(5)-4))
		instant, instantErr := solve.TimedInstantReward(t.Context(), sparse.NewGraph(model), perTime, time, solve.Options{})
		cumul, cumulErr := solve.TimedCumulReward(t.Context(), sparse.NewGraph(model), perTime, time, solve.Options{})
		for _, dir := range []solve.Direction{solve.Max, solve.Min} {
			foundInstant, foundInstantErr := solve.MarkovInstantReward(t.Context(), graph, reward, r, time, dir, solve.Options{})
			foundCumul, foundCumulErr := solve.MarkovCumulReward(t.Context(), graph, reward, r, time, dir, solve.Options{})
			if err := errors.Join(instantErr, cumulErr, foundInstantErr, foundCumulErr); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for s := range n {
				if foundInstant.Lower[s] > instant.Upper[s] || instant.Lower[s] > foundInstant.Upper[s] {
					t.Errorf("seed %d, state %d, I: found [%v, %v], want some of [%v, %v]", seed, s, foundInstant.Lower[s], foundInstant.Upper[s], instant.Lower[s], instant.Upper[s])
				}
				if foundCumul.Lower[s] > cumul.Upper[s] || cumul.Lower[s] > foundCumul.Upper[s] {
					t.Errorf("seed %d, state %d, C: found [%v, %v], want some of [%v, %v]", seed, s, foundCumul.Lower[s], foundCumul.Upper[s], cumul.Lower[s], cumul.Upper[s])
				}
				isWide := func(values *solve.Values) bool {
					return values.Upper[s] > tiny && values.Upper[s]-values.Lower[s] > 1e-8*values.Upper[s]
				}
				if isWide(foundCumul) || isWide(foundInstant) {
					t.Errorf("seed %d, state %d: found [%v, %v] and [%v, %v], want a relative width of 1e-8", seed, s, foundInstant.Lower[s], foundInstant.Upper[s], foundCumul.Lower[s], foundCumul.Upper[s])
				}
			}
		}
	}
}
