package automata_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/native/space/automata"
)

// lasso is an ultimately periodic word: the letters in order, and from the last
// one back to the letter at loop.
type lasso struct {
	letters []uint64
	loop    int
}

func (w lasso) next(i int) int {
	if i++; i == len(w.letters) {
		return w.loop
	}
	return i
}

// truth evaluates a formula at every position, by the meaning of its operators.
func (w lasso) truth(f *automata.Formula) []bool {
	n := len(w.letters)
	out := make([]bool, n)
	var x, y []bool
	if f.X != nil {
		x = w.truth(f.X)
		y = x
	}
	if f.Y != nil {
		y = w.truth(f.Y)
	}
	for i := range out {
		switch f.Op {
		case automata.True, automata.False:
			out[i] = f.Op == automata.True
		case automata.Prop:
			out[i] = w.letters[i]>>f.Prop&1 == 1
		case automata.Not:
			out[i] = !x[i]
		case automata.And:
			out[i] = x[i] && y[i]
		case automata.Or:
			out[i] = x[i] || y[i]
		case automata.Implies:
			out[i] = !x[i] || y[i]
		case automata.Iff:
			out[i] = x[i] == y[i]
		case automata.Next:
			out[i] = x[w.next(i)]
		case automata.Finally:
			out[i] = w.until(f.Bound, i, func(int) bool { return true }, func(j int) bool { return x[j] })
		case automata.Globally:
			out[i] = !w.until(f.Bound, i, func(int) bool { return true }, func(j int) bool { return !x[j] })
		case automata.Until:
			out[i] = w.until(f.Bound, i, func(j int) bool { return x[j] }, func(j int) bool { return y[j] })
		case automata.Release:
			out[i] = !w.until(f.Bound, i, func(j int) bool { return !x[j] }, func(j int) bool { return !y[j] })
		case automata.WeakUntil:
			out[i] = w.until(nil, i, func(j int) bool { return x[j] }, func(j int) bool { return y[j] }) ||
				!w.until(nil, i, func(int) bool { return true }, func(j int) bool { return !x[j] })
		}
	}
	return out
}

// until looks for a step within the bound at which right holds, left holding
// before. After as many steps as there are letters everything repeats.
func (w lasso) until(b *automata.Bound, i int, left, right func(int) bool) bool {
	low, high := 0, automata.Unbounded
	if b != nil {
		low, high = b.Low, b.High
	}
	if high == automata.Unbounded {
		high = low + len(w.letters)
	}
	for k := 0; k <= high; k++ {
		if k >= low && right(i) {
			return true
		}
		if !left(i) {
			return false
		}
		i = w.next(i)
	}
	return false
}

type place struct{ pos, state int }

// follow runs deterministically from a state and returns the places that are
// met again and again.
func (w lasso) follow(t *testing.T, a *automata.Automaton, p place) []place {
	t.Helper()
	var path []place
	seen := map[place]int{}
	for {
		if i, ok := seen[p]; ok {
			return path[i:]
		}
		seen[p] = len(path)
		path = append(path, p)
		q, err := a.Step(p.state, w.letters[p.pos])
		if err != nil {
			t.Fatal(err)
		}
		p = place{w.next(p.pos), q}
	}
}

// accepts decides acceptance: jumps are tried where the run without jumps has
// settled down.
func (w lasso) accepts(t *testing.T, a *automata.Automaton) bool {
	t.Helper()
	for _, p := range w.follow(t, a, place{0, a.Initial()}) {
		if a.Accepting(p.state) {
			return true
		}
		jumps, err := a.Jumps(p.state)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range jumps {
			for _, r := range w.follow(t, a, place{p.pos, q}) {
				if a.Accepting(r.state) {
					return true
				}
			}
		}
	}
	return false
}

// wrong reports whether some jump from the first letters on is accepted though
// the word does not satisfy the formula.
func (w lasso) wrong(t *testing.T, a *automata.Automaton) bool {
	t.Helper()
	p := place{0, a.Initial()}
	for range w.letters {
		jumps, err := a.Jumps(p.state)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range jumps {
			for _, r := range w.follow(t, a, place{p.pos, q}) {
				if a.Accepting(r.state) {
					return true
				}
			}
		}
		q, err := a.Step(p.state, w.letters[p.pos])
		if err != nil {
			t.Fatal(err)
		}
		p = place{w.next(p.pos), q}
	}
	return false
}

const props = 3

func randomFormula(r *rand.Rand, depth int) *automata.Formula {
	if depth == 0 || r.IntN(8) == 0 {
		if r.IntN(12) == 0 {
			return automata.Constant(r.IntN(2) == 0)
		}
		return automata.Atom(r.IntN(props))
	}
	f := &automata.Formula{Op: automata.Not + automata.Op(r.IntN(int(automata.Release-automata.Not)+1))}
	f.X = randomFormula(r, depth-1)
	if f.Op >= automata.And {
		f.Y = randomFormula(r, depth-1)
	}
	switch f.Op {
	case automata.Finally, automata.Globally, automata.Until, automata.Release:
		if r.IntN(4) == 0 {
			f.Bound = &automata.Bound{Low: r.IntN(3), High: automata.Unbounded}
			if r.IntN(3) > 0 {
				f.Bound.High = f.Bound.Low + r.IntN(3)
			}
		}
	}
	return f
}

func randomLasso(r *rand.Rand) lasso {
	w := lasso{letters: make([]uint64, 1+r.IntN(6))}
	for i := range w.letters {
		w.letters[i] = r.Uint64N(1 << props)
	}
	w.loop = r.IntN(len(w.letters))
	return w
}

// TestLassos: the automaton accepts exactly the words that satisfy the formula.
func TestLassos(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	satisfied, words := 0, 0
	most := 0
	for range 4000 {
		f := randomFormula(r, 1+r.IntN(4))
		a, err := automata.New(f, automata.Limits{})
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		for range 15 {
			w := randomLasso(r)
			want := w.truth(f)[0]
			if got := w.accepts(t, a); got != want {
				t.Fatalf("%v: %v for %v, want %v", f, got, w, want)
			}
			if !want && w.wrong(t, a) {
				t.Fatalf("%v: an early jump accepts %v", f, w)
			}
			words++
			if want {
				satisfied++
			}
		}
		most = max(most, a.NumStates())
	}
	t.Logf("%d words, %d satisfied, at most %d states", words, satisfied, most)
	if satisfied < words/5 || satisfied > words*4/5 {
		t.Errorf("%d of %d words satisfied their formula", satisfied, words)
	}
}

// TestParityLassos: the parity automaton accepts exactly the words that satisfy the formula.
func TestParityLassos(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	satisfied, words, most := 0, 0, 0
	for range 4000 {
		f := randomFormula(r, 1+r.IntN(4))
		a, err := automata.NewParity(f, automata.Limits{})
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		for range 15 {
			w := randomLasso(r)
			want := w.truth(f)[0]
			if got := w.leastPriority(t, a)%2 == 0; got != want {
				t.Fatalf("%v: %v for %v, want %v", f, got, w, want)
			}
			words++
			if want {
				satisfied++
			}
		}
		most = max(most, a.NumStates())
	}
	t.Logf("%d words, %d satisfied, at most %d states", words, satisfied, most)
	if satisfied < words/5 || satisfied > words*4/5 {
		t.Errorf("%d of %d words satisfied their formula", satisfied, words)
	}
}

// leastPriority returns the least priority that the automaton sees infinitely often.
func (w lasso) leastPriority(t *testing.T, a *automata.Parity) int {
	t.Helper()
	p := place{0, a.Initial()}
	seen := map[place]int{}
	var priorities []int
	for {
		if i, ok := seen[p]; ok {
			return slices.Min(priorities[i:])
		}
		seen[p] = len(priorities)
		q, err := a.Step(p.state, w.letters[p.pos])
		if err != nil {
			t.Fatal(err)
		}
		priorities = append(priorities, a.Priority(q))
		p = place{w.next(p.pos), q}
	}
}
