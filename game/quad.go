package game

// quad is the moves of 4x4 boards through tables, without overflow.
type quad struct {
	// rowMoves has both outcomes of a row: to the left in the low half, to the right in the high half.
	rowMoves *[1 << 16]uint32
	// columnMoves has both outcomes of a column as cells in four rows: upwards in cells 0, 4, 8, 12, downwards in 2, 6, 10, 14.
	columnMoves *[1 << 16]uint64
	// gains has the scores of rows, and of columns, divided by scoreUnit.
	gains *[1 << 16]uint16
}

// newQuad makes the tables from the tables of lines of four cells.
func newQuad(s *slider) *quad {
	result := &quad{rowMoves: (*[1 << 16]uint32)(s.bothMoves), gains: (*[1 << 16]uint16)(s.gains), columnMoves: new([1 << 16]uint64)}
	for line, both := range result.rowMoves {
		result.columnMoves[line] = s.spread[both&0xFFFF] | s.spread[both>>16]<<8
	}
	return result
}

const (
	evenRows = 0x0000_FFFF_0000_FFFF // rows 0 and 2
	leftCols = 0x00FF_00FF_00FF_00FF // columns 0 and 1
)

// moved is Rules.Moved. Eight look-ups make four boards: a, b, c, d are what rows 0 to 3 become, x to the left and y to the right. The
// odd parts of even change places with the even parts of odd.
//
//	even = ax ay cx cy                     left  = ax bx cx dx
//	odd  = bx by dx dy  (16 bits each)     right = ay by cy dy
//
// Columns are the same with a cell in place of a row.
func (q *quad) moved(board Board, moved *[4]Board) Moves {
	b := uint64(board)
	evenLines := uint64(q.rowMoves[uint16(b)]) | uint64(q.rowMoves[uint16(b>>32)])<<32
	oddLines := uint64(q.rowMoves[uint16(b>>16)]) | uint64(q.rowMoves[b>>48])<<32
	swap := (evenLines>>16 ^ oddLines) & evenRows
	moved[Left], moved[Right] = Board(evenLines^swap<<16), Board(oddLines^swap)

	leftColumns := q.columnMoves[column(b, 0)] | q.columnMoves[column(b, 1)]<<4
	rightColumns := q.columnMoves[column(b, 2)] | q.columnMoves[column(b, 3)]<<4
	swap = (leftColumns>>8 ^ rightColumns) & leftCols
	moved[Up], moved[Down] = Board(leftColumns^swap<<8), Board(rightColumns^swap)
	return changed(board, moved)
}

// column returns a column of b as a line. The product has cell i of the column, times each power of two in it, once where it belongs in
// the top 16 bits; the other three are below them or beyond them, none in the same place. It takes less time than Transpose4x4.
func column(b uint64, col int) uint64 {
	const mask, shifts = 0x000F_000F_000F_000F, 1<<48 | 1<<36 | 1<<24 | 1<<12
	return b & (mask << (4 * col)) * (shifts >> (4 * col)) >> 48
}

// move is Rules.Move.
func (q *quad) move(b uint64, dir Dir) (moved uint64, score int) {
	x := b
	if dir >= Up {
		x = Transpose4x4(b)
	}
	r0, r1, r2, r3 := uint16(x), uint16(x>>16), uint16(x>>32), uint16(x>>48)
	score = scoreUnit * (int(q.gains[r0]) + int(q.gains[r1]) + int(q.gains[r2]) + int(q.gains[r3]))
	half := 16 * (dir & 1) // the end is in the high half
	moved = uint64(uint16(q.rowMoves[r0]>>half)) | uint64(uint16(q.rowMoves[r1]>>half))<<16 |
		uint64(uint16(q.rowMoves[r2]>>half))<<32 | uint64(uint16(q.rowMoves[r3]>>half))<<48
	if dir >= Up {
		moved = Transpose4x4(moved)
	}
	return moved, score
}

// scores is Rules.Scores.
func (q *quad) scores(b uint64) (horizontal, vertical int) {
	horizontal = int(q.gains[uint16(b)]) + int(q.gains[uint16(b>>16)]) + int(q.gains[uint16(b>>32)]) + int(q.gains[b>>48])
	vertical = int(q.gains[column(b, 0)]) + int(q.gains[column(b, 1)]) + int(q.gains[column(b, 2)]) + int(q.gains[column(b, 3)])
	return horizontal * scoreUnit, vertical * scoreUnit
}
