package play

import (
	"errors"
	"fmt"
	"math/bits"

	"tilecheck/game"
)

// Transcript is the start of a game and all of its moves.
type Transcript struct {
	Start game.Board
	Steps []Step
	// Overflow is Game.Overflow: the player ended the game although moves are legal.
	Overflow bool
}

// Step is a move and the new tile after it. Exp is 0 if there is no new tile, because the move won a game that stops there.
type Step struct {
	Dir  game.Dir
	Cell int // of the new tile, row-major
	Exp  int // of the new tile: 1 for 2, 2 for 4
}

// add appends the step that led to a frame.
func (t *Transcript) add(f Frame) {
	if f.Moves == 0 {
		t.Start = f.Board.Low
		return
	}
	s := Step{Dir: f.Dir}
	if tile := uint64(f.Board.Low ^ f.Moved.Low); tile != 0 { // a new tile is a 2 or a 4
		s.Cell = bits.TrailingZeros64(tile) / 4
		s.Exp = f.Board.Cell(s.Cell)
	}
	t.Steps = append(t.Steps, s)
}

// StepError says at which step a transcript breaks the rules. Step 0 is the start; the number of steps plus 1 is the end.
type StepError struct {
	Step int
	Msg  string
}

// Error returns "move 3: message", or the message alone for start and end.
func (e *StepError) Error() string {
	if e.Step == 0 {
		return "start: " + e.Msg
	}
	return fmt.Sprintf("move %d: %s", e.Step, e.Msg)
}

// Replay replays a transcript, calls onFrame, if it is not nil, with every frame, and returns the result of the game without Index and Time. The error
// is a *StepError if the transcript breaks the rules or ends before the game is over.
func (m Match) Replay(t *Transcript, onFrame func(Frame)) (Game, error) {
	rules, err := game.New(m.Shape)
	if err != nil {
		return Game{}, err
	}
	r := replay{match: m, rules: rules, onFrame: onFrame}
	if err := r.start(t.Start); err != nil {
		return r.game, err
	}
	for i, s := range t.Steps {
		if err := r.step(s); err != nil {
			return r.game, &StepError{i + 1, err.Error()}
		}
	}
	if err := r.end(t.Overflow); err != nil {
		return r.game, &StepError{len(t.Steps) + 1, err.Error()}
	}
	return r.game, nil
}

// replay applies the steps of a transcript and checks them.
type replay struct {
	match   Match
	rules   *game.Rules
	onFrame func(Frame)
	game    Game
	board   game.Wide
}

func (r *replay) start(b game.Board) error {
	w := game.Wide{Low: b}
	r.board, r.game = w, Game{Spawns: 2}
	tiles := 0
	for i := range game.MaxCells {
		exp := b.Cell(i)
		if exp > 2 || exp > 0 && i >= r.match.Shape.Cells() {
			return &StepError{0, fmt.Sprintf("tile %d in cell %d, want a 2 or a 4 on the %v board", game.Value(exp), i, r.match.Shape)}
		}
		tiles += min(exp, 1)
	}
	if tiles != 2 {
		return &StepError{0, fmt.Sprintf("%d tiles, want 2", tiles)}
	}
	r.game.Max = b.Max()
	r.checkWin(w)
	if r.onFrame != nil {
		r.onFrame(Frame{Moved: w, Board: w})
	}
	return nil
}

func (r *replay) step(s Step) error {
	if r.over() {
		return errors.New("the game ended before it")
	}
	if legal := r.rules.LegalWide(r.board); !legal.Has(s.Dir) {
		return fmt.Errorf("%v is not legal, want one of %v", s.Dir, legal)
	}
	moved, score, err := r.rules.MoveWide(r.board, s.Dir)
	if err != nil {
		return err
	}
	r.game.Moves++
	r.game.Score += int64(score)
	r.checkWin(moved)
	r.board = moved
	switch ended := r.game.Won && !r.match.PlayOn; {
	case ended && s.Exp != 0:
		return errors.New("the move wins the game, want no new tile after it")
	case !ended && s.Exp == 0:
		return errors.New("no new tile, want one")
	case !ended:
		if err := r.spawn(s); err != nil {
			return err
		}
	}
	r.game.Max = r.board.Max()
	if r.onFrame != nil {
		r.onFrame(Frame{Moves: r.game.Moves, Dir: s.Dir, Moved: moved, Board: r.board, Score: r.game.Score})
	}
	return nil
}

func (r *replay) spawn(s Step) error {
	switch {
	case s.Exp != 1 && s.Exp != 2:
		return fmt.Errorf("the new tile is %d, want 2 or 4", game.Value(s.Exp))
	case s.Cell < 0 || s.Cell >= r.match.Shape.Cells():
		return fmt.Errorf("the new tile is in cell %d, want 0 to %d", s.Cell, r.match.Shape.Cells()-1)
	case r.board.Cell(s.Cell) != 0:
		return fmt.Errorf("the new tile is in cell %d, where %d is, want an empty cell", s.Cell, game.Value(r.board.Cell(s.Cell)))
	}
	r.board = r.board.With(s.Cell, s.Exp)
	r.game.Spawns++
	r.checkWin(r.board)
	return nil
}

func (r *replay) checkWin(b game.Wide) {
	if !r.game.Won && r.match.won(b) {
		r.game.Won, r.game.WinMoves = true, r.game.Moves
	}
}

// over reports whether the game has ended.
func (r *replay) over() bool { return r.game.Won && !r.match.PlayOn || r.rules.LegalWide(r.board) == 0 }

// end checks that the game is over: won, lost, or given up by its player with Game.Overflow, as the end line says.
func (r *replay) end(overflow bool) error {
	if r.over() {
		return nil
	}
	if r.game.Overflow = overflow && r.board.AtLeast(game.MaxExponent-1); r.game.Overflow {
		return nil
	}
	legal := r.rules.LegalWide(r.board)
	return fmt.Errorf("the record ends here, want a game that is over: %v is legal", legal)
}
