package suite_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tilecheck/prism/syntax"
	"tilecheck/properties/suite"
)

// tree is a suite with every kind of file; the expected runs below are what
// prism-auto -e prints for it.
func tree() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"b.nm":                  "",
		"b.nm.props":            "",
		"b.nm.props.args":       "# engines\n-ex\n\n  -const  N=1,M=2 -exact \n",
		"b.nm.second.pctl":      "",
		"a.pm":                  "",
		"a.pm.args":             "-nofixdl\n-mdp\n",
		"a.pm.auto":             "-exportmodel out.all\n",
		"a.pm.auto.args":        "-ex\n-h\n",
		"a.pm.props":            "",
		"orphan.auto":           "x.prism y.props -ex\n",
		"orphan.auto.args":      "-ignored\n",
		"notes.txt":             "",
		".prism":                "",
		"sub/models":            "c.prism -const K=3\n# d.prism\n",
		"sub/c.prism":           "",
		"sub/d.prism":           "",
		"sub/c.prism.props":     "",
		"sub/other.props":       "",
		"sub/deep/e.sm":         "",
		"sub/deep/e.sm.csl":     "",
		"sub/deep/e.sm.csl.out": "",
	} {
		fsys["s/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestDiscover(t *testing.T) {
	for _, tt := range []struct {
		matching bool
		want     []string
	}{
		{true, []string{
			"s/sub/deep/e.sm s/sub/deep/e.sm.csl",
			"s/sub/c.prism s/sub/c.prism.props -const K=3",
			"s/a.pm s/a.pm.props -nofixdl",
			"s/a.pm -nofixdl -exportmodel out.all -ex",
			"s/a.pm -nofixdl -exportmodel out.all -h",
			"s/a.pm s/a.pm.props -mdp",
			"s/a.pm -mdp -exportmodel out.all -ex",
			"s/a.pm -mdp -exportmodel out.all -h",
			"s/b.nm s/b.nm.props -ex",
			"s/b.nm s/b.nm.props -const N=1,M=2 -exact",
			"s/b.nm s/b.nm.second.pctl",
			"x.prism y.props -ex",
		}},
		{false, []string{
			"s/sub/deep/e.sm s/sub/deep/e.sm.csl",
			"s/sub/c.prism s/sub/c.prism.props -const K=3",
			"s/sub/c.prism s/sub/other.props -const K=3",
		}},
	} {
		runs, err := suite.Discover(tree(), "s", tt.matching)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range runs[:min(len(runs), len(tt.want))] {
			got = append(got, r.String())
		}
		if !slices.Equal(got, tt.want) || tt.matching && len(runs) != len(tt.want) {
			t.Errorf("matching %v:\n%s\nwant\n%s", tt.matching, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func TestDiscoverMissing(t *testing.T) {
	if _, err := suite.Discover(tree(), "nowhere", true); err == nil {
		t.Error("no error for a directory that does not exist")
	}
}

func TestOptions(t *testing.T) {
	run := func(args string) suite.Run {
		return suite.Run{Dir: "d", Model: "d/m.nm", Props: "d/m.nm.props", Args: strings.Fields(args)}
	}
	for _, tt := range []struct {
		args string
		want suite.Options
	}{
		{"-ex -gs -ii:w -epsilon 1e-9 -javamaxmem 1g --verbose", suite.Options{}},
		{"-const N=1 -const p=0.1:0.1:0.5", suite.Options{Consts: []string{"N=1", "p=0.1:0.1:0.5"}}},
		{"-exact -mdp -nofixdl -fair", suite.Options{Exact: true, Type: syntax.MDP, NoFixDeadlocks: true, Fair: true}},
		{"-prop 1,last -noprobchecks", suite.Options{Select: []string{"1", "last"}, NoProbChecks: true}},
		{"-sim", suite.Options{Simulation: &suite.Simulation{}}},
		{"-sim -simmethod apmc -simconf 0.05 -simapprox 0.1 -simpathlen 50", suite.Options{Simulation: &suite.Simulation{Method: "apmc", Error: 0.05, Approximation: 0.1, PathLength: 50}}},
		{"-sim -simwidth 0.1 -simsamples 10 -simvar 3 -simmaxrwd 7", suite.Options{Simulation: &suite.Simulation{HalfWidth: 0.1, Samples: 10, MinSamples: 3, MaxRewardSum: 7}}},
		{"-param p=0:1,q -transient 3 -ss", suite.Options{Params: "p=0:1,q", Transient: "3", Steady: true}},
		{
			"-importmodel a.all -exportrewards r1 r2 -exportmodel b.tra:x -exportrows -exportmodelprecision 5",
			suite.Options{Imports: [][]string{{"-importmodel", "a.all"}}, Exports: [][]string{{"-exportrewards", "r1", "r2"}, {"-exportmodel", "b.tra:x"}, {"-exportrows"}}},
		},
	} {
		tt.want.Model, tt.want.Props = "d/m.nm", "d/m.nm.props"
		got, err := run(tt.args).Options()
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\ngot  %+v, %v\nwant %+v", tt.args, got, err, tt.want)
		}
	}
}

func TestOptionsFiles(t *testing.T) {
	got, err := suite.Run{Dir: "d", Args: []string{"x.prism", "-ex", "y.props"}}.Options()
	if err != nil || got.Model != "d/x.prism" || got.Props != "d/y.props" {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, args := range []string{"a b c", "-const", "-epsilon", "-nosuchswitch", "-sim -simsamples x", "-sim -simwidth x", "-simnonsense"} {
		if _, err := (suite.Run{Args: strings.Fields(args)}).Options(); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

// TestPrismSuite reads all of PRISM's own suite: every switch in it is known.
func TestPrismSuite(t *testing.T) {
	dir := os.Getenv("TILECHECK_PRISM_TESTS")
	if dir == "" {
		t.Skip("TILECHECK_PRISM_TESTS names no copy of prism-tests")
	}
	runs, err := suite.Discover(os.DirFS(dir), ".", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		o, err := r.Options()
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range []string{o.Model, o.Props} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%v: %v", r, err)
			}
		}
	}
	t.Logf("%d runs", len(runs))
}
