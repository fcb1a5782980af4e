package agree

import "math"

// compareCurves compares Pareto curves. They are the same if every vertex of each curve is near the other curve.
func (c *comparison) compareCurves() {
	if len(c.a.curve[0]) != len(c.b.curve[0]) {
		c.set(Different, "curves of different objectives")
		return
	}
	// Engines report different vertices of the same curve, so points are compared with line segments.
	distance := max(worstDistance(c.a.curve, c.b.curve), worstDistance(c.b.curve, c.a.curve))
	if !(distance <= c.opt.Tolerance) {
		c.set(Different, "curves differ")
	}
}

// worstDistance returns the greatest distance of a point from the polyline through the corners. The distance is relative for
// points with coordinates above 1.
func worstDistance(points, corners [][]float64) float64 {
	worst := 0.0
	for _, point := range points {
		scale := 1.0
		for _, coordinate := range point {
			scale = max(scale, math.Abs(coordinate))
		}
		worst = max(worst, distanceToPolyline(point, corners)/scale)
	}
	return worst
}

// distanceToPolyline returns the distance of a point from the polyline through the corners.
func distanceToPolyline(point []float64, corners [][]float64) float64 {
	distance := distanceToSegment(point, corners[0], corners[0])
	for i := range len(corners) - 1 {
		distance = min(distance, distanceToSegment(point, corners[i], corners[i+1]))
	}
	return distance
}

// distanceToSegment returns the distance of a point from the line segment between two points.
func distanceToSegment(point, start, end []float64) float64 {
	projection, squaredLength := 0.0, 0.0
	for i := range point {
		projection += (point[i] - start[i]) * (end[i] - start[i])
		squaredLength += (end[i] - start[i]) * (end[i] - start[i])
	}
	fraction := 0.0 // the nearest point of the segment, as a fraction of the way from its begin to its end
	if squaredLength > 0 {
		fraction = min(max(projection/squaredLength, 0), 1)
	}
	squaredDistance := 0.0
	for i := range point {
		difference := point[i] - start[i] - fraction*(end[i]-start[i])
		squaredDistance += difference * difference
	}
	return math.Sqrt(squaredDistance)
}
