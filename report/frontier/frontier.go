// Package frontier prepares Pareto curves of two objectives for pictures.
package frontier

import (
	"math"

	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Frontier is a Pareto curve of two objectives for a picture.
type Frontier struct {
	Objectives [2]string `json:"objectives"` // their texts
	Directions [2]string `json:"directions"` // "max" or "min"
	// Under are the vertices of the under-approximation in the order of the first objective. Every point on the lines between them,
	// and every worse point, is achievable.
	Under [][2]float64 `json:"under"`
	// Over are the vertices of the over-approximation. No point beyond them is achievable. It is empty if the engine does not say how
	// far the curve may be off.
	Over [][2]float64 `json:"over,omitempty"`
}

// Of returns the Pareto curve of a verdict; nil if it has none, or not one of two objectives.
func Of(v *result.Verdict) *Frontier {
	if v.Err != nil || v.Value.Kind != result.Curve || len(v.Value.Points) == 0 || len(v.Value.Points[0]) != 2 {
		return nil
	}
	p, err := syntax.ParseProperty("", []byte(v.Property))
	if err != nil {
		return nil
	}
	f := &Frontier{}
	n := 0
	for _, x := range logic.Read(syntax.Unparen(p.X)).Objectives {
		objective := logic.Read(syntax.Unparen(x))
		if !objective.Query() {
			continue
		}
		if n == len(f.Objectives) {
			return nil
		}
		f.Objectives[n], f.Directions[n] = syntax.ExprString(x), "max"
		if objective.Extremum == syntax.Min {
			f.Directions[n] = "min"
		}
		n++
	}
	if n != len(f.Objectives) {
		return nil
	}
	beyond := v.Value.Num
	for _, point := range v.Value.Points {
		f.Under = append(f.Under, [2]float64(point))
		if beyond >= 0 && !math.IsInf(beyond, 0) {
			f.Over = append(f.Over, [2]float64{f.shift(0, point[0], beyond), f.shift(1, point[1], beyond)})
		}
	}
	return f
}

// shift moves a coordinate of objective i by a distance in the direction that is better. The result is rounded in that direction.
func (f *Frontier) shift(i int, x, distance float64) float64 {
	if distance == 0 {
		return x
	}
	if f.Directions[i] == "min" {
		return math.Nextafter(x-distance, math.Inf(-1))
	}
	return math.Nextafter(x+distance, math.Inf(1))
}
