package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// acceleratedIteration returns tighter bounds on the gain, which it computes by restarted GMRES. It stops after about the work of maxSweeps sweeps, or after
// two slow restarts. sweepWork is the work of one sweep. It does not change bscc.bias.
func (bscc *bsccGain) acceleratedIteration(members []uint32, sweepWork int, bounds gainInterval, maxSweeps int) (lower, upper float64, err error) {
	savedBias := bscc.bias
	bscc.bias = slices.Clone(savedBias)
	bscc.index.setUnknowns(members)
	defer func() {
		bscc.index.clearUnknowns(members)
		bscc.bias = savedBias
	}()
	err = bscc.iterateGMRES(members, sweepWork, &bounds, maxSweeps)
	return bounds.lower, bounds.upper, err
}

// iterateGMRES tightens bounds on the gain by restarted GMRES. It stops after about the work of remainingSweeps sweeps; sweepWork is the work of one sweep.
// The unknowns have the order of members.
func (bscc *bsccGain) iterateGMRES(members []uint32, sweepWork int, bounds *gainInterval, remainingSweeps int) error {
	const maxSlowRestarts = 2
	solver, err := newGMRES(bscc, members)
	if err != nil {
		return err
	}
	countSweep := func() error {
		remainingSweeps--
		bscc.meter.progress.Sweeps++
		return bscc.meter.addWork(sweepWork)
	}
	gain, residual := bounds.lower+(bounds.upper-bounds.lower)/2, math.Inf(1)
	for slowRestarts := 0; remainingSweeps > 0 && slowRestarts < maxSlowRestarts; {
		newGain, newResidual, err := solver.restartCycle(gain, countSweep)
		if err != nil || newResidual == 0 {
			return err
		}
		gain = newGain
		if err := bscc.smoothBias(members, gain, countSweep); err != nil {
			return err
		}
		lower, upper := bscc.gainBounds(members)
		if math.IsNaN(lower) || math.IsNaN(upper) {
			return nil
		}
		oldWidth := bounds.upper - bounds.lower
		bounds.tighten(lower, upper)
		if bounds.hasConverged(bscc.opts.epsilon()) {
			return nil
		}
		if newResidual > residual/2 && bounds.upper-bounds.lower > oldWidth/2 {
			slowRestarts++
		}
		residual = newResidual
	}
	return nil
}

// smoothBias improves the bias by a few Gauss-Seidel sweeps with the given gain. It calls countSweep after each sweep.
func (bscc *bsccGain) smoothBias(members []uint32, gain float64, countSweep func() error) error {
	const sweepsPerRestart = 4
	for range sweepsPerRestart {
		bscc.sweep(members, gain)
		if err := countSweep(); err != nil {
			return err
		}
	}
	return nil
}

// gmres solves the equations of a bottom strongly connected component for the bias and the gain together. An incomplete LU
// factorization is its preconditioner. The result has no error bound.
//
// Source: Saad and Schultz, GMRES (1986); Stewart, Introduction to the Numerical Solution of Markov
// Chains (1994), section 4.4; a basis with few digits: Aliaga, Anzt, Grützmacher, Quintana-Ortí and Tomás, Compressed basis GMRES on
// high-performance graphics processing units (2023).
type gmres struct {
	bscc           *bsccGain
	members        []uint32
	preconditioner *incompleteLU
	basis          []basisVector[float32] // orthonormal, as far as its digits allow
	current        basisVector[float64]   // the last vector of the basis
	next           basisVector[float64]   // the vector that becomes the next one of the basis
	// The least-squares problem: columns of the triangular factor, Givens rotations, and the rotated
	// right-hand side.
	triangle  [][]float64
	cos, sin  []float64
	rightSide []float64
}

// basisVector is a change of the bias, and of the gain.
type basisVector[T float32 | float64] struct {
	bias []T
	gain float64
}

const (
	krylovDimension   = 18   // number of basis vectors before a restart
	residualReduction = 1e-4 // relative residual at which a restart happens earlier
)

func newGMRES(bscc *bsccGain, members []uint32) (*gmres, error) {
	lu, err := newIncompleteLU(bscc.rewardSystem.graph, members, &bscc.index, bscc.meter)
	if err != nil {
		return nil, err
	}
	solver := &gmres{bscc: bscc, members: members, preconditioner: lu}
	solver.current.bias, solver.next.bias = make([]float64, len(members)), make([]float64, len(members))
	return solver, nil
}

// restartCycle runs GMRES from the current bias and gain until its restart. It updates the bias, and returns the improved gain and the norm of the residual
// at its start, which is 0 if nothing changed. It calls countSweep for each step.
func (solver *gmres) restartCycle(gain float64, countSweep func() error) (newGain, residual float64, err error) {
	solver.triangle, solver.cos, solver.sin, solver.rightSide = nil, nil, nil, nil
	solver.solveResidual(solver.next.bias, solver.bscc.bias, gain, solver.bscc.rewardSystem.reward)
	solver.next.gain = 0 // the residual of the equation that keeps the sum of the bias constant
	norm := solver.nextNorm()
	if !(norm > 0) || math.IsInf(norm, 1) {
		return gain, 0, countSweep()
	}
	solver.addNext(0, norm)
	solver.rightSide = append(solver.rightSide, norm)
	for step := range krylovDimension {
		if err := countSweep(); err != nil {
			return gain, 0, err
		}
		if !solver.arnoldiStep(step) {
			break
		}
	}
	coefficients := solver.backSubstitute()
	newGain = gain
	for vectorIndex, coefficient := range coefficients {
		newGain += coefficient * solver.basis[vectorIndex].gain
	}
	if math.IsNaN(newGain) || math.IsInf(newGain, 0) {
		return gain, 0, nil
	}
	solver.updateBias(coefficients)
	return newGain, norm, nil
}

// updateBias adds the linear combination of the basis vectors with the given coefficients to the bias.
func (solver *gmres) updateBias(coefficients []float64) {
	solver.forEachBlock(func(_, from, to int) {
		for vectorIndex, coefficient := range coefficients {
			basisBias := solver.basis[vectorIndex].bias
			for i := from; i < to; i++ {
				solver.bscc.bias[i] += coefficient * float64(basisBias[i])
			}
		}
	})
}

// addNext divides solver.next by its norm, rounds it to float32, and stores it as the basis vector with the given index and as solver.current.
func (solver *gmres) addNext(index int, norm float64) {
	if index == len(solver.basis) {
		solver.basis = append(solver.basis, basisVector[float32]{bias: make([]float32, len(solver.members))})
	}
	added, scale := &solver.basis[index], 1/norm
	added.gain = solver.next.gain * scale
	solver.current.gain = added.gain
	solver.forEachBlock(func(_, from, to int) {
		basisBias, currentBias := added.bias[from:to], solver.current.bias[from:to]
		for i, bias := range solver.next.bias[from:to] {
			basisBias[i] = float32(bias * scale)
			currentBias[i] = float64(basisBias[i])
		}
	})
}

// arnoldiStep performs one Arnoldi step of GMRES. It multiplies the last basis vector, whose index is lastIndex, by the preconditioned matrix, and makes the product
// orthogonal to all basis vectors. The result becomes the next basis vector. It returns false, and adds no vector, if the basis is complete or the residual is small enough.
func (solver *gmres) arnoldiStep(lastIndex int) bool {
	current, next := &solver.current, &solver.next
	solver.solveResidual(next.bias, current.bias, current.gain, nil)
	var sums [vectorBlocks]float64
	solver.forEachBlock(func(block, first, end int) {
		for i := first; i < end; i++ {
			next.bias[i] = -next.bias[i] // the residual for reward 0 is minus the matrix-vector product
			sums[block] += current.bias[i]
		}
	})
	next.gain = sumBlocks(sums) / math.Sqrt(float64(len(current.bias))) // the last row of the matrix fixes the sum of the bias
	column := make([]float64, lastIndex+2)
	for i := range column[:lastIndex+1] {
		column[i] = solver.removeComponent(&solver.basis[i])
	}
	norm := solver.nextNorm()
	column[lastIndex+1] = norm
	isRegular, isLast := solver.addColumn(lastIndex, column), lastIndex+1 == krylovDimension
	if !isRegular || isLast || !(norm > 0) || math.Abs(solver.rightSide[lastIndex+1]) <= residualReduction*math.Abs(solver.rightSide[0]) {
		return false
	}
	solver.addNext(lastIndex+1, norm)
	return true
}

// addColumn adds column lastIndex to the triangular factor of the least-squares problem. A new Givens rotation eliminates its lowest entry. It
// returns false, and adds nothing, if the two lowest entries are both zero or overflow.
func (solver *gmres) addColumn(lastIndex int, entries []float64) bool {
	for i := range lastIndex { // apply the earlier Givens rotations to the new column
		entries[i], entries[i+1] = solver.cos[i]*entries[i]+solver.sin[i]*entries[i+1], solver.cos[i]*entries[i+1]-solver.sin[i]*entries[i]
	}
	radius := math.Hypot(entries[lastIndex], entries[lastIndex+1])
	if !(radius > 0) || math.IsInf(radius, 1) {
		return false
	}
	solver.cos = append(solver.cos, entries[lastIndex]/radius)
	solver.sin = append(solver.sin, entries[lastIndex+1]/radius)
	entries[lastIndex] = radius
	solver.triangle = append(solver.triangle, entries[:lastIndex+1])
	solver.rightSide = append(solver.rightSide, -solver.sin[lastIndex]*solver.rightSide[lastIndex])
	solver.rightSide[lastIndex] *= solver.cos[lastIndex]
	return true
}

// backSubstitute returns the coefficients of the basis vectors that minimize the residual. It solves the triangular system of the rotated
// least-squares problem.
func (solver *gmres) backSubstitute() []float64 {
	coefficients := make([]float64, len(solver.triangle))
	for i := len(coefficients) - 1; i >= 0; i-- {
		coefficients[i] = solver.rightSide[i]
		for column := i + 1; column < len(coefficients); column++ {
			coefficients[i] -= solver.triangle[column][i] * coefficients[column]
		}
		coefficients[i] /= solver.triangle[i][i]
	}
	return coefficients
}

// solveResidual computes the residual reward - gain - (D - R) bias and applies the preconditioner to it. D is the diagonal matrix of the exit rates, and R
// has the weights between different members. A nil reward counts as 0.
func (solver *gmres) solveResidual(result, bias []float64, gain float64, reward *sparse.Reward) {
	model, unknowns := solver.bscc.rewardSystem.graph.Model, solver.bscc.index.unknowns
	solver.forEachBlock(func(_, from, to int) {
		for offset, s := range solver.members[from:to] {
			offset += from
			sum, ownBias := reward.ChoiceTotal(int(s), int(s))-gain, bias[offset]
			first, end := model.FirstTransition[s], model.FirstTransition[s+1]
			targets := model.Target[first:end]
			for i, weightID := range model.WeightIndex[first:end] {
				sum += model.Weights[weightID] * (bias[unknowns[targets[i]]] - ownBias)
			}
			result[offset] = sum
		}
	})
	solver.preconditioner.solve(result)
}

// vectorBlocks is the number of blocks of a vector that are computed concurrently. It must not depend on the machine,
// since results do depend on it.
const vectorBlocks = 2

// forEachBlock calls handleBlock for each block of the members, concurrently. The division into blocks does not depend on the number of processors, so sums
// over blocks are reproducible.
func (solver *gmres) forEachBlock(handleBlock func(block, from, to int)) {
	numMembers := len(solver.members)
	inParallelParts(vectorBlocks, 1, func(from, to int) {
		for block := from; block < to; block++ {
			handleBlock(block, block*numMembers/vectorBlocks, (block+1)*numMembers/vectorBlocks)
		}
	})
}

// sumBlocks adds up the partial sums of the blocks.
func sumBlocks(sums [vectorBlocks]float64) (sum float64) {
	for _, value := range sums {
		sum += value
	}
	return sum
}

// removeComponent makes solver.next orthogonal to a basis vector, and returns their scalar product before that. It sums each block separately, so that rounding
// errors do not depend on the number of processors.
func (solver *gmres) removeComponent(vector *basisVector[float32]) float64 {
	next := &solver.next
	var sums [vectorBlocks]float64
	solver.forEachBlock(func(block, from, to int) {
		sum, nextBias := 0.0, next.bias[from:to]
		for i, bias := range vector.bias[from:to] {
			sum += float64(bias) * nextBias[i]
		}
		sums[block] = sum
	})
	product := sumBlocks(sums) + vector.gain*next.gain
	next.gain -= product * vector.gain
	solver.forEachBlock(func(_, from, to int) {
		nextBias := next.bias[from:to]
		for i, bias := range vector.bias[from:to] {
			nextBias[i] -= product * float64(bias)
		}
	})
	return product
}

// nextNorm returns the Euclidean norm of solver.next.
func (solver *gmres) nextNorm() float64 {
	var sums [vectorBlocks]float64
	solver.forEachBlock(func(block, from, to int) {
		sum := 0.0
		for _, bias := range solver.next.bias[from:to] {
			sum += bias * bias
		}
		sums[block] = sum
	})
	return math.Sqrt(sumBlocks(sums) + solver.next.gain*solver.next.gain)
}
