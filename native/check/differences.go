package check

import (
	"fmt"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// floatWarnings returns warnings for the expressions over variables in a property whose value differs from PRISM's value in some state.
// The reason is that tilecheck compares fractions, and PRISM compares floating-point numbers.
func (checker *Checker) floatWarnings(property *Property) []string {
	differences := &floatDifferences{space: checker.floatModel.space, property: property, visited: map[sema.Expr]bool{}}
	differences.visitExpr(property.Expr)
	return differences.warnings
}

// floatDifferences collects the warnings of floatWarnings.
type floatDifferences struct {
	space    *explicit.Space
	property *Property
	visited  map[sema.Expr]bool
	warnings []string
}

// visitExpr adds a warning for each label, and for each expression over variables, whose value differs from PRISM's float64 value in some state. It
// skips subexpressions of the property that it has visited before.
func (differences *floatDifferences) visitExpr(expr sema.Expr) {
	if differences.visited[expr] {
		return
	}
	differences.visited[expr] = true
	label, isLabel := expr.(*sema.Label)
	switch {
	case isLabel && label.Index >= 0:
		definition := differences.property.Program.Labels[label.Index].Expr
		differences.compare(fmt.Sprintf("label %q", label.Name), label.Position, definition)
	case sema.NeedsOnlyVariables(expr):
		differences.compare("value", expr.Pos(), expr)
	default:
		sema.VisitOperands(expr, differences.visitExpr)
	}
}

// compare adds a warning if the value of an expression over variables differs from PRISM's value in some state. kind says what the expression is, such
// as "value", and begins the message of the warning.
func (differences *floatDifferences) compare(kind string, pos syntax.Pos, expr sema.Expr) {
	count, firstState, err := differences.space.Differences(expr, nil)
	if err != nil || count == 0 {
		return
	}
	warning := syntax.Error{File: differences.property.File, Pos: pos, Msg: differences.space.Difference(kind, count, firstState)}
	differences.warnings = append(differences.warnings, warning.Error())
}
