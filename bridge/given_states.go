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
func givenInstance(j *job, v sema.Valuation) (*instance, error) {
	prog, err := j.Model.Instantiate(v.Map())
	if err != nil {
		return nil, err
	}
	in := &instance{program: prog, numbers: make(map[string]int)}
	for i, r := range prog.Rewards {
		in.rewards = append(in.rewards, cmp.Or(r.Name, fmt.Sprintf("tilecheck_rewards_%d", i+1)))
	}
	return in, nil
}

// writeUMB writes the states, with the labels that properties use and with names for all reward structures.
func (in *instance) writeUMB(ctx context.Context, job *runner.Job) ([]byte, error) {
	space, err := explicit.SpaceOf(ctx, job.States, explicit.FractionsFor(job.Numeric.Accuracy == result.Exact, false))
	if err != nil {
		return nil, err
	}
	own := *space.Program()
	own.Labels = append(slices.Clip(own.Labels), in.labels...)
	own.Rewards = slices.Clone(own.Rewards)
	for i, name := range in.rewards {
		own.Rewards[i].Name = name
	}
	w, err := files.NewWriter(space, files.Options{Program: &own, Raw: true})
	if err != nil {
		return nil, unsupported(err.Error())
	}
	var out bytes.Buffer
	err = w.UMB(ctx, &out)
	return out.Bytes(), err
}

// replaceByLabels replaces conditions on variables in a formula by labels.
func (a *decomposer) replaceByLabels(x syntax.Expr) syntax.Expr {
	if x == nil {
		return nil
	}
	if !logic.HasOperators(x) {
		return a.labelFor(x)
	}
	switch x := x.(type) {
	case *syntax.Paren:
		return &syntax.Paren{X: a.replaceByLabels(x.X), Span: x.Span}
	case *syntax.Unary:
		c := *x
		c.X = a.replaceByLabels(x.X)
		return &c
	case *syntax.Binary:
		c := *x
		c.X, c.Y = a.replaceByLabels(x.X), a.replaceByLabels(x.Y)
		return &c
	case *syntax.Temporal:
		c := *x
		c.X, c.Y = a.replaceByLabels(x.X), a.replaceByLabels(x.Y)
		return &c
	case *syntax.Filter:
		c := *x
		c.X, c.States = a.replaceByLabels(x.X), a.replaceByLabels(x.States)
		return &c
	case *syntax.Call: // multi
		c := *x
		c.Args = slices.Clone(x.Args)
		for i := range c.Args {
			c.Args[i] = a.replaceByLabels(c.Args[i])
		}
		return &c
	}
	w := logic.Read(x)
	switch {
	case !w.Measure():
		a.refuse(x, "such a formula about states from a file")
	case w.Objective == nil:
		return w.With(w.Threshold, a.replaceByLabels(w.Within))
	}
	return x
}

// labelFor returns a label for a condition, and adds it to the labels of the states.
func (a *decomposer) labelFor(x syntax.Expr) syntax.Expr {
	switch y := syntax.Unparen(x).(type) {
	case *syntax.BoolLit:
		return x
	case *syntax.Quoted:
		if a.defs[y.Name] == nil && y.Name != "deadlock" { // of which Storm has one of its own
			return x
		}
	}
	for again := true; again; {
		again = false
		x = syntax.Rewrite(x, func(x syntax.Expr) syntax.Expr {
			if q, ok := x.(*syntax.Quoted); ok && a.defs[q.Name] != nil {
				again = true
				return &syntax.Paren{X: a.defs[q.Name]}
			}
			return x
		})
	}
	key := fmt.Sprint(runner.Constants(a.item.property), a.item.task.Source.File, syntax.ExprString(x))
	k, ok := a.in.numbers[key]
	if !ok {
		e, err := a.evaluator(&node{x: x})
		if err != nil {
			a.fail(err)
			return x
		}
		k = len(a.in.labels)
		a.in.numbers[key] = k
		name := "tilecheck_states_" + strconv.Itoa(k+1)
		for slices.ContainsFunc(a.in.program.Labels, func(l sema.LabelDef) bool { return l.Name == name }) {
			name += "_"
		}
		a.in.labels = append(a.in.labels, sema.LabelDef{Name: name, X: e.x})
	}
	return &syntax.Quoted{Name: a.in.labels[k].Name}
}
