package induced_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/game/induced"
	"tilecheck/game/play"
	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/native/space/files"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
)

// exported is a strategy with its chain.
type exported struct {
	setting
	spec  string
	opt   induced.Options
	s     strategy.Strategy
	chain *induced.Chain
	win   *big.Rat // nil when the chain has numbers too long for models
	about interval.Interval
}

// export explores a strategy on a board and evaluates it.
func export(t *testing.T, g setting, spec string) *exported {
	t.Helper()
	x := &exported{setting: g, spec: spec, opt: g.options(t)}
	x.s = remember(parse(t, spec, x.opt))
	var err error
	if x.chain, err = induced.Explore(t.Context(), x.s, x.opt); err != nil {
		t.Fatal(err)
	}
	bracket, err := x.chain.Bracket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x.about = bracket.Win
	if x.chain.Rounded() {
		return x
	}
	exact, err := x.chain.Exact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x.win = exact.Win
	return x
}

// model returns the model as text.
func (x *exported) model(t *testing.T, spawn modelgen.Spawn) []byte {
	t.Helper()
	m, err := modelgen.Build(modelgen.Config{Rows: x.rows, Cols: x.cols, Max: 1 << x.exp, Spawn: spawn, Table: x.chain.Table()})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, m, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// is checks a value of a model checker: the fraction where there is one, and the number to 1e-9.
func (x *exported) is(t *testing.T, who string, v result.Verdict) {
	t.Helper()
	switch {
	case v.Err != nil:
		t.Errorf("%s: %v", who, v.Err)
	case x.win != nil && v.Value.Rat != nil && v.Value.Rat.Cmp(x.win) != 0:
		t.Errorf("%s: %s, direct evaluation is %s", who, v.Value.Rat.RatString(), x.win.RatString())
	case math.Abs(v.Value.Num-x.about.Lo) > 1e-9:
		t.Errorf("%s: %v, direct evaluation is %v", who, v.Value.Num, x.about)
	}
}

// must returns the verdicts of the native engine.
func must(t *testing.T) func([]result.Verdict, error) []result.Verdict {
	return func(vs []result.Verdict, err error) []result.Verdict {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return vs
	}
}

// space reads the files of the chain.
func (x *exported) space(t *testing.T, fractions bool) files.Sources {
	t.Helper()
	source := func(name string, write func(io.Writer) error) files.Source {
		var text bytes.Buffer
		if err := write(&text); err != nil {
			t.Fatal(err)
		}
		return files.Source{Name: name, Text: text.Bytes()}
	}
	ctx := t.Context()
	sta := source("x.sta", func(w io.Writer) error { return x.chain.WriteStates(ctx, w) })
	lab := source("x.lab", func(w io.Writer) error { return x.chain.WriteLabels(ctx, w) })
	return files.Sources{
		Transitions: source("x.tra", func(w io.Writer) error { return x.chain.WriteTransitions(ctx, w, fractions) }),
		States:      &sta, Labels: &lab,
	}
}

// long reports whether a strategy takes too long for every run of the tests: its distributions or its games alone take seconds.
func (s setting) long(spec string) bool {
	return strings.HasPrefix(spec, "mc:runs=50") || strings.HasPrefix(spec, "mc:") && s.exp > 4
}

// everyModel calls f for every strategy on 2x2 to 16 and 32, and every deterministic one on 2x3 to 32.
func everyModel(t *testing.T, all bool, f func(t *testing.T, x *exported)) {
	for _, g := range []setting{{2, 2, 4}, {2, 2, 5}, {2, 3, 5}} {
		for _, spec := range listed(t, g) {
			if g.long(spec) && !all || g.cols > 2 && !parse(t, spec, g.options(t)).Deterministic() {
				continue
			}
			t.Run(g.String()+"/"+nameOf(spec), func(t *testing.T) {
				if g.cols > 2 {
					needs.NotShort(t, "thousands of states")
				}
				if g.exp > 4 && !strings.HasPrefix(spec, "pref") {
					needs.Full(t)
				}
				f(t, export(t, g, spec))
			})
		}
	}
}

// A model of a strategy has its value, whatever a scheduler does, so have the files of its chain, a survey, and games. docs/proof.md says it.
func TestModels(t *testing.T) {
	needs.Full(t)
	table := readTable(t)
	everyModel(t, false, func(t *testing.T, x *exported) {
		engine := native.New()
		job := runner.Job{File: "x.prism", Model: x.model(t, modelgen.SpawnUniform), Props: []string{`Pmin=? [ F "success" ]`, `Pmax=? [ F "success" ]`}}
		accuracies := []result.Accuracy{result.Exact, result.Bounded}
		if x.cols > 2 {
			accuracies = accuracies[:1]
		}
		for _, job.Numeric.Accuracy = range accuracies {
			for _, v := range must(t)(runner.Check(t.Context(), engine, job)) {
				x.is(t, fmt.Sprintf("module, %v, %s", job.Numeric.Accuracy, v.Property), v)
				if v.States != v.Choices {
					t.Errorf("the model has %d states and %d choices, want one for each", v.States, v.Choices)
				}
			}
		}
		for _, exact := range []bool{false, true} {
			space, err := files.Read(t.Context(), x.space(t, exact), files.ReadOptions{Type: syntax.DTMC, Exact: exact})
			if err != nil {
				t.Fatal(err)
			}
			job := runner.Job{File: "x.tra", States: space, Props: []string{`P=? [ F "success" ]`, `P=? [ F "success" | "fail" ]`}}
			if exact {
				job.Numeric.Accuracy = result.Exact
			}
			vs := must(t)(runner.Check(t.Context(), engine, job))
			x.is(t, fmt.Sprintf("files, exact %v", exact), vs[0])
			if vs[1].Value.Num != 1 {
				t.Errorf("the game ends with probability %v, want 1", vs[1].Value.Num)
			}
		}
		if x.win != nil {
			x.surveyed(t)
		}
		row, known := table[x.key()]
		if !known {
			t.Fatalf("docs/proof.md has no row that begins with %q", x.key())
		}
		prism, err := strconv.ParseFloat(row[prismColumn], 64)
		if err != nil || math.Abs(prism-x.about.Lo) > 1e-9 {
			t.Errorf("docs/proof.md: PRISM is said to have found %q, direct evaluation is %v", row[prismColumn], x.about)
		}
		if want := x.row(t, row[prismColumn]); !slices.Equal(row, want) {
			t.Errorf("docs/proof.md has the row\n%q\nwant\n%q", row, want)
		}
	})
}

// games plays as tilecheck play --games 20000 --seed 1 --alpha 1e-6 does and returns the interval, which must contain the value. With the
// seed as it is it does; with another one, some of the fewer than 50 rows fails with a probability below 1e-4.
func (x *exported) games(t *testing.T) stats.Interval {
	t.Helper()
	m := play.Match{Shape: x.opt.Rules.Shape(), Goal: x.opt.Max, Seed: 1}
	out, err := play.Run(t.Context(), play.Options{Match: m, Strategy: x.s, Games: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	i, err := stats.BernoulliInterval(out.Won, 1-1e-6, false)
	if err != nil {
		t.Fatal(err)
	}
	if !i.Contains(x.about.Lo) {
		t.Errorf("%d of %d games are won, which is in [%v, %v]; direct evaluation is %v", out.Won.K, out.Won.N, i.Lo, i.Hi, x.about)
	}
	return i
}

// Where the scheduler places the tiles the value of the game lies between the extremes, and a module that draws is the game.
func TestSpawns(t *testing.T) {
	for _, spec := range []string{"random", "alternating", "optimal:objective=win"} {
		x := export(t, setting{2, 2, 4}, spec)
		job := runner.Job{File: "x.prism", Model: x.model(t, modelgen.SpawnCell), Props: []string{`Pmin=? [ F "success" ]`, `Pmax=? [ F "success" ]`}}
		job.Numeric.Accuracy = result.Exact
		vs := must(t)(runner.Check(t.Context(), native.New(), job))
		if vs[0].Value.Rat.Cmp(x.win) >= 0 || vs[1].Value.Rat.Cmp(x.win) <= 0 {
			t.Errorf("%s: %s is not between %s and %s", spec, x.win, vs[0].Value.Rat, vs[1].Value.Rat)
		}
		job.Model = x.model(t, modelgen.SpawnModule)
		for _, v := range must(t)(runner.Check(t.Context(), native.New(), job)) {
			x.is(t, "spawn module", v)
		}
	}
}

// The files say what the chain is: hand calculation for one row of two cells, where the game ends with the first 4 or merge.
func TestFiles(t *testing.T) {
	opt := setting{1, 2, 2}.options(t)
	c, err := induced.Explore(t.Context(), parse(t, "pref:left,up,down,right", opt), opt)
	if err != nil {
		t.Fatal(err)
	}
	var tra, sta, lab strings.Builder
	if err := c.WriteTransitions(t.Context(), &tra, true); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteStates(t.Context(), &sta); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteLabels(t.Context(), &lab); err != nil {
		t.Fatal(err)
	}
	// Two twos: 81/100, and moving left makes 4 0, which is won already. A 2 then a 4: 9/100, half of them each way. A 4 at once: 1/10, half of them each way.
	for name, tt := range map[string]struct{ got, want string }{
		"tra": {tra.String(), "6 10\n0 1 81/100\n0 2 9/200\n0 3 9/200\n0 4 1/20\n0 5 1/20\n1 4 1\n2 2 1\n3 3 1\n4 4 1\n5 5 1\n"},
		"sta": {sta.String(), "(v_0,v_1)\n0:(0,0)\n1:(2,2)\n2:(2,4)\n3:(4,2)\n4:(4,0)\n5:(0,4)\n"},
		"lab": {lab.String(), "0=\"init\" 1=\"deadlock\" 2=\"fail\" 3=\"success\"\n0: 0\n2: 3\n3: 3\n4: 3\n5: 3\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is\n%s\nwant\n%s", name, tt.got, tt.want)
		}
	}
}
