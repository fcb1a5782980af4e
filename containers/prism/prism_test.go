package prism

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tilecheck/containers"
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

// image is the image of PRISM that the tests run: TILECHECK_PRISM_IMAGE, or the
// newest that this program made.
func image(t testing.TB, d *containers.Docker) string {
	t.Helper()
	needs.Wanted(t, needs.PRISMImage)
	if ref := os.Getenv("TILECHECK_PRISM_IMAGE"); ref != "" {
		return ref
	}
	all, err := d.Images(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(i containers.Image) bool { return i.Tool != "prism" || strings.HasPrefix(i.Ref, "tilecheck-test/") })
	if len(all) == 0 {
		needs.Have(t, needs.PRISMImage, errors.New("no image of PRISM: make one with `tilecheck image prism --from DIR`"))
	}
	newest := slices.MaxFunc(all, func(a, b containers.Image) int { return a.Created.Compare(b.Created) })
	return newest.Ref
}

func pool(t *testing.T, jobs int) *containers.Pool {
	t.Helper()
	d := connect(t)
	p, err := containers.NewPool(t.Context(), d, containers.Options{Tool: PRISM.Tool(), Image: image(t, d), Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// die is Knuth and Yao's die, from their paper.
const die = `dtmc
module die
  s : [0..7] init 0;
  d : [0..6] init 0;
  [] s=0 -> 1/2 : (s'=1) + 1/2 : (s'=2);
  [] s=1 -> 1/2 : (s'=3) + 1/2 : (s'=4);
  [] s=2 -> 1/2 : (s'=5) + 1/2 : (s'=6);
  [] s=3 -> 1/2 : (s'=1) + 1/2 : (s'=7)&(d'=1);
  [] s=4 -> 1/2 : (s'=7)&(d'=2) + 1/2 : (s'=7)&(d'=3);
  [] s=5 -> 1/2 : (s'=7)&(d'=4) + 1/2 : (s'=7)&(d'=5);
  [] s=6 -> 1/2 : (s'=2) + 1/2 : (s'=7)&(d'=6);
  [] s=7 -> true;
endmodule
`

// walk has a million states, and more steps than a test has time for.
const walk = `dtmc
module walk
  x : [0..99] init 0; y : [0..99] init 0; z : [0..99] init 0;
  [] true -> 1/3 : (x'=mod(x+1,100)) + 1/3 : (y'=mod(y+1,100)) + 1/3 : (z'=mod(z+1,100));
endmodule
`

type printed struct{ out, err bytes.Buffer }

func job(model string, memory int64, args ...string) (runner.Command, *printed) {
	p := &printed{}
	return runner.Command{
		Args:   append([]string{"model.nm"}, args...),
		Files:  []runner.File{{Name: "model.nm", Data: []byte(model)}},
		Limits: runner.Limits{Time: 2 * time.Minute, Memory: memory},
		Stdout: &p.out, Stderr: &p.err,
	}, p
}

func TestCheck(t *testing.T) {
	p := pool(t, 1)
	version, err := PRISM.Version(t.Context(), p)
	if err != nil || version == "" || version != p.Image().Version && p.Image().Version != "" {
		t.Errorf("version %q of an image labelled %q, %v", version, p.Image().Version, err)
	}
	c, printed := job(die, 1<<30, "-pf", "P=? [ F d=6 ]", "-exact", "-exportresults", "results.csv:csv")
	c.Collect = []string{"results.csv"}
	exit, err := p.Run(t.Context(), c)
	if err != nil || exit.Code != 0 || exit.Cause != runner.Finished {
		t.Fatalf("exit %v, %v\n%s%s", exit, err, &printed.out, &printed.err)
	}
	if !strings.Contains(printed.out.String(), "\nResult: 1/6 ") || printed.err.Len() > 0 {
		t.Errorf("printed\n%s%s", &printed.out, &printed.err)
	}
	if !strings.Contains(printed.out.String(), "PRISM\n=====") || !strings.Contains(printed.out.String(), "Version: "+version+"\n") {
		t.Errorf("the banner does not say version %s:\n%s", version, &printed.out)
	}
	if !strings.Contains(printed.out.String(), "Memory limits: cudd=216m, java(heap)=6") {
		t.Errorf("the memory of a container of 1 GB is not divided:\n%s", &printed.out)
	}
	if len(exit.Files) != 1 || !strings.Contains(string(exit.Files[0].Data), "1/6") {
		t.Errorf("files %q", exit.Files)
	}
}

// TestMemory tells the three ways of PRISM to run out of memory apart.
func TestMemory(t *testing.T) {
	p := pool(t, 1)
	for _, c := range []struct {
		name   string
		memory int64
		args   []string
		cause  runner.Cause
		code   int
		said   string // on either output
	}{
		{"Java heap", 1 << 30, []string{"-explicit", "-javamaxmem", "24m"}, runner.Finished, 1, "java.lang.OutOfMemoryError"},
		{"the container's limit", 160 << 20, []string{"-explicit", "-javamaxmem", "2g", "-javaparams", "-Xms400m -XX:+AlwaysPreTouch"}, runner.OutOfMemory, 137, ""},
		{"CUDD", 1 << 30, []string{"-mtbdd", "-cuddmaxmem", "1m"}, runner.Finished, 1, "CUDD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, printed := job(walk, c.memory, append(c.args, "-pf", "P=? [ F x=99&y=99&z=99 ]")...)
			exit, err := p.Run(t.Context(), cmd)
			said := printed.out.String() + printed.err.String()
			if err != nil || exit.Cause != c.cause || exit.Code != c.code || !strings.Contains(said, c.said) {
				t.Errorf("exit %v, %v; want %d, %q, and %q printed\n%s", exit, err, c.code, c.cause, c.said, said)
			}
		})
	}
}

func TestTimeLimit(t *testing.T) {
	p := pool(t, 1)
	cmd, printed := job(walk, 1<<30, "-pf", "P=? [ F x=99&y=99&z=99 ]", "-sim", "-simsamples", "1000000000", "-simpathlen", "100000000")
	cmd.Limits.Time = 8 * time.Second
	exit, err := p.Run(t.Context(), cmd)
	if err != nil || exit.Cause != runner.TimedOut {
		t.Errorf("exit %v, %v; want %q", exit, err, runner.TimedOut)
	}
	if !strings.Contains(printed.out.String(), "Simulating: P=? [ F x=99&y=99&z=99 ]") {
		t.Errorf("what was printed before the limit is lost:\n%s", &printed.out)
	}
}

func TestEightJobs(t *testing.T) {
	const jobs = 8
	p := pool(t, jobs)
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			cmd, printed := job(die, 512<<20, "-pf", "P=? [ F d=6 ]", "-exact")
			if exit, err := p.Run(t.Context(), cmd); err != nil || exit.Code != 0 || !strings.Contains(printed.out.String(), "\nResult: 1/6 ") {
				t.Errorf("exit %v, %v\n%s%s", exit, err, &printed.out, &printed.err)
			}
		})
	}
	wg.Wait()
}

func TestMemorySwitches(t *testing.T) {
	const gb = 1 << 30
	for _, c := range []struct {
		limit int64
		args  []string
		want  string
	}{
		{gb, nil, "-javamaxmem 648m -cuddmaxmem 216m"},
		{2 * gb, []string{"m.nm", "javamaxmem"}, "-javamaxmem 1344m -cuddmaxmem 448m"},
		{16 * gb, nil, "-javamaxmem 13312m -cuddmaxmem 1024m"},
		{gb, []string{"--cuddmaxmem", "100m"}, "-javamaxmem 648m"},
		{gb, []string{"-javamaxmem", "1g", "-cuddmaxmem", "1g"}, ""},
		{100 << 20, nil, "-javamaxmem 16m -cuddmaxmem 16m"}, // too little: PRISM says so itself
	} {
		if got := strings.Join(Memory(c.limit, c.args), " "); got != c.want {
			t.Errorf("Memory(%d, %q) is %q, want %q", c.limit, c.args, got, c.want)
		}
	}
}

// TestRun is the way of testcontainers' modules.
func TestRun(t *testing.T) {
	ctr, err := PRISM.Run(t.Context(), image(t, connect(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ctr.Terminate(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	cmd, printed := job(die, 0, "-pf", "P=? [ F d=6 ]")
	if exit, err := ctr.Check(t.Context(), cmd); err != nil || exit.Code != 0 || !strings.Contains(printed.out.String(), "\nResult: 0.1666") {
		t.Errorf("exit %v, %v\n%s%s", exit, err, &printed.out, &printed.err)
	}
}

func TestMakeRefuses(t *testing.T) {
	d := connect(t)
	_, err := Make(t.Context(), d, Recipe{Product: PRISM, From: t.TempDir()})
	if f, ok := errors.AsType[*result.Failure](err); !ok || !strings.Contains(f.Message, "is no installation of PRISM: it has no bin/prism") {
		t.Errorf("of an empty folder: %v", err)
	}
	_, err = Make(t.Context(), d, Recipe{Product: PRISM, From: installation(t), Base: "tilecheck-test/nothing:1"})
	if f, ok := errors.AsType[*result.Failure](err); !ok || !strings.Contains(f.Message, "get it with `docker pull tilecheck-test/nothing:1`") {
		t.Errorf("without a base: %v", err)
	}
}

// installation is as much of an installation as Make needs to begin.
func installation(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bin/prism":     "#!/bin/faketool say\nPRISM_DIR=\"/home/me/prism\"\nexport PRISM_DIR\n",
		"bin/ngprism":   "\x7fELF\nPRISM_DIR=kept\n",
		"lib/prism.jar": "jar",
		"doc/manual":    "not needed",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPack(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := pack(w, installation(t)); err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for r := tar.NewReader(&b); ; {
		head, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		data, err2 := io.ReadAll(r)
		if err != nil || err2 != nil || head.Mode != 0o755 || head.Uid != 0 {
			t.Fatalf("%v %v %v", head, err, err2)
		}
		if head.Typeflag == tar.TypeReg {
			got[head.Name] = string(data)
		}
	}
	want := map[string]string{
		"prism/bin/prism":     "#!/bin/faketool say\nPRISM_DIR=\"/opt/prism\"\nexport PRISM_DIR\n",
		"prism/bin/ngprism":   "\x7fELF\nPRISM_DIR=kept\n",
		"prism/lib/prism.jar": "jar",
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is %q, want %q", name, got[name], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("packed %v", got)
	}
}

// BenchmarkLatency is what a run of PRISM takes on a tiny model, directly
// (TILECHECK_PRISM), in a warm container and in a fresh one.
func BenchmarkLatency(b *testing.B) {
	d, err := containers.Connect(b.Context())
	needs.Have(b, needs.Docker, err)
	defer d.Close()
	if program := os.Getenv("TILECHECK_PRISM"); program != "" {
		b.Run("direct", func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "die.nm")
			if err := os.WriteFile(file, []byte(die), 0o600); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if out, err := exec.Command(program, file, "-pf", "P=? [ F d=6 ]").CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, out)
				}
			}
		})
	}
	ref := image(b, d)
	for runs, name := range []string{"warm", "fresh"} { // 0 runs in a container is the default
		b.Run(name, func(b *testing.B) {
			p, err := containers.NewPool(b.Context(), d, containers.Options{Tool: PRISM.Tool(), Image: ref, RunsPerContainer: runs})
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			for b.Loop() {
				cmd, printed := job(die, 1<<30, "-pf", "P=? [ F d=6 ]")
				if exit, err := p.Run(b.Context(), cmd); err != nil || exit.Code != 0 {
					b.Fatalf("%v %v\n%s", exit, err, &printed.out)
				}
			}
		})
	}
}
