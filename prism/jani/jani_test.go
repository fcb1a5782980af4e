package jani_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/result"
	"tilecheck/runner"
)

// meanings are documents, the number of their states, and exact values of their
// properties, all of them found by hand.
var meanings = []struct {
	name, text string
	states     int
	values     map[string]string
}{
	{
		"destinations have rewards: three tries of 1/10*3 + 9/10*2",
		document("dtmc", variables(cost, bounded("x", 0, 3, "0")), []string{automaton("a", "", []string{"l"},
			edge("l", op("<", "x", 3), likely("0.1", "l", set("x", op("+", "x", 1)), set("cost", "3")), likely("0.9", "l", set("x", op("+", "x", 1)), set("cost", "2"))))},
			system("a"), property("c", expected("Emin", "cost", `"steps"`, `, "reach": `+op("=", "x", 3)))),
		4,
		map[string]string{"c": "63/10"},
	},
	{
		"what is selected is a choice, in each destination another one",
		document("mdp", variables(bounded("x", 0, 9, "0")), []string{automaton("a", "", []string{"l", "end"},
			edge("l", "", likely("0.5", "end", set("x", selection("1", "3"))), likely("0.5", "end", set("x", op("+", 3, selection("1", "2"))))))},
			system("a"), property("one", eventually("Pmax", op("=", "x", 2))), property("both", eventually("Pmax", op("∨", op("=", "x", 2), op("=", "x", 5)))),
			property("none", eventually("Pmin", op("=", "x", 2)))),
		6,
		map[string]string{"one": "1/2", "both": "1", "none": "0"},
	},
	{
		"an automaton twice: two counters and what both do",
		document("lts", "", []string{automaton("c", bounded("x", 0, 2, "0"), []string{"l", "end"},
			edge("l a", op("<", "x", 2), to("l", set("x", op("+", "x", 1)))), edge("l b", op("=", "x", 2), to("end")))},
			system("c c", "a,-:a1", "-,a:a2", "b,b")),
		10, nil,
	},
	{
		"null entries leave out, and actions in no vector never happen",
		document("lts", "", []string{automaton("c", bounded("x", 0, 2, "0"), []string{"l", "end"},
			edge("l a", op("<", "x", 2), to("l", set("x", op("+", "x", 1)))), edge("l b", op("=", "x", 2), to("end")))},
			system("c c", "a,-:a1", "b,b")),
		3, nil,
	},
	{
		"two vectors of one action each have their partners",
		document("mdp", "", []string{
			automaton("a", "", []string{"l"}, edge("l go", "", to("l"))),
			automaton("b", bounded("y", 0, 1, "0"), []string{"l"}, edge("l go", "", to("l", set("y", "1")))),
			automaton("c", bounded("z", 0, 1, "0"), []string{"l"}, edge("l go", "", to("l", set("z", "1")))),
		}, system("a b c", "go,go,-:go", "go,-,go:go")),
		4, nil, // y and z, each for itself
	},
	{
		"what is assigned at one index reads what was before",
		document("dtmc", variables(bounded("x", 0, 3, "1"), bounded("y", 0, 3, "2")), []string{automaton("a", "", []string{"l", "end"},
			edge("l", "", to("end", set("x", `"y"`), set("y", `"x"`))))}, system("a"),
			property("swapped", eventually("Pmin", op("∧", op("=", "x", 2), op("=", "y", 1))))),
		2,
		map[string]string{"swapped": "1"},
	},
	{
		"what is assigned at a greater index reads what the partner assigned",
		document("dtmc", variables(bounded("x", 0, 3, "1"), `{"name": "message", "type": "int", "transient": true, "initial-value": 0}`, bounded("y", 0, 3, "0")), []string{
			automaton("a", "", []string{"l", "end"}, edge("l send", "", to("end", set("message", op("+", "x", 1)), set("x@1", "0")))),
			automaton("b", "", []string{"l"}, edge("l get", "", to("l", set("y@1", op("+", "message", "x"))))),
		}, system("a b", "send,get:m"),
			property("p", eventually("Pmin", op("∧", op("=", "x", 0), op("=", "y", 3))))),
		2,
		map[string]string{"p": "1"},
	},
	{
		"two automata write one variable in steps with actions",
		document("mdp", variables(bounded("x", 0, 3, "0")), []string{
			automaton("a", "", []string{"l"}, edge("l inc", op("<", "x", 3), to("l", set("x", op("+", "x", 1))))),
			automaton("b", "", []string{"l"}, edge("l dec", op(">", "x", 1), to("l", set("x", "0")))),
		}, system("a b", "inc,-:inc", "-,dec:dec"), property("p", eventually("Pmax", op("=", "x", 3)))),
		4,
		map[string]string{"p": "1"},
	},
	{
		"edges of one action earn differently, by who earns",
		document("mdp", variables(cost, end), []string{
			automaton("a", "", []string{"l", "end end=true"}, edge("l go", "", to("end", set("cost", "2"))), edge("l go", "", to("end", set("cost", "7"))), edge("l go", "", to("end"))),
			automaton("b", "", []string{"l"}, edge("l go", "", to("l"))),
		}, system("a b", "go,go:go"),
			property("least", expected("Emin", "cost", `"steps"`, `, "reach": "end"`)),
			property("most", expected("Emax", "cost", `"steps"`, `, "reach": "end"`))),
		2,
		map[string]string{"least": "0", "most": "7"},
	},
	{
		"silent edges earn, too, and states where they are left",
		document("dtmc", variables(cost, end), []string{automaton("a", "", []string{"l cost=10", "m", "end end=true"},
			edge("l", "", to("m", set("cost", "1"))), edge("m", "", to("end", set("cost", "2"))))}, system("a"),
			property("steps", expected("Emin", "cost", `"steps"`, `, "reach": "end"`)),
			property("exits", expected("Emin", "cost", `"exit"`, `, "reach": "end"`)),
			property("both", expected("Emin", "cost", `"steps", "exit"`, `, "reach": "end"`)),
			property("count", expected("Emin", "{\"op\": \"+\", \"left\": 1, \"right\": 0}", `"steps"`, `, "reach": "end"`)),
			property("first", expected("Emin", "cost", `"steps", "exit"`, `, "step-instant": 1`))),
		3,
		map[string]string{"steps": "3", "exits": "10", "both": "13", "count": "2", "first": "11"},
	},
	{
		"rates multiply: the step has rate 6, half of it",
		document("ctmc", variables(end), []string{
			automaton("a", "", []string{"l", "end end=true"}, rated("2", edge("l go", "", likely("0.5", "end"), likely("0.5", "l")))),
			automaton("b", "", []string{"l"}, rated("3", edge("l go", "", to("l")))),
		}, system("a b", "go,go:go"), property("time", expected("Emin", "{\"op\": \"*\", \"left\": 1, \"right\": 1}", `"time"`, `, "reach": "end"`))),
		2,
		map[string]string{"time": "1/3"},
	},
	{
		// From start the one who decides takes the slow or the fast way; where she can
		// decide, no time passes. On the way two automata race.
		"a Markov automaton: maximal progress, races, and rewards of time and of edges",
		document("ma", variables(cost, end), []string{
			automaton("a", "", []string{"start", "slow cost=2", "fast", "done end=true"},
				edge("start", "", to("slow")), edge("start", "", to("fast")), rated("100", edge("start", "", to("done"))),
				rated("1", edge("slow", "", likely("0.5", "done"), likely("0.5", "slow"))),
				rated("4", edge("fast", "", to("done", set("cost", "3"))))),
			automaton("b", "", []string{"on", "off"}, rated("1", edge("on", "", to("off")))),
		}, system("a b"),
			property("reached", eventually("Pmin", "end")),
			property("least", expected("Emin", "{\"op\": \"*\", \"left\": 1, \"right\": 1}", `"time"`, `, "reach": "end"`)),
			property("most", expected("Emax", "{\"op\": \"*\", \"left\": 1, \"right\": 1}", `"time"`, `, "reach": "end"`)),
			property("steps", expected("Emax", "cost", `"steps"`, `, "reach": "end"`)),
			property("earned", expected("Emin", "cost", `"time"`, `, "reach": "end"`)),
			property("both", expected("Emax", "cost", `"time", "steps"`, `, "reach": "end"`)),
			property("exits", expected("Emax", "cost", `"exit"`, `, "reach": "end"`)),
		),
		7,
		// Of the steps in slow, 2 are its own on average, and 2/3 is the chance of one of b.
		map[string]string{"reached": "1", "least": "1/4", "most": "2", "steps": "3", "earned": "0", "both": "4", "exits": "16/3"},
	},
	{
		"functions and operators that PRISM lacks",
		document("dtmc", `"functions": [{"name": "twice", "type": "int", "parameters": [{"name": "n", "type": "int"}], "body": `+op("*", 2, "n")+`}],`+
			variables(bounded("x", -9, 9, "-3"), bounded("y", -9, 9, "0"), bounded("z", -9, 9, "0"), bounded("w", -9, 9, "0")), []string{automaton("a", "", []string{"l", "end"},
			edge("l", "", to("end", set("x", `{"op": "abs", "exp": "x"}`), set("y", `{"op": "sgn", "exp": "x"}`), set("z", `{"op": "trc", "exp": `+op("/", "x", 2)+`}`),
				set("w", `{"op": "call", "function": "twice", "args": [{"op": "call", "function": "twice", "args": [2]}]}`))))}, system("a"),
			property("p", eventually("Pmin", op("∧", op("∧", op("=", "x", 3), op("=", "y", -1)), op("∧", op("=", "z", -1), op("=", "w", 8)))))),
		2,
		map[string]string{"p": "1"},
	},
	{
		"arrays of known length: elements by constants and by variables",
		document("dtmc", variables(`{"name": "a", "type": {"kind": "array", "base": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}},
			"initial-value": {"op": "ac", "var": "i", "length": 3, "exp": `+op("*", "i", "i")+`}}`, bounded("k", 0, 2, "2")), []string{automaton("b", "", []string{"l", "end"},
			edge("l", op("=", `{"op": "aa", "exp": "a", "index": "k"}`, 4), to("end",
				set(`{"op": "aa", "exp": "a", "index": {"op": "-", "left": "k", "right": 1}}`, "7"), set(`{"op": "aa", "exp": "a", "index": 0}`, `{"op": "aa", "exp": "a", "index": "k"}`))))},
			system("b"), property("p", eventually("Pmin", op("∧", op("=", `{"op": "aa", "exp": "a", "index": 0}`, 4), op("=", `{"op": "aa", "exp": "a", "index": 1}`, 7))))),
		2,
		map[string]string{"p": "1"},
	},
	{
		"an input-enabled partner does nothing where it has no edge",
		strings.Replace(document("mdp", variables(bounded("x", 0, 2, "0"), bounded("y", 0, 1, "0")), []string{
			automaton("a", "", []string{"l"}, edge("l go", op("<", "x", 2), to("l", set("x", op("+", "x", 1))))),
			automaton("b", "", []string{"l"}, edge("l go", op("=", "x", 1), to("l", set("y", "1")))),
		}, system("a b", "go,go:go"), property("p", eventually("Pmin", op("∧", op("=", "x", 2), op("=", "y", 1))))), `{"automaton": "b"}`, `{"automaton": "b", "input-enable": ["go"]}`, 1),
		3,
		map[string]string{"p": "1"}, // (0,0), (1,0), (2,1)
	},
	{
		"without input-enable it blocks",
		document("mdp", variables(bounded("x", 0, 2, "0"), bounded("y", 0, 1, "0")), []string{
			automaton("a", "", []string{"l"}, edge("l go", op("<", "x", 2), to("l", set("x", op("+", "x", 1))))),
			automaton("b", "", []string{"l"}, edge("l go", op("=", "x", 1), to("l", set("y", "1")))),
		}, system("a b", "go,go:go"), property("p", eventually("Pmax", op("=", "x", 1)))),
		1,
		map[string]string{"p": "0"},
	},
	{
		"two initial locations are two initial states",
		strings.Replace(document("mdp", variables(end), []string{automaton("a", "", []string{"l", "m", "end end=true"},
			edge("l", "", likely("0.5", "end"), likely("0.5", "l")), edge("m", "", to("m")))}, system("a"),
			`{"name": "sum", "expression": {"op": "filter", "fun": "sum", "states": {"op": "initial"}, "values": `+eventually("Pmax", "end")+`}}`),
			`"initial-locations": ["l"]`, `"initial-locations": ["l", "m"]`, 1),
		3,
		map[string]string{"sum": "1"}, // 1 from l, and 0 from m
	},
	{
		"locals of one name in two automata, written silently and by a step",
		document("mdp", variables(bounded("n", 0, 4, "0"), end), []string{
			automaton("a", bounded("x", 0, 1, "0"), []string{"l"}, edge("l", op("=", "x", 0), to("l", set("x", "1"), set("n", op("+", "n", 1))))),
			automaton("b", bounded("x", 0, 1, "0"), []string{"l", "end end=true"}, edge("l", op("=", "x", 0), to("l", set("x", "1"), set("n", op("+", "n", 1)))),
				edge("l done", op("=", "n", 2), to("end", set("n", "4")))),
		}, system("a b", "-,done:done"), property("p", eventually("Pmin", op("=", "n", 4)))),
		5,
		map[string]string{"p": "1"}, // four of the two locals, and the end
	},
	{
		"bounds on rewards: two edges, each of which succeeds with 1/2, and one costs less",
		document("mdp", variables(cost, end, bounded("only", 2, 2, "2")), []string{automaton("a", "", []string{"l", "end end=true"},
			edge("l dear", "", likely("0.5", "l", set("cost", "3")), likely("0.5", "end", set("cost", "3"))),
			edge("l cheap", "", likely("0.25", "end", set("cost", "1")), likely("0.75", "l", set("cost", "1"))))}, system("a"),
			property("all", `{"op": "Pmax", "exp": {"op": "F", "exp": "end", "reward-bounds": [{"exp": "cost", "accumulate": ["steps"], "bounds": {"upper": 4}}]}}`),
			property("less", `{"op": "Pmax", "exp": {"op": "F", "exp": "end", "reward-bounds": [{"exp": "cost", "accumulate": ["steps"], "bounds": {"upper": 3, "upper-exclusive": true}}]}}`)),
		2,
		map[string]string{"all": "175/256", "less": "7/16"},
	},
	{
		"a variable without initial value has any, and restrict-initial says which",
		strings.Replace(document("mdp", variables(bounded("x", 0, 3, ""), bounded("y", 0, 1, "1")), []string{automaton("a", "", []string{"l"},
			edge("l", op("<", "x", 3), to("l", set("x", op("+", "x", 1)))))}, system("a"),
			`{"name": "least", "expression": {"op": "filter", "fun": "min", "states": {"op": "initial"}, "values": `+expected("Emin", "{\"op\": \"+\", \"left\": 1, \"right\": 0}", `"steps"`, `, "reach": `+op("=", "x", 3))+`}}`),
			`"automata"`, `"restrict-initial": {"exp": `+op("≠", "x", 3)+`}, "automata"`, 1),
		4,
		map[string]string{"least": "1"},
	},
	{
		"bounds of steps, and exclusive ones",
		document("dtmc", variables(bounded("x", 0, 3, "0")), []string{automaton("a", "", []string{"l"},
			edge("l", "", likely("0.5", "l", set("x", `{"op": "min", "left": 3, "right": `+op("+", "x", 1)+`}`)), likely("0.5", "l")))}, system("a"),
			property("two", `{"op": "Pmin", "exp": {"op": "F", "exp": `+op("=", "x", 2)+`, "step-bounds": {"upper": 2}}}`),
			property("below", `{"op": "Pmin", "exp": {"op": "F", "exp": `+op("=", "x", 2)+`, "step-bounds": {"upper": 3, "upper-exclusive": true}}}`),
			property("between", `{"op": "Pmin", "exp": {"op": "U", "left": `+op("<", "x", 3)+`, "right": `+op("=", "x", 1)+`, "step-bounds": {"lower": 1, "lower-exclusive": true, "upper": 3, "upper-exclusive": true}}}`),
			property("enough", `{"op": "≥", "left": `+eventually("Pmin", op("=", "x", 3))+`, "right": 1}`)),
		4,
		map[string]string{"two": "1/4", "below": "1/4", "between": "1/2", "enough": "true"},
	},
}

func TestMeaning(t *testing.T) {
	for _, c := range meanings {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkMeaning(t, c.text, c.states, c.values)
		})
	}
}

// checkMeaning checks all properties of a document in fractions.
func checkMeaning(t *testing.T, text string, states int, values map[string]string) {
	t.Helper()
	job := runner.Job{File: "test.jani", Model: []byte(text), Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}}}
	model, _, err := load.Model(context.Background(), runner.Job{File: job.File, Model: job.Model})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	space, err := explicit.Build(context.Background(), model, explicit.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := space.Model().NumStates(); got != states {
		t.Errorf("%d states, want %d", got, states)
	}
	if len(values) > 0 {
		checkValues(t, job, values)
	}
}

// checkValues checks all properties of a document.
func checkValues(t *testing.T, job runner.Job, values map[string]string) {
	t.Helper()
	verdicts, err := runner.Check(context.Background(), native.New(), job)
	if err != nil {
		t.Fatalf("%v\n%s", err, job.Model)
	}
	for _, v := range verdicts {
		got := ""
		switch {
		case v.Err != nil:
			got = v.Err.Error()
		case v.Value.Kind == result.Boolean:
			got = strconv.FormatBool(v.Value.Bool)
		case v.Value.Rat != nil:
			got = v.Value.Rat.RatString()
		}
		if got != values[v.Name] {
			t.Errorf("%s, %s: %s, want %s", v.Name, v.Property, got, values[v.Name])
		}
	}
	if len(verdicts) != len(values) {
		t.Errorf("%d verdicts, want %d", len(verdicts), len(values))
	}
}

// TestTimedAutomaton: from the start, where no time passes, one goes on at once; then
// between one and two units of time after the last time one may try, and must, and gets
// to the end every other time.
func TestTimedAutomaton(t *testing.T) {
	bound := func(operator string) string {
		return `{"op": "` + operator + `", "exp": {"op": "F", "exp": "end", "time-bounds": {"upper": 3}}}`
	}
	reach, one := `, "reach": "end"`, op("+", 1, 0)
	heat := strings.Replace(cost, "cost", "heat", 1)
	text := strings.NewReplacer(
		`{"name": "start"`, `{"name": "start", "time-progress": {"exp": false}`,
		`{"name": "try"`, `{"name": "try", "time-progress": {"exp": `+op("≤", "x", 2)+`}`,
	).Replace(document("pta", variables(`{"name": "x", "type": "clock"}`, cost, end, heat), []string{
		automaton(
			"a", "", []string{"start", "try heat=3", "end end=true"},
			edge("start", "", to("try", set("cost", "5"))),
			edge("try go", op("≥", "x", 1), likely("0.5", "end", set("cost", "1")), likely("0.5", "try", set("x", "0"), set("cost", "1")))),
	}, system("a"),
		property("soonest", bound("Pmax")), property("latest", bound("Pmin")),
		property("longest", expected("Emax", one, `"time"`, reach)), property("shortest", expected("Emin", one, `"time"`, reach)),
		property("cheapest", expected("Emin", "cost", `"steps"`, reach)), property("hottest", expected("Emax", "heat", `"time"`, reach)),
		property("steps", `{"op": "Pmax", "exp": {"op": "F", "exp": "end", "step-bounds": {"upper": 3}}}`),
		property("open", strings.Replace(bound("Pmax"), `{"upper": 3}`, `{"upper": 3, "upper-exclusive": true}`, 1))))
	job := runner.Job{File: "test.jani", Model: []byte(text), Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}}}
	checkValues(t, job, map[string]string{
		"soonest": "7/8", "latest": "1/2", "longest": "4", "shortest": "2", "cheapest": "7", "hottest": "12",
		"steps": "test.jani:12:169: bounds on the steps of a PTA are not supported, want bounds on time",
		"open":  "3/4",
	})
}

// selection is a whole number between two others, as the scheduler likes.
func selection(low, high string) string {
	return fmt.Sprintf(`{"op": "trc", "exp": {"op": "nondet", "var": "i", "exp": {"op": "∧", "left": {"op": "≤", "left": %s, "right": "i"}, "right": {"op": "≥", "left": %s, "right": "i"}}}}`, low, high)
}

// TestKnownConstants: a constant of one value is the length of an array and a bound of a selection.
func TestKnownConstants(t *testing.T) {
	array := `{"name": "q", "type": {"kind": "array", "base": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": "N"}}, "initial-value": {"op": "ac", "var": "i", "length": "N", "exp": 0}}`
	first := `{"op": "aa", "exp": "q", "index": 0}`
	// The elements move by one: the last is one beyond the array, which is not read.
	next := `{"op": "ac", "var": "i", "length": "N", "exp": {"op": "ite", "if": {"op": "<", "left": "i", "right": {"op": "-", "left": "N", "right": 1}}, "then": {"op": "aa", "exp": "q", "index": {"op": "+", "left": "i", "right": 1}}, "else": ` + selection("0", `"N"`) + `}}`
	text := document("mdp", `"constants": [{"name": "N", "type": "int"}], `+variables(array), []string{automaton("a", "", []string{"l"}, edge("l", "", to("l", set("q", next))))},
		system("a"), property("p", eventually("Pmax", op("=", first, "N"))))
	for consts, want := range map[string]int{"N=2": 9, "N=3": 64} {
		v, err := runner.Check(context.Background(), native.New(), runner.Job{File: "m.jani", Model: []byte(text), Consts: []string{consts}})
		if err != nil || v[0].Err != nil || v[0].Value.Num != 1 || v[0].States != int64(want) {
			t.Errorf("%s: %v, %v, want %d states", consts, v, err, want)
		}
	}
	if _, err := runner.Check(context.Background(), native.New(), runner.Job{File: "m.jani", Model: []byte(text), Consts: []string{"N=2:3"}}); err == nil || !strings.Contains(err.Error(), "the length of an array is unknown") {
		t.Errorf("found %v, want that the length is unknown", err)
	}
}

// TestBeyondArray: assigning to an element beyond an array, or reading it, is an error in the state that does it, in every
// dimension, and in no other one. Storm 1.14 refuses such models.
func TestBeyondArray(t *testing.T) {
	row := `{"op": "av", "elements": [0, 0]}`
	arrays := []string{
		`{"name": "a", "type": {"kind": "array", "base": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 7}}, "initial-value": ` + row + `}`,
		`{"name": "aa", "type": {"kind": "array", "base": {"kind": "array", "base": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 7}}}, "initial-value": {"op": "av", "elements": [` + row + `, ` + row + `]}}`,
	}
	at := func(array, index any) string {
		return fmt.Sprintf(`{"op": "aa", "exp": %s, "index": %s}`, operand(array), operand(index))
	}
	for _, tt := range []struct {
		ref, value string
		last       int // the value of i in the last step
		failure    string
	}{
		{at("a", "i"), "7", 1, ""},
		{at("a", "i"), "7", 2, `index 2 is outside of the array "a" of 2 elements`},
		{at("a", op("-", "i", 1)), "7", 2, `index -1 is outside of the array "a" of 2 elements`},
		{at("a", op("-", 1, "i")), "7", 1, ""},
		{at(at("aa", "i"), 0), "7", 1, ""},
		{at(at("aa", "i"), 0), "7", 2, `index 2 is outside of the array "aa" of 2 elements`},
		{at(at("aa", 1), "i"), "7", 1, ""},
		{at(at("aa", 1), "i"), "7", 2, "index 2 is outside of the array of 2 elements"},
		{at(at("aa", "i"), op("*", 2, "i")), "7", 1, "index 2 is outside of the array of 2 elements"}, // (1,2)
		{at("aa", "i"), row, 1, ""},
		{at("aa", "i"), row, 2, `index 2 is outside of the array "aa" of 2 elements`},
		{at("a", 0), at("a", "i"), 1, ""}, // reading
		{at("a", 0), at("a", "i"), 2, `index 2 is outside of the array "a" of 2 elements`},
		{at("a", 0), at(at("aa", 0), op("-", "i", 1)), 2, "index -1 is outside of the array of 2 elements"},
	} {
		step := edge("l", op("≤", "i", tt.last), to("l", set(tt.ref, tt.value), set("i", op("+", "i", 1))))
		text := document("dtmc", variables(append(arrays, bounded("i", 0, 4, "0"))...), []string{automaton("w", "", []string{"l"}, step)},
			system("w"), property("end", eventually("Pmin", op("=", "i", tt.last+1))))
		v, err := runner.Check(context.Background(), native.New(), runner.Job{File: "m.jani", Model: []byte(text)})
		if err != nil {
			t.Fatalf("%s: %v", tt.ref, err)
		}
		if f := v[0].Err; (f != nil) != (tt.failure != "") || f != nil && (f.Class != result.Model || !f.Pos.IsValid() || !strings.Contains(f.Message, tt.failure)) {
			t.Errorf("%s up to i=%d: the error %v, want one with its place: %q", tt.ref, tt.last, f, tt.failure)
		}
	}
}
