package regress_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/cache"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// coin is a chain that reaches s=1 with probability p and s=2 otherwise.
const coin = `dtmc
const double p = 1/3;
module coin
  s : [0..2] init 0;
  [] s=0 -> p:(s'=1) + 1-p:(s'=2);
  [] s>0 -> true;
endmodule
`

// files makes a file system of names and texts in turn.
func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

// test runs all tests of a file system.
func test(t *testing.T, fsys fs.FS, opt regress.Options, engines ...regress.EngineConfig) *report.TestReport {
	t.Helper()
	tests, err := regress.Discover(fsys, []string{"."}, suite.Closest)
	if err != nil {
		t.Fatal(err)
	}
	return testAll(t, t.Context(), tests, fsys, opt, engines...)
}

func testAll(t *testing.T, ctx context.Context, tests []regress.Test, fsys fs.FS, opt regress.Options, engines ...regress.EngineConfig) *report.TestReport {
	t.Helper()
	if len(engines) == 0 {
		engines = []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: native.New()}, Identity: "native under test"}}
	}
	opt.FS = fsys
	if opt.Jobs == 0 {
		opt.Jobs = 2
	}
	if opt.Seed == 0 {
		opt.Seed = 1
	}
	rep, err := regress.Run(ctx, tests, engines, opt)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// lines are the results, one each: outcome, place and reason.
func lines(rep *report.TestReport) string {
	var b strings.Builder
	for _, r := range rep.Results {
		text := fmt.Sprintf("%s %s:%d", r.Outcome, r.File, r.Line)
		if len(rep.Engines) > 1 {
			text += " " + r.Engine
		}
		if len(r.Constants) > 0 {
			text += fmt.Sprint(" ", r.Constants)
		}
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// findings are the findings, one each.
func findings(rep *report.TestReport) string {
	var b strings.Builder
	for _, f := range rep.Findings {
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", f.File, f.Line, f.Col, f.Message)
	}
	return b.String()
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	if got = strings.TrimSpace(got); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

func newCache(t *testing.T) *cache.Cache {
	t.Helper()
	c, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// engine is a double: it answers with what the function says.
type engine struct {
	name   string
	answer func(job *runner.Job, v *result.Verdict)
	mu     sync.Mutex
	plans  []*runner.Plan
}

func (e *engine) Name() string { return e.name }

func (e *engine) Check(ctx context.Context, p *runner.Plan) ([]result.Verdict, error) {
	e.mu.Lock()
	e.plans = append(e.plans, p)
	e.mu.Unlock()
	vs, err := native.New().Check(ctx, p)
	for i := range vs {
		vs[i].Engine = e.name
		if e.answer != nil {
			e.answer(&p.Job, &vs[i])
		}
	}
	return vs, err
}

// own is our own suite, as a file system in memory.
func own(t *testing.T) fstest.MapFS {
	t.Helper()
	const dir = "../../testdata/suite"
	out := fstest.MapFS{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
