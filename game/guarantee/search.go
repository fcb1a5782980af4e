package guarantee

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
	"tilecheck/internal/noun"
)

// Options say what to search.
type Options struct {
	Rules *game.Rules
	Max   int // exponent of the tile, 2 to game.MaxExponent
	// Boards is the largest number of boards that are decided; 0 means no limit. A board takes up to 36 bytes.
	Boards int
	// Progress, if not nil, is called with the number of boards that are decided.
	Progress func(decided int)
}

// LimitError says that a search has decided as many boards as it may.
type LimitError struct{ Boards int }

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s are decided, and the answer is still unknown", noun.Count(e.Boards, "board"))
}

// BoardsFor returns the number of boards for Options.Boards that fits a memory limit in bytes.
func BoardsFor(memory int64) int { return max(1, int(memory/tableBytes)) }

// Found is the answer of a search, with all that its certificate needs.
type Found struct {
	Guaranteed bool
	Decided    int // boards that the search decided
	search     *searcher
}

// What the table says of a board on which the player moves.
const (
	wins  = 1 // the player can make the tile for certain
	loses = 2 // the spawner can prevent it
)

// searcher decides boards depth-first.
type searcher struct {
	Options
	cells   int
	grades  *grades
	decided *table
	ctx     context.Context
	err     error // that of ctx, or a *LimitError: the search ends
}

// Search decides whether a tile is guaranteed. The error is a *LimitError, or that of ctx.
func Search(ctx context.Context, opt Options) (*Found, error) {
	switch {
	case opt.Rules == nil:
		return nil, errors.New("no rules are given, want those of a board")
	case opt.Max < 2 || opt.Max > game.MaxExponent:
		return nil, fmt.Errorf("the tile is 2^%d, want 2^2 to 2^%d", opt.Max, game.MaxExponent)
	}
	s := &searcher{
		Options: opt, cells: opt.Rules.Shape().Cells(), grades: newGrades(opt.Rules.Shape()), decided: newTable(), ctx: ctx, err: ctx.Err(),
	}
	all := true
	for _, first := range s.spawned(0) {
		all = all && (first.AtLeast(opt.Max) || s.afterstateWins(first))
	}
	if s.err != nil {
		return nil, s.err
	}
	return &Found{Guaranteed: all, Decided: s.decided.count, search: s}, nil
}

// ratedBoard is a board with a grade, by which boards are ordered.
type ratedBoard struct {
	board game.Board
	grade int
}

// insert inserts a board before those with a lower grade, and after those with the same.
func insert(to []ratedBoard, r ratedBoard) []ratedBoard {
	to = append(to, r)
	i := len(to) - 1
	for ; i > 0 && to[i-1].grade < r.grade; i-- {
		to[i] = to[i-1]
	}
	to[i] = r
	return to
}

// positionWins decides a canonical board on which the player moves. Its result means nothing if s.err is set.
func (s *searcher) positionWins(b game.Board) bool {
	if known := s.decided.get(b); known != 0 {
		return known == wins
	}
	var space [4]ratedBoard
	moves := space[:0]
	result := uint8(loses)
	var next [4]game.Board
	legal, _ := s.Rules.Moved(b, &next) // no overflow: there is no tile above 2^14
	for i := range legal.Len() {
		after := next[legal.At(i)]
		if after.AtLeast(s.Max) {
			result = wins
			break
		}
		moves = insert(moves, ratedBoard{after, s.grades.corner(after)})
	}
	for i := 0; i < len(moves) && result == loses; i++ {
		if s.afterstateWins(moves[i].board) {
			result = wins
		}
		if s.err != nil {
			return false
		}
	}
	s.decided.set(b, result)
	s.checkLimits()
	return result == wins
}

// afterstateWins decides a board on which a new tile comes. Its result means nothing if s.err is set.
func (s *searcher) afterstateWins(after game.Board) bool {
	var space [2 * game.MaxCells]ratedBoard
	open := space[:0]
	for i := range s.cells {
		if after>>(4*i)&15 != 0 {
			continue
		}
		for exp := range game.Board(2) {
			if int(exp)+1 >= s.Max {
				continue // the new tile wins
			}
			b, _ := s.Rules.Canonical(after | (exp+1)<<(4*i))
			switch s.decided.get(b) {
			case loses:
				return false
			case wins:
			default:
				open = insert(open, ratedBoard{b, -s.grades.freedom(b)})
			}
		}
	}
	for _, r := range open {
		if !s.positionWins(r.board) {
			return false
		}
	}
	return true
}

// spawned returns the canonical boards after a new tile. If a 4 wins, boards with it are among them.
func (s *searcher) spawned(after game.Board) []game.Board {
	var all []game.Board
	for i := range s.cells {
		if after>>(4*i)&15 == 0 {
			for exp := range game.Board(2) {
				b, _ := s.Rules.Canonical(after | (exp+1)<<(4*i))
				all = append(all, b)
			}
		}
	}
	return all
}

// limitInterval is the number of decided boards between two checks of the context.
const limitInterval = 1 << 14

// checkLimits sets s.err if a limit is reached.
func (s *searcher) checkLimits() {
	n := s.decided.count
	if s.Boards > 0 && n >= s.Boards {
		s.err = &LimitError{n}
	}
	if n%limitInterval == 0 {
		if s.ctx.Err() != nil {
			s.err = context.Cause(s.ctx)
		}
		if s.Progress != nil {
			s.Progress(n)
		}
	}
}
