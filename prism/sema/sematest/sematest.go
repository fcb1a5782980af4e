// Package sematest reads models and properties for tests. An error ends the test.
package sematest

import (
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Program returns the program of a model, which is given as text. constants are definitions as for --const. If they define several valuations, the
// program is that of the last one.
func Program(t testing.TB, text string, constants ...string) *sema.Program {
	t.Helper()
	tree, err := syntax.ParseModel("m.prism", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := sema.ParseConsts(constants)
	if err != nil {
		t.Fatal(err)
	}
	experiment, err := model.Experiment(nil, nil, definitions)
	if err != nil {
		t.Fatal(err)
	}
	var program *sema.Program
	for valuation := range experiment.Models() {
		if program, err = model.Instantiate(valuation.Map()); err != nil {
			t.Fatal(err)
		}
	}
	return program
}

// Properties returns the properties of the text of a properties file, and the program with the constants and labels of that file.
func Properties(t testing.TB, program *sema.Program, text string) ([]sema.Property, *sema.Program) {
	t.Helper()
	tree, err := syntax.ParseProperties("p.props", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	properties, err := program.Model().CheckProperties(tree)
	if err != nil {
		t.Fatal(err)
	}
	selected, extendedProgram, err := properties.Instantiate(program, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return selected, extendedProgram
}
