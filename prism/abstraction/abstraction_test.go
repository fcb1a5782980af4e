package abstraction_test

import (
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/abstraction"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
)

// roads is a program with a place x, which y determines, and three flags. Flag a is read by a command that ends at the target.
const roads = `mdp
module roads
 x : [0..2]; y : [0..2];
 a : bool; b : bool; c : bool;
 [] x=0 & !a -> 1/2:(x'=y)&(b'=true) + 1/2:(a'=true);
 [] x=1 & (a | b) & y>0 -> (x'=2)&(c'=b);
 [] b -> (y'=1)&(b'=false);
endmodule
label "goal" = x=2;
label "flagged" = c;
`

// propertyOf returns a property of a program.
func propertyOf(t *testing.T, model, property string) *logic.Property {
	t.Helper()
	properties, program := sematest.Properties(t, sematest.Program(t, model), property)
	return &logic.Property{Property: properties[0], Program: program}
}

// read returns the names of the variables that the guards and updates of a program have.
func read(program *sema.Program) string {
	var names []string
	add := func(expr sema.Expr) {
		sema.Inspect(expr, func(operand sema.Expr) bool {
			if variable, ok := operand.(*sema.Var); ok {
				names = append(names, program.Vars[variable.Slot].Name)
			}
			return true
		})
	}
	for _, module := range program.Modules {
		for _, command := range module.Commands {
			add(command.Guard)
			for _, update := range command.Updates {
				for _, assign := range update.Assigns {
					names = append(names, program.Vars[assign.Slot].Name)
					add(assign.Value)
				}
			}
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// TestProgram compares the visible variables of properties.
func TestProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ model, property, want string }{
		{roads, `Pmax=? [ F "goal" ]`, "x y"},
		{roads, `Pmax=? [ F x=2 & a ]`, "a x y"},
		{roads, `Pmax=? [ y<2 U "flagged" ]`, "b c y"}, // b determines c
		{strings.Replace(roads, "1/2:(x'=y)", "(c?1/2:1/2):(x'=y)", 1), `Pmax=? [ F "goal" ]`, "b c x y"},
		{roads, `Pmin=? [ F "goal" ]`, "none"},
		{roads, `P>=0.5 [ F "goal" ]`, "none"},
		{roads, `Pmax=? [ G "goal" ]`, "none"},
		{roads, `Pmax=? [ F<=3 "goal" ]`, "none"},
		{roads, `Pmax=? [ F "init" ]`, "none"},
		{roads, `Pmax=? [ F P>=0.5 [ F "goal" ] ]`, "none"},
		{strings.Replace(roads, "mdp", "dtmc", 1), `P=? [ F "goal" ]`, "none"},
	} {
		found := "none"
		if hidden := abstraction.New(propertyOf(t, test.model, test.property)); hidden != nil {
			found = read(hidden.Program())
		}
		if found != test.want {
			t.Errorf("%s: %s, want %s", test.property, found, test.want)
		}
	}
}

// TestFollow follows a scheduler that is blocked, and one that resets a flag that is not read again.
func TestFollow(t *testing.T) {
	t.Parallel()
	property := propertyOf(t, roads, `Pmax=? [ F "goal" ]`)
	hidden := abstraction.New(property)
	commands := property.Program.Modules[0].Commands
	const x, y, b = 0, 1, 3
	steps := []abstraction.Step{{State: []int32{0, 0, 0, 0, 0}, Commands: []*sema.Command{&commands[2]}, Choice: 5}, {State: []int32{0, 1, 0, 0, 0}, Commands: []*sema.Command{&commands[0]}}}
	followed, err := hidden.Follow(steps)
	if err != nil {
		t.Fatal(err)
	}
	step, blocking := followed.Blocked([]int32{0, 0, 0, 0, 0})
	if step == nil || step.Choice != 5 || !slices.Equal(blocking, []int{b}) {
		t.Errorf("%+v is blocked by %v, want the first step and %d", step, blocking, b)
	}
	if step, blocking := followed.Blocked([]int32{0, 1, 0, 0, 0}); step != nil {
		t.Errorf("%+v is blocked by %v, want nothing", step, blocking)
	}
	if count := len(followed.Program.Modules[0].Commands); count != 2 {
		t.Errorf("%d commands, want 2", count)
	}
	for _, update := range followed.Program.Modules[0].Commands[1].Updates[:1] {
		for _, assign := range update.Assigns {
			value, err := sema.Eval(assign.Value, []int32{0, 1, 0, 0, 0})
			isReset := err == nil && value.Type == sema.Bool && !value.Bool
			if assign.Slot != x && assign.Slot != y && !isReset {
				t.Errorf("variable %d gets %v, %v, want its initial value", assign.Slot, value, err)
			}
		}
	}
	hidden.Show(blocking)
	if hidden.NumHidden() != 2 {
		t.Errorf("%d hidden variables, want 2", hidden.NumHidden())
	}
}
