package pareto

import (
	"math/big"
	"slices"
)

// cone is a cone of vectors on which some linear functions are at most zero, by its
// extreme rays. Polytopes are such, with one number more: a place x has (x, 1), a
// direction d has (d, 0).
//
// Source: the double description method (Motzkin, Raiffa, Thompson and Thrall 1953; Fukuda
// and Prodon, Double description method revisited, 1996).
type cone struct {
	cuts int
	rays []*ray
	// size is what a ray is divided by, unless it is zero.
	size func(at []*big.Rat) *big.Rat
}

// ray is an extreme ray, on which the functions of a set are zero.
type ray struct {
	at    []*big.Rat
	tight *big.Int
}

// outer returns the cone of the polytope that some planes leave, of which the first are
// those of each aim alone: that has one corner, and goes on for ever where an aim gets less.
func outer(planes []plane, aims int) *cone {
	last := func(at []*big.Rat) *big.Rat { return at[aims] }
	corner := append(zeros(aims), one())
	rays := [][]*big.Rat{corner}
	for i := range aims {
		corner[i] = planes[i].bound
		down := zeros(aims + 1)
		down[i].SetInt64(-1)
		rays = append(rays, down)
	}
	c := simplex(rays, last)
	for _, x := range planes[aims:] {
		c.cut(x.function())
	}
	return c
}

// function is what is at most zero below a plane.
func (x plane) function() []*big.Rat {
	return append(slices.Clone(x.weights), new(big.Rat).Neg(x.bound))
}

// inner returns the cone of the planes that some points are below, as weights and bound. One of its
// rays has no weights, which says nothing.
func inner(points [][]*big.Rat, aims int) *cone {
	sum := func(at []*big.Rat) *big.Rat {
		out := new(big.Rat)
		for _, x := range at[:aims] {
			out.Add(out, x)
		}
		return out
	}
	rays := [][]*big.Rat{append(zeros(aims), one())}
	for i := range aims {
		rays = append(rays, append(unit(aims, i), points[0][i]))
	}
	c := simplex(rays, sum)
	for _, x := range points[1:] {
		c.cut(above(x))
	}
	return c
}

// above is what is at most zero for planes that a point is below.
func above(x []*big.Rat) []*big.Rat { return append(slices.Clone(x), big.NewRat(-1, 1)) }

// simplex returns the cone of as many rays as there are numbers. All of its functions but one are zero
// on each: function 0 is not zero on the first, and so on.
func simplex(rays [][]*big.Rat, size func([]*big.Rat) *big.Rat) *cone {
	c := &cone{cuts: len(rays), size: size}
	for i, at := range rays {
		all := new(big.Int).Lsh(big.NewInt(1), uint(len(rays)))
		all.Sub(all, big.NewInt(1))
		c.rays = append(c.rays, &ray{at, all.SetBit(all, i, 0)})
	}
	return c
}

// cut takes away where a function is positive. New rays are where it is zero on an edge.
func (c *cone) cut(by []*big.Rat) {
	var beyond, kept []*ray
	over := map[*ray]*big.Rat{}
	for _, x := range c.rays {
		over[x] = dot(by, x.at)
		switch over[x].Sign() {
		case 1:
			beyond = append(beyond, x)
			continue
		case 0:
			x.tight.SetBit(x.tight, c.cuts, 1)
		}
		kept = append(kept, x)
	}
	var found []*ray
	for _, x := range beyond {
		for _, y := range kept {
			if over[y].Sign() == 0 {
				continue
			}
			if common := new(big.Int).And(x.tight, y.tight); c.edge(common) {
				common.SetBit(common, c.cuts, 1)
				found = append(found, &ray{c.between(x, y, over[x], over[y]), common})
			}
		}
	}
	c.cuts++
	c.rays = append(kept, found...)
}

// edge reports whether two rays are all that some functions are zero on.
func (c *cone) edge(common *big.Int) bool {
	on := 0
	both := new(big.Int)
	for _, x := range c.rays {
		if both.And(common, x.tight).Cmp(common) == 0 {
			on++
		}
	}
	return on == 2
}

// between returns the sum of two rays on which a function is zero.
func (c *cone) between(x, y *ray, above, under *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(x.at))
	term := new(big.Rat)
	for i := range out {
		out[i] = new(big.Rat).Mul(y.at[i], above)
		out[i].Sub(out[i], term.Mul(x.at[i], under))
	}
	if size := c.size(out); size.Sign() > 0 {
		size = new(big.Rat).Set(size)
		for _, v := range out {
			v.Quo(v, size)
		}
	}
	return out
}
