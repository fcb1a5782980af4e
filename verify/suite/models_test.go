package suite_test

import (
	"reflect"
	"testing"
	"testing/fstest"

	"tilecheck/verify/suite"
)

// TestModels: every model below a directory is listed with the properties files that a test of the directory would pair with it.
func TestModels(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{
		"a.prism", "a.props", "b.nm", "b.nm.first.pctl", "other.csl", "notes.txt", ".hidden/x.prism", "deep/er/c.sm", "deep/er/any.props", "props/only.props", "sub/models", "sub/d.prism",
	} {
		fsys[name] = &fstest.MapFile{}
	}
	got, err := suite.Models(t.Context(), fsys, ".")
	if err != nil {
		t.Fatal(err)
	}
	want := []suite.ModelFiles{
		{Model: "deep/er/c.sm", Props: []string{"deep/er/any.props"}},
		{Model: "sub/d.prism"},
		{Model: "a.prism", Props: []string{"a.props", "other.csl"}},
		{Model: "b.nm", Props: []string{"b.nm.first.pctl", "other.csl"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if _, err := suite.Models(t.Context(), fsys, "missing"); err == nil {
		t.Error("a missing directory has no error")
	}
}
