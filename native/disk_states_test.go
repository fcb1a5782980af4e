package native_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/internal/hostile"
	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestDiskFractions compares the intervals from disk with the fractions of random models.
func TestDiskFractions(t *testing.T) {
	t.Parallel()
	mode := mode{name: "disk"}
	answered := 0
	for level, name := range []string{"plain", "extreme", "hostile"} {
		for i := range needs.Some(120) {
			model := hostile.New(7, uint64(i), []hostile.Level{hostile.Plain, hostile.Extreme, hostile.Hostile}[level])
			var queries []hostile.Query
			for _, query := range model.Queries(10) {
				if strings.HasPrefix(query.Text, "P") || strings.HasPrefix(query.Text, "R") {
					queries = append(queries, query)
				}
			}
			if len(queries) == 0 {
				continue
			}
			mode.num.Disk = filepath.Join(t.TempDir(), "states")
			count := tally{map[string]int{}, map[string]int{}, map[string]int{}}
			if bad := askHostile(t, &count, mode, model, queries); bad != "" {
				t.Errorf("model %d, %s:\n%s", i, name, bad)
			}
			for word, n := range count.words {
				t.Logf("%d %s", n, word)
			}
			answered += count.verdicts[mode.name] - count.refused[mode.name]
		}
	}
	t.Logf("%d answers", answered)
	if answered < min(20, needs.Some(200)) {
		t.Errorf("%d answers, want at least 20", answered)
	}
}

// TestDiskGrids compares the intervals from disk with those in memory, for random walks in grids that have several layers, runs, chunks
// and blocks with little memory.
func TestDiskGrids(t *testing.T) {
	t.Parallel()
	severalBlocks := 0
	for i := range needs.Some(20) {
		model := randomGrid(rand.New(rand.NewPCG(3, uint64(i))))
		job := runner.Job{File: "grid.prism", Model: []byte(model), Props: gridProperties(model)}
		want, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		job.Numeric.Disk, job.Numeric.MaxMemory = filepath.Join(t.TempDir(), "states"), 1<<20
		got, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if !strings.HasSuffix(got[k].BoundMethod, "over 1 block") {
				severalBlocks++
			}
			if msg := otherBounds(&got[k], &want[k]); msg != "" {
				t.Errorf("%s\n%s: %s", model, want[k].Property, msg)
			}
		}
	}
	t.Logf("%d answers over several blocks", severalBlocks)
	if severalBlocks < 3 {
		t.Errorf("%d answers over several blocks, want at least 3", severalBlocks)
	}
}

// otherBounds says how a verdict from disk differs from one from memory, if it does.
func otherBounds(got, want *result.Verdict) string {
	switch {
	case got.Err != nil || want.Err != nil:
		return fmt.Sprintf("errors %v and %v", got.Err, want.Err)
	case got.States != want.States || got.Choices != want.Choices || got.Transitions != want.Transitions:
		return fmt.Sprintf("%d states, %d choices, %d transitions, want %d, %d, %d", got.States, got.Choices, got.Transitions, want.States, want.Choices, want.Transitions)
	case got.Bound == nil || want.Bound == nil || got.Bound.Lo > want.Bound.Hi || got.Bound.Hi < want.Bound.Lo:
		return fmt.Sprintf("interval %v, want one that meets %v", got.Bound, want.Bound)
	case got.Bound.Hi-got.Bound.Lo > 1e-8*max(got.Bound.Hi, 1): // a small value of G is one minus a great one
		return fmt.Sprintf("interval %v is wider than 1e-8", got.Bound)
	case want.Bound.Hi-want.Bound.Lo == 0 && (want.Bound.Lo == 0 || want.Bound.Lo == 1) && *got.Bound != *want.Bound:
		return fmt.Sprintf("interval %v, want exactly %v", got.Bound, want.Bound)
	case got.Resolution != want.Resolution || got.Accuracy != result.Bounded:
		return fmt.Sprintf("resolution %v, accuracy %v, want %v and bounded", got.Resolution, got.Accuracy, want.Resolution)
	}
	return ""
}

// randomGrid returns a random walk with some thousand states: variables of different sizes that commands raise, lower and reset.
func randomGrid(r *rand.Rand) string {
	kinds := []string{"mdp", "dtmc", "ctmc"}
	kind := kinds[r.IntN(len(kinds))]
	var text strings.Builder
	sizes := []int{3 + r.IntN(9), 3 + r.IntN(9), 2 + r.IntN(9), 3 + r.IntN(5)}
	fmt.Fprintf(&text, "%s\nmodule grid\n  stuck : bool;\n", kind)
	for i, size := range sizes {
		fmt.Fprintf(&text, "  x%d : [%d..%d] init 0;\n", i, -r.IntN(2), size)
	}
	for i, size := range sizes {
		other := r.IntN(len(sizes))
		guard := fmt.Sprintf("!stuck & x%d<%d", i, size)
		if kind == "dtmc" { // at most one command is enabled
			for before, size := range sizes[:i] {
				guard += fmt.Sprintf(" & x%d=%d", before, size)
			}
		}
		fmt.Fprintf(&text, "  [] %s -> 0.6 : (x%d'=x%d+1) + 0.2 : (x%d'=max(x%d-1,0)) + 0.15 : (x%d'=0) + 0.05 : (stuck'=true);\n", guard, i, i, other, other, (other+1)%len(sizes))
	}
	fmt.Fprintf(&text, "endmodule\nformula end = stuck")
	for i, size := range sizes {
		fmt.Fprintf(&text, " | x%d=%d", i, size)
	}
	fmt.Fprintf(&text, ";\nrewards\n  !stuck : 0.3;\n  [] x1<2 : 1/3;\n  x0>2 : x2/7;\nendrewards\n")
	return text.String()
}

// gridProperties returns the properties to check of a grid.
func gridProperties(model string) []string {
	if strings.HasPrefix(model, "mdp") {
		return []string{
			"Pmax=? [ F x0=3 & x1=3 ]", "Pmin=? [ F x0=3 | x1=2 ]", "Pmax=? [ x0<3 U x1=3 ]", "Pmin=? [ G !stuck ]", "Pmax=? [ x1<3 W x0=2 ]",
			"Pmax=? [ F<=40 x0=3 & x1=3 ]", "Pmin=? [ x0<3 U<9 x1=3 ]", "Pmin=? [ G<=7 !stuck ]",
			"Rmin=? [ F end ]", "Rmax=? [ F end ]", "Rmin=? [ F x1=2 ]", "Rmax=? [ F x1=2 ]", "Rmin=? [ C<=30 ]", "Rmax=? [ C<=9 ]", "Rmin=? [ C ]", "Rmax=? [ C ]",
		}
	}
	if strings.HasPrefix(model, "dtmc") {
		return []string{"P=? [ F x0=3 ]", "P=? [ G x1<3 ]", "P=? [ x0<3 U x1=2 ]", "P=? [ F<=20 stuck ]", "P=? [ F<=0 stuck ]", "P=? [ x1<2 W<=12 x0=2 ]", "P=? [ x0=2 R<=6 x1<2 ]", "R=? [ F end ]", "R=? [ F x1=2 ]", "R=? [ C<=30 ]", "R=? [ C<=0 ]", "R=? [ C ]"}
	}
	return []string{"P=? [ F x0=3 ]", "P=? [ G x1<3 ]", "P=? [ x0<3 U x1=2 ]", "P=? [ F stuck ]", "R=? [ F end ]", "R=? [ F x1=2 ]", "R=? [ C ]"}
}

// TestDiskRewards compares the rewards from disk with the fractions in memory, for random models with small end components, many of them without
// rewards. The intervals must have the wanted width.
func TestDiskRewards(t *testing.T) {
	t.Parallel()
	numFinite, numInfinite, numRefused := 0, 0, 0
	for i := range needs.Some(300) {
		model, properties := randomRewardModel(rand.New(rand.NewPCG(5, uint64(i))))
		job := runner.Job{File: "m.prism", Model: []byte(model), Props: properties}
		job.Numeric.Accuracy = result.Exact
		want, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatalf("%s\n%v", model, err)
		}
		job.Numeric.Accuracy, job.Numeric.Disk, job.Numeric.Epsilon = result.Bounded, filepath.Join(t.TempDir(), "states"), 1e-7
		got, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatalf("%s\n%v", model, err)
		}
		for k := range want {
			if got[k].Err != nil && strings.Contains(got[k].Err.Message, "end component of several states without rewards") && strings.HasPrefix(properties[k], "Rmin=? [ F") {
				numRefused++
				continue
			}
			if got[k].Err != nil || want[k].Err != nil {
				t.Errorf("%s\n%s: errors %v and %v", model, properties[k], got[k].Err, want[k].Err)
				continue
			}
			bounds := got[k].Bound
			if math.IsInf(want[k].Value.Num, 1) {
				numInfinite++
				if !math.IsInf(bounds.Lo, 1) {
					t.Errorf("%s\n%s: %v, want infinity", model, properties[k], bounds)
				}
				continue
			}
			numFinite++
			lower, upper := new(big.Rat).SetFloat64(bounds.Lo), new(big.Rat)
			if upper.SetFloat64(bounds.Hi) == nil || lower.Cmp(want[k].Value.Rat) > 0 || upper.Cmp(want[k].Value.Rat) < 0 {
				t.Errorf("%s\n%s: %v, want %v in it", model, properties[k], bounds, want[k].Value.Rat)
			} else if bounds.Hi-bounds.Lo > 1e-7*bounds.Hi {
				t.Errorf("%s\n%s: %v is too wide", model, properties[k], bounds)
			}
		}
	}
	t.Logf("%d finite values, %d infinite ones, %d refused", numFinite, numInfinite, numRefused)
	if numFinite < 20 || numInfinite < 5 {
		t.Errorf("%d finite and %d infinite values, want at least 20 and 5", numFinite, numInfinite)
	}
}

// randomRewardModel returns a random model of a few states whose choices and rewards are random, with properties of its rewards.
func randomRewardModel(r *rand.Rand) (model string, properties []string) {
	kind := []string{"mdp", "mdp", "dtmc", "ctmc"}[r.IntN(4)]
	numStates := 3 + r.IntN(6)
	var text, rewards strings.Builder
	fmt.Fprintf(&text, "%s\nmodule m\n  s : [0..%d] init %d;\n", kind, numStates-1, numStates-1)
	for state := range numStates {
		numChoices := 1
		if kind != "dtmc" {
			numChoices = r.IntN(4) // 0: a deadlock
		}
		for choice := range numChoices {
			first, second := r.IntN(numStates), r.IntN(numStates)
			if r.IntN(3) > 0 { // most choices lead down, or stay
				first = max(state-r.IntN(3), 0)
			}
			switch {
			case kind == "ctmc":
				fmt.Fprintf(&text, "  [c%d] s=%d -> %d/3 : (s'=%d);\n", choice, state, 1+r.IntN(9), first)
			case r.IntN(3) == 0:
				fmt.Fprintf(&text, "  [c%d] s=%d -> (s'=%d);\n", choice, state, first)
			default:
				fmt.Fprintf(&text, "  [c%d] s=%d -> 2/3 : (s'=%d) + 1/3 : (s'=%d);\n", choice, state, first, second)
			}
			if r.IntN(2) == 0 {
				fmt.Fprintf(&rewards, "  [c%d] s=%d : %d/7;\n", choice, state, 1+r.IntN(9))
			}
		}
		if r.IntN(3) == 0 {
			fmt.Fprintf(&rewards, "  s=%d : %d/10;\n", state, r.IntN(5))
		}
	}
	fmt.Fprintf(&text, "endmodule\nrewards\n%s  s<0 : 1;\nendrewards\n", rewards.String())
	objectives := []string{"F s=0", "F s<2", "C"}
	if kind != "ctmc" {
		objectives = append(objectives, "C<=7", "C<=1")
	}
	for _, objective := range objectives {
		if kind != "mdp" {
			properties = append(properties, "R=? [ "+objective+" ]")
			continue
		}
		properties = append(properties, "Rmin=? [ "+objective+" ]", "Rmax=? [ "+objective+" ]")
	}
	return text.String(), properties
}

// TestDiskRefusals checks that everything that is not supported is refused by name.
func TestDiskRefusals(t *testing.T) {
	t.Parallel()
	check := func(job runner.Job) string {
		t.Helper()
		job.Numeric.Disk = filepath.Join(t.TempDir(), "states")
		verdicts, err := runner.Check(context.Background(), native.New(), job)
		if err != nil {
			return err.Error()
		}
		if verdicts[0].Err == nil {
			return "no error"
		}
		return verdicts[0].Err.Message
	}
	const dtmc = "dtmc\nmodule m\n x : [0..2];\n [] x<2 -> 0.5 : (x'=x+1) + 0.5 : true;\nendmodule\nrewards\n true : 1;\nendrewards\nrewards \"less\"\n x=1 : -1;\nendrewards\n"
	for property, want := range map[string]string{
		"R=? [ I=2 ]":                 "found R of I, want R of F of a state formula, of C, or of C<=k",
		"R=? [ S ]":                   "found R of S",
		"R=? [ F<=3 x=2 ]":            "found R of F with a bound",
		"R=? [ C<=-1 ]":               "want a finite number of at least 0",
		"R=? [ F P>0.5 [ F x=2 ] ]":   "found R of F of a formula with other operators",
		"R=? [ X x=2 ]":               "found R of another path formula",
		`R{"less"}=? [ F x=2 ]`:       "found the reward -1, want a reward that is finite and not negative",
		"P=? [ F>=3 x=2 ]":            "without a bound or with an upper bound on steps",
		"P=? [ F[1,3] x=2 ]":          "without a bound or with an upper bound on steps",
		"P=? [ F<0 x=2 ]":             "holds at no time",
		"P=? [ F<=2.5 x=2 ]":          "want an int for a DTMC",
		"P=? [ G F x=2 ]":             "want P of F, G, U, W or R",
		`P=? [ F "init" ]`:            "found an expression of type bool",
		"P=? [ F P>0.5 [ F x=2 ] ]":   "want P of F, G, U, W or R",
		"filter(max, P=? [ F x=2 ])":  "found a filter",
		"S=? [ x=2 ]":                 "found an S operator",
		"P=? [ X x=2 ]":               "want P of F, G, U, W or R",
		"P=? [ (F x=1) & (F x=2) ]":   "want P of F, G, U, W or R",
		"multi(P>=0.5 [ F x=2 ])":     "found",
		"P=? [ F x=2 ] + P=? [F x=1]": "found",
	} {
		if got := check(runner.Job{Model: []byte(dtmc), Props: []string{property}}); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", property, got, want)
		}
	}
	for want, change := range map[string]func(*runner.Job){
		"--exact":            func(j *runner.Job) { j.Numeric.Accuracy = result.Exact },
		"--float":            func(j *runner.Job) { j.Numeric.Accuracy = result.Float },
		"--certify":          func(j *runner.Job) { j.Numeric.Accuracy = result.Proven },
		"--reduce":           func(j *runner.Job) { j.Numeric.Reduce = true },
		"--max-states":       func(j *runner.Job) { j.Numeric.MaxStates = 10 },
		"--no-fix-deadlocks": func(j *runner.Job) { j.NoFixDeadlocks = true },
		"one initial state": func(j *runner.Job) {
			j.Model = []byte("dtmc\nmodule m\n x : [0..2];\n [] true -> true;\nendmodule\ninit true endinit\n")
		},
		"end component of several states without rewards outside of the target": func(j *runner.Job) {
			j.Model = []byte("mdp\nmodule m\n x : [0..2];\n [] x<2 -> (x'=1-x);\n [go] x<2 -> (x'=2);\nendmodule\nrewards\n [go] true : 1;\nendrewards\n")
			j.Props = []string{"Rmin=? [ F x=2 ]"}
		},
		"DTMC, MDP or CTMC": func(j *runner.Job) {
			j.Model = []byte("smg\nplayer p m endplayer\nmodule m\n x : [0..2];\n [] true -> true;\nendmodule\n")
		},
		"constants: each model": func(j *runner.Job) { j.Model, j.Consts = []byte("const int N;\n"+dtmc), []string{"N=1:2"} },
	} {
		job := runner.Job{Model: []byte(dtmc), Props: []string{"P=? [ F x=2 ]"}}
		change(&job)
		if got := check(job); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDiskOtherModel checks that a directory is used for one model only, and for nothing else.
func TestDiskOtherModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ask := func(model, constants string) string {
		job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{"P=? [ F x=2 ]"}, Consts: []string{constants}}
		job.Numeric.Disk = dir
		verdicts, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			return err.Error()
		}
		if verdicts[0].Err != nil {
			return verdicts[0].Err.Message
		}
		return fmt.Sprint(verdicts[0].Value.Num)
	}
	const model = "dtmc\nconst int N;\nmodule m\n x : [0..N];\n [] x<N -> 0.5 : (x'=x+1) + 0.5 : (x'=0);\nendmodule\n"
	if got := ask(model, "N=3"); got != "1" {
		t.Fatalf("%s, want 1", got)
	}
	if got := ask(model, "N=3"); got != "1" {
		t.Errorf("again: %s, want 1", got)
	}
	if got := ask(model, "N=4"); !strings.Contains(got, "has states of m.prism with N=3, want those of m.prism with N=4") {
		t.Errorf("other constants: %s", got)
	}
	if got := ask(strings.Replace(model, "0.5 :", "1/2 :", 1), "N=3"); !strings.Contains(got, "another version of m.prism") {
		t.Errorf("other text: %s", got)
	}
	dir = "."
	if got := ask(model, "N=3"); !strings.Contains(got, "has files of something else") {
		t.Errorf("a directory of something else: %s", got)
	}
}
