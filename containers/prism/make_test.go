package prism

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/containers"
	"tilecheck/containers/internal/testimage"
	"tilecheck/internal/needs"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestMake makes an image of an installation whose PRISM is the test double, on
// a base that is a root file system with nothing but that.
func TestMake(t *testing.T) {
	needs.Full(t)
	t.Parallel()
	d := connect(t)
	base := testimage.Import(t, "tilecheck-test/base:prism", nil, "/bin/cat", "/bin/timeout")
	ref := testimage.Own("tilecheck-test/prism:made")
	from := installation(t)
	if err := os.WriteFile(filepath.Join(from, "bin", "prism"), testimage.Program(t), 0o700); err != nil {
		t.Fatal(err)
	}
	img, err := Make(t.Context(), d, Recipe{Product: PRISM, From: from, Base: base, Tag: ref})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.RemoveImage(context.Background(), img.ID); err != nil {
			t.Error(err)
		}
	})
	if img.Ref != ref || img.Tool != "prism" || img.Version != "4.9-fake" {
		t.Errorf("image %+v", img)
	}
	p, err := containers.NewPool(t.Context(), d, containers.Options{Tool: PRISM.Tool(), Image: img.Ref})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, printed := job("dtmc\n", 0)
	c.Args = []string{"play", "model.nm", "say", "end\n"}
	if exit, err := p.Run(t.Context(), c); err != nil || exit.Cause != runner.Finished || printed.out.String() != "dtmc\nend\n" {
		t.Errorf("exit %v, %v, printed %q", exit, err, &printed.out)
	}
}

// TestMakeChecks makes no image in which PRISM does not run.
func TestMakeChecks(t *testing.T) {
	needs.Full(t)
	t.Parallel()
	d := connect(t)
	base := testimage.Import(t, "tilecheck-test/base:nothing", nil, "/bin/cat", "/bin/timeout")
	ref := testimage.Own("tilecheck-test/prism:broken")
	_, err := Make(t.Context(), d, Recipe{Product: PRISM, From: installation(t), Base: base, Tag: ref}) // its prism is a script without an interpreter
	if f, ok := errors.AsType[*result.Failure](err); !ok || !strings.Contains(err.Error(), "PRISM does not run on "+base) {
		t.Errorf("error %v (%v)", err, f)
	}
	if _, err := d.Find(t.Context(), PRISM.Tool(), ref); err == nil {
		t.Error("the image has its name all the same")
	}
}
