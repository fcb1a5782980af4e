package confluence_test

import (
	"fmt"
	"testing"

	"tilecheck/prism/confluence"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
	"tilecheck/prism/syntax"
)

// gates are two parts that fail (x and y), and two gates that fail with them: a is an OR gate, and b an AND gate of lower priority.
const gates = `ma
module m
  x : [0..1]; y : [0..1]; a : [0..1]; b : [0..1]; c : [0..2];
  <> x<1 -> 1:(x'=1);
  <> y<1 -> 2:(y'=1);
  [] x>=1 & a<1 -> (a'=a+1);
  [] y>=1 & a<1 -> (a'=1);
  [] !(x>=1 & a<1 | y>=1 & a<1) & x>=1 & y>=1 & b<1 -> (b'=b+1);
  %s
endmodule
`

// TestFind checks how many of the three gates are steps beside another command, for a goal.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		command, goal string
		want          int
	}{
		{"", "b>=1", 3},
		{"", "x+y=2", 3},
		{"", "b<1 & y=1", 2}, // the AND gate makes the goal false
		{"", "b+a=2", 0},     // no bounds on variables: only invisible steps
		{"[] c<1 -> 0.5:(c'=c+1) + 0.5:(c'=c+2);", "b=1", 3},         // another command, which ends
		{"[] c<2 -> 0.5:(c'=c+1) + 0.5:true;", "b=1", 2},             // it may never end, so the AND gate may wait forever
		{"[] c<2 -> 0.5:(c'=c+1) + 0.5:true;", "x=1", 3},             // the gates do not matter
		{"[] a>=1 & c<2 -> (c'=c+1);", "c=2", 4},                     // one more gate
		{"[] a>=1 & c<1 -> 0.5:(c'=1) + 0.5:true;", "c=1", 1},        // it waits for the OR gate
		{"[] b=0 & c<1 -> (c'=1) & (x'=0);", "c=1", 0},               // it disables both gates
		{"[] c<1 -> 0.5:(c'=a) + 0.5:true;", "c=1", 1},               // it reads the OR gate
		{"[] a>=1 & y>=1 -> (a'=0);", "b=1", 0},                      // the OR gate does not end
		{"[] x+y=1 & b<1 & a<1 -> 0.5:(b'=1)+0.5:(a'=1);", "x=1", 0}, // a conflict of all gates
	} {
		program := automaton(t, fmt.Sprintf(gates, c.command))
		if got := len(confluence.Find(program, nil, goal(t, program, c.goal))); got != c.want {
			t.Errorf("%q, F %s: %d steps, want %d", c.command, c.goal, got, c.want)
		}
	}
}

// TestBlocked checks that a step that waits for a command is found only if the command is enabled whenever the step waits.
func TestBlocked(t *testing.T) {
	for commands, want := range map[string]int{
		"[] z=1 -> 0.5:(z'=0) + 0.5:(z'=2); [] !(z=1) & b<1 -> (b'=1);":                         1,
		"[] z=1 & mod(y, 2)=1 -> 0.5:(z'=0) + 0.5:(z'=2); [] !(z=1 & y<=2) & b<1 -> (b'=1);":    0,
		"[a] z=1 & y<=2 -> 0.5:(z'=0) + 0.5:(z'=2); [] !(z=1 & y<=2) & b<1 -> (b'=1);":          0,
		"[] z=1 & y<=2 -> (z'=2); [] !(z=1 & y<=2) & b<1 -> (b'=1); [] !(b<1) & y>2 -> (y'=0);": 3,
		// The last command waits for the second one, but not for the first one, which the second one waits for.
		"[] z=1 & y<=2 -> 0.5:true + 0.5:(z'=2); [] !(z=1 & y<=2) & b<1 & y<=2 -> (b'=1); [] !(b<1 & y<=2) & y<=1 -> 0.5:true+0.5:(w'=2);":       0,
		"[] z=1 & y<=2 -> 0.5:true + 0.5:(z'=2); [] !(z=1 & y<=2) & b<1 & y<=2 -> (b'=1); [] !(b<1 & y<=2 | z=1 & y<=2) -> 0.5:true+0.5:(w'=2);": 1,
	} {
		text := "mdp\nmodule m\nz : [0..2]; y : [0..3]; b : [0..1]; w : [0..2];\n" + commands + "\nendmodule\nmodule n\nd : bool;\n[a] d -> true;\nendmodule\n"
		program := sematest.Program(t, text)
		if got := len(confluence.Find(program, nil, goal(t, program, "d"))); got != want {
			t.Errorf("%s: %d steps, want %d", commands, got, want)
		}
	}
}

// automaton returns the program of a Markov automaton in Storm's dialect.
func automaton(t *testing.T, text string) *sema.Program {
	t.Helper()
	tree, err := syntax.ParseModelOf(syntax.Storm, "m.prism", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		t.Fatal(err)
	}
	program, err := model.Instantiate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// goal returns a state formula over the variables of a program.
func goal(t *testing.T, program *sema.Program, text string) sema.Expr {
	t.Helper()
	list, _ := sematest.Properties(t, program, text)
	return list[0].X
}
