package solve

// numbering numbers the boards of cells of so many exponents without gaps: cells are the digits of the number. The order is that of boards as
// numbers of four bits a cell. Files have differences of these numbers, which are shorter.
type numbering struct {
	base   uint64           // lines of four cells that there are
	boards uint64           // of sixteen cells
	rank   *[1 << 16]uint16 // of a line of four cells
	line   *[1 << 16]uint16 // the inverse of rank, of numbers below base
}

// newNumbering returns the numbering for exponents below exps, 2 to 15.
func newNumbering(exps int) *numbering {
	n := &numbering{base: 1, rank: new([1 << 16]uint16), line: new([1 << 16]uint16)}
	for range 4 {
		n.base *= uint64(exps)
	}
	n.boards = n.base * n.base * n.base * n.base
	for i := range n.base {
		line, place := uint16(0), 0
		for left := i; left > 0; left /= uint64(exps) {
			line |= uint16(left%uint64(exps)) << place
			place += 4
		}
		n.line[i], n.rank[line] = line, uint16(i)
	}
	return n
}

// number returns the number of a board.
func (n *numbering) number(board uint64) uint64 {
	d := n.at(board)
	square := n.base * n.base
	return (d.digits[2]*n.base+d.digits[1])*square + d.digits[0]*n.base + d.low
}

// place is where a decoder is: the digits of a number, of four cells each, and the board but for the lowest four cells.
type place struct {
	low    uint64
	digits [3]uint64 // above low
	high   uint64
}

func (n *numbering) at(board uint64) place {
	return place{
		low:    uint64(n.rank[board&0xFFFF]),
		digits: [3]uint64{uint64(n.rank[board>>16&0xFFFF]), uint64(n.rank[board>>32&0xFFFF]), uint64(n.rank[board>>48])},
		high:   board &^ 0xFFFF,
	}
}

// carry makes digits of a number whose low part has become too large. It reports false when no board has the number.
func (n *numbering) carry(p *place) bool {
	carried := p.low / n.base
	p.low -= carried * n.base
	for i := range p.digits {
		sum := p.digits[i] + carried
		if carried = 0; sum >= n.base {
			carried = sum / n.base
			sum -= carried * n.base
		}
		p.digits[i] = sum
		shift := 16*i + 16
		p.high = p.high&^(0xFFFF<<shift) | uint64(n.line[uint16(sum)])<<shift
		if carried == 0 {
			return true
		}
	}
	return false
}
