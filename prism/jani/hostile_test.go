package jani_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/jani"
	"tilecheck/runner"
)

// counter is a document with a variable from 0 up to a limit.
func counter(kind, more, limit string, properties ...string) string {
	return document(kind, more+`"variables": [{"name": "x", "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": `+limit+`}, "initial-value": 0}]`,
		[]string{automaton("a", "", []string{"l"}, edge("l", op("<", "x", 3), to("l", set("x", op("+", "x", 1)))))}, system("a"), properties...)
}

// TestErrors: what is wrong is said with its place, all of it at once.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", `{"jani-version": 1,}`, `t:1:20: found '}', want a key in quotes`},
		{"the end", `{"a": [1, 2`, `t:1:12: found the end of the file, want ',' or ']'`},
		{"a number", `{"a": 01}`, `t:1:8: found a digit behind a 0 at the start of a number, want none`},
		{"a key twice", "{\"a\": 1,\n \"a\": 2}", `t:2:2: the key "a" occurs twice, want it once`},
		{"half a character", `{"a": "\ud800"}`, `t:1:14: found half of a surrogate pair in a string, want both halves`},
		{"no UTF-8", "{\"a\": \"\xff\"}", `t:1:8: a string is not UTF-8`},
		{"not a model", `{}`, `t:1:1: a JANI model has no "jani-version", want one`},
		{"a timed automaton", counter("ta", "", "3"), `t:1:45: the model is a timed automaton (ta), which is not supported, want dtmc, mdp, ctmc, ma, pta, sta or lts`},
		{"a typing error in a key", strings.Replace(counter("mdp", "", "3"), `"guard"`, `"gaurd"`, 1), `has a key "gaurd"`},
		{
			"several mistakes",
			strings.NewReplacer(`"location": "l"`, `"location": "m"`, `"upper-bound": 3`, `"upper": 3`).Replace(counter("mdp", "", "3")),
			"t:2:90: a bounded type has a key \"upper\", want only kind, base, lower-bound, upper-bound\nt:3:126: the automaton has no location \"m\"\nt:3:217: the automaton has no location \"m\"",
		},
		{"a clock", strings.Replace(counter("mdp", "", "3"), `{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}`, `"clock"`, 1), `t:2:37: an MDP has a clock, want a pta`},
		{"a clock that begins late", strings.Replace(document("pta", variables(`{"name": "x", "type": "clock", "initial-value": 1}`), []string{automaton("a", "", []string{"l"})}, system("a")), "\n", "", -1), `the clock "x" has an initial value other than 0, which is not supported`},
		{"time of an MDP", strings.Replace(counter("mdp", "", "3"), `{"name": "l"`, `{"name": "l", "time-progress": {"exp": true}`, 1), `a location of an MDP has a time-progress, want it only in a pta`},
		{"a real variable", strings.Replace(counter("mdp", "", "3"), `{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}`, `"real"`, 1), `t:2:15: the variable "x" is real, which is supported for transient variables only`},
		{"no such variable", counter("mdp", "", `"N"`), `there is no constant or variable "N"`},
		{"pi", counter("mdp", "", `{"constant": "π"}`), `the constant π is not a fraction, so PRISM's language cannot express it`},
		{
			"a function that calls itself",
			counter("mdp", `"functions": [{"name": "f", "type": "int", "parameters": [], "body": {"op": "call", "function": "f", "args": []}}],`, `{"op": "call", "function": "f", "args": []}`),
			`the function "f" calls itself, or functions call each other more than 1000 deep, which is not supported`,
		},
		{"a vector of another length", strings.Replace(counter("mdp", "", "3"), `"syncs": []`, `"syncs": [{"synchronise": ["a", "b"]}]`, 1), `a synchronisation vector has 2 entries, want 1: one for each element`},
		{"one variable twice", strings.Replace(counter("mdp", "", "3"), `"assignments": [`, `"assignments": [{"ref": "x", "value": 2}, `, 1), `the variable "x" is assigned twice at the same index of a step, want one assignment`},
		{"an LTS with probabilities", strings.Replace(counter("lts", "", "3"), `{"location": "l", "assignments"`, `{"location": "l", "probability": {"exp": 1}, "assignments"`, 1), `an edge of an LTS has probabilities, want one destination without a probability`},
		{"a real selection", selecting(strings.TrimSuffix(strings.TrimPrefix(selection("1", "3"), `{"op": "trc", "exp": `), "}")), `t:3:260: found a selection of a real number, want it truncated with "trc"`},
		{"a selection without an end", selecting(selection("1", `"x"`)), `the bounds of the selected number are unknown`},
		{"a selection of nothing", selecting(selection("3", "2")), `there is nothing to select between 3 and 2`},
		{"a selection of half a number", selecting(selection("1.5", "2")), `the bounds of the selected number are unknown, want whole numbers`},
		{"a selection of too much", selecting(selection("1", "1001")), `the selections of an edge have more than 1000 combinations`},
		{"a selection by another condition", selecting(strings.Replace(selection("1", "3"), "≥", "<", 1)), `found another condition on the selected number, want a ≤ i ∧ i ≤ b`},
		{"a selection in a guard", strings.Replace(counter("mdp", "", "3"), `"guard": {"exp": `, `"guard": {"exp": {"op": "=", "left": 1, "right": `+selection("1", "3")+`}, "comment": `, 1), `nondet`},
		{"a rate in an MDP", strings.Replace(counter("mdp", "", "3"), `"guard"`, `"rate": {"exp": 2}, "guard"`, 1), `an edge of an MDP has a rate, want none`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := jani.Read("t", []byte(c.text), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s\n%s", err, c.want, c.text)
			}
		})
	}
}

// selecting is the counter that goes to what an expression says.
func selecting(x string) string {
	return strings.Replace(counter("mdp", "", "3"), `{"op": "+", "left": "x", "right": 1}`, x, 1)
}

// TestRefused: a property that has no form costs the others nothing.
func TestRefused(t *testing.T) {
	at := op("=", "x", 3)
	for exp, want := range map[string]string{
		`{"op": "Pmin", "exp": {"op": "G", "exp": ` + at + `, "reward-bounds": [{"exp": 1, "accumulate": ["steps"], "bounds": {"upper": 3}}]}}`: "bounds on rewards are supported only for F and U without other bounds",
		`{"op": "Pmin", "exp": {"op": "F", "exp": ` + at + `, "time-bounds": {"upper": 3}}}`:                                                    "found a time bound in an MDP, which has no time",
		`{"op": "Emin", "exp": 1, "accumulate": ["time"], "reach": ` + at + `}`:                                                                 "found rewards that an MDP accumulates over time, which it does not have, want exit or steps",
		`{"op": "Emin", "exp": "x", "accumulate": ["steps"], "reach": ` + at + `}`:                                                              `a step reward reads the variable "x", want only transient variables and constants`,
		`{"op": "Emin", "exp": 1, "reach": ` + at + `}`:                                                                                         "found reach without accumulate, which PRISM's language cannot express",
		`{"op": "Qmin", "exp": 1}`: `the operator "Qmin" is not supported here`,
		`{"op": "F", "exp": true}`: "found the operator F, want it only inside Pmin, Pmax, ∀ or ∃",
	} {
		m, err := jani.Read("t", []byte(counter("mdp", "", "3", property("bad", exp), property("good", eventually("Pmin", at)))), nil)
		if err != nil {
			t.Fatalf("%s: %v", exp, err)
		}
		if len(m.Refused) != 1 || len(m.Properties.Items) != 2 {
			t.Errorf("%s: %d properties refused of %d, want 1 of 2", exp, len(m.Refused), len(m.Properties.Items))
		}
		for p, e := range m.Refused {
			if m.Names[p] != "bad" || e.Msg != want {
				t.Errorf("%s: %s refused: %s, want %s", exp, m.Names[p], e.Msg, want)
			}
		}
	}
}

// TestHostile: whoever means harm gets an answer within a second or so.
func TestHostile(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"op": "+", "left": 1, "right": `, n) + "1" + strings.Repeat("}", n)
	}
	var doubling strings.Builder
	for i := range 60 {
		body := "1"
		if i > 0 {
			call := fmt.Sprintf(`{"op": "call", "function": "f%d", "args": []}`, i-1)
			body = op("+", call, call)
		}
		fmt.Fprintf(&doubling, `{"name": "f%d", "type": "int", "parameters": [], "body": %s},`, i, body)
	}
	functions := `"functions": [` + strings.TrimSuffix(doubling.String(), ",") + `],`
	var sequence []string
	for i := range 64 {
		sequence = append(sequence, fmt.Sprintf(`{"ref": "x", "value": {"op": "+", "left": "x", "right": "x"}, "index": %d}`, i))
	}
	many := make([]string, 40)
	for i := range many {
		many[i] = "a"
	}
	twoWays := automaton("a", bounded("x", 0, 1, "0"), []string{"l"}, edge("l go", "", to("l", set("g", "1"))), edge("l go", "", to("l", set("g", "1"))))
	texts := map[string]string{
		"nested arrays":           strings.Repeat("[", 5_000_000),
		"nested objects":          `{"a":` + strings.Repeat(`{"a":`, 5_000_000),
		"a deep sum":              counter("mdp", "", deep(9_000)),
		"too deep a sum":          counter("mdp", "", deep(60_000)),
		"a great number":          counter("mdp", "", "1e400"),
		"a greater number":        counter("mdp", "", "1e999999999"),
		"many digits":             counter("mdp", "", "1"+strings.Repeat("0", 2_000_000)),
		"a small number":          counter("mdp", `"constants": [{"name": "c", "type": "real", "value": 1e-999999999}],`, "3"),
		"many keys":               "{" + strings.Repeat(`"a":1,`, 1_000_000) + "}",
		"functions that double":   counter("mdp", functions, `{"op": "call", "function": "f59", "args": []}`),
		"sequences that double":   strings.Replace(counter("mdp", "", "3"), `"assignments": [`, `"assignments": [`+strings.Join(sequence[1:], ",")+",", 1),
		"combinations of edges":   document("mdp", variables(bounded("g", 0, 1, "0")), []string{twoWays}, system(strings.Join(many, " "), strings.TrimSuffix(strings.Repeat("go,", 40), ",")+":r")),
		"a long array":            counter("mdp", "", `{"op": "aa", "exp": {"op": "ac", "var": "i", "length": 99999999, "exp": 1}, "index": 0}`),
		"arrays of arrays":        counter("mdp", "", `{"op": "aa", "exp": `+strings.Repeat(`{"op": "ac", "var": "i", "length": 90000, "exp": `, 5)+"1"+strings.Repeat("}", 5)+`, "index": 0}`),
		"names of any letters":    strings.ReplaceAll(counter("mdp", "", "3"), `"x"`, `"\u0000\n\"endmodule ✓"`),
		"names that are reserved": strings.ReplaceAll(counter("mdp", "", "3"), `"x"`, `"init"`),
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := runner.PlanModel(context.Background(), runner.Job{File: "t", Model: []byte(text)})
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("%s: %v", took, err)
			} else {
				t.Logf("%s: %.200v", took, err)
			}
		})
	}
}

// TestNumbersStayExact: what is written is what is meant, also where doubles differ.
func TestNumbersStayExact(t *testing.T) {
	checkMeaning(t, document("dtmc", variables(bounded("x", 0, 2, "0")), []string{automaton("a", "", []string{"l"},
		edge("l", op("=", "x", 0), likely("1e-1", "l", set("x", "1")), likely("0.9", "l", set("x", "2"))))}, system("a"),
		property("sum", op("=", op("+", "{\"op\": \"+\", \"left\": 0.1, \"right\": 0}", 0.2), 0.3)), // false in doubles
		property("p", eventually("Pmin", op("=", "x", 1)))), 3, map[string]string{"sum": "true", "p": "1/10"})
}

// TestMutants: documents with mistakes are refused or read, and built, without more.
func TestMutants(t *testing.T) {
	var texts []string
	for _, c := range meanings {
		texts = append(texts, c.text)
	}
	relay, err := os.ReadFile("../../examples/relay.jani")
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, string(relay))
	rng := rand.New(rand.NewPCG(5, 0))
	read := 0
	for range needs.Some(6000) {
		text := mutant(rng, texts[rng.IntN(len(texts))], texts)
		m, _, err := load.Model(context.Background(), runner.Job{File: "t", Model: []byte(text)})
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Errorf("an error without a text: %s", text)
			}
			continue
		}
		read++
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, _ = explicit.Build(ctx, m, explicit.Options{MaxStates: 1000}) // which may fail, but not crash
		cancel()
	}
	if read == 0 {
		t.Error("no mutant was read, want some")
	}
}

// mutant replaces a piece of a document by a piece of another one, or by nothing.
func mutant(rng *rand.Rand, text string, all []string) string {
	for range 1 + rng.IntN(3) {
		from, to := piece(rng, text)
		other := all[rng.IntN(len(all))]
		i, j := piece(rng, other)
		insert := other[i:j]
		switch rng.IntN(6) {
		case 0:
			insert = ""
		case 1:
			insert = []string{"null", "-1", "1e9", `"x"`, "[]", "{}", "true", `{"op": "initial"}`, "0.5", `"l"`}[rng.IntN(10)]
		}
		text = text[:from] + insert + text[to:]
	}
	return text
}

// piece is the extent of a value of JSON, by its brackets or quotes.
func piece(rng *rand.Rand, text string) (from, to int) {
	if text == "" {
		return 0, 0
	}
	from = rng.IntN(len(text))
	for from < len(text)-1 && !strings.ContainsRune(`{["0123456789`, rune(text[from])) {
		from++
	}
	depth := 0
	for to = from; to < len(text); to++ {
		switch c := text[to]; {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == '"':
			if end := strings.IndexByte(text[to+1:], '"'); end >= 0 {
				to += end + 1
			}
		}
		if depth <= 0 {
			return from, to + 1
		}
	}
	return from, len(text)
}
