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
	item     *workItem
	instance *instance
	root     *node
	// asked has the queries of all nodes.
	asked []*workItem
}

// node is an expression over the answers of Storm. It is evaluated in the initial states, or in the states of a filter. The
// filter combines the values of its states to one value.
type node struct {
	op    string      // the filter's operator; empty for the initial states
	expr  syntax.Expr // over the names of the parts
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
	job             *job
	item            *workItem
	instance        *instance
	namedProperties map[string]*syntax.Property
	labelDefs       map[string]syntax.Expr // of labels
	names           int
	expanded        int // number of references to properties that were expanded
	asked           []*workItem
	err             error
}

// maxReferences is the greatest number of references to properties that are expanded: nested references can multiply.
const maxReferences = 1 << 12

// newQuestion decomposes the property of an item into queries for Storm. The property is evaluated in the initial states if op is empty, or in all
// states, with the filter operator op. The question has no queries if tilecheck can evaluate the property without Storm.
func newQuestion(job *job, item *workItem, instance *instance, op string) (*question, error) {
	if job.Job.Numeric.Fair {
		return nil, &syntax.DialectError{Dialect: syntax.Storm, Feature: "fair schedulers"}
	}
	questionDecomposer := &decomposer{job: job, item: item, instance: instance, namedProperties: make(map[string]*syntax.Property), labelDefs: make(map[string]syntax.Expr)}
	for _, declared := range item.task.Source.Tree.Items {
		switch declared := declared.(type) {
		case *syntax.LabelDecl:
			questionDecomposer.labelDefs[declared.Name.Name] = declared.X
		case *syntax.Property:
			if declared.Name != nil {
				questionDecomposer.namedProperties[declared.Name.Name] = declared
			}
		}
	}
	if job.Tree != nil {
		for _, declared := range job.Tree.Items {
			if label, ok := declared.(*syntax.LabelDecl); ok {
				questionDecomposer.labelDefs[label.Name.Name] = label.X
			}
		}
	}
	root := questionDecomposer.newNode(questionDecomposer.rewriteForStorm(item.task.Property.X), op, nil)
	for _, query := range questionDecomposer.asked {
		query.instance = instance
		if job.Job.States != nil {
			query.expr = questionDecomposer.replaceByLabels(query.expr)
		}
	}
	if questionDecomposer.err == nil {
		questionDecomposer.checkPrintable()
	}
	return &question{item: item, instance: instance, root: root, asked: questionDecomposer.asked}, questionDecomposer.err
}

// checkPrintable writes every query in Storm's dialect, one by one, and fails if the dialect cannot express one. Otherwise that query would make the
// other queries of its batch fail, too.
func (d *decomposer) checkPrintable() {
	for _, query := range d.asked {
		file, err := stormProperties([]*workItem{query})
		if err == nil {
			_, err = d.instance.print(file, true)
		}
		if err != nil {
			d.fail(err)
			return
		}
	}
}

// fail records an error, if it is the first one.
func (d *decomposer) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// refuse records that Storm does not support an expression.
func (d *decomposer) refuse(expr syntax.Expr, feature string) {
	d.fail(&syntax.DialectError{Pos: expr.Pos(), Dialect: syntax.Storm, Feature: feature})
}

// rewriteForStorm expands references to properties, names reward structures and resolves strategy operators.
func (d *decomposer) rewriteForStorm(expr syntax.Expr) syntax.Expr {
	return syntax.Rewrite(expr, func(expr syntax.Expr) syntax.Expr {
		switch operator := logic.Read(expr); operator.Kind {
		case logic.Label:
			if property := d.namedProperties[operator.Name]; property != nil {
				if d.expanded++; d.expanded > maxReferences {
					d.refuse(expr, fmt.Sprintf("more than %d references to properties, written out", maxReferences))
					return expr
				}
				return &syntax.Paren{X: d.rewriteForStorm(property.X)}
			}
			if operator.Name == "deadlock" && d.instance.deadlock != "" {
				renamed := *expr.(*syntax.Quoted)
				renamed.Name = d.instance.deadlock
				return &renamed
			}
		case logic.Reward:
			return d.withoutBraces(logic.Read(d.nameReward(expr.(*syntax.Reward))))
		case logic.Probability, logic.SteadyState:
			return d.withoutBraces(operator)
		case logic.Strategy:
			return d.resolveStrategy(operator)
		}
		return expr
	})
}

// nameReward returns an R operator in which the name of a reward structure replaces its number, which counts from 1. An operator without a number
// means the first structure.
func (d *decomposer) nameReward(operator *syntax.Reward) syntax.Expr {
	named := *operator
	if _, isName := operator.Struct.(*syntax.Quoted); isName || len(d.instance.rewards) == 0 {
		return &named
	}
	index := 1
	if operator.Struct != nil {
		value, err := d.constant(operator.Struct)
		if err != nil {
			d.fail(err)
			return &named
		}
		index = int(value.Int)
	}
	if index < 1 || index > len(d.instance.rewards) {
		message := fmt.Sprintf("invalid reward structure index \"%d\", want 1 to %d", index, len(d.instance.rewards))
		d.fail(&result.Failure{Class: result.TypeError, Message: message, Pos: operator.Pos()})
		return &named
	}
	named.Struct = &syntax.Quoted{Name: d.instance.rewards[index-1], Span: operator.Span}
	return &named
}

// withoutBraces rewrites the old notation {states}{min} or {states}{max} behind a formula as a filter.
func (d *decomposer) withoutBraces(operator logic.Written) syntax.Expr {
	if operator.BraceFilter == nil {
		return operator.X
	}
	return &syntax.Filter{Op: operator.BraceFilter.Op(operator.Threshold), X: operator.With(operator.Threshold, operator.Within), States: operator.BraceFilter.States}
}

// resolveStrategy rewrites the strategy operators <<…>> and [[…]] of an MDP, whose coalition has all players or none. With such an operator, a formula
// with a threshold holds if some scheduler satisfies it, or if all schedulers do. Storm only asks whether all schedulers satisfy a formula. So it
// is asked whether all schedulers satisfy the negated threshold, and the answer is negated.
func (d *decomposer) resolveStrategy(operator logic.Written) syntax.Expr {
	if d.instance.program.Type != syntax.MDP || operator.Coalition {
		return operator.X
	}
	operand := logic.Read(syntax.Unparen(operator.Within))
	if operand.Kind != logic.Probability && operand.Kind != logic.Reward {
		return operator.X
	}
	if operand.Query() || !operator.Some {
		return operand.X
	}
	threshold := operand.Threshold
	threshold.Rel = threshold.Rel.Negated()
	return &syntax.Paren{X: not(&syntax.Paren{X: operand.With(threshold, operand.Within)})}
}

// newNode decomposes an expression. If op is empty, the expression is evaluated in the initial states. Otherwise it is the formula of a filter with the
// operator op, and is evaluated in the states of the filter; nil means all states.
func (d *decomposer) newNode(expr syntax.Expr, op string, states syntax.Expr) *node {
	if op == "" || op == allValues {
		expr = withoutPrinting(expr)
	}
	node := &node{op: op}
	node.expr = d.decompose(node, expr)
	_, isSingle := node.singlePart()
	onlyStormKnowsInitial := d.instance.program.Init != nil || d.instance.tree == nil
	switch {
	case op != "" && states == nil:
		states = &syntax.BoolLit{Value: true}
	case op == "" && onlyStormKnowsInitial && !isSingle:
		states = &syntax.Quoted{Name: "init"}
	}
	if states == nil {
		return node
	}
	if len(node.queries()) == 0 { // the expression needs no answer, but the states are needed
		d.askStorm(node, &syntax.BoolLit{Value: true}, true)
	}
	for _, query := range node.queries() {
		query.expr, query.everyState = &syntax.Filter{Op: allValues, X: query.expr, States: states}, true
		d.asked = slices.DeleteFunc(d.asked, func(item *workItem) bool { return item == query.value })
		query.value = nil
	}
	return node
}

// withoutPrinting removes filters that print values from the outside of an expression: the value of such a filter is the value of its formula.
func withoutPrinting(expr syntax.Expr) syntax.Expr {
	for {
		filter := logic.Read(syntax.Unparen(expr))
		if !filter.Prints() {
			return expr
		}
		expr = filter.Within
	}
}

// allValues is Storm's filter operator that returns all values.
const allValues = "values"

// singlePart returns the part and true if the expression of the node is only the name of a part.
func (n *node) singlePart() (*part, bool) {
	name, ok := syntax.Unparen(n.expr).(*syntax.Ident)
	if !ok {
		return nil, false
	}
	i := slices.IndexFunc(n.parts, func(part *part) bool { return part.name == name.Name })
	if i < 0 {
		return nil, false
	}
	return n.parts[i], true
}

// queries returns the queries of the node's own parts. It omits the queries of nested filters.
func (n *node) queries() []*workItem {
	var queries []*workItem
	for _, part := range n.parts {
		if part.query != nil {
			queries = append(queries, part.query)
		}
	}
	return queries
}

// decompose returns an expression in which names of parts replace the operators. It adds these parts to the node.
func (d *decomposer) decompose(node *node, expr syntax.Expr) syntax.Expr {
	switch expr := expr.(type) {
	case *syntax.Paren:
		return &syntax.Paren{X: d.decompose(node, expr.X), Span: expr.Span}
	case *syntax.Unary:
		replaced := *expr
		replaced.X = d.decompose(node, expr.X)
		return &replaced
	case *syntax.Binary:
		replaced := *expr
		replaced.X, replaced.Y = d.decompose(node, expr.X), d.decompose(node, expr.Y)
		return &replaced
	case *syntax.Cond:
		replaced := *expr
		replaced.Condition, replaced.Then, replaced.Else = d.decompose(node, expr.Condition), d.decompose(node, expr.Then), d.decompose(node, expr.Else)
		return &replaced
	}
	return d.decomposeOperator(node, expr)
}

// decomposeOperator returns the name of a part, or an expression with such names, that replaces an operator such as P, R or S. For another expression
// it decomposes only the arguments of a function.
func (d *decomposer) decomposeOperator(node *node, expr syntax.Expr) syntax.Expr {
	switch operator := logic.Read(expr); operator.Kind {
	case logic.Label:
		if definition, ok := d.labelDefs[operator.Name]; ok {
			return &syntax.Paren{X: d.decompose(node, definition)}
		}
		return d.askStorm(node, expr, true)
	case logic.Filter:
		return d.decomposeFilter(node, operator)
	case logic.Probability:
		return d.decomposeProbability(node, operator)
	case logic.Reward:
		return d.decomposeReward(node, operator)
	case logic.SteadyState:
		return d.askStorm(node, expr, !operator.Query())
	case logic.Quantified, logic.Strategy:
		return d.askStorm(node, expr, true)
	case logic.Objectives:
		return d.askMulti(node, operator)
	case logic.Quantile:
		d.refuse(expr, "quantile, as tilecheck reads its answer,")
	case logic.Lexicographic:
		d.refuse(expr, "multilex, as tilecheck reads its answer,")
	case logic.PathFormula:
		d.refuse(expr, "the temporal operator "+operator.Path.Op.String()+" outside P")
	}
	if call, ok := expr.(*syntax.Call); ok {
		return d.decomposeCall(node, call)
	}
	return expr
}

// decomposeCall decomposes the arguments of a function.
func (d *decomposer) decomposeCall(node *node, call *syntax.Call) syntax.Expr {
	copied := *call
	copied.Args = slices.Clone(call.Args)
	for i := range copied.Args {
		copied.Args[i] = d.decompose(node, copied.Args[i])
	}
	return &copied
}

// askMulti adds a query for multi(...). It refuses Pareto curves, whose operator has several objectives without a bound.
func (d *decomposer) askMulti(node *node, operator logic.Written) syntax.Expr {
	queries := 0
	for _, objective := range operator.Objectives {
		if logic.Read(syntax.Unparen(objective)).Query() {
			queries++
		}
	}
	if queries > 1 {
		d.refuse(operator.X, "the points of a Pareto curve in a form that is read")
	}
	return d.askStorm(node, operator.X, queries == 0)
}

// decomposeFilter adds a part for a nested filter. It returns the name of the part. A filter that only prints its values has the value of its
// formula.
func (d *decomposer) decomposeFilter(node *node, operator logic.Written) syntax.Expr {
	op := map[string]string{"+": "sum", "&": "forall", "|": "exists"}[operator.Op]
	if op == "" {
		op = operator.Op
	}
	if operator.Prints() {
		return d.decompose(node, operator.Within)
	}
	inner := d.newNode(operator.Within, op, operator.States)
	isBool := op == "forall" || op == "exists" || (op == "first" || op == "state") && d.isBoolNode(inner)
	return d.addPart(node, &part{isBool: isBool, filter: inner})
}

// isBoolNode reports whether the expression of a node is of type bool.
func (d *decomposer) isBoolNode(node *node) bool {
	e, err := d.newEvaluator(node)
	return err == nil && e.expr.Type() == sema.Bool
}

// addPart gives a part a name and adds it to a node. It returns the name.
func (d *decomposer) addPart(node *node, part *part) syntax.Expr {
	d.names++
	part.name = "tilecheck_part_" + strconv.Itoa(d.names)
	node.parts = append(node.parts, part)
	return &syntax.Ident{Name: part.name}
}

// askStorm adds a query for an expression, whose answer is a truth value if isBool is true. It returns the name of the query's part.
func (d *decomposer) askStorm(node *node, expr syntax.Expr, isBool bool) syntax.Expr {
	query := d.newQuery(stormQuery{expr: expr, isBool: isBool, forceFloat: d.soundIsWrong(expr)})
	if isBool && d.job.Job.Numeric.Accuracy != result.Exact {
		d.askValue(query)
	}
	return d.addPart(node, &part{isBool: isBool, query: query})
}

// askValue adds a second query for the value of an operator with a bound, because Storm compares the value with the bound as if the value were exact.
// No query is needed for an untimed probability that is compared with 0 or 1: Storm decides that by graph algorithms.
func (d *decomposer) askValue(item *workItem) {
	operator := logic.Read(syntax.Unparen(item.expr))
	if !operator.Measure() || operator.Query() {
		return
	}
	bound, err := d.constant(operator.Bound)
	item.bound = bound.Float
	isTimed := operator.Kind != logic.Probability || operator.Path != nil && operator.Path.Bound != nil
	isDecidedByGraph := !isTimed && (item.bound == 0 || item.bound == 1)
	if err != nil || isDecidedByGraph {
		return
	}
	threshold := syntax.Threshold{Extremum: operator.Extremum}
	if d.instance.program.Type == syntax.MDP && threshold.Extremum == syntax.NoExtremum {
		threshold.Extremum = syntax.Max
		if operator.Rel == syntax.OpGt || operator.Rel == syntax.OpGe {
			threshold.Extremum = syntax.Min
		}
	}
	valueQuery := operator.With(threshold, operator.Within)
	item.value = d.newQuery(stormQuery{expr: valueQuery, forceFloat: item.forceFloat})
}

// newQuery adds a query about a part of the property to the queries that Storm is asked.
func (d *decomposer) newQuery(query stormQuery) *workItem {
	item := &workItem{task: d.item.task, model: d.item.model, property: d.item.property, number: d.job.nextNumber(d.instance), stormQuery: query}
	d.asked = append(d.asked, item)
	return item
}

// soundIsWrong reports whether Storm's switch --sound can give a wrong answer for an expression. It can for an instantaneous reward of a CTMC, because
// Storm refines such a value from an imprecise one and so computes the reward at a later time.
func (d *decomposer) soundIsWrong(expr syntax.Expr) bool {
	if d.instance.program.Type != syntax.CTMC || d.job.Job.Numeric.Accuracy == result.Exact {
		return false
	}
	isInstantaneous := false
	syntax.Inspect(expr, func(child syntax.Node) bool {
		path, ok := child.(*syntax.RewardPath)
		isInstantaneous = isInstantaneous || ok && path.Kind == syntax.Instantaneous
		return !isInstantaneous
	})
	return isInstantaneous
}

// decomposeProbability adds a query for a P operator. If Storm does not support the path formula, the query is about an equivalent formula or about
// the negation. The time bound is adapted if Storm reads it differently from PRISM.
func (d *decomposer) decomposeProbability(node *node, operator logic.Written) syntax.Expr {
	if operator.Path == nil {
		return d.askStorm(node, operator.X, !operator.Query())
	}
	path, negated := d.dualPath(operator)
	if path.Bound != nil {
		var err error
		if path, err = d.checkBound(path); err != nil {
			d.fail(err)
			return operator.X
		}
	}
	threshold := operator.Threshold
	if !negated {
		return d.guardLowerBound(node, operator.With(threshold, path))
	}
	oneLiteral := &syntax.IntLit{Value: 1}
	if !operator.Query() { // P>=b of a formula is P<=1-b of its negation
		threshold.Rel = operator.Rel.Mirrored()
		threshold.Bound = &syntax.Binary{Op: syntax.OpSub, X: oneLiteral, Y: &syntax.Paren{X: operator.Bound}}
		return d.guardLowerBound(node, operator.With(threshold, path))
	}
	switch operator.Extremum {
	case syntax.Min:
		threshold.Extremum = syntax.Max
	case syntax.Max:
		threshold.Extremum = syntax.Min
	}
	negation := d.guardLowerBound(node, operator.With(threshold, path))
	return &syntax.Paren{X: &syntax.Binary{Op: syntax.OpSub, X: oneLiteral, Y: negation}}
}

// dualPath returns a path formula that Storm supports. It is equivalent to the operator's formula, or to its negation if negated is true.
func (d *decomposer) dualPath(operator logic.Written) (temporal *syntax.Temporal, negated bool) {
	path := operator.Path
	if dual, ok := path.Dual(); ok {
		return dual, true
	}
	if d.instance.program.Type != syntax.CTMC {
		if numNext, operand := countNext(path); numNext > 1 && !syntax.IsPath(operand) {
			// X X b holds if b holds after two steps.
			return &syntax.Temporal{Op: syntax.Future, Y: &syntax.Paren{X: operand}, Bound: exactly(numNext), Span: path.Span}, false
		}
	}
	if dual, negated, ok := d.rewriteInfinitelyOften(operator); ok {
		return dual, negated
	}
	return path, false
}

// countNext returns the number of operators X at the beginning of a path formula, and the operand of the last one.
func countNext(temporal *syntax.Temporal) (count int32, operand syntax.Expr) {
	operand = temporal
	for {
		next := logic.TemporalOf(operand)
		if next == nil || next.Op != syntax.Next || next.Bound != nil {
			return count, operand
		}
		count, operand = count+1, next.Y
	}
}

// exactly returns the time bound =steps.
func exactly(steps int32) *syntax.TimeBound {
	n := &syntax.IntLit{Value: steps}
	return &syntax.TimeBound{Low: n, High: n, Equal: true}
}

// rewriteInfinitelyOften rewrites the path formulas G F a and F G a without LTL, because Storm supports LTL only with Spot. The result is equivalent to the
// formula, or to its negation if negated is true. ok is false for other formulas, and where no such rewriting exists.
//
// A path of a finite Markov chain ends in a BSCC and visits all states of the BSCC infinitely often. So it satisfies the formula if it reaches a
// state in which G F a (or G a) is almost sure. In an MDP the maximal probability of F G a is the maximal probability to reach a state in which some
// scheduler makes G a almost sure; G F a is the negation of F G !a.
func (d *decomposer) rewriteInfinitelyOften(operator logic.Written) (rewritten *syntax.Temporal, negated, ok bool) {
	outer := operator.Path
	inner := logic.TemporalOf(outer.Y)
	if inner == nil || outer.Bound != nil || inner.Bound != nil || syntax.IsPath(inner.Y) {
		return nil, false, false
	}
	isFG := outer.Op == syntax.Future && inner.Op == syntax.Globally
	isGF := outer.Op == syntax.Globally && inner.Op == syntax.Future
	if !isFG && !isGF {
		return nil, false, false
	}
	states := syntax.Expr(&syntax.Paren{X: inner.Y})
	target := syntax.Expr(nil)
	switch d.instance.program.Type {
	case syntax.DTMC, syntax.CTMC:
		if isGF {
			states = &syntax.Paren{X: compareWithOne(syntax.OpGe, &syntax.Temporal{Op: syntax.Future, Y: states})}
		}
		target = compareWithOne(syntax.OpGe, &syntax.Temporal{Op: syntax.Globally, Y: states})
	case syntax.MDP:
		if wantsMax := isMaximum(operator.Threshold); wantsMax != isFG {
			return nil, false, false
		}
		if isGF {
			states = &syntax.Paren{X: not(states)}
		}
		noScheduler := compareWithOne(syntax.OpLt, &syntax.Temporal{Op: syntax.Globally, Y: states})
		target, negated = not(&syntax.Paren{X: noScheduler}), isGF
	default:
		return nil, false, false
	}
	return &syntax.Temporal{Op: syntax.Future, Y: &syntax.Paren{X: target}, Span: outer.Span}, negated, true
}

// compareWithOne returns a P operator that compares the probability of a path formula with 1.
func compareWithOne(relation syntax.Op, path *syntax.Temporal) syntax.Expr {
	return &syntax.Prob{Threshold: syntax.Threshold{Rel: relation, Bound: &syntax.IntLit{Value: 1}}, Path: path}
}

// isMaximum reports whether an operator is about the maximum over all schedulers: max=?, or an upper bound.
func isMaximum(threshold syntax.Threshold) bool {
	return threshold.Extremum == syntax.Max || threshold.Rel == syntax.OpLt || threshold.Rel == syntax.OpLe
}

// not returns the negation of an expression.
func not(expr syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNot, X: expr} }

// guardLowerBound adds a query for an until formula with a lower step bound. Storm ignores that bound if no state on the way satisfies the left
// operand. So a second query asks whether such a state exists. If there is none, the probability is 0.
func (d *decomposer) guardLowerBound(node *node, expr syntax.Expr) syntax.Expr {
	operator := logic.Read(expr)
	until, isBool := operator.Path, !operator.Query()
	hasLowerBound := until.Op == syntax.Until && until.Bound != nil && until.Bound.Low != nil
	if d.instance.program.Type == syntax.CTMC || !hasLowerBound || isTrue(until.X) {
		return d.askStorm(node, expr, isBool)
	}
	withoutLowerBound := &syntax.Temporal{Op: syntax.Until, X: until.X, Y: until.Y, Bound: &syntax.TimeBound{High: until.Bound.High}}
	if until.Bound.High == nil {
		withoutLowerBound.Bound = nil
	}
	compareWithZero := func(relation syntax.Op) syntax.Expr {
		return &syntax.Prob{Threshold: syntax.Threshold{Rel: relation, Bound: &syntax.IntLit{}}, Path: withoutLowerBound}
	}
	isPossible := compareWithZero(syntax.OpGt)
	if isMaximum(operator.Threshold) { // for some scheduler, not for all of them
		isPossible = &syntax.Paren{X: not(&syntax.Paren{X: compareWithZero(syntax.OpLe)})}
	}
	onTheWay := &syntax.Binary{Op: syntax.OpAnd, X: &syntax.Paren{X: until.X}, Y: isPossible}
	exists := d.addPart(node, &part{isBool: true, filter: d.newNode(onTheWay, "exists", nil)})
	zero := syntax.Expr(&syntax.IntLit{})
	if isBool { // compare 0 instead of the probability
		zero = &syntax.Binary{Op: operator.Rel, X: zero, Y: &syntax.Paren{X: operator.Bound}}
	}
	return &syntax.Paren{X: &syntax.Cond{Condition: exists, Then: d.askStorm(node, expr, isBool), Else: zero}}
}

// checkBound returns the path formula with a bound that Storm reads as PRISM does. It returns an error for a bound that PRISM refuses and Storm
// accepts. It removes a bound that excludes nothing, because Storm refuses it.
func (d *decomposer) checkBound(temporal *syntax.Temporal) (*syntax.Temporal, error) {
	bound := *temporal.Bound
	checked := *temporal
	low, high, err := d.evaluateBounds(&bound)
	if err != nil {
		return nil, err
	}
	problem := ""
	isDiscrete := d.instance.program.Type != syntax.CTMC && !d.instance.program.Model().IsMarkovAutomaton()
	zero := new(big.Rat)
	switch {
	case low != nil && low.Cmp(zero) < 0:
		problem = "lower bound " + low.RatString() + " is negative"
	case high != nil && (high.Cmp(zero) < 0 || bound.IsHighStrict && high.Sign() == 0):
		problem = "upper bound " + high.RatString() + " holds at no time"
	case low != nil && high != nil && isEmpty(low, high, bound.IsLowStrict, bound.IsHighStrict, isDiscrete):
		problem = "the bounds are empty"
	}
	if problem != "" {
		message := "invalid bound of the operator " + temporal.Op.String() + ": " + problem
		return nil, &result.Failure{Class: result.TypeError, Message: message, Pos: temporal.Pos()}
	}
	if low != nil && low.Sign() == 0 && !bound.IsLowStrict {
		bound.Low, bound.Equal = nil, false
	}
	checked.Bound = &bound
	if bound.Low == nil && bound.High == nil {
		checked.Bound = nil
	}
	if !isDiscrete && temporal.Op == syntax.Until && low != nil && high != nil && low.Cmp(high) == 0 && low.Sign() > 0 {
		// Storm accepts a path that reaches the right side before that moment.
		checked.Y = &syntax.Paren{X: &syntax.Binary{Op: syntax.OpAnd, X: &syntax.Paren{X: temporal.X}, Y: &syntax.Paren{X: temporal.Y}}}
	}
	return &checked, nil
}

// isEmpty reports whether no time satisfies the bounds low and high. In discrete time, times are integers. A strict bound excludes the bound itself.
func isEmpty(low, high *big.Rat, lowStrict, highStrict, isDiscrete bool) bool {
	oneStep := big.NewRat(1, 1)
	if isDiscrete {
		if lowStrict {
			low = new(big.Rat).Add(low, oneStep)
		}
		if highStrict {
			high = new(big.Rat).Sub(high, oneStep)
		}
		return low.Cmp(high) > 0
	}
	order := low.Cmp(high)
	return order > 0 || order == 0 && (lowStrict || highStrict)
}

// evaluateBounds returns the lower and upper values of a time bound, nil for a missing one.
func (d *decomposer) evaluateBounds(bound *syntax.TimeBound) (low, high *big.Rat, err error) {
	if low, err = d.fraction(bound.Low); err != nil {
		return nil, nil, err
	}
	high, err = d.fraction(bound.High)
	return low, high, err
}

// fraction evaluates an expression without variables to a fraction. It returns nil for a missing expression.
func (d *decomposer) fraction(expr syntax.Expr) (*big.Rat, error) {
	if expr == nil {
		return nil, nil
	}
	value, err := d.constant(expr)
	switch {
	case err != nil:
		return nil, err
	case value.Rat != nil:
		return value.Rat, nil
	case value.Type == sema.Int:
		return big.NewRat(int64(value.Int), 1), nil
	}
	fraction := new(big.Rat).SetFloat64(value.Float)
	if fraction == nil {
		return nil, errors.New("found a bound that is not a number")
	}
	return fraction, nil
}

// constant evaluates an expression without variables.
func (d *decomposer) constant(expr syntax.Expr) (sema.Value, error) {
	constantEvaluator, err := d.newEvaluator(&node{expr: expr})
	if err != nil {
		return sema.Value{}, err
	}
	value, _, err := sema.EvalExact(constantEvaluator.expr, nil)
	return value, err
}
