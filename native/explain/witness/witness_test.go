package witness

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/native/space/sparse"
)

// randomChain has n states, some of which are goals, and weights that are often equal.
func randomChain(rng *rand.Rand, n int) (*sparse.Model, *sparse.Set) {
	m := &sparse.Model{Kind: sparse.DTMC, FirstTransition: []uint32{0}, Initial: []uint32{0}, RelErr: 0x1p-53}
	splits := [][]*big.Rat{
		{big.NewRat(1, 1)},
		{big.NewRat(1, 2), big.NewRat(1, 2)},
		{big.NewRat(9, 10), big.NewRat(1, 10)},
		{big.NewRat(1, 4), big.NewRat(1, 4), big.NewRat(1, 2)},
		{big.NewRat(1, 6), big.NewRat(1, 3), big.NewRat(1, 2)},
	}
	for range n {
		row := splits[rng.IntN(len(splits))]
		for _, t := range rng.Perm(n)[:len(row)] {
			m.Target = append(m.Target, uint32(t))
		}
		for _, w := range row {
			m.WeightIndex = append(m.WeightIndex, uint32(len(m.Fractions)))
			m.Fractions = append(m.Fractions, w)
			x, _ := w.Float64()
			m.Weights = append(m.Weights, x)
		}
		m.FirstTransition = append(m.FirstTransition, uint32(len(m.Target)))
	}
	return m, sparse.SetOf(n, n-1)
}

// slow lists the probabilities of all paths of up to so many steps, the greatest
// first, by going along each.
func slow(m *sparse.Model, formula *PathFormula, steps int) []*big.Rat {
	var out []*big.Rat
	var walk func(s, step int, p *big.Rat)
	walk = func(s, step int, p *big.Rat) {
		if formula.Right.Has(s) && step >= formula.Low && (formula.High < 0 || step <= formula.High) {
			out = append(out, p)
			return
		}
		if !formula.Left.Has(s) || step == steps {
			return
		}
		first, end := m.Transitions(s)
		for i := first; i < end; i++ {
			walk(int(m.Target[i]), step+1, new(big.Rat).Mul(p, m.Fraction(i)))
		}
	}
	walk(0, 0, big.NewRat(1, 1))
	slices.SortStableFunc(out, func(a, b *big.Rat) int { return b.Cmp(a) })
	return out
}

// The paths of random chains are those that a walk along all of them finds, in its
// order, each once, and connected.
func TestPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		m, goal := randomChain(rng, 3+rng.IntN(5))
		all := sparse.FullSet(goal.Len())
		formula := &PathFormula{Left: all, Right: goal, High: Unbounded}
		const steps = 9
		if i%3 > 0 {
			formula.High = steps
		}
		if i%3 > 1 {
			formula.Low = 3
			formula.Left = all.Minus(sparse.SetOf(goal.Len(), 1))
		}
		want := slow(m, formula, steps)
		if formula.High < 0 {
			// What is less likely than any path that the walk did not end may be out of order.
			want = want[:min(len(want), len(want)/4+1)]
		}
		got := enumerate(t, m, formula, len(want)+1)
		if formula.High >= 0 && len(got) != len(want) {
			t.Fatalf("model %d: found %d paths, want %d", i, len(got), len(want))
		}
		for k := range want {
			if formula.High < 0 && len(got[k].Nodes) > steps+1 {
				break // a path that the walk does not have
			}
			if got[k].Prob.Cmp(want[k]) != 0 {
				t.Fatalf("model %d, path %d: probability %v, want %v", i, k, got[k].Prob, want[k])
			}
		}
	}
}

func enumerate(t *testing.T, m *sparse.Model, formula *PathFormula, most int) []*Path {
	t.Helper()
	chain, err := New(t.Context(), m, formula, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := chain.Paths(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []*Path
	seen := map[string]bool{}
	for len(out) < most {
		p, err := paths.Next()
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			break
		}
		prob, key := big.NewRat(1, 1), ""
		for i, v := range p.Nodes {
			key += string(rune(chain.State[v])) + ","
			if i > 0 {
				prob.Mul(prob, step(t, m, chain.State[p.Nodes[i-1]], chain.State[v]))
			}
		}
		if prob.Cmp(p.Prob) != 0 {
			t.Fatalf("probability %v of %v, want %v", p.Prob, p.Nodes, prob)
		}
		if seen[key] {
			t.Fatalf("path %q comes twice", key)
		}
		seen[key] = true
		out = append(out, p)
	}
	return out
}

func step(t *testing.T, m *sparse.Model, from, to uint32) *big.Rat {
	t.Helper()
	first, end := m.Transitions(int(from))
	for i := first; i < end; i++ {
		if m.Target[i] == to {
			return m.Fraction(i)
		}
	}
	t.Fatalf("no step from %d to %d", from, to)
	return nil
}

// The probabilities of what reaches and of what misses sum to one, and Exceed
// takes no path too many.
func TestExceed(t *testing.T) {
	// From 0 to the goal 2 with 1/2 in each of infinitely many rounds, else to 1 or back.
	m := &sparse.Model{
		Kind: sparse.DTMC, FirstTransition: []uint32{0, 3, 4, 5}, Target: []uint32{0, 1, 2, 1, 2}, WeightIndex: []uint32{0, 0, 1, 2, 2},
		Fractions: []*big.Rat{big.NewRat(1, 4), big.NewRat(1, 2), big.NewRat(1, 1)}, Weights: []float64{0.25, 0.5, 1}, Initial: []uint32{0},
	}
	for _, x := range []struct {
		bound string
		miss  bool
		reach bool
		count int
		sum   string
	}{
		{"1/2", false, true, 1, "1/2"},
		{"1/2", false, false, 2, "5/8"},
		{"5/8", false, false, 3, "21/32"},
		{"5/8", false, true, 2, "5/8"},
		{"1/4", true, false, 2, "5/16"},
		{"0", true, false, 1, "1/4"},
	} {
		chain, err := New(t.Context(), m, &PathFormula{Left: sparse.FullSet(3), Right: sparse.SetOf(3, 2), High: Unbounded, Violating: x.miss}, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		paths, err := chain.Paths(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bound, _ := new(big.Rat).SetString(x.bound)
		s, err := Exceed(t.Context(), paths, bound, x.reach, 1000, 1)
		if err != nil || s.Count != x.count || s.Sum.RatString() != x.sum || !s.ExceedsBound || len(s.Paths) != 1 {
			t.Errorf("%v: found %+v and %v", x, s, err)
		}
	}
}

// Products of weights that are written differently are one, and those that differ
// by less than a double tells are told apart.
func TestProducts(t *testing.T) {
	near := new(big.Rat).Sub(big.NewRat(1, 6), new(big.Rat).SetFrac(one, new(big.Int).Exp(big.NewInt(10), big.NewInt(40), nil)))
	p := newProducts([]*big.Rat{big.NewRat(1, 2), big.NewRat(1, 3), big.NewRat(1, 6), near})
	half := p.multiply(0, 0)
	sixth, again := p.multiply(half, 1), p.multiply(0, 2)
	if sixth != again || p.compare(sixth, again) != 0 {
		t.Error("1/2 times 1/3 is not 1/6")
	}
	if p.compare(p.multiply(0, 3), sixth) >= 0 || p.compare(sixth, p.multiply(0, 3)) <= 0 {
		t.Error("a little less than 1/6 is not less")
	}
	if p.compare(half, sixth) <= 0 || p.fraction(sixth).RatString() != "1/6" {
		t.Error("1/2 is not more than 1/6")
	}
}

// With too many weights to make coprime, equal products have several numbers.
func TestManyWeights(t *testing.T) {
	var weights []*big.Rat
	for i := range int64(2 * maxCoprime) {
		weights = append(weights, big.NewRat(i+2, i+5))
	}
	p := newProducts(weights)
	if p.baseIndex == nil {
		t.Fatal("bases were made coprime")
	}
	a, b := p.multiply(p.multiply(0, 0), 3), p.multiply(0, 0) // 2/5 * 5/8 and 2/5
	c := p.multiply(p.multiply(0, 1), 4)                      // 1/2 * 2/3
	if p.fraction(a).RatString() != "1/4" || p.compare(a, b) >= 0 || p.compare(c, a) <= 0 {
		t.Errorf("products are wrong: %v %v %v", p.fraction(a), p.fraction(b), p.fraction(c))
	}
	if d := p.multiply(p.multiply(0, 4), 1); p.compare(c, d) != 0 {
		t.Error("the order of factors matters")
	}
}
