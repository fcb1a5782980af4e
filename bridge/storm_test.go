package bridge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// played is a Storm that answers each property by its text, in the words that
// recordings of Storm 1.14 have for it.
type played struct {
	// lines has what stands below the heading, by a part of the property's text
	// and, behind a blank and "with", an argument that there has to be.
	lines    map[string]string
	files    map[string]string // the file that the run exports, likewise
	states   string
	commands []runner.Command
}

func (*played) Where() string { return "recordings" }

func (p *played) Run(_ context.Context, c runner.Command) (runner.Exit, error) {
	p.commands = append(p.commands, c)
	states := p.states
	if states == "" {
		states = "4"
	}
	fmt.Fprintf(c.Stdout, "Storm 1.14.0 (dev)\n\nDate: x\nCommand line arguments: %s\nCurrent working directory: /data\n\nTime for model input parsing: 0.002s.\n\n"+
		"Time for model construction: 0.023s.\n\n-------------------------------------------------------------- \nModel type: \tMDP (sparse)\nStates: \t%s\n"+
		"Transitions: \t6\nChoices: \t5\nReward Models:  none\nState Labels: \t2 labels\n   * deadlock -> 0 item(s)\n   * init -> 1 item(s)\nChoice Labels: \tnone\n"+
		"-------------------------------------------------------------- \n\n", strings.Join(c.Args, " "), states)
	exit := runner.Exit{}
	for line := range strings.Lines(fileOf(c, "properties.props")) {
		name, text, ok := strings.Cut(strings.TrimRight(line, ";\n"), ": ")
		if !ok || !strings.HasPrefix(name, `"tilecheck_`) {
			continue
		}
		fmt.Fprintf(c.Stdout, "Model checking property %s: %s ...\n", name, text)
		fmt.Fprintln(c.Stdout, find(p.lines, text, c.Args))
		if file := find(p.files, text, c.Args); file != "" {
			exit.Files = []runner.File{{Name: "result.json", Data: []byte(file)}}
		}
	}
	return exit, nil
}

func fileOf(c runner.Command, name string) string {
	i := slices.IndexFunc(c.Files, func(f runner.File) bool { return f.Name == name })
	return string(c.Files[i].Data)
}

// find returns the answer with the longest key.
func find(answers map[string]string, text string, args []string) string {
	best := ""
	for key := range answers {
		part, arg, with := strings.Cut(key, " with ")
		if strings.Contains(text, part) && (!with || slices.Contains(args, arg)) && len(key) > len(best) {
			best = key
		}
	}
	return answers[best]
}

const unsupportedLines = " WARN (model-handling-main-cli.h:242): Cannot handle property: MissingLibraryException: Storm is compiled without Spot support.\n" +
	"ERROR (model-handling-main-cli.h:188): Property is unsupported by selected engine/settings.\n"

const rew2 = `mdp
const double q;
module m
  s : [0..3] init 0;
  [a] s=0 -> q:(s'=1) + 1-q:(s'=2);
  [b] s=0 -> (s'=3);
  [] s=1 -> (s'=3);
  [] s=2 -> (s'=3);
endmodule
rewards s=0: 1; s=1: 2; endrewards
rewards "second" [a] true: 5; [b] true: 1; endrewards
label "end" = s=3;
`

// TestStormPoints: what the recordings of Storm 1.14 showed, one by one.
func TestStormPoints(t *testing.T) {
	unreliable := "ERROR (numerical.cpp:184): Fox-Glynn: lambda = 13.26, underflow. The results are unreliable.\n"
	json := func(values ...any) string {
		var b strings.Builder
		for i, v := range values {
			label := ""
			if i == 0 {
				label = `"init"`
			}
			fmt.Fprintf(&b, `%s{"l": [%s], "s": {"s": %d}, "v": %v}`, strings.Repeat(",", min(i, 1)), label, i, v)
		}
		return "[" + b.String() + "]"
	}
	for _, test := range []struct {
		name, property string
		accuracy       result.Accuracy
		lines, files   map[string]string
		want           string
		args           string // of the last run
	}{
		{
			"one that cannot be asked costs nothing", "Pmax=? [ F s=2 ]; multi(Pmax=? [ F s=1 ], Pmax=? [ F s=2 ]); R{\"second\"}min=? [ s<2 U s=3 ]", 0,
			map[string]string{"Pmax=?": "Result (for initial states): 0.5"},
			nil,
			"0.5 claimed; unsupported 1:19; unsupported 1:81", "--sound",
		},
		{
			"LTL without Spot", "Pmax=? [ G F s=2 ]; Pmax=? [ F s=2 ]", 0,
			map[string]string{"G (F": unsupportedLines, "[ F (s=2)": "Result (for initial states): 0.5"},
			nil,
			"unsupported; 0.5 claimed", "",
		},
		{
			"a dual", "Pmax=? [ G<=2 s<3 ]", 0,
			map[string]string{"Pmin=? [ F<=2 (!(s<3)) ]": "Result (for initial states): 0.25"},
			nil, "0.75 claimed", "",
		},
		{
			"a bounded dual", "P>=0.5 [ G<=2 s<3 ]", 0,
			map[string]string{"P<=1-(0.5) [ F<=2 (!(s<3)) ]": "Result (for initial states): false\n"},
			nil, "false claimed", "",
		},
		{
			"truth values of filters", "filter(forall, P>=0.5 [ F s=3 ], s<2)", 0,
			map[string]string{"filter(values, P>=0.5": "Result (for '(s < 2)' states): {true, false}\n"},
			map[string]string{"filter(values, P>=0.5": json("true", "false")},
			"false exact", "--exportresult",
		},
		{
			"an expression", "s+1", 0, nil, nil, "1 exact, evaluated by tilecheck: Storm has no properties that are expressions", "",
		},
		{
			"arithmetic", "2*Pmax=? [ F s=2 ]+R{\"second\"}min=? [ F s=3 ]", result.Exact,
			map[string]string{"Pmax": "Result (for initial states): 1/3 (approx. 0.3333333333)", "Rmin": "", "min=?": "Result (for initial states): 1 (approx. 1)"},
			nil,
			"5/3 exact", "--exact",
		},
		{
			"an unnamed structure", "Rmin=? [ F s=3 ]", 0,
			map[string]string{`R{"tilecheck_rewards_1"}min`: "Result (for initial states): 1"},
			nil, "1 claimed", "",
		},
		{
			"a structure by number", "R{1+1}min=? [ F s=3 ]", 0,
			map[string]string{`R{"second"}min`: "Result (for initial states): 1"},
			nil, "1 claimed", "",
		},
		{
			"doubt, and another way", "R{\"second\"}max=? [ I=1 ]", 0,
			map[string]string{"I=1": "Result (for initial states): 0.25886111", "I=1 with --sound": unreliable + "Result (for initial states): 1.284570679e-322"},
			nil,
			"0.25886111 estimated, asked again without --sound, where Storm said: Fox-Glynn: lambda = 13.26, underflow. The results are unreliable.", "",
		},
		{
			"doubt, and no other way", "R{\"second\"}max=? [ I=1 ]", 0,
			map[string]string{"I=1": unreliable + "Result (for initial states): 0.25"},
			nil,
			"0.25 claimed, doubt: Fox-Glynn: lambda = 13.26, underflow. The results are unreliable.", "",
		},
		{
			"infinity in exact arithmetic", "filter(max, R{\"second\"}max=? [ F s=2 ], s<9)", result.Exact,
			map[string]string{
				"filter": "Result (for '(s < 9)' states): [0, 3] (approx. [0, 3]) (range)",
			},
			map[string]string{
				"filter": json(1, "null"), "filter with --exact": json(1, "100000000000.0"),
			},
			"+Inf estimated, infinite in floating-point arithmetic, where exact arithmetic has 100000000000 for it", "",
		},
		{
			"that number itself", "filter(max, R{\"second\"}max=? [ F s=2 ], s<9)", result.Exact,
			map[string]string{"filter": "Result (for '(s < 9)' states): [0, 3] (approx. [0, 3]) (range)"},
			map[string]string{"filter": json(1, "100000000000.0")},
			"unsupported", "",
		},
		{
			"multi-objective", "multi(Pmax=? [ F s=1 ], P>=0.5 [ F s=2 ])", result.Exact,
			map[string]string{"multi with --multiobjective:precision": "Result (for initial states): 73779597597208722643/147573952589676412928 (approx. 0.49995)"},
			nil,
			"0.49995 claimed", "--multiobjective:precision 1e-06",
		},
		{
			"infeasible, perhaps", "multi(Pmax=? [ F s=1 ], P>=0.5 [ F s=2 ])", 0,
			map[string]string{"multi": "Result (for initial states): false\n"},
			nil,
			"NaN estimated, doubt: Storm calls infeasible what may lie on the Pareto curve", "",
		},
		{ // as on simple3.nm of PRISM's suite
			"infeasible by rounding", "multi(Pmax=? [ F s=1 ], P>=0.5 [ F s=2 ])", 0,
			map[string]string{"multi": "Result (for initial states): false\n", "multi with --exact": "Result (for initial states): 1/2 (approx. 0.5)\n"},
			nil,
			"0.5 claimed, asked again with --exact, where Storm said: Storm calls infeasible what may lie on the Pareto curve", "--exact",
		},
		{ // as in conformance case pr_mdp_bound_quant: storm#1045
			"a value near its bound", "R{\"second\"}>=2 [ F s=2 ]", 0,
			map[string]string{
				"R{\"second\"}>=2": "Result (for initial states): false", "R{\"second\"}>=2 with --exact": "Result (for initial states): true",
				"R{\"second\"}min=?": "Result (for initial states): 1.999999523",
			},
			nil, "true exact, asked again with --exact: the value 1.999999523 is too near the bound for Storm to tell", "--exact",
		},
		{ // 0.8+0.1+0.1 is less than 1 in Storm's P>=1 [ F=2 true ]
			"sure after two steps", "R{\"second\"}max=? [ X X s>=0 ]", 0,
			map[string]string{"P<=0 [ F=2 (!(s>=0)) ]": "Result (for initial states): true", "C<=2": "Result (for initial states): 2"},
			nil, "2 estimated", "",
		},
		{
			"an empty filter", "filter(min, Pmax=? [ F s=2 ], s>7)", 0,
			map[string]string{"filter": "Result (for '(s > 7)' states): {}"},
			map[string]string{"filter": "null"},
			"other", "",
		},
		{
			"no file", "filter(min, Pmax=? [ F s=2 ], s>7)", 0, map[string]string{"filter": "Result (for '(s > 7)' states): {}"}, nil, "truncated", "",
		},
		{
			"a negative bound", "Pmax=? [ F[-1,1] s=2 ]", 0, nil, nil, "type", "",
		},
		{
			"a negative number of steps", "R{\"second\"}max=? [ C<=-1 ]", 0, nil, nil, "type", "",
		},
	} {
		tool := &played{lines: test.lines, files: test.files}
		vs, err := runner.Check(t.Context(), bridge.Storm(tool, bridge.Options{}), runner.Job{
			File: "m.prism", Model: []byte(rew2), PropsFile: "m.props", Properties: []byte(test.property), Consts: []string{"q=1/3"},
			Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: test.accuracy}},
		})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, v := range vs {
			got = append(got, short(v))
		}
		if got := strings.Join(got, "; "); got != test.want && !(strings.HasPrefix(got, test.want) && vs[0].Err != nil) {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
		if n := len(tool.commands); test.args != "" && (n == 0 || !strings.Contains(strings.Join(tool.commands[n-1].Args, " "), test.args)) {
			t.Errorf("%s: %d runs, want one with %s", test.name, n, test.args)
		}
	}
}

// TestInstantaneous: --sound claims a wrong reward of a CTMC at a time, without a
// word (ctmc_rewards2.sm of PRISM's suite), so the other properties alone have it.
func TestInstantaneous(t *testing.T) {
	tool := &played{lines: map[string]string{"I=0.4": "Result (for initial states): 0.3991182256", "F<=1": "Result (for initial states): 0.5"}}
	vs, err := runner.Check(t.Context(), bridge.Storm(tool, bridge.Options{}), runner.Job{
		File: "m.prism", Model: []byte("ctmc module m x:[0..1]; [] x=0 -> (x'=1); endmodule rewards x=1 : 1; endrewards"),
		Props: []string{"R=? [ I=0.4 ]", "P=? [ F<=1 x=1 ]"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := short(vs[0]) + "; " + short(vs[1]); got != "0.3991182256 estimated; 0.5 claimed" {
		t.Error(got)
	}
	for _, c := range tool.commands {
		if later := strings.Contains(fileOf(c, "properties.props"), "I="); later == slices.Contains(c.Args, "--sound") {
			t.Errorf("%v: the reward at a time is asked: %v", c.Args, later)
		}
	}
}

func short(v result.Verdict) string {
	if v.Err != nil {
		return strings.TrimSuffix(fmt.Sprintf("%s %d:%d", v.Err.Class, v.Err.Pos.Line, v.Err.Pos.Col), " 0:0")
	}
	text := fmt.Sprint(v.Value.Num)
	switch {
	case v.Value.Kind == result.Boolean:
		text = fmt.Sprint(v.Value.Bool)
	case v.Value.Rat != nil && v.Accuracy == result.Exact && !v.Value.Rat.IsInt():
		text = v.Value.Rat.RatString()
	}
	text += " " + v.Accuracy.String()
	if v.Doubt != "" {
		text += ", doubt: " + v.Doubt
	}
	for _, w := range v.Warnings {
		text += ", " + w
	}
	return text
}

// TestStormModelText: a deadlock gets a self-loop of its own and a label, if
// rewards are asked for; constants are fractions; structures have names.
func TestStormModelText(t *testing.T) {
	tool := &played{lines: map[string]string{"R": "Result (for initial states): 1"}}
	job := runner.Job{Model: []byte(rew2), Props: []string{`R{"second"}min=? [ F "deadlock" ]`}, Consts: []string{"q=1/3"}}
	if _, err := runner.Check(t.Context(), bridge.Storm(tool, bridge.Options{}), job); err != nil {
		t.Fatal(err)
	}
	model := fileOf(tool.commands[0], "model.prism")
	for _, want := range []string{
		"const double q = (1.0/3.0);", `rewards "tilecheck_rewards_1"`, "formula tilecheck_no_choice = !((s=1) | (s=2) | (s=0) | (s=0));",
		`label "tilecheck_deadlock" = tilecheck_no_choice;`, "module tilecheck_loops\n  [tilecheck_loop] tilecheck_no_choice -> true;\nendmodule",
	} {
		if !strings.Contains(model, want) {
			t.Errorf("the model lacks %s:\n%s", want, model)
		}
	}
	if got := fileOf(tool.commands[0], "properties.props"); !strings.Contains(got, `[ F "tilecheck_deadlock" ]`) {
		t.Errorf("properties %s", got)
	}
	if _, err := syntax.ParseModel("", []byte(model)); err != nil {
		t.Error(err)
	}
	job.Props = []string{`P>=1 [ F "deadlock" ]`}
	if _, err := runner.Check(t.Context(), bridge.Storm(tool, bridge.Options{}), job); err != nil {
		t.Fatal(err)
	}
	if model := fileOf(tool.commands[1], "model.prism"); strings.Contains(model, "tilecheck_loop") {
		t.Errorf("loops for a property without rewards:\n%s", model)
	}
}

// TestStormLimit: Storm takes states beyond the limit for absorbing.
func TestStormLimit(t *testing.T) {
	tool := &played{lines: map[string]string{"P": "Result (for initial states): 0.25"}, states: "100"}
	job := runner.Job{Model: []byte(rew2), Props: []string{"Pmax=? [ F s=2 ]"}, Consts: []string{"q=1/3"}, Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: 100}}}
	vs, err := runner.Check(t.Context(), bridge.Storm(tool, bridge.Options{}), job)
	if err != nil || vs[0].Err == nil || vs[0].Err.Class != result.Memory {
		t.Errorf("%+v, %v", vs, err)
	}
}

// References to properties are written out for Storm, as long as that is possible.
func TestStormReferences(t *testing.T) {
	tool := &played{lines: map[string]string{"P": "Result (for initial states): 0.25"}, states: "4"}
	text := "\"p0\": s=2;\n"
	for i := range 40 {
		text += fmt.Sprintf("\"p%d\": (\"p%d\" | \"p%d\");\n", i+1, i, i)
	}
	job := runner.Job{Model: []byte(rew2), PropsFile: "m.props", Properties: []byte(text + "Pmax=? [ F \"p40\" ]"), Consts: []string{"q=1/3"}}
	vs, err := runner.Check(t.Context(), bridge.Storm(tool, bridge.Options{}), job)
	if err != nil {
		t.Fatal(err)
	}
	if last := vs[len(vs)-1]; last.Err == nil || last.Err.Class != result.Unsupported || !strings.Contains(last.Err.Message, "more than 4096 references to properties, written out") {
		t.Errorf("%+v", last)
	}
}
