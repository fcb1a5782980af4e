package explicit

import (
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// codec packs valuations into 64-bit words; see compile.Packing.
type codec struct {
	packing       *compile.Packing
	fields        []compile.PackedField
	wordsPerState int
	usedBits      int // bits of a state that are in use
}

// newCodec returns a codec for valuations of the given variables.
func newCodec(vars []sema.Variable) *codec {
	p := compile.NewPacking(vars)
	return &codec{packing: p, fields: p.Fields, wordsPerState: p.Words, usedBits: p.Bits}
}

// pack writes a valuation within the declared ranges to dst.
func (codec *codec) pack(dst []uint64, state []int32) { codec.packing.Pack(dst, state) }

// unpack is the inverse of pack.
func (codec *codec) unpack(dst []int32, packed []uint64) { codec.packing.Unpack(dst, packed) }
