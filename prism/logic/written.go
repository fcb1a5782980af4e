package logic

import "tilecheck/prism/syntax"

// Written is what the text of a property asks, before its names are resolved.
type Written struct {
	// Kind is the kind of the outermost operator; Expression for everything but P, R, S and multi(...).
	Kind Kind
	// Threshold is what P, R and S ask for.
	syntax.Threshold
	// Path is the temporal operator in the brackets of P or R; nil if there is another formula.
	Path *syntax.Temporal
}

// Read returns what a property asks.
func Read(x syntax.Expr) Written {
	var path syntax.Expr
	w := Written{}
	switch x := syntax.Unparen(x).(type) {
	case *syntax.Prob:
		w.Kind, w.Threshold, path = Probability, x.Threshold, x.Path
	case *syntax.Reward:
		w.Kind, w.Threshold, path = Reward, x.Threshold, x.Path
	case *syntax.Steady:
		w.Kind, w.Threshold = SteadyState, x.Threshold
	case *syntax.Call:
		if x.Func.Name == "multi" {
			w.Kind = Objectives
		}
	}
	if path != nil {
		w.Path, _ = syntax.Unparen(path).(*syntax.Temporal)
	}
	return w
}

// Reaches reports whether the property is P or R of F or U without a bound.
func (w Written) Reaches() bool {
	return w.Path != nil && w.Path.Bound == nil && len(w.Path.Costs) == 0 && (w.Path.Op == syntax.Future || w.Path.Op == syntax.Until)
}
