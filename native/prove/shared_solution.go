package prove

import (
	"context"
	"math"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// sharedSolution is a solution that the engine computed on the grid of a certificate, so that the prover need not solve again.
type sharedSolution struct {
	reward      *sparse.Reward // nil for a probability
	left, right *sparse.Set
	direction   solve.Direction
	grid        float64
	values      *solve.Values
}

// Until computes bounds of an until probability, rounded to the grid of a certificate, and stores them for a later Add. It returns nil if the
// same bounds are already stored.
func (prover *Prover) Until(ctx context.Context, left, right *sparse.Set, direction solve.Direction) (*solve.Values, error) {
	shared := &sharedSolution{left: left, right: right, direction: direction, grid: math.Ldexp(1, -prover.firstEffort().gridBits())}
	if prover.findShared(shared) != nil {
		return nil, nil
	}
	opts := solve.Options{Epsilon: prover.opts.Epsilon, Grid: shared.grid}
	values, err := solve.Until(ctx, prover.graph, left, right, direction, opts)
	if err != nil {
		return nil, err
	}
	prover.recordShared(shared, values)
	return values, nil
}

// ReachReward computes bounds of an expected reward until target is reached, rounded to the grid of a certificate, and stores them for a later
// Add. It returns nil if the same bounds are already stored, or if a certificate cannot use them.
func (prover *Prover) ReachReward(ctx context.Context, reward *sparse.Reward, target *sparse.Set, direction solve.Direction) (*solve.Values, error) {
	// The greatest expected reward is not known yet, so the grid fits the greatest reward of one step.
	grid := math.Ldexp(1, rewardExponent(reward)-prover.firstEffort().gridBits())
	solution := &sharedSolution{reward: reward, left: target, right: target, direction: direction, grid: grid}
	if prover.findShared(solution) != nil || grid > 1 || math.IsInf(reward.RelErr, 1) {
		return nil, nil
	}
	opts := solve.Options{Epsilon: prover.opts.Epsilon, Grid: grid}
	values, err := solve.ReachReward(ctx, prover.graph, reward, target, direction, opts)
	if err != nil {
		return nil, err
	}
	prover.recordShared(solution, values)
	return values, nil
}

// rewardExponent returns an exponent e>=0 such that no reward of a state or choice exceeds 2^e. It is the least such exponent, or greater by one.
func rewardExponent(reward *sparse.Reward) int {
	exponent := 0
	for _, rewards := range [][]float64{reward.State, reward.Choice} {
		for _, value := range rewards {
			if value > math.Ldexp(1, exponent) {
				exponent = math.Ilogb(value) + 1
			}
		}
	}
	return exponent
}

// findShared returns the stored solution with the same reward, sets and direction as request, or nil if no stored solution has them.
func (prover *Prover) findShared(request *sharedSolution) *sharedSolution {
	for _, solution := range prover.sharedSolutions {
		sameDirection := solution.direction == request.direction || prover.graph.Kind != sparse.MDP // a chain has no choices
		sameSets := solution.left.Equal(request.left) && solution.right.Equal(request.right)
		if solution.reward == request.reward && sameDirection && sameSets {
			return solution
		}
	}
	return nil
}

// recordShared keeps a solution with its values.
func (prover *Prover) recordShared(solution *sharedSolution, values *solve.Values) {
	solution.values = values
	prover.sharedSolutions = append(prover.sharedSolutions, solution)
}
