package storm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/containers"
	"tilecheck/containers/internal/testimage"
	"tilecheck/containers/prism"
	"tilecheck/internal/needs"
	"tilecheck/result"
	"tilecheck/runner"
)

func TestMain(m *testing.M) {
	if err := containers.Prepare(context.Background(), os.LookupEnv, os.Setenv); err != nil {
		panic(err)
	}
	m.Run()
}

func connect(t *testing.T) *containers.Docker {
	t.Helper()
	needs.WantedOrFull(t, needs.Docker)
	d, err := containers.Connect(t.Context())
	needs.Have(t, needs.Docker, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestDouble runs the test double under Storm's name, where the real one is.
func TestDouble(t *testing.T) {
	connect(t)
	image := testimage.Import(t, "tilecheck-test/storm:double", nil, "/bin/cat", "/bin/timeout", "/bin/storm")
	ctr, err := Run(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ctr.Terminate(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	exit, err := ctr.Check(t.Context(), runner.Command{
		Args:   []string{"play", "die.prism", "exit", "14"},
		Files:  []runner.File{{Name: "die.prism", Data: []byte("dtmc\n")}},
		Limits: runner.Limits{Time: time.Minute, Memory: 64 << 20},
		Stdout: &out,
	})
	if err != nil || exit.Code != 14 || exit.Cause != runner.Finished || out.String() != "dtmc\n" {
		t.Errorf("exit %v, %v, printed %q", exit, err, &out)
	}
}

func TestVersionOfDouble(t *testing.T) {
	needs.Full(t)
	d := connect(t)
	image := testimage.Import(t, "tilecheck-test/storm:version", nil, "/bin/cat", "/bin/timeout", "/bin/storm")
	tool := Tool()
	for program, want := range map[string]string{"storm": "1.12.0 (fake)", "faketool": ""} {
		tool.Program = []string{program}
		p, err := containers.NewPool(t.Context(), d, containers.Options{Tool: tool, Image: image})
		if err != nil {
			t.Fatal(err)
		}
		version, err := Version(t.Context(), p)
		if version != want || (err == nil) != (want != "") {
			t.Errorf("version of %s is %q, %v; want %q", program, version, err, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMissing answers without asking a registry.
func TestMissing(t *testing.T) {
	d := connect(t)
	_, err := d.Find(t.Context(), Tool(), "movesrwth/storm:never")
	if f, ok := errors.AsType[*result.Failure](err); !ok || !strings.Contains(f.Message, "`docker pull movesrwth/storm:never`") {
		t.Errorf("error %v", err)
	}
}

// TestRealImage runs Storm in the best image of it that is there.
func TestRealImage(t *testing.T) {
	needs.Wanted(t, needs.Storm)
	d := connect(t)
	all, err := d.Discover(t.Context(), Kind(), "")
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(f containers.Found) bool {
		return f.Problem != "" || strings.HasPrefix(f.Image.Ref, "tilecheck-test/")
	})
	if len(all) == 0 {
		needs.Have(t, needs.Storm, errors.New("there is no image of Storm"))
	}
	tool := Tool()
	tool.Program = []string{all[0].Program}
	p, err := containers.NewPool(t.Context(), d, containers.Options{Tool: tool, Image: all[0].Image.Ref})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if version, err := Version(t.Context(), p); err != nil || version == "" {
		t.Errorf("version %q, %v", version, err)
	}
	var out bytes.Buffer
	exit, err := p.Run(t.Context(), runner.Command{
		Args: []string{"--prism", "coin.prism", "--prop", "P=? [ F s=1 ]", "--exact"},
		Files: []runner.File{{Name: "coin.prism", Data: []byte(`dtmc
module coin
  s : [0..2] init 0;
  [] s=0 -> 1/3 : (s'=1) + 2/3 : (s'=2);
  [] s>0 -> true;
endmodule
`)}},
		Limits: runner.Limits{Time: time.Minute, Memory: 1 << 30},
		Stdout: &out,
	})
	if err != nil || exit.Code != 0 || !strings.Contains(out.String(), "Result (for initial states): 1/3") {
		t.Errorf("exit %v, %v\n%s", exit, err, &out)
	}
}

// TestObservatory finds Storm and PRISM at their places in an image that has
// neither on its PATH.
func TestObservatory(t *testing.T) {
	needs.Full(t)
	d := connect(t)
	ref := testimage.Import(t, "tilecheck-test/umb-observatory:main", nil, "/bin/cat", "/bin/timeout", "/opt/prism/prism/bin/prism", "/opt/storm/build/bin/storm")
	for _, test := range []struct {
		kind             containers.Kind
		program, version string
	}{
		{Kind(), "/opt/storm/build/bin/storm", "1.12.0 (fake)"},
		{prism.PRISM.Kind(), "/opt/prism/prism/bin/prism", "4.9-fake"},
	} {
		found, err := d.Discover(t.Context(), test.kind, "")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(found, func(f containers.Found) bool { return f.Image.Ref == ref })
		if i < 0 || found[i].Program != test.program || found[i].Version != test.version {
			t.Errorf("%s: found %+v", test.kind.Tool.Name, found)
		}
	}
}
