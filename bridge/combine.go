package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"tilecheck/internal/interval"
	"tilecheck/parse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// answer is the value of an expression in one state, or of a filter. A number lies between lo and hi, as far as its accuracy
// guarantees that.
type answer struct {
	value    sema.Value
	lo, hi   float64
	bounds   bool // lo and hi are set
	accuracy result.Accuracy
}

// row is a state that Storm reported, with the answers about it by part name.
type row struct {
	state   []int32
	initial bool
	parts   map[string]answer
}

// evaluator evaluates the expression of a node for given values of its parts.
type evaluator struct {
	props  *sema.Properties
	prog   *sema.Program
	consts map[string]sema.Value
	x      sema.Expr // resolved with placeholder values
}

// evaluator resolves the expression of a node over the model, with the parts as constants. So answers are combined by the
// semantics of package sema.
func (a *decomposer) evaluator(n *node) (*evaluator, error) {
	file := &syntax.Properties{}
	e := &evaluator{prog: a.in.program, consts: make(map[string]sema.Value)}
	for _, x := range a.item.task.Source.Tree.Items {
		if c, ok := x.(*syntax.ConstDecl); ok {
			file.Items = append(file.Items, c)
		}
	}
	for _, v := range a.item.property {
		e.consts[v.Name] = v.Val
	}
	for _, p := range n.parts {
		c := &syntax.ConstDecl{Type: syntax.ConstDouble, HasType: true, Name: &syntax.Ident{Name: p.name}}
		e.consts[p.name] = sema.IntValue(0)
		switch {
		case p.isBool:
			c.Type, e.consts[p.name] = syntax.ConstBool, sema.BoolValue(false)
		case p.filter != nil && p.filter.op == "count":
			c.Type = syntax.ConstInt
		}
		file.Items = append(file.Items, c)
	}
	file.Items = append(file.Items, &syntax.Property{X: n.x})
	var err error
	if e.props, err = a.j.Model.CheckProperties(file); err != nil {
		return nil, err
	}
	e.x, err = e.instantiate(nil)
	return e, err
}

// instantiate returns the expression for given values of the parts.
func (e *evaluator) instantiate(parts map[string]answer) (sema.Expr, error) {
	for name, p := range parts {
		e.consts[name] = p.value
	}
	props, _, err := e.props.Instantiate(e.prog, nil, e.consts)
	if err != nil {
		return nil, err
	}
	return props[0].X, nil
}

// evaluate evaluates the expression of a node in a state.
func (q *question) evaluate(n *node, e *evaluator, r row) (answer, error) {
	if p, ok := n.singlePart(); ok {
		return r.parts[p.name], nil
	}
	x, err := e.instantiate(r.parts)
	if err != nil {
		return answer{}, err
	}
	v, exact, err := sema.EvalExact(x, r.state)
	if err != nil {
		return answer{}, err
	}
	out := answer{value: v, accuracy: result.Exact}
	if !exact && v.Type == sema.Double {
		out.accuracy = result.Float
	}
	for _, p := range r.parts {
		if p.accuracy != result.Exact && out.accuracy != result.Estimated {
			out.accuracy = result.Estimated // the error is not propagated through the expression
		}
	}
	if p, ok := n.complement(); ok && r.parts[p.name].bounds {
		of := r.parts[p.name]
		out.accuracy, out.bounds = of.accuracy, true
		out.lo, out.hi = max(0, interval.Below(1-of.hi)), min(1, interval.Above(1-of.lo))
	}
	if out.accuracy != result.Exact {
		out.value.Rat = nil
	}
	return out, nil
}

// complement returns the part p if the node's expression is 1-p.
func (n *node) complement() (*part, bool) {
	b, ok := syntax.Unparen(n.x).(*syntax.Binary)
	if !ok || b.Op != syntax.OpSub {
		return nil, false
	}
	one, ok := syntax.Unparen(b.X).(*syntax.IntLit)
	if !ok || one.Value != 1 {
		return nil, false
	}
	return (&node{x: b.Y, parts: n.parts}).singlePart()
}

// stateRows returns the states of a node with the answers of its parts.
func (q *question) stateRows(j *job, n *node) ([]row, error) {
	scalars := make(map[string]answer)
	var rows []row
	listed := false
	for _, p := range n.parts {
		var err error
		switch {
		case p.filter != nil:
			scalars[p.name], err = q.filterValue(j, p.filter)
		case !p.query.everyState:
			scalars[p.name] = scalarAnswer(p.query)
		default:
			rows, err = q.addAnswers(rows, p, listed)
			listed = true
		}
		if err != nil {
			return nil, err
		}
	}
	if !listed {
		rows = []row{{state: q.initial(), initial: true, parts: make(map[string]answer)}}
	}
	for i := range rows {
		for name, v := range scalars {
			rows[i].parts[name] = v
		}
	}
	return rows, nil
}

// addAnswers adds the answers of a part to the rows. All parts must be about the same states.
func (q *question) addAnswers(rows []row, p *part, listed bool) ([]row, error) {
	if listed && len(rows) != len(p.query.rows) {
		return nil, errors.New("Storm told of different states for parts of the property")
	}
	for i, s := range p.query.rows {
		state, err := q.readState(s.State)
		if err != nil {
			return nil, err
		}
		if !listed {
			rows = append(rows, row{state: state, initial: slices.Contains(s.Labels, "init"), parts: make(map[string]answer)})
		}
		if !slices.Equal(rows[i].state, state) {
			return nil, errors.New("Storm told of different states for parts of the property")
		}
		if rows[i].parts[p.name], err = p.query.rowAnswer(i); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// initial returns the initial state of a model that has a single one.
func (q *question) initial() []int32 {
	state := make([]int32, len(q.in.program.Vars))
	for i, v := range q.in.program.Vars {
		state[i] = v.Init
	}
	return state
}

// readState reads a valuation. Storm omits variables that never change.
func (q *question) readState(s parse.StormState) ([]int32, error) {
	if s.Valuation == nil {
		return nil, errors.New("Storm told of states without their valuations")
	}
	state := q.initial()
	for _, c := range s.Valuation {
		i := slices.IndexFunc(q.in.program.Vars, func(v sema.Variable) bool { return v.Name == c.Name })
		if i < 0 {
			continue // a formula or constant
		}
		x, ok := new(big.Rat).SetString(c.Value)
		switch {
		case c.Value == "true":
			state[i] = 1
		case c.Value == "false":
			state[i] = 0
		case ok && x.IsInt() && x.Num().IsInt64() && int64(int32(x.Num().Int64())) == x.Num().Int64():
			state[i] = int32(x.Num().Int64())
		default:
			return nil, fmt.Errorf("Storm told of a state in which %s is %q", c.Name, c.Value)
		}
	}
	return state, nil
}

// scalarAnswer converts the value that Storm printed.
func scalarAnswer(item *workItem) answer {
	v := item.verdict
	if v.Value.Kind == result.Boolean {
		return answer{value: sema.BoolValue(v.Value.Bool), accuracy: result.Exact}
	}
	return numberAnswer(v.Value, v.Accuracy, v.Bound)
}

// numberAnswer returns an answer with a number, its accuracy and its bounds, if there are any.
func numberAnswer(v result.Value, acc result.Accuracy, b *result.Interval) answer {
	out := answer{value: sema.DoubleValue(v.Num), accuracy: acc}
	if v.Rat != nil {
		out.value = sema.RatValue(v.Rat)
	}
	if b != nil {
		out.lo, out.hi, out.bounds = b.Lo, b.Hi, true
	}
	return out
}

// rowAnswer converts the value that Storm exported for a state.
func (item *workItem) rowAnswer(i int) (answer, error) {
	v := item.rows[i].Value
	if item.isBool {
		if v.Kind != result.Boolean {
			return answer{}, errors.New("Storm told of a number, want a truth value")
		}
		return answer{value: sema.BoolValue(v.Bool), accuracy: result.Exact}, nil
	}
	switch v.Kind {
	case result.Boolean:
		return answer{}, errors.New("Storm told of a truth value, want a number")
	case result.NoValue: // JSON has no infinity
		if of := logic.Read(item.query).Within; logic.Read(of).Kind != logic.Reward {
			return answer{}, errors.New("Storm told of no number")
		}
		v = result.Value{Kind: result.Number, Num: math.Inf(1)}
	}
	return numberAnswer(v, item.accuracies[i], item.bounds[i]), nil
}

// filterValue evaluates a filter.
func (q *question) filterValue(j *job, n *node) (answer, error) {
	values, rows, err := q.nodeValues(j, n)
	if err != nil {
		return answer{}, err
	}
	if len(values) == 0 {
		return answer{}, &result.Failure{Class: result.Other, Message: "filter satisfies no states"}
	}
	switch n.op {
	case "forall", "exists":
		all := n.op == "forall"
		some := slices.ContainsFunc(values, func(v answer) bool { return v.value.Bool != all })
		return answer{value: sema.BoolValue(all != some), accuracy: result.Exact}, nil
	case "count":
		n := 0
		for _, v := range values {
			if v.value.Bool {
				n++
			}
		}
		return answer{value: sema.IntValue(int32(n)), accuracy: result.Exact}, nil
	case "state", "first":
		if n.op == "state" && len(values) != 1 {
			return answer{}, &result.Failure{Class: result.Other, Message: fmt.Sprintf("filter should be satisfied in exactly 1 state, but is in %d", len(values))}
		}
		return values[firstRow(rows)], nil
	case "min", "max":
		return foldAnswers(values, func(a, b answer) answer { return extremum(n.op == "min", a, b) }), nil
	case "sum":
		return foldAnswers(values, add), nil
	case "avg":
		return average(foldAnswers(values, add), len(values)), nil
	}
	return answer{}, &result.Failure{Class: result.Unsupported, Message: "filter type " + n.op + " inside another property"}
}

// firstRow returns the index of the first state in PRISM's order.
func firstRow(rows []row) int {
	best := 0
	for i := range rows {
		if slices.Compare(rows[i].state, rows[best].state) < 0 {
			best = i
		}
	}
	return best
}

// nodeValues evaluates the expression of a node in all its states.
func (q *question) nodeValues(j *job, n *node) ([]answer, []row, error) {
	rows, err := q.stateRows(j, n)
	if err != nil {
		return nil, nil, err
	}
	a := &decomposer{j: j, item: q.item, in: q.in}
	e, err := a.evaluator(n)
	if err != nil {
		return nil, nil, err
	}
	values := make([]answer, len(rows))
	for i, r := range rows {
		if values[i], err = q.evaluate(n, e, r); err != nil {
			return nil, nil, err
		}
	}
	return values, rows, nil
}

// foldAnswers combines all answers with f, from the left.
func foldAnswers(values []answer, f func(a, b answer) answer) answer {
	out := values[0]
	for _, v := range values[1:] {
		out = f(out, v)
	}
	return out
}

// combinedAccuracy returns the accuracy of a value that depends on two values, and whether it has bounds.
func combinedAccuracy(a, b answer) (result.Accuracy, bool) {
	if a.accuracy == result.Exact && b.accuracy == result.Exact {
		return result.Exact, a.bounds && b.bounds
	}
	for _, x := range []*answer{&a, &b} {
		if x.accuracy == result.Exact && !x.bounds {
			x.lo, x.hi, x.bounds = interval.Below(x.value.Float), interval.Above(x.value.Float), true
		}
	}
	if a.bounds && b.bounds {
		return result.Claimed, true
	}
	return result.Estimated, false
}

// ends returns the bounds of a value; for an exact value without bounds, its neighbouring float64 numbers.
func (a answer) ends() (lo, hi float64) {
	if a.bounds {
		return a.lo, a.hi
	}
	return interval.Below(a.value.Float), interval.Above(a.value.Float)
}

// extremum returns the smaller answer if least is true, otherwise the larger one, with bounds of the extremum.
func extremum(least bool, a, b answer) answer {
	out := a
	if smaller(b.value, a.value) == least {
		out = b
	}
	al, ah := a.ends()
	bl, bh := b.ends()
	out.accuracy, out.bounds = combinedAccuracy(a, b)
	if out.lo, out.hi = max(al, bl), max(ah, bh); least {
		out.lo, out.hi = min(al, bl), min(ah, bh)
	}
	if out.accuracy != result.Exact {
		out.value.Rat = nil
	}
	return out
}

// smaller reports whether x < y, exactly if both are fractions.
func smaller(x, y sema.Value) bool {
	if x.Rat != nil && y.Rat != nil {
		return x.Rat.Cmp(y.Rat) < 0
	}
	return x.Float < y.Float
}

// add returns the sum of two answers, with bounds that allow for rounding.
func add(a, b answer) answer {
	al, ah := a.ends()
	bl, bh := b.ends()
	out := answer{value: sema.DoubleValue(a.value.Float + b.value.Float), lo: interval.Below(al + bl), hi: interval.Above(ah + bh)}
	out.accuracy, out.bounds = combinedAccuracy(a, b)
	if out.accuracy == result.Exact && a.value.Rat != nil && b.value.Rat != nil {
		out.value = sema.RatValue(new(big.Rat).Add(a.value.Rat, b.value.Rat))
	} else if out.accuracy == result.Exact && !math.IsInf(out.value.Float, 0) {
		out.accuracy = result.Float
	}
	return out
}

// average divides a sum of n answers by n.
func average(sum answer, n int) answer {
	out := sum
	out.value = sema.DoubleValue(sum.value.Float / float64(n))
	out.lo, out.hi = interval.Below(sum.lo/float64(n)), interval.Above(sum.hi/float64(n))
	if sum.value.Rat != nil {
		out.value = sema.RatValue(new(big.Rat).Quo(sum.value.Rat, big.NewRat(int64(n), 1)))
	}
	return out
}

// settle combines the answers and sets the verdict of the item.
func (q *question) settle(j *job) {
	v := q.gather(q.root)
	q.item.verdict = v
	if v.Err != nil {
		return
	}
	if p, ok := q.root.singlePart(); ok && p.query != nil && !p.query.everyState {
		v.Value, v.Accuracy, v.Bound = p.query.verdict.Value, p.query.verdict.Accuracy, p.query.verdict.Bound
		return
	}
	if err := q.conclude(j, v); err != nil {
		*v = result.Verdict{Err: failed(err), Tool: v.Tool, Warnings: v.Warnings}
	}
}

// failed converts an error of combining answers to a failure.
func failed(err error) *result.Failure {
	if f, ok := errors.AsType[*result.Failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*sema.EvalError](err); ok {
		return &result.Failure{Class: result.TypeError, Message: e.Msg, Pos: e.Pos}
	}
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		return &result.Failure{Class: result.TypeError, Message: list[0].Msg, Pos: list[0].Pos}
	}
	return &result.Failure{Class: result.Other, Message: err.Error()}
}

// gather returns a verdict without a value that combines the queries' verdicts: times, warnings, and the first failure.
func (q *question) gather(n *node) *result.Verdict {
	for _, item := range q.asked {
		if item.infinite && item.verdict.Err == nil && !item.floatingPoint {
			item.verdict.Err = &result.Failure{Class: result.Unsupported, Message: "found 100000000000, which is also what Storm writes for infinity in exact arithmetic"}
		}
	}
	combined := &result.Verdict{}
	for i, v := range n.queryVerdicts() {
		if i == 0 {
			*combined = *v
			combined.Warnings = slices.Clone(v.Warnings)
			continue
		}
		for _, warning := range v.Warnings {
			if !slices.Contains(combined.Warnings, warning) {
				combined.Warnings = append(combined.Warnings, warning)
			}
		}
		combined.Seconds += v.Seconds
		combined.Err = cmp.Or(combined.Err, v.Err)
		combined.Doubt = cmp.Or(combined.Doubt, v.Doubt)
	}
	combined.Value, combined.Accuracy, combined.Bound = result.Value{}, result.Unknown, nil
	return combined
}

// queryVerdicts returns the verdicts of the queries of a node and its filters. A query without a verdict gets one with an error.
func (n *node) queryVerdicts() []*result.Verdict {
	var verdicts []*result.Verdict
	for _, p := range n.parts {
		switch {
		case p.filter != nil:
			verdicts = append(verdicts, p.filter.queryVerdicts()...)
		case p.query.verdict != nil:
			verdicts = append(verdicts, p.query.verdict)
		default:
			noVerdict := &result.Failure{Class: result.Other, Message: "the tool said nothing about a part of this property"}
			verdicts = append(verdicts, &result.Verdict{Err: noVerdict})
		}
	}
	return verdicts
}

// conclude evaluates the property in the initial states. A truth value must hold in all of them; several numbers give a range.
func (q *question) conclude(j *job, v *result.Verdict) error {
	if len(q.asked) == 0 {
		v.Warnings = append(v.Warnings, "evaluated by tilecheck: Storm has no properties that are expressions")
	}
	if p, ok := q.root.singlePart(); ok && p.filter != nil && (p.filter.op == "range" || p.filter.op == "argmin" || p.filter.op == "argmax") {
		return q.concludeFilter(j, p.filter, v)
	}
	values, _, err := q.nodeValues(j, q.root)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return errors.New("Storm told of no initial states")
	}
	return setValue(v, values, len(values) > 1)
}

// setValue sets the value of a verdict to the combined value of several states.
func setValue(v *result.Verdict, values []answer, several bool) error {
	if values[0].value.Type == sema.Bool {
		all := !slices.ContainsFunc(values, func(x answer) bool { return !x.value.Bool })
		v.Value, v.Accuracy = result.Value{Kind: result.Boolean, Bool: all}, values[0].accuracy
		for _, x := range values {
			if x.accuracy != result.Exact {
				v.Accuracy = x.accuracy
			}
		}
		return nil
	}
	low := foldAnswers(values, func(a, b answer) answer { return extremum(true, a, b) })
	high := foldAnswers(values, func(a, b answer) answer { return extremum(false, a, b) })
	v.Accuracy = low.accuracy
	v.Value = result.Value{Kind: result.Number, Num: low.value.Float, Rat: low.value.Rat}
	switch {
	case several:
		v.Value = result.Value{Kind: result.Range, Num: low.value.Float, Hi: high.value.Float}
	case low.value.Type == sema.Int:
		v.Value.Kind = result.Integer
	}
	if low.bounds && high.bounds {
		v.Bound = &result.Interval{Lo: low.lo, Hi: high.hi}
	}
	return nil
}

// concludeFilter evaluates the filters range, argmin and argmax. For argmin and argmax the verdict says whether the initial states
// are among the states with the least or greatest value.
func (q *question) concludeFilter(j *job, n *node, v *result.Verdict) error {
	values, rows, err := q.nodeValues(j, n)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return &result.Failure{Class: result.Other, Message: "filter satisfies no states"}
	}
	if n.op == "range" {
		return setValue(v, values, true)
	}
	best := foldAnswers(values, func(a, b answer) answer { return extremum(n.op == "argmin", a, b) })
	initial, all := 0, true
	for i, r := range rows {
		if r.initial {
			initial++
			all = all && values[i].value.Float == best.value.Float
		}
	}
	v.Accuracy = best.accuracy
	v.Value = result.Value{Kind: result.Boolean, Bool: all && initial > 0}
	if best.accuracy != result.Exact {
		v.Accuracy = result.Estimated
	}
	if q.in.program.Init != nil && all {
		return &result.Failure{Class: result.Unsupported, Message: n.op + " over several initial states, which Storm does not tell of all"}
	}
	return nil
}

// unreadable reports whether Storm printed a value that package parse does not support, but which the exported file may have.
func unreadable(f *result.Failure) bool {
	return f != nil && f.Class == result.Unsupported && !strings.HasPrefix(f.Message, "Storm cannot")
}
