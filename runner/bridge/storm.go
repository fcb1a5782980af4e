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

	"tilecheck/parse"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// storm is Storm. It takes one valuation of the constants a run, and echoes
// properties in its own words: they are told apart by names.
//
// Source: reference, tools and options, section 6.
type storm struct{}

func (storm) name() string { return string(parse.Storm) }

func (storm) refuse(job *runner.Job) error {
	if job.Method != "" && job.Method != runner.Exact {
		return fmt.Errorf("Storm has no statistical model checking: found method %q, want exact", job.Method)
	}
	return nil
}

func (storm) parser(opt parse.Options) *parse.Parser { return parse.NewStorm(opt) }

// asked is what Storm is asked for an item, and what it exported.
type asked struct {
	in    *instance
	query syntax.Expr
	truth bool // the answer is a truth value, whatever Storm prints it as
	each  bool // the value of every state is asked for
	plain bool // without --exact and --sound
	exact bool // with --exact, whatever the job wants
	// infinite says that a number is the one that stands for infinity.
	infinite bool
	// value is asked beside an operator with this bound; nil for others.
	value *item
	bound float64
	// printed is the value as Storm printed it.
	printed string
	rows    []parse.StormResult
	// How the numbers of the rows are related to the truth.
	accuracies []result.Accuracy
	bounds     []*result.Interval
}

// stormJob is what a job has for Storm alone.
type stormJob struct {
	questions []*question
	queries   map[*instance]int
}

// number numbers the queries about an instance.
func (j *job) number(in *instance) int {
	j.storm.queries[in]++
	return j.storm.queries[in]
}

// ask takes every property apart. One that cannot be written for Storm, or
// whose instance of the model has errors, has its verdict then.
func (s storm) ask(j *job, items []*item) []*item {
	j.storm = &stormJob{queries: make(map[*instance]int)}
	instances := make(map[string]*instance)
	failures := make(map[string]error)
	var out []*item
	for _, it := range items {
		key := fmt.Sprint(it.constantsOfModel())
		if instances[key] == nil && failures[key] == nil {
			instances[key], failures[key] = newInstance(j, it.model)
		}
		if err := failures[key]; err != nil {
			it.verdict = &result.Verdict{Err: refusal(err)}
			continue
		}
		q, err := ask(j, it, instances[key], "")
		if err != nil {
			f := refusal(err)
			f.File = it.task.Source.File
			it.verdict = &result.Verdict{Err: f}
			continue
		}
		j.storm.questions = append(j.storm.questions, q)
		out = append(out, q.asked...)
	}
	return out
}

// refusal is the failure of a property that Storm is not asked about.
func refusal(err error) *result.Failure {
	if d, ok := errors.AsType[*syntax.DialectError](err); ok {
		return &result.Failure{Class: result.Unsupported, Message: (&syntax.DialectError{Dialect: d.Dialect, Feature: d.Feature}).Error(), Pos: d.Pos}
	}
	return failed(err)
}

func (storm) settle(j *job) {
	for _, q := range j.storm.questions {
		q.settle(j)
	}
}

// otherwise asks without --sound or --exact for a value that came out in doubt,
// or that there is none of because Storm's methods for these lack something,
// and with --exact for objectives that cannot be met together in doubt.
// Exact arithmetic has no infinity of its own there, the other has.
func (storm) otherwise(j *job, it *item) (*item, string) {
	v := it.verdict
	if v == nil || it.plain || it.exact || j.Job.Numeric.Accuracy == result.Float || j.Job.Numeric.Accuracy == result.Estimated {
		return nil, ""
	}
	other := *it
	other.plain, other.verdict, other.rows, other.infinite = true, nil, nil, false
	if v.Err == nil && v.Doubt == "" && it.near() {
		v.Doubt = fmt.Sprintf("the value %v is too near the bound for Storm to tell", it.value.verdict.Value.Num)
		other.plain, other.exact = false, true
		return &other, "asked again with --exact: " + v.Doubt
	}
	switch {
	case it.multi() && (j.Job.Numeric.Accuracy == result.Exact || v.Err != nil || v.Doubt == ""):
		return nil, ""
	case it.multi(): // rounding makes a point on the curve infeasible
		other.plain, other.exact = false, true
		return &other, "asked again with --exact, where Storm said: " + v.Doubt
	case v.Err == nil && v.Doubt != "":
		return &other, "asked again without --sound, where Storm said: " + v.Doubt
	case it.infinite, v.Err != nil && strings.HasPrefix(v.Err.Message, "found 100000000000"):
		other.infinite = true
		return &other, "infinite in floating-point arithmetic, where exact arithmetic has 100000000000 for it"
	case v.Err != nil && j.Job.Numeric.Accuracy != result.Exact && (v.Err.Class == result.NonConverge || strings.Contains(v.Err.Message, "sound")):
		return &other, "asked again without --sound, where Storm said: " + v.Err.Message
	}
	return nil, ""
}

// near reports whether the bound is within the precision of the value.
func (it *item) near() bool {
	if it.value == nil || it.value.verdict == nil || it.value.verdict.Err != nil || it.value.verdict.Value.Kind == result.Boolean {
		return false
	}
	v := it.value.verdict
	if b := v.Bound; b != nil {
		return b.Lo <= it.bound && it.bound <= b.Hi
	}
	const precision = 1e-6 // Storm's
	return math.Abs(v.Value.Num-it.bound) <= precision*max(math.Abs(it.bound), precision)
}

// better reports whether a second answer may stand for the first.
func (it *item) better() bool {
	infinite := math.IsInf(it.verdict.Value.Num, 1) || slices.ContainsFunc(it.rows, func(r parse.StormResult) bool { return r.Value.Kind == result.NoValue })
	return !it.infinite || infinite
}

// resultFile is where Storm writes the values of states.
const resultFile = "result.json"

// read takes the values of states, of which Storm exports those of one property a run.
func (storm) read(batch []*item, command runner.Command, exported []runner.File) {
	for _, it := range batch {
		if it.verdict == nil {
			continue
		}
		if f := beyond(command.Args, it.verdict.States); f != nil && it.verdict.Err == nil {
			it.verdict.Err = f
			continue
		}
		if it.truth {
			asTruth(it.verdict)
		}
		if !it.each || it.verdict.Err != nil && !unreadable(it.verdict.Err) {
			continue
		}
		i := slices.IndexFunc(exported, func(f runner.File) bool { return f.Name == resultFile })
		if f := it.verdict.Err; i < 0 && f != nil && !strings.HasPrefix(f.Message, "found ") {
			continue // it was not answered at all
		}
		if i < 0 {
			it.verdict.Err = &result.Failure{Class: result.Truncated, Message: "Storm wrote no file with the values of states"}
			continue
		}
		rows, err := parse.ReadStormResults(bytes.NewReader(exported[i].Data))
		if err != nil {
			it.verdict.Err = &result.Failure{Class: result.Unsupported, Message: err.Error()}
			continue
		}
		it.verdict.Err, it.rows = nil, rows
		it.weigh(command)
	}
}

// beyond says that a run came to its limit of states: Storm goes on then as if
// those that it has not looked at were absorbing.
func beyond(args []string, states int64) *result.Failure {
	i := slices.Index(args, "--state-limit")
	if i < 0 {
		return nil
	}
	if limit, err := strconv.ParseInt(args[i+1], 10, 64); err != nil || states < limit {
		return nil
	}
	return &result.Failure{Class: result.Memory, Message: "the model has more states than the limit of " + args[i+1]}
}

// asTruth reads 1 and 0 as truth values.
func asTruth(v *result.Verdict) {
	if k := v.Value.Kind; v.Err != nil || k == result.Boolean || k == result.NoValue {
		return
	}
	if x := v.Value.Num; v.Value.Kind == result.Range || x != 0 && x != 1 {
		v.Err = &result.Failure{Class: result.Unsupported, Message: fmt.Sprintf("found the number %v, want a truth value", x)}
		return
	}
	v.Value, v.Bound = result.Value{Kind: result.Boolean, Bool: v.Value.Num == 1}, nil
}

// stormInfinity is what Storm's exact arithmetic has for infinity.
const stormInfinity = 100_000_000_000

// weigh says how accurate the numbers of the rows are. Those of exact
// arithmetic are written as doubles; few of them are printed as fractions, too.
func (it *item) weigh(command runner.Command) {
	it.accuracies, it.bounds = make([]result.Accuracy, len(it.rows)), make([]*result.Interval, len(it.rows))
	inaccurate := slices.ContainsFunc(it.verdict.Warnings, func(w string) bool { return strings.Contains(w, "Inaccurate JSON export") })
	printed := parse.StormValues(it.printed)
	for i := range it.rows {
		v := &it.rows[i].Value
		if v.Kind != result.Number {
			it.accuracies[i] = result.Exact
			if v.Kind == result.NoValue {
				it.accuracies[i] = it.verdict.Accuracy
			}
			continue
		}
		it.accuracies[i], it.bounds[i] = parse.StormAccuracy(command.Args, v)
		switch {
		case it.verdict.Accuracy == result.Estimated && it.accuracies[i] == result.Claimed:
			it.accuracies[i], it.bounds[i] = result.Estimated, nil
		case it.accuracies[i] == result.Exact && len(printed) != len(it.rows) && v.Num == stormInfinity:
			it.infinite = true
		case it.accuracies[i] != result.Exact:
		case len(printed) == len(it.rows):
			*v = printed[i]
		case inaccurate:
			v.Rat = nil
			it.accuracies[i] = result.Claimed
			it.bounds[i] = &result.Interval{Lo: below(below(v.Num)), Hi: above(above(v.Num))}
		}
	}
}

// batches has one run for each valuation and way to ask, for each text that has declarations
// of its own, and for each query that exports the values of states.
func (storm) batches(items []*item) [][]*item {
	var order []string
	groups := make(map[string][]*item)
	for _, it := range items {
		key := fmt.Sprint(it.constantsOfModel(), runner.Constants(it.property), it.plain)
		if declares(it.task.Source) || it.each || it.multi() {
			key += " " + strconv.Itoa(it.number)
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], it)
	}
	var batches [][]*item
	for _, key := range order {
		batches = append(batches, groups[key])
	}
	return batches
}

func (it *item) constantsOfModel() []result.Constant { return runner.Constants(it.model) }

func (it *item) multi() bool { return isMulti(it.query) }

// print writes a part of the model, or properties, in Storm's dialect.
func (in *instance) print(n syntax.Node, late bool) ([]byte, error) {
	var b bytes.Buffer
	err := syntax.Fprint(&b, n, syntax.Options{
		Dialect: syntax.Storm, Guarded: late, NotNegative: func(name string) bool { return in.notNegative[name] },
	})
	return b.Bytes(), err
}

// multiPrecision is asked for in multi-objective queries, whose default is 1e-4.
const multiPrecision = 1e-6

func (storm) command(ctx context.Context, j *job, batch []*item) (runner.Command, error) {
	first := batch[0]
	given := j.Job.States != nil
	var model []byte
	var err error
	if given {
		model, err = first.in.umb(ctx, &j.Job)
	} else {
		model, err = first.in.print(first.in.tree, false)
	}
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
	name, args := modelFile, []string{"--prism", modelFile, "--prop", propsFile}
	if given {
		name, args = statesFile, []string{"--explicit-umb", statesFile, "--prop", propsFile}
	} else if j.Model.ModelType() == syntax.CTMC {
		args = append(args, "--prismcompat") // rates as PRISM reads them
	}
	switch {
	case first.plain:
	case first.exact, j.Job.Numeric.Accuracy == result.Exact:
		args = append(args, "--exact")
	case j.Job.Numeric.Accuracy == result.Float, j.Job.Numeric.Accuracy == result.Estimated:
	default:
		args = append(args, "--sound")
	}
	if e := j.Job.Numeric.Epsilon; e > 0 {
		args = append(args, "--precision", number(e))
	}
	if first.multi() {
		args = append(args, "--multiobjective:precision", number(multiPrecision))
	}
	if j.Job.NoFixDeadlocks {
		args = append(args, "--nofixdl")
	}
	if n := j.Job.Numeric.MaxStates; n > 0 && !given {
		args = append(args, "--state-limit", strconv.Itoa(n))
	}
	if t := j.opt.Limits.Time; t > 0 {
		args = append(args, "--timeout", strconv.FormatInt(int64(math.Ceil(t.Seconds())), 10))
	}
	out := runner.Command{Files: []runner.File{{Name: name, Data: model}, {Name: propsFile, Data: props}}}
	if first.each {
		if !given {
			args = append(args, "--buildfull")
		}
		args = append(args, "--buildstateval", "--exportresult", resultFile)
		out.Collect = []string{resultFile}
	}
	out.Args = append(args, j.opt.Args...)
	return out, nil
}

// stormProperties are the properties of a batch, each under the name stormName
// has for it, and the declarations that they may use. Constants of the
// properties have their values there.
func stormProperties(batch []*item) (*syntax.Properties, error) {
	file := &syntax.Properties{}
	source := batch[0].task.Source
	values := batch[0].property.Map()
	for _, x := range source.Tree.Items {
		switch x := x.(type) {
		case *syntax.Property:
		case *syntax.LabelDecl:
			if batch[0].in.tree != nil { // else it is about variables that Storm does not know
				file.Items = append(file.Items, x)
			}
		case *syntax.ConstDecl:
			c := *x
			if v, ok := values[c.Name.Name]; c.Value == nil && !ok {
				continue // no property of the run needs it
			} else if c.Value == nil {
				c.Value = literal(v)
			}
			file.Items = append(file.Items, &c)
		default:
			file.Items = append(file.Items, x)
		}
	}
	for _, it := range batch {
		file.Items = append(file.Items, &syntax.Property{Name: &syntax.Ident{Name: stormName(it)}, X: it.query})
	}
	return file, nil
}

func stormName(it *item) string { return "tilecheck_" + strconv.Itoa(it.number) }

func (storm) is(p *parse.Property, it *item) bool {
	return strings.Trim(p.Name, `"`) == stormName(it)
}
