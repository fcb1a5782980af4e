package jani_test

import (
	"strconv"
	"strings"
	"testing"

	"tilecheck/prism/jani"
	"tilecheck/result"
	"tilecheck/runner"
)

// draw is an expression that draws a number from a distribution.
func draw(distribution, args string) string {
	return `{"distribution": "` + distribution + `", "args": [` + args + `]}`
}

// TestSampling: numbers that an edge draws from finite distributions are branches of the edge.
func TestSampling(t *testing.T) {
	sum := op("+", draw("DiscreteUniform", `1, "N"`), draw("DiscreteUniform", `1, "N"`))
	first := edge("start", "", likely(`0.5`, "mid", set("v", sum)), likely(`0.5`, "mid", set("v", op("*", 3, draw("Bernoulli", "0.25")))))
	wait := edge("mid", op("≥", "x", "v"), to("end"))
	text := document("sta", `"constants": [{"name": "N", "type": "int"}], `+variables(bounded("v", 0, 8, "0"), `{"name": "x", "type": "clock"}`), []string{
		strings.Replace(automaton("a", "", []string{"start", "mid", "end"}, first, wait), `{"name": "mid"`, `{"name": "mid", "time-progress": {"exp": `+op("≤", "x", "v")+`}`, 1),
	}, system("a"), property("five", eventually("Pmax", op("=", "v", 5))), property("three", eventually("Pmax", op("=", "v", 3))))
	numeric := runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}}
	checkValues(t, runner.Job{File: "test.jani", Model: []byte(text), Consts: []string{"N=4"}, Settings: numeric}, map[string]string{
		"five":  "1/8",  // half of 4 in 16
		"three": "3/16", // half of 2 in 16, and half of 1 in 4
	})
}

func TestRefusedSampling(t *testing.T) {
	for sampled, want := range map[string]string{
		draw("Exponential", "2"):             `sampling from "Exponential" is not supported, want DiscreteUniform with two arguments or Bernoulli with one`,
		draw("DiscreteUniform", `1, "v"`):    `found bounds of DiscreteUniform that are not known whole numbers`,
		draw("DiscreteUniform", `3, 1`):      `found bounds of DiscreteUniform that are not known whole numbers, the smaller one first`,
		draw("DiscreteUniform", `1, 100000`): `the numbers that an edge draws have more than 1000 combinations, want fewer`,
	} {
		text := document("sta", variables(bounded("v", 0, 8, "0")), []string{automaton("a", "", []string{"l"}, edge("l", "", to("l", set("v", sampled))))}, system("a"))
		if _, err := jani.Read("test.jani", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", sampled, err, want)
		}
	}
}

// TestManyDestinations: the limit of drawn numbers does not apply to an edge that draws none, such as a backoff of 1024 slots.
func TestManyDestinations(t *testing.T) {
	const count = 1001
	var destinations []string
	for i := range count {
		destinations = append(destinations, likely(op("/", 1, count), "l", set("v", strconv.Itoa(i))))
	}
	text := document("dtmc", variables(bounded("v", 0, count, "0")), []string{automaton("a", "", []string{"l"}, edge("l", "", destinations...))}, system("a"))
	if _, err := jani.Read("test.jani", []byte(text), nil); err != nil {
		t.Error(err)
	}
}
