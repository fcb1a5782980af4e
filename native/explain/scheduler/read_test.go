package scheduler_test

import (
	"slices"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
)

// What is written in any format that says choices is read as it was, where every choice has an action of its own.
func TestReadBack(t *testing.T) {
	const model = "mdp module m x:[0..4]; b:bool; [left] x<4 & !b -> 1/2:(x'=x+1) + 1/2:(b'=true); [right] x<4 -> 2/3:(x'=x+1) + 1/3:true; [] x=4 -> true; endmodule"
	x := scheduled(t, model, "Pmin=? [ F x=4 & b ]", check.Options{})
	for _, target := range []string{"f", "f:states=false", "f:type=indices", "f:type=json"} {
		got, err := scheduler.Read(t.Context(), "f", []byte(written(t, x, target)), x.Space)
		if err != nil || len(got) != 1 || !slices.Equal(got[0], x.Choices[0]) {
			t.Errorf("%s: found %v and %v, want %v", target, got, err, x.Choices)
		}
	}
}

// Files that permit several choices of a state say which; what they do not mention has any.
func TestReadPermitted(t *testing.T) {
	const model = "mdp module m x:[0..2]; [a] x=0 -> (x'=1); [b] x=0 -> (x'=2); [c] x=0 -> true; [a] x=1 -> (x'=2); [b] x=1 -> (x'=0); [a] x=2 -> true; endmodule"
	x := scheduled(t, model, "Pmax=? [ F x=2 ]", check.Options{})
	for _, c := range []struct {
		text string
		want []int // choices, a, b, c of state 0, ...
		one  bool
	}{
		{"(0)=a\n(0)=c\n(1)=b\n", []int{0, 2, 4, 5}, false},
		{"0=0\n0=0\n1=1\n", []int{0, 4, 5}, true},
		{`[{"s": {"x": 0}, "c": [{"labels": ["b"], "prob": 0.5}, {"labels": ["c"], "prob": 0.5}]}, {"s": {"x": 1}, "c": "undefined"}]`, []int{1, 2, 3, 4, 5}, false},
	} {
		permitted, one, err := scheduler.ReadPermitted(t.Context(), "f", []byte(c.text), x.Space)
		if err != nil || (one != nil) != c.one || !slices.Equal(slices.Collect(permitted.All()), c.want) {
			t.Errorf("%q: found %v, %v and %v, want %v", c.text, permitted, one, err, c.want)
		}
	}
}

// A line that does not say what is meant is an error with its place.
func TestReadErrors(t *testing.T) {
	const model = "mdp module m x:[0..3]; [] x=0 -> (x'=1); [] x=0 -> (x'=2); [a] x=1 -> (x'=2); [a] x=1 -> (x'=3); [b] x=1 -> true; [a] x>1 -> true; endmodule"
	x := scheduled(t, model, "Pmax=? [ F x=3 ]", check.Options{})
	for text, want := range map[string]string{
		"(0)=":     "state (x=0) has several choices without an action",
		"\n(1)=a":  "f:2:1: state (x=1) has several choices with action a",
		"(1)=c":    `state (x=1) has no action "c", want one of ["a" "b"]`,
		"1=c":      `state (x=1) has no action "c", want one of ["a" "b"]`,
		"(1)=1":    `state (x=1) has no action "1"`,
		"4=0":      "found state 4, the model has 0 to 3",
		"-1=0":     "found state -1",
		"1=3":      "found choice 3 of state 1, which has 0 to 2",
		"1=-1":     "found choice -1 of state 1",
		"1=0\n1=1": "f:2:1: found two choices of state (x=1)",
		"(1),2=a":  "this list does not say how the memory",
		"1,2=1":    "this list does not say how the memory",
		"(1,1)=a":  "want the values of 1 variable or the number of a state",
		"hello":    "want the values of 1 variable or the number of a state",
		"x=1":      "want the values of 1 variable or the number of a state",
		"(y)=a":    `found the value "y"`,
		`[{"s": {"x": 1}, "c": [{"labels": ["a"]}]}]`:         "entry 0: state (x=1) has several choices with action a",
		`[{"s": {"x": 1}, "c": [{"labels": ["b"]}], "m": 0}]`: "with a memory",
		`[{"s": {"x": 1}, "c": [{"labels": ["b"]}, {}]}]`:     "found 2 choices",
		`[{"s": {"z": 1}, "c": [{"labels": ["b"]}]}]`:         "found no value of x, want a number, true or false",
		`[{"s": {"x": 77}, "c": [{"labels": ["b"]}]}]`:        "f: no state of the file (1) is a reachable state of the model",
		"(77)=a\n(78)=a": "f: no state of the file (2) is a reachable state of the model",
		`[{"s": {"x": 1}, "c": [{"labels": ["b"]}], "x": 1}, ]`: "f: found no list of states with choices",
	} {
		if _, err := scheduler.Read(t.Context(), "f", []byte(text), x.Space); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, want %s", text, err, want)
		}
	}
	controller := `[{"s": {"x": 77}, "m": 0, "c": [{"labels": ["b"]}]}]`
	if _, err := scheduler.ReadController(t.Context(), "f", []byte(controller), x.Space, nil); err == nil || !strings.Contains(err.Error(), "f: no state of the file (1) is a reachable state") {
		t.Errorf("%s: found %v", controller, err)
	}
	// States that are not reached are no error, nor are those without a line.
	got, err := scheduler.Read(t.Context(), "f", []byte("(1)=b\n(77)=b\n\n1=2\n0=1\n"), x.Space)
	if err != nil || got[0][0] != 1 {
		t.Errorf("found %v and %v", got, err)
	}
}
