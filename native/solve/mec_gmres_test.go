package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/native/space/sparse"
)

// move is a choice of a state of a small MDP: it leads to the next state or to another one, each with probability 1/2, and earns a reward.
type move struct {
	other  int
	stays  bool // leads to the same state instead
	reward float64
}

// withClock returns the MDP with the given moves, beside a clock that goes on with probability 1/2 in each step. It has ticks states for each state of the MDP,
// and the same optimal averages for any number of ticks.
func withClock(t *testing.T, moves [][]move, ticks int) (*sparse.Graph, *sparse.Reward) {
	t.Helper()
	builder := sparse.NewBuilder(sparse.MDP)
	reward := &sparse.Reward{}
	for state, choices := range moves {
		for tick := range ticks {
			builder.State()
			for _, chosen := range choices {
				builder.Choice(sparse.NoAction)
				reward.Choice = append(reward.Choice, chosen.reward)
				reward.ChoiceFractions = append(reward.ChoiceFractions, new(big.Rat).SetFloat64(chosen.reward))
				targets := []int{(state + 1) % len(moves), chosen.other}
				if chosen.stays {
					targets = []int{state, state}
				}
				for _, target := range targets {
					for _, nextTick := range []int{tick, (tick + 1) % ticks} {
						builder.AddRat(target*ticks+nextTick, big.NewRat(1, 4), sparse.NoAction)
					}
				}
			}
		}
	}
	model, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Initial = []uint32{0}
	return sparse.NewGraph(model), reward
}

// TestApproximatePolicyIteration compares the bounds of MECs with 1,500 states with the exact averages of the same MDPs without a clock. Some
// choices stay in their state, so some schedulers induce chains with several recurrent classes.
func TestApproximatePolicyIteration(t *testing.T) {
	const numStates, ticks = 30, 50
	rng := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		moves := make([][]move, numStates)
		for state := range moves {
			for i := range 3 {
				moves[state] = append(moves[state], move{other: rng.IntN(numStates), stays: i == 2 && rng.IntN(4) == 0, reward: float64(1 + rng.IntN(63))})
			}
		}
		for _, direction := range []Direction{Min, Max} {
			small, smallReward := withClock(t, moves, 1)
			exact, err := LongRun(t.Context(), small, smallReward, direction, Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			want := exact.Exact[0]
			graph, reward := withClock(t, moves, ticks)
			values, err := LongRun(t.Context(), graph, reward, direction, Options{Epsilon: 1e-8})
			if err != nil {
				t.Fatal(err)
			}
			lower, upper := values.Lower[0], values.Upper[0]
			if new(big.Rat).SetFloat64(lower).Cmp(want) > 0 || new(big.Rat).SetFloat64(upper).Cmp(want) < 0 {
				t.Errorf("%v: bounds [%v, %v], want %v", direction, lower, upper, want.FloatString(12))
			}
			if upper-lower > 1e-8*upper {
				t.Errorf("%v: bounds [%v, %v] are too wide", direction, lower, upper)
			}
			// The approximate policy iteration alone must find the bounds.
			system, err := newSystem(graph, reward, direction, Options{Epsilon: 1e-8})
			if err != nil {
				t.Fatal(err)
			}
			mecs, err := graph.EndComponents(t.Context(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			mec := newMECGain(t.Context(), system, mecs, Options{Epsilon: 1e-8})
			members := mecs.Members(0)
			mec.initMEC(members)
			bounds := gainInterval{0, 100}
			if err := mec.approximatePolicyIteration(members, &bounds); err != nil {
				t.Fatal(err)
			}
			if !bounds.hasConverged(1e-8) {
				t.Errorf("%v: approximate policy iteration ends with %v, want %v", direction, bounds, want.FloatString(12))
			}
		}
	}
}
