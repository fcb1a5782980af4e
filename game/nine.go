package game

// nine is the moves of 3x3 boards through tables, without overflow. Its tables are small: columns are looked up like rows.
type nine struct {
	rows  *[1 << 12]uint32 // both outcomes of a row: to the left in the low half, to the right in the high half
	gains *[1 << 12]uint16
}

func newNine(s *slider) *nine {
	return &nine{rows: (*[1 << 12]uint32)(s.bothMoves), gains: (*[1 << 12]uint16)(s.gains)}
}

// moved is Rules.Moved.
func (n *nine) moved(board Board, moved *[4]Board) Moves {
	b := uint64(board)
	leftMove, rightMove := n.slideRows(b)
	upMove, downMove := n.slideRows(transpose3x3(b))
	moved[Left], moved[Right] = Board(leftMove), Board(rightMove)
	moved[Up], moved[Down] = Board(transpose3x3(upMove)), Board(transpose3x3(downMove))
	return changed(board, moved)
}

// both moves the rows to the left and to the right.
func (n *nine) slideRows(b uint64) (left, right uint64) {
	const row = 1<<12 - 1
	r0, r1, r2 := uint64(n.rows[b&row]), uint64(n.rows[b>>12&row]), uint64(n.rows[b>>24&row])
	return r0&row | r1&row<<12 | r2&row<<24, r0>>16 | r1>>16<<12 | r2>>16<<24
}

// move is Rules.Move.
func (n *nine) move(b uint64, dir Dir) (moved uint64, score int) {
	x := b
	if dir >= Up {
		x = transpose3x3(b)
	}
	moved, right := n.slideRows(x)
	if dir == Right || dir == Down {
		moved = right
	}
	if dir >= Up {
		moved = transpose3x3(moved)
	}
	return moved, n.score(x)
}

// score is that of moving the rows.
func (n *nine) score(b uint64) int {
	const row = 1<<12 - 1
	return scoreUnit * (int(n.gains[b&row]) + int(n.gains[b>>12&row]) + int(n.gains[b>>24&row]))
}
