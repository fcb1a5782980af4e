package sema

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
)

// randomNumber writes a random numeric expression over the variables x and y.
func randomNumber(random *rand.Rand, depth int) string {
	atoms := []string{"x", "y", "0.1", "0.3", "(1/3)", "0.25", "7", "1e-3", "(-0.7)", "1e40", "0.30000000000000004"}
	if depth == 0 {
		return atoms[random.IntN(len(atoms))]
	}
	left, right := randomNumber(random, depth-1), randomNumber(random, random.IntN(depth))
	switch random.IntN(7) {
	case 0:
		return fmt.Sprintf("(%s/%s)", left, right)
	case 1:
		return fmt.Sprintf("(x>2?%s:%s)", left, right)
	case 2:
		return fmt.Sprintf("min(%s,%s)", left, right)
	case 3:
		return fmt.Sprintf("(%s*%s)", left, right)
	case 4:
		return fmt.Sprintf("(-%s)", left)
	default:
		return fmt.Sprintf("(%s%c%s)", left, "+-"[random.IntN(2)], right)
	}
}

// TestNumberFacts: in every state, the float64 value and the exact value of random expressions are within the bounds and the errors that
// the analysis gives for all states.
func TestNumberFacts(t *testing.T) {
	random := rand.New(rand.NewPCG(20261126, 1))
	expressions := needs.OrFull(600, 2000)
	known, relative := 0, 0
	for range expressions {
		src := randomNumber(random, 1+random.IntN(4))
		tree, err := syntax.ParseModel("", []byte("mdp module m x:[-2..5]; y:[1..9]; [] true->true; endmodule rewards true: "+src+"; endrewards"))
		if err != nil {
			t.Fatal(err)
		}
		model, err := CheckModel(tree)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		program, err := model.Instantiate(nil)
		if err != nil {
			continue // a constant part of it divides by zero
		}
		e := program.Rewards[0].Items[0].Value
		facts := NewFloatAnalysis(program).Facts(e)
		if !math.IsInf(facts.AbsErr, 1) {
			known++
		}
		if !math.IsNaN(facts.RelErr) {
			relative++
		}
		for x := int32(-2); x <= 5; x++ {
			for y := int32(1); y <= 9; y++ {
				checkFacts(t, fmt.Sprintf("%s with x=%d, y=%d", src, x, y), e, facts, []int32{x, y})
			}
		}
	}
	if known < expressions/3 || relative < expressions/4 {
		t.Errorf("%d absolute and %d relative errors of %d are known", known, relative, expressions)
	}
}

// checkFacts checks facts against the float64 value and the exact value in one state.
func checkFacts(t *testing.T, what string, e Expr, facts NumberFacts, state []int32) {
	t.Helper()
	exact, ok, err := EvalExact(e, state)
	value, floatErr := Eval(e, state)
	if err != nil || !ok || floatErr != nil {
		return
	}
	if exact.Type == Int {
		exact.Rat, value.Float = big.NewRat(int64(exact.Int), 1), float64(value.Int)
	}
	if exact.Rat == nil || math.IsInf(value.Float, 0) || math.IsNaN(value.Float) {
		return
	}
	difference := distance(value.Float, exact.Rat)
	if value.Float < facts.Lo || value.Float > facts.Hi {
		t.Errorf("%s: %v is outside [%v, %v]", what, value.Float, facts.Lo, facts.Hi)
	}
	if value.Float != 0 && math.Abs(value.Float) < facts.MinAbs {
		t.Errorf("%s: %v is nearer to zero than %v", what, value.Float, facts.MinAbs)
	}
	if !math.IsInf(facts.AbsErr, 1) && difference.Cmp(new(big.Rat).SetFloat64(facts.AbsErr)) > 0 {
		t.Errorf("%s: the error of %v exceeds %v", what, value.Float, facts.AbsErr)
	}
	if math.IsNaN(facts.RelErr) {
		return
	}
	allowed := new(big.Rat).Mul(new(big.Rat).Abs(exact.Rat), new(big.Rat).SetFloat64(facts.RelErr))
	if difference.Cmp(allowed) > 0 {
		t.Errorf("%s: the relative error of %v exceeds %v", what, value.Float, facts.RelErr)
	}
}
