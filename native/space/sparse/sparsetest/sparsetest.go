// Package sparsetest makes small random models for tests, and solves them by
// enumerating all memoryless schedulers.
package sparsetest

import (
	"cmp"
	"iter"
	"math/big"
	"math/rand/v2"
	"slices"

	"tilecheck/native/space/sparse"
)

// Shape describes random models.
type Shape struct {
	Kind      sparse.Kind
	States    int // at most
	Choices   int // at most, per state of an MDP
	Branching int // at most, transitions per choice
	// Forward is the probability that all transitions of a state lead to greater states, so that some
	// models are partly acyclic.
	Forward float64
	// Denominator bounds the denominators of the probabilities; 0 stands for 10.
	Denominator int
	Rewards     bool // adds one structure with small rewards, about half of them zero
}

// Random returns a random model with exact weights and initial state 0. The same state of rng gives the same
// model.
func Random(rng *rand.Rand, shape Shape) *sparse.Model {
	numStates := 1 + rng.IntN(shape.States)
	builder := sparse.NewBuilder(shape.Kind)
	for state := range numStates {
		builder.State()
		if shape.Kind != sparse.MDP {
			addRandomRow(rng, builder, shape, state, numStates)
			continue
		}
		for range 1 + rng.IntN(shape.Choices) {
			builder.Choice(sparse.Action(rng.IntN(3)))
			addRandomRow(rng, builder, shape, state, numStates)
		}
	}
	model, err := builder.Finish()
	if err != nil {
		panic(err)
	}
	model.Initial = []uint32{0}
	if shape.Rewards {
		model.Rewards = []sparse.Reward{randomReward(rng, model)}
	}
	return model
}

// addRandomRow adds random transitions to the current choice of a state. Probabilities sum to one. The rates of a CTMC are multiples
// of a common unit.
func addRandomRow(rng *rand.Rand, builder *sparse.Builder, shape Shape, state, numStates int) {
	targets := randomTargets(rng, shape, state, numStates)
	maxNumerator := cmp.Or(shape.Denominator, 10)
	numerators := make([]int64, len(targets))
	sum := int64(0)
	for i := range numerators {
		numerators[i] = 1 + rng.Int64N(int64(maxNumerator))
		sum += numerators[i]
	}
	denominator := sum
	if shape.Kind == sparse.CTMC {
		denominator = 1 + rng.Int64N(4)
	}
	for i, target := range targets {
		builder.AddRat(target, big.NewRat(numerators[i], denominator), sparse.NoAction)
	}
}

// randomTargets returns distinct random states. With probability shape.Forward, all of them are greater than state.
func randomTargets(rng *rand.Rand, shape Shape, state, numStates int) []int {
	isForward := rng.Float64() < shape.Forward
	var targets []int
	for range 1 + rng.IntN(shape.Branching) {
		target := rng.IntN(numStates)
		if isForward && state+1 < numStates {
			target = state + 1 + rng.IntN(numStates-state-1)
		}
		if !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	return targets
}

// randomReward returns a random reward structure. With probability 3/4 it has state rewards, and with probability 3/4 it has choice
// rewards.
func randomReward(rng *rand.Rand, model *sparse.Model) sparse.Reward {
	drawNumbers := func(n int) ([]float64, []*big.Rat) {
		floats, fractions := make([]float64, n), make([]*big.Rat, n)
		for i := range floats {
			if rng.IntN(2) == 0 {
				fractions[i] = big.NewRat(1+rng.Int64N(20), 1+rng.Int64N(4))
				floats[i], _ = fractions[i].Float64()
			}
		}
		return floats, fractions
	}
	reward := sparse.Reward{Name: "r"}
	if rng.IntN(4) > 0 {
		reward.State, reward.StateFractions = drawNumbers(model.NumStates())
	}
	if rng.IntN(4) > 0 {
		reward.Choice, reward.ChoiceFractions = drawNumbers(model.NumChoices())
	}
	return reward
}

// RandomSet returns a random subset of 0..n-1 that contains each number with probability p.
func RandomSet(rng *rand.Rand, n int, p float64) *sparse.Set {
	set := sparse.NewSet(n)
	for i := range n {
		if rng.Float64() < p {
			set.Add(i)
		}
	}
	return set
}

// Schedulers yields every memoryless deterministic scheduler of a model, as a slice with the choice of each state. It reuses the slice, so the caller must
// copy it to keep it.
func Schedulers(model *sparse.Model) iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		scheduler := make([]uint32, model.NumStates())
		for state := range scheduler {
			first, _ := model.Choices(state)
			scheduler[state] = uint32(first)
		}
		for hasMore := true; hasMore; hasMore = nextScheduler(model, scheduler) {
			if !yield(scheduler) {
				return
			}
		}
	}
}

// nextScheduler changes a scheduler to the next one in a fixed order, and returns false after the last one. The choices of the states count up like the
// digits of a number, with the first state as the lowest digit.
func nextScheduler(model *sparse.Model, scheduler []uint32) bool {
	for state := range scheduler {
		first, end := model.Choices(state)
		scheduler[state]++
		if int(scheduler[state]) < end {
			return true
		}
		scheduler[state] = uint32(first)
	}
	return false
}

// NumSchedulers returns the number of memoryless deterministic schedulers of a model, at most limit.
func NumSchedulers(model *sparse.Model, limit int) int {
	count := 1
	for state := range model.NumStates() {
		first, end := model.Choices(state)
		count *= end - first
		if count >= limit {
			return limit
		}
	}
	return count
}

// Matrix returns the weights of the chain induced by a memoryless scheduler, as a dense matrix.
func Matrix(model *sparse.Model, scheduler []uint32) [][]*big.Rat {
	numStates := model.NumStates()
	matrix := make([][]*big.Rat, numStates)
	for state := range numStates {
		matrix[state] = make([]*big.Rat, numStates)
		for target := range numStates {
			matrix[state][target] = new(big.Rat)
		}
		first, end := model.Transitions(int(scheduler[state]))
		for transition := first; transition < end; transition++ {
			target := model.Target[transition]
			matrix[state][target].Add(matrix[state][target], model.Fraction(transition))
		}
	}
	return matrix
}

// Reach returns a matrix that says for each pair of states whether the second is reachable from the first. All states of the path except the last must be in
// via.
//
// Source: Warshall's transitive closure.
func Reach(matrix [][]*big.Rat, via *sparse.Set) [][]bool {
	numStates := len(matrix)
	reachable := make([][]bool, numStates)
	for from := range numStates {
		reachable[from] = make([]bool, numStates)
		for target := range numStates {
			reachable[from][target] = from == target || via.Has(from) && matrix[from][target].Sign() > 0
		}
	}
	for middle := range numStates {
		for from := range numStates {
			for target := range numStates {
				viaMiddle := reachable[from][middle] && reachable[middle][target]
				reachable[from][target] = reachable[from][target] || viaMiddle
			}
		}
	}
	return reachable
}
