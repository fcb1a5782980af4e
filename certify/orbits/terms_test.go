package orbits

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// parse returns the model and the program of a text.
func parse(t *testing.T, text string) (*sema.Model, *sema.Program) {
	t.Helper()
	tree, err := syntax.ParseModelOf(syntax.Storm, "m.prism", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	model, err := sema.CheckModel(tree)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	program, err := model.Instantiate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return model, program
}

// formula is a random formula of x, y and z as a text; swapped has x and y exchanged, and the operands of commutative operators in another order.
type formula struct{ text, swapped string }

// randomNumber returns a random integer expression.
func randomNumber(r *rand.Rand, depth int) formula {
	if depth == 0 {
		return []formula{{"x", "y"}, {"y", "x"}, {"z", "z"}, {"1", "1"}, {"2", "2"}}[r.IntN(5)]
	}
	left, right := randomNumber(r, depth-1), randomNumber(r, r.IntN(depth))
	if op := []string{"+", "*", "-", "min", "max"}[r.IntN(5)]; len(op) == 1 {
		return combine(r, left, right, op, op != "-")
	} else if r.IntN(2) == 0 {
		return formula{op + "(" + left.text + "," + right.text + ")", op + "(" + right.swapped + "," + left.swapped + ")"}
	} else {
		return formula{op + "(" + left.text + "," + right.text + ")", op + "(" + left.swapped + "," + right.swapped + ")"}
	}
}

// randomFormula returns a random formula.
func randomFormula(r *rand.Rand, depth int) formula {
	if depth == 0 {
		op := []string{"=", "<", "!=", ">="}[r.IntN(4)]
		return combine(r, randomNumber(r, r.IntN(3)), randomNumber(r, r.IntN(2)), op, op == "=" || op == "!=")
	}
	op := []string{"&", "|", "=>", "<=>"}[r.IntN(4)]
	return combine(r, randomFormula(r, depth-1), randomFormula(r, r.IntN(depth)), op, op != "=>")
}

// combine applies an operator. If it commutes, the operands of the swapped formula may be exchanged.
func combine(r *rand.Rand, left, right formula, op string, commutes bool) formula {
	swapped := "(" + left.swapped + op + right.swapped + ")"
	if commutes && r.IntN(2) == 0 {
		swapped = "(" + right.swapped + op + left.swapped + ")"
	}
	return formula{"(" + left.text + op + right.text + ")", swapped}
}

// isNoTruthValue reports whether an expression is not the constant true or false.
func isNoTruthValue(expr sema.Expr) bool {
	constant, ok := expr.(*sema.Const)
	return !ok || constant.Val.Type != sema.Bool
}

// TestTerms compares the numbers of random formulas after the swap of two variables with their values in all states: a formula and its swapped text have equal
// numbers, and formulas with equal numbers have equal values.
func TestTerms(t *testing.T) {
	equal, unequal := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		first, second := randomFormula(r, 2), randomFormula(r, 1)
		if r.IntN(2) == 0 { // small formulas are often equal by chance
			first, second = randomFormula(r, 0), randomFormula(r, 0)
		}
		_, program := parse(t, fmt.Sprintf("dtmc module m x : [0..2]; y : [0..2]; z : [0..2]; endmodule\nlabel \"a\" = %s;\nlabel \"b\" = %s;\nlabel \"c\" = %s;\n", first.text, first.swapped, second.text))
		swap := identity(program)
		swap.variables[0], swap.variables[1] = 1, 0
		shared := &terms{map[string]int{}}
		original, image := &reader{shared, identity(program), map[sema.Expr]term{}}, &reader{shared, swap, map[sema.Expr]term{}}
		a, b, c := program.Labels[0].Expr, program.Labels[1].Expr, program.Labels[2].Expr
		isFolded := !sema.Every(b, isNoTruthValue) || !sema.Every(a, isNoTruthValue) // of true|x and x|true, the front end folds one
		if !isFolded && image.expr(a) != original.expr(b) {
			t.Errorf("%s after the swap is not %s", first.text, first.swapped)
		}
		for _, other := range []sema.Expr{a, b, c} {
			if image.expr(a) != original.expr(other) {
				unequal++
				continue
			}
			equal++
			forValuations(program, []int{0, 1, 2}, 27, func(state []int32) bool {
				value, _, err := sema.EvalExact(a, []int32{state[1], state[0], state[2]})
				otherValue, _, otherErr := sema.EvalExact(other, state)
				if err != nil || otherErr != nil || value.Bool != otherValue.Bool {
					t.Errorf("%s: %v after the swap in %v, %v, want %v", first.text, value, state, err, otherValue)
				}
				return true
			})
		}
	}
	if equal < 400 || unequal < 400 {
		t.Errorf("%d equal and %d different formulas, want more of each", equal, unequal)
	}
}

// TestAutomorphisms checks permutations of small programs that are automorphisms, and others that are not.
func TestAutomorphisms(t *testing.T) {
	const pair = "%s\nmodule a x : [0..2]; [%s] x<2 & %s -> 0.5:(x'=x+1) + 0.5:(x'=0); endmodule\nmodule b y : [0..2]; [%s] y<2 & %s -> 0.5:(y'=0) + 0.5:(y'=1+y); endmodule\n%s"
	for _, test := range []struct {
		text string
		want bool
	}{
		{fmt.Sprintf(pair, "mdp", "", "y<2", "", "2>x", ""), false}, // the comparison is not turned round
		{fmt.Sprintf(pair, "mdp", "", "y<2", "", "x<2", ""), true},
		{fmt.Sprintf(pair, "mdp", "go", "true", "go", "true", ""), true},
		{fmt.Sprintf(pair, "mdp", "go", "true", "", "true", ""), false},
		{fmt.Sprintf(pair, "mdp", "", "y<1", "", "x<2", ""), false},
		{fmt.Sprintf(pair, "mdp", "", "log(x+2,2)>0", "", "log(y+2,2)>0", ""), true},
		{fmt.Sprintf(pair, "mdp", "", "true", "", "true", "init x=y endinit"), true},
		{fmt.Sprintf(pair, "mdp", "", "true", "", "true", "init x<y endinit"), false},
		{fmt.Sprintf(pair, "mdp", "", "true", "", "true", "module c z : bool; [] x=0 -> (z'=true); endmodule"), false},
		{fmt.Sprintf(pair, "mdp", "", "true", "", "true", "module c z : bool; [] x=0 & y=0 -> (z'=true); endmodule"), true},
		{fmt.Sprintf(pair, "ctmc", "", "true", "", "true", "module c z : bool; [] true -> x+y+1:(z'=!z); endmodule"), true},
		{fmt.Sprintf(pair, "ctmc", "", "true", "", "true", "module c z : bool; [] true -> x+2*y+1:(z'=!z); endmodule"), false},
		{fmt.Sprintf(pair, "ctmc", "", "true", "", "true", "module c z : bool; [go] true -> (z'=!z); endmodule module d w : bool; [go] x=0 -> (w'=!w); endmodule"), false},
	} {
		_, program := parse(t, test.text)
		swap := identity(program)
		swap.variables[0], swap.variables[1] = 1, 0
		_, err := newAutomorphisms(program, &group{generators: []*permutation{swap}})
		if found := err == nil; found != test.want {
			t.Errorf("the swap of x and y is an automorphism: %v, %v, want %v\n%s", found, err, test.want, test.text)
		}
	}
}
