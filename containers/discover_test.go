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
		if got := k.matchesName(ref); got != want {
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
	memory := Cache(filepath.Join(t.TempDir(), "cache", "images.json"))
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

// TestTry: what an image's label says of its tool is not taken for what it is.
func TestTry(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	labels := map[string]string{LabelProject: "true", LabelTool: "tried", LabelVersion: "9.9"}
	whole := testimage.Import(t, testimage.Own("tilecheck-try")+":whole", labels, "/bin/cat", "/bin/timeout", "/bin/thing")
	empty := testimage.Import(t, testimage.Own("tilecheck-try")+":empty", labels, "/bin/cat", "/bin/timeout")
	kind := Kind{
		Tool: Tool{Name: "tried", Program: []string{"thing"}}, Words: []string{"tilecheck-try"}, Programs: []string{"thing"},
		Version: func(ctx context.Context, c runner.Commander) (string, error) {
			exit, err := c.Run(ctx, runner.Command{Args: []string{"say", "x"}})
			if err == nil && exit.Code != 0 {
				err = errors.New("it did not tell its version")
			}
			return "1.0", err
		},
	}
	for ref, works := range map[string]bool{whole: true, empty: false} {
		img, err := l.Find(t.Context(), kind.Tool, ref)
		if err != nil {
			t.Fatal(err)
		}
		told, err := l.Identify(t.Context(), kind, img, "")
		if err != nil || told.Version != "9.9" || told.Problem != "" {
			t.Errorf("%s: Ask: %+v, %v, want what the label says", ref, told, err)
		}
		tried, err := l.Try(t.Context(), kind, told)
		if err != nil || (tried.Problem == "") != works || works && tried.Version != "1.0" {
			t.Errorf("%s: Try: %+v, %v", ref, tried, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Try(ctx, kind, Found{Image: Image{ID: "x"}, Program: "thing"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
