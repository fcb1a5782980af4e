package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
)

// prismExamples are models of PRISM's own distribution, beside its program or in its suite. They are read here, and never kept.
func prismExamples(t *testing.T, prism string) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(prism), "..", "..", "prism-examples")
	_, err := os.Stat(dir)
	needs.Have(t, needs.PRISMTool, err)
	return dir
}

// exported is a model as PRISM's files say it.
type exported struct {
	initial map[string]bool
	steps   map[string]map[string]float64 // from a state, or a state and an action, to states
}

// exportByPRISM has PRISM build a model; nil for one that has clocks.
func exportByPRISM(t *testing.T, prism, model string, args ...string) *exported {
	t.Helper()
	base := filepath.Join(t.TempDir(), "m")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, prism, append([]string{model, "-explicit", "-exportmodel", base + ".tra,sta,lab", "-exportmodelprecision", "17"}, args...)...)
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "You cannot build a PTA model explicitly") {
		return nil
	}
	if _, missing := os.Stat(base + ".sta"); err != nil || missing != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	states := map[string]string{}
	for _, line := range linesOf(t, base+".sta")[1:] {
		number, values, _ := strings.Cut(line, ":")
		states[number] = values
	}
	x := &exported{initial: map[string]bool{}, steps: map[string]map[string]float64{}}
	for _, line := range linesOf(t, base+".lab")[1:] {
		if number, labels, _ := strings.Cut(line, ": "); slices.Contains(strings.Fields(labels), "0") { // "init" is the first label
			x.initial[states[number]] = true
		}
	}
	transitions := linesOf(t, base+".tra")
	nondeterministic := len(strings.Fields(transitions[0])) == 3
	total := map[string]float64{}
	for _, line := range transitions[1:] {
		f := strings.Fields(line)
		from, to, p, action := states[f[0]], f[1], f[2], ""
		if nondeterministic {
			to, p = f[2], f[3]
			from += " " + f[1]
			if len(f) > 4 {
				action = f[4]
			}
		}
		key := from + "/" + action
		w, err := strconv.ParseFloat(p, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if x.steps[key] == nil {
			x.steps[key] = map[string]float64{}
		}
		x.steps[key][states[to]] += w
		total[key] += w
	}
	for key, next := range x.steps { // rates of a CTMC become probabilities
		for to := range next {
			next[to] /= total[key]
		}
	}
	return x
}

func linesOf(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if !strings.HasPrefix(s.Text(), "#") {
			out = append(out, s.Text())
		}
	}
	return out
}

// has reports whether a step exists, with an action if there is one.
func (x *exported) has(from, to, action string, probability float64) bool {
	for key, next := range x.steps {
		state, named, _ := strings.Cut(key, "/")
		state, _, _ = strings.Cut(state, " ")
		if state == from && (action == "" || named == "" || named == action) && math.Abs(next[to]-probability) <= 1e-12 {
			return true
		}
	}
	return false
}

// shownPath is a path of check --witness --format json. The keys of a state are in the order of the model's variables.
type shownPath struct {
	Probability float64
	Steps       []struct {
		Probability float64
		Action      string
		State       json.RawMessage
	}
}

// prismState is a state as PRISM's file of states has it.
func prismState(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var values []string
	for i := 0; ; i++ {
		token, err := d.Token()
		if err != nil {
			return "(" + strings.Join(values, ",") + ")"
		}
		if _, delim := token.(json.Delim); !delim && i%2 == 0 {
			values = append(values, fmt.Sprint(token))
		}
	}
}

// prismCases are case studies of PRISM, small ones, with values of their constants and a property.
func prismCases() [][3]string {
	return [][3]string{
		{"dtmcs/brp/brp.pm", "N=16,MAX=2", `P=? [ F s=5 ]`},
		{"dtmcs/brp/brp.pm", "N=32,MAX=3", `P=? [ F s=5 & srep=2 ]`},
		{"dtmcs/leader_sync/leader3_2.pm", "", `P=? [ F<=4 "elected" ]`},
		{"dtmcs/leader_sync/leader3_3.pm", "", `P=? [ F "elected" ]`},
		{"dtmcs/leader_sync/leader3_4.pm", "", `P=? [ F "elected" ]`},
		{"dtmcs/leader_sync/leader4_2.pm", "", `P=? [ F "elected" ]`},
		{"dtmcs/leader_sync/leader5_2.pm", "", `P=? [ F "elected" ]`},
		{"dtmcs/herman/herman3.pm", "", `P=? [ F "stable" ]`},
		{"mdps/consensus/coin2.nm", "K=2", `Pmax=? [ F "finished"&!"agree" ]`},
		{"mdps/consensus/coin2.nm", "K=4", `Pmin=? [ F "finished"&"all_coins_equal_1" ]`},
		{"mdps/csma/csma2_2.nm", "", `Pmax=? [ F max_collisions>=3 ]`},
		{"mdps/csma/csma2_2.nm", "", `Pmin=? [ F min_backoff_after_success<=1 ]`},
		{"mdps/zeroconf/zeroconf.nm", "N=1000,K=2,err=1,reset=true", `Pmax=? [ F l=4 & ip=1 ]`},
		{"mdps/zeroconf/zeroconf.nm", "N=1000,K=4,err=1,reset=true", `Pmin=? [ F l=4 & ip=1 ]`},
		{"mdps/zeroconf/zeroconf_time_bounded.nm", "N=1000,K=1,T=10,reset=true", `Pmax=? [ !(l=4 & ip=2) U t>=10 ]`},
		{"mdps/wlan/wlan0.nm", "TRANS_TIME_MAX=10", `Pmax=? [ F bc1=2 | bc2=2 ]`},
		{"mdps/wlan/wlan0_collide.nm", "COL=2,TRANS_TIME_MAX=10", `Pmax=? [ F col=2 ]`},
		{"mdps/firewire/abst/firewire.nm", "delay=3,fast=0.5", `Pmin=? [ F s=7 ]`},
		{"mdps/firewire/abst/firewire.nm", "delay=3,fast=0.5", `Pmax=? [ F s=9 ]`},
		{"mdps/dining_crypt/dining_crypt3.nm", "", `Pmax=? [ F "done" & outcome=0 ]`},
		{"mdps/mutual/mutual3.nm", "", `Pmax=? [ F p1=10 & p2=10 ]`},
		{"mdps/mutual/mutual3.nm", "", `Pmin=? [ F p1=10 ]`},
		{"mdps/rabin/rabin3.nm", "", `Pmax=? [ F p1=2 ]`},
		{"mdps/leader_async/leader3.nm", "", `Pmin=? [ F "elected" ]`},
		{"mdps/leader_async/leader4.nm", "", `Pmin=? [ F "elected" ]`},
		{"mdps/phil/nofair/phil-nofair3.nm", "", `Pmax=? [ F "eat" ]`},
		{"mdps/phil/original/phil3.nm", "", `Pmax=? [ F "eat" ]`},
		{"mdps/phil_lss/phil_lss3.nm", "K=3", `Pmax=? [ F p1>7 & p1<13 ]`},
		{"mdps/self-stabilisation/beauquier/beauquier3.nm", "", `Pmax=? [ F num_tokens=1 ]`},
		{"mdps/self-stabilisation/israeli-jalfon/ij3.nm", "", `Pmin=? [ F "stable" ]`},
		{"ctmcs/cluster/cluster.sm", "N=2", `P=? [ !"premium" U !"minimum" ]`},
		{"ctmcs/embedded/embedded.sm", "MAX_COUNT=2", `P=? [ F count=3 ]`},
		{"ctmcs/polling/poll2.sm", "", `P=? [ !(s=2 & a=1) U (s=1 & a=1) ]`},
		{"ctmcs/polling/poll3.sm", "", `P=? [ !(s=2 & a=1) U (s=1 & a=1) ]`},
		{"ctmcs/polling/poll5.sm", "", `P=? [ !(s=2 & a=1) U (s=1 & a=1) ]`},
		{"ctmcs/tandem/tandem.sm", "c=3", `P=? [ sm<c U sc=c ]`},
		{"ctmcs/tandem/tandem.sm", "c=15", `P=? [ sm<c U sc=c ]`},
		{"ctmcs/kanban/kanban.sm", "t=1", `P=? [ x4=0 U x1=1 ]`},
		{"ctmcs/cell/cell.sm", "N=10", `P=? [ n>0 U n=N ]`},
		{"ctmcs/fms/fms.sm", "n=1", `P=? [ P1>0 U P3s=1 ]`},
	}
}

// propertyOf is the property of a case and the values of its constants.
func propertyOf(c [3]string) []string {
	if c[1] == "" {
		return []string{"--prop", c[2]}
	}
	return []string{"--prop", c[2], "--const", c[1]}
}

// Every path that is shown exists in the model that PRISM builds, step by step, with the probabilities and actions that it has there.
func TestRealPRISMReplaysWitnesses(t *testing.T) {
	prism := needs.PRISM(t)
	dir, suite := prismExamples(t, prism), needs.PRISMTests(t)
	replayed, paths := map[string]bool{}, 0
	one := func(model string, args ...string) {
		property, found := witnessesOf(t, append([]string{model}, args...))
		if len(found) == 0 || replayed[model] {
			return
		}
		var consts []string
		if i := slices.Index(args, "--const"); i >= 0 {
			consts = []string{"-const", args[i+1]}
		}
		x := exportByPRISM(t, prism, model, consts...)
		if x == nil {
			return
		}
		replayed[model] = true
		for _, p := range found {
			paths++
			x.replay(t, model+": "+property, p)
		}
	}
	for _, c := range prismCases() {
		one(filepath.Join(dir, c[0]), propertyOf(c)...)
	}
	err := filepath.WalkDir(suite, func(model string, d fs.DirEntry, err error) error {
		if slices.Contains([]string{".prism", ".pm", ".nm", ".sm"}, filepath.Ext(model)) {
			if _, missing := os.Stat(model + ".props"); missing == nil && len(replayed) < 60 {
				one(model, model+".props")
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d paths of %d models", paths, len(replayed))
	if len(replayed) < 50 {
		t.Errorf("found witnesses of %d models, want 50", len(replayed))
	}
}

// replay follows a path.
func (x *exported) replay(t *testing.T, what string, p shownPath) {
	t.Helper()
	at, product := prismState(t, p.Steps[0].State), 1.0
	if !x.initial[at] {
		t.Errorf("%s: state %s is not initial", what, at)
	}
	for _, s := range p.Steps[1:] {
		to := prismState(t, s.State)
		product *= s.Probability
		if !x.has(at, to, s.Action, s.Probability) {
			t.Errorf("%s: PRISM has no step from %s by %q to %s with probability %v", what, at, s.Action, to, s.Probability)
		}
		at = to
	}
	if math.Abs(product-p.Probability) > 1e-12*p.Probability {
		t.Errorf("%s: a path has probability %v, its steps %v", what, p.Probability, product)
	}
}

// witnessesOf returns the paths of the first property that has any of at least one step; none where constants have no values, or it takes long.
func witnessesOf(t *testing.T, args []string) (property string, found []shownPath) {
	t.Helper()
	_, stdout, _ := tilecheck(t.Context(), append([]string{"check", "--witness=3", "--max-states", "3000", "--timeout", "5s", "--format", "json"}, args...)...)
	var out struct {
		Results []struct {
			Property  string
			Witnesses []struct{ Paths []shownPath }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	for _, r := range out.Results {
		for _, w := range r.Witnesses {
			found = append(found, slices.DeleteFunc(w.Paths, func(p shownPath) bool { return len(p.Steps) < 2 })...)
		}
		if len(found) > 0 {
			return r.Property, found
		}
	}
	return "", nil
}

// The value of the quotient is PRISM's value of the model; and that of the chain of equally likely choices is PRISM's value of the chain.
func TestRealPRISMAgreesOnSmallerModels(t *testing.T) {
	prism := needs.PRISM(t)
	dir := prismExamples(t, prism)
	t.Setenv("TILECHECK_PRISM", prism)
	models := map[string]bool{}
	resolved := 0
	for _, c := range prismCases() {
		model, args := filepath.Join(dir, c[0]), propertyOf(c)
		whole := oneValue(t, append([]string{"check", model, "--engine", "prism", "--epsilon", "1e-12"}, args...))
		smaller := oneValue(t, append([]string{"check", model, "--reduce"}, args...))
		if !near(whole, smaller) {
			t.Errorf("%v: PRISM finds %v, the quotient has %v", c, whole, smaller)
		}
		models[model] = true
		if !strings.HasPrefix(c[0], "mdps/") {
			continue
		}
		chain := filepath.Join(t.TempDir(), "chain.prism")
		if code, _, stderr := tilecheck(t.Context(), append([]string{"resolve", model, "--uniform", "-o", chain, "--quiet"}, args[2:]...)...); code != 0 {
			t.Errorf("%v: resolve ends with %d: %s", c, code, stderr)
			continue
		}
		args[1] = strings.NewReplacer("Pmax", "P", "Pmin", "P").Replace(c[2])
		ours := oneValue(t, append([]string{"check", chain}, args...))
		theirs := oneValue(t, append([]string{"check", chain, "--engine", "prism", "--epsilon", "1e-12"}, args...))
		reduced := oneValue(t, append([]string{"check", chain, "--reduce"}, args...))
		if !near(ours, theirs) || !near(reduced, theirs) {
			t.Errorf("%v, every choice equally likely: PRISM finds %v, we %v, of the quotient %v", c, theirs, ours, reduced)
		}
		resolved++
	}
	t.Logf("%d models, %d cases with a chain", len(models), resolved)
	if len(models) < 30 {
		t.Errorf("found %d models, want 30", len(models))
	}
}

// The commands of a subsystem refute the bound by themselves, says PRISM, and no longer where any one of them is never enabled.
func TestRealPRISMNeedsEveryCommand(t *testing.T) {
	prism := needs.PRISM(t)
	dir := prismExamples(t, prism)
	studies, commands := map[string]bool{}, 0
	for _, c := range prismCases() {
		if studies[c[0]] || !strings.HasPrefix(c[2], "P=?") && !strings.HasPrefix(c[2], "Pmax=?") || strings.HasPrefix(c[0], "ctmcs/") {
			continue
		}
		model, args := filepath.Join(dir, c[0]), propertyOf(c)
		value := oneValue(t, append([]string{"check", model}, args...))
		if len(value) != 1 || value[0] == 0 {
			continue
		}
		bound := fmt.Sprintf("P<=%v ", value[0]/2)
		args[1] = strings.NewReplacer("Pmax=? ", bound, "P=? ", bound).Replace(c[2])
		part := filepath.Join(t.TempDir(), "part.prism")
		code, stdout, stderr := tilecheck(t.Context(), append([]string{"check", model, "--witness", "--subsystem", "--export-subsystem", part}, args...)...)
		if code != exitFailed || !strings.Contains(stdout, "None of these commands can be left out") {
			t.Errorf("%v: ends with %d\n%s%s", c, code, stdout, stderr)
			continue
		}
		if strings.Contains(stdout, "several commands were enabled at once") {
			continue // PRISM gives the others the share of a command that is taken out
		}
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		if holds(t, prism, part, text, c[1], args[1]) {
			t.Errorf("%v: the bound holds of the commands that are to refute it", c)
		}
		needed := withoutEach(t, text)
		for i, other := range needed {
			if !holds(t, prism, part, other, c[1], args[1]) {
				t.Errorf("%v: the bound is refuted without command %d of %d:\n%s", c, i, len(needed), other)
			}
		}
		studies[c[0]] = true
		commands += len(needed)
	}
	t.Logf("%d commands of %d case studies", commands, len(studies))
	if len(studies) < 9 {
		t.Errorf("found commands of %d case studies, want 9", len(studies))
	}
}

// What a shield promises is what PRISM finds of the shielded model, written as text and as states: the best and the worst
// scheduler, and that of a file attains the worst.
func TestRealPRISMAgreesOnShields(t *testing.T) {
	prism := needs.PRISM(t)
	t.Setenv("TILECHECK_PRISM", prism)
	for _, c := range []struct{ rows, cols, max, threshold, flags string }{
		{"2", "2", "16", "0.1", ""},
		{"2", "2", "32", "0.01", "--total"},
		{"2", "2", "32", "0.2", "--relative"},
		{"2", "3", "16", "0", ""},
		{"2", "3", "32", "0.05", ""},
		{"3", "2", "16", "0.02", ""},
		{"3", "3", "16", "0.05", ""},
	} {
		name := fmt.Sprint(c)
		dir := t.TempDir()
		board, left := filepath.Join(dir, "board.prism"), filepath.Join(dir, "left")
		wantRun(t, []string{"gen", "--rows", c.rows, "--cols", c.cols, "--max", c.max, "--spawn", "uniform", "-o", board})
		var out struct {
			Results []struct {
				Best  float64 `json:"best_value"`
				Worst float64 `json:"worst_value"`
			}
		}
		args := append([]string{"shield", board, `Pmax=? [ F "success" ]`, "--threshold", c.threshold, "--format", "json", "--export-scheduler", left + ".txt"}, strings.Fields(c.flags)...)
		if err := json.Unmarshal([]byte(wantRun(t, append(args, "-o", left+".prism"))), &out); err != nil || len(out.Results) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		promised := out.Results[0]
		wantRun(t, append(args, "-o", left+".all"))
		wantRun(t, []string{"resolve", board, "--scheduler", left + ".txt", "-o", left + "-worst.all"})
		for _, ask := range []struct {
			model, property string
			want            float64
		}{
			{left + ".prism", `Pmax=? [ F "success" ]`, promised.Best},
			{left + ".prism", `Pmin=? [ F "success" ]`, promised.Worst},
			{left + ".all", `Pmin=? [ F "success" ]`, promised.Worst},
			{left + "-worst.all", `P=? [ F "success" ]`, promised.Worst},
		} {
			if ask.model == left+".prism" && c.max == "16" && c.rows == "3" && c.cols == "3" {
				continue // minutes
			}
			for _, engine := range []string{"native", "prism"} {
				got := oneValue(t, []string{"check", ask.model, "--engine", engine, "--epsilon", "1e-12", "--prop", ask.property})
				if len(got) != 1 || math.Abs(got[0]-ask.want) > 1e-9 {
					t.Errorf("%s: %s finds %v of %s in %s, want %v", name, engine, got, ask.property, filepath.Base(ask.model), ask.want)
				}
			}
		}
	}
}

// withoutEach returns a model as often as it has commands that can be enabled, each time without one: its guard is false.
func withoutEach(t *testing.T, text []byte) [][]byte {
	t.Helper()
	tree, err := syntax.ParseModel("part.prism", text)
	if err != nil {
		t.Fatal(err)
	}
	never, err := syntax.ParseExpr("", []byte("false"))
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, item := range tree.Items {
		m, ok := item.(*syntax.Module)
		if !ok {
			continue
		}
		for _, cmd := range m.Commands {
			guard := cmd.Guard
			if syntax.ExprString(guard) == "false" {
				continue // of an action that the module keeps
			}
			cmd.Guard = never
			var b bytes.Buffer
			if err := syntax.Fprint(&b, tree, syntax.Options{}); err != nil {
				t.Fatal(err)
			}
			out = append(out, b.Bytes())
			cmd.Guard = guard
		}
	}
	return out
}

// holds is what PRISM says of a bound.
func holds(t *testing.T, prism, file string, text []byte, consts, property string) bool {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{file, "-explicit", "-gs", "-epsilon", "1e-10", "-pf", property}
	if consts != "" {
		args = append(args, "-const", consts)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, prism, args...).CombinedOutput()
	for _, line := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(line, "Result: true") || strings.HasPrefix(line, "Result: false") {
			return strings.HasPrefix(line, "Result: true")
		}
	}
	t.Fatalf("%v: %v\n%s", args, err, out)
	return false
}

// near reports whether values are there and equal: numbers, or the least and the greatest of several initial states.
func near(x, y []float64) bool {
	return len(x) > 0 && slices.EqualFunc(x, y, func(a, b float64) bool { return math.Abs(a-b) <= 1e-8 })
}

// oneValue returns the only value that a command prints, none where there is no number.
func oneValue(t *testing.T, args []string) []float64 {
	t.Helper()
	code, stdout, stderr := tilecheck(t.Context(), append(args, "--format", "json")...)
	var out struct{ Results []struct{ Value any } }
	if err := json.Unmarshal([]byte(stdout), &out); err != nil || len(out.Results) != 1 {
		t.Errorf("%q ends with %d: %v\n%s%s", args, code, err, stdout, stderr)
		return nil
	}
	switch x := out.Results[0].Value.(type) {
	case float64:
		return []float64{x}
	case []any:
		if low, ok := x[0].(float64); ok && len(x) == 2 {
			high, _ := x[1].(float64)
			return []float64{low, high}
		}
	}
	t.Errorf("%q has the value %v", args, out.Results[0].Value)
	return nil
}
