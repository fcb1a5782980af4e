package elimination_test

import (
	"fmt"
	"strings"
	"testing"

	"tilecheck/prism/elimination"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema/sematest"
)

// coupons is a program that draws one of three coupons until it has all of them. d is dead at the head of the loop.
const coupons = `dtmc
module coupons
 l : [0..5];
 d : [0..2];
 c0 : bool; c1 : bool; c2 : bool;
 [] l=0 & !(c0 & c1 & c2) -> (l'=1);
 [] l=0 & c0 & c1 & c2 -> (l'=5);
 [] l=1 -> 1/3:(d'=0)&(l'=2) + 1/3:(d'=1)&(l'=2) + 1/3:(d'=2)&(l'=2);
 [count] l=2 & d=0 -> (c0'=true)&(l'=3);
 [count] l=2 & d!=0 -> (l'=3);
 [] l=3 & d=1 -> (c1'=true)&(l'=4);
 [] l=3 & d!=1 -> (l'=4);
 [] l=4 & d=2 -> (c2'=true)&(l'=0);
 [] l=4 & d!=2 -> (l'=0);
 [] l=5 -> true;
endmodule
label "done" = l=5;
rewards "draws" [count] true : 1; endrewards
rewards "lucky" l=3 & d=1 : 1; endrewards
`

// TestEliminate compares the updates of the remaining commands, as sets of variables that they assign.
func TestEliminate(t *testing.T) {
	for _, test := range []struct{ model, property, want string }{
		{coupons, `P=? [ F "done" ]`, "c0 c1 c2; l+c0+c1+c2; c0+c1+c2; "}, // at the end, all are dead
		{coupons, `R{"draws"}=? [ F "done" ]`, "c0 c1 c2; l+c0+c1+c2; c0+c1+c2; "},
		{coupons, `P=? [ F d=2 ]`, "l+d+c0 l+d l+d; l+c0+c1+c2; l+c0; l; l+c1; l; l+c2; l; c0+c1+c2; "}, // the value of d is observed; d=0 is followed by c0'=true
		{coupons, `R{"lucky"}=? [ F "done" ]`, "d+c0 l+d+c1 d+c2; l+c0+c1+c2; l+c1; c0+c1+c2; "},        // a path ends before the reward
		{coupons, `P=? [ F<=9 "done" ]`, "none"},
		{coupons, `P=? [ X "done" ]`, "none"},
		{coupons, `P=? [ F P>=0.5 [ F "done" ] ]`, "none"},
		{coupons, `P=? [ F "deadlock" ]`, "none"},
		{strings.Replace(coupons, "dtmc", "ctmc", 1), `P=? [ F "done" ]`, "none"},
	} {
		properties, program := sematest.Properties(t, sematest.Program(t, test.model), test.property)
		smaller := elimination.Eliminate(t.Context(), &logic.Property{Property: properties[0], Program: program})
		found := "none"
		if smaller != nil {
			found = ""
			for _, command := range smaller.Modules[0].Commands {
				var updates []string
				for _, update := range command.Updates {
					var names []string
					for _, assign := range update.Assigns {
						names = append(names, smaller.Vars[assign.Slot].Name)
					}
					updates = append(updates, strings.Join(names, "+"))
				}
				found += fmt.Sprint(strings.Join(updates, " "), "; ")
			}
		}
		if found != test.want {
			t.Errorf("%s: %q, want %q", test.property, found, test.want)
		}
	}
}
