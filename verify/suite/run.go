package suite

import (
	"strings"

	"tilecheck/prism/syntax"
)

// Run is one run of a model checker.
type Run struct {
	// Dir is where the files are; file names in Args are relative to it. All
	// paths are slash-separated and belong to the file system searched.
	Dir string
	// Model and Props are the files; each is empty if there is none, or if Args
	// names it.
	Model, Props string
	// Args are switches, in PRISM's order: those of the model, of the .args file
	// of the model, and of the .args file of the properties, or a line of an .auto
	// file with one of its .args file.
	Args []string
	// Places says where each of Args is written. It may be shorter: what has no
	// place was not read from a file.
	Places []Place
}

// Place is a place in a file of the file system searched.
type Place struct {
	File string
	Pos  syntax.Pos
}

// String returns the run as prism-auto prints it, without the program.
func (r Run) String() string {
	var words []string
	for _, w := range append([]string{r.Model, r.Props}, r.Args...) {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// errorAt returns a diagnostic at the place of an argument, or, where that has
// none, at the properties file or the model.
func (r Run) errorAt(i int, msg string) error {
	if i < len(r.Places) && r.Places[i].File != "" {
		return &syntax.Error{File: r.Places[i].File, Pos: r.Places[i].Pos, Msg: msg}
	}
	for _, name := range []string{r.Props, r.Model, r.Dir} {
		if name != "" {
			return &syntax.Error{File: name, Msg: msg}
		}
	}
	return &syntax.Error{Msg: msg}
}
