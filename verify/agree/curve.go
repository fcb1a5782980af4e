package agree

import "math"

// curves compares Pareto curves: they are the same if every corner of each is near the
// other, for engines differ in the corners that they tell of a line.
func (c *comparison) curves() {
	if len(c.a.curve[0]) != len(c.b.curve[0]) {
		c.set(Different, "curves of different objectives")
		return
	}
	far := max(away(c.a.curve, c.b.curve), away(c.b.curve, c.a.curve))
	if !(far <= c.opt.Tolerance) {
		c.set(Different, "curves differ")
	}
}

// away is how far the worst point is from a line of corners, relatively where numbers
// are above 1.
func away(points, corners [][]float64) float64 {
	worst := 0.0
	for _, x := range points {
		scale := 1.0
		for _, v := range x {
			scale = max(scale, math.Abs(v))
		}
		near := distance(x, corners[0], corners[0])
		for i := range len(corners) - 1 {
			near = min(near, distance(x, corners[i], corners[i+1]))
		}
		worst = max(worst, near/scale)
	}
	return worst
}

// distance is that of a point from a line between two others.
func distance(x, from, to []float64) float64 {
	along, length := 0.0, 0.0
	for i := range x {
		along += (x[i] - from[i]) * (to[i] - from[i])
		length += (to[i] - from[i]) * (to[i] - from[i])
	}
	part := 0.0
	if length > 0 {
		part = min(max(along/length, 0), 1)
	}
	sum := 0.0
	for i := range x {
		d := x[i] - from[i] - part*(to[i]-from[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}
