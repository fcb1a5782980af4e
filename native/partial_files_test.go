package native_test

import (
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/native/space/files"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestPartialFiles: who cannot tell two rooms apart gets to the end behind one of their
// doors in half of the cases, and who sees them always. The files say what is seen.
func TestPartialFiles(t *testing.T) {
	const (
		states = "\n# States\n(s)\n0:(0)\n1:(1)\n2:(2)\n3:(3)\n4:(4)\n"
		seen   = "\n# Observations\n(end)\n0:(0)\n1:(1)\n2:(2)\n3:(3)\n4:(4)\n"
	)
	for room, want := range map[string]string{"1": "1/2", "4": "1"} {
		text := "# Transitions (POMDP)\n5 7 8 5\n- - 0 - 0\n0 0 1 0.5 1\n0 0 2 0.5 ROOM\n1 0 3 1 2 left\n1 1 4 1 3 right\n2 0 4 1 3 left\n2 1 3 1 2 right\n3 0 3 1 2\n4 0 4 1 3\n"
		text = strings.ReplaceAll(text, "ROOM", room) + states + seen
		given, err := files.Open(t.Context(), files.Sources{Transitions: files.Source{Name: "m.pexp", Text: []byte(text)}}, "pexp", files.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		job := runner.Job{File: "m.pexp", States: given, Props: []string{"Pmax=? [ F s=4 ]"}, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}}}
		verdicts, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range verdicts {
			if v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != want {
				t.Errorf("room %s, %s: %v %v, want %s", room, v.Property, v.Value, v.Err, want)
			}
		}
		job.Props = []string{`Pmax=? [ F "end" ]`}
		if _, err := runner.Check(t.Context(), native.New(), job); err == nil || !strings.Contains(err.Error(), `the expression of the observable is not known`) {
			t.Errorf("found %v, want an observable refused", err)
		}
	}
}
