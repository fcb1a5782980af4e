package scheduler_test

import (
	"bytes"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/prism/sema/sematest"
)

// scheduled returns the scheduler of the only property.
func scheduled(t testing.TB, src, property string, opts check.Options) *check.Scheduler {
	t.Helper()
	space := explicittest.Space(t, src, explicit.Options{})
	list, full := sematest.Properties(t, space.Program(), property)
	x, _, err := check.New(space.Compiled(), space, opts).Scheduler(t.Context(), &check.Property{Property: list[0], Program: full, File: "p.props"})
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
