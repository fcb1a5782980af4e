package solve

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/game"
	"tilecheck/internal/needs"
	"tilecheck/internal/processes"
	"tilecheck/internal/shard"
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
			if got := o.leastImage(uint64(b)); got != uint64(want) {
				t.Fatalf("%s: least image of %s is %x, want %s", shape, b, got, want)
			}
			var images [8]uint64
			o.allImages(uint64(b), &images)
			for i := range shape.Cells() {
				if b.Cell(i) != 0 {
					continue
				}
				want, _ := rules.Canonical(b.With(i, 2))
				if got := o.leastImageWithTile(&images, i, 2); got != uint64(want) {
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
		e, err := newExpander(Problem{Shape: shape, MaxExp: exp, Discount: 1, Twos: 9, Total: 10})
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

// TestPartition puts tiles into random boards: all images are of one part, and the parts of boards with one more tile are those that with
// says they are. Parts are of similar sizes.
func TestPartition(t *testing.T) {
	rng := newRandom()
	for _, shape := range shapes() {
		for _, maxExp := range []int{2, 5, 10, game.MaxExponent} {
			e, err := newExpander(Problem{Shape: shape, MaxExp: maxExp, Discount: 1, Twos: 9, Total: 10})
			if err != nil {
				t.Fatal(err)
			}
			sizes := make([]int, e.parts)
			boards := needs.OrFull(5_000, 20_000)
			n := boards
			if shape != (game.Shape{Rows: 4, Cols: 4}) {
				n = 50
			}
			for range n {
				b := randomBoard(rng, shape, maxExp-1)
				part := e.partOf(uint64(b))
				sizes[part]++
				for s := range e.rules.Symmetries() {
					if image := e.rules.Apply(game.Symmetry(s), b); e.partOf(uint64(image)) != part {
						t.Fatalf("%s: part of %s is %d, of its image %s %d", shape, b, part, image, e.partOf(uint64(image)))
					}
				}
				checkWith(t, e, b, part)
			}
			if n == boards && e.parts > 1 && slices.Max(sizes) > 4*boards/e.parts && maxExp > 2 {
				t.Errorf("%s: the largest of %d parts has %d of %d boards", shape, e.parts, slices.Max(sizes), boards)
			}
		}
	}
}

func checkWith(t *testing.T, e *expander, b game.Board, part int) {
	t.Helper()
	for i := range e.problem.Shape.Cells() {
		for exp := 1; exp <= 2; exp++ {
			if b.Cell(i) != 0 {
				continue
			}
			to, group := e.partOf(uint64(b.With(i, exp))), e.group(i)
			if e.partAfterTile(part, group, exp) != to || e.partBeforeTile(to, group, exp) != part {
				t.Fatalf("part of %s is %d, with exponent %d in cell %d %d, want %d", b, part, exp, i, to, e.partAfterTile(part, group, exp))
			}
			if in := e.groups(e.cells)[group] >> (4 * i) & 1; in != 1 {
				t.Fatalf("cell %d is of group %d, and not in it", i, group)
			}
		}
	}
}

// TestNumbering compares numbers with those of a loop over the cells, in order, and adds to them.
func TestNumbering(t *testing.T) {
	rng := newRandom()
	for exps := 2; exps <= game.MaxExponent; exps++ {
		n := newNumbering(exps)
		for range 1000 {
			a, b := randomCells(rng, exps), randomCells(rng, exps)
			lo, hi := plainNumber(a, exps), plainNumber(b, exps)
			if n.number(a) != lo || n.number(b) != hi || (a < b) != (lo < hi) {
				t.Fatalf("boards %x and %x have numbers %d and %d, want %d and %d", a, b, n.number(a), n.number(b), lo, hi)
			}
			if lo > hi {
				a, b, lo, hi = b, a, hi, lo
			}
			if boards, ok := n.appendBoards(nil, follows(a, hi-lo)); lo < hi && (!ok || boards[1] != b) {
				t.Fatalf("%d more than %x is %x, %t, want %x", hi-lo, a, boards, ok, b)
			}
			for _, beyond := range []uint64{n.number(^uint64(0)/15*uint64(exps-1)) - lo + 1, math.MaxUint64 - lo, math.MaxUint64} {
				if boards, ok := n.appendBoards(nil, follows(a, beyond)); ok {
					t.Fatalf("%d more than %x is %x, want no board", beyond, a, boards)
				}
			}
		}
	}
}

// follows is a block of a board and one with a number that is greater by delta.
func follows(board, delta uint64) *blockView {
	return &blockView{count: 2, first: board, deltas: binary.AppendUvarint(nil, delta)}
}

func randomCells(rng *rand.Rand, exps int) uint64 {
	b := uint64(0)
	for i := range game.MaxCells {
		b |= uint64(rng.IntN(exps)) << (4 * i)
	}
	return b
}

func plainNumber(board uint64, exps int) uint64 {
	n := uint64(0)
	for i := game.MaxCells - 1; i >= 0; i-- {
		n = n*uint64(exps) + board>>(4*i)&15
	}
	return n
}

// TestBlock encodes blocks of all sizes, with and without palettes, and reads them back.
func TestBlock(t *testing.T) {
	rng := newRandom()
	by := newNumbering(game.MaxExponent)
	for n := 1; n <= blockBoards; n++ {
		for _, different := range []int{0, 1, 2, maxPalette, maxPalette + 1, blockBoards} { // values; 0 for plain boards
			want := randomEntries(rng, n, different)
			data := by.appendBlock(nil, want)
			v, ok := splitBlock(data, n, want.boards[0], different > 0)
			if !ok {
				t.Fatalf("block of %d boards and %d values cannot be cut", n, different)
			}
			boards, ok := by.appendBoards(nil, &v)
			if !ok || !slices.Equal(boards, want.boards) {
				t.Fatalf("boards are %x, want %x", boards, want.boards)
			}
			for i := range want.values {
				if value, ok := v.value(i); !ok || value != want.values[i] || game.Moves(nibble(v.moves, i)) != want.moves[i] {
					t.Fatalf("value %d is %v, want %v", i, value, want.values[i])
				}
			}
		}
	}
}

func randomEntries(rng *rand.Rand, n, different int) blockEntries {
	e := blockEntries{boards: make([]uint64, n)}
	for i := range n {
		e.boards[i] = randomCells(rng, game.MaxExponent)
		if different > 0 {
			e.values = append(e.values, math.Sqrt(float64(rng.IntN(different))))
			e.moves = append(e.moves, game.Moves(rng.IntN(16)))
		}
	}
	slices.Sort(e.boards)
	return e
}

// FuzzBlock cuts and decodes any bytes: what is malformed is told, nothing is read beyond the end.
func FuzzBlock(f *testing.F) {
	rng := newRandom()
	for _, different := range []int{0, 1, 5, blockBoards} {
		e := randomEntries(rng, 100, different)
		f.Add(newNumbering(game.MaxExponent).appendBlock(nil, e), uint8(100), e.boards[0], different > 0, uint8(13))
	}
	f.Fuzz(func(t *testing.T, data []byte, n uint8, first uint64, valued bool, exps uint8) {
		boards := max(int(n)%(blockBoards+1), 1)
		v, ok := splitBlock(data, boards, first, valued)
		if !ok {
			return
		}
		by := newNumbering(2 + int(exps)%14)
		decoded, ok := by.appendBoards(nil, &v)
		if ok && (len(decoded) != boards || !slices.IsSorted(decoded[1:])) { // the first is from elsewhere
			t.Errorf("%d boards, want %d ascending", len(decoded), boards)
		}
		if valued {
			for i := range boards {
				v.value(i)
				nibble(v.moves, i)
			}
		}
	})
}

// TestRuns compares what comes out for each part with what was put in, in memory and with what is beyond a limit in a file.
func TestRuns(t *testing.T) {
	const parts = 5
	for _, limit := range []int64{0, 300, math.MaxInt64} {
		dir := dirStore(t.TempDir())
		r := runs{limit: limit, createFile: func() (*os.File, error) { return dir.spill(runName) }}
		for range 2 { // the second time there is something to forget
			if err := r.reset(parts); err != nil {
				t.Fatal(err)
			}
			checkRuns(t, &r, parts)
			if (r.file != nil) != (limit < math.MaxInt64) {
				t.Errorf("limit of %d bytes: file %v", limit, r.file)
			}
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(string(dir)); len(left) != 0 || err != nil {
			t.Errorf("%v is left, error %v", left, err)
		}
	}
}

func checkRuns(t *testing.T, r *runs, parts int) {
	t.Helper()
	rng := newRandom()
	want := make([][]uint64, parts)
	for range 10 {
		var data []byte
		var sets []set
		for part := range parts {
			keys := make([]uint64, rng.IntN(10))
			for i := range keys {
				keys[i] = rng.Uint64() >> rng.IntN(64)
			}
			slices.Sort(keys)
			want[part] = append(want[part], keys...)
			data = appendRun(data, keys)
			sets = append(sets, set{part, len(keys), len(data)})
		}
		if err := r.add(data, sets); err != nil {
			t.Fatal(err)
		}
	}
	for part := range parts {
		if got, err := r.appendPart(nil, part, new(scratch)); err != nil || !slices.Equal(got, want[part]) {
			t.Errorf("part %d is %x, error %v, want %x", part, got, err, want[part])
		}
	}
}

func TestLookup(t *testing.T) {
	rng := newRandom()
	var l lookup
	for _, n := range []int{0, 1, 1000, 10} {
		l.reset(n)
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
	table, err := newTable(fileSection{f, 0}, info.Size())
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
	table, err := newTable(memorySource(data), int64(len(data)))
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
	bits := needs.OrFull(1, 8)
	for i, was := range data {
		for k := range bits { // a plain run flips one bit of each byte
			bit := (i + k) % 8
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
		{version, []byte{fileVersion + 1, 0, 0, 0}, "version of the table is 3, want 2"},
		{version, []byte{0, 0, 0, 0}, "version of the table is 0, want 2"},
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
		appendChecksum(data[:fileHeaderSize-4:fileHeaderSize], 0)
		if err := readTable(data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%x at %d: error %v, want %q", tt.bytes, tt.at, err, tt.want)
		}
	}
}

// A process that was killed between the link and the removal of its name begins again without writing to the file that the others read.
func TestAgreementAfterKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	w := &work{path: path, dir: dirStore(WorkDir(path)), problem: Problem{Shape: game.Shape{Rows: 2, Cols: 2}, MaxExp: 4, Twos: 9, Total: 10}, process: shard.Part{Index: 1, Count: 3}}
	if err := os.Mkdir(string(w.dir), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := w.checkAgreement(); err != nil {
		t.Fatal(err)
	}
	agreed := w.dir.path(problemName)
	if err := os.Link(agreed, agreed+processes.Suffix(shard.Part{Index: 1, Count: 3})+processes.Unfinished); err != nil {
		t.Fatal(err)
	}
	before := time.Unix(1e9, 0)
	if err := os.Chtimes(agreed, before, before); err != nil {
		t.Fatal(err)
	}
	if err := w.checkAgreement(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(agreed); err != nil || !info.ModTime().Equal(before) {
		t.Errorf("%s was written again: %v, %v", agreed, info.ModTime(), err)
	}
}
