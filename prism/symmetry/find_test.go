package symmetry_test

import (
	"fmt"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
	"tilecheck/prism/symmetry"
)

// voters are three modules by renaming, and one that differs by its initial value.
const voters = `mdp
global round : [0..3];
module m1
  x1 : [0..2]; b1 : bool;
  [] x1=0 & round<3 -> 0.5:(x1'=1) & (round'=round+1) + 0.5:(x1'=2);
  [vote1] x1=1 & (b1 | x1+x2+x3>2) -> (b1'=!b1);
  [all] x1>0 -> true;
endmodule
module m2 = m1 [x1=x2, x2=x1, b1=b2, vote1=vote2] endmodule
module m3 = m1 [x1=x3, x3=x1, b1=b3, vote1=vote3] endmodule
module m4
  x4 : [0..2] init 1; b4 : bool;
  [] x4=0 & round<3 -> 0.5:(x4'=1) & (round'=round+1) + 0.5:(x4'=2);
endmodule
rewards "votes" [vote1] true : 1; [vote2] true : 1; [vote3] true : 1; endrewards
rewards "first" b1 : 1; endrewards
label "agree" = x1=x2 & x2=x3;
`

func TestFind(t *testing.T) {
	for property, want := range map[string]string{
		`Pmax=? [ F "agree" ]`:                         "[[0 1 2]]", // equal under every permutation, though its text is not
		`Pmax=? [ F x1+x3+x2=6 ]`:                      "[[0 1 2]]",
		`Pmax=? [ round<2 U max(x2, x3, x1)=1 ]`:       "[[0 1 2]]",
		`Pmax=? [ F x1=2 ]`:                            "[[1 2]]",
		`Pmax=? [ F x4=2 ]`:                            "[[0 1 2]]",
		`Pmax=? [ F x1=2 & P>0.5 [ X x2=1 ] ]`:         "[]", // only the third is left alone
		`R{"votes"}max=? [ C<=5 ]`:                     "[[0 1 2]]",
		`R{"first"}max=? [ C<=5 ]`:                     "[[1 2]]",
		`filter(max, Pmax=? [ F round=3 ], x1=x2)`:     "[[0 1]]",
		`filter(count, P>0.5 [ F round=3 ])`:           "[]",
		`multi(Pmax=? [ F round=3 ], P>=0.1 [ F b4 ])`: "[]",
	} {
		program, x := read(t, voters, property)
		found := [][]int{}
		for _, class := range symmetry.Find(program, x) {
			found = append(found, class.Modules)
		}
		if got := fmt.Sprint(found); got != want {
			t.Errorf("%s: classes %s, want %s", property, got, want)
		}
	}
}

// read returns a program and the formula of a property of it.
func read(t *testing.T, model, property string) (*sema.Program, sema.Expr) {
	t.Helper()
	list, extended := sematest.Properties(t, sematest.Program(t, model), property)
	return extended, list[0].Expr
}
