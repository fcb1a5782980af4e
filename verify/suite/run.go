package suite

import (
	"strings"

	"tilecheck/prism/syntax"
)

// Run is one run of a model checker.
type Run struct {
	// Dir is the directory of the files. File names in Args are relative to it. All paths are slash-separated names of
	// the file system that was searched.
	Dir string
	// Model and Props are the files; each is empty if there is none or if Args names it.
	Model, Props string
	// Args are switches in PRISM's order: first for the model, then from the model's .args file, then from the .args file of the
	// properties. For an .auto file, its line comes first, then a line of its .args file.
	Args []string
	// Places are the places where Args are written. Arguments beyond its length come from no file.
	Places []Place
}

// Place is a place in a file of the file system that was searched.
type Place struct {
	File string
	Pos  syntax.Pos
}

// String returns the command line as prism-auto prints it, without the program.
func (r Run) String() string {
	var words []string
	for _, word := range append([]string{r.Model, r.Props}, r.Args...) {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// errorAt returns an error about argument i, with the position of the argument in a file. If the argument has no position, the error names the
// properties file, the model or the directory.
func (r Run) errorAt(i int, message string) error {
	if i < len(r.Places) && r.Places[i].File != "" {
		return &syntax.Error{File: r.Places[i].File, Pos: r.Places[i].Pos, Msg: message}
	}
	for _, name := range []string{r.Props, r.Model, r.Dir} {
		if name != "" {
			return &syntax.Error{File: name, Msg: message}
		}
	}
	return &syntax.Error{Msg: message}
}
