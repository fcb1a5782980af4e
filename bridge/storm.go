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
	in            *instance
	query         syntax.Expr
	isBool        bool // the answer is a truth value, even if Storm prints a number
	everyState    bool // the query is about every state
	floatingPoint bool // without --exact and --sound
	exact         bool // with --exact, whatever the job wants
	// infinite says that a number is stormInfinity.
	infinite bool
	// value is an additional query for the value of a bounded operator, whose bound is bound; nil if not needed.
	value *workItem
	bound float64
	// printed is the value as Storm printed it.
	printed string
	rows    []parse.StormResult
	// The accuracy of the numbers of the rows, and their bounds.
	accuracies []result.Accuracy
	bounds     []*result.Interval
}

// stormJob is the part of a job that only Storm needs.
type stormJob struct {
	questions []*question
	queries   map[*instance]int
}

// number returns the next query number for an instance.
func (j *job) number(in *instance) int {
	j.storm.queries[in]++
	return j.storm.queries[in]
}

// ask decomposes every property into queries. A property that Storm's dialect cannot express, or whose instance of the model has
// errors, gets a verdict with an error at once.
func (s storm) ask(j *job, items []*workItem) []*workItem {
	j.storm = &stormJob{queries: make(map[*instance]int)}
	instances := make(map[string]*instance)
	failures := make(map[string]error)
	var out []*workItem
	for _, item := range items {
		key := fmt.Sprint(item.constantsOfModel())
		if instances[key] == nil && failures[key] == nil {
			instances[key], failures[key] = newInstance(j, item.model)
		}
		if err := failures[key]; err != nil {
			item.verdict = &result.Verdict{Err: refusal(err)}
			continue
		}
		q, err := ask(j, item, instances[key], "")
		if err != nil {
			f := refusal(err)
			f.File = item.task.Source.File
			item.verdict = &result.Verdict{Err: f}
			continue
		}
		j.storm.questions = append(j.storm.questions, q)
		out = append(out, q.asked...)
	}
	return out
}

// refusal returns the failure of a property that is not given to Storm.
func refusal(err error) *result.Failure {
	if d, ok := errors.AsType[*syntax.DialectError](err); ok {
		return &result.Failure{Class: result.Unsupported, Message: (&syntax.DialectError{Dialect: d.Dialect, Feature: d.Feature}).Error(), Pos: d.Pos}
	}
	return failed(err)
}

// settle sets the verdicts of the items whose answers combine several queries.
func (storm) settle(j *job) {
	for _, q := range j.storm.questions {
		q.settle(j)
	}
}

// otherwise returns another way to ask a query whose answer is unreliable, with the reason. It drops --sound or --exact
// if Storm doubts the value or its sound and exact methods lack something. It adds --exact for objectives that are
// infeasible because of rounding, and for values too near their bound. Exact arithmetic has no infinity, so a value
// of stormInfinity is asked for again in floating point.
func (storm) otherwise(j *job, item *workItem) (*workItem, string) {
	v := item.verdict
	if v == nil || item.floatingPoint || item.exact || j.Job.Numeric.Accuracy == result.Float || j.Job.Numeric.Accuracy == result.Estimated {
		return nil, ""
	}
	other := *item
	other.floatingPoint, other.verdict, other.rows, other.infinite = true, nil, nil, false
	if v.Err == nil && v.Doubt == "" && item.nearBound() {
		v.Doubt = fmt.Sprintf("the value %v is too near the bound for Storm to tell", item.value.verdict.Value.Num)
		other.floatingPoint, other.exact = false, true
		return &other, "asked again with --exact: " + v.Doubt
	}
	switch {
	case item.multi() && (j.Job.Numeric.Accuracy == result.Exact || v.Err != nil || v.Doubt == ""):
		return nil, ""
	case item.multi(): // rounding can make a point on the curve infeasible
		other.floatingPoint, other.exact = false, true
		return &other, "asked again with --exact, where Storm said: " + v.Doubt
	case v.Err == nil && v.Doubt != "":
		return &other, "asked again without --sound, where Storm said: " + v.Doubt
	case item.infinite, v.Err != nil && strings.HasPrefix(v.Err.Message, "found 100000000000"):
		other.infinite = true
		return &other, "infinite in floating-point arithmetic, where exact arithmetic has 100000000000 for it"
	case v.Err != nil && j.Job.Numeric.Accuracy != result.Exact && (v.Err.Class == result.NonConverge || strings.Contains(v.Err.Message, "sound")):
		return &other, "asked again without --sound, where Storm said: " + v.Err.Message
	}
	return nil, ""
}

// nearBound reports whether the bound is within the precision of the value.
func (item *workItem) nearBound() bool {
	if item.value == nil || item.value.verdict == nil || item.value.verdict.Err != nil || item.value.verdict.Value.Kind == result.Boolean {
		return false
	}
	v := item.value.verdict
	if b := v.Bound; b != nil {
		return b.Lo <= item.bound && item.bound <= b.Hi
	}
	const precision = 1e-6 // Storm's
	return math.Abs(v.Value.Num-item.bound) <= precision*max(math.Abs(item.bound), precision)
}

// better reports whether the second answer may replace the first one.
func (item *workItem) better() bool {
	infinite := math.IsInf(item.verdict.Value.Num, 1) || slices.ContainsFunc(item.rows, func(r parse.StormResult) bool { return r.Value.Kind == result.NoValue })
	return !item.infinite || infinite
}

// resultFile is the file to which Storm exports the values of states.
const resultFile = "result.json"

// read processes the verdicts of a run and the exported values of states.
func (storm) read(batch []*workItem, command runner.Command, exported []runner.File) {
	for _, item := range batch {
		if item.verdict == nil {
			continue
		}
		if f := stateLimitReached(command.Args, item.verdict.States); f != nil && item.verdict.Err == nil {
			item.verdict.Err = f
			continue
		}
		if item.isBool {
			convertToBool(item.verdict)
		}
		if !item.everyState || item.verdict.Err != nil && !unreadable(item.verdict.Err) {
			continue
		}
		i := slices.IndexFunc(exported, func(f runner.File) bool { return f.Name == resultFile })
		if f := item.verdict.Err; i < 0 && f != nil && !strings.HasPrefix(f.Message, "found ") {
			continue // Storm did not answer the query
		}
		if i < 0 {
			item.verdict.Err = &result.Failure{Class: result.Truncated, Message: "Storm wrote no file with the values of states"}
			continue
		}
		rows, err := parse.ReadStormResults(bytes.NewReader(exported[i].Data))
		if err != nil {
			item.verdict.Err = &result.Failure{Class: result.Unsupported, Message: err.Error()}
			continue
		}
		item.verdict.Err, item.rows = nil, rows
		item.setAccuracies(command)
	}
}

// stateLimitReached returns a failure if a run reached its limit of states. Storm then continues as if the unexplored states were
// absorbing.
func stateLimitReached(args []string, states int64) *result.Failure {
	i := slices.Index(args, "--state-limit")
	if i < 0 {
		return nil
	}
	if limit, err := strconv.ParseInt(args[i+1], 10, 64); err != nil || states < limit {
		return nil
	}
	return &result.Failure{Class: result.Memory, Message: "the model has more states than the limit of " + args[i+1]}
}

// convertToBool converts the values 1 and 0 to truth values.
func convertToBool(v *result.Verdict) {
	if k := v.Value.Kind; v.Err != nil || k == result.Boolean || k == result.NoValue {
		return
	}
	if x := v.Value.Num; v.Value.Kind == result.Range || x != 0 && x != 1 {
		v.Err = &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf("found the number %v, want a truth value", x)}
		return
	}
	v.Value, v.Bound = result.Value{Kind: result.Boolean, Bool: v.Value.Num == 1}, nil
}

// stormInfinity is the number that Storm's exact arithmetic uses for infinity.
const stormInfinity = 100_000_000_000

// setAccuracies sets the accuracy of each row. Values of exact arithmetic are exported as rounded decimals; if there are few, Storm
// also prints them as fractions.
func (item *workItem) setAccuracies(command runner.Command) {
	item.accuracies, item.bounds = make([]result.Accuracy, len(item.rows)), make([]*result.Interval, len(item.rows))
	inaccurate := slices.ContainsFunc(item.verdict.Warnings, func(w string) bool { return strings.Contains(w, "Inaccurate JSON export") })
	printed := parse.StormValues(item.printed)
	for i := range item.rows {
		v := &item.rows[i].Value
		if v.Kind != result.Number {
			item.accuracies[i] = result.Exact
			if v.Kind == result.NoValue {
				item.accuracies[i] = item.verdict.Accuracy
			}
			continue
		}
		item.accuracies[i], item.bounds[i] = parse.StormAccuracy(command.Args, v)
		switch {
		case item.verdict.Accuracy == result.Estimated && item.accuracies[i] == result.Claimed:
			item.accuracies[i], item.bounds[i] = result.Estimated, nil
		case item.accuracies[i] == result.Exact && len(printed) != len(item.rows) && v.Num == stormInfinity:
			item.infinite = true
		case item.accuracies[i] != result.Exact:
		case len(printed) == len(item.rows):
			*v = printed[i]
		case inaccurate:
			v.Rat = nil
			item.accuracies[i] = result.Claimed
			item.bounds[i] = &result.Interval{Lo: interval.Below(interval.Below(v.Num)), Hi: interval.Above(interval.Above(v.Num))}
		}
	}
}

// batches groups queries into runs: one for each valuation and way of asking, for each source with declarations, and for each
// query that exports the values of states.
func (storm) batches(items []*workItem) [][]*workItem {
	var order []string
	groups := make(map[string][]*workItem)
	for _, item := range items {
		key := fmt.Sprint(item.constantsOfModel(), runner.Constants(item.property), item.floatingPoint)
		if hasDeclarations(item.task.Source) || item.everyState || item.multi() {
			key += " " + strconv.Itoa(item.number)
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], item)
	}
	var batches [][]*workItem
	for _, key := range order {
		batches = append(batches, groups[key])
	}
	return batches
}

// constantsOfModel returns the values of the model's constants.
func (item *workItem) constantsOfModel() []result.Constant { return runner.Constants(item.model) }

// multi reports whether the query is multi(...).
func (item *workItem) multi() bool { return isMulti(item.query) }

// print writes a part of the model, or properties, in Storm's dialect.
func (in *instance) print(n syntax.Node, late bool) ([]byte, error) {
	var b bytes.Buffer
	err := syntax.Fprint(&b, n, syntax.Options{
		Dialect: syntax.Storm, Guarded: late, NotNegative: func(name string) bool { return in.notNegative[name] },
	})
	return b.Bytes(), err
}

// multiPrecision is the precision of multi-objective queries; Storm's default is 1e-4.
const multiPrecision = 1e-6

// command returns the command that checks a batch of queries.
func (storm) command(ctx context.Context, j *job, batch []*workItem) (runner.Command, error) {
	first := batch[0]
	model, err := j.stormModel(ctx, first.in)
	if err != nil {
		return runner.Command{}, err
	}
	file, err := stormProperties(batch)
	if err != nil {
		return runner.Command{}, err
	}
	props, err := first.in.print(file, true)
	if err != nil {
		return runner.Command{}, err
	}
	command := runner.Command{Files: []runner.File{model, {Name: propsFile, Data: props}}}
	givenStates := j.Job.States != nil
	modelSwitch := "--prism"
	if givenStates {
		modelSwitch = "--explicit-umb"
	}
	args := []string{modelSwitch, model.Name, "--prop", propsFile}
	if !givenStates && j.Model.ModelType() == syntax.CTMC {
		args = append(args, "--prismcompat") // rates as PRISM reads them
	}
	args = append(args, j.stormNumerics(first)...)
	args = append(args, j.stormLimits()...)
	if first.everyState {
		if !givenStates {
			args = append(args, "--buildfull")
		}
		args = append(args, "--buildstateval", "--exportresult", resultFile)
		command.Collect = []string{resultFile}
	}
	command.Args = append(args, j.opt.Args...)
	return command, nil
}

// stormModel returns the file with the model, or with its states if the job has states instead of a model.
func (j *job) stormModel(ctx context.Context, in *instance) (runner.File, error) {
	if j.Job.States != nil {
		states, err := in.writeUMB(ctx, &j.Job)
		return runner.File{Name: statesFile, Data: states}, err
	}
	model, err := in.print(in.tree, false)
	return runner.File{Name: modelFile, Data: model}, err
}

// stormNumerics returns the switches for the arithmetic and the precision of a query.
func (j *job) stormNumerics(item *workItem) []string {
	numeric := &j.Job.Numeric
	var args []string
	switch {
	case item.floatingPoint:
	case item.exact, numeric.Accuracy == result.Exact:
		args = append(args, "--exact")
	case numeric.Accuracy == result.Float, numeric.Accuracy == result.Estimated:
	default:
		args = append(args, "--sound")
	}
	if numeric.Epsilon > 0 {
		args = append(args, "--precision", number(numeric.Epsilon))
	}
	if item.multi() {
		args = append(args, "--multiobjective:precision", number(multiPrecision))
	}
	return args
}

// stormLimits returns the switches for deadlocks, and for the limits of states and time.
func (j *job) stormLimits() []string {
	var args []string
	if j.Job.NoFixDeadlocks {
		args = append(args, "--nofixdl")
	}
	if limit := j.Job.Numeric.MaxStates; limit > 0 && j.Job.States == nil {
		args = append(args, "--state-limit", strconv.Itoa(limit))
	}
	if limit := j.opt.Limits.Time; limit > 0 {
		args = append(args, "--timeout", strconv.FormatInt(int64(math.Ceil(limit.Seconds())), 10))
	}
	return args
}

// stormProperties returns the properties file of a batch: the queries under their stormNames, and the declarations that they may
// use, with the values of constants.
func stormProperties(batch []*workItem) (*syntax.Properties, error) {
	file := &syntax.Properties{}
	source := batch[0].task.Source
	values := batch[0].property.Map()
	for _, x := range source.Tree.Items {
		switch x := x.(type) {
		case *syntax.Property:
		case *syntax.LabelDecl:
			if batch[0].in.tree != nil { // in a model given as states, labels are about variables that Storm does not know
				file.Items = append(file.Items, x)
			}
		case *syntax.ConstDecl:
			c := *x
			if v, ok := values[c.Name.Name]; c.Value == nil && !ok {
				continue // no property of this run uses it
			} else if c.Value == nil {
				c.Value = literal(v)
			}
			file.Items = append(file.Items, &c)
		default:
			file.Items = append(file.Items, x)
		}
	}
	for _, item := range batch {
		file.Items = append(file.Items, &syntax.Property{Name: &syntax.Ident{Name: stormName(item)}, X: item.query})
	}
	return file, nil
}

// stormName returns the name that a query has in Storm's properties file.
func stormName(item *workItem) string { return "tilecheck_" + strconv.Itoa(item.number) }

// is reports whether Storm's output about a property belongs to an item.
func (storm) is(p *parse.Property, item *workItem) bool {
	return strings.Trim(p.Name, `"`) == stormName(item)
}
