package disk

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/runner"
)

// testDirectory returns a new directory.
func testDirectory(t testing.TB) *Directory {
	dir, err := OpenDirectory(t.TempDir(), "model", "digest", Team{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// randomKeys returns keys of some words, with repetitions, that share beginnings and have unused low bits.
func randomKeys(r *rand.Rand, count int, layout *layout) []uint64 {
	var keys []uint64
	for range count {
		for word := range layout.wordsPerKey {
			value := r.Uint64() >> r.IntN(64-int(layout.unusedBits[word]))
			if word+1 < layout.wordsPerKey {
				value = uint64(r.IntN(3))
			}
			keys = append(keys, value<<layout.unusedBits[word])
		}
	}
	return append(keys, keys[:count/3*layout.wordsPerKey]...)
}

// chunks returns the keys in a flat list one by one.
func chunks(keys []uint64, words int) [][]uint64 { return slices.Collect(slices.Chunk(keys, words)) }

// A set contains the keys that were added, in order, and no others.
func TestSet(t *testing.T) {
	dir := testDirectory(t)
	r := rand.New(rand.NewPCG(1, 1))
	for i, layout := range []*layout{{1, []uint{0}}, {1, []uint{43}}, {2, []uint{0, 7}}, {3, []uint{1, 0, 20}}} {
		for _, count := range []int{1, 2, setBlock, setBlock + 1, 5000} {
			keys := randomKeys(r, count, layout)
			want := chunks(keys, layout.wordsPerKey)
			slices.SortFunc(want, slices.Compare)
			want = slices.CompactFunc(want, slices.Equal)
			sorted, _ := sortKeys(slices.Clone(keys), nil, layout.wordsPerKey)
			if got := chunks(sorted, layout.wordsPerKey); !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("layout %d: %d sorted keys, want %d", i, len(got), len(want))
			}
			set := writeSet(t, dir, layout, &memoryRun{sorted, layout.wordsPerKey})
			cursor := set.NewCursor()
			for rank, key := range want {
				got, err := cursor.Next()
				if err != nil || !slices.Equal(got, key) {
					t.Fatalf("layout %d, key %d of %d: %x, %v, want %x", i, rank, len(want), got, err, key)
				}
			}
			if got, err := cursor.Next(); got != nil || err != nil {
				t.Fatalf("after the last key: %x, %v", got, err)
			}
			checkFind(t, r, set, want)
		}
	}
}

// writeSet writes the keys of a source to a set, and reads its file again.
func writeSet(t *testing.T, dir *Directory, layout *layout, source keySource) *Set {
	t.Helper()
	writer, err := newSetWriter(dir, layout)
	if err != nil {
		t.Fatal(err)
	}
	for key, err := source.Next(); key != nil || err != nil; key, err = source.Next() {
		if err != nil {
			t.Fatal(err)
		}
		writer.addKey(key)
	}
	set, err := writer.finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	if set, err = openSet(dir, set.Name, layout); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = set.Close() })
	return set
}

// checkFind looks up random ascending keys.
func checkFind(t *testing.T, r *rand.Rand, set *Set, want [][]uint64) {
	t.Helper()
	for range 5 {
		cursor := set.NewCursor()
		for rank, key := range want {
			if r.IntN(1+r.IntN(300)) > 0 {
				continue
			}
			if got, ok, err := cursor.Find(key); got != int64(rank) || !ok || err != nil {
				t.Fatalf("key %d: %d, %t, %v", rank, got, ok, err)
			}
			next := slices.Clone(key)
			next[len(next)-1]++
			isThere := rank+1 < len(want) && slices.Equal(want[rank+1], next)
			if _, ok, err := cursor.Find(next); ok != isThere || err != nil {
				t.Fatalf("key behind %d: %t, %v, want %t", rank, ok, err, isThere)
			}
		}
	}
}

// A merger yields the keys of all sources once.
func TestMerger(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	layout := &layout{2, []uint{0, 0}}
	for sources := range 9 {
		var all []uint64
		var runs []keySource
		for range sources {
			keys, _ := sortKeys(randomKeys(r, r.IntN(200), layout), nil, 2)
			runs = append(runs, &memoryRun{keys, 2})
			all = append(all, keys...)
		}
		want, _ := sortKeys(all, nil, 2)
		merged, err := newMerger(runs, 2)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for key, err := merged.Next(); key != nil; key, err = merged.Next() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, key...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d sources: %d keys, want %d", sources, len(got)/2, len(want)/2)
		}
	}
}

// models are models with one and with several words per state.
var models = map[string]string{
	"one word": `mdp
module a x : [0..40]; [up] x<40 -> 0.5 : (x'=x+1) + 0.5 : (x'=0); [] x>3 -> (x'=x-3); [go] true -> true; endmodule
module b y : [-3..30]; [] y<30 -> 1/3 : (y'=y+1) + 2/3 : (y'=-3); [go] y>2 -> (y'=y-2); endmodule`,
	"three words": `dtmc
module a x : [0..1000000000]; y : [0..1000000000]; z : [-5..1000000000]; w : [0..1000000000]; v : bool;
[] x<20 -> 0.5 : (x'=x+1) + 0.3 : (y'=mod(y+x,20)) & (v'=!v) + 0.2 : (x'=0) & (z'=-5);
[] x>=20 & w<2 -> 0.5 : (w'=w+1) & (x'=0) & (y'=0) + 0.5 : (z'=mod(z+1,9)) & (x'=mod(z+5,20));
endmodule`,
}

// compiled returns a compiled model.
func compiled(t testing.TB, text string) *compile.Model {
	model, _, err := load.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// The states and transitions in a directory are those that package explicit finds, although buffers are so small that there are many runs.
func TestExplore(t *testing.T) {
	for name, text := range models {
		t.Run(name, func(t *testing.T) {
			model := compiled(t, text)
			want, err := explicit.Build(t.Context(), model, explicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			dir := testDirectory(t)
			space, err := NewSpace(t.Context(), dir, model, Options{Workers: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = space.Close() }()
			if err := space.Explore(t.Context()); err != nil {
				t.Fatal(err)
			}
			columns, err := space.Convert(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = columns.Close() }()
			checkColumns(t, space, columns, want)
		})
	}
}

// checkColumns compares columns with the rows of a space in memory.
func checkColumns(t *testing.T, space *Space, columns *Columns, want *explicit.Space) {
	t.Helper()
	graph := want.Model()
	if len(columns.Chunks) < 2 || columns.States != int64(graph.NumStates()) || columns.Choices != int64(graph.NumChoices()) || columns.Transitions != int64(graph.NumTransitions()) {
		t.Fatalf("%d chunks, %d states, %d choices, %d transitions, want several, %d, %d, %d", len(columns.Chunks), columns.States, columns.Choices, columns.Transitions, graph.NumStates(), graph.NumChoices(), graph.NumTransitions())
	}
	if columns.RelErr != graph.RelErr {
		t.Errorf("error %g of the weights, want %g", columns.RelErr, graph.RelErr)
	}
	order := want.Order() // the states of want in the order of their valuations
	rank := make([]int64, len(order))
	for i, state := range order {
		rank[state] = int64(i)
	}
	state := make([]int32, len(space.Packing.Fields))
	cursor := space.States.NewCursor()
	for chunk := range columns.Chunks {
		var rows Rows
		if _, err := columns.AppendRows(&rows, chunk, nil); err != nil {
			t.Fatal(err)
		}
		if header := &columns.Chunks[chunk]; header.Operands != int64(len(rows.Operands)) || header.Weights != int64(len(rows.Weights)) || header.States != int64(len(rows.RowOf)) {
			t.Fatalf("chunk %d: %d operands, %d weights, %d states, want %+v", chunk, len(rows.Operands), len(rows.Weights), len(rows.RowOf), header)
		}
		ranges, err := columns.TargetRanges(nil, chunk)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows.RowOf {
			number := columns.Chunks[chunk].First + int64(i)
			key, err := cursor.Next()
			if err != nil {
				t.Fatal(err)
			}
			space.Packing.Unpack(state, key)
			other := int(order[number])
			if found := want.State(nil, other); !slices.Equal(found, state) {
				t.Fatalf("state %d is %v, want %v", number, state, found)
			}
			got, wanted := describeRow(&rows, i, number, ranges, t), describeChoices(want, other, rank)
			if got != wanted {
				t.Fatalf("state %v: %s, want %s", state, got, wanted)
			}
		}
	}
}

// describeRow describes a row, and checks that its targets are in the ranges.
func describeRow(rows *Rows, i int, number int64, ranges []Range, t *testing.T) string {
	text := ""
	position := rows.RowOf[i]
	numChoices := rows.Operands[position]
	position++
	for range numChoices {
		count, weights := rows.Operands[position], rows.Operands[position+1]
		position += 2
		for k := range count {
			target := number + rows.Operands[position]
			position++
			text += fmt.Sprintf(" %v:%d", rows.Weights[weights+k], target)
			if !slices.ContainsFunc(ranges, func(r Range) bool { return r.First <= target && target < r.End }) {
				t.Fatalf("target %d of %d is in no range", target, number)
			}
		}
		text += ";"
	}
	return text
}

// describeChoices describes the choices of a state in memory; nothing for a deadlock.
func describeChoices(space *explicit.Space, state int, rank []int64) string {
	graph := space.Model()
	if graph.IsDeadlock(state) {
		return ""
	}
	text := ""
	first, end := graph.Choices(state)
	for c := first; c < end; c++ {
		begin, after := graph.Transitions(c)
		for i := begin; i < after; i++ {
			text += fmt.Sprintf(" %v:%d", graph.Prob(i), rank[graph.Target[i]])
		}
		text += ";"
	}
	return text
}

// After an error, a file that the manifest still lists is kept when the next property is recorded.
func TestConcludeKeepsListedFiles(t *testing.T) {
	dir := testDirectory(t)
	name := dir.NewName("values")
	if err := dir.WriteValues(name, []float64{1}); err != nil {
		t.Fatal(err)
	}
	dir.Obsolete(name)
	full := &FullError{Dir: "d"}
	if err := (&Space{Directory: dir}).Conclude(t.Context(), "first property", full); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	if err := dir.Commit(func(*Manifest) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.Path(name)); err != nil {
		t.Error(err)
	}
}

// Values and marks are read as they were written.
func TestValues(t *testing.T) {
	dir := testDirectory(t)
	values := []float64{0, 1, 0.1, math.Pi, 1e-300, math.Inf(1)}
	name := dir.NewName("values")
	if err := dir.WriteValues(name, values); err != nil {
		t.Fatal(err)
	}
	file, err := dir.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	got := make([]float64, 3)
	if err := file.Values(got, 2); err != nil || !slices.Equal(got, values[2:5]) {
		t.Errorf("%v, %v, want %v", got, err, values[2:5])
	}
	if err := file.Values(got, 4); err == nil {
		t.Error("values behind the end were read")
	}
}

// BenchmarkExplore explores a model with some hundred thousand states.
func BenchmarkExplore(b *testing.B) {
	text := "dtmc\nmodule m\n"
	for _, name := range []string{"a", "b", "c", "d"} {
		text += fmt.Sprintf("%s : [0..24];\n", name)
	}
	text += "[] true -> 0.3 : (a'=min(a+1,24)) + 0.3 : (b'=min(b+1,24)) + 0.2 : (c'=min(c+1,24)) + 0.2 : (d'=min(d+1,24));\nendmodule\n"
	model := compiled(b, text)
	for b.Loop() {
		dir, err := OpenDirectory(b.TempDir(), "model", "digest", Team{})
		if err != nil {
			b.Fatal(err)
		}
		space, err := NewSpace(b.Context(), dir, model, Options{Memory: 32 << 20})
		if err != nil {
			b.Fatal(err)
		}
		if err := space.Explore(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(space.States.Count)*float64(b.N)/b.Elapsed().Seconds(), "states/s")
		if err := space.Close(); err != nil {
			b.Fatal(err)
		}
		if err := dir.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
