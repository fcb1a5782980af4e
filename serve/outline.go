package serve

import (
	"bytes"

	"tilecheck/prism/jani"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// printed is a tree as text.
func printed(n syntax.Node) (string, error) {
	var b bytes.Buffer
	err := syntax.Fprint(&b, n, syntax.Options{})
	return b.String(), err
}

// outlineEntry is something that a model declares.
type outlineEntry struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Line int32  `json:"line"`
	Deep bool   `json:"deep,omitempty"` // within the last one that is not
}

// outlineOf lists what a model declares.
func outlineOf(m *syntax.Model) []outlineEntry {
	out := []outlineEntry{}
	add := func(kind string, id *syntax.Ident, at syntax.Pos, deep bool) {
		name := ""
		if id != nil {
			name = id.Name
		}
		out = append(out, outlineEntry{kind, name, at.Line, deep})
	}
	for _, item := range m.Items {
		at := item.Pos()
		switch x := item.(type) {
		case *syntax.ConstDecl:
			add("constant", x.Name, at, false)
		case *syntax.FormulaDecl:
			add("formula", x.Name, at, false)
		case *syntax.LabelDecl:
			add("label", x.Name, at, false)
		case *syntax.GlobalDecl:
			add("global", x.Var.Name, at, false)
		case *syntax.Rewards:
			add("rewards", x.Name, at, false)
		case *syntax.RenamedModule:
			add("module", x.Name, at, false)
		case *syntax.Module:
			add("module", x.Name, at, false)
			for _, v := range x.Vars {
				add("variable", v.Name, v.Name.Pos(), true)
			}
		}
	}
	return out
}

// checked resolves the texts of a job without values of constants.
func checked(job *runner.Job) (*sema.Model, *sema.Properties, error) {
	if jani.Is(job.Model) {
		return nil, nil, badf("a model in JANI")
	}
	tree, err := syntax.ParseModel(job.File, job.Model)
	if err != nil {
		return nil, nil, err
	}
	m, err := sema.CheckModel(tree)
	if err != nil || len(job.Properties) == 0 {
		return m, nil, err
	}
	parsed, err := syntax.ParseProperties(job.PropsFile, job.Properties)
	if err != nil {
		return m, nil, err
	}
	ps, err := m.CheckProperties(parsed)
	return m, ps, err
}
