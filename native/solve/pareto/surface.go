package pareto

import (
	"context"
	"math/big"
	"slices"
)

// Surface bounds the achievable points. Convex combinations of Points, and everything below them, are
// achievable; every achievable point is below such a combination plus MaxDistance in every objective.
type Surface struct {
	Points      [][]*big.Rat
	MaxDistance *big.Rat
}

// maxVertices limits the vertices of the approximations.
const maxVertices = 2_000

// Surface approximates the achievable points by their extreme points. It repeatedly queries the oracle in the direction of the outer vertex
// that is farthest from the inner approximation. It stops if no such distance exceeds width times the greatest coordinate of the vertex, or
// after the given number of queries.
func (curve *Curve) Surface(ctx context.Context, width float64, queries int) (*Surface, error) {
	if err := curve.querySingleObjectives(ctx); err != nil {
		return nil, err
	}
	approx := &approximations{
		numObjectives: curve.numObjectives, outer: outerCone(curve.halfSpaces, curve.numObjectives),
		inner: innerCone(curve.points, curve.numObjectives), distances: map[*ray]*vertexDistance{},
	}
	for range queries {
		vertex, distance := approx.farthestVertex(width)
		if vertex == nil || len(approx.outer.rays)+len(approx.inner.rays) > maxVertices {
			break
		}
		if err := curve.queryVertex(ctx, approx, vertex, distance); err != nil {
			return nil, err
		}
	}
	// The distance from a convex set is convex, so no achievable point is farther away than the farthest vertex.
	surface := &Surface{Points: approx.undominatedPoints(curve.points), MaxDistance: new(big.Rat)}
	for _, ray := range approx.outer.rays {
		vertexDist := approx.distanceOf(ray)
		if vertexDist != nil && vertexDist.distance.Cmp(surface.MaxDistance) > 0 {
			surface.MaxDistance = vertexDist.distance
		}
	}
	return surface, ctx.Err()
}

// queryVertex queries the oracle with the weights of the inner facet that was used to measure the distance of an outer vertex. It adds the
// answer to both approximations. If neither improves, it sets cannotImprove for the vertex.
func (curve *Curve) queryVertex(ctx context.Context, both *approximations, vertex *ray, distance *vertexDistance) error {
	weights := curve.roundWeights(distance.facet.vector[:curve.numObjectives])
	oldBest := curve.greatestKnownValue(weights)
	answer, err := curve.queryOracle(ctx, weights)
	if err != nil {
		return err
	}
	constraint := curve.halfSpaces[len(curve.halfSpaces)-1].constraint()
	switch {
	case scalarProduct(constraint, vertex.vector).Sign() > 0:
		both.outer.addConstraint(constraint)
	case scalarProduct(weights, answer.Point).Cmp(oldBest) <= 0:
		distance.cannotImprove = true // the bounds of the oracle are too wide to improve either approximation here
	}
	both.inner.addConstraint(pointConstraint(answer.Point))
	return nil
}

// approximations are the outer and the inner approximation, as cones.
type approximations struct {
	numObjectives int
	outer, inner  *cone
	distances     map[*ray]*vertexDistance // cache of distanceOf
}

// vertexDistance is the distance of an outer vertex from the inner approximation, and the facet at
// which it is measured.
type vertexDistance struct {
	facet         *ray
	distance      *big.Rat
	cannotImprove bool // the oracle cannot reduce it
}

// farthestVertex returns the outer vertex with the greatest distance from the inner approximation, or nil if all distances are within the
// relative width.
func (approx *approximations) farthestVertex(width float64) (vertex *ray, farthest *vertexDistance) {
	for _, candidate := range approx.outer.rays {
		vertexDist := approx.distanceOf(candidate)
		if vertexDist == nil || vertexDist.cannotImprove {
			continue
		}
		tolerance := maxAbs(candidate.vector[:approx.numObjectives])
		tolerance.Mul(tolerance, new(big.Rat).SetFloat64(width))
		if vertexDist.distance.Cmp(tolerance) <= 0 {
			continue
		}
		if farthest == nil || vertexDist.distance.Cmp(farthest.distance) > 0 {
			vertex, farthest = candidate, vertexDist
		}
	}
	return vertex, farthest
}

// distanceOf returns the distance of an outer vertex from the inner approximation. It returns nil if the ray is not a vertex but a direction in which the
// outer approximation is unbounded.
func (approx *approximations) distanceOf(vertex *ray) *vertexDistance {
	if vertex.vector[approx.numObjectives].Sign() == 0 {
		return nil
	}
	if vertexDist := approx.distances[vertex]; vertexDist != nil && slices.Contains(approx.inner.rays, vertexDist.facet) {
		return vertexDist // its facet still exists, and it is still the farthest one, because new facets are nearer to the vertex
	}
	vertexDist := &vertexDistance{distance: new(big.Rat)}
	constraint := pointConstraint(vertex.vector[:approx.numObjectives])
	for _, facet := range approx.inner.rays {
		distance := scalarProduct(constraint, facet.vector)
		if vertexDist.facet == nil || distance.Cmp(vertexDist.distance) > 0 {
			vertexDist.facet = facet
			vertexDist.distance = distance
		}
	}
	if vertexDist.distance.Sign() < 0 {
		vertexDist.distance = new(big.Rat)
	}
	approx.distances[vertex] = vertexDist
	return vertexDist
}

// undominatedPoints returns the points that no convex combination of other points dominates. If several points are equal, it returns only
// the first.
func (approx *approximations) undominatedPoints(points [][]*big.Rat) [][]*big.Rat {
	// A point is undominated if it is the only point on all of its facets, and each objective has a positive weight in one of these facets.
	facets := make([]*big.Int, len(points))
	for index, point := range points {
		facets[index] = approx.facetsThrough(point)
	}
	var extremePoints [][]*big.Rat
	for index, point := range points {
		if approx.weightsAllObjectives(facets[index]) && !hasOtherPoint(facets, index) {
			extremePoints = append(extremePoints, point)
		}
	}
	return extremePoints
}

// hasOtherPoint reports whether another point lies on all facets of the point with the given index. Of several equal points, only those with smaller indices
// count, so that the first one is kept. facets[i] is the set of the facets of point i.
func hasOtherPoint(facets []*big.Int, index int) bool {
	for other := range facets {
		isOnFacets := new(big.Int).And(facets[index], facets[other]).Cmp(facets[index]) == 0
		isEqual := facets[index].Cmp(facets[other]) == 0
		if other != index && isOnFacets && (!isEqual || other < index) {
			return true
		}
	}
	return false
}

// facetsThrough returns the set of the facets of the inner approximation that contain a point.
func (approx *approximations) facetsThrough(point []*big.Rat) *big.Int {
	facets := new(big.Int)
	constraint := pointConstraint(point)
	for index, facet := range approx.inner.rays {
		if scalarProduct(constraint, facet.vector).Sign() == 0 {
			facets.SetBit(facets, index, 1)
		}
	}
	return facets
}

// weightsAllObjectives reports whether each objective has a positive weight in some facet of the set.
func (approx *approximations) weightsAllObjectives(facets *big.Int) bool {
	for i := range approx.numObjectives {
		if !approx.weightsObjective(facets, i) {
			return false
		}
	}
	return true
}

// weightsObjective reports whether objective i has a positive weight in some facet of the set.
func (approx *approximations) weightsObjective(facets *big.Int, objective int) bool {
	for index, facet := range approx.inner.rays {
		if facets.Bit(index) == 1 && facet.vector[objective].Sign() > 0 {
			return true
		}
	}
	return false
}
