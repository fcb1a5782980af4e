package compile

import (
	"math/bits"

	"tilecheck/prism/sema"
)

// Packing is the layout of valuations in 64-bit words. A field has the difference of a variable to its lowest value. The first variable has
// the most significant bits, so packed states have PRISM's order of states: by the first variable, then by the second, false before true.
type Packing struct {
	Fields []PackedField // one for each of Program.Vars
	Words  int           // per state
	Bits   int           // used bits per state
}

// PackedField is the position of a variable in a packed state.
type PackedField struct {
	Word  int
	Shift uint
	Mask  uint64 // before shifting
	Low   int64
}

// NewPacking returns a packing for valuations of the given variables: each variable gets a field of bits in a 64-bit word. No field crosses the
// end of a word.
func NewPacking(vars []sema.Variable) *Packing {
	packing := &Packing{Words: 1}
	freeBits := 64 // unused bits of the last word
	for _, variable := range vars {
		low, high := int64(variable.Low), int64(variable.High)
		width := bits.Len64(uint64(high - low))
		if width > freeBits {
			packing.Words++
			freeBits = 64
		}
		freeBits -= width
		packing.Bits += width
		packing.Fields = append(packing.Fields, PackedField{packing.Words - 1, uint(freeBits), 1<<width - 1, low})
	}
	return packing
}

// Pack writes a valuation to dst, which has Words words. The values must be within the declared ranges.
func (p *Packing) Pack(dst []uint64, state []int32) {
	clear(dst)
	for i, field := range p.Fields {
		dst[field.Word] |= uint64(int64(state[i])-field.Low) << field.Shift
	}
}

// Unpack is the inverse of Pack.
func (p *Packing) Unpack(dst []int32, packed []uint64) {
	for i, field := range p.Fields {
		dst[i] = int32(int64(packed[field.Word]>>field.Shift&field.Mask) + field.Low)
	}
}
