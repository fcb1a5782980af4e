package game_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"tilecheck/game"
)

func TestParse(t *testing.T) {
	shape := game.Shape{Rows: 2, Cols: 3}
	want := pack(t, shape, []int{2, 0, 4, 0, 32768, 0})
	for _, text := range []string{
		"2 . 4\n. 32768 .\n",
		"2 0 4/0 32768 0",
		"\n\t 2  .\t4 \r\n\n . 32768 . / \n",
	} {
		if got, err := shape.Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	const tile = ", want a tile: . or 0 or a power of two from 2 to 32768"
	tests := []struct {
		shape game.Shape
		text  string
		want  string
	}{
		{game.Shape{Rows: 2, Cols: 2}, "2 3\n. .", `1:3: found "3"` + tile},
		{game.Shape{Rows: 2, Cols: 2}, "2 2 / . -4", `1:9: found "-4"` + tile},
		{game.Shape{Rows: 2, Cols: 2}, "2 1\n\t65536 x", `1:3: found "1"` + tile + "\n" + `2:2: found "65536"` + tile + "\n" + `2:8: found "x"` + tile},
		{game.Shape{Rows: 2, Cols: 2}, "2 2 2\n2 2", "1:1: found 3 cells in row 1, want 2 for a 2x2 board"},
		{game.Shape{Rows: 2, Cols: 2}, "2 2 / 2", "1:6: found 1 cell in row 2, want 2 for a 2x2 board"},
		{game.Shape{Rows: 2, Cols: 2}, "2 2", "1:4: found 1 row, want 2 for a 2x2 board"},
		{game.Shape{Rows: 2, Cols: 2}, "", "1:1: found 0 rows, want 2 for a 2x2 board"},
		{game.Shape{Rows: 1, Cols: 2}, "2 2/2 2/2 2", "1:12: found 3 rows, want 1 for a 1x2 board"},
		{game.Shape{Rows: 4, Cols: 5}, "", "board is 4x5, want at least one row and one column and 2 to 16 cells"},
	}
	for _, tt := range tests {
		_, err := tt.shape.Parse(tt.text)
		if got := errorText(err); got != tt.want {
			t.Errorf("Parse(%q):\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}
	_, err := game.Shape{Rows: 1, Cols: 2}.Parse("2 7")
	if p, ok := errors.AsType[*game.ParseError](err); !ok || p.Line != 1 || p.Col != 3 {
		t.Errorf("error %v, want a *ParseError at 1:3", err)
	}
}

func TestBoardErrors(t *testing.T) {
	s := game.Shape{Rows: 1, Cols: 2}
	tests := []struct {
		values []int
		want   string
	}{
		{[]int{2}, "found 1 value, want 2 for a 1x2 board"},
		{[]int{0, 1}, "cell 1 is 1, want 0 or a power of two from 2 to 32768"},
		{[]int{-2, 0}, "cell 0 is -2, want 0 or a power of two from 2 to 32768"},
		{[]int{65536, 0}, "cell 0 is 65536, want 0 or a power of two from 2 to 32768"},
	}
	for _, tt := range tests {
		_, err := s.Board(tt.values)
		if got := errorText(err); got != tt.want {
			t.Errorf("Board(%v): %q, want %q", tt.values, got, tt.want)
		}
	}
}

func TestFormatRoundTrip(t *testing.T) {
	for i, s := range shapes {
		rng := rand.New(rand.NewPCG(4, uint64(i)))
		for range 200 {
			b := randomBoard(s, rng)
			if got, err := s.Parse(s.Format(b)); err != nil || got != b {
				t.Fatalf("%s: Parse(Format(%v)) = %v, %v", s, b, got, err)
			}
			if got := pack(t, s, s.Values(b)); got != b {
				t.Fatalf("%s: Board(Values(%v)) = %v", s, b, got)
			}
		}
	}
}

func TestBoardString(t *testing.T) {
	b := game.Board(0).With(0, 1).With(5, 11).With(15, 15)
	if got, want := b.String(), "1....b.........f"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if uint64(b) != 0xf000_0000_00b0_0001 {
		t.Errorf("bits %#x, want cell i in bits 4i to 4i+3", uint64(b))
	}
}
