package solve

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/sparse"
	"tilecheck/native/space/sparse/sparsetest"
)

// solveBy is system.solve with another solver for components of several states. It returns the number
// of those, and how many the solver failed to solve.
func (y *equationSystem) solveBy(t *testing.T, ends bool, way func(local *localSystem, meter *meter) bool) (tried, failed int) {
	t.Helper()
	comps := y.graph.Components(y.maybe, y.choices)
	if cyclic := y.cyclicComponents(comps); ends && !cyclic.Empty() {
		if err := y.findEndComponents(t.Context(), comps, cyclic); err != nil {
			t.Fatal(err)
		}
	}
	var index unknownIndex
	meter := newMeter(t.Context(), Options{}, 0)
	for i := range comps.Num() {
		members := comps.Members(i)
		if len(members) == 1 {
			y.solveState(int(members[0]))
			continue
		}
		local := y.localSystem(members, &index)
		tried++
		if !way(local, meter) {
			failed++
			if err := local.solve(meter, Options{}, 1e-9); err != nil {
				t.Fatal(err)
			}
		}
		y.storeSolution(local, members, &index)
	}
	y.leaveEndComponents(y.values.Scheduler)
	return tried, failed
}

// TestElimination solves random components by elimination with either proof, and by Bi-CGSTAB, and
// compares with the rational solution.
func TestElimination(t *testing.T) {
	needs.NotShort(t, "its models are too small to be computed in parallel")
	certify := func(local *localSystem, meter *meter) bool {
		ok, _, err := local.solveByElimination(meter, 1e-8, math.Inf(1))
		return ok && err == nil
	}
	prove := func(local *localSystem, meter *meter) bool {
		d := newEliminationSolver(local, math.Inf(1))
		x, err := d.policyIteration(meter, local.minimize, d.constant)
		if x == nil || err != nil {
			return false
		}
		low, high, err := d.solveConstantBounds(meter, x)
		if err != nil {
			return false
		}
		w, err := d.solveSlack(meter, x, false)
		return w != nil && err == nil && local.proveInductive(low, high, w, 1e-3, math.Inf(1))
	}
	roughly := func(local *localSystem, meter *meter) bool {
		ok, _, err := local.solveByElimination(meter, 1e-8, 0)
		return ok && err == nil
	}
	climb := func(local *localSystem, meter *meter) bool {
		ok, _, err := local.solveByPolicyIteration(meter, 1e-8, 1e6)
		return ok && err == nil
	}
	doubleWords := func(local *localSystem, meter *meter) bool {
		solver := newEliminationSolver(local, math.Inf(1))
		values, err := solver.solve(meter, solver.constant) // for any scheduler, which need not be optimal
		if values == nil || err != nil || !solver.isSafeFromUnderflow(values) {
			return certify(local, meter)
		}
		ok, err := local.solveInDoubleWords(solver, meter, values)
		return ok && err == nil
	}
	for name, way := range map[string]func(local *localSystem, meter *meter) bool{"certify": certify, "prove": prove, "roughly": roughly, "climb": climb, "double words": doubleWords} {
		t.Run(name, func(t *testing.T) {
			tried, failed := 0, 0
			for seed := range needs.OrFull(uint64(250), 1000) {
				rng := rand.New(rand.NewPCG(seed, 7))
				sh := sparsetest.Shape{Kind: sparse.MDP, States: 12, Choices: 3, Branching: 3, Rewards: true}
				if seed%20 == 0 {
					sh.States = 80
				}
				model := sparsetest.Random(rng, sh)
				graph := sparse.NewGraph(model)
				target := sparsetest.RandomSet(rng, model.NumStates(), 0.2)
				for _, dir := range []Direction{Max, Min} {
					a, b := directUntil(t, graph, target, dir, way)
					c, d := directReward(t, graph, target, dir, way)
					tried, failed = tried+a+c, failed+b+d
				}
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
			// Equal choices far apart can defeat both proofs; sweeps go on then. What
			// is rough is meant for large systems and stops early in odd small ones. Double words
			// do not tell equal choices apart either.
			limit := tried / 50
			if name == "roughly" || name == "double words" {
				limit = tried / 5
			}
			if failed > limit || tried < needs.OrFull(100, 500) {
				t.Errorf("%d of %d components were not solved", failed, tried)
			}
		})
	}
}

func directUntil(t *testing.T, graph *sparse.Graph, target *sparse.Set, dir Direction, way func(local *localSystem, meter *meter) bool) (tried, failed int) {
	t.Helper()
	all := sparse.FullSet(graph.NumStates())
	want, err := Until(t.Context(), graph, all, target, dir, Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	analysis, err := computeProb01(context.Background(), graph, all, target, dir)
	if err != nil {
		t.Fatal(err)
	}
	y := &equationSystem{graph: graph, minimize: dir == Min, isProbability: true, maybe: analysis.maybeStates(), rounding: newRounding(graph.Model, nil), values: newValues(graph.Model, Options{Scheduler: true})}
	y.values.setAll(analysis.oneStates, 1)
	tried, failed = y.solveBy(t, dir == Max, way)
	enclosed(t, y.values, want.Exact)
	return tried, failed
}

func directReward(t *testing.T, graph *sparse.Graph, target *sparse.Set, dir Direction, way func(local *localSystem, meter *meter) bool) (tried, failed int) {
	t.Helper()
	reward := &graph.Rewards[0]
	want, err := ReachReward(t.Context(), graph, reward, target, dir, Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	analysis, err := analyzeReachReward(context.Background(), graph, target, dir)
	if err != nil {
		t.Fatal(err)
	}
	y := &equationSystem{graph: graph, minimize: dir == Min, maybe: analysis.maybeStates, choices: analysis.choices, reward: reward, rounding: newRounding(graph.Model, reward), values: newValues(graph.Model, Options{})}
	tried, failed = y.solveBy(t, dir == Min, way)
	for s := range analysis.infiniteStates.All() {
		want.Exact[s] = new(big.Rat)
	}
	enclosed(t, y.values, want.Exact)
	return tried, failed
}

func enclosed(t *testing.T, values *Values, want []*big.Rat) {
	t.Helper()
	for s, x := range want {
		lo, hi := new(big.Rat).SetFloat64(values.Lower[s]), new(big.Rat).SetFloat64(values.Upper[s])
		if lo.Cmp(x) > 0 || hi.Cmp(x) < 0 {
			t.Errorf("state %d: [%v, %v] does not contain %s", s, values.Lower[s], values.Upper[s], x.RatString())
		}
		if values.Upper[s]-values.Lower[s] > 1e-8*values.Upper[s] {
			t.Errorf("state %d: [%v, %v] is wide", s, values.Lower[s], values.Upper[s])
		}
	}
}

// TestGainByCycles bounds the gain of random BSCCs by elimination, for every reference state.
func TestGainByCycles(t *testing.T) {
	tried, failed := 0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 8))
		sh := sparsetest.Shape{Kind: sparse.DTMC, States: 20, Branching: 3, Rewards: true}
		if seed%2 == 1 {
			sh.Kind = sparse.CTMC
		}
		graph := sparse.NewGraph(sparsetest.Random(rng, sh))
		reward := &graph.Rewards[0]
		want, err := LongRun(t.Context(), graph, reward, Max, Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		y, err := newSystem(graph, reward, Max, Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := newBSCCGain(y, Options{}, newMeter(t.Context(), Options{}, y.graph.NumStates()))
		comps := graph.Components(nil, nil)
		for _, i := range comps.Bottom(graph.Model) {
			members := comps.Members(i)
			if len(members) == 1 {
				continue
			}
			for _, home := range members {
				lo, hi, sure, _, err := a.gainByCycles(members, home, math.Inf(1))
				if err != nil {
					t.Fatal(err)
				}
				if tried++; !sure {
					failed++
					lo, hi = 0, math.Inf(1)
				}
				x := want.Exact[home]
				if y, _ := x.Float64(); lo > math.Nextafter(y, math.Inf(1)) || hi < math.Nextafter(y, 0) || sure && hi-lo > 1e-12*hi {
					t.Fatalf("seed %d: [%v, %v], want %v", seed, lo, hi, y)
				}
			}
		}
	}
	// An average of zero is left to others.
	if failed*4 > tried || tried < 1000 {
		t.Errorf("%d of %d failed", failed, tried)
	}
}
