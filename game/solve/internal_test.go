package solve

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/game"
)

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(6, 2048)) }

// randomBoard has tiles of up to 2^exps in about half of the cells.
func randomBoard(rng *rand.Rand, shape game.Shape, exps int) game.Board {
	var b game.Board
	for i := range shape.Cells() {
		if rng.IntN(2) == 0 {
			b = b.With(i, 1+rng.IntN(exps))
		}
	}
	return b
}

// shapes are all shapes of boards.
func shapes() []game.Shape {
	var all []game.Shape
	for rows := 1; rows <= game.MaxCells; rows++ {
		for cols := 1; cols <= game.MaxCells; cols++ {
			if s := (game.Shape{Rows: rows, Cols: cols}); s.Validate() == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// TestOrbit compares canonical boards with package game's, of boards and of boards with one more tile.
func TestOrbit(t *testing.T) {
	rng := newRandom()
	for _, shape := range shapes() {
		rules, err := game.New(shape)
		if err != nil {
			t.Fatal(err)
		}
		o := newOrbit(shape)
		for range 200 {
			b := randomBoard(rng, shape, game.MaxExponent)
			want, _ := rules.Canonical(b)
			if got := o.least(uint64(b)); got != uint64(want) {
				t.Fatalf("%s: least image of %s is %x, want %s", shape, b, got, want)
			}
			var images [8]uint64
			o.all(uint64(b), &images)
			for i := range shape.Cells() {
				if b.Cell(i) != 0 {
					continue
				}
				want, _ := rules.Canonical(b.With(i, 2))
				if got := o.leastWith(&images, i, 2); got != uint64(want) {
					t.Fatalf("%s: least image of %s with a 4 in cell %d is %x, want %s", shape, b, i, got, want)
				}
			}
		}
	}
}

// TestWon compares with package game.
func TestWon(t *testing.T) {
	rng := newRandom()
	shape := game.Shape{Rows: 4, Cols: 4}
	for exp := 2; exp <= game.MaxExponent; exp++ {
		e, err := newExpander(Problem{Shape: shape, MaxExp: exp, Discount: 1, Twos: 9, Of: 10})
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			b := randomBoard(rng, shape, exp)
			if e.won(b) != b.AtLeast(exp) {
				t.Fatalf("%s is won: %t", b, e.won(b))
			}
		}
	}
}

func TestSortUnique(t *testing.T) {
	rng := newRandom()
	for _, n := range []int{0, 1, 2, 255, 256, 257, 5000} {
		for _, bits := range []int{0, 1, 11, 12, 36, 63, 64} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = rng.Uint64() >> (64 - bits)
			}
			want := slices.Compact(slices.Sorted(slices.Values(keys)))
			if got := sortUnique(keys, make([]uint64, n)); !slices.Equal(got, want) {
				t.Errorf("%d keys of %d bits: %d sorted, want %d", n, bits, len(got), len(want))
			}
		}
	}
}

// TestBlock encodes blocks of all sizes, with and without palettes, and reads them back.
func TestBlock(t *testing.T) {
	rng := newRandom()
	for n := 1; n <= blockBoards; n++ {
		for _, different := range []int{0, 1, 2, maxPalette, maxPalette + 1, blockBoards} { // values; 0 for plain boards
			want := randomEntries(rng, n, different)
			data := appendBlock(nil, want)
			v, ok := cutBlock(data, n, want.boards[0], different > 0)
			if !ok {
				t.Fatalf("block of %d boards and %d values cannot be cut", n, different)
			}
			boards, ok := v.appendBoards(nil)
			if !ok || !slices.Equal(boards, want.boards) {
				t.Fatalf("boards are %x, want %x", boards, want.boards)
			}
			for i, b := range boards {
				at, ok := v.find(b)
				if !ok || at != i {
					t.Fatalf("board %d is found at %d, %t", i, at, ok)
				}
				if _, ok := v.find(b + 1); ok && !slices.Contains(boards, b+1) {
					t.Fatalf("board %x is found and is not there", b+1)
				}
				if different == 0 {
					continue
				}
				if value, ok := v.value(i); !ok || value != want.values[i] || game.Moves(nibble(v.moves, i)) != want.moves[i] {
					t.Fatalf("value %d is %v, want %v", i, value, want.values[i])
				}
			}
		}
	}
}

func randomEntries(rng *rand.Rand, n, different int) entries {
	e := entries{boards: make([]uint64, n)}
	board := uint64(0)
	for i := range n {
		board += 1 + rng.Uint64()>>rng.IntN(57)>>7
		e.boards[i] = board
		if different > 0 {
			e.values = append(e.values, math.Sqrt(float64(rng.IntN(different))))
			e.moves = append(e.moves, game.Moves(rng.IntN(16)))
		}
	}
	return e
}

// FuzzBlock cuts and decodes any bytes: what is malformed is told, nothing is read beyond the end.
func FuzzBlock(f *testing.F) {
	rng := newRandom()
	for _, different := range []int{0, 1, 5, blockBoards} {
		e := randomEntries(rng, 100, different)
		f.Add(appendBlock(nil, e), uint8(100), e.boards[0], different > 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint8, first uint64, valued bool) {
		boards := max(int(n)%(blockBoards+1), 1)
		v, ok := cutBlock(data, boards, first, valued)
		if !ok {
			return
		}
		decoded, ok := v.appendBoards(nil)
		if ok && (len(decoded) != boards || !slices.IsSorted(decoded)) {
			t.Errorf("%d boards, want %d ascending", len(decoded), boards)
		}
		for i, b := range decoded {
			if at, found := v.find(b); ok && (!found || at != i) {
				t.Errorf("board %d is found at %d", i, at)
			}
		}
		if valued {
			for i := range boards {
				v.value(i)
				nibble(v.moves, i)
			}
		}
	})
}

// TestCollector compares the set with a map's, for runs in memory and in a store.
func TestCollector(t *testing.T) {
	for _, limit := range []int64{1, 1 << 20, math.MaxInt64} {
		for _, n := range []int{0, 1, 1000, 50_000} {
			rng := newRandom()
			st := memoryStore{}
			boards := make([]uint64, n)
			for i := range boards {
				boards[i] = uint64(i)
			}
			keys := make(map[uint64]bool)
			successors := make([][]uint64, n)
			for i := range successors {
				for range rng.IntN(maxSuccessors + 1) {
					k := 1 + rng.Uint64N(uint64(4*n))<<20
					successors[i], keys[k] = append(successors[i], k), true
				}
			}
			c := newCollector(3, st)
			c.setLimit(limit)
			for block := range slices.Chunk(boards, blockBoards) {
				err := c.addBoards(t.Context(), rng.IntN(3), block, func(dst, boards []uint64) ([]uint64, error) {
					for _, b := range boards {
						dst = append(dst, successors[b]...)
					}
					return dst, nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			got, err := c.finish(t.Context(), "all", 2)
			if err != nil || got != int64(len(keys)) || len(st) != 1 {
				t.Fatalf("%d keys in %d records, error %v, want %d in one", got, len(st), err, len(keys))
			}
			checkKeys(t, st, keys)
		}
	}
}

// TestCollectorMergesFirst has a worker merge a few keys before it expands any, as happens when another one was faster, or when a run goes
// on from layers that are there.
func TestCollectorMergesFirst(t *testing.T) {
	st := memoryStore{}
	c := newCollector(1, st)
	c.workers[0].runs = []run{{keys: []uint64{1, 3}}, {keys: []uint64{2, 3}}}
	if n, err := c.finish(t.Context(), "few", 2); n != 3 || err != nil {
		t.Fatalf("%d keys, error %v, want 3", n, err)
	}
	want := make(map[uint64]bool)
	for next := uint64(1); next < 2*runSize; {
		err := c.addBoards(t.Context(), 0, make([]uint64, blockBoards), func(dst, boards []uint64) ([]uint64, error) {
			for range boards {
				dst, want[next] = append(dst, next), true
				next++
			}
			return dst, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n, err := c.finish(t.Context(), "all", 4); n != int64(len(want)) || err != nil {
		t.Fatalf("%d keys, error %v, want %d", n, err, len(want))
	}
	checkKeys(t, st, want)
}

func checkKeys(t *testing.T, st memoryStore, want map[uint64]bool) {
	t.Helper()
	r, err := st.open("all")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.verify(); err != nil {
		t.Error(err)
	}
	last := uint64(0)
	var s scratch
	err = r.read(0, r.blocks(), &s, func(_ *blockView, boards []uint64) error {
		for _, b := range boards {
			if b <= last || !want[b] {
				t.Errorf("key %x after %x, known: %t", b, last, want[b])
			}
			last = b
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestLookup(t *testing.T) {
	rng := newRandom()
	var l lookup
	for _, n := range []int{0, 1, 1000, 10} {
		l.reset(uint64(n))
		want := make(map[uint64]float64)
		for len(want) < n {
			b, v := rng.Uint64()|1, rng.Float64()
			if _, known := want[b]; !known {
				l.add(b, v)
				want[b] = v
			}
		}
		for b, v := range want {
			if got, ok := l.get(b); !ok || got != v {
				t.Errorf("value of %x is %v, %t, want %v", b, got, ok, v)
			}
			if _, ok := l.get(b ^ 1<<63 ^ 1<<40); ok {
				t.Errorf("a board that was not added is there")
			}
		}
	}
}

// TestWithoutMapping reads a table as on systems that cannot map files into memory.
func TestWithoutMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	opts := Options{Shape: game.Shape{Rows: 2, Cols: 3}, Max: 16}
	if _, err := SolveFile(t.Context(), path, false, opts); err != nil {
		t.Fatal(err)
	}
	mapped, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer mapped.Close()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	table, err := newTable(section{f, 0}, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if err := table.verify(); err != nil {
		t.Fatal(err)
	}
	for _, l := range mapped.Stats().Layers {
		positions, err := table.Layer(l.Sum)
		if err != nil || int64(len(positions)) != l.Positions {
			t.Fatalf("%d positions, error %v, want %d", len(positions), err, l.Positions)
		}
		for _, p := range positions {
			v, best, ok := table.Value(p.Board)
			mv, mbest, mok := mapped.Value(p.Board)
			if v != mv || best != mbest || ok != mok || v != p.Value {
				t.Errorf("%s is %v %s %t, mapped %v %s %t", p.Board, v, best, ok, mv, mbest, mok)
			}
		}
	}
}

// readTable opens a table as Open does, from memory.
func readTable(data []byte) error {
	table, err := newTable(memory(data), int64(len(data)))
	if err == nil {
		err = table.verify()
	}
	return err
}

// smallFile returns the file of 2x2 to 16.
func smallFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	if _, err := SolveFile(t.Context(), path, false, Options{Shape: game.Shape{Rows: 2, Cols: 2}, Max: 16}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := readTable(data); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEveryBit flips every bit of a file and replaces every byte, and cuts the file off everywhere: nothing of it is believed.
func TestEveryBit(t *testing.T) {
	data := smallFile(t)
	for i, was := range data {
		for bit := range 8 {
			data[i] = was ^ 1<<bit
			if readTable(data) == nil {
				t.Errorf("bit %d of byte %d is not noticed", bit, i)
			}
		}
		if data[i] = ^was; readTable(data) == nil {
			t.Errorf("byte %d is not noticed", i)
		}
		data[i] = was
		if readTable(data[:i]) == nil {
			t.Errorf("truncation to %d bytes is not noticed", i)
		}
	}
}

// TestBadHeader seals headers that say something else: the checksum is right, and the error says what is not.
func TestBadHeader(t *testing.T) {
	const rows, maxExp, objective, discount, twos, of, version = 12, 14, 15, 16, 24, 28, 8
	for _, tt := range []struct {
		at    int
		bytes []byte
		want  string
	}{
		{version, []byte{fileVersion + 1, 0, 0, 0}, "version of the table is 2, want 1"},
		{version, []byte{0, 0, 0, 0}, "version of the table is 0, want 1"},
		{0, []byte("2048SOLV"), "not a table of tilecheck solve"},
		{rows, []byte{9}, "9x2"},
		{maxExp, []byte{16}, "MAX"},
		{maxExp, []byte{0}, "MAX"},
		{objective, []byte{3}, "objective is 3"},
		{discount, []byte{0, 0, 0, 0, 0, 0, 0, 0xC0}, "discount is -2"},
		{twos, []byte{11, 0, 0, 0}, "11/10"},
		{of, []byte{0, 0, 0, 0}, "9/0"},
	} {
		data := smallFile(t)
		copy(data[tt.at:], tt.bytes)
		sealed(data[:fileHeaderSize-4:fileHeaderSize], 0)
		if err := readTable(data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%x at %d: error %v, want %q", tt.bytes, tt.at, err, tt.want)
		}
	}
}
