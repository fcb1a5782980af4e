package bridge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// statesFile is the file of a model that is given as states. Storm knows its labels, but no variables.
const statesFile = "model.umb"

// givenInstance returns the instance of a model that is given as states.
func givenInstance(job *job, valuation sema.Valuation) (*instance, error) {
	program, err := job.Model.Instantiate(valuation.Map())
	if err != nil {
		return nil, err
	}
	instance := &instance{program: program, numbers: make(map[string]int)}
	for i, structure := range program.Rewards {
		instance.rewards = append(instance.rewards, cmp.Or(structure.Name, fmt.Sprintf("tilecheck_rewards_%d", i+1)))
	}
	return instance, nil
}

// writeUMB writes the states, with the labels that properties use and with names for all reward structures.
func (instance *instance) writeUMB(ctx context.Context, job *runner.Job) ([]byte, error) {
	space, err := explicit.SpaceOf(ctx, job.States, explicit.FractionsFor(job.Numeric.Accuracy == result.Exact, false))
	if err != nil {
		return nil, err
	}
	program := *space.Program()
	program.Labels = append(slices.Clip(program.Labels), instance.labels...)
	program.Rewards = slices.Clone(program.Rewards)
	for i, name := range instance.rewards {
		program.Rewards[i].Name = name
	}
	writer, err := files.NewWriter(space, files.Options{Program: &program, Raw: true})
	if err != nil {
		return nil, unsupported(err.Error())
	}
	var text bytes.Buffer
	err = writer.UMB(ctx, &text)
	return text.Bytes(), err
}

// replaceByLabels returns a formula in which labels replace the conditions on variables: Storm knows only the labels of states that it reads from a
// file.
func (d *decomposer) replaceByLabels(expr syntax.Expr) syntax.Expr {
	if expr == nil {
		return nil
	}
	if !logic.HasOperators(expr) {
		return d.labelFor(expr)
	}
	switch expr := expr.(type) {
	case *syntax.Paren:
		return &syntax.Paren{X: d.replaceByLabels(expr.X), Span: expr.Span}
	case *syntax.Unary:
		replaced := *expr
		replaced.X = d.replaceByLabels(expr.X)
		return &replaced
	case *syntax.Binary:
		replaced := *expr
		replaced.X, replaced.Y = d.replaceByLabels(expr.X), d.replaceByLabels(expr.Y)
		return &replaced
	case *syntax.Temporal:
		replaced := *expr
		replaced.X, replaced.Y = d.replaceByLabels(expr.X), d.replaceByLabels(expr.Y)
		return &replaced
	case *syntax.Filter:
		replaced := *expr
		replaced.X, replaced.States = d.replaceByLabels(expr.X), d.replaceByLabels(expr.States)
		return &replaced
	case *syntax.Call: // multi
		replaced := *expr
		replaced.Args = slices.Clone(expr.Args)
		for i := range replaced.Args {
			replaced.Args[i] = d.replaceByLabels(replaced.Args[i])
		}
		return &replaced
	}
	operator := logic.Read(expr)
	switch {
	case !operator.Measure():
		d.refuse(expr, "such a formula about states from a file")
	case operator.Objective == nil:
		return operator.With(operator.Threshold, d.replaceByLabels(operator.Within))
	}
	return expr
}

// labelFor returns a label that holds in the states that satisfy a condition. If there is none yet, it adds one to the labels of the instance. The
// constants true and false, and labels that Storm knows, stay as they are.
func (d *decomposer) labelFor(condition syntax.Expr) syntax.Expr {
	switch literal := syntax.Unparen(condition).(type) {
	case *syntax.BoolLit:
		return condition
	case *syntax.Quoted:
		if d.labelDefs[literal.Name] == nil && literal.Name != "deadlock" { // Storm's own label "deadlock" has another meaning
			return condition
		}
	}
	condition = d.expandLabels(condition)
	key := fmt.Sprint(runner.Constants(d.item.property), d.item.task.Source.File, syntax.ExprString(condition))
	index, ok := d.instance.numbers[key]
	if !ok {
		evaluator, err := d.newEvaluator(&node{expr: condition})
		if err != nil {
			d.fail(err)
			return condition
		}
		index = len(d.instance.labels)
		d.instance.numbers[key] = index
		name := "tilecheck_states_" + strconv.Itoa(index+1)
		for slices.ContainsFunc(d.instance.program.Labels, func(label sema.LabelDef) bool { return label.Name == name }) {
			name += "_"
		}
		d.instance.labels = append(d.instance.labels, sema.LabelDef{Name: name, Expr: evaluator.expr})
	}
	return &syntax.Quoted{Name: d.instance.labels[index].Name}
}

// expandLabels replaces the labels in a condition by their definitions, and the labels in these definitions, too.
func (d *decomposer) expandLabels(condition syntax.Expr) syntax.Expr {
	return syntax.Rewrite(condition, func(expr syntax.Expr) syntax.Expr {
		if label, ok := expr.(*syntax.Quoted); ok && d.labelDefs[label.Name] != nil {
			return &syntax.Paren{X: d.expandLabels(d.labelDefs[label.Name])}
		}
		return expr
	})
}
