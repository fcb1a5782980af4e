package main

import (
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// exampleProperty returns a property that suits the model of a job: its operator fits the type of the model, and its goal is a label or the greatest value
// of a variable. It returns "P=? [ F s=2 ]" if the model cannot be read.
func exampleProperty(job *runner.Job) string {
	tree, err := syntax.ParseModelOf(job.Dialect, job.File, job.Model)
	if err != nil || len(job.Model) == 0 {
		return "P=? [ F s=2 ]"
	}
	operator, goal := "Pmax=?", "s=2"
	var variables []*syntax.VarDecl
	var labels []*syntax.LabelDecl
	for _, item := range tree.Items {
		switch item := item.(type) {
		case *syntax.TypeDecl:
			switch item.Type {
			case syntax.DTMC, syntax.CTMC:
				operator = "P=?"
			case syntax.SMG:
				operator = "<<1>> Pmax=?"
			}
		case *syntax.LabelDecl:
			labels = append(labels, item)
		case *syntax.Module:
			variables = append(variables, item.Vars...)
		}
	}
	switch {
	case len(labels) > 0:
		goal = `"` + labels[0].Name.Name + `"`
	case len(variables) > 0 && variables[0].High != nil:
		goal = variables[0].Name.Name + "=" + syntax.ExprString(variables[0].High)
	case len(variables) > 0 && variables[0].Type == syntax.BoolVar:
		goal = variables[0].Name.Name
	}
	return operator + " [ F " + goal + " ]"
}
