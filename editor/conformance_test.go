package editor_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/editor"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

const corpus = "../testdata/conformance"

// Each case of the corpus has the diagnostics that check has: those of the plan, which
// check prints, and of its properties. What check says of the command line, or of constants
// without values, has no place in a file.
func TestConformance(t *testing.T) {
	dirs, err := os.ReadDir(corpus)
	if err != nil {
		t.Fatal(err)
	}
	cases, wrong := 0, 0
	for _, dir := range dirs {
		job, ok := caseOf(t, dir.Name())
		if !ok {
			continue
		}
		files := editor.New(editor.Options{Consts: job.Consts}).With(job.File, job.Model)
		if job.PropsFile != "" {
			files = files.With(job.PropsFile, job.Properties)
		}
		var got []string
		for _, name := range files.Names() {
			found, err := files.Diagnostics(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range found {
				if d.Severity != editor.Warning {
					got = append(got, d.String())
				}
			}
		}
		want := checked(t, job)
		slices.Sort(got)
		slices.Sort(want)
		got, want = slices.Compact(got), slices.Compact(want)
		cases++
		if len(want) > 0 {
			wrong++
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %q, and check has %q", dir.Name(), got, want)
				break
			}
		}
		if len(want) == 0 && len(got) > 0 {
			t.Errorf("%s: %q, and check has nothing", dir.Name(), got)
		}
	}
	t.Logf("%d cases, %d with diagnostics", cases, wrong)
	if wrong < 50 {
		t.Errorf("%d cases have diagnostics, want dozens", wrong)
	}
}

// caseOf reads a case that has a model in PRISM's language.
func caseOf(t *testing.T, name string) (runner.Job, bool) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus, name, "expected.json"))
	if err != nil {
		return runner.Job{}, false
	}
	var expected struct {
		Run struct{ Command string } `json:"$run"`
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	var job runner.Job
	args := strings.Fields(expected.Run.Command)
	for i, arg := range args[1:] {
		text, err := os.ReadFile(filepath.Join(corpus, name, arg))
		switch {
		case arg == "-const" && i+2 < len(args):
			job.Consts = append(job.Consts, args[i+2])
		case err != nil:
		case strings.HasSuffix(arg, ".prism"):
			job.File, job.Model = arg, text
		case strings.HasSuffix(arg, ".props"):
			job.PropsFile, job.Properties = arg, text
		}
	}
	return job, job.File != ""
}

// checked returns what check says of a job, with a place.
func checked(t *testing.T, job runner.Job) []string {
	t.Helper()
	make := runner.NewPlan
	if job.PropsFile == "" {
		make = runner.PlanModel
	}
	plan, err := make(t.Context(), job)
	var out []string
	if err == nil {
		for _, task := range plan.Tasks {
			if task.Rejected != nil {
				out = append(out, task.Rejected.Error())
			}
		}
		for values := range plan.Models() {
			if _, err = plan.Model.Instantiate(values.Map()); err == nil {
				_, _, err = plan.Instances()
			}
			break
		}
	}
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		for _, e := range list {
			out = append(out, e.Error())
		}
	}
	return out
}
