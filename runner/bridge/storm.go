package bridge

import (
	"bytes"
	"fmt"
	"math"
	"slices"
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
	file, err := stormProperties(batch)
	if err != nil {
		return runner.Command{}, err
	}
	if err := syntax.Fprint(&props, file, opt); err != nil {
		return runner.Command{}, err
	}
	args := []string{"--prism", modelFile, "--prop", propsFile}
	args = append(args, constSwitch("--constants", plan.Constants(batch[0].model))...)
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
// has for it, and the declarations that they may use. Constants of the
// properties have their values there.
func stormProperties(batch []*item) (*syntax.Properties, error) {
	file := &syntax.Properties{}
	source := batch[0].task.Source
	values := plan.Constants(batch[0].property)
	for _, x := range source.Tree.Items {
		switch x := x.(type) {
		case *syntax.Property:
		case *syntax.ConstDecl:
			c, err := withValue(x, values)
			if err != nil {
				return nil, err
			}
			if c != nil {
				file.Items = append(file.Items, c)
			}
		default:
			file.Items = append(file.Items, x)
		}
	}
	for _, it := range batch {
		p := *it.task.Property
		p.Name = &syntax.Ident{Name: stormName(it)}
		p.Doc = nil
		file.Items = append(file.Items, &p)
	}
	return file, nil
}

// withValue returns a constant with its value, nil for one that no property of
// the run needs.
func withValue(c *syntax.ConstDecl, values []result.Constant) (*syntax.ConstDecl, error) {
	if c.Value != nil {
		return c, nil
	}
	i := slices.IndexFunc(values, func(v result.Constant) bool { return v.Name == c.Name.Name })
	if i < 0 {
		return nil, nil
	}
	x, err := syntax.ParseExpr("", []byte(values[i].Value))
	if err != nil {
		return nil, err
	}
	defined := *c
	defined.Value = x
	return &defined, nil
}

func stormName(it *item) string { return "tilecheck_" + strconv.Itoa(it.number) }

func (storm) is(p *parse.Property, it *item) bool {
	return strings.Trim(p.Name, `"`) == stormName(it)
}
