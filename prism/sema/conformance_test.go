package sema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

const corpus = "../../testdata/conformance"

// Cases that say nothing about this package.
var elsewhere = map[string]string{
	"cli_missing_file":   "the file does not exist",
	"cli_test_fail":      "an expected result does not match",
	"cli_unknown_switch": "a switch of the command line",
	"pr_prop_select_bad": "a switch of the command line",
	"sim_badvals":        "a switch of the command line",
	"im_autotype":        "an explicit model, not one in the PRISM language",
	"im_badformat":       "an explicit model, not one in the PRISM language",
	"im_dtmc_sta":        "an explicit model, not one in the PRISM language",
	"im_mdp_tra":         "an explicit model, not one in the PRISM language",
	"im_wrongcount":      "an explicit model, not one in the PRISM language",
}

// Cases that PRISM's explicit engine rejects when it builds the model (exit
// code 0), and we when constants get their values.
var buildErrors = map[string]string{
	"err_range_empty":       `Invalid range (2-1) for variable "s" ("[2..1]", line 2, column 12)`,
	"err_range_single":      `Invalid range (1-1) for variable "s" ("[1..1]", line 2, column 12)`,
	"rt_const_err_div":      `Attempt to compute modulo with non-positive divisor ("mod(1, 0)", line 2, column 15)`,
	"rt_const_err_pow":      `Overflow evaluating integer power: 1.0E10 cannot be losslessly converted to int ("pow(10, 10)", line 2, column 15)`,
	"err_init_out_of_range": `Value 3 out of range for variable s ("3", line 2, column 24)`, // hybrid engine only; see differences_test.go
}

// Places that differ, with the reason.
var otherPlace = map[string]string{}

// What our message says where that is not what PRISM's says word for word.
var otherWords = map[string]string{
	"err_init_nonconst":     "initial value of variable t is not constant",
	"err_label_builtin":     "cannot define a label called deadlock: this is a built-in label",
	"ictmc_error":           "intervals only allowed in dtmcs and mdps, found one in a ctmc",
	"err_init_both":         "cannot use both init...endinit and initial values for variables",
	"err_init_out_of_range": "initial value 3 of variable s is outside its range [0..1]",
	"err_range_empty":       "invalid range [2..1] for variable s",
	"err_range_single":      "invalid range [1..1] for variable s",
	"err_range_nonconst":    "integer range upper bound s is not constant", // PRISM quotes the lower one
	"err_init_type":         "initial states definition must be boolean",
	"rt_const_err_div":      "modulo with non-positive divisor",
	"rt_const_err_pow":      "integer overflow: 10^10",
	"pr_err_24":             "& applied to a non-boolean expression",
}

// run is what the corpus says about a run of PRISM.
type run struct {
	Command string
	Exit    int
	Errors  []string
	Printed []string `json:"printed_properties"`
	Type    string   `json:"model_type"`
}

func readRun(t *testing.T, name string) run {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpus, name, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]json.RawMessage
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	var r run
	if err := json.Unmarshal(expected["$run"], &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// rejection returns PRISM's message if it rejects the model, the properties or
// the constants, and "" if not.
func (r run) rejection(name string) string {
	if msg, ok := buildErrors[name]; ok {
		return msg
	}
	if r.Exit != 0 {
		return r.Errors[0]
	}
	return ""
}

// file returns the argument of the command with the given suffix, or "".
func (r run) file(suffix string) string {
	for _, arg := range strings.Fields(r.Command)[1:] {
		if strings.HasSuffix(arg, suffix) {
			return arg
		}
	}
	return ""
}

// values returns the arguments of a switch.
func (r run) values(name string) (out []string) {
	args := strings.Fields(r.Command)
	for i, arg := range args[:len(args)-1] {
		if arg == name {
			out = append(out, args[i+1])
		}
	}
	return out
}

// TestConformance compares what is rejected, where and why with every run of
// PRISM in the corpus.
func TestConformance(t *testing.T) {
	dirs, err := os.ReadDir(corpus)
	if err != nil {
		t.Fatal(err)
	}
	accepted, rejected := 0, 0
	for _, d := range dirs {
		name := d.Name()
		if _, ok := elsewhere[name]; ok || !d.IsDir() {
			continue
		}
		r := readRun(t, name)
		want := r.rejection(name)
		inSyntax, err := everything(t, name, r)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: PRISM accepts this, we do not: %v", name, err)
		case want == "":
			accepted++
		case err == nil:
			t.Errorf("%s: accepted, want an error as PRISM's: %s", name, want)
		case sameError(t, name, inSyntax, err, want):
			rejected++
		}
	}
	t.Logf("as PRISM: %d cases accepted, %d rejected at the same place for the same reason; %d are not for this package", accepted, rejected, len(elsewhere))
	if accepted+rejected+len(elsewhere) != 239 && !t.Failed() {
		t.Errorf("%d cases, want 239", accepted+rejected+len(elsewhere))
	}
}

// everything does all that happens to a case before states are explored.
func everything(t *testing.T, name string, r run) (inSyntax bool, err error) {
	t.Helper()
	tree, err := syntax.ParseModel(r.file(".prism"), readFile(t, name, r.file(".prism")))
	if err != nil {
		return true, err
	}
	m, err := CheckModel(tree)
	if err != nil {
		return false, err
	}
	var ps *Properties
	if file := r.file(".props"); file != "" {
		tree, err := syntax.ParseProperties(file, readFile(t, name, file))
		if err != nil {
			return true, err
		}
		if ps, err = m.CheckProperties(tree); err != nil {
			return false, err
		}
	}
	compareEcho(t, name, r, m, ps)
	return false, runExperiment(m, ps, r.values("-const"))
}

// compareEcho compares the type and the properties with what PRISM says it read.
func compareEcho(t *testing.T, name string, r run, m *Model, ps *Properties) {
	t.Helper()
	if r.Type != "" && m.ModelType().String() != r.Type && name != "pta_basic" { // that is the type of its translation
		t.Errorf("%s: model type %s, want %s", name, m.ModelType(), r.Type)
	}
	if ps == nil || r.Printed == nil {
		return
	}
	list := ps.List()
	if len(list) != len(r.Printed) {
		t.Errorf("%s: %d properties, want %d", name, len(list), len(r.Printed))
		return
	}
	for i, want := range r.Printed {
		if got := list[i].Text; got != want {
			t.Errorf("%s: property %s, want %s", name, got, want)
		}
	}
}

func readFile(t *testing.T, name, file string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(corpus, name, file))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// runExperiment instantiates everything with all the values given.
func runExperiment(m *Model, ps *Properties, consts []string) error {
	defs, err := ParseConsts(consts)
	if err != nil {
		return err
	}
	x, err := m.Experiment(ps, nil, defs)
	if err != nil {
		return err
	}
	for v := range x.Models() {
		p, err := m.Instantiate(v.Map())
		if err != nil {
			return err
		}
		for _, i := range ps.selectedProperties(nil) {
			for v := range x.Properties(i) {
				if _, _, err := ps.Instantiate(p, []int{i}, v.Map()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

var (
	placeRE    = regexp.MustCompile(`line (\d+), column (\d+)`)
	locationRE = regexp.MustCompile(` \([^(]*(\(.*\))?[^(]*line \d+, column \d+\)\.?$|\.$`)
)

// sameError compares the place and the reason of our error with PRISM's message.
func sameError(t *testing.T, name string, inSyntax bool, err error, want string) bool {
	t.Helper()
	if inSyntax != (strings.Contains(want, "Syntax error") || name == "gr_label_noquotes") {
		t.Errorf("%s: got %v, want an error of the same kind as %s", name, err, want)
		return false
	}
	if m := placeRE.FindStringSubmatch(want); m != nil && otherPlace[name] == "" {
		var e *syntax.Error
		if !errors.As(err, &e) || fmt.Sprint(e.Pos.Line) != m[1] || fmt.Sprint(e.Pos.Col) != m[2] {
			t.Errorf("%s: got %v, want it where PRISM's is: %s", name, err, want)
			return false
		}
	}
	reason := otherWords[name]
	if reason == "" {
		reason = strings.TrimPrefix(locationRE.ReplaceAllString(want, ""), "Type error: ")
	}
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, `"`, "")) }
	if !inSyntax && !strings.Contains(plain(err.Error()), plain(reason)) {
		t.Errorf("%s: got %v, want the reason %q", name, err, reason)
		return false
	}
	return true
}
