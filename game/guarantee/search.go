package guarantee

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"tilecheck/game"
	"tilecheck/internal/noun"
)

// Options say what to search.
type Options struct {
	Rules *game.Rules // those of game.New
	Max   int         // exponent of the tile, 2 to game.MaxExponent
	// Memory is an approximate limit in bytes; 0 means no limit.
	Memory int64
	// Workers is the number of goroutines; 0 means one for each processor. The result does not depend on it.
	Workers int
	// Progress, if not nil, is called with the number of boards that are decided.
	Progress func(decided int)
}

// LimitError says that a search has decided as many boards as fit the memory.
type LimitError struct{ Boards int }

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s are decided, and the answer is still unknown", noun.Count(e.Boards, "board"))
}

// Found is the answer of a search, with all that its certificate needs.
type Found struct {
	Guaranteed bool
	Decided    int // boards that the search decided
	problem    problem
	decided    decisions
}

// problem is what is searched.
type problem struct {
	rules   *game.Rules
	max     int
	cells   int
	workers int
}

// fewBoards is the number of boards that a depth-first search decides in a second or two. If it needs more, retrograde analysis is faster.
const fewBoards = 1 << 20

// Search decides whether the player can always reach a tile, whatever tiles come. It first searches depth-first. If that exceeds fewBoards boards, it
// decides all boards by retrograde analysis, if the memory suffices. The error is a *LimitError, or an error of ctx.
func Search(ctx context.Context, opt Options) (*Found, error) {
	switch {
	case opt.Rules == nil:
		return nil, errors.New("no rules are given, want those of a board")
	case opt.Max < 2 || opt.Max > game.MaxExponent:
		return nil, fmt.Errorf("the tile is 2^%d, want 2^2 to 2^%d", opt.Max, game.MaxExponent)
	}
	boardHalves, err := newHalves(opt.Rules.Shape(), opt.Max)
	if err != nil {
		return nil, err
	}
	limit := math.MaxInt
	if opt.Memory > 0 {
		limit = max(1, int(opt.Memory/tableBytes))
	}
	if boardHalves == nil {
		return depthFirst(ctx, opt, limit)
	}
	depthFirstResult, err := depthFirst(ctx, opt, min(limit, fewBoards))
	if _, reached := errors.AsType[*LimitError](err); !reached {
		return depthFirstResult, err
	}
	for _, candidate := range boardHalves.horizons(opt.Max) {
		if opt.Memory > 0 && boardHalves.analysisBytes(candidate.half) > opt.Memory {
			continue
		}
		if depthFirstResult, err := backwards(ctx, opt, boardHalves, candidate); err != nil || depthFirstResult != nil {
			return depthFirstResult, err
		}
	}
	return depthFirst(ctx, opt, limit)
}

// backwards decides by retrograde analysis. The tile is guaranteed if the player wins on all boards with two tiles. It returns nil if this depends on
// boards beyond the horizon.
func backwards(ctx context.Context, opt Options, boardHalves *halves, top horizon) (*Found, error) {
	analysis, err := analyse(ctx, opt, boardHalves, top)
	if err != nil {
		return nil, err
	}
	result := &Found{Guaranteed: true, Decided: analysis.numDecided, problem: newProblem(opt), decided: analysis}
	for _, firstBoard := range result.problem.spawned(0) {
		for _, board := range result.problem.spawned(firstBoard) {
			result.Guaranteed = result.Guaranteed && analysis.get(analysis.key(board), board.Sum()/2) == wins
		}
	}
	if top.half < boardHalves.greatestHalf() && result.Guaranteed == top.won {
		return nil, nil
	}
	return result, nil
}

func newProblem(opt Options) problem {
	workers := opt.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return problem{rules: opt.Rules, max: opt.Max, cells: opt.Rules.Shape().Cells(), workers: workers}
}

// searcher decides boards depth-first.
type searcher struct {
	problem
	limit    int // of the decided boards
	progress func(decided int)
	grades   *grades
	decided  *table
	ctx      context.Context
	err      error // that of ctx, or a *LimitError: the search ends
}

// depthFirst decides by depth-first search. limit is the greatest number of boards that it decides.
func depthFirst(ctx context.Context, opt Options, limit int) (*Found, error) {
	search := &searcher{
		problem: newProblem(opt), limit: limit, progress: opt.Progress, grades: newGrades(opt.Rules.Shape()), decided: newTable(), ctx: ctx, err: ctx.Err(),
	}
	allWin := true
	for _, firstBoard := range search.spawned(0) {
		allWin = allWin && (firstBoard.AtLeast(search.max) || search.afterstateWins(firstBoard))
	}
	if search.err != nil {
		return nil, search.err
	}
	return &Found{Guaranteed: allWin, Decided: search.decided.count, problem: search.problem, decided: tableDecisions{search.decided, search.rules}}, nil
}

// ratedBoard is a board with a grade, by which boards are ordered.
type ratedBoard struct {
	board game.Board
	grade int
}

// insert inserts a board into boards with descending grades, behind those with the same grade.
func insert(sorted []ratedBoard, added ratedBoard) []ratedBoard {
	sorted = append(sorted, added)
	position := len(sorted) - 1
	for ; position > 0 && sorted[position-1].grade < added.grade; position-- {
		sorted[position] = sorted[position-1]
	}
	sorted[position] = added
	return sorted
}

// positionWins reports whether the player wins on a canonical board on which the player moves. It remembers the result. The result means nothing if
// s.err is set.
func (s *searcher) positionWins(board game.Board) bool {
	if value := s.decided.get(board); value != 0 {
		return value == wins
	}
	var buffer [4]ratedBoard
	moves := buffer[:0]
	result := uint8(loses)
	var moved [4]game.Board
	legal, _ := s.rules.Moved(board, &moved) // no overflow: there is no tile above 2^14
	for i := range legal.Len() {
		afterstate := moved[legal.At(i)]
		if afterstate.AtLeast(s.max) {
			result = wins
			break
		}
		moves = insert(moves, ratedBoard{afterstate, s.grades.corner(afterstate)})
	}
	for i := 0; i < len(moves) && result == loses; i++ {
		if s.afterstateWins(moves[i].board) {
			result = wins
		}
		if s.err != nil {
			return false
		}
	}
	s.decided.set(board, result)
	s.checkLimits()
	return result == wins
}

// afterstateWins reports whether the player wins on a board whatever new tile comes. The result means nothing if s.err is set.
func (s *searcher) afterstateWins(afterstate game.Board) bool {
	var buffer [2 * game.MaxCells]ratedBoard
	undecided := buffer[:0]
	for cell := range s.cells {
		if afterstate>>(4*cell)&15 != 0 {
			continue
		}
		for exp := range game.Board(2) {
			if int(exp)+1 >= s.max {
				continue // the new tile wins
			}
			board, _ := s.rules.Canonical(afterstate | (exp+1)<<(4*cell))
			switch s.decided.get(board) {
			case loses:
				return false
			case wins:
			default:
				undecided = insert(undecided, ratedBoard{board, -s.grades.freedom(board)})
			}
		}
	}
	for _, rated := range undecided {
		if !s.positionWins(rated.board) {
			return false
		}
	}
	return true
}

// spawned returns the canonical boards after a new tile. If a 4 wins, boards with it are among them.
func (p problem) spawned(afterstate game.Board) []game.Board {
	var boards []game.Board
	for cell := range p.cells {
		if afterstate>>(4*cell)&15 == 0 {
			for exp := range game.Board(2) {
				board, _ := p.rules.Canonical(afterstate | (exp+1)<<(4*cell))
				boards = append(boards, board)
			}
		}
	}
	return boards
}

// limitInterval is the number of decided boards between two checks of the context.
const limitInterval = 1 << 14

// checkLimits sets s.err if the number of decided boards reaches the limit or ctx has ended. It also reports the progress.
func (s *searcher) checkLimits() {
	decided := s.decided.count
	if decided >= s.limit {
		s.err = &LimitError{decided}
	}
	if decided%limitInterval == 0 {
		if s.ctx.Err() != nil {
			s.err = context.Cause(s.ctx)
		}
		if s.progress != nil {
			s.progress(decided)
		}
	}
}
