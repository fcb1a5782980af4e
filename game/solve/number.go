package solve

// numbering maps boards to consecutive numbers in the same order: the exponents of the cells are the digits. Files store differences of these
// numbers, which are shorter than differences of boards.
type numbering struct {
	base   uint64           // number of lines of four cells
	boards uint64           // number of boards of sixteen cells
	rank   *[1 << 16]uint16 // number of each line of four cells
	line   *[1 << 16]uint16 // the line of each number below base
}

// newNumbering returns the numbering of boards whose exponents are less than numExponents, a number from 2 to 15. The number of a board has a digit
// for each group of four cells.
func newNumbering(numExponents int) *numbering {
	result := &numbering{base: 1, rank: new([1 << 16]uint16), line: new([1 << 16]uint16)}
	for range 4 {
		result.base *= uint64(numExponents)
	}
	result.boards = result.base * result.base * result.base * result.base
	for number := range result.base {
		line, place := uint16(0), 0
		for remaining := number; remaining > 0; remaining /= uint64(numExponents) {
			line |= uint16(remaining%uint64(numExponents)) << place
			place += 4
		}
		result.line[number], result.rank[line] = line, uint16(number)
	}
	return result
}

// number returns the number of a board.
func (n *numbering) number(board uint64) uint64 {
	d := n.decode(board)
	square := n.base * n.base
	return (d.digits[2]*n.base+d.digits[1])*square + d.digits[0]*n.base + d.low
}

// decoderState is a number split into digits, one for each four cells, and the board without its lowest four cells.
type decoderState struct {
	low    uint64
	digits [3]uint64 // above low
	high   uint64
}

func (n *numbering) decode(board uint64) decoderState {
	return decoderState{
		low:    uint64(n.rank[board&0xFFFF]),
		digits: [3]uint64{uint64(n.rank[board>>16&0xFFFF]), uint64(n.rank[board>>32&0xFFFF]), uint64(n.rank[board>>48])},
		high:   board &^ 0xFFFF,
	}
}

// carry adds the overflow of the low part of a number to its higher digits. It returns false if no board has the resulting number.
func (n *numbering) carry(state *decoderState) bool {
	carried := state.low / n.base
	state.low -= carried * n.base
	for i := range state.digits {
		sum := state.digits[i] + carried
		if carried = 0; sum >= n.base {
			carried = sum / n.base
			sum -= carried * n.base
		}
		state.digits[i] = sum
		shift := 16*i + 16
		state.high = state.high&^(0xFFFF<<shift) | uint64(n.line[uint16(sum)])<<shift
		if carried == 0 {
			return true
		}
	}
	return false
}
