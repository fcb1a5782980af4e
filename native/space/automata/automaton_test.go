package automata_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/native/space/automata"
)

func unary(op automata.Op, x *automata.Formula) *automata.Formula { return automata.Unary(op, x) }

func globally(x *automata.Formula) *automata.Formula { return unary(automata.Globally, x) }

func finally(x *automata.Formula) *automata.Formula { return unary(automata.Finally, x) }

func next(x *automata.Formula) *automata.Formula { return unary(automata.Next, x) }

func within(op automata.Op, x *automata.Formula, low, high int) *automata.Formula {
	return &automata.Formula{Op: op, X: x, Bound: &automata.Bound{Low: low, High: high}}
}

// fold joins n formulas.
func fold(op automata.Op, n int, f func(i int) *automata.Formula) *automata.Formula {
	out := f(0)
	for i := 1; i < n; i++ {
		out = automata.Binary(op, out, f(i))
	}
	return out
}

// explore makes all states. It returns how many the initial part has and how
// many jumps.
func explore(t *testing.T, a *automata.Automaton, props int) (initial, jumps int) {
	t.Helper()
	var order []int
	seen := map[int]bool{}
	visit := func(q int) {
		if !seen[q] {
			seen[q] = true
			order = append(order, q)
		}
	}
	visit(a.Initial())
	steps := func(q int) {
		for letter := range uint64(1) << props {
			to, err := a.Step(q, letter)
			if err != nil {
				t.Fatal(err)
			}
			visit(to)
		}
	}
	for i := 0; i < len(order); i++ {
		steps(order[i])
	}
	initial = len(order)
	for i := 0; i < len(order); i++ {
		list, err := a.Jumps(order[i])
		if err != nil {
			t.Fatal(err)
		}
		jumps += len(list)
		for _, q := range list {
			visit(q)
		}
		steps(order[i])
	}
	return initial, jumps
}

// TestSizes: common formulas have small automata, and deterministic ones where
// they need no guess.
func TestSizes(t *testing.T) {
	p := automata.Atom
	recurs := func(i int) *automata.Formula { return globally(finally(p(i))) }
	settles := func(i int) *automata.Formula { return finally(globally(p(i))) }
	answered := func(i int) *automata.Formula {
		return globally(automata.Binary(automata.Implies, p(2*i), finally(p(2*i+1))))
	}
	fair := func(i int) *automata.Formula {
		return automata.Binary(automata.Implies, recurs(2*i), recurs(2*i+1))
	}
	for _, tt := range []struct {
		f              *automata.Formula
		props          int
		initial, jumps int
	}{
		{finally(p(0)), 1, 2, 0},
		{globally(p(0)), 1, 2, 0},
		{fold(automata.And, 3, func(i int) *automata.Formula { return finally(p(i)) }), 3, 8, 0},
		{automata.Binary(automata.Until, p(0), automata.Binary(automata.Until, p(1), p(2))), 3, 5, 0},
		{within(automata.Finally, p(0), 0, 9), 1, 12, 0},
		{globally(within(automata.Finally, p(0), 0, 9)), 1, 11, 0},
		{recurs(0), 1, 1, 1},
		{settles(0), 1, 1, 1},
		{finally(globally(finally(p(0)))), 1, 1, 1},
		{fold(automata.And, 5, recurs), 5, 1, 1},
		{fold(automata.Or, 5, recurs), 5, 1, 5},
		{fold(automata.And, 5, settles), 5, 1, 1},
		{fold(automata.Or, 5, settles), 5, 1, 5},
		{fold(automata.And, 3, fair), 6, 1, 8},
		{fold(automata.And, 2, answered), 4, 4, 9},
	} {
		a, err := automata.New(tt.f, automata.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		initial, jumps := explore(t, a, tt.props)
		if initial != tt.initial || jumps != tt.jumps {
			t.Errorf("%v: initial part of %d states with %d jumps, want %d with %d", tt.f, initial, jumps, tt.initial, tt.jumps)
		}
	}
}

// TestNumbering: the same questions get the same numbers.
func TestNumbering(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		f := randomFormula(r, 4)
		var texts [2]strings.Builder
		for i := range texts {
			a, err := automata.New(f, automata.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.WriteHOA(&texts[i], []string{"a", "b", "c"}); err != nil {
				t.Fatal(err)
			}
		}
		if texts[0].String() != texts[1].String() {
			t.Fatalf("%v: two different automata", f)
		}
	}
}

// TestPrefixes: the automaton of prefixes accepts with the letter that proves
// the formula.
func TestPrefixes(t *testing.T) {
	p, yes := automata.Atom, automata.Constant(true)
	for _, tt := range []struct {
		f     *automata.Formula
		word  []uint64
		after int // letters, -1 for never
	}{
		{yes, []uint64{0}, 1},
		{p(0), []uint64{1}, 1},
		{p(0), []uint64{0, 1}, -1},
		{next(yes), []uint64{0, 0, 0}, 2},
		{next(next(yes)), []uint64{0, 0, 0}, 3},
		{unary(automata.Not, next(automata.Constant(false))), []uint64{0, 0, 0}, 2},
		{unary(automata.Not, next(yes)), []uint64{0, 0, 0}, -1},
		{automata.Binary(automata.Or, next(p(0)), next(unary(automata.Not, p(0)))), []uint64{0, 0, 0}, 2},
		{automata.Binary(automata.Or, finally(p(0)), next(finally(unary(automata.Not, p(0))))), []uint64{0, 0, 0}, 2},
		{automata.Binary(automata.And, finally(p(0)), finally(p(1))), []uint64{0, 1, 0, 2}, 4},
		{automata.Binary(automata.Until, next(next(yes)), p(0)), []uint64{0, 1, 0, 0}, 3},
		{finally(automata.Binary(automata.And, p(0), next(p(1)))), []uint64{1, 1, 2}, 3},
		{unary(automata.Not, globally(p(0))), []uint64{1, 1, 0}, 3},
	} {
		a, err := automata.NewPrefixes(tt.f, automata.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		q, after := a.Initial(), -1
		for i, letter := range tt.word {
			if q, err = a.Step(q, letter); err != nil {
				t.Fatal(err)
			}
			if after < 0 && a.Class(q) == automata.Accepted {
				after = i + 1
			}
		}
		if after != tt.after {
			t.Errorf("%v: accepts %v after %d letters, want %d", tt.f, tt.word, after, tt.after)
		}
	}
}

func TestRefusals(t *testing.T) {
	p := automata.Atom
	if _, err := automata.NewPrefixes(finally(globally(p(0))), automata.Limits{}); err == nil || err.Error() != "(F (G p0)) is not syntactically co-safe" {
		t.Errorf("prefixes: %v", err)
	}
	for _, tt := range []struct {
		f    *automata.Formula
		want string
	}{
		{p(64), "found proposition 64, wanted 0 to 63"},
		{within(automata.Finally, p(0), 3, 2), "found bound [3,2] of an operator, wanted 0 <= lower <= upper"},
		{within(automata.Next, p(0), 0, 2), "found a bound of the operator X, which cannot have one"},
		{&automata.Formula{Op: 99, X: p(0)}, "found operator number 99, wanted a temporal operator"},
	} {
		if _, err := automata.New(tt.f, automata.Limits{}); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if _, err := automata.New(within(automata.Finally, p(0), 0, 1<<30), automata.Limits{Nodes: 1000}); !errors.Is(err, automata.ErrTooLarge) {
		t.Errorf("a long bound: %v", err)
	}
	a, err := automata.New(within(automata.Finally, p(0), 0, 100), automata.Limits{States: 10})
	for q := 0; err == nil; {
		q, err = a.Step(q, 0)
	}
	if !errors.Is(err, automata.ErrTooLarge) || a.NumStates() != 10 {
		t.Errorf("%d states: %v", a.NumStates(), err)
	}
	wide, err := automata.New(fold(automata.Or, 18, func(i int) *automata.Formula { return finally(globally(p(i))) }), automata.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wide.Jumps(0); !errors.Is(err, automata.ErrTooLarge) {
		t.Errorf("many guesses: %v", err)
	}
}

func TestCoSafe(t *testing.T) {
	p := automata.Atom(0)
	not := func(f *automata.Formula) *automata.Formula { return unary(automata.Not, f) }
	for _, tt := range []struct {
		f    *automata.Formula
		want bool
	}{
		{p, true},
		{finally(next(p)), true},
		{globally(p), false},
		{not(globally(p)), true},
		{not(finally(p)), false},
		{automata.Binary(automata.Implies, globally(p), p), true},
		{automata.Binary(automata.Implies, finally(p), p), false},
		{automata.Binary(automata.Iff, finally(p), p), false},
		{automata.Binary(automata.Iff, next(p), p), true},
		{automata.Binary(automata.WeakUntil, p, p), false},
		{not(automata.Binary(automata.WeakUntil, p, p)), true},
		{not(automata.Binary(automata.Release, p, p)), true},
		{within(automata.Globally, p, 0, 3), true},
		{within(automata.Globally, p, 3, automata.Unbounded), false},
	} {
		if got := automata.CoSafe(tt.f); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.f, got, tt.want)
		}
	}
}
