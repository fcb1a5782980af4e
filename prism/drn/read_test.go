package drn_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/native/space/files"
	"tilecheck/prism/drn"
	"tilecheck/result"
	"tilecheck/runner"
)

// preamble returns the lines up to @model. There are two reward structures, of which the second has no name.
func preamble(modelType, values, parameters string, states, choices int) string {
	return fmt.Sprintf("// Exported by storm\n@type: %s\n@value_type: %s\n@parameters\n%s\n@reward_models\ncost \n@nr_states\n%d\n@nr_choices\n%d\n@model\n", modelType, values, parameters, states, choices)
}

// The states of two files. Functions of the parameters p and x are between < and >. The variable of files without parameters is called x, too.
const (
	decision = `state 0 [0,0] init
	action 0 [<p>,0]
		1 : <p>
		2 : <1-p>
	action 1 [2,<x>]
		1 : <x>
		3 : <(-1)*x+1>
	action b [0, 0]
		2 : 1
state 1 [3, 1] goal "two"
	action 0 [0,0]
		1 : 1
state 2 [1,0]
//[s=2]
	action a
		1 : <(p+x)/2>
		2 : <(-1*(p+x))/(2)+1>
state 3 [0,<x^2>] two init
	action __NOLABEL__ [0,0]
		1 : 1
`
	queue = `state 0 !<2*p> [1,0] init
	action 0 [0,1]
		0 : <p>
		1 : <p>
state 1 !<(p+x)> [<x>, 0]
	action 0 [1, <x>]
		0 : <p>
		2 : <x>
state 2 !1 [0,0] goal two
	action 0 [0,0]
		2 : 1
`
)

// numbers has the functions of the files at p=1/4, x=1/2.
var numbers = map[string]string{
	"p": "0.25", "x": "0.5", "1-p": "0.75", "(-1)*x+1": "0.5", "(p+x)/2": "0.375", "(-1*(p+x))/(2)+1": "0.625", "x^2": "0.25", "2*p": "0.5", "(p+x)": "0.75",
}

var function = regexp.MustCompile("<[^>]*>")

// withParameters returns a file whose functions stay functions.
func withParameters(modelType, states string, numStates, numChoices int) string {
	return preamble(modelType, "parametric", "p x ", numStates, numChoices) + strings.NewReplacer("<", "", ">", "").Replace(states)
}

// withPlaceholders returns a file in which each function has a placeholder, as Storm writes it by default.
func withPlaceholders(modelType, states string, numStates, numChoices int) string {
	placeholders, names := "@placeholders\n", map[string]string{}
	states = function.ReplaceAllStringFunc(states, func(text string) string {
		if names[text] == "" {
			names[text] = fmt.Sprintf("$%d", len(names))
			placeholders += names[text] + " : " + strings.Trim(text, "<>") + "\n"
		}
		return names[text]
	})
	return strings.Replace(withParameters(modelType, states, numStates, numChoices), "@reward_models", placeholders+"@reward_models", 1)
}

// withNumbers returns a file with the values of the functions.
func withNumbers(modelType, states string, numStates, numChoices int) string {
	value := func(text string) string { return numbers[strings.Trim(text, "<>")] }
	return preamble(modelType, "double", "", numStates, numChoices) + function.ReplaceAllStringFunc(states, value)
}

// answers returns the verdicts on a job, which must have no errors.
func answers(t *testing.T, job *runner.Job) []result.Verdict {
	t.Helper()
	job.Numeric.Accuracy = result.Exact
	verdicts, err := runner.Check(t.Context(), native.New(), *job)
	if err != nil {
		t.Fatal(err)
	}
	for _, verdict := range verdicts {
		if verdict.Err != nil {
			t.Fatalf("%s: %v", verdict.Property, verdict.Err)
		}
	}
	return verdicts
}

// TestRead compares a model with parameters, at a point, with the file in which the numbers of this point stand for the functions.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		modelType, states     string
		numStates, numChoices int
		properties            []string
	}{
		{"MDP", decision, 4, 6, []string{
			`filter(min, Pmin=? [ F<=1 "two" ], "init")`, `filter(sum, Pmax=? [ F<=2 "goal" ], true)`, `filter(sum, R{"cost"}max=? [ F "goal" ], true)`,
			`filter(sum, R{2}max=? [ F "goal" ], true)`, `filter(sum, R{"cost"}min=? [ F "goal" ], true)`, `filter(count, "init")`,
		}},
		{"CTMC", queue, 3, 3, []string{`filter(sum, P=? [ X "two" ], true)`, `R{"cost"}=? [ F "goal" ]`, `R{2}=? [ F "goal" ]`, `filter(count, "init")`}},
	} {
		withFunctions := withParameters(test.modelType, test.states, test.numStates, test.numChoices)
		source := files.Source{Name: "n.drn", Text: []byte(withNumbers(test.modelType, test.states, test.numStates, test.numChoices))}
		space, err := files.Open(t.Context(), files.Sources{Transitions: source}, "drn", files.ReadOptions{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		wanted := answers(t, &runner.Job{File: "n.drn", States: space, Props: test.properties})
		for _, text := range []string{strings.ReplaceAll(withFunctions, "\n", "\r\n"), withPlaceholders(test.modelType, test.states, test.numStates, test.numChoices)} {
			found := answers(t, &runner.Job{File: "m.drn", Model: []byte(text), Props: test.properties, Consts: []string{"p=1/4,x=1/2"}})
			for i, want := range wanted {
				if want.Value.Rat == nil || found[i].Value.Rat == nil || found[i].Value.Rat.Cmp(want.Value.Rat) != 0 {
					t.Errorf("%s is %v with parameters, and %v with numbers, in\n%s", want.Property, found[i].Value.Rat, want.Value.Rat, text)
				}
			}
		}
	}
}

// TestFunction wants the values of a CTMC as functions of its parameters.
func TestFunction(t *testing.T) {
	t.Parallel()
	job := &runner.Job{
		File: "m.drn", Model: []byte(withParameters("CTMC", queue, 3, 3)), Params: []string{"p=1:2", "x=1:2"},
		Props: []string{`R{2}=? [ F "goal" ]`},
	}
	// With a = 2+b from state 0, which takes two jumps on average, and b = x + p/(p+x)*a from state 1.
	const want = "(p*x+2*p+x^2+2*x)/x"
	if verdict := answers(t, job)[0]; verdict.Value.Formula != want {
		t.Errorf("found %s, want %s", verdict.Value.Formula, want)
	}
}

// TestHasFunctions tells files with parameters from others.
func TestHasFunctions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		withParameters("MDP", decision, 4, 6):              true,
		"@type: DTMC\r\n@parameters\r\nq\r\n":              true,
		"@nr_states\n@parameters\n@parameters\nq\n":        true,
		withNumbers("MDP", decision, 4, 6):                 false,
		"@value_type: parametric\n@parameters\n\n@model\n": true,
		"@placeholders\n$0 : 1/2\n":                        true,
		"@type: DTMC\n@model\n@parameters\np\n":            false,
		"// @parameters\ndtmc\n@parameters\np\n":           false,
		"":                                                 false,
		"@parameters":                                      false,
		"dtmc\nmodule m\n x:[0..1];\nendmodule\n@param\n":  false,
	} {
		if drn.HasFunctions([]byte(text)) != want {
			t.Errorf("%q: found %v", text, !want)
		}
	}
}

// TestErrors wants the place of what is wrong in a file.
func TestErrors(t *testing.T) {
	t.Parallel()
	good := withParameters("MDP", decision, 4, 6)
	for _, test := range []struct{ old, replacement, want string }{
		{"@type: MDP", "@type: POMDP", `m.drn:2:1: found a model of type POMDP with parameters, only DTMCs, CTMCs and MDPs can have them`},
		{"@type: MDP", "@type: MA", `m.drn:2:1: found a model of type Markov automaton with parameters, only DTMCs, CTMCs and MDPs can have them`},
		{"parametric", "double-interval", `m.drn:3:1: found values of type double-interval in a model with parameters`},
		{"p x", "p true", `m.drn:5:3: found the parameter "true", wanted a name that PRISM's language does not reserve`},
		{"@nr_states\n4", "@nr_states\nfour", `m.drn:9:1: found "four", wanted a number`},
		{"@nr_states\n4", "@nr_states\n5", `m.drn:33:1: found 4 states, wanted 5 as @nr_states says`},
		{"@nr_choices\n6", "@nr_choices\n7", `m.drn:33:1: found 6 choices, wanted 7 as @nr_choices says`},
		{"@nr_states", "@placeholders\n$0 = p\n@nr_states", `m.drn:9:1: found "$0 = p", wanted a placeholder such as $0 : p`},
		{"@nr_states", "@placeholders\n0 : p\n@nr_states", `m.drn:9:1: found "0 : p", wanted a placeholder such as $0 : p`},
		{"@nr_states", "@placeholders\n$0 : p\n$0 : x\n@nr_states", `m.drn:10:1: found a second placeholder $0, wanted one`},
		{"@nr_states", "@placeholders\n$0 : $1\n@nr_states", `m.drn:9:6: found the placeholder "$1", wanted one that is defined after @placeholders`},
		{"@nr_states", "@placeholders\n$0 : 1+\n@nr_states", `m.drn:9:7: found end of file, want an expression`},
		{"@nr_states", "@placeholders\n$0 : p\n@nr_choices\n6\n$1 : p\n@nr_states", `m.drn:12:1: found "$1 : p", wanted a keyword such as @type: or @model`},
		{"1 : p", "1 : $0", `m.drn:15:7: found the placeholder "$0", wanted one that is defined after @placeholders`},
		{"@nr_states", "@states", `m.drn:8:1: found "@states", wanted a keyword such as @type: or @model`},
		{"@type: MDP\n", "", `m.drn:11:1: found no @type, wanted one before @model`},
		{"@model", "", `m.drn:13:1: found "state 0 [0,0] init", wanted a keyword`},
		{"state 1", "state 2", `m.drn:22:7: found state 2, wanted state 1: every state once and in order`},
		{"state 1", "state 1 !2", `m.drn:22:9: found "!2 [3, 1] goal \"two\"", wanted the exit rate, such as !2.5, in a CTMC or a Markov automaton and only there`},
		{`"two"`, `two two`, `m.drn:22:25: found label "two" again, wanted each once`},
		{"2 : 1-p", "1 : 1-p", `m.drn:16:3: found a second transition to state 1, wanted one`},
		{"[3, 1]", "[3]", `m.drn:22:9: found 1 rewards, wanted 2: one per name after @reward_models`},
		{"[3, 1]", "[3, 1", `m.drn:22:9: found no ], wanted one after the rewards`},
		{"[3, 1]", "[3, 1+]", `m.drn:22:14: found end of file, want an expression`},
		{`"two"`, `"two`, `m.drn:22:21: found "\"two", wanted a label with a quote at both ends`},
		{"action b [0, 0]", "action 1b", `m.drn:20:9: found the action "1b", wanted a name`},
		{"action b [0, 0]", "action b [0, 0] 7", `m.drn:20:18: found "7", wanted the end of the line`},
		{"action b [0, 0]\n\t\t2 : 1\n", "action b [0, 0]\n", `m.drn:20:9: found an action without transitions, wanted at least one`},
		{"\taction 0 [0,0]\n\t\t1 : 1\n", "", `m.drn:22:7: found no action in state 1, wanted at least one`},
		{"1 : p", "1 is p", `m.drn:15:3: found "1 is p", wanted state, action or a transition such as 3 : 0.25`},
		{"1 : p", "4 : p", `m.drn:15:3: found state 4, wanted one below 4`},
		{"2 : 1-p", "2 : 1-*p", `m.drn:16:9: found "*"`},
		{"2 : 1-p", "2 : 1-q", `m.drn:16:9: undeclared identifier "q"`},
		{"state 0 [0,0] init\n", "", `m.drn:13:9: found an action, wanted a state before it`},
		{"action b", "action c", ""},
		{"action 1 [2,x]", "action b [2,x]", `m.drn:17:9: found choices of state 0 with the action b and different rewards`},
	} {
		text := strings.Replace(good, test.old, test.replacement, 1)
		_, err := runner.NewPlan(t.Context(), runner.Job{File: "m.drn", Model: []byte(text), Props: []string{"Pmax=? [ F x_=1 ]"}, Consts: []string{"p=1/4,x=1/2"}})
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q for %q: %v, want %s", test.replacement, test.old, err, test.want)
		}
	}
	if _, err := drn.Read("m.drn", []byte(strings.TrimSuffix(good, "\n"))); err == nil || !strings.Contains(err.Error(), "m.drn:32:8: the last line does not end") {
		t.Errorf("without the end of the last line: %v", err)
	}
	for _, name := range []string{"init", "two"} {
		text := strings.ReplaceAll(good, " "+name, "")
		if _, err := drn.Read("m.drn", []byte(text)); (err != nil) != (name == "init") {
			t.Errorf("without the label %s: %v", name, err)
		}
	}
}

// TestDeadlock compares the labels of a file whose values have @value_type: parametric, without parameters, with those of the same file of numbers: a
// deadlock, and a label that holds in no state.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	numbers := "// Labels of no state: \"none\"\n" + preamble("DTMC", "rational", "", 3, 3) +
		"state 0 [0,0] init\n\taction 0 [0,0]\n\t\t1 : 1/4\n\t\t2 : 3/4\nstate 1 [0,0] deadlock\n\taction 0 [0,0]\n\t\t1 : 1\nstate 2 [0,0]\n\taction 0 [0,0]\n\t\t2 : 1\n"
	properties := []string{`P=? [ F "deadlock" ]`, `P=? [ F "none" ]`}
	space, err := files.Open(t.Context(), files.Sources{Transitions: files.Source{Name: "n.drn", Text: []byte(numbers)}}, "drn", files.ReadOptions{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	wanted := answers(t, &runner.Job{File: "n.drn", States: space, Props: properties})
	found := answers(t, &runner.Job{File: "m.drn", Model: []byte(strings.Replace(numbers, "rational", "parametric", 1)), Props: properties})
	for i, text := range []string{"1/4", "0"} {
		if wanted[i].Value.Rat.RatString() != text || found[i].Value.Rat.RatString() != text {
			t.Errorf("%s is %v as parametric, and %v with numbers, want %s", properties[i], found[i].Value.Rat, wanted[i].Value.Rat, text)
		}
	}
	withReward := strings.Replace(numbers, "deadlock\n\taction 0 [0,0]", "deadlock\n\taction 0 [0,1]", 1)
	if _, err := drn.Read("m.drn", []byte(withReward)); err == nil || !strings.Contains(err.Error(), "m.drn:19:12: found a reward of the self-loop of a deadlock") {
		t.Error(err)
	}
}

// FuzzRead checks that each text gives an error or a model, and no panic.
func FuzzRead(f *testing.F) {
	f.Add([]byte(withParameters("MDP", decision, 4, 6)))
	f.Add([]byte(withParameters("CTMC", queue, 3, 3)))
	f.Add([]byte(withPlaceholders("CTMC", queue, 3, 3)))
	f.Fuzz(func(t *testing.T, text []byte) {
		model, err := drn.Read("m.drn", text)
		if err == nil && model == nil {
			t.Error("no model and no error")
		}
	})
}
