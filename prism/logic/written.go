package logic

import "tilecheck/prism/syntax"

// Written is an operator in the text of a property, before names are resolved. Fields that the kind does not have are zero.
type Written struct {
	// Kind is the kind of the operator; Expression also for parentheses.
	Kind Kind
	// X is the expression itself.
	X syntax.Expr
	// Threshold is what P, R and S ask for.
	syntax.Threshold
	// Within is the formula inside the operator: in its brackets, or the operand of a strategy operator or a filter.
	Within syntax.Expr
	// Path is the temporal operator in the brackets of P, R, E or A, or X itself if it is a temporal operator; nil for other
	// formulas.
	Path *syntax.Temporal
	// Objective is the objective C, C<=k, I=k or S of R; nil for a path formula.
	Objective *syntax.RewardPath
	// BraceFilter is the filter in braces after the formula of P, R or S.
	BraceFilter *syntax.OldFilter
	// Op and States are the name and the states of a filter.
	Op     string
	States syntax.Expr
	// Some and Coalition are as in Formula.
	Some, Coalition bool
	// Objectives are the operands of multi(...).
	Objectives []syntax.Expr
	// Name is the name of a label, or of another property.
	Name string
}

// Read returns the kind of an operator in the text of a property, and its operands. An operator in parentheses has the kind Expression.
func Read(expr syntax.Expr) Written {
	written := Written{X: expr}
	switch expr := expr.(type) {
	case *syntax.Quoted:
		written.Kind, written.Name = Label, expr.Name
	case *syntax.Prob:
		written.Kind, written.Threshold, written.Within, written.BraceFilter = Probability, expr.Threshold, expr.Path, expr.Filter
	case *syntax.Reward:
		written.Kind, written.Threshold, written.Within, written.BraceFilter = Reward, expr.Threshold, expr.Path, expr.Filter
	case *syntax.Steady:
		written.Kind, written.Threshold, written.Within, written.BraceFilter = SteadyState, expr.Threshold, expr.X, expr.Filter
	case *syntax.Quant:
		written.Kind, written.Within = Quantified, expr.Path
	case *syntax.Strategy:
		written.Kind, written.Within, written.Some, written.Coalition = Strategy, expr.X, expr.All != expr.IsBox, !expr.All && len(expr.Coalition) > 0
	case *syntax.Filter:
		written.Kind, written.Within, written.Op, written.States = Filter, expr.X, expr.Op, expr.States
	case *syntax.Temporal:
		written.Kind, written.Path = PathFormula, expr
		return written
	case *syntax.RewardPath:
		written.Kind, written.Objective = RewardFormula, expr
		return written
	case *syntax.Call:
		if expr.Func.Name == "multi" {
			written.Kind, written.Objectives = Objectives, expr.Args
		} else if expr.IsLexicographic {
			written.Kind, written.Objectives = Lexicographic, expr.Args
		} else if expr.Bounds != nil {
			written.Kind = Quantile
		}
	}
	written.Path = TemporalOf(written.Within)
	written.Objective, _ = syntax.Unparen(written.Within).(*syntax.RewardPath)
	return written
}

// TemporalOf returns an expression as a temporal operator, without parentheses around it; nil for other expressions.
func TemporalOf(expr syntax.Expr) *syntax.Temporal {
	temporal, _ := syntax.Unparen(expr).(*syntax.Temporal)
	return temporal
}

// Measure reports whether the operator is P, R or S, which have a threshold.
func (w Written) Measure() bool {
	return w.Kind == Probability || w.Kind == Reward || w.Kind == SteadyState
}

// Query reports whether the operator is P, R or S and asks for its value (=?).
func (w Written) Query() bool { return w.Measure() && w.Rel == syntax.OpNone }

// Prints reports whether the operator is a filter that only prints or stores the value of its operand.
func (w Written) Prints() bool {
	return w.Kind == Filter && (w.Op == "print" || w.Op == "printall" || w.Op == "store")
}

// Reaches reports whether the operator is P or R with a path formula F or U without a bound.
func (w Written) Reaches() bool {
	return w.Measure() && w.Path != nil && w.Path.Bound == nil && len(w.Path.Costs) == 0 && (w.Path.Op == syntax.Future || w.Path.Op == syntax.Until)
}

// With returns a copy of an operator P, R or S with another threshold and another formula. The copy has no filter in braces. Any other operator
// is returned unchanged.
func (w Written) With(threshold syntax.Threshold, within syntax.Expr) syntax.Expr {
	switch expr := w.X.(type) {
	case *syntax.Prob:
		changed := *expr
		changed.Threshold, changed.Path, changed.Filter = threshold, within, nil
		return &changed
	case *syntax.Reward:
		changed := *expr
		changed.Threshold, changed.Path, changed.Filter = threshold, within, nil
		return &changed
	case *syntax.Steady:
		changed := *expr
		changed.Threshold, changed.X, changed.Filter = threshold, within, nil
		return &changed
	}
	return w.X
}

// HasOperators reports whether an expression contains property operators such as P. Without them, the variables and labels of a state determine
// its value.
func HasOperators(expr syntax.Expr) bool {
	hasOperators := false
	syntax.Inspect(expr, func(node syntax.Node) bool {
		if subexpr, ok := node.(syntax.Expr); ok && !hasOperators {
			kind := Read(subexpr).Kind
			hasOperators = kind != Expression && kind != Label && kind != RewardFormula
		}
		return !hasOperators
	})
	return hasOperators
}

// HasBounds reports whether an expression contains a bound on steps or time, or the operator X.
func HasBounds(expr syntax.Expr) (hasBounds bool) {
	syntax.Inspect(expr, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Temporal:
			hasBounds = hasBounds || node.Bound != nil || node.Op == syntax.Next
		case *syntax.RewardPath:
			hasBounds = hasBounds || node.Bound != nil
		}
		return !hasBounds
	})
	return hasBounds
}
