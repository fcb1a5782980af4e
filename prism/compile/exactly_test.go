package compile

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/sema"
)

// hurtful writes a number over x and y that doubles get wrong in some states.
func hurtful(rng *rand.Rand, depth int) string {
	leaves := []string{"x", "y", "0.1", "0.3", "(1/3)", "7", "0.5", "(1/49)", "1e-17", "(1-1e-17)", "1e16", "x/10", "y*0.1", "3"}
	if depth == 0 || rng.IntN(4) == 0 {
		return leaves[rng.IntN(len(leaves))]
	}
	a, b := hurtful(rng, depth-1), hurtful(rng, depth-1)
	switch rng.IntN(8) {
	case 0:
		return fmt.Sprintf("(%s/%s)", a, []string{"3", "10", "(y+1)", "49", "0.7"}[rng.IntN(5)])
	case 1:
		return fmt.Sprintf("(%s*%s)", a, b)
	case 2:
		return fmt.Sprintf("min(%s,%s)", a, b)
	case 3:
		return fmt.Sprintf("(x>y?%s:%s)", a, b)
	case 4, 5:
		return fmt.Sprintf("(%s-%s)", a, b)
	}
	return fmt.Sprintf("(%s+%s)", a, b)
}

// TestCareful: what compares or rounds has the value that fractions give, and
// where doubles have another one they are said to be doubtful. Most are not.
// The seed is fixed; no other can fail either.
func TestCareful(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	states, doubted, bySlack := 0, 0, 0
	for range needs.OrFull(1000, 3000) {
		text := fmt.Sprintf("%s %s %s", hurtful(rng, 3), []string{"=", "!=", "<", "<=", ">", ">="}[rng.IntN(6)], hurtful(rng, 3))
		if rng.IntN(3) == 0 {
			text = fmt.Sprintf("%s(%s)=%d", []string{"floor", "ceil", "round"}[rng.IntN(3)], hurtful(rng, 3), rng.IntN(4))
		}
		m := model(t, `dtmc module m x:[0..12]; y:[0..12]; [] true -> true; endmodule label "l" = `+text+`;`, Options{})
		e := m.program.Labels[0].Expr
		f, err := m.Evaluator(e)
		if err != nil {
			t.Fatal(err)
		}
		doubtful, err := m.Doubtful(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range m.floatAnalysis.Doubtful(e) {
			if m.floatAnalysis.IsExactWithError(d) {
				bySlack++
			}
		}
		term := m.newGraphBuilder().expr(e)
		for x := range int32(13) {
			state := []int32{x, rng.Int32N(13)}
			truth, _, err := sema.EvalExact(e, state)
			if err != nil { // a number too large to be rounded
				continue
			}
			if got, err := f.Bool(state); err != nil || got != truth.Bool {
				t.Fatalf("%s in %v: %v, %v, want %v", text, state, got, err, truth.Bool)
			}
			if got := evaluate(term, state); !got.failed && (got.i == 1) != truth.Bool {
				t.Fatalf("%s in %v: the machine has %v, want %v", text, state, got, truth.Bool)
			}
			doubt := doubtful != nil && doubtful(state)
			if v, err := sema.Eval(e, state); (err != nil || v.Bool != truth.Bool) && !doubt {
				t.Fatalf("%s in %v: doubles have %v, %v, fractions %v, and nobody doubts", text, state, v.Bool, err, truth.Bool)
			}
			states++
			if doubt {
				doubted++
			}
		}
	}
	if doubted == 0 || doubted*3 > states {
		t.Errorf("%d of %d are doubtful, want some, and few", doubted, states)
	}
	if bySlack < needs.OrFull(150, 500) {
		t.Errorf("doubles and what they are off by decide %d expressions that doubles alone do not, want more", bySlack)
	}
}
