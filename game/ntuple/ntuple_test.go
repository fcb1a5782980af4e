package ntuple

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"tilecheck/game"
)

func trained(t *testing.T, shape game.Shape, games int64, seed uint64) *Network {
	t.Helper()
	n, err := New(shape, shape.Cells()+1, DefaultTuples(shape))
	if err == nil {
		err = n.Train(t.Context(), Training{Games: games, Rate: 0.5, Seed: seed})
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func written(t *testing.T, n *Network) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFileRoundTrip reads what was written: the same network, which the same seed gives again.
func TestFileRoundTrip(t *testing.T) {
	shape := game.Shape{Rows: 2, Cols: 3}
	n := trained(t, shape, 300, 1)
	text := written(t, n)
	again, err := Read(bytes.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, again), text) || again.Note() != "300 games, seed 1, rate 0.5, TD(0) of afterstates" || again.Largest() != 7 {
		t.Errorf("note %q, largest 2^%d", again.Note(), again.Largest())
	}
	if !bytes.Equal(written(t, trained(t, shape, 300, 1)), text) {
		t.Error("the same seed gives another network")
	}
	if bytes.Equal(written(t, trained(t, shape, 300, 2)), text) {
		t.Error("another seed gives the same network")
	}
}

func TestReadErrors(t *testing.T) {
	text := string(written(t, trained(t, game.Shape{Rows: 2, Cols: 2}, 20, 1)))
	for _, c := range []struct{ old, new, want string }{
		{"ntuple 1", "ntuple 2", `f:1:1: found "tilecheck ntuple 2", want tilecheck ntuple 1`},
		{"2x2", "5x5", `f:2:7: found "5x5", want rows x columns such as 3x3`},
		{"largest 32", "largest 33", `f:3:9: found "33", want a power of two from 2 to 32768`},
		{"tuple 0 1", "tuple 0 0", "has cell 0 twice"},
		{"tuple 0 1", "tuple 0 9", "has cell 9, want 0 to 3"},
		{"tuple 0 1", "tuple 0 x", `found "x", want the number of a cell`},
		{"tuple 0 1", strings.Repeat("tuple 0 1\n", 99) + "tuple 0 1", "at most 64 tuples"},
		{"note ", "note " + strings.Repeat("x", 2000), "f:4:1: the line is longer than 1024 bytes"},
		{"largest 32", "largest 16", "eight hexadecimal digits"},
		{"crc32c ", "crc32c 0", "want a checksum"},
		{"crc32c ", "crc32c zz", "want a checksum"},
	} {
		changed := strings.Replace(text, c.old, c.new, 1)
		if changed == text {
			t.Fatalf("no %q in the file", c.old)
		}
		_, err := Read(strings.NewReader(changed), "f")
		if _, ok := errors.AsType[*FileError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20s: %v, want %s", c.new, err, c.want)
		}
	}
	// A file that asks for too much is refused before memory is taken for it.
	huge := "tilecheck ntuple 1\nboard 4x4\nlargest 32768\nnote\x20\ntuple 0 1 2 3 4 5 6 7\nweights 4294967296 crc32c 00000000\n"
	if _, err := Read(strings.NewReader(huge), "f"); err == nil || !strings.Contains(err.Error(), "more than 67108864 weights") {
		t.Errorf("huge: %v", err)
	}
	// No file with a cut or a changed byte is read as something else.
	for i := range len(text) {
		if _, err := Read(strings.NewReader(text[:i]), "f"); err == nil {
			t.Fatalf("the first %d of %d bytes are read", i, len(text))
		}
		changed := []byte(text)
		changed[i] ^= 4
		if n, err := Read(bytes.NewReader(changed), "f"); err == nil && i > strings.Index(text, "\ntuple") && !bytes.Equal(written(t, n), []byte(text)) {
			t.Fatalf("byte %d was changed, and the file is read", i)
		}
	}
}

// TestValueIsSymmetric checks that symmetric boards have one value, and that it is the sum over the images of a tuple.
func TestValueIsSymmetric(t *testing.T) {
	n := trained(t, game.Shape{Rows: 3, Cols: 3}, 50, 3)
	b, err := n.shape.Parse("2 4 8 / . 2 . / 4 . .")
	if err != nil {
		t.Fatal(err)
	}
	want, direct := n.Value(b), 0.0
	for s := range game.Symmetry(8) {
		moved := n.rules.Apply(s, b)
		if got := n.Value(moved); math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%v: %v, want %v", s, got, want)
		}
		index, unit := 0, 1
		for _, cell := range n.tuples[0] {
			index, unit = index+unit*moved.Cell(cell), unit*n.numValues
		}
		direct += float64(n.weights[0][index])
	}
	if want == 0 || math.Abs(direct-want) > 1e-9*math.Abs(want) {
		t.Errorf("value %v, by the definition %v", want, direct)
	}
	// A tile that the network does not know is halved with all that are above a missing one.
	large := b.With(0, 12)
	if got, want := n.Value(large), n.Value(b.With(0, 10)); got != want {
		t.Errorf("with 4096: %v, want the value with 1024, %v", got, want)
	}
}

// TestTrainLearns compares a trained network with one that knows nothing, and the value of the start with the score that it reaches.
func TestTrainLearns(t *testing.T) {
	shape := game.Shape{Rows: 2, Cols: 3}
	n, err := New(shape, 7, DefaultTuples(shape))
	if err != nil {
		t.Fatal(err)
	}
	const games = 6000
	var first, last float64
	err = n.Train(t.Context(), Training{Games: games, Rate: 0.5, Seed: 1, Each: func(g int64, score int) {
		switch {
		case g <= 500:
			first += float64(score) / 500
		case g > games-1000:
			last += float64(score) / 1000
		}
	}})
	if err != nil || last < 1.25*first {
		t.Errorf("mean score %v at first, %v at last, %v", first, last, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Train(ctx, Training{Games: 1, Rate: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the error of the context", err)
	}
	for _, bad := range []Training{{Rate: 0.1}, {Games: 1}, {Games: 1, Rate: 2}} {
		if err := n.Train(t.Context(), bad); err == nil {
			t.Errorf("%+v is trained", bad)
		}
	}
}

func TestDefaultTuples(t *testing.T) {
	for _, c := range []struct {
		shape  game.Shape
		tuples int
	}{{game.Shape{Rows: 3, Cols: 3}, 1}, {game.Shape{Rows: 4, Cols: 4}, 5}, {game.Shape{Rows: 2, Cols: 2}, 2}, {game.Shape{Rows: 1, Cols: 6}, 2}} {
		tuples := DefaultTuples(c.shape)
		if _, err := New(c.shape, 5, tuples); err != nil {
			t.Errorf("%v: %v", c.shape, err)
		}
		if len(tuples) < c.tuples {
			t.Errorf("%v: %v, want %d tuples", c.shape, tuples, c.tuples)
		}
	}
}
