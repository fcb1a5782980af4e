package scheduler_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/native/explain/scheduler"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// A quantity is what a scheduler attains a value of. Its function takes a model
// and the sets and rewards that belong to it.
type quantity struct {
	name  string
	value func(ctx context.Context, g *sparse.Graph, r *sparse.Reward, left, right *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error)
}

var quantities = []quantity{
	{"until", func(ctx context.Context, g *sparse.Graph, _ *sparse.Reward, left, right *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
		return solve.Until(ctx, g, left, right, dir, opts)
	}},
	{"next", func(ctx context.Context, g *sparse.Graph, _ *sparse.Reward, _, right *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
		return solve.Next(ctx, g, right, dir, opts)
	}},
	{"reward until", func(ctx context.Context, g *sparse.Graph, r *sparse.Reward, _, right *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
		return solve.ReachReward(ctx, g, r, right, dir, opts)
	}},
	{"total reward", func(ctx context.Context, g *sparse.Graph, r *sparse.Reward, _, _ *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
		return solve.TotalReward(ctx, g, r, dir, opts)
	}},
	bounded("F<=4", solve.StepBound{High: 4}), bounded("F<=0", solve.StepBound{}), bounded("F[2,5]", solve.StepBound{Low: 2, High: 5}),
	bounded("F[3,3]", solve.StepBound{Low: 3, High: 3}), bounded("F>=2", solve.StepBound{Low: 2, High: solve.Unbounded}),
	bounded("F<=12", solve.StepBound{High: 12}),
	{"reward of 3 steps", func(ctx context.Context, g *sparse.Graph, r *sparse.Reward, _, _ *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
		return solve.CumulReward(ctx, g, r, 3, dir, opts)
	}},
	{"reward after 3 steps", func(ctx context.Context, g *sparse.Graph, r *sparse.Reward, _, _ *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
		return solve.InstantReward(ctx, g, r, 3, dir, opts)
	}},
}

func bounded(name string, steps solve.StepBound) quantity {
	return quantity{name, func(ctx context.Context, g *sparse.Graph, _ *sparse.Reward, left, right *sparse.Set, dir solve.Direction, opts solve.Options) (*solve.Values, error) {
		return solve.BoundedUntil(ctx, g, left, right, steps, dir, opts)
	}}
}

var shapes = []sparsetest.Shape{
	{States: 4, Choices: 3, Branching: 2, Rewards: true},
	{States: 8, Choices: 2, Branching: 1, Rewards: true},
	{States: 20, Choices: 3, Branching: 3, Forward: 0.6, Rewards: true},
	{States: 15, Choices: 4, Branching: 2, Denominator: 1000, Rewards: true},
}

// TestInducedValue: in the induced chain the scheduler's value is the one
// claimed, in every state.
func TestInducedValue(t *testing.T) {
	infinite, free := 0, 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 7))
		sh := shapes[seed%uint64(len(shapes))]
		sh.Kind = sparse.MDP
		m := sparsetest.Random(rng, sh)
		n := m.NumStates()
		m.Initial = nil
		for s := range n {
			m.Initial = append(m.Initial, uint32(s))
		}
		c := &claim{t: t, m: m, left: sparsetest.RandomSet(rng, n, 0.8), right: sparsetest.RandomSet(rng, n, 0.2)}
		for _, q := range quantities {
			for _, dir := range []solve.Direction{solve.Max, solve.Min} {
				c.check(q, dir)
			}
		}
		infinite, free = infinite+c.infinite, free+c.free
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if infinite < 500 || free < 500 {
		t.Errorf("%d infinite values, %d states where any choice will do: too few to mean much", infinite, free)
	}
}

// claim is a random model on which schedulers are checked.
type claim struct {
	t           *testing.T
	m           *sparse.Model
	left, right *sparse.Set
	// infinite and free count infinite values and states without a choice.
	infinite, free int
}

func (c *claim) check(q quantity, dir solve.Direction) {
	c.t.Helper()
	g, r, opts := sparse.NewGraph(c.m), &c.m.Rewards[0], solve.Options{Exact: true, Scheduler: true}
	x, err := q.value(c.t.Context(), g, r, c.left, c.right, dir, opts)
	if err != nil {
		c.t.Fatal(err)
	}
	for s, got := range c.under(q, rows(x.Scheduler, x.StepChoices)) {
		want := x.Exact[s]
		if want == nil {
			c.infinite++
		}
		if (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 {
			c.t.Errorf("%s, %d: state %d: scheduler gives %v, want %v", q.name, dir, s, got, want)
		}
	}
	opts.Exact = false
	v, err := q.value(c.t.Context(), g, r, c.left, c.right, dir, opts)
	if err != nil {
		c.t.Fatal(err)
	}
	for s, got := range c.under(q, rows(v.Scheduler, v.StepChoices)) {
		if !within(got, v.Lower[s], v.Upper[s]) {
			c.t.Errorf("%s, %d: state %d: scheduler gives %v, want [%v, %v]", q.name, dir, s, got, v.Lower[s], v.Upper[s])
		}
	}
}

func rows(memoryless []uint32, steps [][]uint32) scheduler.Scheduler {
	if memoryless != nil {
		return scheduler.Scheduler{memoryless}
	}
	return steps
}

func within(x *big.Rat, lo, hi float64) bool {
	if x == nil || math.IsInf(lo, 1) {
		return x == nil && math.IsInf(hi, 1)
	}
	return new(big.Rat).SetFloat64(lo).Cmp(x) <= 0 && (math.IsInf(hi, 1) || new(big.Rat).SetFloat64(hi).Cmp(x) >= 0)
}

// under returns the exact value of each state in the chain that a scheduler induces.
func (c *claim) under(q quantity, x scheduler.Scheduler) []*big.Rat {
	c.t.Helper()
	in, err := x.Induce(c.t.Context(), c.m, scheduler.InduceOptions{})
	if err != nil {
		c.t.Fatalf("%s: %v", q.name, err)
	}
	for _, u := range x[0] {
		if u == sparse.None {
			c.free++
		}
	}
	r := in.InducedReward(&c.m.Rewards[0])
	v, err := q.value(c.t.Context(), sparse.NewGraph(in.Model), r, in.InducedStates(c.left), in.InducedStates(c.right), solve.Max, solve.Options{Exact: true})
	if err != nil {
		c.t.Fatal(err)
	}
	out := make([]*big.Rat, c.m.NumStates())
	for i, s := range in.State {
		if in.Step == nil || in.Step[i] == 0 {
			out[s] = v.Exact[i]
		}
	}
	return out
}

// small is an MDP of doubles on 0..3: from 0 either to 3 surely or to 1 or 2,
// from 1 back to 0, from 2 and 3 nowhere.
func small(t *testing.T) *sparse.Model {
	t.Helper()
	b := sparse.NewBuilder(sparse.MDP)
	b.State()
	b.Choice(1)
	b.Add(3, 1)
	b.Choice(2)
	b.Add(2, 0.25)
	b.Add(1, 0.75)
	b.State()
	b.Choice(sparse.NoAction)
	b.Add(0, 1)
	for s := 2; s < 4; s++ {
		b.State()
		b.Choice(1)
		b.Add(s, 1)
	}
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	m.Initial = []uint32{0}
	m.Deadlocks = sparse.SetOf(4, 2)
	return m
}

func TestInduce(t *testing.T) {
	const none = sparse.None
	order := []uint32{3, 2, 1, 0}
	tests := []struct {
		name         string
		x            scheduler.Scheduler
		opts         scheduler.InduceOptions
		states, step []uint32
		targets      []uint32
		actions      []sparse.Action
	}{
		{"all", scheduler.Scheduler{{2 - 1, none, none, 4}}, scheduler.InduceOptions{}, []uint32{0, 1, 2, 3}, nil, []uint32{1, 2, 0, 2, 3}, []sparse.Action{2, 2, 0, 1, 1}},
		{"reachable", scheduler.Scheduler{{1, none, none, none}}, scheduler.InduceOptions{Reachable: true}, []uint32{0, 1, 2}, nil, []uint32{1, 2, 0, 2}, []sparse.Action{2, 2, 0, 1}},
		{"first choice", scheduler.Scheduler{{none, none, none, none}}, scheduler.InduceOptions{Reachable: true}, []uint32{0, 3}, nil, []uint32{1, 1}, []sparse.Action{1, 1}},
		{"order", scheduler.Scheduler{{1, none, none, none}}, scheduler.InduceOptions{Order: order}, []uint32{3, 2, 1, 0}, nil, []uint32{0, 1, 3, 1, 2}, []sparse.Action{1, 1, 0, 2, 2}},
		{"restrict", scheduler.Scheduler{{1, none, none, none}}, scheduler.InduceOptions{Restrict: true}, []uint32{0, 1, 2, 3}, nil, []uint32{1, 2, 0, 2, 3}, []sparse.Action{2, 0, 1, 1}},
		{
			"steps",
			scheduler.Scheduler{{1, none, none, none}, {1, none, none, none}, {0, none, none, none}},
			scheduler.InduceOptions{},
			[]uint32{0, 1, 2, 0, 2, 3},
			[]uint32{0, 1, 1, 2, 2, 2},
			[]uint32{1, 2, 3, 4, 5, 4, 5},
			[]sparse.Action{2, 2, 0, 1, 1, 1, 1},
		},
		{
			"steps in order",
			scheduler.Scheduler{{1, none, none, none}, {1, none, none, none}},
			scheduler.InduceOptions{Order: order},
			[]uint32{0, 2, 1, 0},
			[]uint32{0, 1, 1, 1},
			[]uint32{1, 2, 1, 3, 1, 2},
			[]sparse.Action{2, 2, 1, 0, 2, 2},
		},
	}
	for _, tt := range tests {
		in, err := tt.x.Induce(t.Context(), small(t), tt.opts)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !slices.Equal(in.State, tt.states) || !slices.Equal(in.Step, tt.step) || !slices.Equal(in.Model.Target, tt.targets) || !slices.Equal(in.Model.Actions, tt.actions) {
			t.Errorf("%s: states %v steps %v targets %v actions %v", tt.name, in.State, in.Step, in.Model.Target, in.Model.Actions)
		}
		first := slices.Index(in.State, 0)
		if !slices.Equal(in.Model.Initial, []uint32{uint32(first)}) || !in.Model.Deadlocks.Equal(in.InducedStates(sparse.SetOf(4, 2))) {
			t.Errorf("%s: initial %v", tt.name, in.Model.Initial)
		}
	}
}

func TestInduceErrors(t *testing.T) {
	m := small(t)
	chain, err := scheduler.Scheduler{{0, 2, 3, 4}}.Induce(t.Context(), m, scheduler.InduceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		m    *sparse.Model
		x    scheduler.Scheduler
		opts scheduler.InduceOptions
		want string
	}{
		{chain.Model, scheduler.Scheduler{{0, 1, 2, 3}}, scheduler.InduceOptions{}, "scheduler of a DTMC, want an MDP"},
		{m, nil, scheduler.InduceOptions{}, "scheduler without choices"},
		{m, scheduler.Scheduler{{0, 2}}, scheduler.InduceOptions{}, "found a scheduler of 2 states, wanted 4 as in the model"},
		{m, scheduler.Scheduler{{0, 1, 3, 4}}, scheduler.InduceOptions{}, "found choice 1 for state 1, wanted one of 2 to 2"},
		{m, scheduler.Scheduler{{0, 2, 3, 4}}, scheduler.InduceOptions{Reachable: true}, "context canceled"},
		{m, scheduler.Scheduler{{0, 2, 3, 4}, {1, 2, 3, 4}}, scheduler.InduceOptions{}, "context canceled"},
	}
	for _, tt := range tests {
		ctx := t.Context()
		if strings.HasPrefix(tt.want, "context") {
			ctx = cancelled
		}
		if _, err := tt.x.Induce(ctx, tt.m, tt.opts); err == nil || err.Error() != tt.want || ctx.Err() != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
}
