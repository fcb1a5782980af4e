package pareto

import (
	"context"
	"math/big"
	"slices"
)

// Surface bounds the achievable points. Convex combinations of Points, and everything below them, are
// achievable; every achievable point is below such a combination plus Beyond in every objective.
type Surface struct {
	Points [][]*big.Rat
	Beyond *big.Rat
}

// maxVertices limits the vertices of the approximations.
const maxVertices = 2_000

// Surface computes the extreme achievable points. It repeatedly queries the oracle in the direction of
// the outer vertex that is farthest from the inner approximation, until none is farther than width
// times its greatest coordinate, or the number of queries is reached.
//
// The distance from a convex set is a convex function, so no achievable point is farther away than the
// farthest vertex.
func (c *Curve) Surface(ctx context.Context, width float64, queries int) (*Surface, error) {
	for i := len(c.halfSpaces); i < c.objectives; i++ { // first the maximum of each objective
		if _, err := c.query(ctx, unitVector(c.objectives, i)); err != nil {
			return nil, err
		}
	}
	s := &approximations{objectives: c.objectives, outer: outerCone(c.halfSpaces, c.objectives), inner: innerCone(c.points, c.objectives), distances: map[*ray]*vertexDistance{}}
	for range queries {
		vertex, dist := s.farthest(width)
		if vertex == nil || len(s.outer.rays)+len(s.inner.rays) > maxVertices {
			break
		}
		weights := c.roundWeights(dist.facet.vector[:c.objectives])
		oldBest := c.greatestKnown(weights)
		a, err := c.query(ctx, weights)
		if err != nil {
			return nil, err
		}
		last := c.halfSpaces[len(c.halfSpaces)-1].constraint()
		switch {
		case dot(last, vertex.vector).Sign() > 0:
			s.outer.addConstraint(last)
		case dot(weights, a.Point).Cmp(oldBest) <= 0:
			dist.final = true // no progress: the oracle's bounds are too wide
		}
		s.inner.addConstraint(pointConstraint(a.Point))
	}
	out := &Surface{Points: s.extremePoints(c.points), Beyond: new(big.Rat)}
	for _, x := range s.outer.rays {
		if d := s.distanceOf(x); d != nil && d.distance.Cmp(out.Beyond) > 0 {
			out.Beyond = d.distance
		}
	}
	return out, ctx.Err()
}

// approximations are the outer and the inner approximation, as cones.
type approximations struct {
	objectives   int
	outer, inner *cone
	distances    map[*ray]*vertexDistance // cache of distanceOf
}

// vertexDistance is the distance of an outer vertex from the inner approximation, and the facet at
// which it is measured.
type vertexDistance struct {
	facet    *ray
	distance *big.Rat
	final    bool // the oracle cannot reduce it
}

// farthest returns the outer vertex with the greatest distance, nil if all are near enough.
func (s *approximations) farthest(width float64) (vertex *ray, farthest *vertexDistance) {
	for _, x := range s.outer.rays {
		d := s.distanceOf(x)
		if d == nil || d.final {
			continue
		}
		magnitude := new(big.Rat)
		for _, v := range x.vector[:s.objectives] {
			if a := new(big.Rat).Abs(v); a.Cmp(magnitude) > 0 {
				magnitude = a
			}
		}
		tolerance := magnitude.Mul(magnitude, new(big.Rat).SetFloat64(width))
		if d.distance.Cmp(tolerance) > 0 && (farthest == nil || d.distance.Cmp(farthest.distance) > 0) {
			vertex, farthest = x, d
		}
	}
	return vertex, farthest
}

// distanceOf returns how far a vertex of the outer approximation lies beyond the inner one; nil for a
// ray, which has none. A cached distance stays valid as long as its facet exists, since new facets are
// nearer.
func (s *approximations) distanceOf(x *ray) *vertexDistance {
	if x.vector[s.objectives].Sign() == 0 {
		return nil
	}
	if d := s.distances[x]; d != nil && slices.Contains(s.inner.rays, d.facet) {
		return d
	}
	d := &vertexDistance{distance: new(big.Rat)}
	constraint := pointConstraint(x.vector[:s.objectives])
	for _, f := range s.inner.rays {
		if dist := dot(constraint, f.vector); d.facet == nil || dist.Cmp(d.distance) > 0 {
			d.facet, d.distance = f, dist
		}
	}
	if d.distance.Sign() < 0 {
		d.distance = new(big.Rat)
	}
	s.distances[x] = d
	return d
}

// extremePoints returns the points that are not below convex combinations of the others: no other point
// is on all of its facets, and its facets together give every objective a positive weight.
func (s *approximations) extremePoints(points [][]*big.Rat) [][]*big.Rat {
	facets := make([]*big.Int, len(points))
	weighted := make([][]bool, len(points))
	for j, p := range points {
		facets[j], weighted[j] = new(big.Int), make([]bool, s.objectives)
		constraint := pointConstraint(p)
		for k, f := range s.inner.rays {
			if dot(constraint, f.vector).Sign() != 0 {
				continue
			}
			facets[j].SetBit(facets[j], k, 1)
			for i, w := range f.vector[:s.objectives] {
				weighted[j][i] = weighted[j][i] || w.Sign() > 0
			}
		}
	}
	var out [][]*big.Rat
	for j, p := range points {
		dominated := func(k int) bool { // the first of equal points is kept
			return k != j && new(big.Int).And(facets[j], facets[k]).Cmp(facets[j]) == 0 && (facets[j].Cmp(facets[k]) != 0 || k < j)
		}
		if slices.Contains(weighted[j], false) || slices.ContainsFunc(indices(points), dominated) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func indices[T any](list []T) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}
