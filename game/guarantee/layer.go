package guarantee

// layer has a bit for each board without the winning tile whose tiles have one sum. The bits of the boards with the same left half are a row;
// they have the order of the right halves in their class.
type layer struct {
	*halves
	half  int   // half of the sum
	first []int // of each class of the left half: its first word
	words []uint64
}

// rowWords returns the number of words of a row.
func (h *halves) rowWords(class int) int { return (len(h.members[class]) + 63) / 64 }

// other returns the class of the right halves that a class of left halves is with, and whether there is one.
func (h *halves) other(half, class int) (other int, exists bool) {
	other = half - class
	return other, 0 <= other && other < len(h.members)
}

// layerWords returns the number of words of a layer.
func (h *halves) layerWords(half int) (words int) {
	for class, members := range h.members {
		if other, exists := h.other(half, class); exists {
			words += len(members) * h.rowWords(other)
		}
	}
	return words
}

// newLayer returns a layer, in memory of which all bits are 0.
func (h *halves) newLayer(half int, memory []uint64) *layer {
	l := &layer{halves: h, half: half, first: make([]int, len(h.members)), words: memory}
	at := 0
	for class, members := range h.members {
		l.first[class] = at
		if other, exists := h.other(half, class); exists {
			at += len(members) * h.rowWords(other)
		}
	}
	return l
}

// start returns the first word of a row.
func (l *layer) start(left uint32) int {
	class := int(l.class[left])
	return l.first[class] + int(l.place[left])*l.rowWords(l.half-class)
}

// row returns the bits of the boards with a left half.
func (l *layer) row(left uint32) []uint64 {
	from := l.start(left)
	return l.words[from : from+l.rowWords(l.half-int(l.class[left]))]
}

// has returns the bit of a board.
func (l *layer) has(left, right uint32) bool {
	at := l.place[right]
	return l.words[l.start(left)+int(at>>6)]>>(at&63)&1 != 0
}

// flip copies a row to that of the boards upside down.
func (l *layer) flip(left uint32) {
	flipped := l.flipped[left]
	if flipped == left {
		return
	}
	const even = 0x5555_5555_5555_5555
	pairs := l.pairs[l.half-int(l.class[left])]
	to := l.row(flipped)
	for i, w := range l.row(left) {
		paired := ^uint64(0)
		if n := pairs - 64*i; n < 64 {
			paired = 1<<max(n, 0) - 1
		}
		to[i] = w&^paired | (w>>1&even|w&even<<1)&paired
	}
}

// reflect combines each bit with that of the reflected board, by and or by or.
func (l *layer) reflect(combine func(a, b uint64) uint64) {
	inParallel(len(l.members), func(class int) {
		other, exists := l.other(l.half, class)
		if !exists || class > other {
			return
		}
		for i := 0; i < len(l.members[class]); i += 64 {
			from := 0
			if class == other {
				from = i
			}
			for j := from; j < len(l.members[other]); j += 64 {
				var a, b [64]uint64
				l.copyBlock(&a, class, i, j, false)
				l.copyBlock(&b, other, j, i, false)
				transpose(&b)
				for k := range a {
					a[k] = combine(a[k], b[k])
				}
				l.copyBlock(&a, class, i, j, true)
				transpose(&a)
				l.copyBlock(&a, other, j, i, true)
			}
		}
	})
}

// copyBlock copies 64 rows of 64 bits from a layer, or to it: those of the left halves of a class from place i and of the right halves from place
// j, which 64 divides.
func (l *layer) copyBlock(block *[64]uint64, class, i, j int, to bool) {
	words := l.rowWords(l.half - class)
	at := l.first[class] + i*words + j/64
	for k := range min(64, len(l.members[class])-i) {
		if to {
			l.words[at] = block[k]
		} else {
			block[k] = l.words[at]
		}
		at += words
	}
}

// transpose exchanges bit j of word i and bit i of word j.
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
