package serve

import (
	"bytes"

	"tilecheck/editor"
	"tilecheck/prism/syntax"
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
