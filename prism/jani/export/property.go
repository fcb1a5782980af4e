package export

import (
	"errors"
	"fmt"
	"strings"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

func (x *exporter) property(number int, p Property) error {
	x.further = p.Labels
	name := p.Name
	if name == "" {
		name = fmt.Sprintf("property_%d", number+1)
	}
	for _, q := range x.out.Properties {
		if q.Name == name {
			return fmt.Errorf("there is a property %q already", name)
		}
	}
	filter := object{"op": "filter", "fun": "values", "states": object{"op": "initial"}}
	body := p.X
	if f := logic.Of(p.X); f.Kind == logic.Filter {
		if err := x.filter(f, filter); err != nil {
			return err
		}
		body = f.Operand
	}
	values, err := x.expr(body)
	if err != nil {
		return err
	}
	filter["values"] = values
	x.out.Properties = append(x.out.Properties, property{name, filter})
	return nil
}

var filters = map[string]string{
	"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin", "argmax": "argmax",
	"forall": "∀", "exists": "∃", "state": "values",
}

func (x *exporter) filter(f *logic.Formula, out object) error {
	fun, ok := filters[f.Op]
	if !ok {
		return fmt.Errorf("JANI has no filter %s", f.Op)
	}
	out["fun"] = fun
	states := f.States
	if states == nil {
		states = &sema.Const{Base: sema.Base{T: sema.Bool}, Val: sema.BoolValue(true)}
	}
	var err error
	out["states"], err = x.expr(states)
	return err
}

// formula writes the operators that only properties have.
func (x *exporter) formula(e sema.Expr) (any, error) {
	switch f := logic.Of(e); f.Kind {
	case logic.Label:
		switch {
		case f.Index == sema.LabelInit:
			return object{"op": "initial"}, nil
		case f.Index == sema.LabelDeadlock:
			return object{"op": "deadlock"}, nil
		case f.Index >= len(x.labels):
			return x.expr(x.further[f.Index].X)
		}
		return x.labels[f.Index], nil
	case logic.Probability:
		path, err := x.path(f.Path)
		if err != nil {
			return nil, err
		}
		return x.asked("P", f.Threshold, object{"exp": path})
	case logic.SteadyState:
		states, err := x.expr(f.Operand)
		if err != nil {
			return nil, err
		}
		return x.asked("S", f.Threshold, object{"exp": states})
	case logic.Quantified:
		path, err := x.path(f.Path)
		if err != nil {
			return nil, err
		}
		if f.ForAll {
			return object{"op": "∀", "exp": path}, nil
		}
		return object{"op": "∃", "exp": path}, nil
	case logic.Reward:
		return x.reward(f)
	}
	return nil, fmt.Errorf("JANI has no form for %s", kindOf(e))
}

func kindOf(e sema.Expr) string {
	switch logic.Of(e).Kind {
	case logic.Filter:
		return "a filter inside of a property"
	case logic.Strategy:
		return "coalitions"
	case logic.Objectives:
		return "multi"
	case logic.PathFormula:
		return "a path formula here"
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e), "*sema."))
}

// asked writes a P, S or R operator as JANI's minimum or maximum, and compares it with the bound if there is one. A bound must
// hold for all schedulers.
func (x *exporter) asked(letter string, t sema.Threshold, rest object) (any, error) {
	least := true
	if x.program.Type != syntax.DTMC && x.program.Type != syntax.CTMC {
		var ok bool
		if least, ok = t.Least(false); !ok {
			return nil, errors.New("the property does not say whether it asks for the least or the greatest value")
		}
	}
	rest["op"] = letter + "max"
	if least {
		rest["op"] = letter + "min"
	}
	if t.Query() {
		return rest, nil
	}
	bound, err := x.expr(t.Bound)
	return binary(operators[t.Rel], rest, bound), err
}

// path writes a path formula.
func (x *exporter) path(p *logic.Path) (any, error) {
	out, err := x.positivePath(p)
	if p.Negated && err == nil {
		out = object{"op": "¬", "exp": out}
	}
	return out, err
}

// positivePath writes a path formula without its negation.
func (x *exporter) positivePath(p *logic.Path) (any, error) {
	if p.Operator {
		return x.temporal(p)
	}
	e, ok := p.X.(*sema.Binary)
	if !ok || p.Form == logic.InitialState {
		return x.expr(p.X)
	}
	left, err := x.path(logic.PathOf(e.X))
	if err != nil {
		return nil, err
	}
	right, err := x.path(logic.PathOf(e.Y))
	if e.Op == syntax.OpIff {
		return nil, errors.New("JANI has no <=> of path formulas")
	}
	return binary(operators[e.Op], left, right), err
}

func (x *exporter) temporal(p *logic.Path) (any, error) {
	if p.Op == syntax.Next {
		return nil, errors.New("JANI has no operator X")
	}
	right, err := x.path(logic.PathOf(p.Right))
	if err != nil {
		return nil, err
	}
	out := object{"op": p.Op.String(), "exp": right}
	if p.Left != nil {
		left, err := x.path(logic.PathOf(p.Left))
		if err != nil {
			return nil, err
		}
		out = binary(p.Op.String(), left, right)
	}
	if p.Bound == nil {
		return out, nil
	}
	bounds, err := x.bounds(p.Bound)
	if x.timed() {
		out["time-bounds"] = bounds
	} else {
		out["step-bounds"] = bounds
	}
	return out, err
}

func (x *exporter) bounds(b *sema.Bound) (any, error) {
	out := object{}
	for _, side := range []struct {
		name   string
		x      sema.Expr
		strict bool
	}{{"lower", b.Low, b.LowStrict}, {"upper", b.High, b.HighStrict}} {
		if side.x == nil {
			continue
		}
		bound, err := x.expr(side.x)
		if err != nil {
			return nil, err
		}
		out[side.name] = bound
		if side.strict {
			out[side.name+"-exclusive"] = true
		}
	}
	return out, nil
}

func (x *exporter) reward(f *logic.Formula) (any, error) {
	o := f.Objective
	if o.Struct < 0 || o.Struct >= len(x.rewards) || o.Ratio {
		return nil, errors.New("JANI has no form for its reward structure")
	}
	out := object{"exp": x.rewards[o.Struct]}
	accumulated, instant := []string{"steps", "exit"}, "step-instant"
	if x.timed() {
		accumulated, instant = []string{"steps", "time"}, "time-instant"
	}
	out["accumulate"] = accumulated
	var err error
	switch o.Form {
	case logic.LongRun:
		return x.asked("S", f.Threshold, out)
	case logic.TotalReward:
	case logic.CostBoundedReward:
		return nil, errors.New("JANI has no reward bounds on a total reward")
	case logic.Cumulative:
		out[instant], err = x.expr(o.At)
	case logic.Instantaneous:
		delete(out, "accumulate")
		out[instant], err = x.expr(o.At)
	case logic.ReachReward:
		out["reach"], err = x.expr(o.Target)
	default:
		return nil, errors.New("JANI has no rewards until a path formula holds, only until states are reached")
	}
	if err != nil {
		return nil, err
	}
	return x.asked("E", f.Threshold, out)
}
