package guarantee

// layer has a bit for each board without the winning tile whose tiles have one sum. The bits of the boards with the same left half are a row;
// they have the order of the right halves in their class.
type layer struct {
	*halves
	half      int   // half of the sum
	firstWord []int // of each class of the left half: its first word
	words     []uint64
}

// rowWords returns the number of words of a row.
func (h *halves) rowWords(class int) int { return (len(h.members[class]) + 63) / 64 }

// otherClass returns the class of the right halves that a class of left halves is with, and whether there is one.
func (h *halves) otherClass(half, class int) (other int, exists bool) {
	other = half - class
	return other, 0 <= other && other < len(h.members)
}

// layerWords returns the number of 64-bit words of a layer: the boards whose tiles have the sum 2*half.
func (h *halves) layerWords(half int) (words int) {
	for class, members := range h.members {
		if otherClass, exists := h.otherClass(half, class); exists {
			words += len(members) * h.rowWords(otherClass)
		}
	}
	return words
}

// newLayer returns an empty layer, with a bit for each board whose tiles have the sum 2*half. memory has the bits; all of them must be 0.
func (h *halves) newLayer(half int, memory []uint64) *layer {
	result := &layer{halves: h, half: half, firstWord: make([]int, len(h.members)), words: memory}
	firstWord := 0
	for class, members := range h.members {
		result.firstWord[class] = firstWord
		if otherClass, exists := h.otherClass(half, class); exists {
			firstWord += len(members) * h.rowWords(otherClass)
		}
	}
	return result
}

// start returns the first word of a row.
func (l *layer) start(left uint32) int {
	class := int(l.classOf[left])
	return l.firstWord[class] + int(l.rankInClass[left])*l.rowWords(l.half-class)
}

// row returns the bits of the boards with a left half.
func (l *layer) row(left uint32) []uint64 {
	from := l.start(left)
	return l.words[from : from+l.rowWords(l.half-int(l.classOf[left]))]
}

// has returns the bit of a board.
func (l *layer) has(left, right uint32) bool {
	at := l.rankInClass[right]
	return l.words[l.start(left)+int(at>>6)]>>(at&63)&1 != 0
}

// add sets the bit of a board.
func (l *layer) add(left, right uint32) {
	at := l.rankInClass[right]
	l.words[l.start(left)+int(at>>6)] |= 1 << (at & 63)
}

// flip copies the row of a left half to the row of the same half upside down. A board upside down has the same value.
func (l *layer) flip(leftCode uint32) {
	flipped := l.flipped[leftCode]
	if flipped == leftCode {
		return
	}
	const evenBits = 0x5555_5555_5555_5555
	pairs := l.numPaired[l.half-int(l.classOf[leftCode])]
	flippedRow := l.row(flipped)
	for i, word := range l.row(leftCode) {
		paired := ^uint64(0)
		if remainingPairs := pairs - 64*i; remainingPairs < 64 {
			paired = 1<<max(remainingPairs, 0) - 1
		}
		flippedRow[i] = word&^paired | (word>>1&evenBits|word&evenBits<<1)&paired
	}
}

// reflect replaces the bit of each board, and the bit of its reflection, by the combination of both. combine is the bitwise and, or the bitwise or.
func (l *layer) reflect(workers int, combine func(block, reflected uint64) uint64) {
	inParallel(workers, len(l.members), func(class int) {
		otherClass, exists := l.otherClass(l.half, class)
		if !exists || class > otherClass {
			return
		}
		for i := 0; i < len(l.members[class]); i += 64 {
			from := 0
			if class == otherClass {
				from = i
			}
			for j := from; j < len(l.members[otherClass]); j += 64 {
				var block, reflected [64]uint64
				l.copyBlock(&block, class, i, j, false)
				l.copyBlock(&reflected, otherClass, j, i, false)
				transpose(&reflected)
				for k := range block {
					block[k] = combine(block[k], reflected[k])
				}
				l.copyBlock(&block, class, i, j, true)
				transpose(&block)
				l.copyBlock(&block, otherClass, j, i, true)
			}
		}
	})
}

// copyBlock copies a block of 64 rows of 64 bits from a layer, or to it if toLayer is set. The rows are those of left halves of a class from the
// place firstRow on, and the columns are right halves from the place firstColumn on, a multiple of 64.
func (l *layer) copyBlock(block *[64]uint64, class, firstRow, firstColumn int, toLayer bool) {
	words := l.rowWords(l.half - class)
	word := l.firstWord[class] + firstRow*words + firstColumn/64
	for row := range min(64, len(l.members[class])-firstRow) {
		if toLayer {
			l.words[word] = block[row]
		} else {
			block[row] = l.words[word]
		}
		word += words
	}
}

// transpose transposes a matrix of 64 times 64 bits: it exchanges bit j of word i and bit i of word j.
//
// Source: Warren, Hacker's Delight, 2nd edition, 7-3, for 64 bits and with the lowest bit first.
func transpose(block *[64]uint64) {
	mask := uint64(1<<32 - 1)
	for width := 32; width > 0; width >>= 1 {
		for i := 0; i < 64; i = (i + width + 1) &^ width {
			swap := (block[i]>>width ^ block[i+width]) & mask
			block[i] ^= swap << width
			block[i+width] ^= swap
		}
		mask ^= mask << (width / 2)
	}
}
