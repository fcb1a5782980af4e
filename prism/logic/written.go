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
	// Within is the formula within the operator: in its brackets, or the operand of a strategy operator or a filter.
	Within syntax.Expr
	// Path is the temporal operator in the brackets of P, R, E or A, or X itself if that is one; nil for other formulas.
	Path *syntax.Temporal
	// Objective is the objective C, C<=k, I=k or S of R; nil for a path formula.
	Objective *syntax.RewardPath
	// Braces is the filter in braces after the formula of P, R or S.
	Braces *syntax.OldFilter
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

// Read returns what an operator in the text of a property asks. It does not look into parentheses around the operator.
func Read(x syntax.Expr) Written {
	w := Written{X: x}
	switch x := x.(type) {
	case *syntax.Quoted:
		w.Kind, w.Name = Label, x.Name
	case *syntax.Prob:
		w.Kind, w.Threshold, w.Within, w.Braces = Probability, x.Threshold, x.Path, x.Filter
	case *syntax.Reward:
		w.Kind, w.Threshold, w.Within, w.Braces = Reward, x.Threshold, x.Path, x.Filter
	case *syntax.Steady:
		w.Kind, w.Threshold, w.Within, w.Braces = SteadyState, x.Threshold, x.X, x.Filter
	case *syntax.Quant:
		w.Kind, w.Within = Quantified, x.Path
	case *syntax.Strategy:
		w.Kind, w.Within, w.Some, w.Coalition = Strategy, x.X, x.All != x.Box, !x.All && len(x.Coalition) > 0
	case *syntax.Filter:
		w.Kind, w.Within, w.Op, w.States = Filter, x.X, x.Op, x.States
	case *syntax.Temporal:
		w.Kind, w.Path = PathFormula, x
		return w
	case *syntax.RewardPath:
		w.Kind, w.Objective = RewardFormula, x
		return w
	case *syntax.Call:
		if x.Func.Name == "multi" {
			w.Kind, w.Objectives = Objectives, x.Args
		}
	}
	w.Path = TemporalOf(w.Within)
	w.Objective, _ = syntax.Unparen(w.Within).(*syntax.RewardPath)
	return w
}

// TemporalOf returns the temporal operator that an expression is, perhaps in parentheses; nil if it is another expression.
func TemporalOf(x syntax.Expr) *syntax.Temporal {
	t, _ := syntax.Unparen(x).(*syntax.Temporal)
	return t
}

// Measure reports whether the operator has a threshold: P, R or S.
func (w Written) Measure() bool {
	return w.Kind == Probability || w.Kind == Reward || w.Kind == SteadyState
}

// Query reports whether the operator is P, R or S and asks for its value (=?).
func (w Written) Query() bool { return w.Measure() && w.Rel == syntax.OpNone }

// Prints reports whether the operator is a filter that prints the value of its operand and does not change it.
func (w Written) Prints() bool {
	return w.Kind == Filter && (w.Op == "print" || w.Op == "printall" || w.Op == "store")
}

// Reaches reports whether the operator is P or R of F or U without a bound.
func (w Written) Reaches() bool {
	return w.Measure() && w.Path != nil && w.Path.Bound == nil && len(w.Path.Costs) == 0 && (w.Path.Op == syntax.Future || w.Path.Op == syntax.Until)
}

// With returns P, R or S with another threshold and another formula, and without a filter in braces.
func (w Written) With(t syntax.Threshold, within syntax.Expr) syntax.Expr {
	switch x := w.X.(type) {
	case *syntax.Prob:
		c := *x
		c.Threshold, c.Path, c.Filter = t, within, nil
		return &c
	case *syntax.Reward:
		c := *x
		c.Threshold, c.Path, c.Filter = t, within, nil
		return &c
	case *syntax.Steady:
		c := *x
		c.Threshold, c.X, c.Filter = t, within, nil
		return &c
	}
	return w.X
}

// HasOperators reports whether an expression has operators of properties, and is not about the variables and labels of a single
// state.
func HasOperators(x syntax.Expr) (found bool) {
	syntax.Inspect(x, func(n syntax.Node) bool {
		if y, ok := n.(syntax.Expr); ok {
			k := Read(y).Kind
			found = found || k != Expression && k != Label && k != RewardFormula
		}
		return !found
	})
	return found
}
