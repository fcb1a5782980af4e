package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/interval"
	"tilecheck/parse"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// storm is the Storm tool. A run has one valuation of the constants. Storm prints properties in its own syntax, so they
// are identified by name.
//
// Source: reference, tools and options, section 6.
type storm struct{}

// name returns the name of the tool.
func (storm) name() string { return string(parse.Storm) }

// refuse returns an error if the model is a stochastic game or the job asks for sampling, which Storm does not support.
func (storm) refuse(plan *runner.Plan) error {
	if err := refuseGame(plan, parse.Storm); err != nil {
		return err
	}
	if job := &plan.Job; job.Method != "" && job.Method != runner.States {
		return fmt.Errorf("Storm has no statistical model checking: found method %q, want states", job.Method)
	}
	return nil
}

// parser returns a parser of Storm's log.
func (storm) parser(opt parse.Options) *parse.Parser { return parse.NewStorm(opt) }

// stormQuery is a query to Storm for an item, and the values that Storm exported.
type stormQuery struct {
	instance   *instance
	expr       syntax.Expr
	isBool     bool // the answer is a truth value, even if Storm prints a number
	everyState bool // the query is about every state
	forceFloat bool // without --exact and --sound
	forceExact bool // with --exact, whatever the job wants
	// infinite says that a number is stormInfinity.
	isInfinite bool
	// value is an additional query for the value of a bounded operator, whose bound is bound; nil if not needed.
	value *workItem
	bound float64
	// printed is the value as Storm printed it.
	printed      string
	stateResults []parse.StormResult
	// The accuracy of the numbers of the rows, and their bounds.
	accuracies []result.Accuracy
	bounds     []*result.Interval
}

// stormJob is the part of a job that only Storm needs.
type stormJob struct {
	questions []*question
	queries   map[*instance]int
}

// nextNumber returns the next number of a query for an instance of the model, from 1.
func (job *job) nextNumber(instance *instance) int {
	job.storm.queries[instance]++
	return job.storm.queries[instance]
}

// itemsToAsk decomposes the property of every item into queries and returns the queries. An item gets a verdict with an error if Storm's dialect
// cannot express its property, or if the valuation of the model's constants is invalid.
func (s storm) itemsToAsk(job *job, items []*workItem) []*workItem {
	job.storm = &stormJob{queries: make(map[*instance]int)}
	instances := make(map[string]*instance)
	failures := make(map[string]error)
	var queries []*workItem
	for _, item := range items {
		key := fmt.Sprint(item.constantsOfModel())
		if instances[key] == nil && failures[key] == nil {
			instances[key], failures[key] = newInstance(job, item.model)
		}
		if err := failures[key]; err != nil {
			item.verdict = &result.Verdict{Err: refusal(err)}
			continue
		}
		question, err := newQuestion(job, item, instances[key], "")
		if err != nil {
			failure := refusal(err)
			failure.File = item.task.Source.File
			item.verdict = &result.Verdict{Err: failure}
			continue
		}
		job.storm.questions = append(job.storm.questions, question)
		queries = append(queries, question.asked...)
	}
	return queries
}

// refusal returns the failure of a property that Storm is not asked about.
func refusal(err error) *result.Failure {
	if dialectError, ok := errors.AsType[*syntax.DialectError](err); ok {
		withoutPos := &syntax.DialectError{Dialect: dialectError.Dialect, Feature: dialectError.Feature}
		return &result.Failure{Class: result.Unsupported, Message: withoutPos.Error(), Pos: dialectError.Pos}
	}
	return failureOf(err)
}

// combineAnswers sets the verdicts of the items whose properties were decomposed into queries.
func (storm) combineAnswers(job *job) {
	for _, question := range job.storm.questions {
		question.setVerdict(job)
	}
}

// alternative returns another way to ask a query whose answer is unreliable, and the reason; nil if there is none. The query is asked without --sound
// and --exact if Storm doubts the value, or if its sound or exact methods do not support the query. It is asked with --exact for objectives that
// rounding may make infeasible, and for values that are too near their bound. Exact arithmetic has no infinity: for the value stormInfinity the query
// is asked again in floating point.
func (storm) alternative(job *job, item *workItem) (*workItem, string) {
	first := item.verdict
	if first == nil || item.forceFloat || item.forceExact || job.Job.Numeric.Accuracy == result.Float || job.Job.Numeric.Accuracy == result.Estimated {
		return nil, ""
	}
	changed := *item
	changed.forceFloat, changed.verdict, changed.stateResults, changed.isInfinite = true, nil, nil, false
	if first.Err == nil && first.Doubt == "" && item.isNearBound() {
		first.Doubt = fmt.Sprintf("the value %v is too near the bound for Storm to tell", item.value.verdict.Value.Num)
		changed.forceFloat, changed.forceExact = false, true
		return &changed, "asked again with --exact: " + first.Doubt
	}
	switch {
	case item.isMultiQuery() && (job.Job.Numeric.Accuracy == result.Exact || first.Err != nil || first.Doubt == ""):
		return nil, ""
	case item.isMultiQuery(): // rounding can make a point on the curve infeasible
		changed.forceFloat, changed.forceExact = false, true
		return &changed, "asked again with --exact, where Storm said: " + first.Doubt
	case first.Err == nil && first.Doubt != "":
		return &changed, "asked again without --sound, where Storm said: " + first.Doubt
	case item.isInfinite, first.Err != nil && strings.HasPrefix(first.Err.Message, "found 100000000000"):
		changed.isInfinite = true
		return &changed, "infinite in floating-point arithmetic, where exact arithmetic has 100000000000 for it"
	case first.Err != nil && job.Job.Numeric.Accuracy != result.Exact && (first.Err.Class == result.NonConverge || strings.Contains(first.Err.Message, "sound")):
		return &changed, "asked again without --sound, where Storm said: " + first.Err.Message
	}
	return nil, ""
}

// isNearBound reports whether the bound of the query lies within the precision of the value, so that Storm's comparison is unreliable.
func (item *workItem) isNearBound() bool {
	if item.value == nil || item.value.verdict == nil || item.value.verdict.Err != nil || item.value.verdict.Value.Kind == result.Boolean {
		return false
	}
	verdict := item.value.verdict
	if interval := verdict.Bound; interval != nil {
		return interval.Lo <= item.bound && item.bound <= interval.Hi
	}
	const precision = 1e-6 // Storm's
	return math.Abs(verdict.Value.Num-item.bound) <= precision*max(math.Abs(item.bound), precision)
}

// mayReplace reports whether the answer to this alternative query may replace the first answer. If the first one was stormInfinity, the new one must
// be infinite.
func (item *workItem) mayReplace() bool {
	if !item.isInfinite || math.IsInf(item.verdict.Value.Num, 1) {
		return true
	}
	return slices.ContainsFunc(item.stateResults, func(state parse.StormResult) bool { return state.Value.Kind == result.NoValue })
}

// resultFile is the file to which Storm exports the values of states.
const resultFile = "result.json"

// readFiles completes the verdicts of a run. It reads the exported values of states, converts numbers to truth values for boolean queries, and adds a
// failure if the run reached its limit of states.
func (storm) readFiles(batch []*workItem, command runner.Command, exported []runner.File) {
	for _, item := range batch {
		if item.verdict == nil {
			continue
		}
		if failure := stateLimitReached(command.Args, item.verdict.States); failure != nil && item.verdict.Err == nil {
			item.verdict.Err = failure
			continue
		}
		if item.isBool {
			convertToBool(item.verdict)
		}
		if item.everyState && (item.verdict.Err == nil || unreadable(item.verdict.Err)) {
			item.readStateResults(command, exported)
		}
	}
}

// readStateResults reads the values of all states from the file that a run exported. If it cannot, the verdict gets an error.
func (item *workItem) readStateResults(command runner.Command, exported []runner.File) {
	index := slices.IndexFunc(exported, func(file runner.File) bool { return file.Name == resultFile })
	if index < 0 {
		// Another failure than an unreadable value says that Storm did not answer the query.
		if failure := item.verdict.Err; failure == nil || strings.HasPrefix(failure.Message, "found ") {
			item.verdict.Err = &result.Failure{Class: result.Truncated, Message: "Storm wrote no file with the values of states"}
		}
		return
	}
	stateResults, err := parse.ReadStormResults(bytes.NewReader(exported[index].Data))
	if err != nil {
		item.verdict.Err = &result.Failure{Class: result.Unsupported, Message: err.Error()}
		return
	}
	item.verdict.Err, item.stateResults = nil, stateResults
	item.setAccuracies(command)
}

// stateLimitReached returns a failure if a run reached its limit of states. Storm then continues as if the unexplored states were
// absorbing.
func stateLimitReached(args []string, states int64) *result.Failure {
	index := slices.Index(args, "--state-limit")
	if index < 0 {
		return nil
	}
	if limit, err := strconv.ParseInt(args[index+1], 10, 64); err != nil || states < limit {
		return nil
	}
	return &result.Failure{Class: result.Memory, Message: "the model has more states than the limit of " + args[index+1]}
}

// convertToBool converts the values 1 and 0 to truth values.
func convertToBool(verdict *result.Verdict) {
	if kind := verdict.Value.Kind; verdict.Err != nil || kind == result.Boolean || kind == result.NoValue {
		return
	}
	if value := verdict.Value.Num; verdict.Value.Kind == result.Range || value != 0 && value != 1 {
		verdict.Err = &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf("found the number %v, want a truth value", value)}
		return
	}
	verdict.Value, verdict.Bound = result.Value{Kind: result.Boolean, Bool: verdict.Value.Num == 1}, nil
}

// stormInfinity is the number that Storm's exact arithmetic uses for infinity.
const stormInfinity = 100_000_000_000

// setAccuracies sets the accuracy and the bounds of the value in each state. Exact arithmetic exports rounded decimals. If there are few states,
// Storm also prints the values as fractions, which then replace the decimals.
func (item *workItem) setAccuracies(command runner.Command) {
	item.accuracies, item.bounds = make([]result.Accuracy, len(item.stateResults)), make([]*result.Interval, len(item.stateResults))
	isRounded := slices.ContainsFunc(item.verdict.Warnings, func(warning string) bool { return strings.Contains(warning, "Inaccurate JSON export") })
	printed := parse.StormValues(item.printed)
	for i := range item.stateResults {
		value := &item.stateResults[i].Value
		if value.Kind != result.Number {
			item.accuracies[i] = result.Exact
			if value.Kind == result.NoValue {
				item.accuracies[i] = item.verdict.Accuracy
			}
			continue
		}
		item.accuracies[i], item.bounds[i] = parse.StormAccuracy(command.Args, value)
		switch {
		case item.verdict.Accuracy == result.Estimated && item.accuracies[i] == result.Claimed:
			item.accuracies[i], item.bounds[i] = result.Estimated, nil
		case item.accuracies[i] == result.Exact && len(printed) != len(item.stateResults) && value.Num == stormInfinity:
			item.isInfinite = true
		case item.accuracies[i] != result.Exact:
		case len(printed) == len(item.stateResults):
			*value = printed[i]
		case isRounded:
			value.Rat = nil
			item.accuracies[i] = result.Claimed
			item.bounds[i] = &result.Interval{Lo: interval.Below(interval.Below(value.Num)), Hi: interval.Above(interval.Above(value.Num))}
		}
	}
}

// batches groups queries into runs. A run has one valuation of all constants and one arithmetic. A query has a run of its own if its source has
// declarations, if it exports the values of states, or if it is multi(...).
func (storm) batches(items []*workItem) [][]*workItem {
	var keys []string
	byKey := make(map[string][]*workItem)
	for _, item := range items {
		key := fmt.Sprint(item.constantsOfModel(), runner.Constants(item.property), item.forceFloat)
		if hasDeclarations(item.task.Source) || item.everyState || item.isMultiQuery() {
			key += " " + strconv.Itoa(item.number)
		}
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], item)
	}
	var batches [][]*workItem
	for _, key := range keys {
		batches = append(batches, byKey[key])
	}
	return batches
}

// constantsOfModel returns the values of the model's constants.
func (item *workItem) constantsOfModel() []result.Constant { return runner.Constants(item.model) }

// isMultiQuery reports whether the query is multi(...).
func (item *workItem) isMultiQuery() bool { return isMulti(item.expr) }

// print returns the text of the model or of properties in Storm's dialect. guarded sets the option Guarded of package syntax: it asserts that the left
// operand of every until formula with a lower bound holds in some state.
func (instance *instance) print(node syntax.Node, guarded bool) ([]byte, error) {
	var text bytes.Buffer
	err := syntax.Fprint(&text, node, syntax.Options{
		Dialect: syntax.Storm, Guarded: guarded, NotNegative: func(name string) bool { return instance.notNegative[name] },
		TimeAsReward: instance.tree != nil && instance.tree.Embedded, // one step of the embedded MDP is not one unit of time
	})
	return text.Bytes(), err
}

// multiPrecision is the precision of multi-objective queries; Storm's default is 1e-4.
const multiPrecision = 1e-6

// command returns the command line and the files with which Storm checks a batch of queries. All queries of the batch have the same instance of the
// model.
func (storm) command(ctx context.Context, job *job, batch []*workItem) (runner.Command, error) {
	first := batch[0]
	model, err := job.stormModel(ctx, first.instance)
	if err != nil {
		return runner.Command{}, err
	}
	file, err := stormProperties(batch)
	if err != nil {
		return runner.Command{}, err
	}
	props, err := first.instance.print(file, true)
	if err != nil {
		return runner.Command{}, err
	}
	command := runner.Command{Files: []runner.File{model, {Name: propsFile, Data: props}}}
	givenStates := job.Job.States != nil
	modelSwitch := "--prism"
	if givenStates {
		modelSwitch = "--explicit-umb"
	}
	args := []string{modelSwitch, model.Name, "--prop", propsFile}
	if !givenStates && job.Model.ModelType() == syntax.CTMC {
		args = append(args, "--prismcompat") // rates as PRISM reads them
	}
	args = append(args, job.stormNumerics(first)...)
	args = append(args, job.stormLimits()...)
	if first.everyState {
		if !givenStates {
			args = append(args, "--buildfull")
		}
		args = append(args, "--buildstateval", "--exportresult", resultFile)
		command.Collect = []string{resultFile}
	}
	command.Args = append(args, job.opt.Args...)
	return command, nil
}

// stormModel returns the file with the model, or with its states if the job has states instead of a model.
func (job *job) stormModel(ctx context.Context, instance *instance) (runner.File, error) {
	if job.Job.States != nil {
		states, err := instance.writeUMB(ctx, &job.Job)
		return runner.File{Name: statesFile, Data: states}, err
	}
	model, err := instance.print(instance.tree, false)
	return runner.File{Name: modelFile, Data: model}, err
}

// stormNumerics returns the switches for the arithmetic and the precision of a query.
func (job *job) stormNumerics(item *workItem) []string {
	numeric := &job.Job.Numeric
	var args []string
	switch {
	case item.forceFloat:
	case item.forceExact, numeric.Accuracy == result.Exact:
		args = append(args, "--exact")
	case numeric.Accuracy == result.Float, numeric.Accuracy == result.Estimated:
	default:
		args = append(args, "--sound")
	}
	if numeric.Epsilon > 0 {
		args = append(args, "--precision", decimal(numeric.Epsilon))
	}
	if item.isMultiQuery() {
		args = append(args, "--multiobjective:precision", decimal(multiPrecision))
	}
	return args
}

// stormLimits returns the switches for deadlocks, and for the limits of states and time.
func (job *job) stormLimits() []string {
	var args []string
	if job.Job.NoFixDeadlocks {
		args = append(args, "--nofixdl")
	}
	if limit := job.Job.Numeric.MaxStates; limit > 0 && job.Job.States == nil {
		args = append(args, "--state-limit", strconv.Itoa(limit))
	}
	if limit := job.opt.Limits.Time; limit > 0 {
		args = append(args, "--timeout", strconv.FormatInt(int64(math.Ceil(limit.Seconds())), 10))
	}
	return args
}

// stormProperties returns the properties file of a batch. It has the queries, named by stormName, and the declarations that they may use. Constants
// have values.
func stormProperties(batch []*workItem) (*syntax.Properties, error) {
	file := &syntax.Properties{}
	source := batch[0].task.Source
	values := batch[0].property.Map()
	for _, item := range source.Tree.Items {
		switch item := item.(type) {
		case *syntax.Property:
		case *syntax.LabelDecl:
			if batch[0].instance.tree != nil { // in a model given as states, labels are about variables that Storm does not know
				file.Items = append(file.Items, item)
			}
		case *syntax.ConstDecl:
			constant := *item
			if value, ok := values[constant.Name.Name]; constant.Value == nil && !ok {
				continue // no property of this run uses it
			} else if constant.Value == nil {
				constant.Value = literal(value)
			}
			file.Items = append(file.Items, &constant)
		default:
			file.Items = append(file.Items, item)
		}
	}
	for _, item := range batch {
		file.Items = append(file.Items, &syntax.Property{Name: &syntax.Ident{Name: stormName(item)}, X: item.expr})
	}
	return file, nil
}

// stormName returns the name that a query has in Storm's properties file.
func stormName(item *workItem) string { return "tilecheck_" + strconv.Itoa(item.number) }

// matches reports whether Storm's output about a property belongs to an item: Storm prints the name of its query.
func (storm) matches(property *parse.Property, item *workItem) bool {
	return strings.Trim(property.Name, `"`) == stormName(item)
}
