package serve

import (
	"bytes"

	"tilecheck/editor"
	"tilecheck/prism/jani"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// printTree returns a tree as text.
func printTree(n syntax.Node) (string, error) {
	var b bytes.Buffer
	err := syntax.Fprint(&b, n, syntax.Options{})
	return b.String(), err
}

// outlineEntry is a declaration in a model.
type outlineEntry struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Line int32  `json:"line"`
	Deep bool   `json:"deep,omitempty"` // part of the last entry that is not deep
}

// outlineOf lists the declarations of a file.
func outlineOf(f *editor.Files, name string) []outlineEntry {
	lines, out := editor.NewLines(f.Text(name)), []outlineEntry{}
	var add func(list []editor.Symbol, deep bool)
	add = func(list []editor.Symbol, deep bool) {
		for _, s := range list {
			line, _ := lines.Position(s.From)
			out = append(out, outlineEntry{s.Kind.String(), s.Name, int32(line) + 1, deep})
			add(s.Inside, true)
		}
	}
	add(f.Symbols(name), false)
	return out
}

// checkTexts resolves the model and the properties of a job without values for constants.
func checkTexts(job *runner.Job) (*sema.Model, *sema.Properties, error) {
	if jani.Is(job.Model) {
		return nil, nil, badf("a model in JANI")
	}
	tree, err := syntax.ParseModelOf(job.Dialect, job.File, job.Model)
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
