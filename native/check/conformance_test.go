package check_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

const corpus = "../../testdata/conformance"

// outside says where we differ from PRISM on purpose, by case or by case and
// property.
var outside = map[string]string{
	"rt_out_of_range":       "a value outside its range is an error",
	"rt_out_of_range_sym":   "a value outside its range is an error",
	"err_init_out_of_range": "an initial value outside its range is an error",
	"imdp_basic":            "interval models are not built",
	"pta_basic":             "timed models are not built",

	"pr_prob_bound_err R=? [ I=-1 ]": "there is no reward at time -1; PRISM's symbolic engines refuse it, too",
	"pr_funcs 0.0=-0.0":              "numbers are exact, of which there is one zero",
}

// entry is what the corpus has of a property.
type entry struct {
	Value   any
	Error   *string
	Printed string `json:"printed_as"`
	Skipped bool
	Runs    []struct {
		Model    string `json:"model_constants"`
		Property string `json:"property_constants"`
		Value    any
		Error    *string
	}
}

// recorded is a case of the corpus that PRISM's explicit engine ran.
type recorded struct {
	name    string
	model   *sema.Model
	props   *sema.Properties
	consts  []string
	noFix   bool
	entries map[string]entry
}

func load(t *testing.T, dir string) *recorded {
	t.Helper()
	c := &recorded{name: filepath.Base(dir), entries: map[string]entry{}}
	raw := map[string]json.RawMessage{}
	text, err := os.ReadFile(dir + "/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	var run struct {
		Command    string
		Exit       int
		Simulation bool
		States     string
	}
	if err := json.Unmarshal(raw["$run"], &run); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields(run.Command)
	if run.Exit != 0 || slices.Contains(args, "-sim") || strings.Contains(run.Command, "-import") || outside[c.name] != "" {
		return nil
	}
	for i, a := range args {
		switch a {
		case "-const":
			c.consts = append(c.consts, args[i+1])
		case "-nofixdl":
			c.noFix = true
		}
	}
	for k, v := range raw {
		if strings.HasPrefix(k, "$") {
			continue
		}
		var e entry
		if err := json.Unmarshal(v, &e); err != nil {
			t.Fatalf("%s: %v", k, err)
		}
		c.entries[k] = e
		if e.Printed != "" {
			c.entries[e.Printed] = e
		}
	}
	if len(c.entries) == 0 {
		return nil
	}
	c.parse(t, dir)
	return c
}

func (c *recorded) parse(t *testing.T, dir string) {
	t.Helper()
	src, err := os.ReadFile(dir + "/model.prism")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := syntax.ParseModel("model.prism", src)
	if err != nil {
		t.Fatal(err)
	}
	if c.model, err = sema.CheckModel(tree); err != nil {
		t.Fatal(err)
	}
	if src, err = os.ReadFile(dir + "/props.props"); err != nil {
		t.Fatal(err)
	}
	props, err := syntax.ParseProperties("props.props", src)
	if err != nil {
		t.Fatal(err)
	}
	if c.props, err = c.model.CheckProperties(props); err != nil {
		t.Fatal(err)
	}
}

// each calls f for every property and valuation, with its verdict.
func (c *recorded) each(t *testing.T, opts check.Options, f func(text, constants string, v result.Verdict)) {
	t.Helper()
	defs, err := sema.ParseConsts(c.consts)
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.model.Experiment(c.props, nil, defs)
	if err != nil {
		t.Fatal(err)
	}
	for mv := range x.Models() {
		prog, err := c.model.Instantiate(mv.Map())
		if err != nil {
			t.Logf("%s: %v", c.name, err)
			continue
		}
		m, err := compile.Compile(prog, compile.Options{})
		if err != nil {
			t.Logf("%s: %v", c.name, err)
			continue
		}
		s, buildErr := explicit.Build(t.Context(), m, explicit.Options{NoFixDeadlocks: c.noFix, Exact: opts.Accuracy == result.Exact})
		var ck *check.Checker
		if buildErr == nil {
			ck = check.New(m, s, opts)
		}
		for i := range c.props.Len() {
			for pv := range x.Properties(i) {
				props, full, err := c.props.Instantiate(prog, []int{i}, pv.Map())
				if err != nil {
					t.Fatal(err)
				}
				v := result.Verdict{Property: props[0].Text}
				if buildErr != nil {
					v.Err = &result.Failure{Class: result.Build, Message: buildErr.Error()}
				} else {
					v = ck.Check(t.Context(), &check.Property{Property: props[0], Program: full, File: "props.props"})
				}
				f(v.Property, strings.Trim(mv.String()+"/"+pv.String(), "/"), v)
			}
		}
	}
}

// want finds the value that PRISM printed.
func (c *recorded) want(text, constants string) (value any, failed, found bool) {
	e, ok := c.entries[text]
	switch {
	case !ok || e.Skipped:
		return nil, false, false
	case len(e.Runs) == 0:
		return e.Value, e.Error != nil, true
	}
	for _, r := range e.Runs {
		if strings.Trim(r.Model+"/"+r.Property, "/") == constants {
			return r.Value, r.Error != nil, true
		}
	}
	return nil, false, false
}

// agree compares a value with what PRISM printed.
func agree(want any, v result.Value) bool {
	text := fmt.Sprint(want)
	switch v.Kind {
	case result.Boolean:
		return text == strconv.FormatBool(v.Bool)
	case result.Range:
		var lo, hi float64
		if _, err := fmt.Sscanf(strings.NewReplacer("[", " ", "]", " ", ",", " ").Replace(text), "%g %g", &lo, &hi); err != nil {
			return false
		}
		return near(lo, v.Num) && near(hi, v.Hi)
	case result.Curve: // PRISM has its corners in another order
		points := strings.Split(strings.Trim(text, "[()]"), "), (")
		slices.Sort(points)
		if len(points) != len(v.Points) {
			return false
		}
		for i, point := range points {
			var x, y float64
			if _, err := fmt.Sscanf(point, "%g, %g", &x, &y); err != nil || !near(x, v.Points[i][0]) || !near(y, v.Points[i][1]) {
				return false
			}
		}
		return true
	}
	x, err := strconv.ParseFloat(text, 64)
	return err == nil && near(x, v.Num)
}

// near allows what PRISM's iterations are off by: its default is a relative
// change of 1e-6.
func near(want, got float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return want == got || math.IsNaN(want) && math.IsNaN(got)
	}
	return math.Abs(want-got) <= 1e-6*math.Max(math.Abs(want), 1e-300)
}

// TestConformance checks every property of the corpus that PRISM's explicit
// engine checked. What we answer must be what it answered; what it refuses we
// may answer.
func TestConformance(t *testing.T) {
	dirs, err := filepath.Glob(corpus + "/*")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, dir := range dirs {
		if _, err := os.Stat(dir + "/expected.json"); err != nil {
			continue
		}
		if _, err := os.Stat(dir + "/props.props"); err != nil {
			continue
		}
		c := load(t, dir)
		if c == nil {
			continue
		}
		c.each(t, check.Options{}, func(text, constants string, v result.Verdict) {
			name := strings.TrimSpace(c.name + " " + text + " " + constants)
			want, failed, found := c.want(text, constants)
			why := outside[c.name+" "+text]
			switch {
			case !found:
				count["not recorded"]++
				t.Logf("%s: not recorded", name)
			case why != "":
				count["different on purpose"]++
			case v.Err != nil && failed:
				count["both refuse"]++
			case v.Err != nil && v.Err.Class == result.Unsupported:
				count["refused"]++
				t.Logf("%s: %v", name, v.Err)
			case v.Err != nil:
				count["wrong"]++
				t.Errorf("%s: %v, PRISM says %v", name, v.Err, want)
			case failed:
				count["PRISM refuses"]++
				t.Logf("%s: %+v, PRISM refuses", name, v.Value)
			case !agree(want, v.Value):
				count["wrong"]++
				t.Errorf("%s: %+v %v, PRISM says %v", name, v.Value, v.Accuracy, want)
			default:
				count["pass"]++
			}
		})
	}
	t.Logf("%d pass, %d refused by name, %d wrong; %v", count["pass"], count["refused"], count["wrong"], count)
	if count["pass"] < 380 {
		t.Errorf("only %d results were compared", count["pass"])
	}
}
