package pareto

import (
	"context"
	"math/big"
	"slices"
)

// Surface is what bounds the points that can be had: means of Points and everything below
// can be had, and whatever can be had is below such a mean raised by Beyond in every aim.
type Surface struct {
	Points [][]*big.Rat
	Beyond *big.Rat
}

// maxCorners is the number of corners of a polytope at which questions end.
const maxCorners = 2_000

// Surface finds the corners of what can be had. It asks beyond the corner of the polytope
// from outside that is farthest from the one from inside, until none is farther than
// width times its greatest number, or so many questions have been asked: how far the
// farthest is then is said.
//
// What can be had is below means of corners, and the distance from a convex set is a convex
// function, so that no point is farther than the farthest corner.
func (c *Curve) Surface(ctx context.Context, width float64, questions int) (*Surface, error) {
	for i := len(c.planes); i < c.aims; i++ { // a box to begin with
		if _, err := c.ask(ctx, unit(c.aims, i)); err != nil {
			return nil, err
		}
	}
	s := &shells{aims: c.aims, outer: outer(c.planes, c.aims), inner: inner(c.points, c.aims), far: map[*ray]*distance{}}
	for range questions {
		far, by := s.farthest(width)
		if far == nil || len(s.outer.rays)+len(s.inner.rays) > maxCorners {
			break
		}
		weights := c.round(by.facet.at[:c.aims])
		known := c.most(weights)
		a, err := c.ask(ctx, weights)
		if err != nil {
			return nil, err
		}
		last := c.planes[len(c.planes)-1].function()
		switch {
		case dot(last, far.at).Sign() > 0:
			s.outer.cut(last)
		case dot(weights, a.Point).Cmp(known) <= 0:
			by.settled = true // nothing new: the bounds of the oracle are as wide
		}
		s.inner.cut(above(a.Point))
	}
	out := &Surface{Points: s.extreme(c.points), Beyond: new(big.Rat)}
	for _, x := range s.outer.rays {
		if d := s.distance(x); d != nil && d.beyond.Cmp(out.Beyond) > 0 {
			out.Beyond = d.beyond
		}
	}
	return out, ctx.Err()
}

// shells are what is known from outside and inside.
type shells struct {
	aims         int
	outer, inner *cone
	far          map[*ray]*distance
}

// distance is how far a corner is from what can be had: beyond the farthest plane.
type distance struct {
	facet   *ray
	beyond  *big.Rat
	settled bool
}

// farthest returns the corner that is farthest from the points, if it is too far.
func (s *shells) farthest(width float64) (far *ray, by *distance) {
	for _, x := range s.outer.rays {
		d := s.distance(x)
		if d == nil || d.settled {
			continue
		}
		size := new(big.Rat)
		for _, v := range x.at[:s.aims] {
			if a := new(big.Rat).Abs(v); a.Cmp(size) > 0 {
				size = a
			}
		}
		enough := size.Mul(size, new(big.Rat).SetFloat64(width))
		if d.beyond.Cmp(enough) > 0 && (by == nil || d.beyond.Cmp(by.beyond) > 0) {
			far, by = x, d
		}
	}
	return far, by
}

// distance measures a corner; a direction has none. Planes are only replaced by ones that
// are nearer to the corner, so that the farthest stays so while it is there.
func (s *shells) distance(x *ray) *distance {
	if x.at[s.aims].Sign() == 0 {
		return nil
	}
	if d := s.far[x]; d != nil && slices.Contains(s.inner.rays, d.facet) {
		return d
	}
	d := &distance{beyond: new(big.Rat)}
	at := above(x.at[:s.aims])
	for _, f := range s.inner.rays {
		if by := dot(at, f.at); d.facet == nil || by.Cmp(d.beyond) > 0 {
			d.facet, d.beyond = f, by
		}
	}
	if d.beyond.Sign() < 0 {
		d.beyond = new(big.Rat)
	}
	s.far[x] = d
	return d
}

// extreme returns the points that are not below means of the others: no other point is on
// all the planes that it is on, and on one of them every aim counts.
func (s *shells) extreme(points [][]*big.Rat) [][]*big.Rat {
	on := make([]*big.Int, len(points))
	counts := make([][]bool, len(points))
	for j, p := range points {
		on[j], counts[j] = new(big.Int), make([]bool, s.aims)
		at := above(p)
		for k, f := range s.inner.rays {
			if dot(at, f.at).Sign() != 0 {
				continue
			}
			on[j].SetBit(on[j], k, 1)
			for i, w := range f.at[:s.aims] {
				counts[j][i] = counts[j][i] || w.Sign() > 0
			}
		}
	}
	var out [][]*big.Rat
	for j, p := range points {
		other := func(k int) bool { // of the same points the first is taken
			return k != j && new(big.Int).And(on[j], on[k]).Cmp(on[j]) == 0 && (on[j].Cmp(on[k]) != 0 || k < j)
		}
		if slices.Contains(counts[j], false) || slices.ContainsFunc(indices(points), other) {
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
