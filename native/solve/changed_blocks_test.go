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

// slowWave adds choices that lead to one of the next states, to the same one, and rarely to one anywhere.
func slowWave(farReaders int) func(builder *sparse.Builder, state, numStates int) {
	rng := rand.New(rand.NewPCG(1, uint64(farReaders)))
	return func(builder *sparse.Builder, state, numStates int) {
		for range 1 + state%3 {
			builder.Choice(sparse.NoAction)
			builder.Add(min(state+1+rng.IntN(40), numStates-1), 0.5)
			builder.Add(state, 0.25)
			far := state
			if rng.IntN(numStates) < farReaders {
				far = rng.IntN(numStates)
			}
			builder.Add(far, 0.25)
		}
	}
}

// longJumps adds a choice that leads to another block. So the values of a block change in one step only.
func longJumps(builder *sparse.Builder, state, numStates int) {
	builder.Choice(sparse.NoAction)
	builder.Add(min(state+3<<stateBlockBits, numStates-1), 1)
}

// TestChangedBlocks checks that steps which leave out blocks have the same bounds, bit by bit, as steps that evaluate all states, and that they leave
// out some.
func TestChangedBlocks(t *testing.T) {
	const numSteps = 100
	for name, addChoices := range map[string]func(*sparse.Builder, int, int){"wave": slowWave(0), "wave with far readers": slowWave(10), "jumps": longJumps} {
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
			if name == "wave" && evaluated > numSteps*(graph.NumStates()>>stateBlockBits)/2 {
				t.Errorf("%v: evaluated %d blocks in %d steps", direction, evaluated, numSteps)
			}
			if bounds[1].Upper[graph.NumStates()-100] == 0 {
				t.Errorf("%s, %v: no state near the target was changed", name, direction)
			}
		}
	}
}
