package export

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// writeProperty adds a property to the document as a JANI filter. The default filter gives the values in the initial states.
func (x *exporter) writeProperty(index int, source logic.Property) error {
	x.propertyLabels = source.Program.Labels
	name := source.Name
	if name == "" {
		name = fmt.Sprintf("property_%d", index+1)
	}
	hasName := func(other property) bool { return other.Name == name }
	if slices.ContainsFunc(x.document.Properties, hasName) {
		return fmt.Errorf("there are two properties %q, want different names", name)
	}
	filter := object{"op": "filter", "fun": "values", "states": object{"op": "initial"}}
	body := source.Expr
	if formula := logic.FormulaOf(source.Expr); formula.Kind == logic.Filter {
		if err := x.writeFilter(formula, filter); err != nil {
			return err
		}
		body = formula.Operand
	}
	values, err := x.convertExpr(body)
	if err != nil {
		return err
	}
	filter["values"] = values
	x.document.Properties = append(x.document.Properties, property{name, filter})
	return nil
}

var filterNames = map[string]string{
	"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin", "argmax": "argmax",
	"forall": "∀", "exists": "∃", "state": "values",
}

// writeFilter sets the function and the states of a JANI filter from filter(op, property, states).
func (x *exporter) writeFilter(formula *logic.Formula, filter object) error {
	function, ok := filterNames[formula.Op]
	if !ok {
		return fmt.Errorf("JANI has no filter %s", formula.Op)
	}
	filter["fun"] = function
	states := formula.States
	if states == nil {
		states = &sema.Const{Base: sema.Base{ValueType: sema.Bool}, Val: sema.BoolValue(true)}
	}
	var err error
	filter["states"], err = x.convertExpr(states)
	return err
}

// convertFormula converts an operator that occurs only in properties, such as P or a label.
func (x *exporter) convertFormula(expr sema.Expr) (any, error) {
	switch source := logic.FormulaOf(expr); source.Kind {
	case logic.Label:
		switch {
		case source.Index == sema.LabelInit:
			return object{"op": "initial"}, nil
		case source.Index == sema.LabelDeadlock:
			return object{"op": "deadlock"}, nil
		case source.Index >= len(x.labels):
			return x.convertExpr(x.propertyLabels[source.Index].Expr)
		}
		return x.labels[source.Index], nil
	case logic.Probability:
		path, err := x.convertPath(source.Path)
		if err != nil {
			return nil, err
		}
		return x.convertOptimum("P", source.Threshold, object{"exp": path})
	case logic.SteadyState:
		states, err := x.convertExpr(source.Operand)
		if err != nil {
			return nil, err
		}
		return x.convertOptimum("S", source.Threshold, object{"exp": states})
	case logic.Quantified:
		path, err := x.convertPath(source.Path)
		if err != nil {
			return nil, err
		}
		if source.IsForAll {
			return object{"op": "∀", "exp": path}, nil
		}
		return object{"op": "∃", "exp": path}, nil
	case logic.Reward:
		return x.convertReward(source)
	}
	return nil, fmt.Errorf("JANI cannot express %s", describeUnsupported(expr))
}

// describeUnsupported describes an operator that JANI lacks, for an error message.
func describeUnsupported(expr sema.Expr) string {
	switch logic.FormulaOf(expr).Kind {
	case logic.Filter:
		return "a filter inside a property"
	case logic.Strategy:
		return "coalitions"
	case logic.Objectives:
		return "multi"
	case logic.Lexicographic:
		return "multilex"
	case logic.Quantile:
		return "quantile"
	case logic.PathFormula:
		return "a path formula here"
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", expr), "*sema."))
}

// convertOptimum converts an operator P, S or R to an operator of JANI such as Pmin. If the operator has a bound, it also converts the comparison
// with the bound.
func (x *exporter) convertOptimum(letter string, threshold sema.Threshold, operands object) (any, error) {
	isMinimum := true // a Markov chain has only one value
	if x.program.Type != syntax.DTMC && x.program.Type != syntax.CTMC {
		var ok bool
		if isMinimum, ok = threshold.IsMinimum(false); !ok {
			return nil, errors.New("the property asks for neither the minimum nor the maximum, want min or max")
		}
	}
	operands["op"] = letter + "max"
	if isMinimum {
		operands["op"] = letter + "min"
	}
	if threshold.IsQuery() {
		return operands, nil
	}
	bound, err := x.convertExpr(threshold.Bound)
	return binaryObject(operatorNames[threshold.Rel], operands, bound), err
}

// convertPath converts a path formula.
func (x *exporter) convertPath(source *logic.Path) (any, error) {
	path, err := x.convertPositivePath(source)
	if err != nil {
		return nil, err
	}
	if source.IsNegated {
		return object{"op": "¬", "exp": path}, nil
	}
	return path, nil
}

// convertPositivePath converts a path formula without its outer negation, which convertPath adds.
func (x *exporter) convertPositivePath(path *logic.Path) (any, error) {
	if path.IsTemporal {
		return x.convertTemporal(path)
	}
	if path.Form == logic.Conditional {
		return nil, errors.New("JANI has no conditional probabilities")
	}
	expr, ok := path.Expr.(*sema.Binary)
	if !ok || path.Form == logic.InitialState {
		return x.convertExpr(path.Expr)
	}
	left, err := x.convertPath(logic.PathOf(expr.X))
	if err != nil {
		return nil, err
	}
	if expr.Op == syntax.OpIff {
		return nil, errors.New("JANI has no <=> of path formulas")
	}
	right, err := x.convertPath(logic.PathOf(expr.Y))
	if err != nil {
		return nil, err
	}
	return binaryObject(operatorNames[expr.Op], left, right), nil
}

// convertTemporal converts a temporal operator with its time or step bound.
func (x *exporter) convertTemporal(path *logic.Path) (any, error) {
	if path.Op == syntax.Next {
		return nil, errors.New("JANI has no operator X")
	}
	right, err := x.convertPath(logic.PathOf(path.Right))
	if err != nil {
		return nil, err
	}
	formula := object{"op": path.Op.String(), "exp": right}
	if path.Left != nil {
		left, err := x.convertPath(logic.PathOf(path.Left))
		if err != nil {
			return nil, err
		}
		formula = binaryObject(path.Op.String(), left, right)
	}
	if path.Bound == nil {
		return formula, nil
	}
	key := "step-bounds"
	if x.hasTime() {
		key = "time-bounds"
	}
	formula[key], err = x.convertBoundObject(path.Bound)
	return formula, err
}

// convertBoundObject converts a time or step bound to an object with the keys lower and upper.
func (x *exporter) convertBoundObject(source *sema.Bound) (any, error) {
	bounds := object{}
	if err := x.addBound(bounds, "lower", source.Low, source.IsLowStrict); err != nil {
		return nil, err
	}
	if err := x.addBound(bounds, "upper", source.High, source.IsHighStrict); err != nil {
		return nil, err
	}
	return bounds, nil
}

// addBound adds the lower or the upper limit of a bound to a JSON object. A nil expr means that there is no limit.
func (x *exporter) addBound(bounds object, key string, expr sema.Expr, isStrict bool) error {
	if expr == nil {
		return nil
	}
	value, err := x.convertExpr(expr)
	if err != nil {
		return err
	}
	bounds[key] = value
	if isStrict {
		bounds[key+"-exclusive"] = true
	}
	return nil
}

// convertReward converts an operator R to an operator of JANI: an expectation (E) or a long-run average (S).
func (x *exporter) convertReward(formula *logic.Formula) (any, error) {
	objective := formula.Objective
	if objective.Err != nil {
		return nil, objective.Err
	}
	if objective.Struct < 0 || objective.Struct >= len(x.rewards) || objective.IsRatio {
		return nil, errors.New("JANI cannot express the reward structure of the operator R")
	}
	expectation := object{"exp": x.rewards[objective.Struct]}
	accumulateWords, instantKey := []string{"steps", "exit"}, "step-instant"
	if x.hasTime() {
		accumulateWords, instantKey = []string{"steps", "time"}, "time-instant"
	}
	if objective.Form != logic.Instantaneous {
		expectation["accumulate"] = accumulateWords
	}
	var err error
	switch objective.Form {
	case logic.LongRun:
		return x.convertOptimum("S", formula.Threshold, expectation)
	case logic.TotalReward:
	case logic.ConditionalReward:
		return nil, errors.New("JANI has no conditional rewards")
	case logic.Discounted:
		return nil, errors.New("JANI has no discounted rewards")
	case logic.CostBoundedReward:
		return nil, errors.New("JANI has no reward bounds on a total reward")
	case logic.Cumulative, logic.Instantaneous:
		expectation[instantKey], err = x.convertExpr(objective.At)
	case logic.ReachReward:
		expectation["reach"], err = x.convertExpr(objective.Target)
	default:
		return nil, errors.New("JANI has only rewards until a state is reached, not until a path formula holds")
	}
	if err != nil {
		return nil, err
	}
	return x.convertOptimum("E", formula.Threshold, expectation)
}
