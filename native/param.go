package native

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/check"
	"tilecheck/native/check/parametric"
	"tilecheck/native/load"
	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// openModel is an instance with parameters. It also has the model at one point of the parameters, where
// every function is compared with the value.
type openModel struct {
	chain     *parametric.Chain
	program   *sema.Program // with the parameters
	params    []parametric.Param
	low, high []*big.Rat // the bounds of the parameters
	point     *states    // the model with the values of params
}

// parametric checks a plan with parameters. The error says that a setting of the job is not supported for
// them.
func (r *run) parametric(m method) error {
	x, ok := m.(*statesMethod)
	job := &r.plan.Job
	switch {
	case !ok:
		return errors.New("functions of parameters are not sampled, want method exact")
	case job.States != nil:
		return errors.New("states that were read from files have no parameters")
	case job.Scheduler != nil || job.Witness != nil || job.Certificate != nil || x.proven || x.reduce || job.Numeric.Fair:
		return errors.New("functions of parameters have no schedulers, witnesses, certificates and quotients")
	case job.Numeric.Accuracy == result.Float:
		return errors.New("functions of parameters are computed exactly, found that floats were asked for")
	}
	exact := *x
	exact.build.Exact = true
	exact.build.Normalise = false
	exact.opt.Accuracy = result.Exact
	r.build = func(v sema.Valuation) (*sema.Program, instance, error) {
		open, err := r.plan.Model.InstantiateOpen(v.Map(), r.plan.Open())
		if err != nil {
			return nil, nil, err
		}
		if !open.Parametric { // no parameter occurs in the model
			return r.closed(&exact, open)
		}
		in, err := exact.open(r.ctx, r.plan, v, open)
		if err != nil {
			return nil, nil, err
		}
		return in.point.space.Program(), in, nil
	}
	return r.all()
}

// maxPoints is the number of points that are tried. At a suitable point, every weight and reward that is not zero
// everywhere is positive.
const maxPoints = 12

// open returns the instance of a program with parameters, at the first point of the region that is suitable.
func (e *statesMethod) open(ctx context.Context, plan *runner.Plan, v sema.Valuation, program *sema.Program) (*openModel, error) {
	in := &openModel{program: program}
	if t := in.program.Type; t != syntax.DTMC && t != syntax.CTMC && t != syntax.MDP {
		return nil, unsupported(in.program, "found %s, want a DTMC, CTMC or MDP for functions of parameters; or a value for each parameter (--const)", noun.WithArticle(t.String()))
	}
	for _, p := range plan.Params {
		in.low = append(in.low, p.Low)
		in.high = append(in.high, p.High)
	}
	var err error
	for try := range maxPoints {
		err = in.at(ctx, e, plan, v, try)
		if err == nil {
			return in, nil
		}
		_, notPositive := errors.AsType[*parametric.PointError](err)
		_, wrongState := errors.AsType[*compile.StateError](err)
		if !notPositive && !wrongState || ctx.Err() != nil {
			return nil, err
		}
	}
	return nil, in.nowhere(err)
}

// nowhere returns the error that no point is suitable. last is the error at the last point.
func (in *openModel) nowhere(last error) error {
	msg, pos := last.Error(), syntax.Pos{}
	if e, ok := errors.AsType[*compile.StateError](last); ok {
		msg, pos = e.Msg+" in state "+e.State, e.Pos
	} else if e, ok := errors.AsType[*parametric.PointError](last); ok {
		msg, pos = e.What, e.Pos
	}
	return &result.Failure{Class: result.Model, File: in.program.File, Pos: pos, Message: fmt.Sprintf("%s, where %s, and at %d other points of the region; want bounds of the parameters (p=0.1:0.4) within which the model is right", msg, pointText(in.params), maxPoints-1)}
}

// at builds the model at the point of a try: the parametric chain, and the states with the values of the point.
func (in *openModel) at(ctx context.Context, e *statesMethod, plan *runner.Plan, v sema.Valuation, try int) error {
	v = slices.Clip(v)
	in.params = nil
	for i, p := range plan.Params {
		// The point must not be special, such as on the boundary, or where parameters are equal or sum to one.
		// Later points are nearer to the lower bounds.
		share := big.NewRat(int64(29+37*(i+try))%97+2, 101<<(try/2))
		value := new(big.Rat).Sub(p.High, p.Low)
		value.Mul(value, share).Add(value, p.Low)
		in.params = append(in.params, parametric.Param{Name: p.Name, At: value})
		v = append(v, sema.NamedValue{Name: p.Name, Val: sema.RatValue(value)})
	}
	m, err := load.Instance(plan, v)
	if err != nil {
		return err
	}
	space, err := explicit.Build(ctx, m, e.build)
	if err != nil {
		return err
	}
	in.chain, err = parametric.New(ctx, space, in.program, in.params)
	if err != nil {
		return err
	}
	in.point = e.over(space, nil)
	return nil
}

// pointText returns a point as text, such as p=1/3, q=1/2.
func pointText(params []parametric.Param) string {
	var parts []string
	for _, p := range params {
		parts = append(parts, p.Name+"="+p.At.RatString())
	}
	return strings.Join(parts, ", ")
}

// independent returns an error if a parameter occurs in a property, or in a label that the property uses.
func independent(p *sema.Program, in instance, t *runner.Task, v sema.Valuation) error {
	if open, ok := in.(*openModel); ok {
		p = open.program // p has values instead of the parameters
	}
	property, err := t.Instance(p, v)
	if err != nil {
		return err
	}
	var found error
	var look func(e sema.Expr)
	look = func(e sema.Expr) {
		sema.Inspect(e, func(e sema.Expr) bool {
			switch e := e.(type) {
			case *sema.Param:
				found = &result.Failure{Class: result.Unsupported, File: t.Source.File, Pos: t.Pos, Message: fmt.Sprintf("the property depends on the parameter %s itself, want parameters in probabilities, rates and rewards only", e.Name)}
			case *sema.Label:
				if e.Index >= 0 {
					look(property.Program.Labels[e.Index].X)
				}
			}
			return found == nil
		})
	}
	look(property.X)
	return found
}

// check implements instance: it computes the value as a function of the parameters, and compares it with the value
// at the point.
func (in *openModel) check(ctx context.Context, p *property) result.Verdict {
	start := time.Now()
	f, err := (&openProperty{in, ctx, p}).value(p.X)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Unsupported, p.File, p.Pos)}
	}
	v := in.point.check(ctx, p)
	if v.Err != nil {
		return v
	}
	if err := in.confirm(f, v.Value); err != nil {
		return result.Verdict{Err: failure(err, result.Other, p.File, p.Pos)}
	}
	v.Seconds = time.Since(start).Seconds()
	subject, region := "this value", "where every probability, rate and reward with a parameter is positive"
	if in.program.Type == syntax.MDP {
		region = "between the bounds of the parameters"
	}
	if f != nil {
		_, constant := f.pieces[0].Value.Constant()
		if !constant || len(f.pieces) > 1 {
			v.Value = result.Value{Kind: result.Function, Formula: f.String()}
			v.Bound = nil
			subject = "the function"
		}
		region += f.regions()
	}
	v.Warnings = append(v.Warnings, subject+" is valid "+region+"; checked at "+pointText(in.params))
	return v
}

// piecewise is the value of a property as a piecewise function of the parameters. It has several pieces only for
// an MDP with one parameter. The function of each piece is the value of a scheduler in the whole region, so the
// value is the least or the greatest of all functions.
type piecewise struct {
	pieces []parametric.Piece
	least  bool
}

// single returns a function in one piece; nil for infinity. If err is not nil, it returns err.
func single(f *ratfunc.Func, err error) (*piecewise, error) {
	if f == nil || err != nil {
		return nil, err
	}
	return &piecewise{pieces: []parametric.Piece{{Value: f}}}, nil
}

// functions returns the different functions of the pieces.
func (a *piecewise) functions() []*ratfunc.Func {
	var out []*ratfunc.Func
	for _, p := range a.pieces {
		if !slices.ContainsFunc(out, p.Value.Equal) {
			out = append(out, p.Value)
		}
	}
	return out
}

// String returns the value as an expression of PRISM's language.
func (a *piecewise) String() string {
	var parts []string
	for _, f := range a.functions() {
		parts = append(parts, f.String())
	}
	switch {
	case len(parts) == 1:
		return parts[0]
	case a.least:
		return "min(" + strings.Join(parts, ", ") + ")"
	}
	return "max(" + strings.Join(parts, ", ") + ")"
}

// regions returns the text ": function from point to point, …"; empty if there is one piece.
func (a *piecewise) regions() string {
	if len(a.pieces) == 1 {
		return ""
	}
	var parts []string
	for _, p := range a.pieces {
		parts = append(parts, fmt.Sprintf("%s from %s to %s", p.Value, rootText(p.Low), rootText(p.High)))
	}
	return ": " + strings.Join(parts, ", ")
}

// rootText returns a root as text: a fraction or, if it is irrational, ten digits.
func rootText(r ratfunc.Root) string {
	maxWidth := big.NewRat(1, 1e12)
	for !r.Fraction() && new(big.Rat).Sub(r.High, r.Low).Cmp(maxWidth) > 0 {
		r = r.Narrow()
	}
	if r.Fraction() {
		return r.Low.RatString()
	}
	x, _ := r.Low.Float64()
	return fmt.Sprintf("about %.10g", x)
}

// confirm returns an error unless a function, nil for infinity, has value x at the point.
func (in *openModel) confirm(f *piecewise, x result.Value) error {
	if f == nil {
		if math.IsInf(x.Num, 1) {
			return nil
		}
		return errors.New("the value is infinite for parameters, and is not at a point; this is a bug: please report it")
	}
	var point []*big.Rat
	for _, p := range in.params {
		point = append(point, p.At)
	}
	var best *big.Rat
	for _, g := range f.functions() {
		if y, ok := g.At(point); ok && (best == nil || f.least == (y.Cmp(best) < 0)) {
			best = y
		}
	}
	if best == nil || x.Rat == nil || x.Rat.Cmp(best) != 0 {
		return fmt.Errorf("the function %s is not the value %v at %s; this is a bug: please report it", f, x.Num, pointText(in.params))
	}
	return nil
}

// openProperty is a property to evaluate as a function of the parameters of an open model.
type openProperty struct {
	*openModel
	ctx context.Context
	p   *property
}

// refuse returns the error that an expression cannot be evaluated.
func (o *openProperty) refuse(x sema.Expr, what string) error {
	return result.Refuse(&o.p.Instance, result.Unsupported, x.Pos(), "found %s in a model with parameters, want one operator P, R or S with =?, of one temporal operator or reward; or a value for each parameter (--const)", what)
}

// value returns the value of an expression in the initial state; nil is infinity.
func (o *openProperty) value(x sema.Expr) (*piecewise, error) {
	f := logic.Of(x)
	if f.Measure() && !f.Query() {
		return nil, o.refuse(x, "a bound")
	}
	switch f.Kind {
	case logic.Probability:
		return o.path(f)
	case logic.SteadyState:
		if o.program.Type == syntax.MDP {
			return nil, o.refuse(x, "S of an MDP")
		}
		set, err := o.states(f.Operand)
		if err != nil {
			return nil, err
		}
		return single(o.chain.LongRun(o.ctx, o.chain.Visits(set)))
	case logic.Reward:
		switch {
		case f.Objective.Err != nil:
			return nil, f.Objective.Err
		case f.Objective.Ratio:
			return nil, o.refuse(x, "a ratio of rewards")
		}
		return o.reward(f)
	case logic.Filter:
		return o.filter(f)
	}
	return o.arithmetic(x)
}

// filter returns the value of a filter, which must select the initial state only.
func (o *openProperty) filter(f *logic.Formula) (*piecewise, error) {
	switch f.Op {
	case "state", "first", "min", "max", "sum", "avg":
	default:
		return nil, o.refuse(f.X, "this filter")
	}
	if f.States == nil {
		return nil, o.refuse(f.X, "a filter over all states")
	}
	set, err := o.states(f.States)
	if err != nil {
		return nil, err
	}
	if m := o.point.space.Model(); set.Count() != 1 || !set.Has(int(m.Initial[0])) {
		return nil, o.refuse(f.X, "a filter over others than the initial state")
	}
	return o.value(f.Operand)
}

// arithmetic returns the value of a sum, difference, product or quotient. If one operand has several pieces, the other one
// must be a single function.
func (o *openProperty) arithmetic(e sema.Expr) (*piecewise, error) {
	b, ok := e.(*sema.Binary)
	if _, constant := e.(*sema.Const); !ok && !constant {
		return nil, o.refuse(e, "this formula")
	}
	if x, exact, err := sema.EvalExact(e, nil); err == nil && exact {
		if x.Type == sema.Int {
			x.Rat = big.NewRat(int64(x.Int), 1)
		}
		return single(o.chain.One().Scale(x.Rat), nil)
	}
	if !ok {
		return nil, o.refuse(e, "this formula")
	}
	x, err := o.value(b.X)
	if err != nil {
		return nil, err
	}
	y, err := o.value(b.Y)
	if err != nil {
		return nil, err
	}
	switch {
	case x == nil || y == nil:
		return nil, o.refuse(e, "arithmetic on infinity")
	case len(x.pieces) > 1 && len(y.pieces) > 1:
		return nil, o.refuse(e, "arithmetic on two values that several schedulers attain")
	}
	return combined(b.Op, x, y, func(what string) error { return o.refuse(e, what) })
}

// combined returns x op y, one of which is one function.
func combined(op syntax.Op, x, y *piecewise, refuse func(string) error) (*piecewise, error) {
	out := &piecewise{least: x.least}
	if len(y.pieces) > 1 {
		out.least = y.least != (op == syntax.OpSub)
	}
	if len(x.pieces)+len(y.pieces) > 2 && op != syntax.OpAdd && op != syntax.OpSub {
		return nil, refuse("products of values that several schedulers attain")
	}
	for _, f := range x.pieces {
		for _, g := range y.pieces {
			piece := g
			if len(x.pieces) > 1 {
				piece = f
			}
			switch {
			case op == syntax.OpAdd:
				piece.Value = f.Value.Add(g.Value)
			case op == syntax.OpSub:
				piece.Value = f.Value.Sub(g.Value)
			case op == syntax.OpMul:
				piece.Value = f.Value.Mul(g.Value)
			case op == syntax.OpDiv && !g.Value.IsZero():
				piece.Value = f.Value.Quo(g.Value)
			default:
				return nil, refuse("this formula")
			}
			out.pieces = append(out.pieces, piece)
		}
	}
	return out, nil
}

// best returns an extremal value of an MDP, or one minus it.
func (o *openProperty) best(f *logic.Formula, q parametric.Question, negated bool) (*piecewise, error) {
	least, ok := f.Least(false)
	if !ok {
		return nil, o.refuse(f.X, "a query that names neither minimum nor maximum")
	}
	q.Min = least != negated
	pieces, err := o.chain.Best(o.ctx, q, o.low, o.high)
	if pieces == nil || err != nil {
		return nil, err
	}
	for i, p := range pieces {
		if negated {
			pieces[i].Value = o.chain.One().Sub(p.Value)
		}
	}
	return &piecewise{pieces, least}, nil
}

// path returns the value of P.
func (o *openProperty) path(f *logic.Formula) (*piecewise, error) {
	p := f.Path
	if !p.Operator || p.Negated {
		return nil, o.refuse(f.X, "this path formula")
	}
	left := sparse.FullSet(o.point.space.Model().NumStates())
	var err error
	if p.Left != nil {
		if left, err = o.states(p.Left); err != nil {
			return nil, err
		}
	}
	right, err := o.states(p.Right)
	if err != nil {
		return nil, err
	}
	left, right, negated := check.Sets.AsUntil(p.Op, left, right)
	low, high, bounded, err := o.steps(p.Bound)
	if err != nil {
		return nil, err
	}
	var v *ratfunc.Func
	switch next := p.Op == syntax.Next; {
	case o.program.Type == syntax.MDP && (bounded || next):
		return nil, o.refuse(f.X, "X or a bound of an MDP")
	case o.program.Type == syntax.MDP:
		return o.best(f, parametric.Question{Left: left, Right: right}, negated)
	case next && bounded:
		return nil, o.refuse(f.X, "a bound of X")
	case next:
		v, err = o.chain.BoundedUntil(o.ctx, left, right, 1, 1)
	case bounded:
		v, err = o.chain.BoundedUntil(o.ctx, left, right, low, high)
	default:
		v, err = o.chain.Until(o.ctx, left, right)
	}
	if err != nil || !negated {
		return single(v, err)
	}
	return single(o.chain.One().Sub(v), nil)
}

// steps returns the bounds on the number of steps.
func (o *openProperty) steps(b *sema.Bound) (low, high int, bounded bool, err error) {
	if b == nil {
		return 0, 0, false, nil
	}
	if o.program.Type == syntax.CTMC || b.High == nil {
		return 0, 0, false, result.Refuse(&o.p.Instance, result.Unsupported, o.p.Pos, "found a bound on time, or from below alone, in a model with parameters; want one on steps from above, or a value for each parameter (--const)")
	}
	for _, end := range []sema.Expr{b.Low, b.High} {
		if end != nil {
			if _, err := o.count(end); err != nil {
				return 0, 0, false, err
			}
		}
	}
	low, high, err = logic.Steps(b)
	return low, high, true, err
}

// count evaluates a number of steps.
func (o *openProperty) count(x sema.Expr) (int, error) {
	v, _, err := sema.EvalExact(x, nil)
	if err == nil && v.Type != sema.Int {
		err = result.Refuse(&o.p.Instance, result.Unsupported, o.p.Pos, "found %v steps, want a whole number", v)
	}
	return int(v.Int), err
}

// reward returns the value of R.
func (o *openProperty) reward(f *logic.Formula) (*piecewise, error) {
	r := f.Objective
	var target *sparse.Set
	var err error
	if p := r.Path; p != nil {
		if !p.Operator || p.Negated || p.Op != syntax.Future || p.Bound != nil {
			return nil, o.refuse(f.X, "this reward")
		}
		target, err = o.states(p.Right)
		if err != nil {
			return nil, err
		}
	}
	rewards, err := o.chain.Rewards(r.Struct)
	if err != nil {
		return nil, err
	}
	switch {
	case o.program.Type == syntax.MDP && target != nil:
		return o.best(f, parametric.Question{Right: target, Rewards: rewards}, false)
	case o.program.Type == syntax.MDP:
		return nil, o.refuse(f.X, "another reward than R[F] of an MDP")
	case target != nil:
		return single(o.chain.ReachReward(o.ctx, rewards, target))
	case r.Form == logic.LongRun:
		return single(o.chain.LongRun(o.ctx, rewards))
	case r.Form == logic.CostBoundedReward:
		return nil, o.refuse(f.X, logic.Describe(r.X))
	case r.Form == logic.TotalReward:
		return single(o.chain.Total(o.ctx, rewards))
	case o.program.Type == syntax.CTMC:
		return nil, o.refuse(f.X, "a reward at or until a time")
	}
	steps, err := o.count(r.At)
	if err != nil {
		return nil, err
	}
	if r.Form == logic.Cumulative {
		return single(o.chain.Cumulative(o.ctx, rewards, steps))
	}
	rewards, err = o.chain.StateRewards(r.Struct)
	if err != nil {
		return nil, err
	}
	return single(o.chain.Instantaneous(o.ctx, rewards, steps))
}

// states returns the states in which a formula holds. The formula must not depend on parameters.
func (o *openProperty) states(x sema.Expr) (*sparse.Set, error) {
	if nested := logic.Nested(x, o.p.Program.Labels); nested != nil {
		return nil, result.Refuse(&o.p.Instance, result.Unsupported, nested.Pos(), "found a nested operator in a model with parameters; the states in which it holds may depend on them, want a value for each parameter (--const)")
	}
	q := &check.Property{Property: sema.Property{Text: o.p.Text, X: x, Pos: o.p.Pos}, Program: o.p.Program, File: o.p.File}
	values, v := o.point.checker.Values(o.ctx, q)
	if v.Err != nil {
		return nil, v.Err
	}
	set := sparse.NewSet(len(values.Lo))
	for s, x := range values.Lo {
		if x == 1 {
			set.Add(s)
		}
	}
	return set, nil
}
