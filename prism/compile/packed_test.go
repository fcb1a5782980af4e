package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
)

// sameExpansion compares the two executions on states, in one batch as far as
// there is no error and then one by one. It returns how many states had an error.
func sameExpansion(t *testing.T, m *Model, states [][]int32) (failed int) {
	t.Helper()
	p := NewPacking(m.program.Vars)
	fast, err := m.NewPackedMachine(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	slow := m.NewPackedInterpreter(p)
	var good, bad []uint64
	for _, s := range states {
		packed := make([]uint64, p.Words)
		p.Pack(packed, s)
		var c PackedChoices
		if slow.Expand(t.Context(), packed, &c) == nil {
			good = append(good, packed...)
		} else {
			bad = append(bad, packed...)
		}
	}
	compareChoices(t, m, p, fast, slow, good)
	for i := 0; i < len(bad); i += p.Words {
		compareChoices(t, m, p, fast, slow, bad[i:i+p.Words])
	}
	return len(bad) / p.Words
}

func compareChoices(t *testing.T, m *Model, p *Packing, fast, slow PackedExpander, states []uint64) {
	t.Helper()
	var want, got PackedChoices
	errWant := slow.Expand(t.Context(), states, &want)
	errGot := fast.Expand(t.Context(), states, &got)
	if errWant != nil || errGot != nil {
		if errWant == nil || errGot == nil || errWant.Error() != errGot.Error() {
			t.Fatalf("interpreter: error %v; machine: %v", errWant, errGot)
		}
	}
	moves := func(x PackedExpander, indices []uint32) (out []Move) {
		for _, i := range indices {
			out = append(out, x.Moves()[i])
		}
		return out
	}
	sameMove := func(a, b Move) bool {
		return a.Action == b.Action && a.Module == b.Module && slices.Equal(a.Commands, b.Commands)
	}
	sameBits := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	if !slices.Equal(want.Choices, got.Choices) || !slices.Equal(want.Transitions, got.Transitions) ||
		!slices.EqualFunc(moves(slow, want.Moves), moves(fast, got.Moves), sameMove) ||
		!slices.EqualFunc(want.Weights, got.Weights, sameBits) || !slices.Equal(want.Targets, got.Targets) {
		if p.Words < len(states) { // narrow it down
			for i := 0; i < len(states); i += p.Words {
				compareChoices(t, m, p, fast, slow, states[i:i+p.Words])
			}
		}
		state := make([]int32, len(m.program.Vars))
		p.Unpack(state, states)
		t.Fatalf("%s: interpreter %+v, machine %+v", m.StateText(state), want, got)
	}
}

// reachable returns states of a breadth-first search, up to a limit.
func reachable(t testing.TB, m *Model, limit int) [][]int32 {
	t.Helper()
	states, err := m.InitialStates(t.Context())
	if err != nil {
		return nil
	}
	seen := map[string]bool{}
	x := m.NewExpander()
	for i := 0; i < len(states) && len(states) < limit; i++ {
		cs, err := x.Expand(states[i])
		if err != nil {
			continue
		}
		for _, c := range cs.List {
			for _, tr := range c.Transitions {
				if key := fmt.Sprint(tr.Target); !seen[key] {
					seen[key] = true
					states = append(states, slices.Clone(tr.Target))
				}
			}
		}
	}
	return states
}

// anyStates draws valuations within the declared ranges.
func anyStates(m *Model, seed uint64, n int) [][]int32 {
	r := rand.New(rand.NewPCG(seed, 7))
	var out [][]int32
	for range n {
		out = append(out, randomState(r, m))
	}
	return out
}

func TestPacked2048(t *testing.T) {
	sizes := [][2]int{{2, 2}, {3, 3}, {2, 3}, {4, 4}}
	if !needs.IsFull() {
		sizes = sizes[:2]
	}
	for i, policy := range []string{"none", "random", "pref:left,up,down,right", "alt:up,left,down,right/left,up,down,right"} {
		for j, spawn := range []modelgen.Spawn{modelgen.SpawnCell, modelgen.SpawnModule, modelgen.SpawnUniform} {
			if i%3 != j && !needs.OrFull(false, true) { // a plain run has each policy and each spawn once
				continue
			}
			t.Run(policy+"/"+spawn.String(), func(t *testing.T) {
				for _, size := range sizes {
					m := game2048(t, modelgen.Config{Rows: size[0], Cols: size[1], Max: 32, Spawn: spawn}, policy)
					sameExpansion(t, m, reachable(t, m, 1000))
				}
			})
		}
	}
	for _, kind := range []modelgen.Kind{modelgen.Prototype, modelgen.Combined} {
		t.Run(kind.String(), func(t *testing.T) {
			m := game2048(t, modelgen.Config{Kind: kind, Rows: 2, Cols: 2, Max: 16}, "none")
			sameExpansion(t, m, append(reachable(t, m, 2000), anyStates(m, 1, 500)...))
		})
	}
}

func TestPackedCorpus(t *testing.T) {
	files, err := filepath.Glob(corpus + "/*/model.prism")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := corpusModel(file, text)
		if err != nil {
			continue // models that are wrong, or need constants
		}
		ran++
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			sameExpansion(t, m, append(reachable(t, m, 500), anyStates(m, 1, 100)...))
		})
	}
	if ran < 80 {
		t.Errorf("only %d models", ran)
	}
}

func TestPackedRandom(t *testing.T) {
	failed, states := 0, 0
	for seed := range needs.Some(uint64(400)) {
		f, n := packedRandom(t, seed)
		failed, states = failed+f, states+n
	}
	t.Logf("%d of %d states have an error", failed, states)
	if failed == 0 || failed == states {
		t.Error("errors in none or all")
	}
}

func packedRandom(t *testing.T, seed uint64) (failed, n int) {
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
	states := append(reachable(t, m, 200), anyStates(m, seed, 100)...)
	return sameExpansion(t, m, states), len(states)
}

func FuzzPacked(f *testing.F) {
	for seed := range max(needs.Some(uint64(10)), 2) {
		f.Add(1000 + seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { packedRandom(t, seed) })
}
