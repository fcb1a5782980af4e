package belief_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve"
	"tilecheck/native/solve/belief"
	"tilecheck/native/space/sparse"
)

// random is a POMDP without cycles but in its last two states, the target and a sink:
// what every player gets is settled after so many steps.
type random struct {
	belief.Problem
	layers int
}

const perLayer = 3

// newRandom returns a model of layers with three states each, that show one of two
// things, or the same. Its target and its sink show more.
func newRandom(r *rand.Rand, layers int, cycles bool) *random {
	n := layers*perLayer + 2
	goal, sink := n-2, n-1
	builder := sparse.NewBuilder(sparse.MDP)
	seen := make([]uint32, n)
	show := 1 + r.IntN(2)
	reward := &sparse.Reward{StateFractions: make([]*big.Rat, n), State: make([]float64, n), RelErr: 0x1p-53}
	for s := range n {
		builder.State()
		if s >= goal {
			builder.Choice(1)
			builder.AddRat(s, big.NewRat(1, 1), sparse.NoAction)
			seen[s] = uint32(2*layers + s - goal)
			continue
		}
		layer := s / perLayer
		if cycles {
			layer = 0
		}
		seen[s] = uint32(2*layer + r.IntN(show))
		x := int64(r.IntN(4))
		reward.StateFractions[s], reward.State[s] = big.NewRat(x, 1), float64(x)
		for a := range 3 {
			builder.Choice(sparse.Action(a + 1))
			row := map[int]int64{}
			for range 4 {
				to := (s/perLayer+1)*perLayer + r.IntN(perLayer)
				if cycles {
					to = r.IntN(goal)
				}
				switch k := r.IntN(8); {
				case k == 0 || to >= goal:
					to = goal
				case k == 1:
					to = sink
				}
				row[to]++
			}
			for to := range n {
				if row[to] > 0 {
					builder.AddRat(to, big.NewRat(row[to], 4), sparse.NoAction)
				}
			}
		}
	}
	model, err := builder.Finish()
	if err != nil {
		panic(err)
	}
	p := belief.Problem{Graph: sparse.NewGraph(model), Observation: seen, Left: sparse.FullSet(n), Target: sparse.SetOf(n, goal)}
	if r.IntN(2) == 0 && !cycles {
		p.Reward, p.Target = reward, sparse.SetOf(n, goal, sink)
	}
	p.Direction = solve.Direction(r.IntN(2))
	return &random{p, layers}
}

// best is what a player with perfect memory gets: all that can be done is tried, for
// weights of states that are not normalized. After depth steps nothing more is had.
func (p *random) best(weights map[int]float64, depth int) float64 {
	model := p.Graph.Model
	best := math.Inf(1)
	if p.Direction == solve.Max {
		best = 0
	}
	if depth == 0 {
		return 0
	}
	for a := range 3 {
		x := 0.0
		next := map[uint32]map[int]float64{}
		for s, w := range weights {
			first, _ := model.Choices(s)
			if p.Reward != nil {
				x += w * p.Reward.State[s]
			}
			lo, end := model.Transitions(first + a)
			for i := lo; i < end; i++ {
				to, q := int(model.Target[i]), w*model.Prob(i)
				switch shown := p.Observation[to]; {
				case p.Target.Has(to) && p.Reward == nil:
					x += q
				case to >= model.NumStates()-2:
				case next[shown] == nil:
					next[shown] = map[int]float64{to: q}
				default:
					next[shown][to] += q
				}
			}
		}
		for _, w := range next {
			x += p.best(w, depth-1)
		}
		if p.Direction == solve.Max {
			best = max(best, x)
		} else {
			best = min(best, x)
		}
	}
	return best
}

const tolerance = 1e-7 // of the sums above, and of the bounds

// TestAgainstAllStrategies compares bounds with what perfect memory gets, found by
// trying everything: with as many beliefs as it takes, and with few, where the grid and
// the cut-offs matter.
func TestAgainstAllStrategies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	wide := 0
	for i := range max(needs.Some(80), 26) {
		p := newRandom(r, 4, false)
		want := p.best(map[int]float64{0: 1}, p.layers+1)
		for _, beliefs := range []int{1, 3, 9, 5000} {
			b, err := belief.Solve(t.Context(), p.Problem, 0, belief.Options{Beliefs: beliefs})
			if err != nil {
				t.Fatal(err)
			}
			if !(b.Lo <= want+tolerance && want <= b.Hi+tolerance) {
				t.Errorf("model %d, %d beliefs: [%v, %v], want %v in it", i, beliefs, b.Lo, b.Hi, want)
			}
			if beliefs == 5000 && (!b.Complete || b.Hi-b.Lo > tolerance) {
				t.Errorf("model %d: [%v, %v], complete: %v", i, b.Lo, b.Hi, b.Complete)
			}
			if b.Hi-b.Lo > tolerance {
				wide++
			}
			checkStrategy(t, p, b)
		}
		exact, err := belief.Solve(t.Context(), p.Problem, 0, belief.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		if f, _ := exact.Exact.Float64(); math.Abs(f-want) > tolerance {
			t.Errorf("model %d: exactly %v, want %v", i, exact.Exact, want)
		}
	}
	if wide < 8 {
		t.Errorf("only %d intervals were wide: the cut-offs are not tested", wide)
	}
}

// checkStrategy plays the strategy: what it is worth, by going through all histories,
// is the bound that it is said to attain.
func checkStrategy(t *testing.T, p *random, b *belief.Bounds) {
	t.Helper()
	bound := b.Lo
	if p.Direction == solve.Min {
		bound = b.Hi
	}
	if got := p.play(b.Strategy, 0, 0, p.layers+1); math.Abs(got-bound) > tolerance {
		t.Errorf("the strategy is worth %v, said to be worth %v", got, bound)
	}
}

func (p *random) play(controller *belief.Controller, node, s, depth int) float64 {
	model := p.Graph.Model
	if depth == 0 {
		return 0
	}
	first, _ := model.Choices(s)
	actions, share := []int{0, 1, 2}, 1.0/3
	if a := controller.Nodes[node].Action; a != belief.AnyAction {
		actions, share = []int{a}, 1
	}
	x := 0.0
	for _, a := range actions {
		if p.Reward != nil {
			x += share * p.Reward.State[s]
		}
		lo, end := model.Transitions(first + a)
		for i := lo; i < end; i++ {
			to := int(model.Target[i])
			switch {
			case p.Target.Has(to) && p.Reward == nil:
				x += share * model.Prob(i)
			case to < model.NumStates()-2:
				for _, e := range controller.Nodes[node].Next {
					if e.Observation == p.Observation[to] {
						x += share * model.Prob(i) * p.play(controller, e.Node, to, depth-1)
					}
				}
			}
		}
	}
	return x
}

// TestMemory wants the right action of each of ten steps, which only who counts them can know; one belief that is looked into says
// little about that, and without memory the chance is 1/1024.
func TestMemory(t *testing.T) {
	const steps = 10
	builder := sparse.NewBuilder(sparse.MDP)
	seen := make([]uint32, steps+2)
	for s := range steps + 2 {
		builder.State()
		for a := range 2 {
			builder.Choice(sparse.Action(a + 1))
			switch {
			case s >= steps:
				builder.AddRat(s, big.NewRat(1, 1), sparse.NoAction)
				seen[s] = uint32(s)
			case a == s*s%3%2:
				builder.AddRat(s+1, big.NewRat(9, 10), sparse.NoAction)
				builder.AddRat(steps+1, big.NewRat(1, 10), sparse.NoAction)
			default:
				builder.AddRat(steps+1, big.NewRat(1, 1), sparse.NoAction)
			}
		}
	}
	model, err := builder.Finish()
	if err != nil {
		t.Fatal(err)
	}
	p := belief.Problem{Graph: sparse.NewGraph(model), Observation: seen, Left: sparse.FullSet(steps + 2), Target: sparse.SetOf(steps+2, steps), Direction: solve.Max}
	v, err := belief.Solve(t.Context(), p, 0, belief.Options{Beliefs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Pow(0.9, steps); math.Abs(v.Lo-want) > 1e-9 || v.Complete {
		t.Errorf("found [%v, %v], complete: %v; want %v by a strategy with memory", v.Lo, v.Hi, v.Complete, want)
	}
}

// TestCycles wants the bounds of models with cycles not to contradict what can be had in
// six steps.
func TestCycles(t *testing.T) {
	needs.Full(t)
	r := rand.New(rand.NewPCG(2, 1))
	narrow := 0
	for i := range max(needs.Some(60), 20) {
		p := newRandom(r, 2, true)
		p.Direction = solve.Max
		least := p.best(map[int]float64{0: 1}, 6)
		last := math.Inf(1)
		for _, beliefs := range []int{8, 300} {
			b, err := belief.Solve(t.Context(), p.Problem, 0, belief.Options{Beliefs: beliefs, Epsilon: 1e-3})
			if err != nil {
				t.Fatal(err)
			}
			if least > b.Hi+tolerance || b.Lo > b.Hi || b.Hi-b.Lo > last+1e-3 {
				t.Errorf("model %d, %d beliefs: [%v, %v], before it %v wide, %v in six steps", i, beliefs, b.Lo, b.Hi, last, least)
			}
			if last = b.Hi - b.Lo; beliefs > 8 && last < 0.01 {
				narrow++
			}
		}
	}
	if narrow < 12 {
		t.Errorf("only %d intervals are narrow", narrow)
	}
}

// TestActions wants states that show the same to have the same actions.
func TestActions(t *testing.T) {
	for _, test := range []struct {
		actions [2][]sparse.Action
		want    string
	}{
		{[2][]sparse.Action{{1, 2}, {2, 1}}, "<nil>"},
		{[2][]sparse.Action{{1, 2}, {1}}, "states 0 and 1 have the same observation, and different actions"},
		{[2][]sparse.Action{{1, 2}, {1, 3}}, "states 0 and 1 have the same observation, and different actions"},
		{[2][]sparse.Action{{1, 1}, {1}}, "state 0 has two choices with the same action"},
	} {
		builder := sparse.NewBuilder(sparse.MDP)
		for s, actions := range test.actions {
			builder.State()
			for _, a := range actions {
				builder.Choice(a)
				builder.Add(s, 1)
			}
		}
		model, err := builder.Finish()
		if err != nil {
			t.Fatal(err)
		}
		_, err = model.MatchActions([]uint32{0, 0})
		if got := fmt.Sprint(err); got != test.want {
			t.Errorf("%v: %s, want %s", test.actions, got, test.want)
		}
	}
}
