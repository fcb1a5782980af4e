package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/game/solve"
	"tilecheck/game/strategy"
)

// board is a board of 2048. Cells are the values of tiles, row by row, 0 for an empty cell.
type board struct {
	Rows  int   `json:"rows"`
	Cols  int   `json:"cols"`
	Max   int   `json:"tile"` // the tile that wins
	Cells []int `json:"cells"`
}

// rules returns the rules of the game, and the board.
func (b *board) rules() (*game.Rules, game.Wide, error) {
	shape := game.Shape{Rows: b.Rows, Cols: b.Cols}
	rules, err := game.New(shape)
	if err != nil {
		return nil, game.Wide{}, badRequest{err}
	}
	if b.Cells == nil {
		return rules, game.Wide{}, nil
	}
	x, err := shape.Wide(b.Cells)
	if err != nil {
		return nil, game.Wide{}, badRequest{err}
	}
	return rules, x, nil
}

// exponent returns log2 of the winning tile; 0 if there is none.
func exponent(tile int) (int, error) {
	if tile == 0 {
		return 0, nil
	}
	for e := 2; e <= game.MaxWideExponent; e++ {
		if game.Value(e) == tile {
			return e, nil
		}
	}
	return 0, badf("max is %d, want a power of two from 4 to %d", tile, game.Value(game.MaxWideExponent))
}

type moveQuestion struct {
	board
	Dir  string `json:"dir"` // empty begins a game
	Seed uint64 `json:"seed"`
	Move uint64 `json:"move"` // number of earlier moves
}

// position is a board after a move and the new tile.
type position struct {
	Cells []int    `json:"cells"`
	Moved []int    `json:"moved,omitempty"`
	Gain  int      `json:"gain"`
	New   int      `json:"new"` // the cell of the new tile, -1 for none
	Legal []string `json:"legal"`
	Won   bool     `json:"won"`
	Lost  bool     `json:"lost"`
}

// turn starts a game or makes a move. The new tile is determined by the seed and the number of the
// move.
func (h *API) turn(_ context.Context, q *moveQuestion, _ *reply) (any, error) {
	rules, b, err := q.rules()
	if err != nil {
		return nil, err
	}
	goal, err := exponent(q.Max)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(q.Seed, q.Move))
	p := position{New: -1, Legal: []string{}}
	next := b
	if q.Dir == "" {
		if q.Cells == nil {
			next.Low = rules.Start(rng)
		}
	} else {
		dir, err := direction(q.Dir)
		if err != nil {
			return nil, err
		}
		if !rules.LegalWide(b).Has(dir) {
			return nil, badf("%s moves nothing", dir)
		}
		if next, p.Gain, err = rules.MoveWide(b, dir); err != nil {
			return nil, badRequest{err}
		}
		p.Moved = rules.Shape().WideValues(next)
		if goal == 0 || !next.AtLeast(goal) {
			moved := next
			next = rules.AddRandomWide(next, rng)
			for i := range rules.Shape().Cells() {
				if next.Cell(i) != moved.Cell(i) {
					p.New = i
				}
			}
		}
	}
	legal := rules.LegalWide(next)
	p.Cells, p.Won = rules.Shape().WideValues(next), goal > 0 && next.AtLeast(goal)
	p.Lost = legal == 0 && !slices.Contains(p.Cells, 0)
	if !p.Won {
		p.Legal = names(legal)
	}
	return p, nil
}

func names(moves game.Moves) []string {
	out := []string{}
	for i := range moves.Len() {
		out = append(out, moves.At(i).String())
	}
	return out
}

func direction(name string) (game.Dir, error) {
	for _, d := range []game.Dir{game.Left, game.Right, game.Up, game.Down} {
		if d.String() == name {
			return d, nil
		}
	}
	return 0, badf("dir is %q, want left, right, up or down", name)
}

type hintsQuestion struct {
	board
	// Strategy is the strategy to explain; empty means optimal play, or expectimax if the game
	// is not solved.
	Strategy string `json:"strategy"`
}

// hint is the value of a move, or the probability that a strategy makes it.
type hint struct {
	Dir   string  `json:"dir"`
	Value float64 `json:"value"`
	Best  bool    `json:"best"`
}

type hints struct {
	// Kind says what the values of the moves are. "win": the probability of winning with optimal
	// play; "worth": the strategy's evaluation; "chance": the probability that the strategy
	// makes the move.
	Kind  string  `json:"kind"`
	About string  `json:"about"`
	Moves []hint  `json:"moves"`
	Value float64 `json:"value,omitempty"`
}

// solvable reports whether optimal play can be computed within seconds.
func solvable(rows, cols, max int) bool {
	switch cells := rows * cols; {
	case cells <= 4:
		return true
	case cells <= 6:
		return max <= 128
	case cells <= 9:
		return max <= 64
	}
	return false
}

// hints returns the value of each move.
func (h *API) hints(ctx context.Context, q *hintsQuestion, out *reply) (any, error) {
	rules, w, err := q.rules()
	if err != nil {
		return nil, err
	}
	goal, err := exponent(q.Max)
	if err != nil {
		return nil, err
	}
	b, _ := w.Downgraded(game.MaxExponent) // what strategies see; the empty board if no move is legal
	if q.Strategy == "" && goal > 0 && (solvable(q.Rows, q.Cols, q.Max) || h.openedTable(&q.board) != nil) {
		return h.optimal(ctx, q, b, out)
	}
	s, err := h.strategy(cmp.Or(q.Strategy, "expectimax"), strategy.Setting{Rules: rules, Max: goal})
	if err != nil {
		return nil, err
	}
	found := hints{Kind: "chance", About: s.String(), Moves: []hint{}}
	legal := rules.Legal(b)
	if legal == 0 || goal > 0 && w.AtLeast(goal) {
		return found, nil
	}
	if err := strategy.Prepare(ctx, s); err != nil {
		return nil, err
	}
	if values, ok, err := strategy.Values(s, b); ok || err != nil {
		return moveValues(&found, values), err
	}
	choices, err := s.Chooser().Decide(b, legal, 0)
	if err != nil {
		return nil, err
	}
	chance := map[game.Dir]float64{}
	limit := 0.0
	for _, c := range choices {
		p, _ := c.Prob.Float64()
		chance[c.Dir] += p
		limit = max(limit, chance[c.Dir])
	}
	for i := range legal.Len() {
		d := legal.At(i)
		found.Moves = append(found.Moves, hint{d.String(), chance[d], chance[d] == limit})
	}
	return found, nil
}

// moveValues adds the evaluations of the moves by a strategy.
func moveValues(h *hints, values []strategy.MoveValue) *hints {
	h.Kind = "worth"
	limit := math.Inf(-1)
	for _, v := range values {
		limit = max(limit, v.Value)
	}
	for _, v := range values {
		h.Moves = append(h.Moves, hint{v.Dir.String(), v.Value, v.Value == limit})
	}
	return h
}

// strategy returns a strategy by its specification. The page cannot name files.
func (h *API) strategy(spec string, s strategy.Setting) (strategy.Strategy, error) {
	if strings.Contains(spec, "file=") || strings.Contains(spec, "ntuple:") {
		return nil, badf("strategy %q: files are not read for a page", spec)
	}
	x, err := strategy.Parse(spec, s)
	if err != nil {
		return nil, badRequest{err}
	}
	if strategy.Solves(x) && !solvable(s.Rules.Shape().Rows, s.Rules.Shape().Cols, game.Value(s.Max)) {
		return nil, badf("optimal play of this game is not computed for a page: want a board of 3x3 to 64 at most")
	}
	return x, nil
}

// openedTable returns the table of a game from Options.Tables; nil if there is none.
func (h *API) openedTable(b *board) *solve.Table {
	for _, t := range h.Tables {
		p := t.Problem()
		if p.Shape.Rows == b.Rows && p.Shape.Cols == b.Cols && game.Value(p.MaxExp) == b.Max && Winning(p) {
			return t
		}
	}
	return nil
}

// Winning reports whether the values of a table are probabilities of winning under the usual
// rules.
func Winning(p solve.Problem) bool {
	return p.Objective == solve.Win && p.Discount == 1 && p.Twos == 9 && p.Total == 10 && p.Against == solve.Chance
}

// table calls f with the solution of a game.
func (h *API) table(ctx context.Context, b *board, out *reply, f func(*solve.Table) error) error {
	if t := h.openedTable(b); t != nil {
		return f(t)
	}
	if !solvable(b.Rows, b.Cols, b.Max) {
		return badf("optimal play on %dx%d to %d is not computed for a page", b.Rows, b.Cols, b.Max)
	}
	key := fmt.Sprint(b.Rows, b.Cols, b.Max)
	return h.tables.use(ctx, key, func() (*solvedGame, error) {
		t, _, err := solve.Solve(ctx, solve.Options{
			Shape: game.Shape{Rows: b.Rows, Cols: b.Cols}, Max: b.Max, Memory: h.Limits.Memory / 4,
			Progress: func(p solve.Progress) {
				out.part("progress", progressLine{Property: "optimal play", Done: p.Positions, Target: p.Total, Unit: "positions"})
			},
		})
		if err != nil {
			return nil, err
		}
		return &solvedGame{t}, nil
	}, func(s *solvedGame) error { return f(s.table) })
}

func (h *API) optimal(ctx context.Context, q *hintsQuestion, b game.Board, out *reply) (any, error) {
	found := hints{Kind: "win", About: fmt.Sprintf("probability of %d with optimal play", q.Max), Moves: []hint{}}
	err := h.table(ctx, &q.board, out, func(t *solve.Table) error {
		v, best, ok := t.Value(b)
		if !ok {
			return badf("the game does not come to this board")
		}
		found.Value = v
		if best == 0 {
			return nil
		}
		moves, ok := t.Moves(b)
		if !ok {
			return errors.New("the values of the moves are not there")
		}
		for _, m := range moves { // moves that differ only by rounding are equally good
			found.Moves = append(found.Moves, hint{m.Dir.String(), m.Value, best.Has(m.Dir) || m.Value >= v*(1-1e-12)})
		}
		return nil
	})
	return found, err
}

type watchQuestion struct {
	board
	Strategy string `json:"strategy"`
	Seed     uint64 `json:"seed"`
	Game     int64  `json:"game"`
}

// frame is the board after a move.
type frame struct {
	Moves int64  `json:"moves"`
	Dir   string `json:"dir,omitempty"`
	Cells []int  `json:"cells"`
	Score int64  `json:"score"`
}

func frameOf(s game.Shape, f play.Frame) frame {
	out := frame{Moves: f.Moves, Cells: s.WideValues(f.Board), Score: f.Score}
	if f.Moves > 0 {
		out.Dir = f.Dir.String()
	}
	return out
}

// maxFrames is the largest number of frames that are shown.
const maxFrames = 20_000

var errFrameLimit = errors.New("enough")

// watch plays a game with a strategy: the same game as tilecheck play.
func (h *API) watch(ctx context.Context, q *watchQuestion, out *reply) (any, error) {
	goal, err := exponent(q.Max)
	if err != nil {
		return nil, err
	}
	rules, _, err := q.rules()
	if err != nil {
		return nil, err
	}
	m := play.Match{Shape: rules.Shape(), Goal: goal, Seed: q.Seed}
	s, err := h.strategy(q.Strategy, strategy.Setting{Rules: rules, Max: goal})
	if err != nil {
		return nil, err
	}
	n := 0
	g, err := play.Watch(ctx, play.Options{Match: m, Strategy: s}, q.Game, func(f play.Frame) error {
		out.part("frame", frameOf(m.Shape, f))
		if n++; n == maxFrames {
			return errFrameLimit
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFrameLimit) {
		return nil, err
	}
	return map[string]any{"strategy": s.String(), "score": g.Score, "moves": g.Moves, "won": g.Won, "largest_tile": game.Value(g.Max)}, nil
}

type replayQuestion struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Game int64  `json:"game"`
}

// replay checks a record against the rules, and shows one of its games.
func (h *API) replay(ctx context.Context, q *replayQuestion, out *reply) (any, error) {
	type entry struct {
		Index int64 `json:"index"`
		Score int64 `json:"score"`
		Moves int64 `json:"moves"`
		Max   int   `json:"largest_tile"`
		Won   bool  `json:"won"`
	}
	games := []entry{}
	var shown *play.Transcript
	head, err := play.ReadRecord(strings.NewReader(q.Text), cmp.Or(q.Name, "record"), func(p *play.Played) error {
		if len(games) < 1000 {
			games = append(games, entry{p.Index, p.Score, p.Moves, game.Value(p.Max), p.Won})
		}
		if p.Index == q.Game || shown == nil {
			shown = p.Transcript
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	frames := []frame{}
	if shown != nil {
		if _, err := head.Match.Replay(shown, func(f play.Frame) { frames = append(frames, frameOf(head.Match.Shape, f)) }); err != nil {
			return nil, err
		}
	}
	return map[string]any{
		"strategy": head.Strategy, "rows": head.Match.Shape.Rows, "cols": head.Match.Shape.Cols,
		"tile": game.Value(head.Match.Goal), "games": games, "frames": frames,
	}, nil
}
