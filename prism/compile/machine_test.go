package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// sameOutcomes draws n samples with both executions and compares every bit. It
// returns what the interpreter gave.
func sameOutcomes(t *testing.T, m *Model, mon Monitor, n int) []Outcome {
	t.Helper()
	ctx := t.Context()
	slow, err := m.NewInterpreter(mon)
	if err != nil {
		t.Fatal(err)
	}
	fast, err := m.NewMachine(ctx, mon)
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	want, got := make([]Outcome, n), make([]Outcome, n)
	if err := slow.RunBatch(ctx, 1, 0, want); err != nil {
		t.Fatal(err)
	}
	if err := fast.RunBatch(ctx, 1, 0, got); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Fatalf("sample %d of %+v: interpreter %+v, machine %+v", i, mon, want[i], got[i])
		}
	}
	return want
}

// monitors are one of every kind, over a target, a condition and reward
// structure 0 if the model has one.
func monitors(m *Model, goal, safe sema.Expr) []Monitor {
	inf := math.Inf(1)
	until := func(left sema.Expr, low, high float64, strict bool) Monitor {
		return Monitor{Kind: Until, Left: left, Right: goal, Low: low, High: high, IsLowStrict: strict, IsHighStrict: strict, MaxPath: 60}
	}
	out := []Monitor{
		until(nil, -inf, inf, false),
		until(safe, 0, inf, false),
		until(safe, 0, 5, false),
		until(safe, 2, 7, true),
		until(nil, 3, inf, false),
		{Kind: Next, Right: goal},
	}
	if len(m.program.Rewards) > 0 {
		out = append(out,
			Monitor{Kind: ReachReward, Right: goal, Low: -inf, High: inf, MaxPath: 60},
			Monitor{Kind: CumulReward, High: 6},
			Monitor{Kind: InstantReward, High: 4},
		)
	}
	return out
}

func TestMachine2048(t *testing.T) {
	for i, policy := range []string{"none", "random", "pref:left,up,down,right", "alt:up,left,down,right/left,up,down,right"} {
		for j, spawn := range []modelgen.Spawn{modelgen.SpawnCell, modelgen.SpawnModule, modelgen.SpawnUniform} {
			if i%3 != j && !needs.OrFull(false, true) { // a plain run has each policy and each spawn once
				continue
			}
			t.Run(policy+"/"+spawn.String(), func(t *testing.T) {
				m := game2048(t, modelgen.Config{Rows: 4, Cols: 4, Max: 32, Spawn: spawn}, policy)
				sameOutcomes(t, m, eventually(t, m, "fail"), 50)
			})
		}
	}
	for _, kind := range []modelgen.Kind{modelgen.Prototype, modelgen.Combined} {
		t.Run(kind.String(), func(t *testing.T) {
			m := game2048(t, modelgen.Config{Kind: kind, Rows: 2, Cols: 2, Max: 16}, "none")
			sameOutcomes(t, m, eventually(t, m, "success"), 200)
		})
	}
}

// TestMachineCorpus runs every monitor on every model of the corpus.
func TestMachineCorpus(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*/model.prism")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for i, file := range files {
		if i%6 > 0 && !needs.IsFull() { // each is compiled for several properties
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := corpusModel(file, text)
		if err != nil {
			continue // models that are wrong, or need constants
		}
		if _, err := m.newInterpreter(Monitor{Kind: Next, Right: newBool(noPos, true)}); err != nil {
			continue // several initial states
		}
		ran++
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			last := m.program.Vars[len(m.program.Vars)-1]
			goal := same(last, len(m.program.Vars)-1, last.High)
			safe := &sema.Unary{Base: sema.Base{ValueType: sema.Bool}, Op: syntax.OpNot, X: same(m.program.Vars[0], 0, m.program.Vars[0].High)}
			for _, mon := range monitors(m, goal, safe) {
				sameOutcomes(t, m, mon, 20)
			}
		})
	}
	if ran < needs.Some(80) {
		t.Errorf("only %d models", ran)
	}
}

func corpusModel(file string, text []byte) (*Model, error) {
	tree, err := syntax.ParseModel(file, text)
	if err != nil {
		return nil, err
	}
	checked, err := sema.CheckModel(tree)
	if err != nil {
		return nil, err
	}
	prog, err := checked.Instantiate(nil)
	if err != nil {
		return nil, err
	}
	return Compile(prog, Options{})
}

// same is the expression that a variable has a value.
func same(v sema.Variable, slot int, value int32) sema.Expr {
	x := &sema.Var{Base: sema.Base{ValueType: v.Type}, Slot: slot}
	if v.Type == sema.Bool {
		return newBinary(noPos, syntax.OpEq, x, newBool(noPos, value != 0))
	}
	return newBinary(noPos, syntax.OpEq, x, &sema.Const{Base: sema.Base{ValueType: sema.Int}, Val: sema.IntValue(value)})
}

// TestMachineRandom compares the two executions on random models.
func TestMachineRandom(t *testing.T) {
	ends := map[Status]int{}
	for seed := range needs.Some(uint64(150)) {
		compareRandom(t, seed, ends)
	}
	t.Logf("ends of paths: %v", ends)
	for _, s := range []Status{True, False, Undecided, Failed} {
		if ends[s] == 0 && (s != Undecided || needs.OrFull(false, true)) { // few models have such an end
			t.Errorf("no path ended with status %d", s)
		}
	}
}

func compareRandom(t *testing.T, seed uint64, ends map[Status]int) {
	t.Helper()
	text := randomModel(seed)
	m, err := corpusModel("random.prism", []byte(text))
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	if seed%2 == 0 {
		m.options.memoCost = 1 // remember every function, however cheap
	}
	defer func() {
		if t.Failed() {
			t.Logf("seed %d:\n%s", seed, text)
		}
	}()
	for _, mon := range monitors(m, label(t, m, "goal"), label(t, m, "safe")) {
		for _, out := range sameOutcomes(t, m, mon, 30) {
			ends[out.Status]++
		}
	}
}

// TestRemembered has functions that differ in one number only, and one that
// equals another in other variables.
func TestRemembered(t *testing.T) {
	f := func(x, y, c string) string {
		return fmt.Sprintf("floor((%s>3 ? mod(%s*7,5) : min(%s,4))*%s) + (%s<%s ? 1 : 0)", x, y, y, c, x, y)
	}
	text := "mdp module m a:[0..9]; b:[0..9]; c:[0..9]; d:[0..9];\n" +
		"[] true -> (a'=" + f("a", "b", "0.5") + "); [] true -> (a'=" + f("a", "b", "0.75") + ");\n" +
		"[] true -> (c'=" + f("c", "d", "0.5") + "); [] true -> 0.1:(b'=mod(b+3,10)) + 0.9:(d'=mod(d+7,10));\n" +
		"endmodule rewards true : a+10*b+100*c+1000*d; endrewards"
	m := model(t, text, Options{memoCost: 5})
	mon := Monitor{Kind: CumulReward, High: 200}
	sameOutcomes(t, m, mon, 100)
	w, err := m.newWatch(mon)
	if err != nil {
		t.Fatal(err)
	}
	p := newPathGenerator(m, w, m.initialState())
	if _, err := p.assemble(); err != nil {
		t.Fatal(err)
	}
	if len(p.memos) != 2 {
		t.Errorf("%d functions, want 2", len(p.memos))
	}
}

func FuzzMachine(f *testing.F) {
	for seed := range max(needs.Some(uint64(10)), 2) {
		f.Add(1000 + seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { compareRandom(t, seed, map[Status]int{}) })
}

// TestBatchesAgree checks that a sample does not depend on where it is drawn:
// alone, in batches of any size, or by a fork.
func TestBatchesAgree(t *testing.T) {
	m := game2048(t, modelgen.Config{Rows: 3, Cols: 3, Max: 32}, "random")
	mon := eventually(t, m, "fail")
	r, err := m.NewMachine(context.Background(), mon)
	if err != nil {
		t.Fatal(err)
	}
	fork, err := r.Fork()
	if err != nil {
		t.Fatal(err)
	}
	const n = batchSize + 100
	all := make([]Outcome, n)
	if err := r.RunBatch(t.Context(), 7, 0, all); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	for _, i := range []uint64{0, 1, batchSize - 1, batchSize, n - 1} {
		if got := fork.Run(NewStream(7, i)); !reflect.DeepEqual(got, all[i]) {
			t.Errorf("sample %d alone: %+v, in a batch: %+v", i, got, all[i])
		}
	}
	part := make([]Outcome, 37)
	if err := fork.RunBatch(t.Context(), 7, 500, part); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(part, all[500:537]) {
		t.Error("a batch from 500 differs")
	}
}

// TestSuspend runs a path that is longer than one call may take.
func TestSuspend(t *testing.T) {
	m := model(t, "dtmc module m x:[0..2]; [] true -> 0.5:(x'=1) + 0.5:(x'=0); endmodule rewards x=1:1; endrewards", Options{})
	for _, r := range bothRunners(t, m, Monitor{Kind: CumulReward, High: 3 * maxStepBudget / 2}) {
		out := r.Run(NewStream(1, 1))
		// The mean is half the steps, the standard deviation sqrt(steps)/2 = 886.
		if out.Steps != 3*maxStepBudget/2 || math.Abs(out.Reward-0.75*maxStepBudget) > 6*886 {
			t.Errorf("%s: %+v", r.Name(), out)
		}
	}
}

// TestCancel stops a path that would take for ever.
func TestCancel(t *testing.T) {
	m := model(t, "dtmc module m x:[0..2]; [] true -> 0.5:(x'=1) + 0.5:(x'=0); endmodule", Options{})
	mon := Monitor{Kind: Until, Right: newBool(noPos, false), Low: 0, High: 1e15}
	for _, r := range bothRunners(t, m, mon) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.RunBatch(ctx, 1, 0, make([]Outcome, 3)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", r.Name(), err)
		}
	}
}

func bothRunners(t *testing.T, m *Model, mon Monitor) []BatchRunner {
	t.Helper()
	slow, err := m.NewInterpreter(mon)
	if err != nil {
		t.Fatal(err)
	}
	fast, err := m.NewMachine(t.Context(), mon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fast.Close(); err != nil {
			t.Error(err)
		}
	})
	return []BatchRunner{slow, fast}
}
