package files

import (
	"fmt"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// WithLabels returns the program of a space with the labels of a properties file in a dialect. It is for Options.Program. A
// label that depends on a constant without a value is an error.
func WithLabels(space *explicit.Space, dialect syntax.Dialect, file string, text []byte) (*sema.Program, error) {
	return ProgramWithLabels(space.Program(), dialect, file, text)
}

// ProgramWithLabels returns a copy of the program with the labels of a properties file. text is the contents of the file in the dialect. A label that
// depends on a constant without a value is an error.
func ProgramWithLabels(source *sema.Program, dialect syntax.Dialect, file string, text []byte) (*sema.Program, error) {
	parsed, err := syntax.ParsePropertiesOf(dialect, file, text)
	if err != nil {
		return nil, err
	}
	if parsed.UsesTime() { // the program may lack the reward structure of T; labels do not depend on properties
		parsed.Items = slices.DeleteFunc(parsed.Items, func(item syntax.PropItem) bool {
			_, isProperty := item.(*syntax.Property)
			return isProperty
		})
	}
	properties, err := source.Model().CheckProperties(parsed)
	if err != nil {
		return nil, err
	}
	_, program, err := properties.Instantiate(source, []int{}, nil)
	if err != nil {
		return nil, err
	}
	for _, name := range properties.Labels() {
		if !slices.ContainsFunc(program.Labels, func(known sema.LabelDef) bool { return known.Name == name }) {
			return nil, fmt.Errorf("%s: label %q depends on a constant without a value, wanted a value in the file", file, name)
		}
	}
	return program, nil
}
