package explicit

import (
	"math/bits"

	"tilecheck/prism/sema"
)

// codec packs valuations into words: each variable takes the bits of its
// declared range. The first variable takes the most significant bits of the
// first word, so that packed states compare as PRISM sorts states: by the first
// variable, then by the second, false before true.
type codec struct {
	fields []field
	words  int
	bits   int // of a state, unused ones left out
}

// field is where a variable is kept, less its lowest value.
type field struct {
	word  int
	shift uint
	mask  uint64
	low   int64
}

func newCodec(vars []sema.Variable) *codec {
	c := &codec{words: 1}
	free := 64
	for _, v := range vars {
		low, high := int64(v.Low), int64(v.High)
		width := bits.Len64(uint64(high - low))
		if width > free {
			c.words++
			free = 64
		}
		free -= width
		c.bits += width
		c.fields = append(c.fields, field{c.words - 1, uint(free), 1<<width - 1, low})
	}
	return c
}

// pack writes a valuation within the declared ranges to dst.
func (c *codec) pack(dst []uint64, state []int32) {
	clear(dst)
	for i, f := range c.fields {
		dst[f.word] |= uint64(int64(state[i])-f.low) << f.shift
	}
}

// unpack is the inverse of pack.
func (c *codec) unpack(dst []int32, packed []uint64) {
	for i, f := range c.fields {
		dst[i] = int32(int64(packed[f.word]>>f.shift&f.mask) + f.low)
	}
}
