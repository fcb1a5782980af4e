package containers

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"tilecheck/containers/internal/testimage"
	"tilecheck/runner"
)

// TestNamed: which images are looked at.
func TestNamed(t *testing.T) {
	k := Kind{Words: []string{"prism", "umb-observatory"}}
	for ref, want := range map[string]bool{
		"prismmodelchecker/prism:dev": true, "prism": true, "localhost:5000/me/PRISM-games": true,
		"ghcr.io/pmc-tools/umb-observatory:main": true, "me/other:prism": false, "debian:12": false, "localhost:5000/x": false,
	} {
		if got := k.named(ref); got != want {
			t.Errorf("%s: got %v, want %v", ref, got, want)
		}
	}
}

// TestDiscover finds a tool in images of other makers, by its name or its path,
// and asks each image once.
func TestDiscover(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	word := testimage.Own("tilecheck-discover")
	a := testimage.Import(t, word+"-a/tool:dev", nil, "/bin/cat", "/bin/timeout", "/bin/thing")
	b := testimage.Import(t, word+"-b/tool:main", nil, "/bin/cat", "/bin/timeout", "/opt/thing/bin/thing")
	c := testimage.Import(t, word+"-c/tool:none", nil, "/bin/cat", "/bin/timeout")
	asked := 0
	kind := Kind{
		Tool: Tool{Name: "thing", Program: []string{"thing"}}, Words: []string{word}, Programs: []string{"thing", "/opt/thing/bin/thing"},
		Version: func(ctx context.Context, c runner.Commander) (string, error) {
			asked++
			exit, err := c.Run(ctx, runner.Command{Args: []string{"say", "x"}})
			if err == nil && exit.Code != 0 {
				err = errors.New("it did not tell its version")
			}
			return "1.0", err
		},
	}
	memory := Memory(filepath.Join(t.TempDir(), "cache", "images.json"))
	for round := range 2 {
		found, err := l.Discover(t.Context(), kind, memory)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.Image.Ref+" "+f.Program+" "+f.Version)
			if (f.Problem == "") != (f.Program != "") {
				t.Errorf("%+v", f)
			}
		}
		slices.Sort(got[:2])
		if want := []string{a + " thing 1.0", b + " /opt/thing/bin/thing 1.0", c + "  "}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if asked != 5 { // a once, b and c twice
			t.Errorf("round %d: asked %d times", round, asked)
		}
	}
}
