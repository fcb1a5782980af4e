package game

// Moved makes all four moves at once: next[d] is the board after moving d, before the new tile. legal is Legal(b): the moves that change
// the board. It is what a search calls, and costs less than two calls of Move.
//
// overflow is the set of the moves that merge two tiles of 2^15: they are legal, but next[d] is b. It is empty unless there are two such
// tiles in one line; a caller must look at it, and answer ErrOverflow where Move would.
func (r *Rules) Moved(board Board, moved *[4]Board) (legal, overflow Moves) {
	switch {
	case manyLargest(board):
		return r.movedAny(board, moved)
	case r.quad != nil:
		return r.quad.moved(board, moved), 0
	case r.nine != nil:
		return r.nine.moved(board, moved), 0
	}
	return r.movedAny(board, moved)
}

// Scores returns the scores of the moves on a board: the sums of the values of the merged tiles. Left and Right have the same, and so have Up
// and Down. It is 0 for moves that overflow.
func (r *Rules) Scores(board Board) (horizontal, vertical int) {
	switch x := uint64(board); {
	case manyLargest(board):
		return r.scoresAny(board)
	case r.quad != nil:
		return r.quad.scores(x)
	case r.nine != nil:
		return r.nine.score(x), r.nine.score(transpose3x3(x))
	}
	return r.scoresAny(board)
}

// scoresAny is Scores on boards of any shape.
func (r *Rules) scoresAny(board Board) (horizontal, vertical int) {
	return r.rows.slide(uint64(board)).score, r.cols.slide(r.transposed(uint64(board))).score
}

// movedAny is Moved on boards of any shape.
func (r *Rules) movedAny(board Board, moved *[4]Board) (legal, overflow Moves) {
	rows, cols := r.rows.slide(uint64(board)), r.cols.slide(r.transposed(uint64(board)))
	*moved = [4]Board{
		Left: Board(rows.start), Right: Board(rows.end),
		Up: Board(r.untransposed(cols.start)), Down: Board(r.untransposed(cols.end)),
	}
	if rows.overflow {
		overflow |= 1<<Left | 1<<Right
	}
	if cols.overflow {
		overflow |= 1<<Up | 1<<Down
	}
	if r.isPublished {
		return r.Legal(board), overflow
	}
	return changed(board, moved) | overflow, overflow
}

// changed returns the directions in which next differs from b.
func changed(board Board, next *[4]Board) Moves {
	return flag(next[Left] != board) | flag(next[Right] != board)<<Right | flag(next[Up] != board)<<Up | flag(next[Down] != board)<<Down
}

// flag is 1 for true.
func flag(b bool) Moves {
	if b {
		return 1
	}
	return 0
}

// manyLargest reports whether there are two tiles of 2^15 or more, which a move may have to merge.
func manyLargest(board Board) bool {
	x := uint64(board)
	x &= x >> 1
	x &= x >> 2 & ones
	return x&(x-1) != 0
}
