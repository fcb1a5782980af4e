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

// answer is the value of an expression in one state, or the value of a filter. If hasBounds is true, lo and hi bound the number, as reliably as
// accuracy says.
type answer struct {
	value     sema.Value
	lo, hi    float64
	hasBounds bool // lo and hi are set
	accuracy  result.Accuracy
}

// row is a state that Storm reported. answers has the answers for this state, by the name of the part of the expression.
type row struct {
	state   []int32
	initial bool
	answers map[string]answer
}

// evaluator evaluates the expression of a node for given values of its parts.
type evaluator struct {
	props   *sema.Properties
	program *sema.Program
	consts  map[string]sema.Value
	expr    sema.Expr // resolved with placeholder values
}

// newEvaluator returns an evaluator of the expression of a node. It type-checks the expression over the model; the parts of the node are declared as
// constants. So package sema defines the semantics of the combined answers.
func (d *decomposer) newEvaluator(node *node) (*evaluator, error) {
	file := &syntax.Properties{}
	evaluator := &evaluator{program: d.instance.program, consts: make(map[string]sema.Value)}
	for _, item := range d.item.task.Source.Tree.Items {
		if decl, ok := item.(*syntax.ConstDecl); ok {
			file.Items = append(file.Items, decl)
		}
	}
	for _, constant := range d.item.property {
		evaluator.consts[constant.Name] = constant.Val
	}
	for _, part := range node.parts {
		decl := &syntax.ConstDecl{Type: syntax.ConstDouble, HasType: true, Name: &syntax.Ident{Name: part.name}}
		evaluator.consts[part.name] = sema.IntValue(0)
		switch {
		case part.isBool:
			decl.Type, evaluator.consts[part.name] = syntax.ConstBool, sema.BoolValue(false)
		case part.filter != nil && part.filter.op == "count":
			decl.Type = syntax.ConstInt
		}
		file.Items = append(file.Items, decl)
	}
	file.Items = append(file.Items, &syntax.Property{X: node.expr})
	var err error
	if evaluator.props, err = d.job.Model.CheckProperties(file); err != nil {
		return nil, err
	}
	evaluator.expr, err = evaluator.instantiate(nil)
	return evaluator, err
}

// instantiate returns the expression in which the given answers replace the parts, by their names.
func (e *evaluator) instantiate(parts map[string]answer) (sema.Expr, error) {
	for name, answer := range parts {
		e.consts[name] = answer.value
	}
	props, _, err := e.props.Instantiate(e.program, nil, e.consts)
	if err != nil {
		return nil, err
	}
	return props[0].Expr, nil
}

// evaluate returns the value of a node's expression in the state of a row. If the expression is p or 1-p for a part p, the value keeps the accuracy
// and the bounds of p. Otherwise the value is only estimated if one of the parts is not exact.
func (q *question) evaluate(node *node, evaluator *evaluator, row row) (answer, error) {
	if part, ok := node.singlePart(); ok {
		return row.answers[part.name], nil
	}
	expr, err := evaluator.instantiate(row.answers)
	if err != nil {
		return answer{}, err
	}
	value, exact, err := sema.EvalExact(expr, row.state)
	if err != nil {
		return answer{}, err
	}
	combined := answer{value: value, accuracy: result.Exact}
	if !exact && value.Type == sema.Double {
		combined.accuracy = result.Float
	}
	for _, part := range row.answers {
		if part.accuracy != result.Exact && combined.accuracy != result.Estimated {
			combined.accuracy = result.Estimated // the error is not propagated through the expression
		}
	}
	if part, ok := node.complement(); ok && row.answers[part.name].hasBounds {
		complemented := row.answers[part.name]
		combined.accuracy, combined.hasBounds = complemented.accuracy, true
		combined.lo, combined.hi = max(0, interval.Below(1-complemented.hi)), min(1, interval.Above(1-complemented.lo))
	}
	if combined.accuracy != result.Exact {
		combined.value.Rat = nil
	}
	return combined, nil
}

// complement returns the part p and true if the expression of the node is 1-p.
func (n *node) complement() (*part, bool) {
	difference, ok := syntax.Unparen(n.expr).(*syntax.Binary)
	if !ok || difference.Op != syntax.OpSub {
		return nil, false
	}
	minuend, ok := syntax.Unparen(difference.X).(*syntax.IntLit)
	if !ok || minuend.Value != 1 {
		return nil, false
	}
	return (&node{expr: difference.Y, parts: n.parts}).singlePart()
}

// stateRows returns the states in which a node is evaluated, each with the answers of all parts of the node. A nested filter, and a query about the
// initial state alone, has the same answer in every row. Without a query about every state there is one row: the initial state.
func (q *question) stateRows(job *job, node *node) ([]row, error) {
	scalars := make(map[string]answer)
	var rows []row
	isListed := false
	for _, part := range node.parts {
		var err error
		switch {
		case part.filter != nil:
			scalars[part.name], err = q.filterValue(job, part.filter)
		case !part.query.everyState:
			scalars[part.name] = scalarAnswer(part.query)
		default:
			rows, err = q.addAnswers(rows, part, isListed)
			isListed = true
		}
		if err != nil {
			return nil, err
		}
	}
	if !isListed {
		rows = []row{{state: q.initial(), initial: true, answers: make(map[string]answer)}}
	}
	for i := range rows {
		for name, value := range scalars {
			rows[i].answers[name] = value
		}
	}
	return rows, nil
}

// addAnswers adds the answers of a part, one for each state, to the rows. Unless isListed is true, it makes the rows. It returns an error if Storm
// reported other states for this part than for the parts before.
func (q *question) addAnswers(rows []row, part *part, isListed bool) ([]row, error) {
	if isListed && len(rows) != len(part.query.stateResults) {
		return nil, errors.New("Storm told of different states for parts of the property")
	}
	for i, exported := range part.query.stateResults {
		state, err := q.readState(exported.State)
		if err != nil {
			return nil, err
		}
		if !isListed {
			rows = append(rows, row{state: state, initial: slices.Contains(exported.Labels, "init"), answers: make(map[string]answer)})
		}
		if !slices.Equal(rows[i].state, state) {
			return nil, errors.New("Storm told of different states for parts of the property")
		}
		if rows[i].answers[part.name], err = part.query.rowAnswer(i); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// initial returns the values of the variables in the initial state. The model must have a single one.
func (q *question) initial() []int32 {
	state := make([]int32, len(q.instance.program.Vars))
	for i, v := range q.instance.program.Vars {
		state[i] = v.Init
	}
	return state
}

// readState converts an exported valuation to the values of the model's variables. Storm omits variables that never change: these keep their initial
// values.
func (q *question) readState(exported parse.StormState) ([]int32, error) {
	if exported.Valuation == nil {
		return nil, errors.New("Storm told of states without their valuations")
	}
	state := q.initial()
	for _, variable := range exported.Valuation {
		i := slices.IndexFunc(q.instance.program.Vars, func(candidate sema.Variable) bool { return candidate.Name == variable.Name })
		if i < 0 {
			continue // a formula or constant
		}
		number, ok := new(big.Rat).SetString(variable.Value)
		switch {
		case variable.Value == "true":
			state[i] = 1
		case variable.Value == "false":
			state[i] = 0
		case ok && number.IsInt() && number.Num().IsInt64() && int64(int32(number.Num().Int64())) == number.Num().Int64():
			state[i] = int32(number.Num().Int64())
		default:
			return nil, fmt.Errorf("Storm told of a state in which %s is %q", variable.Name, variable.Value)
		}
	}
	return state, nil
}

// scalarAnswer converts the value that Storm printed for a query to an answer.
func scalarAnswer(item *workItem) answer {
	verdict := item.verdict
	if verdict.Value.Kind == result.Boolean {
		return answer{value: sema.BoolValue(verdict.Value.Bool), accuracy: result.Exact}
	}
	return numberAnswer(verdict.Value, verdict.Accuracy, verdict.Bound)
}

// numberAnswer returns an answer with a number, its accuracy and its bounds, if there are any.
func numberAnswer(value result.Value, accuracy result.Accuracy, bounds *result.Interval) answer {
	number := answer{value: sema.DoubleValue(value.Num), accuracy: accuracy}
	if value.Rat != nil {
		number.value = sema.RatValue(value.Rat)
	}
	if bounds != nil {
		number.lo, number.hi, number.hasBounds = bounds.Lo, bounds.Hi, true
	}
	return number
}

// rowAnswer converts the value that Storm exported for the state with index i to an answer. The error says that the value has the wrong type.
func (item *workItem) rowAnswer(row int) (answer, error) {
	value := item.stateResults[row].Value
	if item.isBool {
		if value.Kind != result.Boolean {
			return answer{}, errors.New("Storm told of a number, want a truth value")
		}
		return answer{value: sema.BoolValue(value.Bool), accuracy: result.Exact}, nil
	}
	switch value.Kind {
	case result.Boolean:
		return answer{}, errors.New("Storm told of a truth value, want a number")
	case result.NoValue: // JSON has no infinity
		if operand := logic.Read(item.expr).Within; logic.Read(operand).Kind != logic.Reward {
			return answer{}, errors.New("Storm told of no number")
		}
		value = result.Value{Kind: result.Number, Num: math.Inf(1)}
	}
	return numberAnswer(value, item.accuracies[row], item.bounds[row]), nil
}

// filterValue returns the value of a filter: it evaluates the expression of the node in all its states and combines the values.
func (q *question) filterValue(job *job, node *node) (answer, error) {
	values, rows, err := q.nodeValues(job, node)
	if err != nil {
		return answer{}, err
	}
	if len(values) == 0 {
		return answer{}, &result.Failure{Class: result.Other, Message: "filter satisfies no states"}
	}
	switch node.op {
	case "forall", "exists":
		isForAll := node.op == "forall"
		hasOpposite := slices.ContainsFunc(values, func(value answer) bool { return value.value.Bool != isForAll })
		return answer{value: sema.BoolValue(isForAll != hasOpposite), accuracy: result.Exact}, nil
	case "count":
		numTrue := 0
		for _, value := range values {
			if value.value.Bool {
				numTrue++
			}
		}
		return answer{value: sema.IntValue(int32(numTrue)), accuracy: result.Exact}, nil
	case "state", "first":
		if node.op == "state" && len(values) != 1 {
			return answer{}, &result.Failure{Class: result.Other, Message: fmt.Sprintf("filter should be satisfied in exactly 1 state, but is in %d", len(values))}
		}
		return values[firstRow(rows)], nil
	case "min", "max":
		return foldAnswers(values, func(first, second answer) answer { return extremum(node.op == "min", first, second) }), nil
	case "sum":
		return foldAnswers(values, add), nil
	case "avg":
		return average(foldAnswers(values, add), len(values)), nil
	}
	return answer{}, &result.Failure{Class: result.Unsupported, Message: "filter type " + node.op + " inside another property"}
}

// firstRow returns the index of the row whose state is the first in PRISM's order, which compares the values of the variables one by one.
func firstRow(rows []row) int {
	best := 0
	for i := range rows {
		if slices.Compare(rows[i].state, rows[best].state) < 0 {
			best = i
		}
	}
	return best
}

// nodeValues evaluates the expression of a node in all its states. It returns the values and the rows of these states, in the same order.
func (q *question) nodeValues(job *job, node *node) ([]answer, []row, error) {
	rows, err := q.stateRows(job, node)
	if err != nil {
		return nil, nil, err
	}
	nodeDecomposer := &decomposer{job: job, item: q.item, instance: q.instance}
	nodeEvaluator, err := nodeDecomposer.newEvaluator(node)
	if err != nil {
		return nil, nil, err
	}
	values := make([]answer, len(rows))
	for i, row := range rows {
		if values[i], err = q.evaluate(node, nodeEvaluator, row); err != nil {
			return nil, nil, err
		}
	}
	return values, rows, nil
}

// foldAnswers combines all answers pairwise with a function, from left to right. There must be at least one answer.
func foldAnswers(values []answer, combine func(a, b answer) answer) answer {
	out := values[0]
	for _, value := range values[1:] {
		out = combine(out, value)
	}
	return out
}

// combinedAccuracy returns the accuracy of a value that is computed from two answers, and whether it has bounds.
func combinedAccuracy(first, second answer) (result.Accuracy, bool) {
	if first.accuracy == result.Exact && second.accuracy == result.Exact {
		return result.Exact, first.hasBounds && second.hasBounds
	}
	for _, operand := range []*answer{&first, &second} {
		if operand.accuracy == result.Exact && !operand.hasBounds {
			operand.lo, operand.hi, operand.hasBounds = interval.Below(operand.value.Float), interval.Above(operand.value.Float), true
		}
	}
	if first.hasBounds && second.hasBounds {
		return result.Claimed, true
	}
	return result.Estimated, false
}

// ends returns the bounds of an answer. An exact value without bounds gets the neighbouring float64 numbers.
func (a answer) ends() (lo, hi float64) {
	if a.hasBounds {
		return a.lo, a.hi
	}
	return interval.Below(a.value.Float), interval.Above(a.value.Float)
}

// extremum returns the minimum of two answers if isMin is true, otherwise the maximum. Its bounds are the minimum, or the maximum, of the bounds.
func extremum(isMin bool, first, second answer) answer {
	extreme := first
	if smaller(second.value, first.value) == isMin {
		extreme = second
	}
	firstLow, firstHigh := first.ends()
	secondLow, secondHigh := second.ends()
	extreme.accuracy, extreme.hasBounds = combinedAccuracy(first, second)
	if extreme.lo, extreme.hi = max(firstLow, secondLow), max(firstHigh, secondHigh); isMin {
		extreme.lo, extreme.hi = min(firstLow, secondLow), min(firstHigh, secondHigh)
	}
	if extreme.accuracy != result.Exact {
		extreme.value.Rat = nil
	}
	return extreme
}

// smaller reports whether the first number is less than the second one. It compares exactly if both are fractions.
func smaller(first, second sema.Value) bool {
	if first.Rat != nil && second.Rat != nil {
		return first.Rat.Cmp(second.Rat) < 0
	}
	return first.Float < second.Float
}

// add returns the sum of two answers, with bounds that allow for rounding.
func add(first, second answer) answer {
	firstLow, firstHigh := first.ends()
	secondLow, secondHigh := second.ends()
	sum := answer{value: sema.DoubleValue(first.value.Float + second.value.Float), lo: interval.Below(firstLow + secondLow), hi: interval.Above(firstHigh + secondHigh)}
	sum.accuracy, sum.hasBounds = combinedAccuracy(first, second)
	if sum.accuracy == result.Exact && first.value.Rat != nil && second.value.Rat != nil {
		sum.value = sema.RatValue(new(big.Rat).Add(first.value.Rat, second.value.Rat))
	} else if sum.accuracy == result.Exact && !math.IsInf(sum.value.Float, 0) {
		sum.accuracy = result.Float
	}
	return sum
}

// average divides a sum of count answers by count, with bounds that allow for rounding.
func average(sum answer, count int) answer {
	mean := sum
	mean.value = sema.DoubleValue(sum.value.Float / float64(count))
	mean.lo, mean.hi = interval.Below(sum.lo/float64(count)), interval.Above(sum.hi/float64(count))
	if sum.value.Rat != nil {
		mean.value = sema.RatValue(new(big.Rat).Quo(sum.value.Rat, big.NewRat(int64(count), 1)))
	}
	return mean
}

// setVerdict combines the answers to the queries and sets the verdict of the item.
func (q *question) setVerdict(job *job) {
	verdict := q.mergeVerdicts(q.root)
	q.item.verdict = verdict
	if verdict.Err != nil {
		return
	}
	if part, ok := q.root.singlePart(); ok && part.query != nil && !part.query.everyState {
		verdict.Value, verdict.Accuracy, verdict.Bound = part.query.verdict.Value, part.query.verdict.Accuracy, part.query.verdict.Bound
		return
	}
	if err := q.evaluateRoot(job, verdict); err != nil {
		*verdict = result.Verdict{Err: failureOf(err), Tool: verdict.Tool, Warnings: verdict.Warnings}
	}
}

// failureOf converts an error of decomposing a property, or of combining answers, to a failure.
func failureOf(err error) *result.Failure {
	if failure, ok := errors.AsType[*result.Failure](err); ok {
		return failure
	}
	if evalError, ok := errors.AsType[*sema.EvalError](err); ok {
		return &result.Failure{Class: result.TypeError, Message: evalError.Msg, Pos: evalError.Pos}
	}
	if errs, ok := errors.AsType[syntax.ErrorList](err); ok {
		return &result.Failure{Class: result.TypeError, Message: errs[0].Msg, Pos: errs[0].Pos}
	}
	return &result.Failure{Class: result.Other, Message: err.Error()}
}

// mergeVerdicts returns one verdict for all queries of a node. It adds their times, joins their warnings, and has the first error and the first
// doubt. It has no value yet.
func (q *question) mergeVerdicts(node *node) *result.Verdict {
	for _, query := range q.asked {
		if query.isInfinite && query.verdict.Err == nil && !query.forceFloat {
			query.verdict.Err = &result.Failure{Class: result.Unsupported, Message: "found 100000000000, which is also what Storm writes for infinity in exact arithmetic"}
		}
	}
	combined := &result.Verdict{}
	for i, verdict := range node.queryVerdicts() {
		if i == 0 {
			*combined = *verdict
			combined.Warnings = slices.Clone(verdict.Warnings)
			continue
		}
		for _, warning := range verdict.Warnings {
			if !slices.Contains(combined.Warnings, warning) {
				combined.Warnings = append(combined.Warnings, warning)
			}
		}
		combined.Seconds += verdict.Seconds
		combined.Err = cmp.Or(combined.Err, verdict.Err)
		combined.Doubt = cmp.Or(combined.Doubt, verdict.Doubt)
	}
	combined.Value, combined.Accuracy, combined.Bound = result.Value{}, result.Unknown, nil
	return combined
}

// queryVerdicts returns the verdicts of the queries of a node and its filters. A query without a verdict gets one with an error.
func (n *node) queryVerdicts() []*result.Verdict {
	var verdicts []*result.Verdict
	for _, part := range n.parts {
		switch {
		case part.filter != nil:
			verdicts = append(verdicts, part.filter.queryVerdicts()...)
		case part.query.verdict != nil:
			verdicts = append(verdicts, part.query.verdict)
		default:
			noVerdict := &result.Failure{Class: result.Other, Message: "the tool said nothing about a part of this property"}
			verdicts = append(verdicts, &result.Verdict{Err: noVerdict})
		}
	}
	return verdicts
}

// evaluateRoot evaluates the property in the initial states and sets the value of the verdict. A truth value must hold in all initial states; several
// numbers give a range.
func (q *question) evaluateRoot(job *job, verdict *result.Verdict) error {
	if len(q.asked) == 0 {
		verdict.Warnings = append(verdict.Warnings, "evaluated by tilecheck: Storm has no properties that are expressions")
	}
	if part, ok := q.root.singlePart(); ok && part.filter != nil && (part.filter.op == "range" || part.filter.op == "argmin" || part.filter.op == "argmax") {
		return q.evaluateFilter(job, part.filter, verdict)
	}
	values, _, err := q.nodeValues(job, q.root)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return errors.New("Storm told of no initial states")
	}
	return setValue(verdict, values, len(values) > 1)
}

// setValue sets the value of a verdict to the combined values of several states: the conjunction of truth values, a range if isRange is true,
// otherwise the single number.
func setValue(verdict *result.Verdict, values []answer, isRange bool) error {
	if values[0].value.Type == sema.Bool {
		allTrue := !slices.ContainsFunc(values, func(value answer) bool { return !value.value.Bool })
		verdict.Value, verdict.Accuracy = result.Value{Kind: result.Boolean, Bool: allTrue}, values[0].accuracy
		for _, value := range values {
			if value.accuracy != result.Exact {
				verdict.Accuracy = value.accuracy
			}
		}
		return nil
	}
	low := foldAnswers(values, func(first, second answer) answer { return extremum(true, first, second) })
	high := foldAnswers(values, func(first, second answer) answer { return extremum(false, first, second) })
	verdict.Accuracy = low.accuracy
	verdict.Value = result.Value{Kind: result.Number, Num: low.value.Float, Rat: low.value.Rat}
	switch {
	case isRange:
		verdict.Value = result.Value{Kind: result.Range, Num: low.value.Float, Hi: high.value.Float}
	case low.value.Type == sema.Int:
		verdict.Value.Kind = result.Integer
	}
	if low.hasBounds && high.hasBounds {
		verdict.Bound = &result.Interval{Lo: low.lo, Hi: high.hi}
	}
	return nil
}

// evaluateFilter evaluates a filter range, argmin or argmax and sets the value of the verdict. For argmin and argmax the value says whether all
// initial states are among the states with the minimal or maximal value.
func (q *question) evaluateFilter(job *job, node *node, verdict *result.Verdict) error {
	values, rows, err := q.nodeValues(job, node)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return &result.Failure{Class: result.Other, Message: "filter satisfies no states"}
	}
	if node.op == "range" {
		return setValue(verdict, values, true)
	}
	extremal := foldAnswers(values, func(first, second answer) answer { return extremum(node.op == "argmin", first, second) })
	initialStates, allBest := 0, true
	for i, row := range rows {
		if row.initial {
			initialStates++
			allBest = allBest && values[i].value.Float == extremal.value.Float
		}
	}
	verdict.Accuracy = extremal.accuracy
	verdict.Value = result.Value{Kind: result.Boolean, Bool: allBest && initialStates > 0}
	if extremal.accuracy != result.Exact {
		verdict.Accuracy = result.Estimated
	}
	if q.instance.program.Init != nil && allBest {
		return &result.Failure{Class: result.Unsupported, Message: node.op + " over several initial states, which Storm does not tell of all"}
	}
	return nil
}

// unreadable reports whether a failure says only that package parse does not support the printed value. The exported file may have the value in
// another form.
func unreadable(failure *result.Failure) bool {
	return failure != nil && failure.Class == result.Unsupported && !strings.HasPrefix(failure.Message, "Storm cannot")
}
