package bridge

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tilecheck/parse"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/plan"
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

// batches has one run for each valuation, and for each text that has
// declarations of its own.
func (storm) batches(items []*item) [][]*item {
	var order []string
	groups := make(map[string][]*item)
	for _, it := range items {
		key := fmt.Sprint(plan.Constants(it.model), plan.Constants(it.property))
		if declares(it.task.Source) {
			key += strconv.Itoa(it.number)
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

func (storm) command(j *job, batch []*item) (runner.Command, error) {
	opt := syntax.Options{Dialect: syntax.Storm}
	var model, props bytes.Buffer
	if err := syntax.Fprint(&model, j.plan.Tree, opt); err != nil {
		return runner.Command{}, err
	}
	if err := syntax.Fprint(&props, stormProperties(batch), opt); err != nil {
		return runner.Command{}, err
	}
	args := []string{"--prism", modelFile, "--prop", propsFile}
	args = append(args, constSwitch("--constants", batch[0].constants())...)
	if j.plan.Model.ModelType() == syntax.CTMC {
		args = append(args, "--prismcompat") // rates as PRISM reads them
	}
	switch j.Numeric.Accuracy {
	case result.Exact:
		args = append(args, "--exact")
	case result.Float, result.Estimated:
	default:
		args = append(args, "--sound")
	}
	if e := j.Numeric.Epsilon; e > 0 {
		args = append(args, "--precision", number(e))
	}
	if j.NoFixDeadlocks {
		args = append(args, "--nofixdl")
	}
	if n := j.Numeric.MaxStates; n > 0 {
		args = append(args, "--state-limit", strconv.Itoa(n))
	}
	if t := j.opt.Limits.Time; t > 0 {
		args = append(args, "--timeout", strconv.FormatInt(int64(math.Ceil(t.Seconds())), 10))
	}
	return runner.Command{
		Args:  append(args, j.opt.Args...),
		Files: []runner.File{{Name: modelFile, Data: model.Bytes()}, {Name: propsFile, Data: props.Bytes()}},
	}, nil
}

// stormProperties are the properties of a batch, each under the name stormName
// has for it, and the declarations that they may use.
func stormProperties(batch []*item) *syntax.Properties {
	file := &syntax.Properties{}
	source := batch[0].task.Source
	for _, x := range source.Tree.Items {
		if _, property := x.(*syntax.Property); !property {
			file.Items = append(file.Items, x)
		}
	}
	for _, it := range batch {
		p := *it.task.Property
		p.Name = &syntax.Ident{Name: stormName(it)}
		p.Doc = nil
		file.Items = append(file.Items, &p)
	}
	return file
}

func stormName(it *item) string { return "tilecheck_" + strconv.Itoa(it.number) }

func (storm) is(p *parse.Property, it *item) bool {
	return strings.Trim(p.Name, `"`) == stormName(it)
}
