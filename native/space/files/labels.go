package files

import (
	"fmt"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// WithLabels returns the program of a space with the labels of a properties file, for Options.Program.
func WithLabels(space *explicit.Space, file string, text []byte) (*sema.Program, error) {
	tree, err := syntax.ParseProperties(file, text)
	if err != nil {
		return nil, err
	}
	props, err := space.Program().Model().CheckProperties(tree)
	if err != nil {
		return nil, err
	}
	_, full, err := props.Instantiate(space.Program(), []int{}, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range props.Labels() {
		if !slices.ContainsFunc(full.Labels, func(l sema.LabelDef) bool { return l.Name == name }) {
			return nil, fmt.Errorf("%s: label %q depends on a constant without a value, want one in the file", file, name)
		}
	}
	return full, nil
}
