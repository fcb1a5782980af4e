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
func outlineOf(files *editor.Files, name string) []outlineEntry {
	lines, entries := editor.NewLines(files.Text(name)), []outlineEntry{}
	var add func(list []editor.Symbol, isNested bool)
	add = func(list []editor.Symbol, isNested bool) {
		for _, symbol := range list {
			line, _ := lines.Position(symbol.From)
			entries = append(entries, outlineEntry{symbol.Kind.String(), symbol.Name, int32(line) + 1, isNested})
			add(symbol.Inside, true)
		}
	}
	add(files.Symbols(name), false)
	return entries
}
