package pareto

import (
	"math/big"
	"slices"
)

// cone is a polyhedral cone, given by its extreme rays: the vectors for which some linear functions are
// at most zero. A polytope is such a cone with one more coordinate: a point x is the ray (x, 1), a
// direction d is (d, 0).
//
// Source: the double description method (Motzkin, Raiffa, Thompson and Thrall 1953; Fukuda and Prodon,
// Double description method revisited, 1996).
type cone struct {
	numConstraints int
	rays           []*ray
	// normOf returns the number by which a new ray is divided, unless the number is zero.
	normOf func(vector []*big.Rat) *big.Rat
}

// ray is an extreme ray. tightConstraints is the set of constraints that are zero on it.
type ray struct {
	vector           []*big.Rat
	tightConstraints *big.Int
}

// outerCone returns the cone of the intersection of half-spaces, which contains all achievable points. The first half-spaces must be the
// upper bounds on the single objectives: their intersection has one vertex and is unbounded downwards.
func outerCone(planes []halfSpace, numObjectives int) *cone {
	lastCoordinate := func(vector []*big.Rat) *big.Rat { return vector[numObjectives] }
	vertex := append(zeros(numObjectives), one())
	rays := [][]*big.Rat{vertex}
	for i := range numObjectives {
		vertex[i] = planes[i].bound
		ray := zeros(numObjectives + 1)
		ray[i].SetInt64(-1)
		rays = append(rays, ray)
	}
	outer := simplicialCone(rays, lastCoordinate)
	for _, plane := range planes[numObjectives:] {
		outer.addConstraint(plane.constraint())
	}
	return outer
}

// constraint returns the linear function that is at most zero in the half-space.
func (halfSpace halfSpace) constraint() []*big.Rat {
	return append(slices.Clone(halfSpace.weights), new(big.Rat).Neg(halfSpace.bound))
}

// innerCone returns the cone of all half-spaces that contain the known points. A ray of the cone is a half-space: its weights, followed by
// its bound.
func innerCone(points [][]*big.Rat, numObjectives int) *cone {
	weightSum := func(vector []*big.Rat) *big.Rat {
		sum := new(big.Rat)
		for _, weight := range vector[:numObjectives] {
			sum.Add(sum, weight)
		}
		return sum
	}
	rays := [][]*big.Rat{append(zeros(numObjectives), one())} // this ray is not a half-space; with it there are as many rays as dimensions
	for i := range numObjectives {
		rays = append(rays, append(unitVector(numObjectives, i), points[0][i]))
	}
	inner := simplicialCone(rays, weightSum)
	for _, point := range points[1:] {
		inner.addConstraint(pointConstraint(point))
	}
	return inner
}

// pointConstraint returns a linear function of half-spaces. It is at most zero for the half-spaces that contain the point.
func pointConstraint(values []*big.Rat) []*big.Rat {
	return append(slices.Clone(values), big.NewRat(-1, 1))
}

// simplicialCone returns the cone whose extreme rays are the given linearly independent vectors. It has as many constraints as rays; constraint i is zero on
// all rays except ray i. norm returns the number by which the vector of a new ray is divided.
func simplicialCone(rays [][]*big.Rat, norm func(vector []*big.Rat) *big.Rat) *cone {
	result := &cone{numConstraints: len(rays), normOf: norm}
	for i, vector := range rays {
		tight := new(big.Int).Lsh(big.NewInt(1), uint(len(rays)))
		tight.Sub(tight, big.NewInt(1)) // the set of all constraints
		result.rays = append(result.rays, &ray{vector, tight.SetBit(tight, i, 0)})
	}
	return result
}

// addConstraint restricts the cone to the vectors v with constraint·v <= 0, by one step of the double description method: it removes the
// rays outside, and adds a ray on each edge that crosses the plane constraint·v = 0.
func (cone *cone) addConstraint(constraint []*big.Rat) {
	var outside, remaining []*ray
	values := map[*ray]*big.Rat{}
	for _, current := range cone.rays {
		values[current] = scalarProduct(constraint, current.vector)
		switch values[current].Sign() {
		case 1:
			outside = append(outside, current)
		case 0:
			current.tightConstraints.SetBit(current.tightConstraints, cone.numConstraints, 1)
			remaining = append(remaining, current)
		case -1:
			remaining = append(remaining, current)
		}
	}
	var added []*ray
	for _, first := range outside {
		for _, second := range remaining {
			commonConstraints := new(big.Int).And(first.tightConstraints, second.tightConstraints)
			if values[second].Sign() < 0 && cone.isEdge(commonConstraints) { // the edge crosses the plane, where a new ray begins
				vector := cone.intersection(first, second, values[first], values[second])
				added = append(added, &ray{vector, commonConstraints.SetBit(commonConstraints, cone.numConstraints, 1)})
			}
		}
	}
	cone.numConstraints++
	cone.rays = append(remaining, added...)
}

// isEdge reports whether two rays span an edge of the cone. commonConstraints is the set of the constraints that are zero on both rays. They span an edge if
// no third ray is zero on all these constraints.
func (cone *cone) isEdge(commonConstraints *big.Int) bool {
	count := 0
	intersection := new(big.Int)
	for _, ray := range cone.rays {
		if intersection.And(commonConstraints, ray.tightConstraints).Cmp(commonConstraints) == 0 {
			count++
		}
	}
	return count == 2
}

// intersection returns the vector between two rays on which a constraint is zero. The constraint has the value firstValue > 0 on the first ray, and
// secondValue < 0 on the second.
func (cone *cone) intersection(first, second *ray, firstValue, secondValue *big.Rat) []*big.Rat {
	point := make([]*big.Rat, len(first.vector))
	term := new(big.Rat)
	for i := range point {
		point[i] = new(big.Rat).Mul(second.vector[i], firstValue)
		point[i].Sub(point[i], term.Mul(first.vector[i], secondValue))
	}
	if norm := cone.normOf(point); norm.Sign() > 0 {
		norm = new(big.Rat).Set(norm) // a copy, because norm may be one of the coordinates that are divided
		for _, coordinate := range point {
			coordinate.Quo(coordinate, norm)
		}
	}
	return point
}
