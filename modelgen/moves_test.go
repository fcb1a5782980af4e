package modelgen

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
)

// slide moves a board by game.Slide, line by line, with index arithmetic of its own.
func slide(rows, cols int, board []int, m Move) []int {
	return slideBy(game.Slide, rows, cols, board, m)
}

// slideBy moves a board by what moves a line.
func slideBy(line func([]int) ([]int, int), rows, cols int, board []int, m Move) []int {
	lines, length := rows, cols
	if m == Up || m == Down {
		lines, length = cols, rows
	}
	at := func(line, place int) int {
		switch m {
		case Left:
			return line*cols + place
		case Right:
			return line*cols + cols - 1 - place
		case Up:
			return place*cols + line
		default:
			return (rows-1-place)*cols + line
		}
	}
	next := make([]int, len(board))
	for i := range lines {
		in := make([]int, length)
		for j := range in {
			in[j] = board[at(i, j)]
		}
		out, _ := line(in)
		for j := range out {
			next[at(i, j)] = out[j]
		}
	}
	return next
}

// boards calls f with every board of so many cells with the values 0, 2, 4, …, largest.
func boards(cells, largest int, f func(board []int)) {
	board := make([]int, cells)
	for {
		f(board)
		i := 0
		for ; i < cells && board[i] == largest; i++ {
			board[i] = 0
		}
		if i == cells {
			return
		}
		board[i] = max(2, 2*board[i])
	}
}

// The updates of the final model follow the rules for every line of 2 to 6 cells, whatever is in it, in both directions of both
// orientations: every valuation of the powers of two up to largest, which is not MAX.
//
// Seven values in six cells contain every pattern of empty and equal cells, and every pair of a tile and one that a merge could make.
func TestMovesOfEveryLine(t *testing.T) {
	for _, tc := range []struct{ length, largest int }{{2, 1024}, {3, 1024}, {4, 1024}, {5, 64}, {6, 64}} {
		for _, m := range allMoves() {
			cfg := Config{Rows: 1, Cols: tc.length, Max: 4096}
			if m == Up || m == Down {
				cfg.Rows, cfg.Cols = cfg.Cols, cfg.Rows
			}
			t.Run(fmt.Sprintf("%s/%s", cfg.board(), m), func(t *testing.T) {
				if !needs.IsFull() && tc.length == 6 {
					tc.largest = 16
				}
				check := newMoveChecker(t, cfg)
				boards(tc.length, tc.largest, func(board []int) { check.move(board, m) })
			})
		}
	}
}

// moveChecker compares the moves of a model with the rules.
type moveChecker struct {
	t     *testing.T
	cfg   Config
	cells []string
	// phases are the phase variables, which are 0 in v.
	phases []string
	// byModule are the commands of each module that has moves.
	byModule [][]compiledCommand
	v, next  valuation
}

func newMoveChecker(t *testing.T, cfg Config) *moveChecker {
	t.Helper()
	c := &moveChecker{t: t, cfg: cfg, cells: newGrid(cfg.Rows, cfg.Cols).cells, v: valuation{}, next: valuation{}}
	c.phases = []string{"phase"}
	if cfg.Kind == Prototype {
		c.cells = []string{"v_00", "v_01", "v_10", "v_11"}
		c.phases = []string{"phase_00", "phase_01", "phase_10", "phase_11"}
	}
	model := build(t, cfg)
	e := newEvaluator(t, model)
	for _, module := range modules(model) {
		c.byModule = append(c.byModule, e.commands(module))
	}
	return c
}

// move checks that exactly one command of each module is enabled when the move is legal and none when it is not, that together they move
// the tiles as the rules do, and that the random phase comes next.
func (c *moveChecker) move(board []int, m Move) {
	c.t.Helper()
	for i, cell := range c.cells {
		c.v[cell] = board[i]
	}
	want := slide(c.cfg.Rows, c.cfg.Cols, board, m)
	legal := !slices.Equal(want, board)
	if legal && c.cfg.Updates == UpdatesPublished {
		want = slideBy(game.SlidePublished, c.cfg.Rows, c.cfg.Cols, board, m)
	}
	clear(c.next)
	maps.Copy(c.next, c.v)
	for _, commands := range c.byModule {
		enabled := 0
		for _, cmd := range commands {
			if cmd.action == m.String() && cmd.guard(c.v) != 0 {
				enabled++
				cmd.apply(c.v, c.next)
			}
		}
		if enabled != truth(legal) {
			c.t.Fatalf("%v %s: %d commands are enabled in a module, legal is %t", board, m, enabled, legal)
		}
	}
	for i, cell := range c.cells {
		if c.next[cell] != want[i] {
			c.t.Fatalf("%v %s: cell %s becomes %d, want %v", board, m, cell, c.next[cell], want)
		}
	}
	for _, phase := range c.phases {
		if c.next[phase] != truth(legal) {
			c.t.Fatalf("%v %s: %s becomes %d, legal is %t", board, m, phase, c.next[phase], legal)
		}
	}
}

// Every move of the three 2x2 models on every board without MAX, the boards that the game cannot reach included.
func TestMovesOfEveryKind(t *testing.T) {
	for _, kind := range []Kind{Final, Combined, Prototype} {
		t.Run(kind.String(), func(t *testing.T) {
			check := newMoveChecker(t, Config{Kind: kind, Rows: 2, Cols: 2, Max: 32})
			boards(4, 16, func(board []int) {
				for _, m := range allMoves() {
					if kind == Prototype && slices.Max(board) == 0 {
						continue // no commands: the empty board is left in the random phase
					}
					check.move(board, m)
				}
			})
		})
	}
}

// Lines of a larger board do not get in each other's way.
func TestMovesOfLargerBoards(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{2, 3}, {3, 2}, {3, 3}, {4, 4}, {5, 3}, {6, 6}} {
		check := newMoveChecker(t, Config{Rows: size[0], Cols: size[1], Max: 64})
		for range 500 {
			board := make([]int, size[0]*size[1])
			for i := range board {
				if n := rng.IntN(5); n > 0 {
					board[i] = 1 << n
				}
			}
			for _, m := range allMoves() {
				check.move(board, m)
			}
		}
	}
}

// The published updates are those of the rules but for the two faults, whose meaning is that of game.SlidePublished: on every line of four
// cells, and on boards that have lines of four and of two, three or four cells. Legal moves are those of the rules.
func TestPublishedMoves(t *testing.T) {
	for _, m := range allMoves() {
		cfg := Config{Rows: 1, Cols: 4, Max: 4096, Updates: UpdatesPublished}
		if m == Up || m == Down {
			cfg.Rows, cfg.Cols = cfg.Cols, cfg.Rows
		}
		check := newMoveChecker(t, cfg)
		boards(4, 1024, func(board []int) { check.move(board, m) })
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][2]int{{2, 4}, {4, 2}, {3, 4}, {4, 4}} {
		check := newMoveChecker(t, Config{Rows: size[0], Cols: size[1], Max: 64, Updates: UpdatesPublished})
		for range 500 {
			board := make([]int, size[0]*size[1])
			for i := range board {
				if n := rng.IntN(5); n > 0 {
					board[i] = 1 << n
				}
			}
			for _, m := range allMoves() {
				check.move(board, m)
			}
		}
	}
}

// The faults are marked above every command that has them, and nowhere else.
func TestPublishedMarks(t *testing.T) {
	random := Policy{Kind: RandomMoves}
	for _, tc := range []struct {
		cfg  Config
		want map[string]string // by action, the cells
	}{
		{Config{Rows: 2, Cols: 4, Max: 8, Updates: UpdatesPublished}, map[string]string{"left": "v_2 v_6", "right": "v_1 v_5"}},
		{
			Config{Kind: DTMC, Spawn: SpawnUniform, Policy: random, Rows: 4, Cols: 1, Max: 8, Updates: UpdatesPublished},
			map[string]string{"move": "v_2 v_1"},
		},
		{Config{Rows: 2, Cols: 4, Max: 8}, nil},
	} {
		got := map[string]string{}
		for _, module := range modules(build(t, tc.cfg)) {
			for _, c := range module.Commands {
				if _, marked, ok := strings.Cut(strings.Join(c.Doc, "\n"), "NOT THE RULES OF THE GAME, in "); ok {
					got[c.Action.Name], _, _ = strings.Cut(marked, ",")
				}
			}
		}
		if !maps.Equal(got, tc.want) {
			t.Errorf("%v: marked %v, want %v", tc.cfg.Args(), got, tc.want)
		}
	}
}

// Once MAX is there no move is enabled, and of the two ends success is.
func TestNoMovesAfterMax(t *testing.T) {
	for _, kind := range []Kind{Final, Combined} {
		model := build(t, Config{Kind: kind, Rows: 2, Cols: 2, Max: 8})
		e := newEvaluator(t, model)
		commands := e.commands(modules(model)[0])
		boards(4, 8, func(board []int) {
			v := valuation{"v_0": board[0], "v_1": board[1], "v_2": board[2], "v_3": board[3]}
			won := slices.Contains(board, 8)
			for _, c := range commands {
				switch enabled := c.guard(v) != 0; {
				case c.action == "victory" && enabled != won:
					t.Errorf("%s %v: victory is %t, won is %t", kind, board, enabled, won)
				case c.action != "victory" && won && enabled:
					t.Errorf("%s %v: %s is enabled, the game is won", kind, board, c.action)
				}
			}
		})
	}
}

// fail holds on exactly the boards where the rules leave no move and the game is not won.
func TestFail(t *testing.T) {
	for _, cfg := range []Config{
		{Rows: 2, Cols: 2, Max: 16},
		{Kind: Combined, Rows: 2, Cols: 2, Max: 16},
		{Rows: 1, Cols: 3, Max: 8},
		{Rows: 2, Cols: 3, Max: 8},
	} {
		e := newEvaluator(t, build(t, cfg))
		fails, cells := e.name("fail"), newGrid(cfg.Rows, cfg.Cols).cells
		boards(len(cells), cfg.Max, func(board []int) {
			v := valuation{}
			for i, cell := range cells {
				v[cell] = board[i]
			}
			want := !slices.Contains(board, cfg.Max) && slices.Min(board) > 0
			for _, m := range allMoves() {
				want = want && slices.Equal(slide(cfg.Rows, cfg.Cols, board, m), board)
			}
			if got := fails(v) != 0; got != want {
				t.Errorf("%s %v: fail is %t, want %t", cfg.board(), board, got, want)
			}
		})
	}
}
