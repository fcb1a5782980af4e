package native_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestKnownBoards: the table of exact values of the reference (2048 numbers),
// which PRISM and Storm agree on: states, choices, transitions, values.
func TestKnownBoards(t *testing.T) {
	tests := []struct {
		size, tile                   int
		spawn                        modelgen.Spawn
		states, choices, transitions int64
		lose, win                    string // fractions, "" where the reference has none
	}{
		{2, 8, modelgen.SpawnCell, 155, 322, 406, "0", "1"},
		{2, 16, modelgen.SpawnCell, 399, 770, 978, "", ""},
		{2, 32, modelgen.SpawnCell, 755, 1334, 1722, "", ""},
		{2, 8, modelgen.SpawnUniform, 155, 287, 406, "0", "1"},
		{2, 16, modelgen.SpawnUniform, 399, 707, 978, "29990997/800000000", "770009003/800000000"},
		{2, 32, modelgen.SpawnUniform, 755, 1247, 1722, "7336901687427567/8000000000000000", "663098312572433/8000000000000000"},
		{3, 32, modelgen.SpawnUniform, 1_598_448, 4_032_745, 5_171_248, "0", "1"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%dx%d-%d-%v", tt.size, tt.size, tt.tile, tt.spawn), func(t *testing.T) {
			if tt.size == 3 { // 1.6 million states
				needs.Full(t)
			}
			c := modelgen.Config{Rows: tt.size, Cols: tt.size, Max: tt.tile, Spawn: tt.spawn}
			for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
				if tt.size == 3 && accuracy == result.Exact {
					continue // graph precomputation gives both values exactly
				}
				for i, v := range checkBoard(t, c, accuracy, "Pmin=? [ F fail ]", "Pmax=? [ F success ]") {
					if v.States != tt.states || v.Choices != tt.choices || v.Transitions != tt.transitions {
						t.Errorf("%d states, %d choices, %d transitions", v.States, v.Choices, v.Transitions)
					}
					if want := []string{tt.lose, tt.win}[i]; want != "" {
						wantValue(t, v, fraction(t, want))
					}
				}
			}
		})
	}
	// The reference has these to five digits.
	for tile, want := range map[int]float64{16: 9.09e-4, 32: 0.91058} {
		v := checkBoard(t, modelgen.Config{Rows: 2, Cols: 2, Max: tile}, result.Bounded, "Pmin=? [ F fail ]")[0]
		if x := v.Value.Num; x < want*0.9999 || x > want*1.0001 {
			t.Errorf("2x2, %d, cell: Pmin of losing is %v, want %v", tile, x, want)
		}
	}
}

// TestBoards compares the generated models of small boards, every policy and
// spawn, with values computed on the bitboard, which knows no models: the
// fraction must be the same, and lie within the bounds.
func TestBoards(t *testing.T) {
	needs.Full(t)
	policies := append(modelgen.ThesisPolicies(), modelgen.NamedPolicy{Name: "none"})
	for _, shape := range []struct{ rows, cols, tile int }{{1, 3, 8}, {2, 2, 8}, {2, 2, 16}, {2, 2, 32}, {2, 3, 16}, {3, 2, 8}, {2, 3, 32}, {3, 3, 8}, {3, 3, 16}} {
		for _, named := range policies {
			for _, spawn := range []modelgen.Spawn{modelgen.SpawnCell, modelgen.SpawnModule, modelgen.SpawnUniform} {
				c := modelgen.Config{Rows: shape.rows, Cols: shape.cols, Max: shape.tile, Policy: named.Policy, Spawn: spawn}
				t.Run(fmt.Sprintf("%dx%d-%d-%s-%v", c.Rows, c.Cols, c.Max, named.Name, spawn), func(t *testing.T) {
					if shape.rows*shape.cols > 4 {
						needs.NotShort(t, "larger boards")
					}
					random := named.Policy.Kind == modelgen.RandomMoves || named.Policy.Kind == modelgen.NoPolicy
					if shape.rows*shape.cols > 6 || shape.rows*shape.cols > 4 && shape.tile > 8 && random || shape.tile > 16 && (spawn != modelgen.SpawnUniform || random && shape.rows != shape.cols) {
						needs.Full(t)
					}
					if random && shape.rows*shape.cols == 9 && shape.tile > 8 {
						return // fractions of the oracle grow too long
					}
					testBoard(t, c)
				})
			}
		}
	}
}

func testBoard(t *testing.T, c modelgen.Config) {
	properties := []string{"Pmin=? [ F fail ]", "Pmax=? [ F success ]", "Pmax=? [ F fail ]", "Pmin=? [ F success ]"}
	least, most := newPlayer(t, c, false).start(), newPlayer(t, c, true).start()
	one := big.NewRat(1, 1)
	want := []*big.Rat{new(big.Rat).Sub(one, most), most, new(big.Rat).Sub(one, least), least}
	accuracies := []result.Accuracy{result.Bounded, result.Exact}
	if c.Rows*c.Cols > 4 && c.Max > 8 { // fractions with hundreds of digits
		accuracies = accuracies[:1]
	}
	for _, accuracy := range accuracies {
		for i, v := range checkBoard(t, c, accuracy, properties...) {
			wantValue(t, v, want[i])
		}
	}
}

// wantValue checks an exact verdict exactly, and a bounded one by its interval.
func wantValue(t *testing.T, v result.Verdict, want *big.Rat) {
	t.Helper()
	switch {
	case v.Accuracy == result.Exact && v.Value.Rat == nil:
		t.Errorf("%s: no fraction", v.Property)
	case v.Value.Rat != nil && v.Value.Rat.Cmp(want) != 0:
		t.Errorf("%s: %s, want %s", v.Property, v.Value.Rat.RatString(), want.RatString())
	case v.Bound == nil || new(big.Rat).SetFloat64(v.Bound.Lo).Cmp(want) > 0 || new(big.Rat).SetFloat64(v.Bound.Hi).Cmp(want) < 0:
		t.Errorf("%s: %v does not contain %s", v.Property, v.Bound, want.RatString())
	case v.Bound.Hi-v.Bound.Lo > 1e-8:
		t.Errorf("%s: %v is wide", v.Property, *v.Bound)
	}
}

func fraction(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("no fraction: %s", text)
	}
	return r
}

func checkBoard(t *testing.T, c modelgen.Config, accuracy result.Accuracy, properties ...string) []result.Verdict {
	t.Helper()
	model, err := modelgen.Build(c)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "2048.prism", Model: text.Bytes(), Props: properties, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if v.Err != nil {
			t.Fatalf("%s: %v", v.Property, v.Err)
		}
	}
	return verdicts
}

// player computes extremal probabilities of winning on the bitboard, by
// recursion over the boards: every move and tile makes the sum of the tiles
// greater or the number of tiles less, so there are no cycles.
type player struct {
	rules  *game.Rules
	policy modelgen.Policy
	cells  bool // the scheduler picks the cells of new tiles
	most   bool // it wants to win
	goal   int
	known  map[position]*big.Rat
	p2, p4 *big.Rat
}

// position is a board before a move, and which list the player uses.
type position struct {
	board    game.Board
	switched bool
}

func newPlayer(t *testing.T, c modelgen.Config, most bool) *player {
	t.Helper()
	rules, err := game.New(game.Shape{Rows: c.Rows, Cols: c.Cols})
	if err != nil {
		t.Fatal(err)
	}
	p := &player{
		rules: rules, policy: c.Policy, cells: c.Spawn == modelgen.SpawnCell, most: most,
		known: map[position]*big.Rat{}, p2: big.NewRat(9, 10), p4: big.NewRat(1, 10),
	}
	for game.Value(p.goal) < c.Max {
		p.goal++
	}
	return p
}

// start is the value of the game: two tiles, then moves.
func (p *player) start() *big.Rat {
	return p.spawn(0, func(one game.Board) *big.Rat {
		return p.spawn(one, func(two game.Board) *big.Rat { return p.move(position{board: two}) })
	})
}

func (p *player) better(x, y *big.Rat) bool { return p.most == (x.Cmp(y) > 0) }

// spawn is the value of a board that gets a tile.
func (p *player) spawn(b game.Board, value func(game.Board) *big.Rat) *big.Rat {
	var best *big.Rat
	n := p.rules.NumEmptyCells(b)
	mean, share := new(big.Rat), big.NewRat(1, int64(n))
	for i := range n {
		x := new(big.Rat).Mul(p.p2, value(p.rules.Spawn(b, i, 1)))
		x.Add(x, new(big.Rat).Mul(p.p4, value(p.rules.Spawn(b, i, 2))))
		mean.Add(mean, new(big.Rat).Mul(share, x))
		if best == nil || p.better(x, best) {
			best = x
		}
	}
	if p.cells {
		return best
	}
	return mean
}

// move is the value of a board before a move.
func (p *player) move(at position) *big.Rat {
	switch {
	case at.board.AtLeast(p.goal):
		return big.NewRat(1, 1)
	case p.rules.Lost(at.board):
		return new(big.Rat)
	case p.known[at] == nil:
		p.known[at] = p.moved(at)
	}
	return p.known[at]
}

func (p *player) moved(at position) *big.Rat {
	legal := p.rules.Legal(at.board)
	switch p.policy.Kind {
	case modelgen.PreferMoves:
		return p.after(at.board, preference(p.policy.First).Choose(legal), false)
	case modelgen.AlternateMoves:
		a := game.Alternating{Lists: [2]game.Preference{preference(p.policy.First), preference(p.policy.Second)}, Switched: at.switched}
		d := a.Choose(legal)
		return p.after(at.board, d, a.Switched)
	}
	var best *big.Rat
	mean, share := new(big.Rat), big.NewRat(1, int64(legal.Len()))
	for i := range legal.Len() {
		x := p.after(at.board, legal.At(i), false)
		mean.Add(mean, new(big.Rat).Mul(share, x))
		if best == nil || p.better(x, best) {
			best = x
		}
	}
	if p.policy.Kind == modelgen.RandomMoves {
		return mean
	}
	return best
}

func (p *player) after(b game.Board, d game.Dir, switched bool) *big.Rat {
	next, _, err := p.rules.Move(b, d)
	if err != nil {
		panic(err) // no tile here is near the overflow
	}
	if next.AtLeast(p.goal) {
		return big.NewRat(1, 1)
	}
	return p.spawn(next, func(b game.Board) *big.Rat { return p.move(position{b, switched}) })
}
