package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"tilecheck/prism/sema"
)

// TestExpressions checks the values PRISM's explicit engine gives (reference,
// section 1.5, and the corpus cases pr_funcs and pr_func_errs), in the
// interpreter, in the machine, and as terms.
func TestExpressions(t *testing.T) {
	tests := []struct {
		e     string // over x=3 in -5..5, z=0 in -5..5, b=true
		holds bool
		fails bool
	}{
		{e: "x/(z*1.0) > 1e300", holds: true},
		{e: "z/z = z/z", holds: true},
		{e: "z/z < 1", holds: false},
		{e: "0.0*x = -0.0*x", holds: true}, // not in doubles
		{e: "0.1*x = 0.3", holds: true},    // not in doubles
		{e: "floor(0.29*(x+97)) = 29", holds: true},
		{e: "(0.1*x = 0.3 ? 0.1*x : 0.5) < 0.4", holds: true},
		{e: "pow(x,0.5)*pow(x,0.5) = 3", fails: true}, // not decided
		{e: "z*1.0 = 0.0", holds: true},
		{e: "z = 0.0", holds: true},
		{e: "x = 3.0 & x != 3.5 & x < 3.5 & x <= 3.0 & !(x < 3.0) & 2.5 < x & !(3.0 < x)", holds: true},
		{e: "mod(-7*x, 3+z) = 0 & mod(-7+z,3) = 2 & mod(x-10,x) = 2", holds: true},
		{e: "mod(x,z) = 0", fails: true},
		{e: "mod(x,-x) = 0", fails: true},
		{e: "z = 0 | mod(x,z) = 0", holds: true},
		{e: "z != 0 & mod(x,z) = 0", holds: false},
		{e: "z != 0 => mod(x,z) = 0", holds: true},
		{e: "(b ? 1 : mod(x,z)) = 1", holds: true},
		{e: "(b <=> true) & (b = true) & (b != false) & !(b <=> false)", holds: true},
		{e: "round(x-0.5) = 3 & round(-x+0.5) = -2 & round(-x-0.5) = -3", holds: true},
		{e: "round(z/z) = 0", holds: true},
		{e: "floor(x/2) = 1 & ceil(x/2) = 2 & floor(-x/2) = -2 & floor(x) = 3", holds: true},
		{e: "floor(1/z) = 0", fails: true},
		{e: "ceil(x*1e10) = 0", fails: true},
		{e: "floor(z/z) = 0", fails: true},
		{e: "round(x/z) = 0", fails: true},
		{e: "pow(x,2) = 9 & x^3 = 27 & pow(x,z) = 1 & pow(z,x) = 0 & pow(-1*x/x,x) = -1.0", holds: true},
		{e: "pow(-2,x+28) = -2147483647-1", holds: true},
		{e: "pow(2,x+28) = 0", fails: true},
		{e: "pow(x,-x) = 0", fails: true},
		{e: "pow(x,-1.0) > 0.33 & pow(x,0.5) < 1.8", holds: true},
		{e: "pow(x-2.0, z/z) = z/z", holds: true}, // Java: 1 to the power NaN is NaN
		{e: "log(x*3,x) = 2.0", holds: true},
		{e: "log(z,2) < -1e300", holds: true},
		{e: "log(-x,2) = z/z & log(x,1) = z/z & log(x,-2) = z/z & log(x,1/z) = z/z", holds: true},
		{e: "min(x,z,-1) = -1 & max(x,z,2) = 3 & min(x,2.5) = 2.5 & max(x,2.5) = 3.0", holds: true},
		{e: "max(z/z, 5) = z/z & min(z/z,-1/z) = z/z", holds: true},
		{e: "x*1000000000 = 0", fails: true},
		{e: "2147483645 + x = 0", fails: true},
		{e: "-2147483647 - x = 0", fails: true},
		{e: "-(-2147483647-1+z) > 0", fails: true},
		{e: "715827882*x = 2147483646", holds: true},
		{e: "x/2*2 = 3.0 & -x = z-3 & x-z = 3", holds: true},
	}
	for _, tt := range tests {
		m, e := expr(t, "dtmc module m x:[-5..5] init 3; z:[-5..5] init 0; b:bool init true; [] true -> true; endmodule", tt.e, Options{})
		ev, err := m.Evaluator(e)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ev.Bool(m.initialState()); got != tt.holds && !tt.fails || (err != nil) != tt.fails {
			t.Errorf("%s: evaluator %v, %v", tt.e, got, err)
		}
		for _, r := range bothRunners(t, m, Monitor{Kind: Until, Right: e, High: 0}) {
			want := map[bool]Status{true: True, false: False}[tt.holds]
			if tt.fails {
				want = Failed
			}
			if got := r.Run(NewStream(1, 1)).Status; got != want {
				t.Errorf("%s: %s gave %d, want %d", tt.e, r.Name(), got, want)
			}
		}
		b := m.newGraphBuilder()
		b.flattenTerms()
		if got := evaluate(b.expr(e), m.initialState()); m.floatAnalysis.IsDecided(m.program.Labels[0].Expr) && (got.failed != tt.fails || !tt.fails && (got.i == 1) != tt.holds) {
			t.Errorf("%s: term gave %+v", tt.e, got)
		}
	}
}

// TestEval compares the closures and the terms with sema.Eval on random
// expressions in random states. Only whether they fail is compared of errors.
func TestEval(t *testing.T) {
	for seed := range uint64(400) {
		compareEval(t, seed)
	}
}

func FuzzEval(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(1000 + seed)
	}
	f.Fuzz(compareEval)
}

func compareEval(t *testing.T, seed uint64) {
	w := &modelWriter{
		r: rand.New(rand.NewPCG(seed, 7)), ints: []string{"x", "y", "z"}, bools: []string{"b"},
		lows: []int{-2, 0, -1000000}, highs: []int{6, 1, 2000000},
	}
	const decls = "mdp module m x:[-2..6]; y:[0..1]; z:[-1000000..2000000] init 0; b:bool; [] true -> true; endmodule"
	texts := []string{w.boolean(3), w.boolean(2), fmt.Sprintf("%s > 0.5", w.number(2)), fmt.Sprintf("%s = 1", w.integer(3))}
	for _, text := range texts {
		m, _ := expr(t, decls, text, Options{})
		e := m.program.Labels[0].Expr
		ev, err := m.Evaluator(e)
		if err != nil {
			t.Fatal(err)
		}
		b := m.newGraphBuilder()
		b.registerExpr(e)
		b.flattenTerms()
		for range 20 {
			state := randomState(w.r, m)
			want, _, wantErr := sema.EvalExact(e, state)
			got, gotErr := ev.Bool(state)
			if (wantErr != nil) != (gotErr != nil) || wantErr == nil && got != want.Bool {
				t.Fatalf("%s in %s: got %v, %v, want %v, %v", text, m.StateText(state), got, gotErr, want.Bool, wantErr)
			}
			known := b.noFacts()
			for slot, x := range state[:2] {
				known.learn(b.equal(b.variable(slot, sortInt), b.intConst(int64(x))), true)
			}
			for _, tm := range []*term{b.expr(e), known.simplify(b.expr(e))} {
				v := evaluate(tm, state)
				if v.failed != (wantErr != nil) && (!v.failed || m.floatAnalysis.IsDecided(e)) || !v.failed && (v.i == 1) != want.Bool {
					t.Fatalf("%s in %s: term %+v, want %v, %v", text, m.StateText(state), v, want.Bool, wantErr)
				}
				if v.failed && !tm.mayFail {
					t.Fatalf("%s in %s: the term says that it cannot fail", text, m.StateText(state))
				}
			}
		}
	}
}

// TestIntervals checks that every term's value lies in its interval.
func TestIntervals(t *testing.T) {
	for seed := range uint64(100) {
		m, err := corpusModel("random.prism", []byte(randomModel(seed)))
		if err != nil {
			t.Fatal(err)
		}
		p := newMoveGenerator(m, 0)
		p.registerCommands()
		r := rand.New(rand.NewPCG(seed, 3))
		for range 30 {
			state := randomState(r, m)
			for _, tm := range p.builder.terms {
				v := evaluate(tm, state)
				bad := tm.valueSort == sortInt && (v.i < tm.low || v.i > tm.high)
				bad = bad || tm.valueSort == sortFloat && !tm.maybeNaN && !(v.f >= tm.floatLow && v.f <= tm.floatHigh)
				if bad && !v.failed {
					t.Fatalf("seed %d: %+v is %+v in %v", seed, tm, v, state)
				}
			}
		}
	}
	if b := newGraph([]interval{{0, 4}}); b.toInt(opFloor, b.floatOperation(opFloatDiv, b.toFloat(b.variable(0, sortInt)), b.floatConst(2))).mayFail {
		t.Error("floor(x/2) may fail")
	}
	if !math.IsNaN(evaluateFloats(opFloatMin, math.NaN(), math.Inf(-1))) {
		t.Error("min does not propagate NaN")
	}
}
