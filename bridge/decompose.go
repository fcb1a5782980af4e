package bridge

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// question is a property that was decomposed into queries for Storm.
type question struct {
	item *workItem
	in   *instance
	root *node
	// asked are all queries.
	asked []*workItem
}

// node is an expression over the answers of Storm. It is evaluated in the initial states, or in the states of a filter, which
// combines the values to one.
type node struct {
	op    string      // the filter's operator; empty for the initial states
	x     syntax.Expr // over the names of the parts
	parts []*part
}

// part is the meaning of a name in a node's expression: an answer of Storm, or the value of a nested filter, which is the
// same in every state.
type part struct {
	name   string
	isBool bool // a truth value, else a number
	query  *workItem
	filter *node
}

// decomposer decomposes the property of one item.
type decomposer struct {
	j        *job
	item     *workItem
	in       *instance
	refs     map[string]*syntax.Property
	defs     map[string]syntax.Expr // of labels
	names    int
	expanded int // number of references to properties that were expanded
	asked    []*workItem
	err      error
}

// maxReferences is the greatest number of references to properties that are expanded: nested references can multiply.
const maxReferences = 1 << 12

// ask decomposes a property, which is evaluated in the initial states or, with a filter operator op, in all states. The result
// has no queries if the property can be evaluated without Storm.
func ask(j *job, item *workItem, in *instance, op string) (*question, error) {
	if j.Job.Numeric.Fair {
		return nil, &syntax.DialectError{Dialect: syntax.Storm, Feature: "fair schedulers"}
	}
	a := &decomposer{j: j, item: item, in: in, refs: make(map[string]*syntax.Property), defs: make(map[string]syntax.Expr)}
	for _, x := range item.task.Source.Tree.Items {
		switch x := x.(type) {
		case *syntax.LabelDecl:
			a.defs[x.Name.Name] = x.X
		case *syntax.Property:
			if x.Name != nil {
				a.refs[x.Name.Name] = x
			}
		}
	}
	if j.Tree != nil {
		for _, x := range j.Tree.Items {
			if l, ok := x.(*syntax.LabelDecl); ok {
				a.defs[l.Name.Name] = l.X
			}
		}
	}
	root := a.newNode(a.rewriteForStorm(item.task.Property.X), op, nil)
	for _, q := range a.asked {
		q.in = in
		if j.Job.States != nil {
			q.query = a.replaceByLabels(q.query)
		}
	}
	if a.err == nil {
		a.checkPrintable()
	}
	return &question{item: item, in: in, root: root, asked: a.asked}, a.err
}

// checkPrintable tries to write every query in Storm's dialect, so that one that cannot be written does not make others fail.
func (a *decomposer) checkPrintable() {
	for _, q := range a.asked {
		file, err := stormProperties([]*workItem{q})
		if err == nil {
			_, err = a.in.print(file, true)
		}
		if err != nil {
			a.fail(err)
			return
		}
	}
}

// fail records an error, if it is the first one.
func (a *decomposer) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// refuse records that Storm does not support an expression.
func (a *decomposer) refuse(x syntax.Expr, feature string) {
	a.fail(&syntax.DialectError{Pos: x.Pos(), Dialect: syntax.Storm, Feature: feature})
}

// rewriteForStorm expands references to properties, names reward structures and resolves strategy operators.
func (a *decomposer) rewriteForStorm(x syntax.Expr) syntax.Expr {
	return syntax.Rewrite(x, func(x syntax.Expr) syntax.Expr {
		switch w := logic.Read(x); w.Kind {
		case logic.Label:
			if p := a.refs[w.Name]; p != nil {
				if a.expanded++; a.expanded > maxReferences {
					a.refuse(x, fmt.Sprintf("more than %d references to properties, written out", maxReferences))
					return x
				}
				return &syntax.Paren{X: a.rewriteForStorm(p.X)}
			}
			if w.Name == "deadlock" && a.in.deadlock != "" {
				own := *x.(*syntax.Quoted)
				own.Name = a.in.deadlock
				return &own
			}
		case logic.Reward:
			return a.withoutBraces(logic.Read(a.nameReward(x.(*syntax.Reward))))
		case logic.Probability, logic.SteadyState:
			return a.withoutBraces(w)
		case logic.Strategy:
			return a.strategy(w)
		}
		return x
	})
}

// nameReward replaces the number of a reward structure by its name; without a number it is the first one.
func (a *decomposer) nameReward(x *syntax.Reward) syntax.Expr {
	named := *x
	if _, isName := x.Struct.(*syntax.Quoted); isName || len(a.in.rewards) == 0 {
		return &named
	}
	index := 1
	if x.Struct != nil {
		value, err := a.constant(x.Struct)
		if err != nil {
			a.fail(err)
			return &named
		}
		index = int(value.Int)
	}
	if index < 1 || index > len(a.in.rewards) {
		a.fail(&result.Failure{Class: result.TypeError, Message: fmt.Sprintf("invalid reward structure index \"%d\", want 1 to %d", index, len(a.in.rewards)), Pos: x.Pos()})
		return &named
	}
	named.Struct = &syntax.Quoted{Name: a.in.rewards[index-1], Span: x.Span}
	return &named
}

// withoutBraces rewrites {states}{min}{max} as a filter.
func (a *decomposer) withoutBraces(w logic.Written) syntax.Expr {
	if w.Braces == nil {
		return w.X
	}
	return &syntax.Filter{Op: w.Braces.Op(w.Threshold), X: w.With(w.Threshold, w.Within), States: w.Braces.States}
}

// strategy resolves <<…>> and [[…]] of an MDP for the coalition of all players or of none. A bound must then hold for all
// schedulers or for some; it holds for some if its negation does not hold for all.
func (a *decomposer) strategy(w logic.Written) syntax.Expr {
	if a.in.program.Type != syntax.MDP || w.Coalition {
		return w.X
	}
	inner := logic.Read(syntax.Unparen(w.Within))
	if inner.Kind != logic.Probability && inner.Kind != logic.Reward {
		return w.X
	}
	if inner.Query() || !w.Some {
		return inner.X
	}
	t := inner.Threshold
	t.Rel = t.Rel.Negated()
	return &syntax.Paren{X: not(&syntax.Paren{X: inner.With(t, inner.Within)})}
}

// newNode decomposes an expression that is evaluated in the initial states, or in those of a filter.
func (a *decomposer) newNode(x syntax.Expr, op string, states syntax.Expr) *node {
	for w := logic.Read(syntax.Unparen(x)); (op == "" || op == allValues) && w.Prints(); w = logic.Read(syntax.Unparen(x)) {
		x = w.Within // the result is the value in the initial states
	}
	n := &node{op: op}
	n.x = a.decompose(n, x)
	_, one := n.singlePart()
	switch {
	case op != "" && states == nil:
		states = &syntax.BoolLit{Value: true}
	case op == "" && (a.in.program.Init != nil || a.in.tree == nil) && !one: // only Storm knows which they are
		states = &syntax.Quoted{Name: "init"}
	}
	if states != nil && len(n.queries()) == 0 { // query the states only
		a.askStorm(n, &syntax.BoolLit{Value: true}, true)
	}
	for _, q := range n.queries() {
		if states != nil {
			q.query, q.everyState = &syntax.Filter{Op: allValues, X: q.query, States: states}, true
			a.asked = slices.DeleteFunc(a.asked, func(item *workItem) bool { return item == q.value })
			q.value = nil
		}
	}
	return n
}

// allValues is Storm's filter operator that returns all values.
const allValues = "values"

// singlePart returns the part if the node's expression is nothing but the name of a part.
func (n *node) singlePart() (*part, bool) {
	id, ok := syntax.Unparen(n.x).(*syntax.Ident)
	if !ok {
		return nil, false
	}
	i := slices.IndexFunc(n.parts, func(p *part) bool { return p.name == id.Name })
	if i < 0 {
		return nil, false
	}
	return n.parts[i], true
}

// queries returns the queries of the node itself, without those of nested filters.
func (n *node) queries() []*workItem {
	var out []*workItem
	for _, p := range n.parts {
		if p.query != nil {
			out = append(out, p.query)
		}
	}
	return out
}

// decompose replaces the operators in an expression by names of parts.
func (a *decomposer) decompose(n *node, x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.Paren:
		return &syntax.Paren{X: a.decompose(n, x.X), Span: x.Span}
	case *syntax.Unary:
		c := *x
		c.X = a.decompose(n, x.X)
		return &c
	case *syntax.Binary:
		c := *x
		c.X, c.Y = a.decompose(n, x.X), a.decompose(n, x.Y)
		return &c
	case *syntax.Cond:
		c := *x
		c.C, c.T, c.E = a.decompose(n, x.C), a.decompose(n, x.T), a.decompose(n, x.E)
		return &c
	}
	return a.decomposeOperator(n, x)
}

// decomposeOperator replaces an operator by the name of a part, or by an expression with such names. It returns any other
// expression as it is, with the arguments of a function decomposed.
func (a *decomposer) decomposeOperator(n *node, x syntax.Expr) syntax.Expr {
	switch w := logic.Read(x); w.Kind {
	case logic.Label:
		if def, ok := a.defs[w.Name]; ok {
			return &syntax.Paren{X: a.decompose(n, def)}
		}
		return a.askStorm(n, x, true)
	case logic.Filter:
		return a.filter(n, w)
	case logic.Probability:
		return a.probability(n, w)
	case logic.Reward:
		return a.reward(n, w)
	case logic.SteadyState:
		return a.askStorm(n, x, !w.Query())
	case logic.Quantified, logic.Strategy:
		return a.askStorm(n, x, true)
	case logic.Objectives:
		return a.multi(n, w)
	case logic.Quantile:
		a.refuse(x, "quantile, as tilecheck reads its answer,")
	case logic.Lexicographic:
		a.refuse(x, "multilex, as tilecheck reads its answer,")
	case logic.PathFormula:
		a.refuse(x, "the temporal operator "+w.Path.Op.String()+" outside P")
	}
	if call, ok := x.(*syntax.Call); ok {
		return a.call(n, call)
	}
	return x
}

// call decomposes the arguments of a function.
func (a *decomposer) call(n *node, x *syntax.Call) syntax.Expr {
	c := *x
	c.Args = slices.Clone(x.Args)
	for i := range c.Args {
		c.Args[i] = a.decompose(n, c.Args[i])
	}
	return &c
}

// multi adds a query for multi(...).
func (a *decomposer) multi(n *node, w logic.Written) syntax.Expr {
	queries := 0
	for _, x := range w.Objectives {
		if logic.Read(syntax.Unparen(x)).Query() {
			queries++
		}
	}
	if queries > 1 {
		a.refuse(w.X, "the points of a Pareto curve in a form that is read")
	}
	return a.askStorm(n, w.X, queries == 0)
}

// filter makes a nested filter a part of the expression around it.
func (a *decomposer) filter(n *node, w logic.Written) syntax.Expr {
	op := map[string]string{"+": "sum", "&": "forall", "|": "exists"}[w.Op]
	if op == "" {
		op = w.Op
	}
	if w.Prints() {
		return a.decompose(n, w.Within)
	}
	of := a.newNode(w.Within, op, w.States)
	truth := op == "forall" || op == "exists" || (op == "first" || op == "state") && a.isBoolNode(of)
	return a.addPart(n, &part{isBool: truth, filter: of})
}

// isBoolNode reports whether the expression of a node is of type bool.
func (a *decomposer) isBoolNode(n *node) bool {
	e, err := a.evaluator(n)
	return err == nil && e.x.Type() == sema.Bool
}

// addPart adds a part to a node and returns its name.
func (a *decomposer) addPart(n *node, p *part) syntax.Expr {
	a.names++
	p.name = "tilecheck_part_" + strconv.Itoa(a.names)
	n.parts = append(n.parts, p)
	return &syntax.Ident{Name: p.name}
}

// askStorm adds a query for an operator.
func (a *decomposer) askStorm(n *node, x syntax.Expr, truth bool) syntax.Expr {
	q := &workItem{task: a.item.task, model: a.item.model, property: a.item.property, number: a.j.number(a.in), stormQuery: stormQuery{query: x, isBool: truth, floatingPoint: a.soundIsWrong(x)}}
	a.asked = append(a.asked, q)
	if truth && a.j.Job.Numeric.Accuracy != result.Exact {
		a.askValue(q)
	}
	return a.addPart(n, &part{isBool: truth, query: q})
}

// askValue adds a query for the value of an operator with a bound, because Storm compares the value with the bound as if the value
// were exact. It is not needed if a probability is compared with 0 or 1: graph algorithms decide that.
func (a *decomposer) askValue(q *workItem) {
	w := logic.Read(syntax.Unparen(q.query))
	if !w.Measure() || w.Query() {
		return
	}
	timed := w.Kind != logic.Probability || w.Path != nil && w.Path.Bound != nil
	bound, err := a.constant(w.Bound)
	if q.bound = bound.Float; err != nil || !timed && (q.bound == 0 || q.bound == 1) {
		return
	}
	t := syntax.Threshold{Extremum: w.Extremum}
	if a.in.program.Type == syntax.MDP && t.Extremum == syntax.NoExtremum {
		t.Extremum = syntax.Max
		if w.Rel == syntax.OpGt || w.Rel == syntax.OpGe {
			t.Extremum = syntax.Min
		}
	}
	value := w.With(t, w.Within)
	q.value = &workItem{task: q.task, model: q.model, property: q.property, number: a.j.number(a.in), stormQuery: stormQuery{query: value, floatingPoint: q.floatingPoint}}
	a.asked = append(a.asked, q.value)
}

// soundIsWrong reports whether Storm's --sound gives wrong answers for an expression: for an instantaneous reward of a CTMC it
// restarts from an imprecise value, so that its claim is about a later time.
func (a *decomposer) soundIsWrong(x syntax.Expr) bool {
	if n := a.j.Job.Numeric.Accuracy; a.in.program.Type != syntax.CTMC || n == result.Exact {
		return false
	}
	found := false
	syntax.Inspect(x, func(n syntax.Node) bool {
		path, ok := n.(*syntax.RewardPath)
		found = found || ok && path.Kind == syntax.Instantaneous
		return !found
	})
	return found
}

// probability adds a query for a P operator. If Storm lacks the path formula it asks for the dual one. It adapts bounds that
// Storm reads differently.
func (a *decomposer) probability(n *node, w logic.Written) syntax.Expr {
	if w.Path == nil {
		return a.askStorm(n, w.X, !w.Query())
	}
	path, dual := a.dual(w)
	if path.Bound != nil {
		var err error
		if path, err = a.checkBound(path); err != nil {
			a.fail(err)
			return w.X
		}
	}
	t := w.Threshold
	switch {
	case !dual:
		return a.guardLowerBound(n, w.With(t, path))
	case !w.Query():
		t.Rel, t.Bound = w.Rel.Mirrored(), &syntax.Binary{Op: syntax.OpSub, X: &syntax.IntLit{Value: 1}, Y: &syntax.Paren{X: w.Bound}}
		return a.guardLowerBound(n, w.With(t, path))
	case w.Extremum == syntax.Min:
		t.Extremum = syntax.Max
	case w.Extremum == syntax.Max:
		t.Extremum = syntax.Min
	}
	return &syntax.Paren{X: &syntax.Binary{Op: syntax.OpSub, X: &syntax.IntLit{Value: 1}, Y: a.guardLowerBound(n, w.With(t, path))}}
}

// dual returns a formula that Storm supports and that is equivalent to the operator's formula or to its negation.
func (a *decomposer) dual(w logic.Written) (u *syntax.Temporal, negated bool) {
	t := w.Path
	if u, ok := t.Dual(); ok {
		return u, true
	}
	if a.in.program.Type != syntax.CTMC {
		if n, y := countNext(t); n > 1 && !syntax.IsPath(y) {
			// X X y is y after two steps.
			return &syntax.Temporal{Op: syntax.Future, Y: &syntax.Paren{X: y}, Bound: exactly(n), Span: t.Span}, false
		}
	}
	if u, negated, ok := a.rewriteRepeated(w); ok {
		return u, negated
	}
	return t, false
}

// countNext counts the operators X at the beginning of a formula.
func countNext(t *syntax.Temporal) (n int32, y syntax.Expr) {
	y = t
	for {
		next := logic.TemporalOf(y)
		if next == nil || next.Op != syntax.Next || next.Bound != nil {
			return n, y
		}
		n, y = n+1, next.Y
	}
}

// exactly returns the bound "after exactly so many steps".
func exactly(steps int32) *syntax.TimeBound {
	n := &syntax.IntLit{Value: steps}
	return &syntax.TimeBound{Low: n, High: n, Equal: true}
}

// rewriteRepeated rewrites G F a and F G a without LTL, because Storm supports LTL only with Spot. A path of a finite
// Markov chain ends in a BSCC, all of whose states it visits infinitely often; so it reaches states in which G F a, or
// G a, is almost sure. In an MDP, the maximum for F G a is the maximal probability to reach states in which some
// scheduler makes G a almost sure, and G F a is the negation of F G !a. For the other extremum there is no such rewriting.
func (a *decomposer) rewriteRepeated(w logic.Written) (u *syntax.Temporal, negated, ok bool) {
	t := w.Path
	inner := logic.TemporalOf(t.Y)
	if inner == nil {
		return nil, false, false
	}
	always := t.Op == syntax.Future && inner.Op == syntax.Globally // F G
	again := t.Op == syntax.Globally && inner.Op == syntax.Future  // G F
	if !always && !again || t.Bound != nil || inner.Bound != nil || syntax.IsPath(inner.Y) {
		return nil, false, false
	}
	y := syntax.Expr(&syntax.Paren{X: inner.Y})
	sure := func(path *syntax.Temporal) syntax.Expr {
		return &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpGe, Bound: &syntax.IntLit{Value: 1}}, Path: path}
	}
	switch best := w.Extremum == syntax.Max || w.Rel == syntax.OpLt || w.Rel == syntax.OpLe; {
	case a.in.program.Type == syntax.MDP && best != always:
		return nil, false, false
	case a.in.program.Type == syntax.MDP:
		if again {
			y = &syntax.Paren{X: not(y)}
		}
		never := &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpLt, Bound: &syntax.IntLit{Value: 1}}, Path: &syntax.Temporal{Op: syntax.Globally, Y: y}}
		return &syntax.Temporal{Op: syntax.Future, Y: &syntax.Paren{X: not(&syntax.Paren{X: never})}, Span: t.Span}, again, true
	case a.in.program.Type != syntax.DTMC && a.in.program.Type != syntax.CTMC:
		return nil, false, false
	case again:
		y = &syntax.Paren{X: sure(&syntax.Temporal{Op: syntax.Future, Y: y})}
	}
	return &syntax.Temporal{Op: syntax.Future, Y: &syntax.Paren{X: sure(&syntax.Temporal{Op: syntax.Globally, Y: y})}, Span: t.Span}, false, true
}

// not returns the negation of an expression.
func not(x syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNot, X: x} }

// guardLowerBound adds a query for an until with a lower step bound. Storm ignores the bound if no state satisfies the left side on the
// way. So it also asks whether such a state exists; if not, the probability is 0.
func (a *decomposer) guardLowerBound(n *node, x syntax.Expr) syntax.Expr {
	w := logic.Read(x)
	u, truth := w.Path, !w.Query()
	if a.in.program.Type == syntax.CTMC || u.Op != syntax.Until || u.Bound == nil || u.Bound.Low == nil || isTrue(u.X) {
		return a.askStorm(n, x, truth)
	}
	reach := &syntax.Temporal{Op: syntax.Until, X: u.X, Y: u.Y, Bound: &syntax.TimeBound{High: u.Bound.High}}
	if u.Bound.High == nil {
		reach.Bound = nil
	}
	some := syntax.Expr(&syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpGt, Bound: &syntax.IntLit{}}, Path: reach})
	if best := w.Extremum == syntax.Max || truth && (w.Rel == syntax.OpLt || w.Rel == syntax.OpLe); best {
		none := &syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpLe, Bound: &syntax.IntLit{}}, Path: reach}
		some = &syntax.Paren{X: not(&syntax.Paren{X: none})}
	}
	both := &syntax.Binary{Op: syntax.OpAnd, X: &syntax.Paren{X: u.X}, Y: some}
	guard := a.addPart(n, &part{isBool: true, filter: a.newNode(both, "exists", nil)})
	otherwise := syntax.Expr(&syntax.IntLit{})
	if truth { // compare 0 instead of the probability
		otherwise = &syntax.Binary{Op: w.Rel, X: otherwise, Y: &syntax.Paren{X: w.Bound}}
	}
	return &syntax.Paren{X: &syntax.Cond{C: guard, T: a.askStorm(n, x, truth), E: otherwise}}
}

// checkBound evaluates the bound of an operator. It refuses bounds that PRISM refuses and Storm accepts, and removes trivial
// bounds, which Storm refuses.
func (a *decomposer) checkBound(u *syntax.Temporal) (*syntax.Temporal, error) {
	b := *u.Bound
	out := *u
	low, high, err := a.evaluateBounds(&b)
	if err != nil {
		return nil, err
	}
	problem := ""
	discrete := a.in.program.Type != syntax.CTMC && !a.in.program.Model().IsMarkovAutomaton()
	zero := new(big.Rat)
	switch {
	case low != nil && low.Cmp(zero) < 0:
		problem = "lower bound " + low.RatString() + " is negative"
	case high != nil && (high.Cmp(zero) < 0 || b.HighStrict && high.Sign() == 0):
		problem = "upper bound " + high.RatString() + " holds at no time"
	case low != nil && high != nil && empty(low, high, b.LowStrict, b.HighStrict, discrete):
		problem = "the bounds are empty"
	}
	if problem != "" {
		return nil, &result.Failure{Class: result.TypeError, Message: "invalid bound of the operator " + u.Op.String() + ": " + problem, Pos: u.Pos()}
	}
	if low != nil && low.Sign() == 0 && !b.LowStrict {
		b.Low, b.Equal = nil, false
	}
	out.Bound = &b
	if b.Low == nil && b.High == nil {
		out.Bound = nil
	}
	if !discrete && u.Op == syntax.Until && low != nil && high != nil && low.Cmp(high) == 0 && low.Sign() > 0 {
		// Storm accepts a path that reaches the right side before that moment.
		out.Y = &syntax.Paren{X: &syntax.Binary{Op: syntax.OpAnd, X: &syntax.Paren{X: u.X}, Y: &syntax.Paren{X: u.Y}}}
	}
	return &out, nil
}

// empty reports whether no time satisfies both bounds. In discrete time only integers count.
func empty(low, high *big.Rat, lowStrict, highStrict, discrete bool) bool {
	one := big.NewRat(1, 1)
	if discrete {
		if lowStrict {
			low = new(big.Rat).Add(low, one)
		}
		if highStrict {
			high = new(big.Rat).Sub(high, one)
		}
		return low.Cmp(high) > 0
	}
	c := low.Cmp(high)
	return c > 0 || c == 0 && (lowStrict || highStrict)
}

// evaluateBounds returns the values of a time bound; nil for a side that it does not have.
func (a *decomposer) evaluateBounds(b *syntax.TimeBound) (low, high *big.Rat, err error) {
	for _, side := range []struct {
		x  syntax.Expr
		to **big.Rat
	}{{b.Low, &low}, {b.High, &high}} {
		if side.x == nil {
			continue
		}
		v, err := a.constant(side.x)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case v.Rat != nil:
			*side.to = v.Rat
		case v.Type == sema.Int:
			*side.to = big.NewRat(int64(v.Int), 1)
		default:
			if *side.to = new(big.Rat).SetFloat64(v.Float); *side.to == nil {
				return nil, nil, errors.New("found a bound that is not a number")
			}
		}
	}
	return low, high, nil
}

// constant evaluates an expression without variables.
func (a *decomposer) constant(x syntax.Expr) (sema.Value, error) {
	e, err := a.evaluator(&node{x: x})
	if err != nil {
		return sema.Value{}, err
	}
	v, _, err := sema.EvalExact(e.x, nil)
	return v, err
}
