package strategy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
)

// This file has expectimax in its plain form: recursion on slices of tile values, moves by game.Slide, evaluations written from the
// documents cell by cell, floating point, no tables. It is the oracle of the searches.

// grid is a board as its tiles, row-major.
type grid struct {
	game.Shape
	tiles []int
}

// line returns the cells of a row or a column, the one nearest the wall of direction d first.
func (g grid) line(d game.Dir, n int) []int {
	cells := make([]int, 0, g.Rows+g.Cols)
	if d == game.Left || d == game.Right {
		for col := range g.Cols {
			cells = append(cells, n*g.Cols+col)
		}
	} else {
		for row := range g.Rows {
			cells = append(cells, row*g.Cols+n)
		}
	}
	if d == game.Right || d == game.Down {
		slices.Reverse(cells)
	}
	return cells
}

// move returns the board after a move and whether that is another board.
func (g grid) move(d game.Dir) (grid, bool) {
	next := grid{g.Shape, slices.Clone(g.tiles)}
	lines := g.Rows
	if d == game.Up || d == game.Down {
		lines = g.Cols
	}
	for n := range lines {
		cells := g.line(d, n)
		slid, _ := game.Slide(g.at(cells))
		for i, cell := range cells {
			next.tiles[cell] = slid[i]
		}
	}
	return next, !slices.Equal(next.tiles, g.tiles)
}

func (g grid) at(cells []int) []int {
	tiles := make([]int, len(cells))
	for i, cell := range cells {
		tiles[i] = g.tiles[cell]
	}
	return tiles
}

// moves returns the boards after the legal moves, in the order of 2048-ai.
func (g grid) moves() []grid {
	out := make([]grid, 0, 4)
	for _, d := range []game.Dir{game.Up, game.Down, game.Left, game.Right} {
		if next, legal := g.move(d); legal {
			out = append(out, next)
		}
	}
	return out
}

// spawns returns the boards with a tile in one of the empty cells.
func (g grid) spawns(tile int) []grid {
	var out []grid
	for cell, v := range g.tiles {
		if v == 0 {
			next := grid{g.Shape, slices.Clone(g.tiles)}
			next.tiles[cell] = tile
			out = append(out, next)
		}
	}
	return out
}

func (g grid) blanks() int {
	n := 0
	for _, v := range g.tiles {
		if v == 0 {
			n++
		}
	}
	return n
}

// plain is expectimax.
type plain struct {
	eval func(g grid) float64
	lost func(g grid) float64 // of boards with a new tile and no legal move
	rare bool                 // looks at new 4s after the first new tile
	// floor is what the best move is worth at least.
	floor float64
}

// chance returns the value of a board after a move, when so many plies (new tiles and moves) follow before eval.
func (p plain) chance(g grid, plies int, first bool) float64 {
	if plies == 0 {
		return p.eval(g)
	}
	two, four := 0.0, 0.0
	for _, next := range g.spawns(2) {
		two += p.player(next, plies-1) / float64(g.blanks())
	}
	if !first && !p.rare {
		return two
	}
	for _, next := range g.spawns(4) {
		four += p.player(next, plies-1) / float64(g.blanks())
	}
	return 0.9*two + 0.1*four
}

// player returns the value of a board with a new tile.
func (p plain) player(g grid, plies int) float64 {
	moves := g.moves()
	if len(moves) == 0 {
		return p.lost(g)
	}
	if plies == 0 {
		return p.eval(g)
	}
	best := p.floor
	for _, next := range moves {
		best = max(best, p.chance(next, plies-1, false))
	}
	return best
}

// plainDTU is the evaluation of section 2.4 of the report: the path goes through the cells from the most important on.
func plainDTU(snake bool, empty, mono float64) func(g grid) float64 {
	return func(g grid) float64 {
		value, k := 0.0, g.Rows*g.Cols
		for row := range g.Rows {
			path := g.line(game.Left, row)
			if snake && row%2 == 1 {
				slices.Reverse(path)
			}
			for _, cell := range path {
				k--
				weight := math.Exp2(float64(k))
				if !snake {
					weight = math.Exp2(float64(g.Rows + g.Cols - 2 - cell/g.Cols - cell%g.Cols))
				}
				value += weight * float64(g.tiles[cell])
			}
			value -= mono * float64(rises(g.at(path)))
		}
		for col := range g.Cols {
			value -= mono * float64(rises(g.at(g.line(game.Up, col))))
		}
		return value + empty*float64(g.blanks())
	}
}

// rises counts the tiles that are larger than the one before.
func rises(tiles []int) int {
	n := 0
	for i := range len(tiles) - 1 {
		if tiles[i] < tiles[i+1] {
			n++
		}
	}
	return n
}

// plainCS221 is Eval of section 5.2.
func plainCS221(g grid) float64 {
	sum := 0
	for _, v := range g.tiles {
		sum += v
	}
	blank := g.blanks()
	filled := len(g.tiles) - blank
	return float64(sum*blank*blank) / float64(filled*filled)
}

// plainModern is score_heur_board of 2048-ai, on lines of any length.
func plainModern(g grid) float64 {
	value := 0.0
	for row := range g.Rows {
		value += plainModernLine(g.at(g.line(game.Left, row)))
	}
	for col := range g.Cols {
		value += plainModernLine(g.at(g.line(game.Up, col)))
	}
	return value
}

func plainModernLine(tiles []int) float64 {
	value, last, run, up, down := 200000.0, 0, 0, 0.0, 0.0
	for i, v := range tiles {
		rank := rankOf(v)
		value -= 11 * math.Pow(rank, 3.5)
		if i > 0 {
			rise := math.Pow(rank, 4) - math.Pow(rankOf(tiles[i-1]), 4)
			up, down = up+max(rise, 0), down+max(-rise, 0)
		}
		if v == 0 {
			value += 270
			continue
		}
		if v != last {
			run = 0
		}
		if last, run = v, run+1; run == 2 {
			value += 2 * 700
		} else if run > 2 {
			value += 700
		}
	}
	return value - 47*min(up, down)
}

func rankOf(tile int) float64 {
	if tile == 0 {
		return 0
	}
	return math.Log2(float64(tile))
}

// plainCut is score_tilechoose_node and score_move_node of 2048-ai, with its table or without.
type plainCut struct {
	cutoff float32
	depth  int
	known  map[string]plainEntry // nil: nothing is kept
}

type plainEntry struct {
	level int
	value float64
}

func (p plainCut) chance(g grid, level int, prob float32) float64 {
	if prob < p.cutoff || level >= p.depth {
		return plainModern(g)
	}
	key := fmt.Sprint(g.tiles)
	if known, ok := p.known[key]; ok && known.level <= level {
		return known.value
	}
	prob /= float32(g.blanks())
	sum := 0.0
	for cell, v := range g.tiles {
		if v != 0 {
			continue
		}
		for _, tile := range []int{2, 4} {
			next, share, then := grid{g.Shape, slices.Clone(g.tiles)}, 0.9, prob*0.9
			next.tiles[cell] = tile
			if tile == 4 {
				share, then = 0.1, prob*0.1
			}
			best := 0.0
			for _, moved := range next.moves() {
				best = max(best, p.chance(moved, level+1, then))
			}
			sum += best * share
		}
	}
	value := sum / float64(g.blanks())
	if p.known != nil {
		p.known[key] = plainEntry{level, value}
	}
	return value
}

// searchShapes are the 4x4 board, which has tables of its own, other boards with tables of lines, and lines too long for them.
var searchShapes = []game.Shape{
	{Rows: 2, Cols: 2},
	{Rows: 1, Cols: 4},
	{Rows: 2, Cols: 3},
	{Rows: 3, Cols: 2},
	{Rows: 3, Cols: 3},
	{Rows: 5, Cols: 2},
	{Rows: 3, Cols: 4},
	{Rows: 4, Cols: 4},
}

// randomBoard returns a board with at most so many empty cells and a legal move, now and then with one tile of 2^15.
func randomBoard(rules *game.Rules, empties int, rng *rand.Rand) game.Board {
	cells := rules.Shape().Cells()
	for {
		var b game.Board
		kinds := 2 + rng.IntN(10)
		blanks := rng.Perm(cells)[:rng.IntN(min(empties, cells-1)+1)]
		for i := range cells {
			if !slices.Contains(blanks, i) {
				b = b.With(i, 1+rng.IntN(kinds))
			}
		}
		if at := rng.IntN(cells); b.Cell(at) != 0 && rng.IntN(4) == 0 {
			b = b.With(at, game.MaxExponent)
		}
		if rules.Legal(b) != 0 {
			return b
		}
	}
}

// room returns how many empty cells boards may have so that the oracle takes milliseconds.
func room(rounds int) int { return []int{16, 6, 3, 1}[rounds] }

// agreement is a search with its oracle.
type agreement struct {
	spec   string // of the player that makes the search, "" if there is none
	rounds int
	// both returns what the search, and its oracle, say that a board after a move is worth.
	fast func(b game.Board) (int64, error)
	slow func(g grid) float64
	unit float64
	// tolerance is what rounding may come to: relative to the value, and of values by themselves.
	relative, absolute float64
}

// check compares the values of all legal moves of b, and the move that the player makes if there is one.
func (a agreement) check(t *testing.T, rules *game.Rules, player Player, b game.Board) {
	t.Helper()
	worth, most := map[game.Dir]float64{}, math.Inf(-1)
	legal := rules.Legal(b)
	for i := range legal.Len() {
		d := legal.At(i)
		next, _, err := rules.Move(b, d)
		if err != nil {
			t.Fatal(err)
		}
		want := a.slow(grid{rules.Shape(), rules.Shape().Values(next)})
		worth[d], most = want, max(most, want)
		v, err := a.fast(next)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(v) / a.unit; math.Abs(got-want) > a.slack(want) {
			t.Errorf("%s, %s board %v: %v is worth %v, want %v", a.spec, rules.Shape(), b, d, got, want)
		}
	}
	if player == nil {
		return
	}
	chosen, err := player.Choose(b, legal, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := worth[chosen]; !ok || v < most-2*a.slack(most) {
		t.Errorf("%s, %s board %v: chose %v, worth %v, want one worth %v", a.spec, rules.Shape(), b, chosen, v, most)
	}
}

func parsed(t testing.TB, rules *game.Rules, spec string) Strategy {
	t.Helper()
	s, err := Parse(spec, Setting{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (a agreement) slack(value float64) float64 {
	return a.relative*math.Abs(value) + a.absolute
}

// agree checks every shape with random boards: so many, and fewer for deep searches.
func agree(t *testing.T, boards int, searches func(rules *game.Rules) []agreement) {
	t.Helper()
	for i, shape := range searchShapes {
		rules, rng := newRules(t, shape), rand.New(rand.NewPCG(6, uint64(i)))
		for _, a := range searches(rules) {
			var player Player
			if a.spec != "" {
				player = parsed(t, rules, a.spec).Player()
			}
			for range max(1, boards>>(2*max(a.rounds-1, 0))) {
				a.check(t, rules, player, randomBoard(rules, room(a.rounds), rng))
			}
		}
	}
}

func TestDTUAgreesWithPlainExpectimax(t *testing.T) {
	const empty, mono = 40, 7
	agree(t, 16, func(rules *game.Rules) []agreement {
		var out []agreement
		for _, snake := range []bool{true, false} {
			name := map[bool]string{true: "snake", false: "diagonal"}[snake]
			sum := dtuEvaluation{shape: rules.Shape(), snake: snake, emptyBonus: empty, orderPenalty: mono}.sum()
			moved := newLineEvaluation(rules, sum, sum.value)
			for plies := 1; plies <= needs.OrFull(4, 5); plies++ {
				s := search{rules: rules, evaluation: moved, rare: true, table: newSearchTable()}
				if plies%2 == 1 {
					s.evaluation = newTileEvaluation(rules, moved)
				}
				eval := plainDTU(snake, empty, mono)
				p := plain{eval: eval, lost: eval, rare: true, floor: math.Inf(-1)}
				out = append(out, agreement{
					spec:     fmt.Sprintf("expectimax:eval=%s,depth=%d,empty=%d,mono=%d", name, plies, empty, mono),
					rounds:   (plies + 1) / 2,
					fast:     func(b game.Board) (int64, error) { s.table.reset(); return s.expect(b, plies/2, true) },
					slow:     func(g grid) float64 { return p.chance(g, plies, true) },
					unit:     unit,
					relative: 1e-13, absolute: 3.0 / unit,
				})
			}
		}
		return out
	})
}

func TestCS221AgreesWithPlainExpectimax(t *testing.T) {
	agree(t, needs.OrFull(8, 24), func(rules *game.Rules) []agreement {
		var out []agreement
		p := plain{eval: plainCS221, lost: func(grid) float64 { return 0 }}
		for depth := 1; depth <= 3; depth++ {
			s := search{rules: rules, evaluation: newCountEvaluation(rules), table: newSearchTable()}
			a := agreement{
				spec:   fmt.Sprintf("expectimax:eval=cs221,depth=%d", depth),
				rounds: depth - 1,
				fast:   func(b game.Board) (int64, error) { s.table.reset(); return s.expect(b, depth-1, true) },
				slow:   func(g grid) float64 { return p.chance(g, 2*depth-1, true) },
				unit:   blankUnit,
				// A share is rounded to the unit, and is multiplied by the sum, which is below 2^16.
				relative: 1e-13, absolute: 3 * (1 << 16) / float64(blankUnit),
			}
			if depth == 1 {
				// The new tile is a 2 in our values. A 4 makes all of them larger in the same proportion.
				a.slow = func(g grid) float64 {
					sum := 0
					for _, v := range g.tiles {
						sum += v
					}
					return p.chance(g, 1, true) * float64(sum+2) / (float64(sum) + 2.2)
				}
			}
			out = append(out, a)
		}
		return out
	})
}

// Values are those of the program, with its table.
func TestModernAgreesWithPlainExpectimax(t *testing.T) {
	for _, cutoff := range []float32{0, 0.02, 0.0001, 0.2, 1}[:needs.OrFull(2, 5)] {
		agree(t, 8, func(rules *game.Rules) []agreement {
			var out []agreement
			leaves := newModernEvaluation(rules)
			for depth := 1; depth <= 3; depth++ {
				s := cutSearch{rules: rules, evaluation: leaves, cutoff: cutoff, depth: depth, table: newSearchTable()}
				out = append(out, agreement{
					spec:   fmt.Sprintf("modern:depth=%d,cutoff=%v", depth, cutoff),
					rounds: depth,
					fast:   func(b game.Board) (int64, error) { s.table.reset(); return s.after(b, 0, 1) },
					slow: func(g grid) float64 {
						return plainCut{cutoff: cutoff, depth: depth, known: map[string]plainEntry{}}.chance(g, 0, 1)
					},
					unit: unit, relative: 1e-12, absolute: modernSlack,
				})
			}
			return out
		})
	}
}

// modernSlack is what the rounding of 24 lines to the unit comes to, times 11.
const modernSlack = 24 * 4 * 11 / float64(unit)

// Without cut-off and with nothing kept, the search is exhaustive.
func TestModernIsExhaustiveWithoutCutoff(t *testing.T) {
	agree(t, 16, func(rules *game.Rules) []agreement {
		var out []agreement
		leaves := newModernEvaluation(rules)
		p := plain{eval: plainModern, lost: func(grid) float64 { return 0 }, rare: true}
		for depth := 1; depth <= 3; depth++ {
			s := cutSearch{rules: rules, evaluation: leaves, depth: depth}
			a := agreement{
				rounds: depth,
				fast:   func(b game.Board) (int64, error) { s.table.reset(); return s.after(b, 0, 1) },
				slow:   func(g grid) float64 { return p.chance(g, 2*depth, true) },
				unit:   unit, relative: 1e-12, absolute: modernSlack,
			}
			if depth < 3 { // what is kept matters from depth 3 on: the same board is there after a 4 and after two 2s
				a.spec = fmt.Sprintf("modern:depth=%d,cutoff=0", depth)
			}
			out = append(out, a)
		}
		return out
	})
}
