package files_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// The files that PRISM's explicit engine wrote for the corpus.
func TestCorpus(t *testing.T) {
	for _, dir := range []string{"ex_mdp_all", "ex_dtmc_actions", "ex_ctmc_sync", "ex_sync_order", "sem_bool_order", "sem_var_order", "rt_deadlock_rewards", "sem_labels_in_props"} {
		t.Run(dir, func(t *testing.T) {
			space, err := build(t.Context(), filepath.Join(corpus, dir, "model.prism"), nil, explicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := writeAll(t, space, files.Options{})
			recorded, err := filepath.Glob(filepath.Join(corpus, dir, "out[.12]*"))
			if err != nil || len(recorded) == 0 {
				t.Fatal("no files", err)
			}
			for _, file := range recorded {
				name := filepath.Base(file)
				if ext := filepath.Ext(name); ext == ".drn" || ext == ".prism" {
					continue
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if line, g, w := firstDifference(got[name], string(want)); line > 0 {
					t.Errorf("%s:%d: %q, PRISM has %q", name, line, g, w)
				}
			}
		})
	}
}

func TestOptionsLikePRISM(t *testing.T) {
	space, err := build(t.Context(), corpus+"/ex_mdp_all/model.prism", nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := writeAll(t, space, files.Options{NoHeaders: true, Precision: 3})
	for name, text := range got {
		want, err := os.ReadFile(corpus + "/ex_mdp_all/" + strings.Replace(name, "out", "nh", 1))
		if err != nil {
			continue // DOT and DRN were not recorded
		}
		if line, g, w := firstDifference(text, string(want)); line > 0 {
			t.Errorf("%s:%d: %q, PRISM has %q", name, line, g, w)
		}
	}
}

// The labels of a properties file come last, as with PRISM's :proplabels.
func TestPropertyLabels(t *testing.T) {
	space, err := build(t.Context(), corpus+"/sem_labels_in_props/model.prism", nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	full := properties(t, space, `label "b" = s=2;`).program
	got := writeAll(t, space, files.Options{Program: full})["out.lab"]
	if want := "# Labels\n0=\"init\" 1=\"deadlock\" 2=\"a\" 3=\"b\"\n0: 0\n1: 2\n2: 3\n"; got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}

type resolved struct {
	list    []sema.Property
	program *sema.Program
}

func properties(t *testing.T, space *explicit.Space, text string) resolved {
	t.Helper()
	tree, err := syntax.ParseProperties("p.props", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	props, err := space.Program().Model().CheckProperties(tree)
	if err != nil {
		t.Fatal(err)
	}
	list, full, err := props.Instantiate(space.Program(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved{list, full}
}

// verdicts checks properties of a space.
func verdicts(t *testing.T, space *explicit.Space, text string, opts check.Options) []result.Verdict {
	t.Helper()
	ps := properties(t, space, text)
	c := check.New(space.Compiled(), space, opts)
	var out []result.Verdict
	for _, p := range ps.list {
		out = append(out, c.Check(t.Context(), &check.Property{Property: p, Program: ps.program, File: "p.props"}))
	}
	return out
}

// PRISM imported these files and checked these properties (expected.json).
func TestImportCorpus(t *testing.T) {
	tests := []struct {
		dir    string
		typ    syntax.ModelType
		values map[string]float64 // -1 for true
	}{
		{"im_mdp_tra", syntax.MDP, map[string]float64{
			"Pmax=? [ F x=2 ]": 0.5, `Pmin=? [ F "goal" ]`: 0, `"init"`: -1, "x": 0,
			`R{"cost"}min=? [ F "goal" ]`: 3.5, "R{1}max=? [ C<=2 ]": 3.5,
			`Pmax=? [ F "goal" & x=3 ]`: 1, `filter(count, "init" | "goal" => x>2)`: 3,
		}},
	}
	for _, test := range tests {
		source := func(name string) files.Source {
			text, err := os.ReadFile(filepath.Join(corpus, test.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			return files.Source{Name: name, Text: text}
		}
		lab := source("in.lab")
		space, err := files.Read(t.Context(), files.Sources{
			Transitions: source("in.tra"), Labels: &lab,
			StateRewards: []files.Source{source("in.srew")}, TransitionRewards: []files.Source{source("in.trew")},
		}, files.ReadOptions{Type: test.typ})
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range test.values {
			v := verdicts(t, space, text, check.Options{})[0]
			if want == -1 {
				if !v.Value.Bool || v.Err != nil {
					t.Errorf("%s: %v %v, wanted true", text, v.Value, v.Err)
				}
				continue
			}
			if v.Err != nil || !(v.Value.Num > want-1e-7 && v.Value.Num < want+1e-7) {
				t.Errorf("%s: %v %v, wanted %v", text, v.Value.Num, v.Err, want)
			}
		}
	}
}

// A space that was written and read has the values of the one that was built.
func TestImportedValues(t *testing.T) {
	const text = `Pmax=? [ F "start" & b=false ]; R{"steps"}max=? [ C<=5 ]; Pmin=? [ G<=4 !"deadlock" ]; filter(sum, R{1}min=? [ C<=3 ]); "init"&"start"; filter(count, "start"=>g<0);`
	space, err := build(t.Context(), "testdata/models/sync_mdp.prism", nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compareValues(t, space, text)
	space, err = build(t.Context(), "testdata/models/actions_ctmc.prism", nil, explicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compareValues(t, space, `P=? [ F<=2 "zebra" & s=0 ]; R{"cost"}=? [ C<=2 ]; S=? [ "apple" ]; R{"cost"}=? [ S ]; R{"cost"}=? [ F s=2 ];`)
}

func compareValues(t *testing.T, space *explicit.Space, text string) {
	t.Helper()
	written := writeAll(t, space, files.Options{Precision: files.MaxPrecision})
	read, err := files.Read(t.Context(), sources(written), files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, got := verdicts(t, space, text, check.Options{}), verdicts(t, read, text, check.Options{})
	for i, w := range want {
		g := got[i]
		if w.Err != nil || g.Err != nil {
			t.Errorf("%s: %v, imported %v", w.Property, w.Err, g.Err)
		} else if w.Value.Bool != g.Value.Bool || math.Abs(w.Value.Num-g.Value.Num) > 1e-6*max(1, w.Value.Num) {
			t.Errorf("%s: %v, imported %v", w.Property, w.Value, g.Value)
		}
	}
}

// Nobody explores a program that has no commands.
func TestImportedIsNotBuilt(t *testing.T) {
	space, err := files.Read(t.Context(), files.Sources{Transitions: files.Source{Name: "m.tra", Text: []byte("2 2\n0 1 1\n1 0 1\n")}}, files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := explicit.Build(t.Context(), space.Compiled(), explicit.Options{}); err == nil {
		t.Error("built")
	}
}
