package shield_test

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/interval"
	"tilecheck/internal/needs"
	"tilecheck/native/explain/shield"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// question is Pmax of reaching x=1, or with negated of never reaching it, in a model
// whose variable x comes first.
func question(t *testing.T, text string, negated bool) (*shield.Question, *syntax.Model) {
	t.Helper()
	tree, err := syntax.ParseModel("m.prism", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	space := explicittest.Space(t, text, explicit.Options{Exact: true})
	n := space.Model().NumStates()
	goal := sparse.NewSet(n)
	for s := range n {
		if space.State(nil, s)[0] == 1 {
			goal.Add(s)
		}
	}
	return &shield.Question{Space: space, Left: sparse.FullSet(n), Right: goal, Negated: negated, Max: true}, tree
}

const (
	// 1/2 or 9/10 to the goal.
	ways = "mdp module m x:[0..2]; [safe] x=0 -> 1/2:(x'=1) + 1/2:(x'=2); [risky] x=0 -> 9/10:(x'=1) + 1/10:(x'=2); endmodule"
	// Two steps, in each of which the second choice loses a tenth of what is left.
	twice = "mdp module m x:[0..3]; y:[0..1]; [a] x=0 & y=0 -> (y'=1); [b] x=0 & y=0 -> 9/10:(y'=1) + 1/10:(x'=2);" +
		" [] x=0 & y=1 -> (x'=1); [] x=0 & y=1 -> 9/10:(x'=1) + 1/10:(x'=2); endmodule"
	// One may wait for ever, without loss in any step.
	wait = "mdp module m x:[0..1]; [go] x=0 -> (x'=1); [wait] x=0 -> true; endmodule"
)

// The expectations are by hand.
func TestShield(t *testing.T) {
	for _, tt := range []struct {
		model     string
		negated   bool
		threshold string
		opts      shield.Options
		allowed   int // of the choices before the goal is reached or missed
		promise   string
	}{
		{ways, false, "0.3", shield.Options{}, 1, "9/10 9/10 9/10"},
		{ways, false, "0.4", shield.Options{}, 2, "9/10 1/2 7/10"},
		{ways, false, "0.44", shield.Options{Relative: true}, 1, "9/10 9/10 9/10"},
		{ways, false, "4/9", shield.Options{Relative: true}, 2, "9/10 1/2 7/10"},
		{ways, true, "0.3", shield.Options{}, 1, "1/2 1/2 1/2"},
		{ways, true, "0.4", shield.Options{}, 2, "1/2 1/10 3/10"},
		{twice, false, "0.1", shield.Options{}, 4, "1 81/100 361/400"},
		{twice, false, "0.1", shield.Options{Total: true}, 2, "1 1 1"},
		{twice, false, "0.19", shield.Options{Total: true}, 4, "1 81/100 361/400"},
		{wait, false, "0", shield.Options{}, 2, "1 0 1"},
		{wait, false, "0.5", shield.Options{Total: true}, 1, "1 1 1"},
	} {
		q, tree := question(t, tt.model, tt.negated)
		tt.opts.Threshold, _ = new(big.Rat).SetString(tt.threshold)
		tt.opts.Exact = true
		x, err := shield.New(t.Context(), q, &tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		allowed := 0
		for s := range q.Space.Model().NumStates() {
			first, end := q.Space.Model().Choices(s)
			for c := first; end-first > 1 && c < end; c++ {
				if x.Allowed.Has(c) {
					allowed++
				}
			}
		}
		got := promise(t, x)
		if allowed != tt.allowed || got != tt.promise {
			t.Errorf("%+v: found %d allowed, promise %s", tt, allowed, got)
		}
		// The model that cannot do anything else has the same values.
		text, err := x.Model(t.Context(), tree)
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		again, _ := question(t, string(text), tt.negated)
		all, err := shield.New(t.Context(), again, &shield.Options{Threshold: big.NewRat(1, 1), Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		if p := promise(t, all); p != got {
			t.Errorf("%+v: the model has %s, want %s:\n%s", tt, p, got, text)
		}
	}
}

// A choice loses the threshold itself, at the end of a long walk: fractions of what comes after it tell, and
// the rest of the model has bounds.
func TestAtTheThreshold(t *testing.T) {
	const model = "mdp module m x:[0..40] init 40;\n" +
		"[] x>5 -> 1/3:(x'=x-1) + 2/3:(x'=min(40,x+1)); [] x>30 -> 1/3:(x'=x-1) + 1/3:(x'=x-2) + 1/3:(x'=3);\n" +
		"[] x=5 -> 9/10:(x'=1) + 1/10:(x'=2); [] x=5 -> 17/20:(x'=1) + 3/20:(x'=2); [] x<5 -> true; endmodule"
	for threshold, allowed := range map[string]int{"1/20": 2, "499999999999999/10000000000000000": 1} {
		q, _ := question(t, model, false)
		d, _ := new(big.Rat).SetString(threshold)
		x, err := shield.New(t.Context(), q, &shield.Options{Threshold: d})
		if err != nil {
			t.Fatal(err)
		}
		p, err := x.Promise(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s, _ := q.Space.Find([]int32{5})
		n := 0
		for first, end := q.Space.Model().Choices(s); first < end; first++ {
			if x.Allowed.Has(first) {
				n++
			}
		}
		if n != allowed || p.Best.Exact != nil {
			t.Errorf("within %s: found %d choices, want %d; best is %+v, want bounds", threshold, n, allowed, p.Best)
		}
	}
}

// The worst scheduler that obeys attains what is promised, and obeys.
func TestObeying(t *testing.T) {
	for _, model := range []string{ways, twice, wait} {
		for _, negated := range []bool{false, true} {
			for _, threshold := range []string{"0", "0.1", "0.4", "1", "1e30"} {
				q, _ := question(t, model, negated)
				d, _ := new(big.Rat).SetString(threshold)
				x, err := shield.New(t.Context(), q, &shield.Options{Threshold: d, Exact: true})
				if err != nil {
					t.Fatal(err)
				}
				p, err := x.Promise(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for s, c := range p.WorstScheduler {
					if first, end := q.Space.Model().Choices(s); int(c) < first || int(c) >= end || !x.Allowed.Has(int(c)) {
						t.Errorf("%s, %s: state %d has choice %d, which is not allowed", model, threshold, s, c)
					}
				}
				if got, err := x.ProbabilityUnder(t.Context(), p.WorstScheduler); err != nil || got.Exact.Cmp(p.Worst.Exact) != 0 {
					t.Errorf("%s, %s: found %v and %v, want %v", model, threshold, got.Exact, err, p.Worst.Exact)
				}
			}
		}
	}
}

func promise(t *testing.T, x *shield.Shield) string {
	t.Helper()
	p, err := x.Promise(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p.Best.Exact.RatString() + " " + p.Worst.Exact.RatString() + " " + p.Uniform.Exact.RatString()
}

// Two choices with one action cannot be told apart by a module; a file can.
func TestOneAction(t *testing.T) {
	q, tree := question(t, strings.ReplaceAll(strings.ReplaceAll(ways, "safe", "a"), "risky", "a"), false)
	x, err := shield.New(t.Context(), q, &shield.Options{Threshold: new(big.Rat)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Model(t.Context(), tree); err == nil || !strings.Contains(err.Error(), "only some choices of action a") {
		t.Errorf("found %v", err)
	}
	var b bytes.Buffer
	if err := x.JSON(t.Context(), &b); err != nil || strings.Count(b.String(), `"index"`) != q.Space.Model().NumStates() {
		t.Errorf("found %v and %s", err, b.String())
	}
}

// Bounds allow what fractions allow, and contain what they promise, on random models with cycles, ties and choices at the threshold itself.
func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	bounded := 0
	for range needs.Some(60) {
		const states = 12
		var b strings.Builder
		fmt.Fprintf(&b, "mdp module m x:[0..%d] init 2;\n", states)
		for s := 2; s <= states; s++ {
			for range 1 + rng.IntN(3) {
				p := 1 + rng.IntN(9)
				fmt.Fprintf(&b, "[] x=%d -> %d/10:(x'=%d) + %d/10:(x'=%d);\n", s, p, rng.IntN(states+1), 10-p, rng.IntN(states+1))
			}
		}
		b.WriteString("[] x<2 -> true; endmodule")
		for _, opts := range []shield.Options{
			{Threshold: big.NewRat(1, 10)}, {Threshold: big.NewRat(int64(rng.IntN(100)), 997)}, {Threshold: big.NewRat(1, 5), Relative: true}, {Threshold: new(big.Rat)},
		} {
			q, _ := question(t, b.String(), rng.IntN(2) == 0)
			q.Max = rng.IntN(2) == 0
			got, err := shield.New(t.Context(), q, &opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Exact = true
			want, err := shield.New(t.Context(), q, &opts)
			if err != nil {
				t.Fatal(err)
			}
			for c := range q.Space.Model().NumChoices() {
				if got.Allowed.Has(c) != want.Allowed.Has(c) {
					t.Fatalf("choice %d is allowed by bounds: %v\n%+v %s", c, got.Allowed.Has(c), opts, b.String())
				}
			}
			p, err := got.Promise(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r, err := want.Promise(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range [][2]interval.Number{{p.Best, r.Best}, {p.Worst, r.Worst}, {p.Uniform, r.Uniform}, {p.Free, r.Free}} {
				f, _ := x[1].Exact.Float64()
				if x[0].Exact == nil {
					bounded++
				}
				if f < x[0].Lo-1e-16 || f > x[0].Hi+1e-16 || x[0].Hi-x[0].Lo > 1e-9 {
					t.Errorf("found [%v, %v], the fraction is %v", x[0].Lo, x[0].Hi, f)
				}
			}
		}
	}
	if bounded == 0 {
		t.Error("bounds never told")
	}
}
