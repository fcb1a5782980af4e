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
	// norm returns what a new ray is divided by, unless it is zero.
	norm func(at []*big.Rat) *big.Rat
}

// ray is an extreme ray. tight is the set of constraints that are zero on it.
type ray struct {
	vector []*big.Rat
	tight  *big.Int
}

// outerCone returns the cone of the intersection of half-spaces. The first ones must be those of each
// single objective: they have one vertex, and are unbounded downwards.
func outerCone(planes []halfSpace, objectives int) *cone {
	lastCoordinate := func(at []*big.Rat) *big.Rat { return at[objectives] }
	vertex := append(zeros(objectives), one())
	rays := [][]*big.Rat{vertex}
	for i := range objectives {
		vertex[i] = planes[i].bound
		ray := zeros(objectives + 1)
		ray[i].SetInt64(-1)
		rays = append(rays, ray)
	}
	c := simplicialCone(rays, lastCoordinate)
	for _, x := range planes[objectives:] {
		c.addConstraint(x.constraint())
	}
	return c
}

// constraint returns the linear function that is at most zero in the half-space.
func (x halfSpace) constraint() []*big.Rat {
	return append(slices.Clone(x.weights), new(big.Rat).Neg(x.bound))
}

// innerCone returns the cone of the half-spaces that contain some points, as weights and bound. One of
// its rays has weights 0 and means nothing.
func innerCone(points [][]*big.Rat, objectives int) *cone {
	weightSum := func(at []*big.Rat) *big.Rat {
		out := new(big.Rat)
		for _, x := range at[:objectives] {
			out.Add(out, x)
		}
		return out
	}
	rays := [][]*big.Rat{append(zeros(objectives), one())}
	for i := range objectives {
		rays = append(rays, append(unitVector(objectives, i), points[0][i]))
	}
	c := simplicialCone(rays, weightSum)
	for _, x := range points[1:] {
		c.addConstraint(pointConstraint(x))
	}
	return c
}

// pointConstraint returns the linear function that is at most zero for the half-spaces that contain
// point x.
func pointConstraint(x []*big.Rat) []*big.Rat { return append(slices.Clone(x), big.NewRat(-1, 1)) }

// simplicialCone returns the cone of as many rays as there are coordinates. Constraint i is zero on all
// rays but ray i.
func simplicialCone(rays [][]*big.Rat, norm func([]*big.Rat) *big.Rat) *cone {
	c := &cone{numConstraints: len(rays), norm: norm}
	for i, vector := range rays {
		tight := new(big.Int).Lsh(big.NewInt(1), uint(len(rays)))
		tight.Sub(tight, big.NewInt(1))
		c.rays = append(c.rays, &ray{vector, tight.SetBit(tight, i, 0)})
	}
	return c
}

// addConstraint restricts the cone to the vectors on which a linear function is at most zero. New rays
// lie on edges between removed and kept ones.
func (c *cone) addConstraint(constraint []*big.Rat) {
	var removed, kept []*ray
	values := map[*ray]*big.Rat{}
	for _, x := range c.rays {
		values[x] = dot(constraint, x.vector)
		switch values[x].Sign() {
		case 1:
			removed = append(removed, x)
			continue
		case 0:
			x.tight.SetBit(x.tight, c.numConstraints, 1)
		}
		kept = append(kept, x)
	}
	var added []*ray
	for _, x := range removed {
		for _, y := range kept {
			if values[y].Sign() == 0 {
				continue
			}
			if common := new(big.Int).And(x.tight, y.tight); c.adjacent(common) {
				common.SetBit(common, c.numConstraints, 1)
				added = append(added, &ray{c.intersection(x, y, values[x], values[y]), common})
			}
		}
	}
	c.numConstraints++
	c.rays = append(kept, added...)
}

// adjacent reports whether only two rays satisfy all the given constraints with equality, so that they
// span an edge.
func (c *cone) adjacent(common *big.Int) bool {
	count := 0
	both := new(big.Int)
	for _, x := range c.rays {
		if both.And(common, x.tight).Cmp(common) == 0 {
			count++
		}
	}
	return count == 2
}

// intersection returns the point of an edge at which a constraint is zero. above and under are its
// values on the two rays.
func (c *cone) intersection(x, y *ray, above, under *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(x.vector))
	term := new(big.Rat)
	for i := range out {
		out[i] = new(big.Rat).Mul(y.vector[i], above)
		out[i].Sub(out[i], term.Mul(x.vector[i], under))
	}
	if size := c.norm(out); size.Sign() > 0 {
		size = new(big.Rat).Set(size)
		for _, v := range out {
			v.Quo(v, size)
		}
	}
	return out
}
