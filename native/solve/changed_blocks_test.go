package solve

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/native/space/sparse"
)

// largeModel returns an MDP with 70,000 states, whose choices addChoices adds.
func largeModel(t *testing.T, addChoices func(builder *sparse.Builder, state, numStates int)) *sparse.Model {
	t.Helper()
	const numStates = 70_000
	builder := sparse.NewBuilder(sparse.MDP)
	for state := range numStates {
		builder.State()
		addChoices(builder, state, numStates)
	}
	model, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Initial = []uint32{0}
	return model
}

// slowSpread returns a function that adds choices to a state. Each leads to one of the next 40 states and to the state itself, and about farJumps of all
// choices lead to any state. So the value of the last state spreads slowly.
func slowSpread(farJumps int) func(builder *sparse.Builder, state, numStates int) {
	rng := rand.New(rand.NewPCG(1, uint64(farJumps)))
	return func(builder *sparse.Builder, state, numStates int) {
		for range 1 + state%3 {
			builder.Choice(sparse.NoAction)
			builder.Add(min(state+1+rng.IntN(40), numStates-1), 0.5)
			builder.Add(state, 0.25)
			far := state
			if rng.IntN(numStates) < farJumps {
				far = rng.IntN(numStates)
			}
			builder.Add(far, 0.25)
		}
	}
}

// longJumps adds a choice that leads three blocks further, from state s to state s+3,072. So the values of a block change in one step only.
func longJumps(builder *sparse.Builder, state, numStates int) {
	builder.Choice(sparse.NoAction)
	builder.Add(min(state+3<<stateBlockBits, numStates-1), 1)
}

// TestChangedBlocks compares two computations: one evaluates all states in each step, the other one only the blocks that may change. All bounds must be equal,
// and the second one must leave out many blocks.
func TestChangedBlocks(t *testing.T) {
	const numSteps = 100
	for name, addChoices := range map[string]func(*sparse.Builder, int, int){"slow spread": slowSpread(0), "slow spread with far jumps": slowSpread(10), "jumps": longJumps} {
		graph := sparse.NewGraph(largeModel(t, addChoices))
		target := sparse.NewSet(graph.NumStates())
		target.Add(graph.NumStates() - 1)
		for _, direction := range []Direction{Min, Max} {
			var bounds [2]*Values
			evaluated := 0 // blocks
			for i, leavesOut := range []bool{false, true} {
				opts := Options{}
				system, err := newStepwise(graph, nil, direction, opts)
				if err != nil {
					t.Fatal(err)
				}
				system.values.setAll(target, 1)
				meter := newStepMeter(t.Context(), opts, numSteps)
				run := system.newStepRun(opts, target.Complement(), meter, numSteps)
				if run.blocks == nil {
					t.Fatal("no blocks in a large model")
				}
				if !leavesOut {
					run.blocks = nil
				}
				err = system.values.applySteps(meter, numSteps, func(stepsDone int, lower, upper []float64) (bool, error) {
					isFinal, err := run.step(stepsDone, lower, upper)
					if run.blocks != nil {
						for block := range run.blocks.sources {
							if run.blocks.mayChange(block) {
								evaluated++
							}
						}
					}
					return isFinal, err
				})
				if err != nil {
					t.Fatal(err)
				}
				bounds[i] = system.values
			}
			if !slices.Equal(bounds[0].Lower, bounds[1].Lower) || !slices.Equal(bounds[0].Upper, bounds[1].Upper) {
				t.Errorf("%s, %v: other bounds if blocks are left out", name, direction)
			}
			if name == "slow spread" && evaluated > numSteps*(graph.NumStates()>>stateBlockBits)/2 {
				t.Errorf("%v: evaluated %d blocks in %d steps", direction, evaluated, numSteps)
			}
			if bounds[1].Upper[graph.NumStates()-100] == 0 {
				t.Errorf("%s, %v: no state near the target was changed", name, direction)
			}
		}
	}
}
