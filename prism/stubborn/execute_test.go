package stubborn_test

import (
	"fmt"
	"slices"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
	"tilecheck/prism/stubborn"
)

// gates are two parts that may fail (x and y), and gates that fail with them: a is an OR gate, and b an AND gate of lower priority.
const gates = `mdp
module m
  x : [0..1] init 1; y : [0..1] init 1; a : [0..1]; b : [0..1]; c : [0..2];
  [] x>=1 & a<1 -> (a'=a+1);
  [] y>=1 & a<1 -> (a'=1);
  [] !(x>=1 & a<1 | y>=1 & a<1) & x>=1 & y>=1 & b<1 -> (b'=b+1);
  %s
endmodule
`

// TestExecute executes commands from the initial state x=1, y=1, a=0, b=0, c=0, beside one or two more commands.
func TestExecute(t *testing.T) {
	for _, c := range []struct {
		commands, goal string
		want           []int32 // nil for no reduction
	}{
		{"", "c=1", []int32{1, 1, 1, 1, 0}},
		{"", "a=1", []int32{1, 1, 1, 0, 0}}, // the only effect, although it is visible; the AND gate does not matter then
		{"", "b=1", []int32{1, 1, 0, 1, 0}}, // the variables that are not observed have their initial values
		{"[] c<2 -> 0.5:(c'=c+1) + 0.5:true;", "c=2", []int32{1, 1, 1, 1, 0}},
		{"[] c<2 -> 0.5:(c'=c+1) + 0.5:true;", "a=1 & c=2", []int32{1, 1, 0, 0, 0}},        // the OR gate is visible, and the AND gate waits for it
		{"[] b=0 & c<1 -> 0.5:(c'=1) & (y'=0) + 0.5:true;", "c=1", []int32{1, 1, 1, 0, 0}}, // the command and the AND gate disable each other
		{"[] b=0 & c<1 -> 0.5:(c'=1) & (y'=0) & (x'=0) + 0.5:true;", "c=1", []int32{1, 1, 0, 0, 0}},
		{"[] c<1 -> 0.5:(c'=a) + 0.5:true;", "c=1", []int32{1, 1, 0, 0, 0}},
		{"[] c<2 -> (c'=c+1); [] c>=2 -> (c'=c-2);", "x+y=0", []int32{1, 1, 1, 1, 0}}, // the least state of a cycle
		{"[] x+y=1 & a<1 -> 0.5:(c'=1) + 0.5:(a'=1);", "c=1", []int32{1, 1, 0, 0, 0}},
		{"[go] c<2 -> (c'=c+1);", "c=2", []int32{1, 1, 1, 1, 0}},
	} {
		program := sematest.Program(t, fmt.Sprintf(gates, c.commands))
		reduction := stubborn.Find(program, nil, goal(t, program, c.goal), -1)
		if reduction == nil {
			if c.want != nil {
				t.Errorf("%q, F %s: no reduction", c.commands, c.goal)
			}
			continue
		}
		state := []int32{1, 1, 0, 0, 0}
		reduction.NewExecutor().Execute(state)
		if !slices.Equal(state, c.want) {
			t.Errorf("%q, F %s: %v, want %v", c.commands, c.goal, state, c.want)
		}
	}
}

// TestFindRefuses checks programs and rewards that are not supported.
func TestFindRefuses(t *testing.T) {
	for _, model := range []string{
		"dtmc\nmodule m\nx:[0..1]; y:[0..1];\n[] x<1 -> (x'=x+1);\nendmodule\n",
		"mdp\nmodule m\nx:[0..1]; y:[0..1];\n[] x<1 -> (x'=x+1);\n[go] y<1 -> (y'=y+1);\nendmodule\nmodule n\nz:[0..1];\n[go] z<1 -> (z'=z+1);\nendmodule\n",
		"mdp\nmodule m\nx:[0..1]; y:[0..1];\n[] x<1 -> 0.5:(x'=x+1) + 0.5:true;\nendmodule\n",
	} {
		program := sematest.Program(t, model)
		if stubborn.Find(program, nil, goal(t, program, "y=1"), -1) != nil {
			t.Errorf("found a reduction of\n%s", model)
		}
	}
	program := sematest.Program(t, "mdp\nmodule m\nx:[0..1]; y:[0..1];\n[] x<1 -> (x'=x+1);\nendmodule\nrewards \"late\" !(x<1) : 1; endrewards\nrewards \"early\" x<1 : 1; endrewards\n")
	for reward, want := range []bool{true, false} {
		if got := stubborn.Find(program, nil, goal(t, program, "y=1"), reward) != nil; got != want {
			t.Errorf("reward %s: reduction %v, want %v", program.Rewards[reward].Name, got, want)
		}
	}
}

// goal returns a state formula over the variables of a program.
func goal(t *testing.T, program *sema.Program, text string) sema.Expr {
	t.Helper()
	list, _ := sematest.Properties(t, program, text)
	return list[0].Expr
}
