package containers

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"tilecheck/containers/internal/testimage"
	"tilecheck/result"
)

func TestImages(t *testing.T) {
	l := newLab(t)
	built := testimage.Own("tilecheck-test/built:1")
	id, err := l.Build(t.Context(), built, "FROM "+l.image+"\nCOPY data /data\nLABEL "+LabelVersion+"=2.0\n", func(w *tar.Writer) error {
		if err := w.WriteHeader(&tar.Header{Name: "data", Mode: 0o644, Size: 4}); err != nil {
			return err
		}
		_, err := io.WriteString(w, "text")
		return err
	})
	if err != nil || !strings.HasPrefix(id, "sha256:") {
		t.Fatalf("image %q, %v", id, err)
	}
	all, err := l.Images(t.Context(), l.image, "tilecheck-test/nothing:1")
	if err != nil {
		t.Fatal(err)
	}
	versions := make(map[string]string)
	for _, i := range all {
		if (i.Ref == l.image || i.Ref == built) && (i.Tool != "faketool" || i.Size == 0 || i.Created.IsZero()) {
			t.Errorf("image %+v", i)
		}
		versions[i.Ref] += i.Version
	}
	if versions[l.image] != "1.2.3" || versions[built] != "2.0" || !slices.IsSortedFunc(all, func(a, b Image) int { return strings.Compare(a.Ref, b.Ref) }) {
		t.Errorf("images %v", versions)
	}
	img, err := l.Find(t.Context(), fake(), built)
	if want := built + "@" + id[:len("sha256:")+12]; err != nil || img.String() != want || img.ID != id {
		t.Errorf("image %v, %v; want %s", img, err, want)
	}
	if err := l.RemoveImage(t.Context(), built); err != nil {
		t.Error(err)
	}
	if _, err := l.Find(t.Context(), fake(), built); err == nil {
		t.Error("the image is still there")
	}
}

func TestBuildFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	errDisk := errors.New("disk is gone")
	for name, c := range map[string]struct {
		dockerfile string
		files      func(*tar.Writer) error
		want       string
	}{
		"a command of the Dockerfile": {"FROM " + l.image + "\nCOPY nothing /\n", nil, "nothing"},
		"the files":                   {"FROM " + l.image + "\n", func(*tar.Writer) error { return errDisk }, "disk is gone"},
	} {
		if _, err := l.Build(t.Context(), "", c.dockerfile, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one of %q", name, err, c.want)
		}
	}
}

func TestImportFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	err := l.Import(t.Context(), "tilecheck-test/garbage:1", bytes.NewReader([]byte("no tar file")))
	if _, ok := errors.AsType[*result.Failure](err); !ok {
		t.Errorf("error %v, want a failure", err)
	}
}

func TestPullFails(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	if err := l.Pull(t.Context(), "127.0.0.1:1/tilecheck/nothing:1"); err == nil {
		t.Error("pulled from nowhere")
	}
}

func TestEngine(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	e, err := l.Engine(t.Context())
	if err != nil || e.Version == "" || e.API == "" || e.CPUs < 1 || e.Memory < 1<<20 || e.Host == "" {
		t.Errorf("engine %+v, %v", e, err)
	}
}

// TestEnvironment needs nothing that is set already.
func TestEnvironment(t *testing.T) {
	set := func(string) (string, bool) { return "x", true }
	if env := testcontainersEnvironment(t.Context(), set); len(env) > 0 {
		t.Errorf("sets %v again", env)
	}
	unset := func(string) (string, bool) { return "", false }
	known := map[string]string{"TESTCONTAINERS_RYUK_DISABLED": "true", "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1"}
	for k, v := range maps.All(testcontainersEnvironment(t.Context(), unset)) {
		if known[k] != v {
			t.Errorf("sets %s to %s", k, v)
		}
	}
}
