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

// FromVerdict returns the Pareto curve of a verdict; nil if the verdict has no curve of two objectives.
func FromVerdict(verdict *result.Verdict) *Frontier {
	if verdict.Err != nil || verdict.Value.Kind != result.Curve || len(verdict.Value.Points) == 0 || len(verdict.Value.Points[0]) != 2 {
		return nil
	}
	property, err := syntax.ParsePropertyOfAny([]byte(verdict.Property))
	if err != nil {
		return nil
	}
	frontier := &Frontier{}
	if !frontier.setObjectives(logic.Read(syntax.Unparen(property.X)).Objectives) {
		return nil
	}
	maxError := verdict.Value.Num
	for _, point := range verdict.Value.Points {
		frontier.Under = append(frontier.Under, [2]float64(point))
		if maxError >= 0 && !math.IsInf(maxError, 0) {
			frontier.Over = append(frontier.Over, [2]float64{frontier.shift(0, point[0], maxError), frontier.shift(1, point[1], maxError)})
		}
	}
	return frontier
}

// QueryObjectives returns the texts of the objectives of multi(...) that have no bound. It returns nil for other properties.
func QueryObjectives(propertyText string) []string {
	property, err := syntax.ParsePropertyOfAny([]byte(propertyText))
	if err != nil {
		return nil
	}
	var texts []string
	for _, operand := range logic.Read(syntax.Unparen(property.X)).Objectives {
		if logic.Read(syntax.Unparen(operand)).Query() {
			texts = append(texts, syntax.ExprString(operand))
		}
	}
	return texts
}

// setObjectives sets the objectives and their directions, max or min, from the operands of multi(...). It ignores operands with a bound. It returns
// false unless exactly two operands remain.
func (f *Frontier) setObjectives(operands []syntax.Expr) bool {
	count := 0
	for _, operand := range operands {
		objective := logic.Read(syntax.Unparen(operand))
		if !objective.Query() {
			continue
		}
		if count == len(f.Objectives) {
			return false
		}
		f.Objectives[count], f.Directions[count] = syntax.ExprString(operand), "max"
		if objective.Extremum == syntax.Min {
			f.Directions[count] = "min"
		}
		count++
	}
	return count == len(f.Objectives)
}

// shift returns a coordinate moved by a distance in the direction in which the objective improves. It rounds in the same direction.
func (f *Frontier) shift(objective int, coordinate, distance float64) float64 {
	if distance == 0 {
		return coordinate
	}
	if f.Directions[objective] == "min" {
		return math.Nextafter(coordinate-distance, math.Inf(-1))
	}
	return math.Nextafter(coordinate+distance, math.Inf(1))
}
