package sparse_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// forRandom calls check with many small random models and two random sets.
func forRandom(t *testing.T, kind sparse.Kind, check func(t *testing.T, rng *rand.Rand, m *sparse.Model)) {
	t.Helper()
	shapes := []sparsetest.Shape{
		{Kind: kind, States: 4, Choices: 3, Branching: 2},
		{Kind: kind, States: 6, Choices: 2, Branching: 3, Forward: 0.5},
		{Kind: kind, States: 7, Choices: 2, Branching: 1},
	}
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		check(t, rng, sparsetest.Random(rng, shapes[seed%3]))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// edges returns the transitions of the given choices between the given states
// as a relation.
func edges(m *sparse.Model, states, choices *sparse.Set) [][]bool {
	n := m.NumStates()
	out := make([][]bool, n)
	for s := range n {
		out[s] = make([]bool, n)
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := m.Transitions(c)
			for _, u := range m.Target[lo:hi] {
				if states.Has(s) && states.Has(int(u)) && choices.Has(c) {
					out[s][u] = true
				}
			}
		}
	}
	return out
}

// closure makes a relation reflexive and transitive.
func closure(r [][]bool) [][]bool {
	n := len(r)
	out := make([][]bool, n)
	for s := range n {
		out[s] = slices.Clone(r[s])
		out[s][s] = true
	}
	for k := range n {
		for s := range n {
			for t := range n {
				out[s][t] = out[s][t] || out[s][k] && out[k][t]
			}
		}
	}
	return out
}

func TestComponents(t *testing.T) {
	forRandom(t, sparse.MDP, func(t *testing.T, rng *rand.Rand, m *sparse.Model) {
		n := m.NumStates()
		states := sparsetest.RandomSet(rng, n, 0.8)
		choices := sparsetest.RandomSet(rng, m.NumChoices(), 0.8)
		comps := m.Components(states, choices)
		edge := edges(m, states, choices)
		reach := closure(edge)
		seen := sparse.NewSet(n)
		for i := range comps.Num() {
			for _, s := range comps.Members(i) {
				if comps.ID[s] != uint32(i) {
					t.Errorf("state %d is listed in %d but has ID %d", s, i, comps.ID[s])
				}
				seen.Add(int(s))
			}
		}
		if !seen.Equal(states) || len(comps.States) != states.Count() {
			t.Errorf("components list %v", comps.States)
		}
		for s := range states.All() {
			for u := range states.All() {
				if same := comps.ID[s] == comps.ID[u]; same != (reach[s][u] && reach[u][s]) {
					t.Errorf("states %d and %d in the same component: %v", s, u, same)
				}
				if edge[s][u] && comps.ID[u] > comps.ID[s] {
					t.Errorf("transition %d to %d goes up", s, u)
				}
			}
		}
		for s := range states.Complement().All() {
			if comps.ID[s] != sparse.None {
				t.Errorf("state %d outside has component %d", s, comps.ID[s])
			}
		}
	})
}

func TestBottomComponents(t *testing.T) {
	forRandom(t, sparse.DTMC, func(t *testing.T, _ *rand.Rand, m *sparse.Model) {
		n := m.NumStates()
		edge := edges(m, sparse.FullSet(n), sparse.FullSet(n))
		reach := closure(edge)
		comps := m.Components(nil, nil)
		bottom := comps.Bottom(m)
		for i := range comps.Num() {
			s := comps.Members(i)[0]
			want := true
			for u := range n {
				want = want && (!reach[s][u] || reach[u][s])
			}
			if got := slices.Contains(bottom, i); got != want {
				t.Errorf("component of state %d is bottom: %v, want %v", s, got, want)
			}
			if got := comps.Cyclic(m, i); got != (edge[s][s] || len(comps.Members(i)) > 1) {
				t.Errorf("component of state %d is cyclic: %v", s, got)
			}
		}
	})
}

// subsets yields all subsets of 0..n-1.
func subsets(n int, yield func(*sparse.Set)) {
	for mask := range 1 << n {
		s := sparse.NewSet(n)
		for i := range n {
			if mask>>i&1 != 0 {
				s.Add(i)
			}
		}
		yield(s)
	}
}

// TestEndComponents compares with the definition: of all sets of states whose
// staying choices give every state a choice and connect them, the maximal ones.
func TestEndComponents(t *testing.T) {
	forRandom(t, sparse.MDP, func(t *testing.T, rng *rand.Rand, m *sparse.Model) {
		n := m.NumStates()
		states := sparsetest.RandomSet(rng, n, 0.9)
		choices := sparsetest.RandomSet(rng, m.NumChoices(), 0.9)
		var found []*sparse.Set
		subsets(n, func(x *sparse.Set) {
			if !x.Empty() && x.Minus(states).Empty() && isEndComponent(m, x, choices) {
				found = append(found, x)
			}
		})
		found = slices.DeleteFunc(slices.Clone(found), func(x *sparse.Set) bool {
			return slices.ContainsFunc(found, func(y *sparse.Set) bool { return x.Minus(y).Empty() && !x.Equal(y) })
		})
		got, err := m.EndComponents(t.Context(), states, choices)
		if err != nil {
			t.Fatal(err)
		}
		if got.Num() != len(found) {
			t.Errorf("%d end components, want %d", got.Num(), len(found))
		}
		for i := range got.Num() {
			x := sparse.NewSet(n)
			for _, s := range got.Members(i) {
				x.Add(int(s))
			}
			if !slices.ContainsFunc(found, x.Equal) {
				t.Errorf("%v is no maximal end component", got.Members(i))
			}
			for c := range staying(m, x, choices).All() {
				if !got.Choices.Has(c) {
					t.Errorf("choice %d stays in %v but is not listed", c, got.Members(i))
				}
			}
		}
	})
}

func staying(m *sparse.Model, x, choices *sparse.Set) *sparse.Set {
	out := sparse.NewSet(m.NumChoices())
	for s := range x.All() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := m.Transitions(c)
			leaves := slices.ContainsFunc(m.Target[lo:hi], func(u uint32) bool { return !x.Has(int(u)) })
			if choices.Has(c) && !leaves {
				out.Add(c)
			}
		}
	}
	return out
}

func isEndComponent(m *sparse.Model, x, choices *sparse.Set) bool {
	stay := staying(m, x, choices)
	reach := closure(edges(m, x, stay))
	for s := range x.All() {
		first, end := m.Choices(s)
		some := false
		for c := first; c < end; c++ {
			some = some || stay.Has(c)
		}
		if !some {
			return false
		}
		for u := range x.All() {
			if !reach[s][u] {
				return false
			}
		}
	}
	return true
}

// certainty returns where the chain induced by a scheduler satisfies
// left U right with probability 0 and 1: 0 where right cannot be reached, 1
// where nothing of probability 0 can be reached on the way.
func certainty(m *sparse.Model, how []uint32, left, right *sparse.Set) (zero, one *sparse.Set) {
	n := m.NumStates()
	reach := sparsetest.Reach(sparsetest.Matrix(m, how), left.Minus(right))
	zero, one = sparse.FullSet(n), sparse.FullSet(n)
	for s := range n {
		for u := range right.All() {
			if reach[s][u] {
				zero.Remove(s)
			}
		}
	}
	for s := range n {
		for u := range zero.All() {
			if reach[s][u] {
				one.Remove(s)
			}
		}
	}
	return zero, one
}

func TestProb01(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.DTMC} {
		forRandom(t, kind, func(t *testing.T, rng *rand.Rand, m *sparse.Model) {
			n := m.NumStates()
			left, right := sparsetest.RandomSet(rng, n, 0.8), sparsetest.RandomSet(rng, n, 0.3)
			if sparsetest.NumSchedulers(m, 3000) == 3000 {
				return
			}
			zeroA, zeroE := sparse.FullSet(n), sparse.NewSet(n)
			oneA, oneE := sparse.FullSet(n), sparse.NewSet(n)
			for how := range sparsetest.Schedulers(m) {
				zero, one := certainty(m, how, left, right)
				zeroA, zeroE = zeroA.Intersect(zero), zeroE.Union(zero)
				oneA, oneE = oneA.Intersect(one), oneE.Union(one)
			}
			g := sparse.NewGraph(m)
			gotOneE, err := g.Prob1E(t.Context(), left, right)
			if err != nil {
				t.Fatal(err)
			}
			for _, set := range []struct {
				name      string
				got, want *sparse.Set
			}{
				{"Prob0A", g.Prob0A(left, right), zeroA},
				{"Prob0E", g.Prob0E(left, right), zeroE},
				{"Prob1A", g.Prob1A(left, right), oneA},
				{"Prob1E", gotOneE, oneE},
			} {
				if !set.got.Equal(set.want) {
					t.Errorf("%s: %v, want %v", set.name, slices.Collect(set.got.All()), slices.Collect(set.want.All()))
				}
			}
			checkSchedulers(t, g, left, right, zeroE, oneE)
		})
	}
}

// checkSchedulers checks that the choices by which the sets are explained do it.
func checkSchedulers(t *testing.T, g *sparse.Graph, left, right, zeroE, oneE *sparse.Set) {
	t.Helper()
	how := make([]uint32, g.NumStates())
	for s := range how {
		first, _ := g.Choices(s)
		how[s] = uint32(first)
	}
	sure := slices.Clone(how)
	g.Attract(oneE, right, sure)
	if _, one := certainty(g.Model, sure, left, right); !one.Equal(oneE) {
		t.Errorf("Attract reaches the target surely from %v, want %v", slices.Collect(one.All()), slices.Collect(oneE.All()))
	}
	avoid := slices.Clone(how)
	g.Remain(zeroE, avoid)
	if zero, _ := certainty(g.Model, avoid, left, right); !zeroE.Minus(zero).Empty() {
		t.Errorf("Remain avoids the target from %v, want %v", slices.Collect(zero.All()), slices.Collect(zeroE.All()))
	}
	toward := slices.Clone(how)
	g.Approach(g.ChoicesOf(left), right, toward)
	if zero, _ := certainty(g.Model, toward, left, right); !zero.Equal(g.Prob0A(left, right)) {
		t.Errorf("Approach misses the target from %v", slices.Collect(zero.All()))
	}
}

// TestCTL compares with paths and lassos found in the closure of the relation.
func TestCTL(t *testing.T) {
	forRandom(t, sparse.MDP, func(t *testing.T, rng *rand.Rand, m *sparse.Model) {
		n := m.NumStates()
		a, b := sparsetest.RandomSet(rng, n, 0.8), sparsetest.RandomSet(rng, n, 0.4)
		all := sparse.FullSet(n)
		edge := edges(m, all, sparse.FullSet(m.NumChoices()))
		// via(x)[s][u]: a path from s to u that leaves states of x only.
		via := func(x *sparse.Set) [][]bool {
			r := make([][]bool, n)
			for s := range n {
				r[s] = make([]bool, n)
				for u := range n {
					r[s][u] = x.Has(s) && edge[s][u]
				}
			}
			return closure(r)
		}
		// lasso(x)[s]: an infinite path from s within x.
		lasso := func(x *sparse.Set, s int) bool {
			r := via(x)
			for u := range x.All() {
				for v := range x.All() {
					if r[s][u] && x.Has(s) && edge[u][v] && r[v][u] {
						return true
					}
				}
			}
			return false
		}
		g := sparse.NewGraph(m)
		got := []*sparse.Set{
			g.ExistsNext(b), g.ForallNext(b), g.ExistsUntil(a, b),
			g.ForallUntil(a, b), g.ExistsGlobally(a), g.ForallGlobally(a),
		}
		viaA, viaNotB := via(a), via(b.Complement())
		for s := range n {
			ex, ax, eu, au, ag := false, true, false, true, true
			for u := range n {
				ex = ex || edge[s][u] && b.Has(u)
				ax = ax && (!edge[s][u] || b.Has(u))
				eu = eu || viaA[s][u] && b.Has(u)
				au = au && (b.Has(u) || a.Has(u) || !viaNotB[s][u])
				ag = ag && (!via(all)[s][u] || a.Has(u))
			}
			au = b.Has(s) || au && !lasso(b.Complement(), s)
			want := []bool{ex, ax, eu, au, lasso(a, s), ag}
			for i, name := range []string{"EX", "AX", "EU", "AU", "EG", "AG"} {
				if got[i].Has(s) != want[i] {
					t.Errorf("state %d: %s %v, want %v", s, name, got[i].Has(s), want[i])
				}
			}
		}
	})
}

func TestRenumber(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.MDP, sparse.CTMC} {
		forRandom(t, kind, func(t *testing.T, rng *rand.Rand, m *sparse.Model) {
			n := m.NumStates()
			number, back := make([]uint32, n), make([]uint32, n)
			for i, k := range rng.Perm(n) {
				number[i], back[k] = uint32(k), uint32(i)
			}
			m.Labels = []sparse.Label{{Name: "l", States: sparsetest.RandomSet(rng, n, 0.5)}}
			r := m.Renumber(number)
			for s := range n {
				if r.Labels[0].States.Has(int(number[s])) != m.Labels[0].States.Has(s) {
					t.Errorf("label of state %d", s)
				}
				first, end := m.Choices(s)
				rfirst, rend := r.Choices(int(number[s]))
				if rend-rfirst != end-first {
					t.Fatalf("state %d has %d choices, want %d", s, rend-rfirst, end-first)
				}
				for c := first; c < end; c++ {
					lo, hi := m.Transitions(c)
					rlo, rhi := r.Transitions(rfirst + c - first)
					for i := lo; i < hi; i++ {
						j := rlo + i - lo
						if rhi-rlo != hi-lo || r.Target[j] != number[m.Target[i]] || r.Prob(j) != m.Prob(i) {
							t.Errorf("transition %d of state %d differs", i-lo, s)
						}
					}
					if kind == sparse.MDP && m.Actions != nil && m.Actions[c] != r.Actions[rfirst+c-first] {
						t.Errorf("action of choice %d differs", c)
					}
				}
			}
			again := r.Renumber(back)
			if !slices.Equal(again.Target, m.Target) || !slices.Equal(again.FirstTransition, m.FirstTransition) || !slices.Equal(again.FirstChoice, m.FirstChoice) {
				t.Errorf("renumbering back gives another model")
			}
		})
	}
}
