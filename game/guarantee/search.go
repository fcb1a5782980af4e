package guarantee

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tilecheck/game"
	"tilecheck/internal/noun"
)

// Options say what to search.
type Options struct {
	Rules *game.Rules // those of game.New
	Max   int         // exponent of the tile, 2 to game.MaxExponent
	// Memory is an approximate limit in bytes; 0 means no limit.
	Memory int64
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
	rules *game.Rules
	max   int
	cells int
}

// decisions has what is known of the boards on which the player moves: wins, loses, or 0 if nothing is.
type decisions interface {
	get(b game.Board) uint8
}

const (
	wins  = 1 // the player can make the tile for certain
	loses = 2 // the spawner can prevent it
)

// fewBoards is the number of boards that a depth-first search decides in a second or two. If it needs more, retrograde analysis is faster.
const fewBoards = 1 << 20

// Search decides whether a tile is guaranteed. The error is a *LimitError, or that of ctx.
func Search(ctx context.Context, opt Options) (*Found, error) {
	switch {
	case opt.Rules == nil:
		return nil, errors.New("no rules are given, want those of a board")
	case opt.Max < 2 || opt.Max > game.MaxExponent:
		return nil, fmt.Errorf("the tile is 2^%d, want 2^2 to 2^%d", opt.Max, game.MaxExponent)
	}
	h, err := newHalves(opt.Rules.Shape(), opt.Max)
	if err != nil {
		return nil, err
	}
	limit := math.MaxInt
	if opt.Memory > 0 {
		limit = max(1, int(opt.Memory/tableBytes))
	}
	if h == nil || opt.Memory > 0 && h.analysisBytes() > opt.Memory {
		return depthFirst(ctx, opt, limit)
	}
	found, err := depthFirst(ctx, opt, min(limit, fewBoards))
	if _, reached := errors.AsType[*LimitError](err); reached {
		return backwards(ctx, opt, h)
	}
	return found, err
}

// backwards decides by retrograde analysis.
func backwards(ctx context.Context, opt Options, h *halves) (*Found, error) {
	analysis, err := analyse(ctx, h, opt.Progress)
	if err != nil {
		return nil, err
	}
	found := &Found{Guaranteed: true, Decided: analysis.decided, problem: newProblem(opt), decided: analysis}
	for _, first := range found.problem.spawned(0) {
		for _, b := range found.problem.spawned(first) {
			found.Guaranteed = found.Guaranteed && analysis.get(b) == wins
		}
	}
	return found, nil
}

func newProblem(opt Options) problem {
	return problem{rules: opt.Rules, max: opt.Max, cells: opt.Rules.Shape().Cells()}
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
	s := &searcher{
		problem: newProblem(opt), limit: limit, progress: opt.Progress, grades: newGrades(opt.Rules.Shape()), decided: newTable(), ctx: ctx, err: ctx.Err(),
	}
	all := true
	for _, first := range s.spawned(0) {
		all = all && (first.AtLeast(s.max) || s.afterstateWins(first))
	}
	if s.err != nil {
		return nil, s.err
	}
	return &Found{Guaranteed: all, Decided: s.decided.count, problem: s.problem, decided: s.decided}, nil
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
	legal, _ := s.rules.Moved(b, &next) // no overflow: there is no tile above 2^14
	for i := range legal.Len() {
		after := next[legal.At(i)]
		if after.AtLeast(s.max) {
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
			if int(exp)+1 >= s.max {
				continue // the new tile wins
			}
			b, _ := s.rules.Canonical(after | (exp+1)<<(4*i))
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
func (p problem) spawned(after game.Board) []game.Board {
	var all []game.Board
	for i := range p.cells {
		if after>>(4*i)&15 == 0 {
			for exp := range game.Board(2) {
				b, _ := p.rules.Canonical(after | (exp+1)<<(4*i))
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
	if n >= s.limit {
		s.err = &LimitError{n}
	}
	if n%limitInterval == 0 {
		if s.ctx.Err() != nil {
			s.err = context.Cause(s.ctx)
		}
		if s.progress != nil {
			s.progress(n)
		}
	}
}
