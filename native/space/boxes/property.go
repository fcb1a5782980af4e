package boxes

import (
	"fmt"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// goal is what the exploration must know of a property: the states in which the property is decided, so that paths stop there, and the reward structure.
type goal struct {
	target    *expression // the states that satisfy the until formula; nil for no states
	avoid     *expression // the states from which the until formula cannot be satisfied any more; nil for no states
	structure int         // index of the reward structure; -1 for none
	// isNegated says that the property is about the paths that do not reach the target.
	isNegated bool
	property  *logic.Property
}

// newGoal returns the goal of a property. The error is a *compile.UnsupportedError if boxes do not support the property.
func newGoal(property *logic.Property) (*goal, error) {
	formula, err := observedFormula(property)
	if err != nil {
		return nil, err
	}
	result := &goal{structure: -1, property: property}
	switch {
	case formula.Kind == logic.Probability && formula.Path.Unbounded():
		return result, result.addPath(formula.Path)
	case formula.Kind == logic.Reward && formula.Objective.Err == nil && !formula.Objective.IsRatio:
		result.structure = formula.Objective.Struct
		switch formula.Objective.Form {
		case logic.ReachReward:
			return result, result.addPath(formula.Objective.Path)
		case logic.TotalReward:
			return result, nil
		}
	}
	return nil, result.unsupported(formula.Expr, fmt.Sprintf("found %s, want P of F, G, U, W or R without bounds, or R of F or C", describe(formula)))
}

// describe returns a description of the path formula or of the reward objective in an operator P or R, for the message of an error.
func describe(formula *logic.Formula) string {
	described, bound := formula.Expr, false
	switch formula.Kind {
	case logic.Probability:
		described, bound = formula.Path.Expr, formula.Path.Bound != nil
	case logic.Reward:
		objective := formula.Objective
		described, bound = objective.Expr, objective.At != nil || objective.Path != nil && objective.Path.Bound != nil
	}
	if bound {
		return logic.Describe(described) + " with a bound"
	}
	return logic.Describe(described)
}

// stateFilters are the filters that have the same value over the initial boxes as over the initial states.
var stateFilters = []string{"min", "max", "range", "forall", "exists"}

// observedFormula returns the formula that remains if the filters around a property are removed. The error is a *compile.UnsupportedError if a filter is not
// over the initial states, because only the values of these are computed.
func observedFormula(property *logic.Property) (*logic.Formula, error) {
	formula := logic.FormulaOf(property.Expr)
	for formula.Kind == logic.Filter {
		if !isInitial(formula.States) || !slices.Contains(stateFilters, formula.Op) {
			return nil, unsupported(property, formula.Expr, fmt.Sprintf("found a filter %s, want min, max, range, forall or exists over \"init\"", formula.Op))
		}
		formula = logic.FormulaOf(formula.Operand)
	}
	return formula, nil
}

// isInitial reports whether an expression is the label "init".
func isInitial(expr sema.Expr) bool {
	if expr == nil {
		return false
	}
	formula := logic.FormulaOf(expr)
	return formula.Kind == logic.Label && formula.Index == sema.LabelInit
}

// unsupported returns the error for an expression of the property.
func (g *goal) unsupported(expr sema.Expr, message string) error {
	return unsupported(g.property, expr, message)
}

// unsupported returns the error for an expression of a property.
func unsupported(property *logic.Property, expr sema.Expr, message string) error {
	return &compile.UnsupportedError{File: property.File, Pos: expr.Pos(), Msg: message + " for boxes of states"}
}

// addPath sets the target and the states to avoid from a path formula, which it rewrites to an until formula or to the negation of one.
func (g *goal) addPath(path *logic.Path) error {
	right, err := g.overVariables(path.Right)
	if err != nil {
		return err
	}
	left := sema.ConstantExpr(sema.BoolValue(true), right.Pos())
	if path.Left != nil {
		if left, err = g.overVariables(path.Left); err != nil {
			return err
		}
	}
	neither := func(left, right sema.Expr) sema.Expr { return logic.And(logic.Not(left), logic.Not(right)) }
	algebra := logic.Algebra[sema.Expr]{Not: logic.Not, And: logic.And, Neither: neither}
	left, right, isNegated := algebra.AsUntil(path.Op, left, right)
	g.target, g.avoid, g.isNegated = newExpression(right), newExpression(neither(left, right)), isNegated != path.IsNegated
	return nil
}

// overVariables returns a state formula in which definitions replace the labels. It returns an error if the formula contains anything but variables and
// labels.
func (g *goal) overVariables(expr sema.Expr) (sema.Expr, error) {
	formula, ok := logic.WithoutLabels(g.property.Program, expr)
	if !ok {
		return nil, g.unsupported(expr, fmt.Sprintf("found %s, want a formula over variables", logic.Describe(expr)))
	}
	return formula, nil
}

// targetLabel is the label of the target in the space of boxes.
const targetLabel = "target"

// propertyOn returns the property to check on the space of boxes. program is the program of this space.
func (g *goal) propertyOn(program *sema.Program) sema.Expr {
	return g.rewrite(g.property.Expr, program)
}

// rewrite returns the property in a form that can be checked on the space of boxes. There only a label marks the target, so the operands of path formulas
// are replaced by this label. expr is a filter or an operator P or R of the property; program is the program of the space.
func (g *goal) rewrite(expr sema.Expr, program *sema.Program) sema.Expr {
	formula, base := logic.FormulaOf(expr), sema.Base{ValueType: expr.Type(), Position: expr.Pos()}
	switch formula.Kind {
	case logic.Filter:
		return &sema.Filter{Base: base, Op: formula.Op, X: g.rewrite(formula.Operand, program), States: formula.States}
	case logic.Probability:
		return &sema.Prob{Base: base, Threshold: formula.Threshold, Path: g.pathOn(program, formula.Path.WholeExpr)}
	}
	objective := formula.Objective.Expr
	if g.target != nil {
		objective = g.pathOn(program, objective)
	}
	return &sema.Reward{Base: base, Threshold: formula.Threshold, DivisorStruct: -1, Path: objective}
}

// pathOn returns the path formula for the space of boxes: F target or, if the property is about paths that do not reach the target, G !target. It has the
// position of the original formula.
func (g *goal) pathOn(program *sema.Program, original sema.Expr) sema.Expr {
	index := slices.IndexFunc(program.Labels, func(label sema.LabelDef) bool { return label.Name == targetLabel })
	base := sema.Base{ValueType: sema.Path, Position: original.Pos()}
	target := &sema.Label{Base: sema.Base{ValueType: sema.Bool, Position: original.Pos()}, Name: targetLabel, Index: index}
	if g.isNegated {
		return &sema.Temporal{Base: base, Op: syntax.Globally, Y: logic.Not(target)}
	}
	return &sema.Temporal{Base: base, Op: syntax.Future, Y: target}
}
