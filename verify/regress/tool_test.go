package regress_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"tilecheck/bridge"
	"tilecheck/report"
	"tilecheck/runner"
	"tilecheck/verify/regress"
)

// prism is a double of PRISM: it prints what say returns for the arguments, and
// writes files.
type prism struct {
	say   func(args string) string
	files []runner.File
	cause runner.Cause
	err   error
	mu    sync.Mutex
	runs  []runner.Command
}

func (p *prism) Where() string { return "a double" }

func (p *prism) Run(_ context.Context, c runner.Command) (runner.Exit, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = append(p.runs, c)
	if p.err != nil {
		return runner.Exit{}, p.err
	}
	_, err := io.WriteString(c.Stdout, "PRISM\n=====\n\nVersion: 4.10.2-dev\nCommand line: prism "+strings.Join(c.Args, " ")+"\n\nParsing PRISM model file \"coin.prism\"...\n\n"+p.say(strings.Join(c.Args, " ")))
	return runner.Exit{Files: p.files, Cause: p.cause}, err
}

func (p *prism) engine() regress.EngineConfig {
	return regress.EngineConfig{EngineConfig: runner.EngineConfig{Engine: bridge.PRISM(p, bridge.Options{})}, Identity: "double", PRISM: &regress.PRISM{Commander: p, Args: []string{"-ex"}}}
}

// section is what PRISM prints of one property.
func section(property, constants, outcome string) string {
	text := "---------------------------------------------------------------------\n\nModel checking: " + property + "\n"
	if constants != "" {
		text += "Model constants: " + constants + "\n"
	}
	return text + "\n" + outcome + "\n\n"
}

// listed is what PRISM prints before it checks properties.
func listed(properties ...string) string {
	text := fmt.Sprintf("Type:        DTMC\nModules:     coin\nActions:     []\nVariables:   s\n\n%d properties:\n", len(properties))
	for i, p := range properties {
		text += fmt.Sprintf("(%d) %s\n", i+1, p)
	}
	return text + "\n"
}

func TestPRISM(t *testing.T) {
	fsys := files("d/coin.prism", strings.Replace(coin, "p = 1/3", "p", 1), "d/coin.prism.props", `// RESULT: 1/3
P=? [ F s=1 ];
// RESULT (p=0.25): 3/4
"two": P=? [ F s=2 ];
// RESULT: Error:bounds
// TILECHECK: error=model
P=? [ F s=1 ];
// RESULT: 1
Pmax=? [ F s=1 ];
// RESULT: [(1.0,2.0)]
multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ]);
`, "d/coin.prism.props.args", "-h -const p=1/3 -const p=1/3\n")
	p := &prism{say: func(string) string {
		return listed("P=? [ F s=1 ]", "\"two\": P=? [ F s=2 ]", "P=? [ F s=1 ]", "Pmax=? [ F s=1 ]", "multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ])") +
			section("P=? [ F s=1 ]", "p=1/3", "Result: 0.3333 (+/- 3.3E-6 estimated; rel err 1.0E-5)\nTesting result: PASS") +
			section("\"two\": P=? [ F s=2 ]", "p=1/3", "Result: 0.75 (exact floating point)") +
			section("P=? [ F s=1 ]", "p=1/3", "Error: bad bounds.") +
			section("Pmax=? [ F s=1 ]", "p=1/3", "Error: Interval iteration requires precomputations.\nTesting result: UNSUPPORTED: Interval iteration requires precomputations") +
			section("multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ])", "p=1/3", "Result: [(1.0,2.0)]\nTesting result: PASS")
	}}
	fsys["d/coin.prism.props.args"].Data = []byte("-h -const p=1/3\n")
	rep := test(t, fsys, regress.Options{Memory: 1 << 30}, p.engine())
	compare(t, lines(rep), `
fail d/coin.prism.props:2 [{p 1/3}]: Wrong result (expected 1/3 = 0.3333333333333333, abs err = 3.333333333332966E-5 > 3.333E-6)
not tested d/coin.prism.props:4 [{p 1/3}]: Did not find a RESULT specification (for p=0.333333333333) to test against
fail d/coin.prism.props:7 [{p 1/3}]: Was expecting an error of class model, got one of class other: bad bounds
unsupported d/coin.prism.props:9 [{p 1/3}]: Interval iteration requires precomputations
pass d/coin.prism.props:11 [{p 1/3}]`)
	if len(p.runs) != 1 {
		t.Fatalf("%d runs", len(p.runs))
	}
	c := p.runs[0]
	if args := strings.Join(c.Args, " "); args != "coin.prism coin.prism.props -h -const p=1/3 -javamaxmem 512m -cuddmaxmem 256m -ex -testall" {
		t.Errorf("args %s", args)
	}
	if len(c.Files) != 2 || c.Files[0].Name != "coin.prism" || string(c.Files[0].Data) != string(fsys["d/coin.prism"].Data) || c.Limits.Memory != 1<<30 {
		t.Errorf("%+v", c)
	}
	if log := rep.Results[0].Log; !strings.Contains(log, "Version: 4.10.2-dev") {
		t.Errorf("log %q", log)
	}
}

// TestPRISMNothing: what the output has nothing about is no result.
func TestPRISMNothing(t *testing.T) {
	fsys := files("coin.prism", coin, "coin.prism.props", "// RESULT: 1/3\nP=? [ F s=1 ];\n// RESULT: Error\nP=? [ F s=2 ];")
	for _, tt := range []struct {
		p    *prism
		want string
	}{
		{&prism{}, "error coin.prism.props:2: the tool said nothing about this property (truncated)\nerror coin.prism.props:4: the tool said nothing about this property (truncated)"},
		{&prism{cause: runner.TimedOut}, "limit coin.prism.props:2: "},
		{&prism{cause: runner.OutOfMemory}, "limit coin.prism.props:2: "},
		{&prism{cause: runner.Killed}, "error coin.prism.props:2: "},
		{&prism{err: errors.New("no such image")}, "error coin.prism.props:0: no such image"},
	} {
		p := tt.p
		p.say = func(string) string { return "" }
		if got := lines(test(t, fsys, regress.Options{}, p.engine())); !strings.HasPrefix(got, tt.want) {
			t.Errorf("got\n%swant\n%s", got, tt.want)
		}
	}
}

// TestPRISMFiles: imports go with the run, exports come back and are compared.
func TestPRISMFiles(t *testing.T) {
	fsys := files("d/coin.prism", coin, "d/coin.prism.auto", "-exportmodel out.all:headers=false -importtrans in/coin.tra -exportrewards stdout out.trew -exportlabels none.lab\n",
		"d/in/coin.tra", "3 3", "d/out.sta", "states", "d/out.tra", "transitions", "d/out1.srew", "one", "d/out2.srew", "two")
	p := &prism{say: func(string) string { return "" }, files: []runner.File{
		{Name: "tmp.out.sta", Data: []byte("states")}, {Name: "tmp.out.tra", Data: []byte("transition\n")}, {Name: "tmp.out1.srew", Data: []byte("one")},
	}}
	rep := test(t, fsys, regress.Options{}, p.engine())
	compare(t, lines(rep), `
fail d/out.tra:1: the export out.tra differs from line 1 on
pass d/out.sta:0
pass d/out1.srew:0
fail d/out2.srew:0: the export out2.srew was not written`)
	want := "coin.prism -exportmodel tmp.out.all:headers=false -importtrans coin.tra -exportrewards stdout tmp.out.trew -exportlabels tmp.none.lab -ex -testall"
	if args := strings.Join(p.runs[0].Args, " "); args != want {
		t.Errorf("args %s\nwant %s", args, want)
	}
	if got := fmt.Sprint(p.runs[0].Collect); got != "[tmp.out.tra tmp.out.sta tmp.out1.srew tmp.out2.srew]" {
		t.Errorf("collects %s", got)
	}
}

// TestPRISMSampling: terms of sampling make a run of their own, which is not kept.
func TestPRISMSampling(t *testing.T) {
	fsys := files("coin.prism", coin, "coin.prism.props", "// RESULT: 1/3\n// TILECHECK: samples=1000 maxpath=50\nP=? [ F s=1 ];\n// RESULT: 2/3\n\"x\": P=? [ F s=2 ];",
		"coin.prism.props.args", "-exportmodel out.tra\n")
	p := &prism{say: func(args string) string {
		if strings.Contains(args, "-sim") {
			return listed("P=? [ F s=1 ]", "\"x\": P=? [ F s=2 ]") + "---------------------------------------------------------------------\n\nSimulating: P=? [ F s=1 ]\n\n" +
				"Simulation method: CI (Confidence Interval)\nSimulation method parameters: width=unknown, confidence=0.001, number of samples=1000\n" +
				"Simulation parameters: max path length=50\n\nSampling complete: 1000 iterations in 0.01 seconds (average 0.00001)\n" +
				"Path length statistics: average 1.0, min 1, max 1\nSimulation result details: confidence interval is 0.34 +/- 0.01, based on 99.9% confidence level\n\n" +
				"Result: 0.34 (+/- 0.01 with probability 0.999; rel err 0.03)\n"
		}
		return listed("P=? [ F s=1 ]", "\"x\": P=? [ F s=2 ]") + section("\"x\": P=? [ F s=2 ]", "", "Result: 0.6666666666666666 (exact floating point)")
	}}
	c := newCache(t)
	for range 2 {
		rep := test(t, fsys, regress.Options{Cache: c, Flakes: 0.001}, p.engine())
		compare(t, lines(rep), "pass coin.prism.props:3\npass coin.prism.props:5")
	}
	var got []string
	for _, c := range p.runs {
		got = append(got, strings.Join(c.Args, " "))
	}
	compare(t, strings.Join(got, "\n"), `
coin.prism coin.prism.props -prop 1 -sim -simmethod ci -simsamples 1000 -simconf 0.001 -simpathlen 50 -ex -testall
coin.prism coin.prism.props -exportmodel tmp.out.tra -prop 2 -ex -testall
coin.prism coin.prism.props -prop 1 -sim -simmethod ci -simsamples 1000 -simconf 0.001 -simpathlen 50 -ex -testall`)
}

// TestExports: what the embedded engine writes is compared with the files that
// there are; what it cannot write is refused by name.
func TestExports(t *testing.T) {
	fsys := fstest.MapFS{}
	for name, f := range own(t) {
		if strings.HasPrefix(name, "export/") {
			fsys[name] = f
		}
	}
	fsys["export/ring.tra"].Data = append(fsys["export/ring.tra"].Data, "0 0 0 1\n"...)
	fsys["export/x.prism"] = &fstest.MapFile{Data: []byte(coin)}
	fsys["export/x.prism.auto"] = &fstest.MapFile{Data: []byte("-exportmodel gone.tra\n-exportmodel ring.lab:text\n-exportbsccs ring.sta\n-exportlabels ring.dot -exportmodelprecision 99\n")}
	rep := test(t, fsys, regress.Options{})
	var got []string
	for _, l := range strings.Split(lines(rep), "\n") {
		if !strings.HasPrefix(l, "pass") {
			got = append(got, l)
		}
	}
	compare(t, strings.Join(got, "\n"), `
fail export/ring.tra:13: the export ring.tra differs from line 13 on
unchecked export/x.prism:0: there is no property, and no exported file to compare with
unsupported export/ring.lab:0: the option text of -exportmodel
unsupported export/ring.sta:0: this export (-exportbsccs)
error export/ring.dot:0: found precision 99, wanted 1 to 17 significant digits (other)`)
	if n := strings.Count(lines(rep), "pass"); n != 11 {
		t.Errorf("%d exports and properties pass", n)
	}
	for _, r := range rep.Results {
		if r.Outcome == report.TestFailed && r.Got != `"0 0 0 1" instead of ""` && r.Got != `"" instead of "0 0 0 1"` {
			t.Errorf("got %s", r.Got)
		}
	}
}

// TestImports: states that are imported are checked like those of a model.
func TestImports(t *testing.T) {
	fsys := fstest.MapFS{}
	for name, f := range own(t) {
		if ext := name[strings.LastIndexByte(name, '.')+1:]; strings.HasPrefix(name, "export/ring") && ext != "prism" && ext != "auto" && ext != "props" {
			fsys["d/"+name] = f
		}
	}
	fsys["d/read.props"] = &fstest.MapFile{Data: []byte("// RESULT: 1\nPmax=? [ F \"lost\" ];\n// RESULT: 0.5\nPmin=? [ F \"lost\" ];")}
	fsys["d/read.auto"] = &fstest.MapFile{Data: []byte("-importmodel export/ring.all -mdp read.props\n-importmodel export/ring.all -exportmodel export/ring.tra\n" +
		"-importmodel gone.tra -mdp\n-importtrans export/ring.xz\n-importresults x.csv\n")}
	// The words of an .auto file name a model first: with imports there is none.
	rep := test(t, fsys, regress.Options{})
	compare(t, lines(rep), `
pass d/read.props:2
fail d/read.props:4: Wrong result (expected 0.5, abs err = 0.5 > 0.0)
pass d/export/ring.tra:0
error d/read.auto:3: d/gone.tra: no such file to import
unsupported d/read.auto:4: imports of .xz files (-importtrans)
unsupported d/read.auto:5: imports (-importresults)`)
}

// TestPRISMConstants: PRISM prints 12 digits of doubles, and fractions with -exact.
// Values that it prints alike belong to verdicts in their order.
func TestPRISMConstants(t *testing.T) {
	for _, tt := range []struct{ args, first, second string }{
		{"-const p=1/3:1/3:2/3", "p=0.333333333333", "p=0.666666666667"},
		{"-const p=1/3:1/3:2/3 -exact", "p=1/3", "p=2/3"},
	} {
		fsys := files("coin.prism", strings.Replace(coin, "p = 1/3", "p", 1), "coin.prism.props", "// RESULT: p\nP=? [ F s=1 ];", "coin.prism.props.args", tt.args)
		p := &prism{say: func(string) string {
			return listed("P=? [ F s=1 ]") +
				section("P=? [ F s=1 ]", tt.first, "Result: 1/3 (exact)") + section("P=? [ F s=1 ]", tt.second, "Result: 2/3 (exact)")
		}}
		rep := test(t, fsys, regress.Options{}, p.engine())
		if got := lines(rep); strings.Count(got, "pass coin.prism.props:2 ") != 2 || len(rep.Results) != 2 {
			t.Errorf("%s:\n%s", tt.args, got)
		}
	}
}
