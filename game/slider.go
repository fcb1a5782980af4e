package game

// slid is the outcome of sliding one line, or every line of a board, both ways. The score and the overflow are the same both ways: every
// k equal tiles in a row, gaps left out, make k/2 merges.
type slid struct {
	start, end uint64 // the cells after sliding towards cell 0, and towards the last cell
	score      int
	overflow   bool // two tiles of 2^15 would merge; start and end are then the line as it was, the score is 0
}

// slideLine slides a line of n packed cells both ways by slide, which is slideToStart or publishedToStart.
func slideLine(line uint64, n int, slide lineSlide) slid {
	start, score, ok := slide(line, n)
	end, _, hasNoOverflow := slide(reversed(line, n), n)
	if !ok || !hasNoOverflow {
		return slid{start: line, end: line, overflow: true}
	}
	return slid{start: start, end: reversed(end, n), score: score}
}

// lineSlide slides a line of n packed cells towards cell 0. It reports false where a tile would not fit its cell.
type lineSlide func(line uint64, n int) (cells uint64, score int, ok bool)

// publishedToStart is [SlidePublished] on packed cells.
func publishedToStart(line uint64, n int) (cells uint64, score int, ok bool) {
	cells, score, ok = slideToStart(line, n)
	if n != 4 || !ok {
		return cells, score, ok
	}
	const third = 8 // bits below the third cell
	switch a, b, c, d := line&15, line>>4&15, line>>8&15, line>>12; {
	case a != 0 && b != 0 && c != 0 && d == 0 && score == 0:
		cells &^= 15 << third
	case a != 0 && a == b && c != 0 && d == MaxExponent && c != d:
		return 0, 0, false
	case a != 0 && a == b && c != 0 && d != 0 && c != d:
		cells += 1 << third
	}
	return cells, score, true
}

// slideToStart slides a line of n packed cells towards cell 0. It reports false where two tiles of 2^15 would merge.
func slideToStart(line uint64, n int) (cells uint64, score int, ok bool) {
	var lastTile uint64 // the tile that the next one may merge with, not yet in cells
	shift := 0
	put := func(exponent uint64) {
		cells |= exponent << shift
		shift += 4
	}
	for i := range n {
		exponent := line >> (4 * i) & 15
		switch {
		case exponent == 0:
		case exponent == lastTile && exponent == MaxExponent:
			return 0, 0, false
		case exponent == lastTile:
			put(exponent + 1)
			score += Value(int(exponent + 1))
			lastTile = 0
		default:
			if lastTile != 0 {
				put(lastTile)
			}
			lastTile = exponent
		}
	}
	if lastTile != 0 {
		put(lastTile)
	}
	return cells, score, true
}

// reversed returns a line of n packed cells in reverse order.
func reversed(line uint64, n int) uint64 {
	var result uint64
	for i := range n {
		result = result<<4 | line>>(4*i)&15
	}
	return result
}

// maxTabled is the length of the longest line that slides through tables.
const maxTabled = 4

// scoreUnit divides every score. A line scores 2^14 times it at most: two merges into 2^15.
const scoreUnit = 4

// slider slides all lines of a board, which lie one after the other.
type slider struct {
	cells int // of a line
	lines int // of a board
	line  lineSlide

	// The tables, indexed by a line; nil when cells > maxTabled. A line that overflows is there as if it could not move.
	bothMoves []uint32 // after the move: towards the start in the low half, towards the end in the high half
	gains     []uint16 // the score divided by scoreUnit
	spread    []uint64 // the line's cells put so far apart as there are lines
}

func newSlider(lines, cells int, line lineSlide) slider {
	s := slider{cells: cells, lines: lines, line: line}
	if cells > maxTabled {
		return s
	}
	size := 1 << (4 * cells)
	s.bothMoves, s.gains, s.spread = make([]uint32, size), make([]uint16, size), make([]uint64, size)
	for line := range uint64(size) {
		lineResult := slideLine(line, cells, s.line)
		s.bothMoves[line] = uint32(lineResult.start | lineResult.end<<16)
		s.gains[line] = uint16(lineResult.score / scoreUnit)
		s.spread[line] = s.spreadLine(line)
	}
	return s
}

// spreadLine puts the cells of a line so far apart as there are lines.
func (s *slider) spreadLine(line uint64) uint64 {
	var result uint64
	for i := range s.cells {
		result |= line >> (4 * i) & 15 << (4 * i * s.lines)
	}
	return result
}

// transposed makes lines of what lies across the lines of b: the first cells of all lines, then the second, and so on.
func (s *slider) transposed(b uint64) uint64 {
	var result uint64
	width := 4 * s.cells
	if s.spread == nil {
		for i := range s.lines {
			result |= s.spreadLine(b>>(width*i)) << (4 * i)
		}
		return result
	}
	for i := range s.lines {
		line := int(b>>(width*i&63)) & (len(s.spread) - 1)
		result |= s.spread[line] << (4 * i & 63)
	}
	return result
}

// slide slides every line of b.
func (s *slider) slide(b uint64) slid {
	if s.bothMoves == nil || manyLargest(Board(b)) {
		return s.slideEach(b)
	}
	var result slid
	width := 4 * s.cells
	gain := 0
	for shift := 0; shift < width*s.lines; shift += width {
		line := int(b>>(shift&63)) & (len(s.bothMoves) - 1)
		lineMoves := uint64(s.bothMoves[line])
		result.start |= lineMoves & 0xFFFF << (shift & 63)
		result.end |= lineMoves >> 16 << (shift & 63)
		gain += int(s.gains[line])
	}
	result.score = gain * scoreUnit
	return result
}

// slideEach is slide without tables, and with overflow: if one line overflows, all of b stays as it was.
func (s *slider) slideEach(b uint64) slid {
	var result slid
	width := 4 * s.cells
	for shift := 0; shift < width*s.lines; shift += width {
		lineResult := slideLine(b>>shift&(1<<width-1), s.cells, s.line)
		if lineResult.overflow {
			return slid{start: b, end: b, overflow: true}
		}
		result.start |= lineResult.start << shift
		result.end |= lineResult.end << shift
		result.score += lineResult.score
	}
	return result
}
