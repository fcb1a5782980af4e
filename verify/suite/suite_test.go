package suite_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
	"tilecheck/verify/suite"
)

// tree is a suite with every kind of file; the expected runs below are what
// prism-auto -e prints for it.
func discoverTree() fstest.MapFS {
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
		"list.txt":              "# properties\n. , b.nm.props\nsub,c.prism.props\n",
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
		pairing suite.Pairing
		want    []string
	}{
		{suite.Matching, []string{
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
		{suite.Every, []string{
			"s/sub/deep/e.sm s/sub/deep/e.sm.csl",
			"s/sub/c.prism s/sub/c.prism.props -const K=3",
			"s/sub/c.prism s/sub/other.props -const K=3",
		}},
	} {
		runs, err := suite.Discover(discoverTree(), "s", tt.pairing)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range runs[:min(len(runs), len(tt.want))] {
			got = append(got, r.String())
		}
		if !slices.Equal(got, tt.want) || tt.pairing == suite.Matching && len(runs) != len(tt.want) {
			t.Errorf("pairing %v:\n%s\nwant\n%s", tt.pairing, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

// TestDiscoverFile: with the pairings of prism-auto, the runs are those that
// prism-auto -e prints for the file as its target; with .auto files it crashes.
// A JANI model is one whose properties are in a file beside it, as of any other model.
func TestDiscoverJANI(t *testing.T) {
	fsys := fstest.MapFS{"s/m.jani": {}, "s/m.jani.props": {}, "s/alone.jani": {}}
	runs, err := suite.Discover(fsys, "s", suite.Matching)
	if err != nil || len(runs) != 1 || runs[0].String() != "s/m.jani s/m.jani.props" {
		t.Errorf("%v, %v, want a run of m.jani with its properties", runs, err)
	}
}

func TestDiscoverFile(t *testing.T) {
	for _, tt := range []struct {
		file    string
		pairing suite.Pairing
		want    string
	}{
		{"b.nm", suite.Matching, "s/b.nm s/b.nm.props -ex; s/b.nm s/b.nm.props -const N=1,M=2 -exact; s/b.nm s/b.nm.second.pctl"},
		{"b.nm", suite.Every, "s/b.nm s/a.pm.props; s/b.nm s/b.nm.props -ex; s/b.nm s/b.nm.props -const N=1,M=2 -exact; s/b.nm s/b.nm.second.pctl"},
		{"a.pm.props", suite.Matching, "s/a.pm s/a.pm.props -nofixdl; s/a.pm s/a.pm.props -mdp"},
		{"a.pm.props", suite.Every, "s/a.pm s/a.pm.props -nofixdl; s/a.pm s/a.pm.props -mdp; s/b.nm s/a.pm.props"},
		{"a.pm.auto", suite.Matching, "s/a.pm -nofixdl -exportmodel out.all -ex; s/a.pm -nofixdl -exportmodel out.all -h; " +
			"s/a.pm -mdp -exportmodel out.all -ex; s/a.pm -mdp -exportmodel out.all -h"},
		{"orphan.auto", suite.Matching, "x.prism y.props -ex"},
		{"sub/c.prism", suite.Matching, "s/sub/c.prism s/sub/c.prism.props"},
		{"sub/c.prism", suite.Every, "s/sub/c.prism s/sub/c.prism.props; s/sub/c.prism s/sub/other.props"},
		{"sub/c.prism", suite.Closest, "s/sub/c.prism s/sub/c.prism.props -const K=3; s/sub/c.prism s/sub/other.props -const K=3"},
		{"sub/c.prism.props", suite.Matching, "s/sub/c.prism s/sub/c.prism.props"},
		{"sub/c.prism.props", suite.Every, "s/sub/c.prism s/sub/c.prism.props -const K=3"},
		{"sub/other.props", suite.Matching, ""},
		{"sub/other.props", suite.Every, "s/sub/c.prism s/sub/other.props -const K=3"},
		{"list.txt", suite.Matching, "s/b.nm s/b.nm.props -ex; s/b.nm s/b.nm.props -const N=1,M=2 -exact; s/sub/c.prism s/sub/c.prism.props"},
	} {
		runs, err := suite.Discover(discoverTree(), "s/"+tt.file, tt.pairing)
		if err != nil {
			t.Fatal(err)
		}
		if got := discoverList(runs); got != tt.want {
			t.Errorf("%s, pairing %v:\n%s\nwant\n%s", tt.file, tt.pairing, got, tt.want)
		}
	}
}

func discoverList(runs []suite.Run) string {
	var out []string
	for _, r := range runs {
		out = append(out, r.String())
	}
	return strings.Join(out, "; ")
}

// TestClosest: what people mean who have never heard of prism-auto.
func TestClosest(t *testing.T) {
	for _, tt := range []struct{ files, want string }{
		{"die.prism die.props", "die.prism die.props"},
		{"a.prism b.prism a.props", "a.prism a.props"},
		{"a.prism b.prism a.prism.props a.props", "a.prism a.prism.props; a.prism a.props"},
		{"a.prism b.prism common.props", "a.prism common.props; b.prism common.props"},
		{"a.prism a.nm a.props", "a.nm a.props; a.prism a.props"},
		{"a.prism .git/b.prism .git/b.props", ""},
	} {
		fsys := fstest.MapFS{}
		for name := range strings.FieldsSeq(tt.files) {
			fsys[name] = &fstest.MapFile{}
		}
		runs, err := suite.Discover(fsys, ".", suite.Closest)
		if err != nil {
			t.Fatal(err)
		}
		if got := discoverList(runs); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.files, got, tt.want)
		}
	}
}

// TestPlaces: mistakes in files of switches are found where they are written.
func TestPlaces(t *testing.T) {
	fsys := fstest.MapFS{
		"m.prism":            {},
		"m.prism.props":      {},
		"m.prism.props.args": {Data: []byte("# switches\r\n-ex   -nosuchswitch\r\n\t-sim -simsamples\tmany\n-ex -const\n")},
		"list.txt":           {Data: []byte("\n ., m.prism.props\n m.prism.props\n")},
		"gone.txt":           {Data: []byte(". , gone.props\n")},
		"what.pdf":           {},
	}
	runs, err := suite.Discover(fsys, ".", suite.Matching)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`m.prism.props.args:2:7: unknown switch "-nosuchswitch"`,
		`m.prism.props.args:3:7: found "many", want an integer`,
		`m.prism.props.args:4:5: switch -const has too few arguments, want 1`,
	}
	for i, r := range runs {
		if _, err := r.Options(); err == nil || err.Error() != want[i] {
			t.Errorf("%v: %v, want %s", r, err, want[i])
		}
	}
	for name, want := range map[string]string{
		"list.txt": "list.txt:3:2: found no comma", "gone.txt": "gone.txt:1:1: ", "what.pdf": "what.pdf: found a file of an unknown kind",
	} {
		if _, err := suite.Discover(fsys, name, suite.Matching); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s…", name, err, want)
		}
	}
}

// TestHostileLists: files that anybody may put into a pull request are refused
// before they fill the memory.
func TestHostileLists(t *testing.T) {
	many := []byte(strings.Repeat("-ex\n", 400))
	for name, x := range map[string]struct {
		file string
		fsys fstest.MapFS
		want string
	}{
		"large args":  {".", fstest.MapFS{"m.prism": {}, "m.prism.props": {}, "m.prism.props.args": {Data: make([]byte, 1<<20)}}, "read m.prism.props.args: larger than 256 kB"},
		"large auto":  {"m.auto", fstest.MapFS{"m.auto": {Data: make([]byte, 1<<20)}}, "read m.auto: larger than 256 kB"},
		"large list":  {"l.txt", fstest.MapFS{"l.txt": {Data: make([]byte, 1<<20)}}, "read l.txt: larger than 256 kB"},
		"itself":      {"l.txt", fstest.MapFS{"l.txt": {Data: []byte("\n., l.txt\n")}}, `l.txt:2:1: found "l.txt", which is a list again, want a properties file`},
		"in circles":  {"l.txt", fstest.MapFS{"l.txt": {Data: []byte("d, k.txt\n")}, "d/k.txt": {Data: []byte(".., l.txt\n")}}, `l.txt:1:1: found "k.txt", which is a list again, want a properties file`},
		"of products": {".", fstest.MapFS{"m.prism": {}, "m.prism.props": {}, "models": {Data: []byte(strings.Repeat("m.prism\n", 400))}, "m.prism.args": {Data: many}, "m.prism.props.args": {Data: many}}, "m.prism.props: found more than 100000 runs in this directory, want fewer"},
	} {
		runs, err := suite.Discover(x.fsys, x.file, suite.Closest)
		if err == nil || err.Error() != x.want {
			t.Errorf("%s: %d runs, error %v, want %s", name, len(runs), err, x.want)
		}
	}
}

func TestDiscoverMissing(t *testing.T) {
	if _, err := suite.Discover(discoverTree(), "nowhere", suite.Matching); err == nil {
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
		got.Switches = nil
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
	got, err = suite.Run{Dir: "d", Args: []string{"y.props", "-importmodel", "x.all"}}.Options()
	if err != nil || got.Model != "" || got.Props != "d/y.props" {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, args := range []string{"a b -importtrans c", "a b c", "-const", "-epsilon", "-nosuchswitch", "-sim -simsamples x", "-sim -simwidth x", "-simnonsense"} {
		if _, err := (suite.Run{Args: strings.Fields(args)}).Options(); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

// TestPrismSuite reads all of PRISM's own suite: every switch in it is known.
func TestPrismSuite(t *testing.T) {
	dir := needs.PRISMTests(t)
	runs, err := suite.Discover(os.DirFS(dir), ".", suite.Matching)
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
