package scheduler_test

import (
	"bytes"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// scheduled returns the scheduler of the only property.
func scheduled(t testing.TB, src, property string, opts check.Options) *check.Scheduler {
	t.Helper()
	tree, err := syntax.ParseModel("m.prism", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		t.Fatal(err)
	}
	file, err := syntax.ParseProperties("p.props", []byte(property))
	if err != nil {
		t.Fatal(err)
	}
	props, err := model.CheckProperties(file)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := model.Instantiate(nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := compile.Compile(prog, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	space, err := explicit.Build(t.Context(), m, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, full, err := props.Instantiate(prog, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := check.New(m, space, opts).Scheduler(t.Context(), &check.Property{Property: list[0], Program: full, File: "p.props"})
	if err != nil {
		t.Fatalf("%s: %v", property, err)
	}
	return x
}

// written returns the file of a scheduler; the target's name is not used.
func written(t testing.TB, x *check.Scheduler, target string) string {
	t.Helper()
	_, f, opts, err := scheduler.ParseTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := scheduler.Write(t.Context(), &out, x.Space, x.Choices, f, opts); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
