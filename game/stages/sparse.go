package stages

import (
	"context"
	"math/bits"

	"tilecheck/internal/parallel"
)

// sparse is an array whose numbers are mostly 0. It stores a bit for each number, and the numbers that are not 0.
type sparse []sparsePart

// sparsePart is the part of an array with partLength numbers.
type sparsePart struct {
	present [partLength / 64]uint64 // a bit for each number that is not 0
	before  [partLength / 64]uint16 // for each word of present, the number of bits in the words before
	values  []uint32                // the numbers that are not 0
}

const partLength = 1 << 16

// newSparse returns a copy of an array. The error is that of ctx.
func newSparse(ctx context.Context, workers int, array []uint32) (sparse, error) {
	parts := make(sparse, (len(array)+partLength-1)/partLength)
	err := parallel.ForEach(ctx, workers, len(parts), func(_, part int) error {
		parts[part].fill(array[part*partLength : min((part+1)*partLength, len(array))])
		return nil
	})
	return parts, err
}

func (p *sparsePart) fill(array []uint32) {
	number := 0
	for _, value := range array {
		if value != 0 {
			number++
		}
	}
	p.values = make([]uint32, 0, number)
	for i, value := range array {
		if i%64 == 0 {
			p.before[i/64] = uint16(len(p.values))
		}
		if value != 0 {
			p.present[i/64] |= 1 << (i % 64)
			p.values = append(p.values, value)
		}
	}
}

// at returns a number of the array.
func (s sparse) at(index uint32) uint32 {
	part, place := &s[index/partLength], index%partLength
	word, bit := part.present[place/64], uint64(1)<<(place%64)
	if word&bit == 0 {
		return 0
	}
	return part.values[int(part.before[place/64])+bits.OnesCount64(word&(bit-1))]
}
