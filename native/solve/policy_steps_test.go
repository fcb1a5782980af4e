package solve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// slowModel returns a random MDP of n states and a target that most choices leave for another state with a small probability only, so that the best
// choices change with the number of steps. Some choices are written twice. exact says whether the probabilities have fractions.
func slowModel(t *testing.T, rng *rand.Rand, n int, exact bool) (graph *sparse.Graph, target *sparse.Set, reward *sparse.Reward) {
	t.Helper()
	b := sparse.NewBuilder(sparse.MDP)
	add := func(to int, prob *big.Rat) {
		if exact {
			b.AddRat(to, prob, sparse.NoAction)
			return
		}
		x, _ := prob.Float64()
		b.Add(to, x)
	}
	reward = &sparse.Reward{State: make([]float64, n+1), StateFractions: make([]*big.Rat, n+1)}
	for s := range n {
		b.State()
		reward.State[s] = float64(rng.IntN(4))
		reward.StateFractions[s] = new(big.Rat).SetFloat64(reward.State[s])
		for range 1 + rng.IntN(3) {
			leave := big.NewRat(1+rng.Int64N(1000), 1<<20)
			if rng.IntN(5) == 0 {
				leave = big.NewRat(1, 2)
			}
			to := rng.IntN(n + 1)
			for range 1 + rng.IntN(2)*rng.IntN(2) {
				b.Choice(0)
				add(to, leave)
				add(s, new(big.Rat).Sub(big.NewRat(1, 1), leave))
			}
		}
	}
	b.State()
	b.Choice(0)
	add(n, big.NewRat(1, 1))
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if !exact {
		model.RelErr = unitRoundoff
	}
	target = sparse.NewSet(n + 1)
	target.Add(n)
	return sparse.NewGraph(model), target, reward
}

// TestPolicySteps compares steps of policies with single steps of 400 bits, in MDPs.
func TestPolicySteps(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	rng := rand.New(rand.NewPCG(39, 61))
	finished, models := 0, needs.Some(40)
	for i := range models {
		exact, dir, counts := i%3 > 0, Direction(i/2%2), i%4 == 3
		graph, target, reward := slowModel(t, rng, 2+rng.IntN(5), exact)
		k := 2000 + rng.IntN(2000)
		want := afterSteps(graph, target, nil, dir == Min, k)
		maybe := sparse.FullSet(graph.NumStates()).Minus(target)
		if counts {
			want, maybe = afterSteps(graph, nil, reward, dir == Min, k), sparse.FullSet(graph.NumStates())
		} else {
			reward = nil
		}
		sys, err := newStepwise(graph, reward, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !counts {
			sys.isProbability = true
			sys.values.setAll(target, 1)
		}
		var states []uint32
		for s := range maybe.All() {
			states = append(states, uint32(s))
		}
		meter := newMeter(t.Context(), Options{}, k)
		remaining, err := sys.newPolicySteps(states).run(meter, k)
		if err != nil {
			t.Fatal(err)
		}
		if remaining == 0 && meter.polledWork+meter.workSincePoll < k*sys.singleStepWork(states)/2 {
			finished++
		}
		if err := sys.takeSteps(states, remaining, meter); err != nil {
			t.Fatal(err)
		}
		for s, want := range want {
			lower, upper := sys.values.Lower[s], sys.values.Upper[s]
			if want.Cmp(big.NewFloat(lower)) < 0 || want.Cmp(big.NewFloat(upper)) > 0 || upper-lower > 1e-10*upper {
				t.Errorf("model %d (direction %v), state %d: [%v, %v] is wide or does not contain %.20g", i, dir, s, lower, upper, want)
			}
		}
	}
	if finished < models/3 {
		t.Errorf("fewer steps were taken in %d of %d models, want a third", finished, models)
	}
}

// twinModel returns a model in which each state of a graph but the last has a twin: state 2s+1 of state 2s. A transition to a state becomes
// transitions to the state and to its twin, with a random share each. So choices with different targets are equally good.
func twinModel(t *testing.T, rng *rand.Rand, graph *sparse.Graph, reward *sparse.Reward) (twins *sparse.Graph, twinReward *sparse.Reward) {
	t.Helper()
	last := graph.NumStates() - 1
	b := sparse.NewBuilder(sparse.MDP)
	twinReward = &sparse.Reward{}
	add := func(choice int) {
		b.Choice(0)
		first, end := graph.Transitions(choice)
		for i := first; i < end; i++ {
			to, share := 2*int(graph.Target[i]), big.NewRat(rng.Int64N(5), 4)
			if to == 2*last {
				share.SetInt64(1)
			}
			for k, part := range []*big.Rat{share, new(big.Rat).Sub(big.NewRat(1, 1), share)} {
				if part.Sign() > 0 {
					b.AddRat(to+k, part.Mul(part, graph.Fraction(i)), sparse.NoAction)
				}
			}
		}
	}
	for s := range last + 1 {
		for range 2 - s/last {
			b.State()
			twinReward.State = append(twinReward.State, reward.State[s])
			twinReward.StateFractions = append(twinReward.StateFractions, new(big.Rat).SetFloat64(reward.State[s]))
			first, end := graph.Choices(s)
			for choice := first; choice < end; choice++ {
				for range 1 + rng.IntN(2) {
					add(choice)
				}
			}
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return sparse.NewGraph(model), twinReward
}

// TestPolicyStepsWithTwins compares steps of policies with single steps of 400 bits, in MDPs where different choices are equally good.
func TestPolicyStepsWithTwins(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	rng := rand.New(rand.NewPCG(39, 64))
	finished, models := 0, needs.Some(40)
	for i := range models {
		dir, k := Direction(i%2), 4000+rng.IntN(2000)
		small, _, reward := slowModel(t, rng, 2+rng.IntN(3), true)
		graph, twinReward := twinModel(t, rng, small, reward)
		target, maybe := (*sparse.Set)(nil), sparse.FullSet(graph.NumStates())
		if i%4 < 2 {
			twinReward, target = nil, sparse.SetOf(graph.NumStates(), graph.NumStates()-1)
			maybe = target.Complement()
		}
		want := afterSteps(graph, target, twinReward, dir == Min, k)
		sys, err := newStepwise(graph, twinReward, dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if target != nil {
			sys.isProbability = true
			sys.values.setAll(target, 1)
		}
		var states []uint32
		for s := range maybe.All() {
			states = append(states, uint32(s))
		}
		meter := newMeter(t.Context(), Options{}, k)
		remaining, err := sys.newPolicySteps(states).run(meter, k)
		if err != nil {
			t.Fatal(err)
		}
		if remaining == 0 && meter.polledWork+meter.workSincePoll < k*sys.singleStepWork(states)/2 {
			finished++
		}
		if err := sys.takeSteps(states, remaining, meter); err != nil {
			t.Fatal(err)
		}
		for s, want := range want {
			lower, upper := sys.values.Lower[s], sys.values.Upper[s]
			if want.Cmp(big.NewFloat(lower)) < 0 || want.Cmp(big.NewFloat(upper)) > 0 || upper-lower > 1e-9*upper {
				t.Errorf("model %d (direction %v), state %d: [%v, %v] is wide or does not contain %.20g", i, dir, s, lower, upper, want)
			}
		}
	}
	t.Logf("fewer steps in %d of %d models", finished, models)
	if finished < models/3 {
		t.Errorf("fewer steps were taken in %d of %d models, want a third", finished, models)
	}
}

// TestManyStepsWithTies: a billion steps of an MDP whose best choices have symmetric targets need few operations.
func TestManyStepsWithTies(t *testing.T) {
	const size, million = 4, 1_000_000
	b := sparse.NewBuilder(sparse.MDP)
	choice := func(numerators ...int64) {
		b.Choice(0)
		for to, numerator := range numerators {
			if numerator > 0 {
				b.AddRat(to, big.NewRat(numerator, million), sparse.NoAction)
			}
		}
	}
	b.State()
	choice(million-2, 2, 0, 0)
	choice(million-2, 0, 2, 0)
	choice(million-1, 0, 1, 0)
	b.State() // the next two states are symmetric
	choice(0, million-1, 0, 1)
	choice(0, million-2, 2, 0)
	b.State()
	choice(0, 2, million-2, 0)
	choice(0, 0, million-1, 1)
	b.State()
	choice(0, 0, 0, million)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []Direction{Min, Max} {
		for _, steps := range []int{1e7, 1e9} {
			values, err := BoundedUntil(t.Context(), sparse.NewGraph(model), sparse.FullSet(size), sparse.SetOf(size, size-1), StepBound{High: steps}, dir, Options{MaxWork: 1 << 23})
			if err != nil {
				t.Fatalf("direction %v, %d steps: %v", dir, steps, err)
			}
			if upper := values.Upper[0]; upper-values.Lower[0] > 1e-8 || dir == Max && upper < 0.99 {
				t.Errorf("direction %v, %d steps: [%v, %v]", dir, steps, values.Lower[0], upper)
			}
		}
	}
}

// TestPolicyStepsOfGames compares steps of policies with single steps, in games.
func TestPolicyStepsOfGames(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 62))
	for i := range needs.Some(10) {
		graph, target, _ := slowModel(t, rng, 3+rng.IntN(4), true)
		game := NewGame(graph, sparsetest.RandomSet(rng, graph.NumStates(), 0.5))
		all, bound := sparse.FullSet(graph.NumStates()), StepBound{High: 80_000 + rng.IntN(1000)}
		values, err := game.BoundedUntil(t.Context(), all, target, bound, Options{})
		if err != nil {
			t.Fatal(err)
		}
		single, err := game.BoundedUntil(t.Context(), all, target, bound, Options{Classic: true})
		if err != nil {
			t.Fatal(err)
		}
		for s, lower := range values.Lower {
			if upper := values.Upper[s]; lower > single.Upper[s] || upper < single.Lower[s] || upper-lower > 1e-8*upper {
				t.Errorf("model %d, state %d: [%v, %v], single steps give [%v, %v]", i, s, lower, upper, single.Lower[s], single.Upper[s])
			}
		}
	}
}

// TestManyStepsOfMDP: an MDP whose states are left with a probability of 1e-7 a step needs few operations for ten million steps and for a billion.
func TestManyStepsOfMDP(t *testing.T) {
	b := sparse.NewBuilder(sparse.MDP)
	add := func(to int, numerator int64) { b.AddRat(to, big.NewRat(numerator, 1e8), sparse.NoAction) }
	choice := func(numerators ...int64) {
		b.Choice(0)
		for to, numerator := range numerators {
			if numerator > 0 {
				add(to, numerator)
			}
		}
	}
	b.State()
	choice(1e8-10, 10, 0)
	choice(1e8-3, 0, 3)
	b.State()
	choice(0, 1e8-20, 20)
	choice(20, 1e8-30, 10)
	b.State()
	choice(0, 0, 1e8)
	exact, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	doubles := *exact
	doubles.Fractions, doubles.RelErr = nil, unitRoundoff
	target := sparse.NewSet(3)
	target.Add(2)
	for _, test := range []struct {
		model *sparse.Model
		steps int
		dir   Direction
		want  float64 // of single steps with 64 bits
	}{
		{exact, 1e7, Min, 0.177736577766841},
		{exact, 1e7, Max, 0.411003418945749},
		{&doubles, 1e7, Min, 0.177736577766841},
		{&doubles, 1e7, Max, 0.411003418945749},
		{exact, 1e9, Min, 1},
		{exact, 1e9, Max, 1},
		{exact, 1e17, Min, 1},
	} {
		values, err := BoundedUntil(t.Context(), sparse.NewGraph(test.model), sparse.FullSet(3), target, StepBound{High: test.steps}, test.dir, Options{MaxWork: 1 << 23})
		if err != nil {
			t.Fatal(err)
		}
		if lower, upper := values.Lower[0], values.Upper[0]; lower > test.want+1e-11 || upper < test.want-1e-11 || upper-lower > 1e-8 {
			t.Errorf("%d steps, direction %v: [%v, %v], want %v", test.steps, test.dir, lower, upper, test.want)
		}
	}
}
