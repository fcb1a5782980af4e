package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// acceleratedIteration improves the known bounds by restarted GMRES, with about the work of the given number of sweeps.
// It stops after four slow restarts. It leaves bscc.bias unchanged.
func (bscc *bsccGain) acceleratedIteration(members []uint32, work int, known gainInterval, sweeps int) (lower, upper float64, err error) {
	// In reverse order of discovery, most transitions lead backwards, or to states nearby.
	ordered := slices.Sorted(slices.Values(members))
	slices.Reverse(ordered)
	saved := bscc.bias
	for i, s := range ordered {
		bscc.index.ofState[s] = uint32(i)
	}
	bscc.bias = make([]float64, len(ordered))
	for i, s := range members {
		bscc.bias[bscc.index.ofState[s]] = saved[i]
	}
	defer func() {
		bscc.index.reset(members)
		bscc.bias = saved
	}()
	err = bscc.iterateGMRES(ordered, work, &known, sweeps)
	return known.lower, known.upper, err
}

// iterateGMRES tightens the bounds by restarted GMRES. The order of the members is the order of the unknowns.
func (bscc *bsccGain) iterateGMRES(members []uint32, work int, bounds *gainInterval, sweeps int) error {
	const maxSlowRestarts, sweepsPerRestart = 4, 4
	solver, err := newGMRES(bscc, members)
	if err != nil {
		return err
	}
	countSweep := func() error {
		sweeps--
		bscc.meter.progress.Sweeps++
		return bscc.meter.addWork(work)
	}
	gain, residual := bounds.lower+(bounds.upper-bounds.lower)/2, math.Inf(1)
	for slowRestarts := 0; sweeps > 0 && slowRestarts < maxSlowRestarts; {
		newGain, newResidual, err := solver.restartCycle(gain, countSweep)
		if err != nil || newResidual == 0 {
			return err
		}
		gain = newGain
		for range sweepsPerRestart {
			bscc.sweep(members, gain)
			if err := countSweep(); err != nil {
				return err
			}
		}
		lower, upper := bscc.gainBounds(members)
		if math.IsNaN(lower) || math.IsNaN(upper) {
			return nil
		}
		oldWidth := bounds.upper - bounds.lower
		bounds.tighten(lower, upper)
		if bounds.converged(bscc.opts.epsilon()) {
			return nil
		}
		if newResidual > residual/2 && bounds.upper-bounds.lower > oldWidth/2 {
			slowRestarts++
		}
		residual = newResidual
	}
	return nil
}

// gmres solves the equations of a bottom strongly connected component for the bias and the gain together. An incomplete LU
// factorization is its preconditioner. The result has no error bound.
//
// Source: Saad and Schultz, GMRES (1986); Stewart, Introduction to the Numerical Solution of Markov
// Chains (1994), section 4.4.
type gmres struct {
	bscc           *bsccGain
	members        []uint32
	preconditioner *incompleteLU
	basis          []basisVector // allocated when needed
	// The least-squares problem: columns of the triangular factor, Givens rotations, and the rotated
	// right-hand side.
	triangle [][]float64
	cos, sin []float64
	rhs      []float64
}

// basisVector is a change of the bias, and of the gain.
type basisVector struct {
	bias []float64
	gain float64
}

const (
	krylovDimension   = 40   // number of basis vectors before a restart
	residualReduction = 1e-4 // relative residual at which a restart happens earlier
)

func newGMRES(bscc *bsccGain, members []uint32) (*gmres, error) {
	lu, err := newIncompleteLU(bscc.rewardSystem.graph, members, &bscc.index, bscc.meter)
	return &gmres{bscc: bscc, members: members, preconditioner: lu, basis: make([]basisVector, krylovDimension+1)}, err
}

// restartCycle runs GMRES from the current bias until its restart, and updates the bias. It returns a better gain and the initial residual.
// The residual is 0 if nothing changed. countSweep is called for each step.
func (gm *gmres) restartCycle(gain float64, countSweep func() error) (newGain, residual float64, err error) {
	gm.triangle, gm.cos, gm.sin, gm.rhs = nil, nil, nil, nil
	first := gm.basisVector(0)
	gm.solveResidual(first.bias, gm.bscc.bias, gain, gm.bscc.rewardSystem.reward)
	first.gain = 0 // so the sum of the bias does not change
	norm := math.Sqrt(gm.dot(first, first))
	if !(norm > 0) || math.IsInf(norm, 1) {
		return gain, 0, countSweep()
	}
	gm.scale(first, 1/norm)
	gm.rhs = append(gm.rhs, norm)
	for j := range krylovDimension {
		if err := countSweep(); err != nil {
			return gain, 0, err
		}
		if !gm.arnoldiStep(j) {
			break
		}
	}
	coeffs := gm.backSubstitute()
	newGain = gain
	for j, coeff := range coeffs {
		newGain += coeff * gm.basis[j].gain
	}
	if math.IsNaN(newGain) || math.IsInf(newGain, 0) {
		return gain, 0, nil
	}
	gm.updateBias(coeffs)
	return newGain, norm, nil
}

// updateBias adds a linear combination of the basis vectors to the bias.
func (gm *gmres) updateBias(coeffs []float64) {
	gm.forEachBlock(func(_, from, to int) {
		for j, coeff := range coeffs {
			basisBias := gm.basis[j].bias
			for i := from; i < to; i++ {
				gm.bscc.bias[i] += coeff * basisBias[i]
			}
		}
	})
}

// basisVector returns basis vector j. The first call allocates it.
func (gm *gmres) basisVector(j int) *basisVector {
	if gm.basis[j].bias == nil {
		gm.basis[j].bias = make([]float64, len(gm.members))
	}
	return &gm.basis[j]
}

// arnoldiStep adds basis vector j+1: the preconditioned matrix times vector j, orthogonalized against the earlier vectors.
// It returns false if the basis is complete or the residual is small enough.
func (gm *gmres) arnoldiStep(j int) bool {
	current, next := &gm.basis[j], gm.basisVector(j+1)
	gm.solveResidual(next.bias, current.bias, current.gain, nil)
	var sums [vectorBlocks]float64
	gm.forEachBlock(func(block, first, end int) {
		for i := first; i < end; i++ {
			next.bias[i] = -next.bias[i]
			sums[block] += current.bias[i]
		}
	})
	next.gain = sumBlocks(sums) / math.Sqrt(float64(len(current.bias)))
	column := make([]float64, j+2)
	for i := range column[:j+1] {
		column[i] = gm.dot(&gm.basis[i], next)
		gm.add(next, -column[i], &gm.basis[i])
	}
	norm := math.Sqrt(gm.dot(next, next))
	column[j+1] = norm
	if norm > 0 {
		gm.scale(next, 1/norm)
	}
	isRegular := gm.addColumn(j, column)
	return isRegular && norm > 0 && math.Abs(gm.rhs[j+1]) > residualReduction*math.Abs(gm.rhs[0])
}

// addColumn adds column j to the triangular factor of the least-squares problem. A new Givens rotation eliminates its last entry.
// It returns false, and adds nothing, if the last two entries are zero or overflow.
func (gm *gmres) addColumn(j int, column []float64) bool {
	for i := range j { // the earlier Givens rotations
		column[i], column[i+1] = gm.cos[i]*column[i]+gm.sin[i]*column[i+1], gm.cos[i]*column[i+1]-gm.sin[i]*column[i]
	}
	radius := math.Hypot(column[j], column[j+1])
	if !(radius > 0) || math.IsInf(radius, 1) {
		return false
	}
	gm.cos = append(gm.cos, column[j]/radius)
	gm.sin = append(gm.sin, column[j+1]/radius)
	column[j] = radius
	gm.triangle = append(gm.triangle, column[:j+1])
	gm.rhs = append(gm.rhs, -gm.sin[j]*gm.rhs[j])
	gm.rhs[j] *= gm.cos[j]
	return true
}

// backSubstitute returns the coefficients of the basis vectors that minimize the residual.
func (gm *gmres) backSubstitute() []float64 {
	coeffs := make([]float64, len(gm.triangle))
	for i := len(coeffs) - 1; i >= 0; i-- {
		coeffs[i] = gm.rhs[i]
		for j := i + 1; j < len(coeffs); j++ {
			coeffs[i] -= gm.triangle[j][i] * coeffs[j]
		}
		coeffs[i] /= gm.triangle[i][i]
	}
	return coeffs
}

// solveResidual sets result to the preconditioned residual of reward - gain - (D - R) bias. D has the exit rates, and R the weights between
// different members.
func (gm *gmres) solveResidual(result, bias []float64, gain float64, reward *sparse.Reward) {
	model, unknownOf := gm.bscc.rewardSystem.graph.Model, gm.bscc.index.ofState
	gm.forEachBlock(func(_, from, to int) {
		for k, s := range gm.members[from:to] {
			k += from
			sum, current := reward.OfChoice(int(s), int(s))-gain, bias[k]
			first, end := model.Start[s], model.Start[s+1]
			targets := model.Target[first:end]
			for i, weightID := range model.Weight[first:end] {
				sum += model.Weights[weightID] * (bias[unknownOf[targets[i]]] - current)
			}
			result[k] = sum
		}
	})
	gm.preconditioner.solve(result)
}

// vectorBlocks is the number of blocks of a vector that are computed concurrently. It must not depend on the machine,
// since results do depend on it.
const vectorBlocks = 2

// forEachBlock calls handleBlock for each block of the members, concurrently. The blocks are the same on every machine.
func (gm *gmres) forEachBlock(handleBlock func(block, from, to int)) {
	n := len(gm.members)
	inParallelParts(vectorBlocks, 1, func(from, to int) {
		for block := from; block < to; block++ {
			handleBlock(block, block*n/vectorBlocks, (block+1)*n/vectorBlocks)
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

// dot returns the scalar product of two vectors. It sums each block separately, so the result is the same on every machine.
func (gm *gmres) dot(leftVector, rightVector *basisVector) float64 {
	var sums [vectorBlocks]float64
	gm.forEachBlock(func(block, from, to int) {
		sum, rightBias := 0.0, rightVector.bias[from:to]
		for i, leftBias := range leftVector.bias[from:to] {
			sum += leftBias * rightBias[i]
		}
		sums[block] = sum
	})
	return sumBlocks(sums) + leftVector.gain*rightVector.gain
}

// add adds factor times term to sum.
func (gm *gmres) add(sum *basisVector, factor float64, term *basisVector) {
	sum.gain += factor * term.gain
	gm.forEachBlock(func(_, from, end int) {
		sumBias := sum.bias[from:end]
		for i, bias := range term.bias[from:end] {
			sumBias[i] += factor * bias
		}
	})
}

// scale multiplies a basis vector by a factor.
func (gm *gmres) scale(vector *basisVector, factor float64) {
	vector.gain *= factor
	gm.forEachBlock(func(_, from, to int) {
		for i := from; i < to; i++ {
			vector.bias[i] *= factor
		}
	})
}
