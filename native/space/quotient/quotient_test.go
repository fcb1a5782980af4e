package quotient_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/quotient"
	"tilecheck/native/space/sparse"
)

// random returns a model of few probabilities and rewards, in which many states are
// alike, and a set of states.
func random(r *rand.Rand) (*sparse.Model, []uint32, *sparse.Reward) {
	n := 4 + r.IntN(16)
	kind := sparse.Kind(r.IntN(3))
	b := sparse.NewBuilder(kind)
	reward := &sparse.Reward{RelErr: 0x1p-53}
	initial := make([]uint32, n)
	for s := range n {
		b.State()
		choices := 1
		if kind == sparse.MDP {
			choices += r.IntN(2)
		}
		for range choices {
			if kind == sparse.MDP {
				b.Choice(sparse.Action(r.IntN(2)))
			}
			x := big.NewRat(int64(r.IntN(12)/11), 3)
			f, _ := x.Float64()
			reward.Choice, reward.ChoiceFractions = append(reward.Choice, f), append(reward.ChoiceFractions, x)
			to := [3]int{r.IntN(3), r.IntN(n / 2), n/2 + r.IntN(2)}
			row := map[int]int64{}
			for _, t := range to {
				row[t]++
			}
			for t := range n {
				if row[t] > 0 {
					b.AddRat(t, big.NewRat(row[t], 3), sparse.NoAction)
				}
			}
		}
		if s%5 == 0 {
			initial[s] = 1
		}
	}
	m, err := b.Finish()
	if err != nil {
		panic(err)
	}
	m.Initial = []uint32{0}
	return m, initial, reward
}

// alike is the greatest bisimulation as a relation, by its definition: pairs are taken
// out until none has to be.
func alike(m *sparse.Model, initial []uint32, reward *sparse.Reward) [][]bool {
	n := m.NumStates()
	rel := make([][]bool, n)
	for s := range n {
		rel[s] = make([]bool, n)
		for t := range n {
			rel[s][t] = initial[s] == initial[t]
		}
	}
	into := func(c, s int) *big.Rat { // the class of s
		sum := new(big.Rat)
		lo, hi := m.Transitions(c)
		for i := lo; i < hi; i++ {
			if rel[s][m.Target[i]] {
				sum.Add(sum, m.Fraction(i))
			}
		}
		return sum
	}
	matched := func(s, t int) bool {
		first, end := m.Choices(s)
		from, to := m.Choices(t)
		for c := first; c < end; c++ {
			found := false
			for d := from; d < to; d++ {
				same := reward.ChoiceFractions[c].Cmp(reward.ChoiceFractions[d]) == 0
				for u := range n {
					same = same && into(c, u).Cmp(into(d, u)) == 0
				}
				found = found || same
			}
			if !found {
				return false
			}
		}
		return true
	}
	for changed := true; changed; {
		changed = false
		var out [][2]int
		for s := range n {
			for t := range n {
				if rel[s][t] && !(matched(s, t) && matched(t, s)) {
					out = append(out, [2]int{s, t})
				}
			}
		}
		for _, p := range out { // all of a round at once: classes stay classes
			rel[p[0]][p[1]], changed = false, true
		}
	}
	return rel
}

func TestRefine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	smaller := 0
	for i := range max(needs.Some(150), 50) {
		m, initial, reward := random(r)
		rewards := []*sparse.Reward{reward}
		p, err := quotient.Refine(t.Context(), m, initial, rewards)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(t.Context(), m, initial, rewards); err != nil {
			t.Errorf("model %d: %v", i, err)
		}
		rel := alike(m, initial, reward)
		for s := range m.NumStates() {
			for u := range m.NumStates() {
				if rel[s][u] != (p.Block[s] == p.Block[u]) {
					t.Fatalf("model %d: states %d and %d alike: %v, in one block: %v", i, s, u, rel[s][u], !rel[s][u])
				}
			}
		}
		if len(p.First) < m.NumStates() {
			smaller++
		}
		sameValues(t, m, initial, reward, p)
	}
	if smaller < 20 {
		t.Errorf("only %d models became smaller", smaller)
	}
}

// sameValues solves both models.
func sameValues(t *testing.T, m *sparse.Model, initial []uint32, reward *sparse.Reward, p *quotient.Partition) {
	t.Helper()
	if m.Kind == sparse.CTMC {
		return
	}
	q, kept, err := p.Model(m, []*sparse.Reward{reward})
	if err != nil {
		t.Fatal(err)
	}
	target, blocks := sparse.NewSet(m.NumStates()), sparse.NewSet(q.NumStates())
	for s, x := range initial {
		if x == 1 {
			target.Add(s)
			blocks.Add(int(p.Block[s]))
		}
	}
	exact := solve.Options{Exact: true}
	v, err := solve.ReachReward(t.Context(), sparse.NewGraph(m), reward, target, solve.Max, exact)
	if err != nil {
		t.Fatal(err)
	}
	w, err := solve.ReachReward(t.Context(), sparse.NewGraph(q), p.Reward(reward, kept), blocks, solve.Max, exact)
	if err != nil {
		t.Fatal(err)
	}
	for s := range m.NumStates() {
		x, y := v.Exact[s], w.Exact[p.Block[s]]
		if (x == nil) != (y == nil) || x != nil && x.Cmp(y) != 0 {
			t.Errorf("state %d is worth %v, its block %v", s, x, y)
		}
	}
}

// TestCheck wants partitions that are wrong to be found out.
func TestCheck(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	found, wrong := 0, 0
	for range 60 {
		m, initial, reward := random(r)
		rewards := []*sparse.Reward{reward}
		p, err := quotient.Refine(t.Context(), m, initial, rewards)
		if err != nil {
			t.Fatal(err)
		}
		n := len(p.First)
		if n < 2 {
			continue
		}
		// Two blocks become one: the partition was the coarsest, so this is none.
		a, b := uint32(0), uint32(1+r.IntN(n-1))
		for s := range p.Block {
			if p.Block[s] == b {
				p.Block[s] = a
			}
		}
		wrong++
		if p.Check(t.Context(), m, initial, rewards) != nil {
			found++
		}
	}
	if found != wrong || wrong < 30 {
		t.Errorf("%d of %d wrong partitions were found out", found, wrong)
	}
}

func TestErrors(t *testing.T) {
	b := sparse.NewBuilder(sparse.DTMC)
	b.State()
	b.Add(0, 1)
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := quotient.Refine(t.Context(), m, []uint32{0}, nil); !errors.Is(err, quotient.ErrInexact) {
		t.Errorf("a model of doubles: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	exact, initial, _ := random(rand.New(rand.NewPCG(1, 1)))
	if _, err := quotient.Refine(ctx, exact, initial, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
