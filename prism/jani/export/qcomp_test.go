package export_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/jani/export"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
	"tilecheck/verify/qvbs"
)

// TestQComp exports QComp's models in PRISM's language with open constants, and wants the same states and the same answers from the JANI model, under the
// smallest valuation of the constants.
func TestQComp(t *testing.T) {
	root := filepath.Join(needs.QComp(t), "benchmarks")
	set, err := qvbs.Discover(os.DirFS(root), []string{"dtmc", "mdp", "ctmc", "pta"}, qvbs.Options{MaxStates: needs.OrFull[int64](1_000, 20_000)})
	if err != nil {
		t.Fatal(err)
	}
	isSeen := map[string]bool{}
	models, values := 0, 0
	for _, test := range set.Tests { // the smallest come first
		if strings.HasSuffix(test.Model, ".jani") || isSeen[test.Dir] {
			continue
		}
		isSeen[test.Dir] = true
		job := runner.Job{File: test.Model, PropsFile: test.Props, Consts: test.Consts, Dialect: syntax.Storm}
		if job.Model, err = os.ReadFile(filepath.Join(root, test.Model)); err != nil {
			t.Fatal(err)
		}
		if job.Properties, err = os.ReadFile(filepath.Join(root, test.Props)); err != nil {
			t.Fatal(err)
		}
		compared := sameAsJANI(t, job)
		t.Logf("%s %v: %d values", test.Model, test.Consts, compared)
		models, values = models+1, values+compared
	}
	t.Logf("%d models, %d values", models, values)
	if models < 15 || values < models {
		t.Errorf("%d models and %d values were compared, want at least 15, and a value for each", models, values)
	}
}

// sameAsJANI compares the states and the answers of a job with those of the JANI model that is exported of it with open constants. It returns the number of
// answers that were compared: those of properties that JANI can express.
func sameAsJANI(t *testing.T, job runner.Job) (compared int) {
	t.Helper()
	open := job
	open.Consts, open.LeaveOpen = nil, true
	plan, err := runner.NewPlan(t.Context(), open)
	if err != nil {
		t.Errorf("%s: %v", job.File, err)
		return 0
	}
	program, instances, err := plan.Instances()
	if err != nil {
		t.Errorf("%s: %v", job.File, err)
		return 0
	}
	var document bytes.Buffer
	refused, err := export.Write(&document, "model", program, instances)
	if err != nil {
		t.Errorf("%s: %v", job.File, err)
		return 0
	}
	if program.Type != syntax.PTA { // states of a PTA depend on the property
		compareStates(t, job, []byte(modelDocument(t, job))) // properties would add reward structures
	}
	want := answers(t, job)
	got := answers(t, runner.Job{File: "model.jani", Model: document.Bytes(), Consts: job.Consts})
	for name, value := range got {
		if value != want[name] && !isClose(value, want[name]) {
			t.Errorf("%s, %s: %s from JANI, want %s", job.File, name, value, want[name])
		}
	}
	if len(got)+len(refused) != len(want) {
		t.Errorf("%s: %d answers from JANI, and %v, want %d", job.File, len(got), errors.Join(refused...), len(want))
	}
	return len(got)
}

// compareStates compares the states of a job with those of a JANI model.
func compareStates(t *testing.T, job runner.Job, document []byte) {
	t.Helper()
	var spaces []*explicit.Space
	for _, model := range []runner.Job{
		{File: job.File, Model: job.Model, Consts: job.Consts, Dialect: job.Dialect},
		{File: "model.jani", Model: document, Consts: job.Consts},
	} {
		compiled, _, err := load.Model(t.Context(), model)
		if err != nil {
			t.Errorf("%s: %v", model.File, err)
			return
		}
		space, err := explicit.Build(t.Context(), compiled, explicit.Options{Exact: true})
		if err != nil {
			t.Errorf("%s: %v", model.File, err)
			return
		}
		spaces = append(spaces, space)
	}
	if difference := same(t, spaces[0], spaces[1]); difference != nil {
		t.Errorf("%s: %s", job.File, difference)
	}
}

// isClose reports whether two answers are numbers whose relative difference is that of rounding errors.
func isClose(first, second string) bool {
	x, err := strconv.ParseFloat(first, 64)
	y, otherErr := strconv.ParseFloat(second, 64)
	return err == nil && otherErr == nil && math.Abs(x-y) <= 1e-5*math.Abs(y)
}
