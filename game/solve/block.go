package solve

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"tilecheck/game"
)

// blockBoards is the number of boards in a block; only the last block of a part may have fewer.
const blockBoards = 128

// blockEntries are boards in ascending order with their values and best moves. For boards without values, values and moves are nil; otherwise all
// three slices have the same length.
type blockEntries struct {
	boards []uint64
	values []float64
	moves  []game.Moves
}

// maxPalette is the largest number of different values in a block for which it lists them once and stores indices of 4 bits.
const maxPalette = 16

// appendBlock encodes a block of boards, with or without values. It leaves out the first board, which is in the index:
//
//	valued only: size of the palette, 1 byte, 0 for none
//	             the values, 8 bytes each: the values of the palette, or one for each board
//	             an index into a palette of two or more values, half a byte for each board
//	             best moves, half a byte for each board
//	always:      difference to the board before, in the numbering, as a varint, for each board but the first
func (n *numbering) appendBlock(dst []byte, entries blockEntries) []byte {
	if entries.values != nil {
		dst = appendValues(dst, entries.values)
		dst = appendNibbles(dst, len(entries.moves), func(i int) byte { return byte(entries.moves[i]) })
	}
	lastNumber, highCells, highNumber := n.number(entries.boards[0]), entries.boards[0]>>16, n.number(entries.boards[0]&^0xFFFF)
	for _, board := range entries.boards[1:] {
		if board>>16 != highCells { // this happens seldom
			highCells, highNumber = board>>16, n.number(board&^0xFFFF)
		}
		next := highNumber + uint64(n.rank[board&0xFFFF])
		dst = binary.AppendUvarint(dst, next-lastNumber)
		lastNumber = next
	}
	return dst
}

// appendValues encodes values: as a palette and indices into it if there are few different values, otherwise as 8 bytes each.
func appendValues(dst []byte, values []float64) []byte {
	palette, indices, ok := paletteOf(values)
	if !ok {
		return appendFloats(append(dst, 0), values)
	}
	dst = appendFloats(append(dst, byte(len(palette))), palette)
	if len(palette) > 1 {
		dst = appendNibbles(dst, len(values), func(i int) byte { return indices[i] })
	}
	return dst
}

func appendFloats(dst []byte, values []float64) []byte {
	for _, value := range values {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(value))
	}
	return dst
}

// paletteOf returns the different values in the order of appearance, and the index of each value among them. ok is false if there are too many.
func paletteOf(values []float64) (palette []float64, indices [blockBoards]byte, ok bool) {
	var foundValues [maxPalette]float64
	palette = foundValues[:0]
	for i, value := range values {
		index := slices.Index(palette, value)
		if index < 0 {
			if len(palette) == maxPalette {
				return nil, indices, false
			}
			index = len(palette)
			palette = append(palette, value)
		}
		indices[i] = byte(index)
	}
	return palette, indices, true
}

// appendNibbles encodes count numbers below 16, two in each byte, the first of them in the low half.
func appendNibbles(dst []byte, count int, number func(i int) byte) []byte {
	for i := 0; i < count; i += 2 {
		pair := number(i)
		if i+1 < count {
			pair |= number(i+1) << 4
		}
		dst = append(dst, pair)
	}
	return dst
}

func nibble(pairs []byte, i int) byte { return pairs[i/2] >> (i % 2 * 4) & 15 }

// blockView is a block split into its sections, which are not decoded yet.
type blockView struct {
	count   int
	first   uint64
	palette int    // 0 for none
	floats  []byte // of the palette, or of all values
	indices []byte
	moves   []byte
	deltas  []byte
}

// splitBlock splits the encoding of a block of count boards into its sections. hasValues says that the boards have values. It returns false if the data
// is too short.
func splitBlock(data []byte, count int, firstBoard uint64, hasValues bool) (blockView, bool) {
	block := blockView{count: count, first: firstBoard}
	if hasValues {
		if len(data) < 1 || data[0] > maxPalette {
			return block, false
		}
		block.palette, data = int(data[0]), data[1:]
		floats, indices := 8*count, 0
		if block.palette > 0 {
			floats = 8 * block.palette
		}
		if block.palette > 1 {
			indices = (count + 1) / 2
		}
		if len(data) < floats+indices+(count+1)/2 {
			return block, false
		}
		block.floats, data = data[:floats], data[floats:]
		block.indices, data = data[:indices], data[indices:]
		block.moves, data = data[:(count+1)/2], data[(count+1)/2:]
	}
	block.deltas = data
	return block, true
}

// errPalette is the error for a malformed block whose checksum is right.
var errPalette = errors.New("a value is not in the palette of its block")

// value returns the value of the board with index i in the block. It returns false if the index of the value is not in the palette.
func (v *blockView) value(i int) (float64, bool) {
	switch v.palette {
	case 0:
	case 1:
		i = 0
	default:
		if i = int(nibble(v.indices, i)); i >= v.palette {
			return 0, false
		}
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.floats[8*i:])), true
}

// appendBoards decodes the boards of a block, and appends them to dst. It returns false if the number of differences is wrong, or the boards do not
// ascend.
func (n *numbering) appendBoards(dst []uint64, view *blockView) ([]uint64, bool) {
	deltas, state := view.deltas, n.decode(view.first)
	dst = append(dst, view.first)
	for range view.count - 1 {
		delta, size := binary.Uvarint(deltas)
		if size <= 0 || delta-1 >= n.boards { // delta is 0 or too large
			return dst, false
		}
		deltas = deltas[size:]
		if state.low += delta; state.low >= n.base && !n.carry(&state) {
			return dst, false
		}
		dst = append(dst, state.high|uint64(n.line[uint16(state.low)]))
	}
	return dst, len(deltas) == 0
}
