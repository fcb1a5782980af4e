package export

import (
	"errors"
	"fmt"
	"strings"

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
	if f, ok := p.X.(*sema.Filter); ok {
		if err := x.filter(f, filter); err != nil {
			return err
		}
		body = f.X
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

func (x *exporter) filter(f *sema.Filter, out object) error {
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
	switch e := e.(type) {
	case *sema.Label:
		switch e.Index {
		case sema.LabelInit:
			return object{"op": "initial"}, nil
		case sema.LabelDeadlock:
			return object{"op": "deadlock"}, nil
		}
		if e.Index >= len(x.labels) {
			return x.expr(x.further[e.Index].X)
		}
		return x.labels[e.Index], nil
	case *sema.Prob:
		path, err := x.path(e.Path)
		if err != nil {
			return nil, err
		}
		return x.asked("P", e.Threshold, object{"exp": path})
	case *sema.Steady:
		states, err := x.expr(e.X)
		if err != nil {
			return nil, err
		}
		return x.asked("S", e.Threshold, object{"exp": states})
	case *sema.Quant:
		path, err := x.path(e.Path)
		if err != nil {
			return nil, err
		}
		if e.All {
			return object{"op": "∀", "exp": path}, nil
		}
		return object{"op": "∃", "exp": path}, nil
	case *sema.Reward:
		return x.reward(e)
	}
	return nil, fmt.Errorf("JANI has no form for %s", kindOf(e))
}

func kindOf(e sema.Expr) string {
	switch e.(type) {
	case *sema.Filter:
		return "a filter inside of a property"
	case *sema.Strategy:
		return "coalitions"
	case *sema.Multi:
		return "multi"
	case *sema.Temporal:
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
func (x *exporter) path(e sema.Expr) (any, error) {
	switch e := e.(type) {
	case *sema.Temporal:
		return x.temporal(e)
	case *sema.Unary:
		if e.Type() == sema.Path {
			y, err := x.path(e.X)
			return object{"op": "¬", "exp": y}, err
		}
	case *sema.Binary:
		if e.Type() == sema.Path {
			left, err := x.path(e.X)
			if err != nil {
				return nil, err
			}
			right, err := x.path(e.Y)
			op := operators[e.Op]
			if e.Op == syntax.OpIff {
				return nil, errors.New("JANI has no <=> of path formulas")
			}
			return binary(op, left, right), err
		}
	}
	return x.expr(e)
}

func (x *exporter) temporal(e *sema.Temporal) (any, error) {
	if e.Op == syntax.Next {
		return nil, errors.New("JANI has no operator X")
	}
	y, err := x.path(e.Y)
	if err != nil {
		return nil, err
	}
	out := object{"op": e.Op.String(), "exp": y}
	if e.X != nil {
		left, err := x.path(e.X)
		if err != nil {
			return nil, err
		}
		out = binary(e.Op.String(), left, y)
	}
	if e.Bound == nil {
		return out, nil
	}
	bounds, err := x.bounds(e.Bound)
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

func (x *exporter) reward(e *sema.Reward) (any, error) {
	if e.Struct < 0 || e.Struct >= len(x.rewards) || e.StructDiv >= 0 {
		return nil, errors.New("JANI has no form for its reward structure")
	}
	out := object{"exp": x.rewards[e.Struct]}
	accumulated, instant := []string{"steps", "exit"}, "step-instant"
	if x.timed() {
		accumulated, instant = []string{"steps", "time"}, "time-instant"
	}
	out["accumulate"] = accumulated
	switch path := e.Path.(type) {
	case *sema.RewardPath:
		if path.Kind == syntax.LongRun {
			return x.asked("S", e.Threshold, out)
		}
		if path.Kind == syntax.Instantaneous {
			delete(out, "accumulate")
		}
		if path.Bound != nil {
			bound, err := x.expr(path.Bound)
			if err != nil {
				return nil, err
			}
			out[instant] = bound
		}
		return x.asked("E", e.Threshold, out)
	case *sema.Temporal:
		if path.Op == syntax.Future && path.Bound == nil && path.Y.Type() == sema.Bool {
			states, err := x.expr(path.Y)
			if err != nil {
				return nil, err
			}
			out["reach"] = states
			return x.asked("E", e.Threshold, out)
		}
	}
	return nil, errors.New("JANI has no rewards until a path formula holds, only until states are reached")
}
