package states_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tilecheck/prism/lint/states"
	"tilecheck/prism/sema/sematest"
)

func evaluate(t *testing.T, text string, opts states.Options) *states.Report {
	t.Helper()
	r, err := states.Explore(t.Context(), sematest.Program(t, text), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each warning by hand: the place, the code, the state.
func TestFindings(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "dtmc module M x:[0..1]; [] x=0 -> 0.5:(x'=1) + 0.5:true; [] x=1 -> true; endmodule label \"l\" = x=1;", ""},
		{"never holds", "mdp module M x:[0..2]; [] x=0 -> (x'=1);\n[] x=2 -> (x'=0);\n[] x=1 -> true; endmodule", "2:1 never-holds"},
		{"never in a copy", "mdp const int c=0; const int d=2; module M x:[0..2];\n[] x=c -> true; endmodule module K=M[x=y,c=d] endmodule", "2:1 never-holds"},
		{"constant guards are for the texts", "mdp module M x:[0..2]; [] x=0 -> true; [] false -> true; endmodule", ""},
		{"never ready", "mdp module M x:[0..1];\n[a] x=1 -> true; [] true -> (x'=1-x); endmodule module K y:bool;\n[a] x=0 -> true; endmodule", "2:1 never-ready (x=1,y=false), 3:1 never-ready (x=0,y=false)"},
		{"kept from being ready", "mdp module M x:[0..1];\n[a] x=1 -> true; [] true -> (x'=1-x); endmodule module K y:bool; [a] false -> true; endmodule", ""},
		{"overlap", "dtmc module M x:[0..1];\n[] x=0 -> (x'=1);\n[] x<1 -> true; [] x=1 -> true; endmodule", "2:1 overlap (x=0)"},
		{"modules side by side, once", "dtmc module M x:[0..1];\n[] true -> (x'=1-x); endmodule module K y:[0..1]; [] y=0 -> (y'=1);\n[] y=1 -> (y'=0); endmodule", "2:1 overlap (x=0,y=0)"},
		{"and within one of them", "dtmc module M x:[0..1];\n[] true -> (x'=1-x);\n[] x=1 -> true; endmodule module K y:[0..1];\n[] true -> (y'=1-y); endmodule", "2:1 overlap (x=1,y=0), 2:1 overlap (x=0,y=0)"},
		{"no overlap in an MDP", "mdp module M x:[0..1]; [] x=0 -> (x'=1); [] x<1 -> true; [] x=1 -> true; endmodule", ""},
		{"nor a race", "ctmc module M x:[0..1]; [] x=0 -> 2:(x'=1); [] x<1 -> 3:true; [] x=1 -> 1:true; endmodule", ""},
		{"range", "mdp module M x:[0..2]; [] true ->\n(x'=x+1); endmodule label \"none\" = x>5;", "2:1 leaves-range (x=2)"},
		{"sum", "dtmc module M x:[0..2]; [] x=0 -> 0.3:(x'=1) + 0.1:(x'=2) + 0.6:true;\n[] x>0 -> 0.333333333333333:true+0.333333333333333:true+0.333333333333333:true; endmodule", "2:1 rounded-sum"},
		{"thirds are thirds", "dtmc module M x:[0..1]; [] true -> 1/3:(x'=1) + 1/3:true + 1/3:(x'=0); endmodule", ""},
		{"labels", "dtmc module M x:[0..1]; [] true -> (x'=1); endmodule label \"e\" =\nx>1; label \"f\" =\nx<2; label \"t\"=true; label \"n\"=false;", "2:1 empty-label, 3:1 full-label"},
		{"deadlock", "mdp module M x:[0..2]; [] x<2 -> (x'=x+1); endmodule", "1:1 deadlock (x=2)"},
		{"all initial states", "mdp module M x:[0..2]; [] x=2 -> true; [] x=1 -> true;\n[] x=0 -> true; endmodule init x>0 endinit", "2:1 never-holds"},
		{"error", "mdp module M x:[0..2]; [] x<2 & mod(5,x-1)>=0 -> (x'=1); endmodule", "1:33 state-error (x=0)"},
	}
	for _, test := range tests {
		r := evaluate(t, test.text, states.Options{})
		var got []string
		for _, f := range r.Findings {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Pos, f.Code, f.State)))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q (%q), want %q", test.name, got, r.Undecided, test.want)
		}
	}
}

// Where not all states were looked at, nothing is said of all.
func TestUndecided(t *testing.T) {
	endless := "mdp module M x:int; y:bool; [] true -> (x'=x+1); [] y -> true; endmodule label \"e\" = y;"
	if r := evaluate(t, endless, states.Options{MaxStates: 1000}); len(r.Findings) != 0 || !r.Limited || !strings.Contains(r.Undecided, "more than 1000 states") {
		t.Errorf("%+v", r)
	}
	for text, want := range map[string]string{
		"dtmc module M x:[0..1]; [] true -> [0.2,0.4]:(x'=1) + [0.6,0.8]:true; endmodule": "intervals",
		"pta module M x:clock; [] x>1 -> true; endmodule":                                 "",
		"mdp module M x:[0..1]; [] true -> (x'=2); [] x=1 -> true; endmodule":             "1 state has errors, so its successors are unknown",
	} {
		if r := evaluate(t, text, states.Options{}); r.Undecided == "" || !strings.Contains(r.Undecided, want) || r.Limited {
			t.Errorf("%s: %+v", text, r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := states.Explore(ctx, sematest.Program(t, endless), states.Options{}); err != nil || !strings.Contains(r.Undecided, "interrupted after") {
		t.Errorf("a cancelled look ends with %+v, %v", r, err)
	}
}
