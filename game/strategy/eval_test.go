package strategy

import (
	"math"
	"math/rand/v2"
	"testing"

	"tilecheck/game"
)

// worths are the evaluations, in their documents' units.
func worths(rules *game.Rules, empty, mono int64) map[string]func(b game.Board) float64 {
	out := map[string]func(b game.Board) float64{}
	for name, snake := range map[string]bool{"snake": true, "diagonal": false} {
		sum := dtuEvaluation{shape: rules.Shape(), snake: snake, emptyBonus: empty, orderPenalty: mono}.sum()
		leaves := newLineEvaluation(rules, sum, sum.value)
		out[name] = func(b game.Board) float64 { return float64(leaves.value(b)) / unit }
	}
	counts, modern := newCountEvaluation(rules), newModernEvaluation(rules)
	out["cs221 with a 2 more"] = func(b game.Board) float64 { return float64(counts.value(b)) / blankUnit }
	out["modern"] = func(b game.Board) float64 { return float64(modern.value(b)) / unit }
	return out
}

// By hand. Snake weights of 4x4 are 2^15 to 2^12 in the first row, 2^8 to 2^11 in the second, and so on; diagonal weights 2^6 in the corner,
// 2^5 on the two cells beside it.
func TestEvaluationsByHand(t *testing.T) {
	for _, c := range []struct {
		board       string
		empty, mono int64
		want        map[string]float64
	}{
		{"8 4 2 . / . . . . / . . . . / . . . 2", 0, 0, map[string]float64{
			"snake":               8*32768 + 4*16384 + 2*8192 + 2*8, // the last row leads to the right again
			"diagonal":            8*64 + 4*32 + 2*16 + 2,
			"cs221 with a 2 more": 18 * 121 / 25.0,
		}},
		{"8 4 2 . / . . . . / . . . . / . . . 2", 5, 3, map[string]float64{
			"snake":    344064 + 16 + 12*5 - 1*3, // 2 is below an empty cell; beside it, the path comes from the right
			"diagonal": 674 + 12*5 - 2*3,         // and here from the left
		}},
		// Out of order: 2 4, 4 8 and 8 16 in the first row; in the second an empty cell before 64 for the snake, which comes from the
		// right, and 32 64 for the diagonal; columns 2 32 and 4 64.
		{"2 4 8 16 / 32 64 . . / 8 4 . . / . . . .", 0, 1, map[string]float64{
			"snake":    2*32768 + 4*16384 + 8*8192 + 16*4096 + 32*256 + 64*512 + 8*128 + 4*64 - (3 + 1 + 0) - 2,
			"diagonal": 2*64 + 4*32 + 8*16 + 16*8 + 32*32 + 64*16 + 8*16 + 4*8 - (3 + 1 + 0) - 2,
		}},
		{"2 2 . 4 / . . . . / . . . . / . . . .", 0, 0, map[string]float64{
			// The row: 1 blank, 2 that may merge, falling by 1 and rising by 16. Columns 0 and 1 with a 2, column 2 empty, column 3 with
			// a 4, each with what rises in the direction in which nothing does. Three empty rows.
			"modern": 8*200000 + 270*(1+3*3+4+3*4) + 700*2 - 11*2*(2+math.Pow(2, 3.5)) - 47*1,
		}},
		{"2 2 2 . / 4 . 4 4 / . . . . / . . . .", 0, 0, map[string]float64{
			// Three and three that may merge. The rows: 0 and 1 each way, the smaller is 0; 16, 0 and 16, 0. Columns: 2 above 4 rises by
			// 15 and falls by 16, so 15; 2 alone; 2 above 4; 4 below an empty cell rises by 16 and falls by 16.
			"modern": 8*200000 + 270*(1+1+4+4+2+3+2+3) + 700*6 - 11*2*(3+3*math.Pow(2, 3.5)) - 47*(0+16+15+0+15+16),
		}},
	} {
		rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
		b, err := rules.Shape().Parse(c.board)
		if err != nil {
			t.Fatal(err)
		}
		got := worths(rules, c.empty, c.mono)
		for name, want := range c.want {
			if v := got[name](b); math.Abs(v-want) > 0.001 {
				t.Errorf("%s: %s is %v, want %v", c.board, name, v, want)
			}
		}
	}
}

// By hand, on 2x2: after 2 4 / 8 . to the right, 2 4 / . 8. A 2 below the 2 merges upwards or downwards, to 4 4 / . 8 or . 4 / 4 8: one
// blank either way, and a 2 more, so none. A 4 there is lost.
func TestSearchByHand(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	b, err := rules.Shape().Parse("2 4 / . 8")
	if err != nil {
		t.Fatal(err)
	}
	sum := dtuEvaluation{shape: rules.Shape()}.sum() // diagonal: 4 2 / 2 1
	leaves := newLineEvaluation(rules, sum, sum.value)
	even, odd := search{rules: rules, evaluation: leaves, rare: true}, search{rules: rules, evaluation: newTileEvaluation(rules, leaves), rare: true}
	modern := cutSearch{rules: rules, evaluation: newModernEvaluation(rules), depth: 1}
	cs221 := search{rules: rules, evaluation: newCountEvaluation(rules)}
	line := func(first, second float64) float64 { return plainModernLine([]int{int(first), int(second)}) }
	for _, c := range []struct {
		name   string
		search func() (int64, error)
		unit   float64
		want   float64
	}{
		// 2*4 + 4*2 + 8*1 = 24, and 2*2 or 4*2 more.
		{"one ply", func() (int64, error) { return odd.expect(b, 0, true) }, unit, 24 + 0.9*4 + 0.1*8},
		// After the 2, up makes 4 4 / . 8: 16+8+8; after the 4, lost: 2 4 / 4 8: 8+8+8+8.
		{"two plies", func() (int64, error) { return even.expect(b, 1, true) }, unit, 0.9*32 + 0.1*32},
		// With 4 4 / . 8 there is one more tile: 32 + 4 or 8.
		{"three plies", func() (int64, error) { return odd.expect(b, 1, true) }, unit, 0.9*(32+0.9*4+0.1*8) + 0.1*32},
		// Two moves ahead no cell is blank.
		{"cs221, depth 2", func() (int64, error) { return cs221.expect(b, 1, true) }, blankUnit, 0},
		{"modern, depth 1", func() (int64, error) { return modern.after(b, 0, 1) }, unit, 0.9 * max(
			line(4, 4)+line(0, 8)+line(4, 0)+line(4, 8), line(0, 4)+line(4, 8)+line(0, 4)+line(4, 8))},
	} {
		even.table.reset()
		odd.table.reset()
		cs221.table.reset()
		modern.table.reset()
		v, err := c.search()
		if got := float64(v) / c.unit; err != nil || math.Abs(got-c.want) > 0.001 {
			t.Errorf("%s: %v, error %v, want %v", c.name, got, err, c.want)
		}
	}
}

// What does not tell symmetric boards apart gives them the same value, exactly; the diagonal evaluation does not tell rows from columns.
func TestSymmetricBoardsAreWorthTheSame(t *testing.T) {
	for _, shape := range []game.Shape{{Rows: 2, Cols: 2}, {Rows: 3, Cols: 3}, {Rows: 2, Cols: 4}, {Rows: 4, Cols: 4}} {
		rules, rng := newRules(t, shape), rand.New(rand.NewPCG(8, 0))
		values := symmetricValues(rules)
		compared := map[string]int{}
		for range 60 {
			// A board after a move: one cell is empty at least.
			b := randomBoard(rules, 4, rng)
			b, _, err := rules.Move(b, rules.Legal(b).At(0))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range values {
				for s := range game.Symmetry(rules.Symmetries()) {
					if name == "diagonal" && s != 0 && s != game.Transpose {
						continue
					}
					got, want := value(rules.Apply(s, b)), value(b)
					if got != want {
						t.Fatalf("%s: %s board %v is worth %d, and %v after %v", name, shape, b, want, got, s)
					}
					compared[name]++
				}
			}
		}
		if len(compared) != len(values) {
			t.Errorf("%s: compared %v, want all of %d", shape, compared, len(values))
		}
	}
}

// symmetricValues returns what searches of the evaluations say that a board after a move is worth.
func symmetricValues(rules *game.Rules) map[string]func(b game.Board) int64 {
	must := func(v int64, err error) int64 {
		if err != nil {
			panic(err)
		}
		return v
	}
	sum := dtuEvaluation{shape: rules.Shape(), emptyBonus: 5, orderPenalty: 3}.sum()
	moved := newLineEvaluation(rules, sum, sum.value)
	diagonal := search{rules: rules, evaluation: newTileEvaluation(rules, moved), rare: true, table: newSearchTable()}
	counts := search{rules: rules, evaluation: newCountEvaluation(rules), table: newSearchTable()}
	modern := cutSearch{rules: rules, evaluation: newModernEvaluation(rules), cutoff: 0.0001, depth: 2, table: newSearchTable()}
	return map[string]func(b game.Board) int64{
		"diagonal": func(b game.Board) int64 { diagonal.table.reset(); return must(diagonal.expect(b, 1, true)) },
		"cs221":    func(b game.Board) int64 { counts.table.reset(); return must(counts.expect(b, 2, true)) },
		"modern":   func(b game.Board) int64 { modern.table.reset(); return must(modern.after(b, 0, 1)) },
	}
}

// A search that keeps nothing, or few boards, finds the same values as one that keeps all.
func TestBoundedTablesChangeNoValue(t *testing.T) {
	for _, shape := range []game.Shape{{Rows: 3, Cols: 3}, {Rows: 4, Cols: 4}} {
		rules, rng := newRules(t, shape), rand.New(rand.NewPCG(9, 0))
		sum := dtuEvaluation{shape: shape, snake: true, emptyBonus: 5, orderPenalty: 3}.sum()
		moved := newLineEvaluation(rules, sum, sum.value)
		leaves := map[string]evaluation{"even": moved, "odd": newTileEvaluation(rules, moved), "cs221": newCountEvaluation(rules)}
		for range 5 {
			b := randomBoard(rules, 3, rng)
			for name, l := range leaves {
				next, _, err := rules.Move(b, rules.Legal(b).At(0))
				if err != nil {
					t.Fatal(err)
				}
				for _, most := range []int{0, 1, 7} {
					all := search{rules: rules, evaluation: l, rare: name != "cs221", table: newSearchTable()}
					few := all
					few.table.maxBoards = most
					all.table.reset()
					few.table.reset()
					want, err := all.expect(next, 3, true)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := few.expect(next, 3, true); err != nil || got != want || few.table.used > most {
						t.Errorf("%s, %s board %v: %d with %d boards kept, error %v, want %d", name, shape, next, got, few.table.used, err, want)
					}
				}
			}
		}
	}
}

// The table has what was put last, whatever it has to grow to and however the boards collide.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 0))
	known := newSearchTable()
	for range 3 {
		known.reset()
		want := map[game.Board]tableSlot{}
		for range 5000 {
			b, level, v := game.Board(rng.Uint64N(3000))<<(4*rng.IntN(2)), rng.IntN(9), rng.Int64()
			known.put(b, level, v)
			want[b] = tableSlot{board: b, value: v, level: int32(level)}
		}
		if known.used != len(want) {
			t.Fatalf("%d boards are kept, want %d", known.used, len(want))
		}
		for b, w := range want {
			if s := known.get(b); s == nil || s.value != w.value || s.level != w.level {
				t.Fatalf("%v: found %v, want %v", b, s, w)
			}
		}
		for range 1000 {
			b := game.Board(rng.Uint64() | 1<<63)
			if s := known.get(b); s != nil {
				t.Fatalf("%v: found %v, want nothing", b, s)
			}
		}
	}
}
