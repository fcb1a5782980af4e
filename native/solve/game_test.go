package solve_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// overStrategies returns the value of a game over all pairs of memoryless strategies: for each strategy of the maximizer the
// minimum over those of the minimizer, and of these the maximum.
func (in *instance) overStrategies(maximizer *sparse.Set, value func(a [][]*big.Rat, how []uint32) []*big.Rat) []*big.Rat {
	worst := map[string][]*big.Rat{}
	var order []string
	for how := range sparsetest.Schedulers(in.m) {
		key := ""
		for s := range maximizer.All() {
			key += string(rune(how[s]))
		}
		if worst[key] == nil {
			order = append(order, key)
		}
		a := sparsetest.Stochastic(sparsetest.Matrix(in.m, how))
		worst[key] = sparsetest.Extremum(worst[key], value(a, how), true)
	}
	var best []*big.Rat
	for _, key := range order {
		best = sparsetest.Extremum(best, worst[key], false)
	}
	return best
}

// checkStrategies checks strategies of both sides against all memoryless strategies of the other side: that of the maximizer
// guarantees the lower bound, that of the minimizer the upper bound, and for fractions the value.
func (in *instance) checkStrategies(name string, v *solve.Values, maximizer *sparse.Set, value func(a [][]*big.Rat, how []uint32) []*big.Rat) {
	in.Helper()
	if v.Scheduler == nil {
		in.Errorf("%s: no strategies", name)
		return
	}
	for how := range sparsetest.Schedulers(in.m) {
		follows := [2]bool{true, true} // the strategy of the maximizer, and that of the minimizer
		for s, c := range v.Scheduler {
			side := 1
			if maximizer.Has(s) {
				side = 0
			}
			if c == sparse.None {
				first, _ := in.m.Choices(s)
				c = uint32(first)
			}
			follows[side] = follows[side] && how[s] == c
		}
		if !follows[0] && !follows[1] {
			continue
		}
		for s, x := range value(sparsetest.Stochastic(sparsetest.Matrix(in.m, how)), how) {
			lower, upper := v.Lower[s], v.Upper[s]
			if v.Exact != nil {
				lower, upper = toFloat(v.Exact[s]), toFloat(v.Exact[s])
			}
			if got := toFloat(x); follows[0] && got < lower*(1-1e-14) || follows[1] && got > upper*(1+1e-14) {
				in.Errorf("%s: state %d: strategies %v give %v against %v, with [%v, %v]", name, s, v.Scheduler, got, how, lower, upper)
			}
		}
	}
}

// toFloat returns the nearest float64 of a fraction, and infinity for nil.
func toFloat(x *big.Rat) float64 {
	if x == nil {
		return math.Inf(1)
	}
	f, _ := x.Float64()
	return f
}

// TestGameStrategies: the strategies of both sides attain the bounds and the fractions.
func TestGameStrategies(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer := in.randomGame()
		x := solve.NewGame(in.g, maximizer)
		gains := func(how []uint32) []*big.Rat { return sparsetest.Gains(in.m, how, in.reward()) }
		for _, exact := range []bool{false, true} {
			opts := solve.Options{Scheduler: true, Exact: exact}
			v, err := x.Until(in.Context(), in.left, in.right, opts)
			if err != nil {
				in.Fatal(err)
			}
			in.checkStrategies("U", v, maximizer, func(a [][]*big.Rat, _ []uint32) []*big.Rat { return sparsetest.UntilProb(a, in.left, in.right) })
			if v, err = x.ReachReward(in.Context(), in.reward(), in.right, opts); err != nil {
				in.Fatal(err)
			}
			in.checkStrategies("F", v, maximizer, func(a [][]*big.Rat, how []uint32) []*big.Rat {
				return sparsetest.RewardUntil(a, gains(how), in.right)
			})
			if v, err = x.TotalReward(in.Context(), in.reward(), opts); err != nil {
				in.Fatal(err)
			}
			if v.Scheduler != nil {
				in.checkStrategies("C", v, maximizer, func(a [][]*big.Rat, how []uint32) []*big.Rat { return sparsetest.RewardTotal(a, gains(how)) })
			}
			if v, err = x.LongRun(in.Context(), in.reward(), opts); err != nil {
				in.Fatal(err)
			}
			in.checkStrategies("S", v, maximizer, func(_ [][]*big.Rat, how []uint32) []*big.Rat { return in.longRunUnder(how, in.reward()) })
		}
	})
}

// randomGame returns a set of states in which the maximizer chooses.
func (in *instance) randomGame() *sparse.Set {
	rng := rand.New(rand.NewPCG(in.seed, 99))
	return sparsetest.RandomSet(rng, in.m.NumStates(), 0.5)
}

// checkFractions compares fractions with the oracle's.
func (in *instance) checkFractions(name string, got, want []*big.Rat) {
	in.Helper()
	for s, x := range want {
		if (x == nil) != (got[s] == nil) || x != nil && got[s].Cmp(x) != 0 {
			in.Errorf("%s: state %d is %s, want %s", name, s, text(got[s]), text(x))
		}
	}
}

// TestGameUntil: bounds and fractions are those of the best pair of memoryless strategies.
func TestGameUntil(t *testing.T) {
	games := 0
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer := in.randomGame()
		value := func(a [][]*big.Rat, _ []uint32) []*big.Rat { return sparsetest.UntilProb(a, in.left, in.right) }
		want := in.overStrategies(maximizer, value)
		x := solve.NewGame(in.g, maximizer)
		v, err := x.Until(in.Context(), in.left, in.right, solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		in.checkValues("bounds", v, want, nil)
		for s, x := range want {
			certain := x.Sign() == 0 || x.Cmp(big.NewRat(1, 1)) == 0
			if point := v.Lower[s] == v.Upper[s] && (v.Lower[s] == 0 || v.Lower[s] == 1); point != certain {
				in.Errorf("state %d: [%v, %v] for %s", s, v.Lower[s], v.Upper[s], text(x))
			}
		}
		exact, err := x.Until(in.Context(), in.left, in.right, solve.Options{Exact: true})
		if err != nil {
			in.Fatal(err)
		}
		in.checkFractions("fractions", exact.Exact, want)
		games++
	})
	if games < min(100, needs.Some(1000)) {
		t.Errorf("%d games were compared, want more", games)
	}
}

// TestGameFewSweeps: bounds hold however few sweeps there are, and strategy improvement narrows them.
func TestGameFewSweeps(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer := in.randomGame()
		value := func(a [][]*big.Rat, _ []uint32) []*big.Rat { return sparsetest.UntilProb(a, in.left, in.right) }
		want := in.overStrategies(maximizer, value)
		for _, sweeps := range []int{1, 2, 3, 7} {
			v, err := solve.NewGame(in.g, maximizer).Until(in.Context(), in.left, in.right, solve.Options{MaxSweeps: sweeps})
			if err != nil {
				in.Fatal(err)
			}
			for s, x := range want {
				if !contains(v.Lower[s], v.Upper[s], x) {
					in.Errorf("%d sweeps: state %d: [%v, %v] does not contain %s", sweeps, s, v.Lower[s], v.Upper[s], text(x))
				}
			}
		}
	})
}

// TestGameSteps: formulas with bounds on steps agree with the recursion over the steps.
func TestGameSteps(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer := in.randomGame()
		x := solve.NewGame(in.g, maximizer)
		// step returns the value of one step before the values after it.
		step := func(after []*big.Rat, reward *sparse.Reward) []*big.Rat {
			out := make([]*big.Rat, len(after))
			for s := range out {
				first, end := in.m.Choices(s)
				for c := first; c < end; c++ {
					sum := new(big.Rat)
					if reward != nil {
						sum.Add(sum, reward.ExactChoiceTotal(s, c))
					}
					lo, hi := in.m.Transitions(c)
					for i := lo; i < hi; i++ {
						sum.Add(sum, new(big.Rat).Mul(in.m.Fraction(i), after[in.m.Target[i]]))
					}
					if out[s] == nil || (sum.Cmp(out[s]) > 0) == maximizer.Has(s) && sum.Cmp(out[s]) != 0 {
						out[s] = sum
					}
				}
			}
			return out
		}
		indicator := func(set *sparse.Set) []*big.Rat {
			out := make([]*big.Rat, in.m.NumStates())
			for s := range out {
				out[s] = new(big.Rat)
				if set.Has(s) {
					out[s].SetInt64(1)
				}
			}
			return out
		}
		until := func(low, high int) []*big.Rat { // high >= low
			at := indicator(in.right)
			for k := high; k > 0; k-- {
				next := step(at, nil)
				for s := range next {
					switch {
					case in.right.Has(s) && k-1 >= low:
						next[s] = big.NewRat(1, 1)
					case !in.left.Has(s):
						next[s] = new(big.Rat)
					}
				}
				at = next
			}
			return at
		}
		zero := indicator(sparse.NewSet(in.m.NumStates()))
		check := func(name string, want []*big.Rat, solve1 func(opts solve.Options) (*solve.Values, error)) {
			v, err := solve1(solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			in.checkValues(name, v, want, nil)
			if v, err = solve1(solve.Options{Exact: true}); err != nil {
				in.Fatal(err)
			}
			in.checkFractions(name, v.Exact, want)
		}
		check("next", step(indicator(in.right), nil), func(o solve.Options) (*solve.Values, error) { return x.Next(in.Context(), in.right, o) })
		for _, b := range []solve.StepBound{{Low: 0, High: 0}, {Low: 0, High: 3}, {Low: 2, High: 5}, {Low: 1, High: 1}} {
			check("bounded", until(b.Low, b.High), func(o solve.Options) (*solve.Values, error) {
				return x.BoundedUntil(in.Context(), in.left, in.right, b, o)
			})
		}
		total := zero
		instant := make([]*big.Rat, len(zero))
		for s := range instant {
			instant[s] = new(big.Rat)
			if r := in.reward(); r.StateFractions != nil && r.StateFractions[s] != nil {
				instant[s] = r.StateFractions[s]
			}
		}
		for k := range 4 {
			check("cumulative", total, func(o solve.Options) (*solve.Values, error) { return x.CumulReward(in.Context(), in.reward(), k, o) })
			check("instantaneous", instant, func(o solve.Options) (*solve.Values, error) { return x.InstantReward(in.Context(), in.reward(), k, o) })
			total, instant = step(total, in.reward()), step(instant, nil)
		}
	})
}

// TestGameOfOnePlayer: a game in which one side has no choices has the bounds of the MDP, to the last bit.
func TestGameOfOnePlayer(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		for _, dir := range directions {
			maximizer := sparse.FullSet(in.m.NumStates())
			if dir == solve.Min {
				maximizer = sparse.NewSet(in.m.NumStates())
			}
			want, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			got, err := solve.NewGame(in.g, maximizer).Until(in.Context(), in.left, in.right, solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			for s := range want.Lower {
				if math.Float64bits(got.Lower[s]) != math.Float64bits(want.Lower[s]) || math.Float64bits(got.Upper[s]) != math.Float64bits(want.Upper[s]) {
					in.Errorf("state %d: [%v, %v], want [%v, %v]", s, got.Lower[s], got.Upper[s], want.Lower[s], want.Upper[s])
				}
			}
		}
	})
}

// TestGameRewards: bounds and fractions of the three kinds of expected rewards are those of the best pair of memoryless
// strategies.
func TestGameRewards(t *testing.T) {
	infinite, finite := 0, 0
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer := in.randomGame()
		x := solve.NewGame(in.g, maximizer)
		gains := func(how []uint32) []*big.Rat { return sparsetest.Gains(in.m, how, in.reward()) }
		check := func(name string, value func(a [][]*big.Rat, how []uint32) []*big.Rat, solve1 func(opts solve.Options) (*solve.Values, error)) {
			want := in.overStrategies(maximizer, value)
			v, err := solve1(solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			in.checkValues(name, v, want, nil)
			if v, err = solve1(solve.Options{Exact: true}); err != nil {
				in.Fatal(err)
			}
			in.checkFractions(name, v.Exact, want)
			for _, r := range want {
				if r == nil {
					infinite++
				} else if r.Sign() > 0 {
					finite++
				}
			}
		}
		check("F", func(a [][]*big.Rat, how []uint32) []*big.Rat {
			return sparsetest.RewardUntil(a, gains(how), in.right)
		}, func(o solve.Options) (*solve.Values, error) {
			return x.ReachReward(in.Context(), in.reward(), in.right, o)
		})
		check("C", func(a [][]*big.Rat, how []uint32) []*big.Rat {
			return sparsetest.RewardTotal(a, gains(how))
		}, func(o solve.Options) (*solve.Values, error) { return x.TotalReward(in.Context(), in.reward(), o) })
		check("Fc", func(a [][]*big.Rat, how []uint32) []*big.Rat {
			absorbing, earned := make([][]*big.Rat, len(a)), gains(how)
			for s := range a {
				absorbing[s] = a[s]
				if in.right.Has(s) {
					earned[s], absorbing[s] = new(big.Rat), make([]*big.Rat, len(a))
					for t := range a {
						absorbing[s][t] = new(big.Rat)
					}
					absorbing[s][s].SetInt64(1)
				}
			}
			return sparsetest.RewardTotal(absorbing, earned)
		}, func(o solve.Options) (*solve.Values, error) {
			return x.RewardUntilReached(in.Context(), in.reward(), in.right, o)
		})
	})
	if infinite < 100 || finite < min(100, needs.Some(1000)) {
		t.Errorf("%d infinite and %d positive finite values, want more of both", infinite, finite)
	}
}

// TestGameZeroUnlessReached: bounds and fractions contain the limit of the values in which target is reached within n steps. Those
// are computed by the recursion over steps and accumulated rewards.
func TestGameZeroUnlessReached(t *testing.T) {
	compared, infinite := 0, 0
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer, r := in.randomGame(), in.integerReward()
		x := solve.NewGame(in.g, maximizer)
		bounds, err := x.ZeroUnlessReached(in.Context(), r, in.right, solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		exact, err := x.ZeroUnlessReached(in.Context(), r, in.right, solve.Options{Exact: true})
		if err != nil {
			in.Fatal(err)
		}
		in.checkValues("F0", bounds, exact.Exact, nil)
		type key struct{ s, reward, steps int }
		known := map[key]float64{}
		var value func(k key) float64
		value = func(k key) float64 {
			if in.right.Has(k.s) {
				return float64(k.reward)
			}
			if k.steps == 0 {
				return 0
			}
			if v, ok := known[k]; ok {
				return v
			}
			first, end := in.m.Choices(k.s)
			best := math.NaN()
			for c := first; c < end; c++ {
				sum := 0.0
				lo, hi := in.m.Transitions(c)
				for i := lo; i < hi; i++ {
					sum += in.m.Prob(i) * value(key{int(in.m.Target[i]), k.reward + int(r.ChoiceTotal(k.s, c)), k.steps - 1})
				}
				if math.IsNaN(best) || maximizer.Has(k.s) == (sum > best) {
					best = sum
				}
			}
			known[k] = best
			return best
		}
		for s := range in.m.NumStates() {
			early, late := value(key{s, 0, 15}), value(key{s, 0, 30})
			if exact.Exact[s] == nil {
				infinite++
				if late <= early {
					in.Errorf("state %d: infinite, but the value within 30 steps is %v, and %v within 15", s, late, early)
				}
				continue
			}
			want, _ := exact.Exact[s].Float64()
			if late > want*(1+1e-12) {
				in.Errorf("state %d: %v, but %v within 30 steps", s, want, late)
			}
			if late-early < 1e-7*late {
				compared++
				if late < want*(1-1e-3) {
					in.Errorf("state %d: %v, but the limit is %v", s, want, late)
				}
			}
		}
	})
	if compared < min(30, needs.Some(300)) || infinite < min(10, needs.Some(100)) {
		t.Errorf("%d finite and %d infinite values were compared, want more of both", compared, infinite)
	}
}

// TestGameZeroUnlessReachedInfinite: the minimizer avoids infinite later rewards, although they make the target less probable.
func TestGameZeroUnlessReachedInfinite(t *testing.T) {
	for name, x := range map[string]struct {
		back  int // the state to which the maximizer can return from state 1
		exact error
	}{
		"the maximizer collects alone":    {1, nil},
		"both sides can collect for ever": {0, solve.ErrLaterRewards},
	} {
		t.Run(name, func(t *testing.T) {
			builder := sparse.NewBuilder(sparse.MDP)
			builder.State() // of the minimizer: the target for certain, or state 1
			builder.Choice(sparse.NoAction)
			builder.AddRat(2, big.NewRat(1, 1), sparse.NoAction)
			builder.Choice(sparse.NoAction)
			builder.AddRat(1, big.NewRat(1, 1), sparse.NoAction)
			builder.State() // of the maximizer: back, or the target with probability 1/2
			builder.Choice(sparse.NoAction)
			builder.AddRat(x.back, big.NewRat(1, 1), sparse.NoAction)
			builder.Choice(sparse.NoAction)
			builder.AddRat(2, big.NewRat(1, 2), sparse.NoAction)
			builder.AddRat(3, big.NewRat(1, 2), sparse.NoAction)
			for s := 2; s < 4; s++ {
				builder.State()
				builder.Choice(sparse.NoAction)
				builder.AddRat(s, big.NewRat(1, 1), sparse.NoAction)
			}
			model, err := builder.Finish()
			if err != nil {
				t.Fatal(err)
			}
			model.Initial = []uint32{0}
			one, zero := big.NewRat(1, 1), new(big.Rat)
			reward := &sparse.Reward{State: []float64{1, 1, 0, 0}, StateFractions: []*big.Rat{one, one, zero, zero}}
			game := solve.NewGame(sparse.NewGraph(model), sparse.SetOf(4, 1))
			values, err := game.ZeroUnlessReached(t.Context(), reward, sparse.SetOf(4, 2), solve.Options{Scheduler: true})
			if err != nil || values.Lower[0] > 1 || values.Upper[0] < 1 || values.Upper[0]-values.Lower[0] > 1e-6 {
				t.Fatalf("the value is %v, %v, want 1", values, err)
			}
			if choice := values.Controller.Nodes[values.Controller.Start[0]].Moves[0].Choice; choice != 0 {
				t.Errorf("the minimizer makes choice %d, want 0", choice)
			}
			_, err = game.ZeroUnlessReached(t.Context(), reward, sparse.SetOf(4, 2), solve.Options{Exact: true})
			if !errors.Is(err, x.exact) {
				t.Errorf("the error of fractions is %v, want %v", err, x.exact)
			}
		})
	}
}

// TestGameZeroUnlessReachedStrategies: the Markov chain of the strategies of both sides has the value, exactly or within the bounds.
func TestGameZeroUnlessReachedStrategies(t *testing.T) {
	compared, remember := 0, 0
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer, r := in.randomGame(), in.integerReward()
		values, err := solve.NewGame(in.g, maximizer).ZeroUnlessReached(in.Context(), r, in.right, solve.Options{Exact: true})
		if err != nil {
			in.Fatal(err)
		}
		model := *in.m
		model.Initial = nil
		for s, value := range values.Exact {
			if value != nil {
				model.Initial = append(model.Initial, uint32(s))
			}
		}
		if len(model.Initial) == 0 {
			return
		}
		for _, exact := range []bool{true, false} {
			game := solve.NewGame(sparse.NewGraph(&model), maximizer)
			values, err := game.ZeroUnlessReached(in.Context(), r, in.right, solve.Options{Exact: exact, Scheduler: true})
			if err != nil {
				in.Fatal(err)
			}
			controller := values.Controller
			if controller == nil {
				in.Fatalf("exact %v: there are no strategies", exact)
			}
			if len(controller.Nodes) > 60 {
				continue // fractions of so many equations take long
			}
			got := in.chainReward(controller, r)
			for i, s := range model.Initial {
				value := got[controller.Start[i]]
				compared++
				if exact && value.Cmp(values.Exact[s]) != 0 {
					in.Errorf("state %d: the chain has %v, want %v", s, value, values.Exact[s])
				}
				if float, _ := value.Float64(); !exact && (float < values.Lower[s]*(1-1e-12) || float > values.Upper[s]*(1+1e-12)) {
					in.Errorf("state %d: the chain has %v, want %v to %v", s, float, values.Lower[s], values.Upper[s])
				}
			}
			if len(controller.Nodes) > len(model.Initial) {
				remember++
			}
		}
	})
	if compared < 300 || remember < 50 {
		t.Errorf("%d values were compared, and %d strategies have more nodes than states, want more of both", compared, remember)
	}
}

// Where every choice that keeps the fraction is equally good, the strategy makes one of these, and not the first choice of the state. In state 0
// the first choice reaches the target with probability 1/2 only. The second one has reward 1, and repeats with probability 1/2: so the value is 2.
func TestGameZeroUnlessReachedKeepsOptimalChoice(t *testing.T) {
	builder, half, one := sparse.NewBuilder(sparse.MDP), big.NewRat(1, 2), big.NewRat(1, 1)
	const target, lost = 1, 2
	builder.State()
	for _, other := range []int{lost, 0} {
		builder.Choice(sparse.NoAction)
		builder.AddRat(target, half, sparse.NoAction)
		builder.AddRat(other, half, sparse.NoAction)
	}
	for _, s := range []int{target, lost} {
		builder.State()
		for range s { // the minimizer has two choices in lost
			builder.Choice(sparse.NoAction)
			builder.AddRat(s, one, sparse.NoAction)
		}
	}
	model, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Initial = []uint32{0}
	zero := new(big.Rat)
	reward := &sparse.Reward{Choice: []float64{0, 1, 0, 0, 0}, ChoiceFractions: []*big.Rat{zero, one, zero, zero, zero}}
	game := solve.NewGame(sparse.NewGraph(model), sparse.SetOf(3, 0))
	values, err := game.ZeroUnlessReached(t.Context(), reward, sparse.SetOf(3, target), solve.Options{Exact: true, Scheduler: true})
	if err != nil || values.Exact[0].Cmp(big.NewRat(2, 1)) != 0 {
		t.Fatalf("the value is %v, %v, want 2", values, err)
	}
	for i, node := range values.Controller.Nodes {
		if choice := node.Moves[0].Choice; node.State == 0 && choice != 1 {
			t.Errorf("the maximizer makes choice %d in node %d, want 1", choice, i)
		}
	}
}

// chainReward returns the expected reward until right in the chain of a controller, by node. A path that never reaches right has reward 0.
func (in *instance) chainReward(controller *sparse.Controller, r *sparse.Reward) []*big.Rat {
	n := len(controller.Nodes)
	matrix, right := make([][]*big.Rat, n), sparse.NewSet(n)
	for i, node := range controller.Nodes {
		matrix[i] = make([]*big.Rat, n)
		for j := range matrix[i] {
			matrix[i][j] = new(big.Rat)
		}
		if in.right.Has(int(node.State)) {
			right.Add(i)
			matrix[i][i].SetInt64(1)
			continue
		}
		move := node.Moves[0]
		first, end := in.m.Transitions(int(move.Choice))
		for k := first; k < end; k++ {
			to := matrix[i][move.Next[k-first]]
			to.Add(to, in.m.Fraction(k))
		}
	}
	reach := sparsetest.UntilProb(matrix, sparse.FullSet(n), right)
	earned := make([]*big.Rat, n)
	for i, node := range controller.Nodes {
		earned[i] = new(big.Rat)
		if !right.Has(i) { // a reward counts if right is reached afterwards
			earned[i].Mul(r.ExactChoiceTotal(int(node.State), int(node.Moves[0].Choice)), reach[i])
		}
	}
	return sparsetest.RewardTotal(matrix, earned)
}

// integerReward returns the rewards with small integers instead of fractions.
func (in *instance) integerReward() *sparse.Reward {
	r := *in.reward()
	whole := func(x []float64) (near []float64, exact []*big.Rat) {
		if x == nil {
			return nil, nil
		}
		near, exact = make([]float64, len(x)), make([]*big.Rat, len(x))
		for i := range x {
			if x[i] > 0 {
				near[i] = float64(1 + i%2)
				exact[i] = big.NewRat(int64(near[i]), 1)
			}
		}
		return near, exact
	}
	r.State, r.StateFractions = whole(r.State)
	r.Choice, r.ChoiceFractions = whole(r.Choice)
	return &r
}

// TestGameParity: bounds and fractions of parity objectives are those of the best pair of memoryless strategies.
func TestGameParity(t *testing.T) {
	proper := 0
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer := in.randomGame()
		rng := rand.New(rand.NewPCG(in.seed, 7))
		if in.seed%4 > 0 {
			in.absorb(sparsetest.RandomSet(rng, in.m.NumStates(), 0.3))
		}
		priority := make([]int, in.m.NumStates())
		for s := range priority {
			priority[s] = rng.IntN(5)
		}
		want := in.overStrategies(maximizer, func(a [][]*big.Rat, _ []uint32) []*big.Rat { return parityOfChain(a, priority) })
		x := solve.NewGame(in.g, maximizer)
		exact, err := x.Parity(in.Context(), priority, solve.Options{Exact: true})
		if err != nil {
			in.Fatal(err)
		}
		in.checkFractions("parity", exact.Exact, want)
		bounds, err := x.Parity(in.Context(), priority, solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		in.checkValues("parity", bounds, want, nil)
		for _, p := range want {
			if !p.IsInt() {
				proper++
			}
		}
	})
	if proper < min(3, needs.Some(30)) {
		t.Errorf("%d values were between 0 and 1, want more", proper)
	}
}

// absorb replaces the choices of some states by a self-loop.
func (in *instance) absorb(states *sparse.Set) {
	b := sparse.NewDerivedBuilder(in.m, in.m.Kind)
	for s := range in.m.NumStates() {
		b.State()
		first, end := in.m.Choices(s)
		for c := first; c < end; c++ {
			if states.Has(s) {
				b.Loop(uint32(s))
				break
			}
			b.Copy(c, func(i int) uint32 { return in.m.Target[i] })
		}
	}
	in.m = b.Finish()
	in.g = sparse.NewGraph(in.m)
}

// parityOfChain returns the probability of a parity objective in a chain: that of reaching the states all of whose successors can
// return to them, and whose least reachable priority is even.
func parityOfChain(a [][]*big.Rat, priority []int) []*big.Rat {
	all := sparse.FullSet(len(a))
	reach := sparsetest.Reach(a, all)
	good := sparse.NewSet(len(a))
	for s := range a {
		recurrent, least := true, priority[s]
		for t := range a {
			if reach[s][t] {
				recurrent = recurrent && reach[t][s]
				least = min(least, priority[t])
			}
		}
		if recurrent && least%2 == 0 {
			good.Add(s)
		}
	}
	return sparsetest.UntilProb(a, all, good)
}

// TestGameLongRun: bounds and fractions of long-run averages are those of the best pair of memoryless strategies.
func TestGameLongRun(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		maximizer := in.randomGame()
		want := in.overStrategies(maximizer, func(_ [][]*big.Rat, how []uint32) []*big.Rat { return in.longRunUnder(how, in.reward()) })
		x := solve.NewGame(in.g, maximizer)
		exact, err := x.LongRun(in.Context(), in.reward(), solve.Options{Exact: true})
		if err != nil {
			in.Fatal(err)
		}
		in.checkFractions("S", exact.Exact, want)
		bounds, err := x.LongRun(in.Context(), in.reward(), solve.Options{})
		if err != nil {
			in.Fatal(err)
		}
		in.checkValues("S", bounds, want, nil)
	})
}
