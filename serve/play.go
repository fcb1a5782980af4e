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
	wide, err := shape.Wide(b.Cells)
	if err != nil {
		return nil, game.Wide{}, badRequest{err}
	}
	return rules, wide, nil
}

// exponent returns log2 of the winning tile; 0 if there is none.
func exponent(tile int) (int, error) {
	if tile == 0 {
		return 0, nil
	}
	for tileExponent := 2; tileExponent <= game.MaxWideExponent; tileExponent++ {
		if game.Value(tileExponent) == tile {
			return tileExponent, nil
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
func (h *API) turn(_ context.Context, question *moveQuestion, _ *reply) (any, error) {
	rules, b, err := question.rules()
	if err != nil {
		return nil, err
	}
	goal, err := exponent(question.Max)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(question.Seed, question.Move))
	p := position{New: -1, Legal: []string{}}
	next := b
	if question.Dir == "" {
		if question.Cells == nil {
			next.Low = rules.Start(rng)
		}
	} else {
		dir, err := direction(question.Dir)
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
	for _, direction := range []game.Dir{game.Left, game.Right, game.Up, game.Down} {
		if direction.String() == name {
			return direction, nil
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
func (h *API) hints(ctx context.Context, question *hintsQuestion, response *reply) (any, error) {
	rules, w, err := question.rules()
	if err != nil {
		return nil, err
	}
	goal, err := exponent(question.Max)
	if err != nil {
		return nil, err
	}
	b, _ := w.Downgraded(game.MaxExponent) // what strategies see; the empty board if no move is legal
	if question.Strategy == "" && goal > 0 && (solvable(question.Rows, question.Cols, question.Max) || h.openedTable(&question.board) != nil) {
		return h.optimalHints(ctx, question, b, response)
	}
	s, err := h.strategy(cmp.Or(question.Strategy, "expectimax"), strategy.Setting{Rules: rules, Max: goal})
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
func moveValues(answer *hints, values []strategy.MoveValue) *hints {
	answer.Kind = "worth"
	limit := math.Inf(-1)
	for _, value := range values {
		limit = max(limit, value.Value)
	}
	for _, value := range values {
		answer.Moves = append(answer.Moves, hint{value.Dir.String(), value.Value, value.Value == limit})
	}
	return answer
}

// strategy returns a strategy by its specification. The page cannot name files.
func (h *API) strategy(spec string, setting strategy.Setting) (strategy.Strategy, error) {
	if strings.Contains(spec, "file=") || strings.Contains(spec, "ntuple:") {
		return nil, badf("strategy %q: files are not read for a page", spec)
	}
	parsed, err := strategy.Parse(spec, setting)
	if err != nil {
		return nil, badRequest{err}
	}
	if strategy.Solves(parsed) && !solvable(setting.Rules.Shape().Rows, setting.Rules.Shape().Cols, game.Value(setting.Max)) {
		return nil, badf("optimal play of this game is not computed for a page: want a board of 3x3 to 64 at most")
	}
	return parsed, nil
}

// openedTable returns the table of a game from Options.Tables; nil if there is none.
func (h *API) openedTable(board *board) *solve.Table {
	for _, table := range h.Tables {
		problem := table.Problem()
		if problem.Shape.Rows == board.Rows && problem.Shape.Cols == board.Cols && game.Value(problem.MaxExp) == board.Max && Winning(problem) {
			return table
		}
	}
	return nil
}

// Winning reports whether the values of a table are probabilities of winning under the usual
// rules.
func Winning(p solve.Problem) bool {
	return p.Objective == solve.Win && p.Discount == 1 && p.Twos == 9 && p.Total == 10 && p.Against == solve.Chance
}

// table calls action with the solution of a game, which it computes if necessary.
func (h *API) table(ctx context.Context, board *board, response *reply, action func(*solve.Table) error) error {
	if table := h.openedTable(board); table != nil {
		return action(table)
	}
	if !solvable(board.Rows, board.Cols, board.Max) {
		return badf("optimal play on %dx%d to %d is not computed for a page", board.Rows, board.Cols, board.Max)
	}
	key := fmt.Sprint(board.Rows, board.Cols, board.Max)
	return h.tables.use(ctx, key, func() (*solvedGame, error) {
		table, _, err := solve.Solve(ctx, solve.Options{
			Shape: game.Shape{Rows: board.Rows, Cols: board.Cols}, Max: board.Max, Memory: h.Limits.Memory / 4,
			Progress: func(update solve.Progress) {
				response.part("progress", progressLine{Property: "optimal play", Done: update.Positions, Target: update.Total, Unit: "positions"})
			},
		})
		if err != nil {
			return nil, err
		}
		return &solvedGame{table}, nil
	}, func(game *solvedGame) error { return action(game.table) })
}

// optimalHints answers with the values of the moves under optimal play.
func (h *API) optimalHints(ctx context.Context, question *hintsQuestion, board game.Board, response *reply) (any, error) {
	answer := hints{Kind: "win", About: fmt.Sprintf("probability of %d with optimal play", question.Max), Moves: []hint{}}
	err := h.table(ctx, &question.board, response, func(table *solve.Table) error {
		value, best, ok := table.Value(board)
		if !ok {
			return badf("the game does not come to this board")
		}
		answer.Value = value
		if best == 0 {
			return nil
		}
		moves, ok := table.Moves(board)
		if !ok {
			return errors.New("the values of the moves are not there")
		}
		for _, move := range moves { // moves that differ only by rounding are equally good
			answer.Moves = append(answer.Moves, hint{move.Dir.String(), move.Value, best.Has(move.Dir) || move.Value >= value*(1-1e-12)})
		}
		return nil
	})
	return answer, err
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
func (h *API) watch(ctx context.Context, question *watchQuestion, response *reply) (any, error) {
	goal, err := exponent(question.Max)
	if err != nil {
		return nil, err
	}
	rules, _, err := question.rules()
	if err != nil {
		return nil, err
	}
	match := play.Match{Shape: rules.Shape(), Goal: goal, Seed: question.Seed}
	strategy, err := h.strategy(question.Strategy, strategy.Setting{Rules: rules, Max: goal})
	if err != nil {
		return nil, err
	}
	count := 0
	result, err := play.Watch(ctx, play.Options{Match: match, Strategy: strategy}, question.Game, func(frame play.Frame) error {
		response.part("frame", frameOf(match.Shape, frame))
		if count++; count == maxFrames {
			return errFrameLimit
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFrameLimit) {
		return nil, err
	}
	return map[string]any{"strategy": strategy.String(), "score": result.Score, "moves": result.Moves, "won": result.Won, "largest_tile": game.Value(result.Max)}, nil
}

type replayQuestion struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Game int64  `json:"game"`
}

// replay checks a record against the rules, and shows one of its games.
func (h *API) replay(ctx context.Context, question *replayQuestion, response *reply) (any, error) {
	type entry struct {
		Index int64 `json:"index"`
		Score int64 `json:"score"`
		Moves int64 `json:"moves"`
		Max   int   `json:"largest_tile"`
		Won   bool  `json:"won"`
	}
	games := []entry{}
	var selected *play.Transcript
	head, err := play.ReadRecord(strings.NewReader(question.Text), cmp.Or(question.Name, "record"), func(played *play.Played) error {
		if len(games) < 1000 {
			games = append(games, entry{played.Index, played.Score, played.Moves, game.Value(played.Max), played.Won})
		}
		if played.Index == question.Game || selected == nil {
			selected = played.Transcript
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	frames := []frame{}
	if selected != nil {
		if _, err := head.Match.Replay(selected, func(frame play.Frame) { frames = append(frames, frameOf(head.Match.Shape, frame)) }); err != nil {
			return nil, err
		}
	}
	return map[string]any{
		"strategy": head.Strategy, "rows": head.Match.Shape.Rows, "cols": head.Match.Shape.Cols,
		"tile": game.Value(head.Match.Goal), "games": games, "frames": frames,
	}, nil
}
