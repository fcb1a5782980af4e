// Package explicittest builds state spaces for tests. An error ends the test.
package explicittest

import (
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema/sematest"
)

// Compile returns the compiled model of a text. constants are definitions as for -const; see [sematest.Program].
func Compile(t testing.TB, text string, constants ...string) *compile.Model {
	t.Helper()
	model, err := compile.Compile(sematest.Program(t, text, constants...), compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// Space returns the state space of the text of a model.
func Space(t testing.TB, text string, options explicit.Options, constants ...string) *explicit.Space {
	t.Helper()
	space, err := explicit.Build(t.Context(), Compile(t, text, constants...), options)
	if err != nil {
		t.Fatal(err)
	}
	return space
}
