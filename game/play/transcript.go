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

// add appends the step that led to a frame: the move and the new tile. The first frame gives the board at the start.
func (t *Transcript) add(frame Frame) {
	if frame.Moves == 0 {
		t.Start = frame.Board.Low
		return
	}
	step := Step{Dir: frame.Dir}
	if tile := uint64(frame.Board.Low ^ frame.Moved.Low); tile != 0 { // a new tile is a 2 or a 4
		step.Cell = bits.TrailingZeros64(tile) / 4
		step.Exp = frame.Board.Cell(step.Cell)
	}
	t.Steps = append(t.Steps, step)
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

// Replay replays a transcript, calls onFrame, if it is not nil, with every frame, and returns the result of the game without Index and Time. The
// error is a *StepError if the transcript breaks the rules or ends before the game is over.
func (m Match) Replay(transcript *Transcript, onFrame func(Frame)) (Game, error) {
	rules, err := game.New(m.Shape)
	if err != nil {
		return Game{}, err
	}
	replaying := replay{match: m, rules: rules, onFrame: onFrame}
	if err := replaying.setStart(transcript.Start); err != nil {
		return replaying.game, err
	}
	for i, step := range transcript.Steps {
		if err := replaying.playStep(step); err != nil {
			return replaying.game, &StepError{i + 1, err.Error()}
		}
	}
	if err := replaying.finish(transcript.Overflow); err != nil {
		return replaying.game, &StepError{len(transcript.Steps) + 1, err.Error()}
	}
	return replaying.game, nil
}

// replay applies the steps of a transcript and checks them.
type replay struct {
	match   Match
	rules   *game.Rules
	onFrame func(Frame)
	game    Game
	board   game.Wide
}

// setStart begins the game with a board. It returns an error unless the board has exactly two tiles, each a 2 or a 4.
func (r *replay) setStart(board game.Board) error {
	wideBoard := game.Wide{Low: board}
	r.board, r.game = wideBoard, Game{Spawns: 2}
	tiles := 0
	for cell := range game.MaxCells {
		tileExponent := board.Cell(cell)
		if tileExponent > 2 || tileExponent > 0 && cell >= r.match.Shape.Cells() {
			return &StepError{0, fmt.Sprintf("tile %d in cell %d, want a 2 or a 4 on the %v board", game.Value(tileExponent), cell, r.match.Shape)}
		}
		tiles += min(tileExponent, 1)
	}
	if tiles != 2 {
		return &StepError{0, fmt.Sprintf("%d tiles, want 2", tiles)}
	}
	r.game.Max = board.Max()
	r.checkWin(wideBoard)
	if r.onFrame != nil {
		r.onFrame(Frame{Moved: wideBoard, Board: wideBoard})
	}
	return nil
}

// step makes a move and adds the new tile. It returns an error if that breaks the rules.
func (r *replay) playStep(step Step) error {
	if r.isOver() {
		return errors.New("the game ended before it")
	}
	if legal := r.rules.LegalWide(r.board); !legal.Has(step.Dir) {
		return fmt.Errorf("%v is not legal, want one of %v", step.Dir, legal)
	}
	moved, score, err := r.rules.MoveWide(r.board, step.Dir)
	if err != nil {
		return err
	}
	r.game.Moves++
	r.game.Score += int64(score)
	r.checkWin(moved)
	r.board = moved
	switch hasEnded := r.game.Won && !r.match.PlayOn; {
	case hasEnded && step.Exp != 0:
		return errors.New("the move wins the game, want no new tile after it")
	case !hasEnded && step.Exp == 0:
		return errors.New("no new tile, want one")
	case !hasEnded:
		if err := r.spawn(step); err != nil {
			return err
		}
	}
	r.game.Max = r.board.Max()
	if r.onFrame != nil {
		r.onFrame(Frame{Moves: r.game.Moves, Dir: step.Dir, Moved: moved, Board: r.board, Score: r.game.Score})
	}
	return nil
}

// spawn adds the new tile of a step. It returns an error if the tile is not a 2 or a 4, or its cell is not empty.
func (r *replay) spawn(step Step) error {
	switch {
	case step.Exp != 1 && step.Exp != 2:
		return fmt.Errorf("the new tile is %d, want 2 or 4", game.Value(step.Exp))
	case step.Cell < 0 || step.Cell >= r.match.Shape.Cells():
		return fmt.Errorf("the new tile is in cell %d, want 0 to %d", step.Cell, r.match.Shape.Cells()-1)
	case r.board.Cell(step.Cell) != 0:
		return fmt.Errorf("the new tile is in cell %d, where %d is, want an empty cell", step.Cell, game.Value(r.board.Cell(step.Cell)))
	}
	r.board = r.board.With(step.Cell, step.Exp)
	r.game.Spawns++
	r.checkWin(r.board)
	return nil
}

func (r *replay) checkWin(board game.Wide) {
	if !r.game.Won && r.match.won(board) {
		r.game.Won, r.game.WinMoves = true, r.game.Moves
	}
}

// isOver reports whether the game has ended.
func (r *replay) isOver() bool {
	return r.game.Won && !r.match.PlayOn || r.rules.LegalWide(r.board) == 0
}

// finish returns an error unless the game is over: won, lost, or ended by the player because of a tile that is too large (overflow).
func (r *replay) finish(overflow bool) error {
	if r.isOver() {
		return nil
	}
	if r.game.Overflow = overflow && r.board.AtLeast(game.MaxExponent-1); r.game.Overflow {
		return nil
	}
	legal := r.rules.LegalWide(r.board)
	return fmt.Errorf("the record ends here, want a game that is over: %v is legal", legal)
}
