package game

// Slide moves a line of tile values (0 is an empty cell) towards its start and returns the line after the move, of the same length,
// and the score: the sum of the values of the merged tiles. Equal neighbours merge, the pair nearest the start first, and a merged
// tile does not merge again. line is not modified.
//
// It is written to be obviously right, not fast; any length and any value will do, and nothing overflows at 32768.
//
// Source: thesis section 3.1, figures 3.1 to 3.4.
func Slide(line []int) (out []int, score int) {
	var tiles []int
	for _, v := range line {
		if v != 0 {
			tiles = append(tiles, v)
		}
	}
	for len(tiles) > 0 {
		if len(tiles) > 1 && tiles[0] == tiles[1] {
			out = append(out, 2*tiles[0])
			score += 2 * tiles[0]
			tiles = tiles[2:]
		} else {
			out = append(out, tiles[0])
			tiles = tiles[1:]
		}
	}
	for len(out) < len(line) {
		out = append(out, 0)
	}
	return out, score
}

// slid is the outcome of sliding one line, or all lines, of packed cells.
type slid struct {
	cells    uint64
	score    int
	overflow bool // two tiles of 2^15 would merge; cells and score are then meaningless
}

// slidePacked slides a line of n packed cells towards cell 0.
func slidePacked(line uint64, n int) slid {
	var s slid
	var last uint64 // the tile that the next one may merge with, not yet in s.cells
	shift := 0
	put := func(exp uint64) {
		s.cells |= exp << shift
		shift += 4
	}
	for i := range n {
		exp := line >> (4 * i) & 15
		switch {
		case exp == 0:
		case exp == last && exp == MaxExponent:
			return slid{overflow: true}
		case exp == last:
			put(exp + 1)
			s.score += Value(int(exp + 1))
			last = 0
		default:
			if last != 0 {
				put(last)
			}
			last = exp
		}
	}
	if last != 0 {
		put(last)
	}
	return s
}

// reversed returns a line of n packed cells in reverse order.
func reversed(line uint64, n int) uint64 {
	var out uint64
	for i := range n {
		out = out<<4 | line>>(4*i)&15
	}
	return out
}

// maxTabled is the length of the longest line that slides through a table: 16^4 entries of 4 bytes.
const maxTabled = 4

// An entry of a table is a line after its move in the low 16 bits, above it its score divided by four in 15 bits (two merges into
// 2^15 make 2^14), above that one bit for overflow.
const (
	scoreShift   = 16
	scoreMask    = 1<<15 - 1
	scoreUnit    = 4
	overflowFlag = 1 << 31
)

func packEntry(s slid) uint32 {
	if s.overflow {
		return overflowFlag
	}
	return uint32(s.cells) | uint32(s.score/scoreUnit)<<scoreShift
}

// slider slides all lines of a board, which lie one after the other.
type slider struct {
	cells      int      // of a line
	lines      int      // of a board
	start, end []uint32 // tables towards cell 0 and towards the last cell; nil when cells > maxTabled
}

func newSlider(lines, cells int) slider {
	s := slider{cells: cells, lines: lines}
	if cells > maxTabled {
		return s
	}
	size := 1 << (4 * cells)
	s.start, s.end = make([]uint32, size), make([]uint32, size)
	for line := range uint64(size) {
		s.start[line] = packEntry(slidePacked(line, cells))
		s.end[line] = packEntry(slideToEnd(line, cells))
	}
	return s
}

func slideToEnd(line uint64, n int) slid {
	s := slidePacked(reversed(line, n), n)
	s.cells = reversed(s.cells, n)
	return s
}

// slide moves every line of b towards its start, or its end.
func (s *slider) slide(b uint64, toEnd bool) slid {
	table := s.start
	if toEnd {
		table = s.end
	}
	switch {
	case len(table) == 1<<16 && s.lines == 4:
		return lookUp4x4(b, (*[1 << 16]uint32)(table))
	case table != nil:
		return s.lookUp(b, table)
	case toEnd:
		return s.each(b, slideToEnd)
	}
	return s.each(b, slidePacked)
}

func (s *slider) lookUp(b uint64, table []uint32) slid {
	var cells uint64
	var score, flags uint32
	width := 4 * s.cells
	for shift := 0; shift < width*s.lines; shift += width {
		e := table[int(b>>shift)&(len(table)-1)]
		cells |= uint64(uint16(e)) << shift
		score += e >> scoreShift & scoreMask
		flags |= e
	}
	return slid{cells, int(score) * scoreUnit, flags >= overflowFlag}
}

// lookUp4x4 is lookUp unrolled.
func lookUp4x4(b uint64, table *[1 << 16]uint32) slid {
	e0, e1, e2, e3 := table[uint16(b)], table[uint16(b>>16)], table[uint16(b>>32)], table[b>>48]
	score := e0>>scoreShift&scoreMask + e1>>scoreShift&scoreMask + e2>>scoreShift&scoreMask + e3>>scoreShift&scoreMask
	return slid{
		cells:    uint64(uint16(e0)) | uint64(uint16(e1))<<16 | uint64(uint16(e2))<<32 | uint64(e3)<<48,
		score:    int(score) * scoreUnit,
		overflow: e0|e1|e2|e3 >= overflowFlag,
	}
}

func (s *slider) each(b uint64, slideLine func(uint64, int) slid) slid {
	var all slid
	width := 4 * s.cells
	for shift := 0; shift < width*s.lines; shift += width {
		one := slideLine(b>>shift&(1<<width-1), s.cells)
		all.cells |= one.cells << shift
		all.score += one.score
		all.overflow = all.overflow || one.overflow
	}
	return all
}
