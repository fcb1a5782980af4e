package solve_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// edge is a transition with an interval.
type edge struct {
	target    int
	low, high *big.Rat
}

// intervalModel is a small random interval model, by state and choice.
type intervalModel struct {
	rows        [][][]edge
	chain       bool
	state       []*big.Rat   // rewards
	choice      [][]*big.Rat // rewards
	left, right *sparse.Set
}

func randomUncertain(rng *rand.Rand) *intervalModel {
	n, zeros := 3+rng.IntN(4), rng.IntN(4)
	u := &intervalModel{chain: rng.IntN(3) == 0, left: sparsetest.RandomSet(rng, n, 0.85), right: sparsetest.RandomSet(rng, n, 0.25)}
	for range n {
		var rows [][]edge
		var rewards []*big.Rat
		choices := 1
		if !u.chain {
			choices += rng.IntN(3)
		}
		for range choices {
			rows = append(rows, randomRow(rng, n, zeros))
			rewards = append(rewards, big.NewRat(int64(max(0, rng.IntN(6)-2)), 2))
		}
		u.rows, u.choice = append(u.rows, rows), append(u.choice, rewards)
		u.state = append(u.state, big.NewRat(int64(max(0, rng.IntN(4)-2)), 3))
	}
	return u
}

// randomRow has up to three targets with intervals around some distribution. One in zeros intervals, or none for 0, has the lower end 0.
func randomRow(rng *rand.Rand, n, zeros int) []edge {
	targets := rng.Perm(n)[:1+rng.IntN(min(3, n))]
	parts := make([]int64, len(targets))
	sum := int64(0)
	for i := range parts {
		parts[i] = 1 + rng.Int64N(9)
		if rng.IntN(8) == 0 {
			parts[i] *= 1_000_000 // stiff
		}
		sum += parts[i]
	}
	var row []edge
	for i, t := range targets {
		p := big.NewRat(parts[i], sum)
		off := big.NewRat(rng.Int64N(10), 10)
		if zeros > 0 && rng.IntN(zeros) == 0 {
			off.SetInt64(1) // the lower end is 0
		}
		width := new(big.Rat).Mul(p, off)
		e := edge{t, new(big.Rat).Sub(p, width), new(big.Rat).Add(p, new(big.Rat).Mul(width, big.NewRat(rng.Int64N(4), 1)))}
		if one := big.NewRat(1, 1); e.high.Cmp(one) > 0 {
			e.high = one
		}
		row = append(row, e)
	}
	return row
}

// model builds the interval model.
func (u *intervalModel) model(t *testing.T) (*sparse.Model, *sparse.Reward) {
	kind := sparse.MDP
	if u.chain {
		kind = sparse.DTMC
	}
	b, reward := sparse.NewBuilder(kind), &sparse.Reward{RelErr: 0x1p-53}
	for s, rows := range u.rows {
		b.State()
		addReward(&reward.State, &reward.StateFractions, u.state[s])
		for c, row := range rows {
			if !u.chain {
				b.Choice(sparse.NoAction)
			}
			addReward(&reward.Choice, &reward.ChoiceFractions, u.choice[s][c])
			for _, e := range row {
				b.AddInterval(e.target, e.low, e.high, sparse.NoAction)
			}
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return model, reward
}

func addReward(f *[]float64, r *[]*big.Rat, x *big.Rat) {
	d, _ := x.Float64()
	*f, *r = append(*f, d), append(*r, x)
}

// vertices lists the extreme distributions of a row: one for each order in which the budget is spent.
func vertices(row []edge) [][]*big.Rat {
	var out [][]*big.Rat
	var fill func(order []int, left []int)
	fill = func(order, left []int) {
		if len(left) == 0 {
			out = append(out, spendBudget(row, order))
			return
		}
		for i := range left {
			rest := append(append([]int{}, left[:i]...), left[i+1:]...)
			fill(append(append([]int{}, order...), left[i]), rest)
		}
	}
	all := make([]int, len(row))
	for i := range all {
		all[i] = i
	}
	fill(nil, all)
	return out
}

func spendBudget(row []edge, order []int) []*big.Rat {
	p := make([]*big.Rat, len(row))
	rest := big.NewRat(1, 1)
	for i, e := range row {
		p[i] = new(big.Rat).Set(e.low)
		rest.Sub(rest, e.low)
	}
	for _, i := range order {
		more := new(big.Rat).Sub(row[i].high, row[i].low)
		if more.Cmp(rest) > 0 {
			more.Set(rest)
		}
		p[i].Add(p[i], more)
		rest.Sub(rest, more)
	}
	return p
}

// vertexMDP is the MDP in which every extreme distribution is a choice, for the choices of scheduler
// how (nil for all).
func (u *intervalModel) vertexMDP(t *testing.T, how []int) (*sparse.Graph, *sparse.Reward) {
	b, reward := sparse.NewBuilder(sparse.MDP), &sparse.Reward{RelErr: 0x1p-53}
	for s, rows := range u.rows {
		b.State()
		addReward(&reward.State, &reward.StateFractions, u.state[s])
		for c, row := range rows {
			if how != nil && how[s] != c {
				continue
			}
			for _, p := range vertices(row) {
				b.Choice(sparse.NoAction)
				addReward(&reward.Choice, &reward.ChoiceFractions, u.choice[s][c])
				for i, e := range row {
					b.AddRat(e.target, p[i], sparse.NoAction)
				}
			}
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return sparse.NewGraph(model), reward
}

// schedulers calls f for every memoryless scheduler.
func (u *intervalModel) schedulers(f func(how []int)) {
	how := make([]int, len(u.rows))
	for {
		f(how)
		s := 0
		for ; s < len(how); s++ {
			if how[s]++; how[s] < len(u.rows[s]) {
				break
			}
			how[s] = 0
		}
		if s == len(how) {
			return
		}
	}
}

type query func(g *sparse.Graph, r *sparse.Reward, dir solve.Direction, opts solve.Options) (*solve.Values, error)

// oracle returns the values from MDPs without intervals: of vertexMDP if nature has the scheduler's
// goal, and otherwise the optimum over all schedulers of nature's optimum.
func (u *intervalModel) oracle(t *testing.T, q query, dir solve.Direction) []*big.Rat {
	solved := func(how []int, dir solve.Direction) []*big.Rat {
		graph, reward := u.vertexMDP(t, how)
		values, err := q(graph, reward, dir, solve.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		return values.Exact
	}
	switch dir {
	case solve.Max, solve.Min:
		return solved(nil, dir)
	}
	nature := solve.Max
	if dir == solve.MaxMin {
		nature = solve.Min
	}
	var best []*big.Rat
	u.schedulers(func(how []int) { best = sparsetest.Extremum(best, solved(how, nature), dir == solve.MinMax) })
	return best
}

// TestRobust compares interval models with equivalent models without intervals.
func TestRobust(t *testing.T) {
	for seed := range needs.Some(uint64(25)) {
		rng := rand.New(rand.NewPCG(seed, 77))
		u := randomUncertain(rng)
		steps := rng.IntN(5)
		queries := map[string]query{
			"until": func(graph *sparse.Graph, _ *sparse.Reward, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
				return solve.Until(t.Context(), graph, u.left, u.right, dir, opts)
			},
			"reward": func(graph *sparse.Graph, reward *sparse.Reward, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
				return solve.ReachReward(t.Context(), graph, reward, u.right, dir, opts)
			},
		}
		stepwise := map[string]query{ // schedulers that count steps: only where nature is one
			"bounded": func(graph *sparse.Graph, _ *sparse.Reward, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
				return solve.BoundedUntil(t.Context(), graph, u.left, u.right, solve.StepBound{Low: steps / 2, High: steps}, dir, opts)
			},
			"cumulative": func(graph *sparse.Graph, reward *sparse.Reward, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
				return solve.CumulReward(t.Context(), graph, reward, steps, dir, opts)
			},
			"next": func(graph *sparse.Graph, _ *sparse.Reward, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
				return solve.Next(t.Context(), graph, u.right, dir, opts)
			},
		}
		for name, q := range queries {
			for _, dir := range []solve.Direction{solve.Max, solve.Min, solve.MinMax, solve.MaxMin} {
				u.compare(t, seed, name, q, dir)
				u.compareStrategies(t, seed, name, q, dir)
			}
		}
		for name, q := range stepwise {
			u.compare(t, seed, name, q, solve.Max)
			u.compare(t, seed, name, q, solve.Min)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

func (u *intervalModel) compare(t *testing.T, seed uint64, name string, q query, dir solve.Direction) {
	t.Helper()
	model, reward := u.model(t)
	graph := sparse.NewGraph(model)
	want := u.oracle(t, q, dir)
	bounds, err := q(graph, reward, dir, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := q(graph, reward, dir, solve.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	for s, x := range want {
		if (x == nil) != (exact.Exact[s] == nil) || x != nil && x.Cmp(exact.Exact[s]) != 0 {
			t.Errorf("seed %d, %s %d, state %d: found %v, want %v", seed, name, dir, s, exact.Exact[s], x)
		}
		if !contains(bounds.Lower[s], bounds.Upper[s], x) {
			t.Errorf("seed %d, %s %d, state %d: [%v, %v] without %v", seed, name, dir, s, bounds.Lower[s], bounds.Upper[s], x)
		}
		// The free probability has an absolute rounding error, so values below this error have wide bounds.
		if bounds.Converged && bounds.Upper[s] > 1e-8 && !math.IsInf(bounds.Lower[s], 1) && bounds.Upper[s]-bounds.Lower[s] > 1e-7*bounds.Upper[s] {
			t.Errorf("seed %d, %s %d, state %d: [%v, %v] is wide", seed, name, dir, s, bounds.Lower[s], bounds.Upper[s])
		}
	}
}

// compareStrategies checks the strategies of both sides: together they attain the value, and the scheduler guarantees it against any nature.
func (u *intervalModel) compareStrategies(t *testing.T, seed uint64, name string, q query, dir solve.Direction) {
	t.Helper()
	model, reward := u.model(t)
	values, err := q(sparse.NewGraph(model), reward, dir, solve.Options{Scheduler: true})
	if err != nil || values.Nature == nil {
		t.Fatalf("seed %d, %s %d: %v, no strategy of nature: %v", seed, name, dir, err, values.Nature == nil)
	}
	for what, model := range map[string]*sparse.Model{"both": values.Nature, "scheduler": model} {
		chosen, natureDir := model, map[solve.Direction]solve.Direction{solve.Max: solve.Max, solve.Min: solve.Min, solve.MinMax: solve.Max, solve.MaxMin: solve.Min}[dir]
		chosenReward := *reward
		if model.Kind == sparse.MDP {
			choices := sparse.NewSet(model.NumChoices())
			chosenReward.Choice, chosenReward.ChoiceFractions = nil, nil
			for s := range model.NumStates() {
				choice := uint32(sparse.None)
				if values.Scheduler != nil {
					choice = values.Scheduler[s]
				}
				choices.Add(int(model.ChoiceOrFirst(s, choice)))
			}
			for choice := range choices.All() {
				chosenReward.Choice, chosenReward.ChoiceFractions = append(chosenReward.Choice, reward.Choice[choice]), append(chosenReward.ChoiceFractions, reward.ChoiceFractions[choice])
			}
			chosen = model.Restrict(choices)
		}
		attained, err := q(sparse.NewGraph(chosen), &chosenReward, natureDir, solve.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		for s, want := range values.Exact {
			if want == nil && what == "scheduler" {
				continue // an infinite value is only attained against the strategy of nature
			}
			if got := attained.Exact[s]; (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 {
				t.Errorf("seed %d, %s %d, state %d: the strategies of %s have %v, want %v", seed, name, dir, s, what, got, want)
			}
		}
	}
}
