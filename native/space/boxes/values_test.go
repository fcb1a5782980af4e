package boxes

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
)

// randomExpr returns a random expression over x, y and b, of type int or bool.
func randomExpr(r *rand.Rand, depth int, isBool bool) string {
	number := func() string { return randomExpr(r, depth-1, false) }
	truth := func() string { return randomExpr(r, depth-1, true) }
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	switch {
	case depth == 0 && isBool:
		return pick("b", "x=y", fmt.Sprintf("x<%d", r.IntN(6)), fmt.Sprintf("y!=%d", r.IntN(6)))
	case depth == 0:
		return pick("x", "y", "x", fmt.Sprint(r.IntN(6)))
	case isBool:
		return pick("!"+truth(), "("+truth()+pick(" & ", " | ", " => ", " <=> ")+truth()+")", "("+number()+pick(" = ", " != ", " < ", " <= ", " > ", " >= ")+number()+")", "("+truth()+"?"+truth()+":"+truth()+")", "("+number()+"/2 < 1.5)")
	}
	return pick("("+number()+pick("+", "-", "*")+number()+")", pick("min", "max", "mod")+"("+number()+","+number()+")", "-("+number()+")", "("+truth()+"?"+number()+":"+number()+")", "floor("+number()+"/2)")
}

// TestValues compares the bounds of random expressions in random boxes with the values in all states.
func TestValues(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(needs.Number(t, "TILECHECK_SEED", 1), 0))
	numKnown, numMoved := 0, 0
	for range needs.Some(4000) {
		isBool := r.IntN(2) == 0
		text := randomExpr(r, 1+r.IntN(3), isBool)
		condition := text
		if !isBool {
			condition = "(" + text + ")=0"
		}
		program := sematest.Program(t, "dtmc\nmodule m\n x : [0..5];\n y : [0..5];\n b : bool;\n [] "+condition+" -> true;\nendmodule\n")
		expr := program.Modules[0].Commands[0].Guard
		if comparison, ok := expr.(*sema.Binary); ok && !isBool {
			expr = comparison.X
		}
		b := box{[]int32{int32(r.IntN(6)), int32(r.IntN(6)), int32(r.IntN(2))}, []int32{0, 0, 1}}
		for slot := range 2 {
			b.high[slot] = b.low[slot] + int32(r.IntN(int(6-b.low[slot])))
		}
		checkValues(t, text, expr, b, &numKnown, &numMoved)
	}
	if numKnown == 0 || numMoved == 0 {
		t.Errorf("%d expressions have one value in a box, %d move a variable, want some of each", numKnown, numMoved)
	}
}

// checkValues compares the bounds of an expression in a box with its values in all states of the box.
func checkValues(t *testing.T, text string, expr sema.Expr, b box, numKnown, numMoved *int) {
	t.Helper()
	e := &evaluation{box: b}
	bounds, isKnown := newExpression(expr).bounds(e)
	isOneState := !b.isWide(0) && !b.isWide(1) && !b.isWide(2)
	if !isKnown || !bounds.isSingle() {
		if e.hasProposal && (e.proposal.at <= b.low[e.proposal.slot] || e.proposal.at > b.high[e.proposal.slot]) {
			t.Errorf("%s in %v: proposal %v does not divide the box", text, b, e.proposal)
		}
	}
	if !isKnown {
		if _, err := sema.Eval(expr, b.low); isOneState && err == nil {
			t.Errorf("%s in %v: unknown, want a value", text, b)
		}
		return
	}
	if bounds.isSingle() {
		*numKnown++
	} else if bounds.slot != noVariable {
		*numMoved++
	}
	for x := b.low[0]; x <= b.high[0]; x++ {
		for y := b.low[1]; y <= b.high[1]; y++ {
			for truth := b.low[2]; truth <= b.high[2]; truth++ {
				state := []int32{x, y, truth}
				value, err := sema.Eval(expr, state)
				got := int64(value.InState())
				isMoved := bounds.slot == noVariable || bounds.isSingle() || got-int64(state[bounds.slot]) == bounds.low-int64(b.low[bounds.slot])
				if err != nil || got < bounds.low || got > bounds.high || !isMoved {
					t.Errorf("%s in %v: %d, %v in state %v, want values in %+v", text, b, got, err, state, bounds)
				}
			}
		}
	}
}
