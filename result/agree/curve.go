package agree

import "math"

// compareCurves compares Pareto curves. They are the same if every vertex of each is near the other curve, because
// engines report different vertices of the same line.
func (c *comparison) compareCurves() {
	if len(c.a.curve[0]) != len(c.b.curve[0]) {
		c.set(Different, "curves of different objectives")
		return
	}
	far := max(worstDistance(c.a.curve, c.b.curve), worstDistance(c.b.curve, c.a.curve))
	if !(far <= c.opt.Tolerance) {
		c.set(Different, "curves differ")
	}
}

// worstDistance returns the greatest distance of a point from the polyline through the corners. The distance is relative for
// points with coordinates above 1.
func worstDistance(points, corners [][]float64) float64 {
	worst := 0.0
	for _, x := range points {
		scale := 1.0
		for _, v := range x {
			scale = max(scale, math.Abs(v))
		}
		near := distanceToSegment(x, corners[0], corners[0])
		for i := range len(corners) - 1 {
			near = min(near, distanceToSegment(x, corners[i], corners[i+1]))
		}
		worst = max(worst, near/scale)
	}
	return worst
}

// distanceToSegment returns the distance of a point from the line segment between two points.
func distanceToSegment(x, from, to []float64) float64 {
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
