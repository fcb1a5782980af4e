package files

import (
	"fmt"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// WithLabels returns the program of a space with the labels of a properties file. It is for Options.Program. A
// label that depends on a constant without a value is an error.
func WithLabels(space *explicit.Space, file string, text []byte) (*sema.Program, error) {
	parsed, err := syntax.ParseProperties(file, text)
	if err != nil {
		return nil, err
	}
	properties, err := space.Program().Model().CheckProperties(parsed)
	if err != nil {
		return nil, err
	}
	_, program, err := properties.Instantiate(space.Program(), []int{}, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range properties.Labels() {
		if !slices.ContainsFunc(program.Labels, func(l sema.LabelDef) bool { return l.Name == name }) {
			return nil, fmt.Errorf("%s: label %q depends on a constant without a value, wanted a value in the file", file, name)
		}
	}
	return program, nil
}
