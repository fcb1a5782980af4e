package sema

import (
	"regexp"
	"testing"

	"tilecheck/prism/syntax"
)

// differences lists where what is accepted, or the value of something, differs
// from PRISM 4.10.2-dev on purpose. The behaviour of PRISM was observed by
// running it. Model, props and consts go through everything there is; ours is
// a regexp for the error, or empty if there is none.
//
// Values differ in one more way: a constant given as a range or a fraction is
// the exact number rounded once (0.1:0.1:0.5 contains 0.3), while PRISM
// computes with doubles (0.30000000000000004).
var differences = []struct {
	name, model, props, consts string
	prism, ours, reason        string
}{
	{
		name:   "initial value outside the range",
		model:  "dtmc module M s:[0..1] init 3; [] true->true; endmodule",
		prism:  "explicit: starts in s=3; symbolic: error",
		ours:   `initial value 3 of variable "s" is outside its range \[0..1\]`,
		reason: "engines disagree on what it means, and packed states cannot hold it",
	},
	{
		name:   "module unknown to the system block",
		model:  "mdp module M s:[0..1]; endmodule system M || Z endsystem",
		prism:  "accepted; an IndexOutOfBoundsException when the model is built",
		ours:   "no such module Z",
		reason: "it cannot mean anything",
	},
	{
		name:   "assignment twice, with undefined constants",
		model:  "mdp const int N; module M s:[0..1]; [] true->(s'=0)&(s'=1); endmodule",
		consts: "N=1",
		prism:  "an error once the constants have values",
		ours:   `variable "s" is set twice`,
		reason: "the values make no difference",
	},
	{
		name:   "multi in a model",
		model:  "mdp module M b:bool; [] multi(b)->true; endmodule",
		prism:  "accepted; an error when it is evaluated",
		ours:   `function "multi" is for properties only`,
		reason: "it can never be evaluated",
	},
	{
		name:   "number of arguments in an unused formula",
		model:  "mdp formula f = floor(1,2); module M b:bool; endmodule",
		prism:  "accepted; with too few arguments an ArrayIndexOutOfBoundsException",
		ours:   `too many arguments to "floor"`,
		reason: "it can never be used",
	},
	{
		name:   "function of something that is no number",
		model:  "mdp module M s:[0..1]; endmodule",
		props:  "min(filter(range,s))",
		prism:  "accepted; an error when it is checked",
		ours:   `argument of type interval not allowed for function "min"`,
		reason: "it can never be evaluated",
	},
	{
		name:   "constant with a failing branch that is not taken",
		model:  "dtmc const int z = 0; const int k = z>0 ? mod(1,z) : 7; module M s:[0..k]; endmodule",
		prism:  "explicit: modulo by zero; symbolic: accepted",
		reason: "only the branch taken has a value, in PRISM's evaluator too",
	},
	{
		name:   "failing sub-expression that is never evaluated",
		model:  "dtmc module M s:[0..2]; [] s=0 -> (s'=1); [] s=2 & mod(1,0)=1 -> true; endmodule",
		prism:  "explicit: modulo by zero although no state has s=2",
		reason: "it is an error in no state",
	},
	{
		name:   "Java's suffixes and hexadecimal numbers in -const",
		model:  "dtmc const double p; module M s:[0..1]; endmodule",
		consts: "p=0.5d",
		prism:  "0.5",
		ours:   "value 0.5d for constant p is not a valid double",
		reason: "they are not numbers of the PRISM language",
	},
	{
		name:   "blanks in -const",
		model:  "dtmc const double p; module M s:[0..1]; endmodule",
		consts: "p= 0.5",
		prism:  "0.5 (but a blank in front of an int is an error)",
		ours:   "",
		reason: "one rule for all types: blanks around names and values mean nothing",
	},
	{
		name:   "range without end",
		model:  "dtmc const double p; module M s:[0..1]; endmodule",
		consts: "p=0:1e-300:1",
		prism:  "does not come back",
		ours:   "constant p has too many values",
		reason: "nobody can wait for it",
	},
}

func TestDifferences(t *testing.T) {
	for _, d := range differences {
		t.Run(d.name, func(t *testing.T) {
			err := fromText(d.model, d.props, d.consts)
			switch {
			case d.prism == "" || d.reason == "":
				t.Error("no reason")
			case d.ours == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case d.ours != "" && (err == nil || !regexp.MustCompile(d.ours).MatchString(err.Error())):
				t.Errorf("got %v, want /%s/", err, d.ours)
			}
		})
	}
}

// fromText does everything with a model and properties.
func fromText(model, props, consts string) error {
	tree, err := syntax.ParseModel("m.prism", []byte(model))
	if err != nil {
		return err
	}
	m, err := CheckModel(tree)
	if err != nil {
		return err
	}
	pt, err := syntax.ParseProperties("p.props", []byte(props))
	if err != nil {
		return err
	}
	ps, err := m.CheckProperties(pt)
	if err != nil {
		return err
	}
	return runExperiment(m, ps, []string{consts})
}
