package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A set is written as a whole: a file that fails leaves all as they were, and so does one that cannot get its place, but for
// those that have theirs; then the set is torn until it is written again.
func TestSet(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "w")
	tra, lab := base+".tra", base+".lab"
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	write := func(content string, fail error) error {
		var s Set
		if err := errors.Join(s.Add(tra, text(content)), s.Add(lab, text(content)), fail); err != nil {
			return errors.Join(err, s.Discard())
		}
		return s.Commit(base)
	}
	has := func(wantTra, wantLab string) {
		t.Helper()
		for name, want := range map[string]string{tra: wantTra, lab: wantLab} {
			if got, err := os.ReadFile(name); err != nil || string(got) != want {
				t.Errorf("%s has %q, %v, want %q", name, got, err, want)
			}
		}
		left, err := filepath.Glob(filepath.Join(dir, ".*"+partEnd))
		if err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	}
	if err := write("old", nil); err != nil {
		t.Fatal(err)
	}
	has("old", "old")
	if err := write("new", errors.New("interrupted")); err == nil || Torn(base) != nil {
		t.Errorf("%v, %v, want the error and a whole set", err, Torn(base))
	}
	has("old", "old")

	var s Set
	if err := errors.Join(s.Add(tra, text("new")), s.Add(lab, text("new")), os.Remove(lab), os.MkdirAll(filepath.Join(lab, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(base); err == nil {
		t.Error("a file has taken the place of a folder")
	}
	if err := Torn(base); err == nil || !strings.Contains(err.Error(), "write them again") {
		t.Errorf("a set of which half is new: %v", err)
	}
	if err := errors.Join(os.RemoveAll(lab), write("newer", nil)); err != nil || Torn(base) != nil {
		t.Errorf("%v, %v, want a whole set", err, Torn(base))
	}
	has("newer", "newer")
}
