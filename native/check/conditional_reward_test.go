package check_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
	"tilecheck/result"
)

// TestConditionalRewardOfRandomMDP checks that the maximum q of E[r | b] is right: with the rewards so far up to 120 units as memory, no scheduler
// makes E[(r-q) 1_b] positive, and some scheduler makes E[(r-q+e) 1_b] positive for a small e. For a minimum, the signs are reversed.
func TestConditionalRewardOfRandomMDP(t *testing.T) {
	var numFinite, numInfinite, numUndefined, numModels int
	for seed := range needs.Models(t, 1200) {
		numModels++
		random := newConditionedMDP(rand.New(rand.NewPCG(seed, 70)))
		for _, direction := range []string{"max", "min"} {
			property := fmt.Sprintf(`R%s=? [ F "a" || "x" U "b" ]`, direction)
			text := fmt.Sprintf("seed %d: %s of\n%s", seed, property, random.text())
			verdict := storm(t, random.text(), result.Exact, property)[0]
			oracle := &conditionalOracle{conditionedMDP: random, isMin: direction == "min"}
			oracle.solveMemoryless()
			if !oracle.canSatisfy() {
				numUndefined++
				if verdict.Err == nil || !strings.Contains(verdict.Err.Message, "undefined") {
					t.Fatalf("%s: found %v, want undefined", text, verdict.Value)
				}
				continue
			}
			if verdict.Err != nil {
				t.Fatalf("%s: %v", text, verdict.Err)
			}
			if verdict.Value.Rat == nil {
				numInfinite++
				gain := oracle.gain(big.NewRat(7, 1))
				if oracle.isMin && gain != nil && gain.Sign() < 0 || !oracle.isMin && gain != nil && gain.Sign() <= 0 {
					t.Fatalf("%s: found infinity, want a finite value", text)
				}
			} else {
				numFinite++
				optimum, epsilon := new(big.Rat).Quo(verdict.Value.Rat, random.unit), big.NewRat(1, 1_000_000)
				better, worse := 1, new(big.Rat).Sub(optimum, epsilon)
				if oracle.isMin {
					better, worse = -1, new(big.Rat).Add(optimum, epsilon)
				}
				if gain := oracle.gain(optimum); gain == nil || gain.Sign() == better {
					t.Fatalf("%s: found %v, but a scheduler is better (%v)", text, verdict.Value, gain)
				}
				if gain := oracle.gain(worse); gain == nil || gain.Sign() != better {
					t.Fatalf("%s: found %v, but no scheduler attains it (%v)", text, verdict.Value, gain)
				}
			}
			want := "inf"
			if verdict.Value.Rat != nil {
				want = verdict.Value.Rat.RatString()
			}
			if bounds := storm(t, random.text(), result.Bounded, property)[0]; bounds.Err != nil || !hasBounds(bounds, want) {
				t.Fatalf("%s: found %v in %v, %v, want %s", text, bounds.Value, bounds.Bound, bounds.Err, want)
			}
		}
	}
	t.Logf("%d finite, %d infinite, %d undefined", numFinite, numInfinite, numUndefined)
	if least := numModels / 10; numFinite < least || numInfinite < least || numUndefined < least/4 {
		t.Errorf("%d finite, %d infinite and %d undefined rewards of %d models, want more of each", numFinite, numInfinite, numUndefined, numModels)
	}
}

// conditionedMDP is an MDP with the labels a, b and x. Rewards are multiples of unit.
type conditionedMDP struct {
	choices [][]conditionedChoice // of each state
	a, b, x *sparse.Set
	unit    *big.Rat
}

type conditionedChoice struct {
	cost          int
	probabilities []*big.Rat // of each state
}

func newConditionedMDP(rng *rand.Rand) *conditionedMDP {
	n := 3 + rng.IntN(3)
	random := &conditionedMDP{
		a: sparsetest.RandomSet(rng, n, 0.4), b: sparsetest.RandomSet(rng, n, 0.4), x: sparse.FullSet(n),
		unit: big.NewRat(1+rng.Int64N(3), 1+rng.Int64N(3)),
	}
	if rng.IntN(3) == 0 {
		random.x = sparsetest.RandomSet(rng, n, 0.8)
	}
	random.b.Remove(0)
	if rng.IntN(4) > 0 {
		random.a.Remove(0)
	}
	for range n {
		var choices []conditionedChoice
		for range 1 + rng.IntN(2) {
			choice := conditionedChoice{cost: max(0, rng.IntN(5)-1), probabilities: make([]*big.Rat, n)}
			for s := range choice.probabilities {
				choice.probabilities[s] = new(big.Rat)
			}
			one := 1 + rng.Int64N(4)
			for _, part := range []int64{one, 4 - one} {
				probability := choice.probabilities[rng.IntN(n)]
				probability.Add(probability, big.NewRat(part, 4))
			}
			choices = append(choices, choice)
		}
		random.choices = append(random.choices, choices)
	}
	return random
}

// text returns the model in PRISM's language.
func (r *conditionedMDP) text() string {
	var commands, rewards strings.Builder
	for s, choices := range r.choices {
		for i, choice := range choices {
			var updates []string
			for target, probability := range choice.probabilities {
				if probability.Sign() > 0 {
					updates = append(updates, fmt.Sprintf("%s:(s'=%d)", probability.RatString(), target))
				}
			}
			fmt.Fprintf(&commands, "[c%d] s=%d -> %s;\n", i, s, strings.Join(updates, " + "))
			fmt.Fprintf(&rewards, "[c%d] s=%d : %d*%s;\n", i, s, choice.cost, r.unit.RatString())
		}
	}
	label := func(name string, states *sparse.Set) string {
		text := "false"
		for s := range states.All() {
			text += fmt.Sprintf("|s=%d", s)
		}
		return fmt.Sprintf("label %q = %s;\n", name, text)
	}
	return fmt.Sprintf("mdp\nmodule m s:[0..%d];\n%sendmodule\n%s%s%srewards\n%sendrewards\n",
		len(r.choices)-1, &commands, label("a", r.a), label("b", r.b), label("x", r.x), &rewards)
}

// conditionalOracle computes the extremum of E[(r-q) 1_b] over the schedulers that use the reward so far as memory until it is maxLevel units. It
// tries all memoryless schedulers for each reward so far. Rewards are in units; nil is infinite.
type conditionalOracle struct {
	*conditionedMDP
	isMin     bool
	pending   []int       // the states in which neither the target nor the condition is decided
	least     []*big.Rat  // the minimal probability of the condition
	greatest  []*big.Rat  // the maximal probability
	afterGoal []*big.Rat  // the optimal expected reward until a
	limits    []limitCase // for all schedulers without memory
}

const maxLevel = 120

// limitCase has the probability of the condition and the expected reward on its paths, for a scheduler in each pending state. Once a is reached, the
// probability is the least or the greatest.
type limitCase struct{ probability, reward map[int]*big.Rat }

// schedulers yields all memoryless schedulers: the choice of each state.
func (o *conditionalOracle) schedulers(yield func([]int) bool) {
	scheduler := make([]int, len(o.choices))
	for {
		if !yield(scheduler) {
			return
		}
		s := 0
		for s < len(scheduler) && scheduler[s] == len(o.choices[s])-1 {
			scheduler[s] = 0
			s++
		}
		if s == len(scheduler) {
			return
		}
		scheduler[s]++
	}
}

// expected solves value(s) = sum over t of P(s,t) * (value(t), or exit(s, t) for a state outside of inside) for a scheduler. Paths that stay inside forever
// have the value 0.
func (o *conditionalOracle) expected(inside []int, scheduler []int, exit func(s, t int) (*big.Rat, bool)) map[int]*big.Rat {
	index := map[int]int{}
	for i, s := range inside {
		index[s] = i
	}
	n := len(inside)
	matrix, constants := make([][]*big.Rat, n), make([]*big.Rat, n)
	leaves, infinite := make([]bool, n), make([]bool, n)
	for i, s := range inside {
		matrix[i], constants[i] = make([]*big.Rat, n), new(big.Rat)
		for k := range n {
			matrix[i][k] = new(big.Rat)
		}
		for t, probability := range o.choices[s][scheduler[s]].probabilities {
			if probability.Sign() == 0 {
				continue
			}
			value, isOutside := exit(s, t)
			switch {
			case !isOutside:
				matrix[i][index[t]].Set(probability)
			case value == nil:
				infinite[i] = true
			default:
				leaves[i] = true
				constants[i].Add(constants[i], new(big.Rat).Mul(probability, value))
			}
		}
	}
	for range n {
		for i := range n {
			for k := range n {
				if matrix[i][k].Sign() > 0 {
					leaves[i] = leaves[i] || leaves[k]
					infinite[i] = infinite[i] || infinite[k]
				}
			}
		}
	}
	for i := range n {
		for k := range n {
			if infinite[i] || !leaves[i] || infinite[k] || !leaves[k] {
				matrix[i][k].SetInt64(0)
			}
		}
	}
	values := map[int]*big.Rat{}
	for i, value := range sparsetest.Solve(matrix, constants) {
		if !infinite[i] {
			values[inside[i]] = value
		} else {
			values[inside[i]] = nil
		}
	}
	return values
}

// isBetter compares two values, of which nil is infinite.
func (o *conditionalOracle) isBetter(left, right *big.Rat) bool {
	if o.isMin {
		return sparsetest.Less(left, right)
	}
	return sparsetest.Less(right, left)
}

// solveMemoryless computes everything that does not depend on q.
func (o *conditionalOracle) solveMemoryless() {
	n := len(o.choices)
	undecided := o.x.Minus(o.b)
	o.least, o.greatest, o.afterGoal = make([]*big.Rat, n), make([]*big.Rat, n), make([]*big.Rat, n)
	var waiting []int
	for s := range undecided.All() {
		waiting = append(waiting, s)
		if !o.a.Has(s) {
			o.pending = append(o.pending, s)
		}
	}
	isFirst := true
	for scheduler := range o.schedulers {
		probability := o.expected(waiting, scheduler, func(_, t int) (*big.Rat, bool) {
			if o.b.Has(t) {
				return big.NewRat(1, 1), true
			}
			return new(big.Rat), !undecided.Has(t)
		})
		matrix, rewards := make([][]*big.Rat, n), make([]*big.Rat, n)
		for s := range n {
			choice := o.choices[s][scheduler[s]]
			matrix[s], rewards[s] = choice.probabilities, big.NewRat(int64(choice.cost), 1)
		}
		untilGoal := sparsetest.RewardUntil(matrix, rewards, o.a)
		for s := range n {
			if isFirst || o.isBetter(untilGoal[s], o.afterGoal[s]) {
				o.afterGoal[s] = untilGoal[s]
			}
			p := probability[s]
			switch {
			case o.b.Has(s):
				p = big.NewRat(1, 1)
			case p == nil:
				p = new(big.Rat)
			}
			if isFirst || p.Cmp(o.least[s]) < 0 {
				o.least[s] = p
			}
			if isFirst || p.Cmp(o.greatest[s]) > 0 {
				o.greatest[s] = p
			}
		}
		isFirst = false
	}
	for scheduler := range o.schedulers {
		for _, afterTarget := range [][]*big.Rat{o.least, o.greatest} {
			limit := limitCase{}
			limit.probability = o.expected(o.pending, scheduler, func(_, t int) (*big.Rat, bool) {
				switch {
				case o.b.Has(t):
					return big.NewRat(1, 1), true
				case !o.x.Has(t):
					return new(big.Rat), true
				}
				return afterTarget[t], o.a.Has(t)
			})
			limit.reward = o.expected(o.pending, scheduler, func(s, t int) (*big.Rat, bool) {
				cost := big.NewRat(int64(o.choices[s][scheduler[s]].cost), 1)
				switch {
				case o.b.Has(t) && o.afterGoal[t] == nil:
					return nil, true
				case o.b.Has(t):
					return new(big.Rat).Add(cost, o.afterGoal[t]), true
				case !o.x.Has(t):
					return new(big.Rat), true
				}
				return new(big.Rat).Mul(cost, afterTarget[t]), o.a.Has(t)
			})
			o.addInnerRewards(scheduler, &limit)
			o.limits = append(o.limits, limit)
		}
	}
}

// addInnerRewards adds the rewards of transitions between pending states.
func (o *conditionalOracle) addInnerRewards(scheduler []int, limit *limitCase) {
	// The expected sum of rewards is the sum over all transitions s -> t of the visits of s times P(s,t) * cost * probability(t).
	inner := o.expectedSum(scheduler, func(s int) *big.Rat {
		choice, sum := o.choices[s][scheduler[s]], new(big.Rat)
		for t, probability := range choice.probabilities {
			if p, isPending := limit.probability[t]; isPending {
				sum.Add(sum, new(big.Rat).Mul(probability, p))
			}
		}
		return sum.Mul(sum, big.NewRat(int64(choice.cost), 1))
	})
	for _, s := range o.pending {
		if limit.reward[s] != nil {
			limit.reward[s] = new(big.Rat).Add(limit.reward[s], inner[s])
		}
	}
}

// expectedSum returns the expected sum of the rewards in pending states until another state is reached. Only rewards in transient states may be positive.
func (o *conditionalOracle) expectedSum(scheduler []int, rewardOf func(s int) *big.Rat) map[int]*big.Rat {
	n := len(o.choices)
	matrix, rewards := make([][]*big.Rat, n), make([]*big.Rat, n)
	for s := range n {
		matrix[s], rewards[s] = make([]*big.Rat, n), new(big.Rat)
		for t := range n {
			matrix[s][t] = new(big.Rat)
		}
		matrix[s][s].SetInt64(1)
	}
	for _, s := range o.pending {
		matrix[s], rewards[s] = o.choices[s][scheduler[s]].probabilities, rewardOf(s)
	}
	sums := map[int]*big.Rat{}
	for s, sum := range sparsetest.RewardTotal(matrix, rewards) {
		sums[s] = sum
	}
	return sums
}

// canSatisfy reports whether some scheduler satisfies the condition with positive probability.
func (o *conditionalOracle) canSatisfy() bool { return o.greatest[0].Sign() > 0 }

// gain returns the extremum of E[(r-q) 1_b].
func (o *conditionalOracle) gain(q *big.Rat) *big.Rat {
	values := make([]map[int]*big.Rat, maxLevel) // of the pending states, for each reward so far
	outside := func(t, level int) (value *big.Rat, isOutside bool) {
		difference := new(big.Rat).Sub(big.NewRat(int64(level), 1), q)
		switch {
		case o.b.Has(t) && o.afterGoal[t] == nil:
			return nil, true
		case o.b.Has(t):
			return difference.Add(difference, o.afterGoal[t]), true
		case !o.x.Has(t):
			return new(big.Rat), true
		case o.a.Has(t) && (difference.Sign() > 0) != o.isMin:
			return difference.Mul(difference, o.greatest[t]), true
		case o.a.Has(t):
			return difference.Mul(difference, o.least[t]), true
		case level >= maxLevel:
			return o.bestLimit(t, difference), true
		}
		value, isKnown := values[level][t]
		return value, isKnown
	}
	for level := maxLevel - 1; level >= 0; level-- {
		best := map[int]*big.Rat{}
		for scheduler := range o.schedulers {
			found := o.expected(o.pending, scheduler, func(s, t int) (*big.Rat, bool) {
				return outside(t, level+o.choices[s][scheduler[s]].cost)
			})
			for s, value := range found {
				if old, isKnown := best[s]; !isKnown || o.isBetter(value, old) {
					best[s] = value
				}
			}
		}
		values[level] = best
	}
	value, _ := outside(0, 0)
	return value
}

// bestLimit returns the best value of difference*probability + reward over the schedulers without memory.
func (o *conditionalOracle) bestLimit(s int, difference *big.Rat) (best *big.Rat) {
	for i, limit := range o.limits {
		var value *big.Rat
		if limit.reward[s] != nil {
			value = new(big.Rat).Mul(difference, limit.probability[s])
			value.Add(value, limit.reward[s])
		}
		if i == 0 || o.isBetter(value, best) {
			best = value
		}
	}
	return best
}

// TestConditionalRewardBounds compares bounds with fractions in MDPs with two similar choices: one has a greater reward and hardly another
// probability of the condition, so the saturation point is far above the value.
func TestConditionalRewardBounds(t *testing.T) {
	for seed := range needs.Models(t, 400) {
		rng := rand.New(rand.NewPCG(seed, 71))
		random := newConditionedMDP(rng)
		n := len(random.choices)
		s := rng.IntN(n)
		similar := conditionedChoice{cost: random.choices[s][0].cost + 3, probabilities: make([]*big.Rat, n)}
		for target, probability := range random.choices[s][0].probabilities {
			similar.probabilities[target] = new(big.Rat).Mul(probability, big.NewRat(49, 50))
		}
		other := similar.probabilities[rng.IntN(n)]
		other.Add(other, big.NewRat(1, 50))
		random.choices[s] = append(random.choices[s], similar)
		for _, property := range []string{`Rmax=? [ F "a" || "x" U "b" ]`, `Rmin=? [ F "a" || "x" U "b" ]`} {
			exact, bounds := storm(t, random.text(), result.Exact, property)[0], storm(t, random.text(), result.Bounded, property)[0]
			if exact.Err != nil && bounds.Err != nil {
				continue
			}
			want := "inf"
			if exact.Value.Rat != nil {
				want = exact.Value.Rat.RatString()
			}
			if exact.Err != nil || bounds.Err != nil || !hasBounds(bounds, want) {
				t.Fatalf("seed %d: %s is %v in %v, %v, want %s, %v, of\n%s", seed, property, bounds.Value, bounds.Bound, bounds.Err, want, exact.Err, random.text())
			}
		}
	}
}
