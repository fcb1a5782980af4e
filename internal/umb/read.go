package umb

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/ulikunitz/xz"
)

const (
	// MaxIndex is the largest index.json, and MaxNames what strings may have.
	MaxIndex = 16 << 20
	MaxNames = 64 << 20
	// chunk is how much is read before more room is made: sizes may lie.
	chunk = 1 << 20
)

// ErrStop ends a look at the members.
var ErrStop = errors.New("stop")

// Members calls a function for every member, and checks names. It ends early, without
// an error, where the function returns ErrStop.
func Members(ctx context.Context, in io.Reader, visit func(name string, m *Member) error) error {
	r, most, err := unzip(in)
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	archive := tar.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is no UMB file, or a damaged one: %w", err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if h.PAXRecords["GNU.sparse.major"] != "" || h.PAXRecords["GNU.sparse.map"] != "" {
			// Its zeros are not in the file: a few bytes would be gigabytes.
			return fmt.Errorf("found the member %s with holes, wanted all of its bytes", quoted([]byte(h.Name)))
		}
		name := strings.TrimPrefix(h.Name, "./")
		if h.Typeflag != tar.TypeReg || path.Clean("/"+name) != "/"+name || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./") != "" {
			return fmt.Errorf("found the member %s, wanted files with names such as %s", quoted([]byte(h.Name)), Targets)
		}
		if seen[name] {
			return fmt.Errorf("found %s twice", name)
		}
		seen[name] = true
		switch err := visit(name, &Member{archive, h.Size, h.Size <= most, ctx}); {
		case err == ErrStop:
			return nil
		case err != nil:
			return err
		}
	}
}

// deflated is how many bytes one of gzip stands for at most: two bits are the shortest
// code of a repetition, and 258 bytes the longest one.
const deflated = 1032

// unzip returns the tar file, and how many bytes it has at most; 0 where that is not known.
func unzip(in io.Reader) (tar io.Reader, most int64, err error) {
	if known, ok := in.(interface{ Len() int }); ok {
		most = int64(known.Len())
	}
	r := bufio.NewReaderSize(in, 1<<16)
	magic, _ := r.Peek(6) // a shorter file is none of the two
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, 0, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), deflated * most, nil
	case bytes.HasPrefix(magic, []byte("\xfd7zXZ\x00")):
		z, err := xz.NewReader(r)
		if err != nil {
			return nil, 0, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), 0, nil
	}
	return r, most, nil
}

// Member is one that is read.
type Member struct {
	r     io.Reader
	Size  int64
	there bool // the archive can be as large as that
	ctx   context.Context
}

// room is the capacity to begin with for n values of so many bytes: all that the member
// has where the archive is large enough to have them, and few where its sizes may lie.
func (m *Member) room(n, each int) int {
	if m.there {
		return int(min(int64(n), m.Size/int64(each)))
	}
	return min(n, chunk)
}

// All returns the bytes of a member of at most so many.
func (m *Member) All(most int64) ([]byte, error) {
	if m.Size > most {
		return nil, fmt.Errorf("found %d bytes, wanted at most %d", m.Size, most)
	}
	out := make([]byte, 0, m.room(int(m.Size), 1))
	for int64(len(out)) < m.Size {
		n := int(min(chunk, m.Size-int64(len(out))))
		out = slices.Grow(out, n)
		if _, err := io.ReadFull(m.r, out[len(out):len(out)+n]); err != nil {
			return nil, truncated(err)
		}
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		out = out[:len(out)+n]
	}
	return out, nil
}

func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends in the middle")
	}
	return err
}

// Sized returns an error if the size of a column of n values is wrong.
func (m *Member) Sized(n, each int64) error {
	if m.Size != n*each {
		return fmt.Errorf("found %d bytes, wanted %d: %d values of %d bytes", m.Size, n*each, n, each)
	}
	return nil
}

// Words calls a function for every value of so many bytes.
func (m *Member) Words(n, each int, visit func(word []byte) error) error {
	if err := m.Sized(int64(n), int64(each)); err != nil {
		return err
	}
	buf := make([]byte, each*max(1, min(n, chunk/each)))
	for n > 0 {
		part := buf[:each*min(n, len(buf)/each)]
		if _, err := io.ReadFull(m.r, part); err != nil {
			return truncated(err)
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		for i := 0; i < len(part); i += each {
			if err := visit(part[i : i+each]); err != nil {
				return err
			}
		}
		n -= len(part) / each
	}
	return nil
}

// Offsets reads where n rows begin among so many; the last one is that number.
func (m *Member) Offsets(n, most int) ([]uint32, error) {
	out := make([]uint32, 0, m.room(n+1, 8))
	last := uint64(0)
	err := m.Words(n+1, 8, func(word []byte) error {
		x := binary.LittleEndian.Uint64(word)
		if x < last || x > uint64(most) || len(out) == 0 && x != 0 {
			return fmt.Errorf("found %d as offset %d, wanted 0 first and then none that is less than the one before or above %d", x, len(out), most)
		}
		last = x
		out = append(out, uint32(x))
		return nil
	})
	if err == nil && last != uint64(most) {
		err = fmt.Errorf("found %d as the last offset, wanted %d", last, most)
	}
	return out, err
}

// Indices reads n indices of 4 or 8 bytes each (size). An index that is not below limit, or does not fit T, is an error.
func Indices[T uint16 | uint32](m *Member, n, size int, limit uint64) ([]T, error) {
	indices := make([]T, 0, m.room(n, size))
	limit = min(limit, 1<<(8*binary.Size(T(0))))
	err := m.Words(n, size, func(word []byte) error {
		var index uint64
		if size == 8 {
			index = binary.LittleEndian.Uint64(word)
		} else {
			index = uint64(binary.LittleEndian.Uint32(word))
		}
		if index >= limit {
			return fmt.Errorf("found %d as value %d, wanted one below %d", index, len(indices), limit)
		}
		indices = append(indices, T(index))
		return nil
	})
	return indices, err
}

// Bits reads a bit for each of n states, in words of 64 bits. The unused bits of the last word must be 0.
func (m *Member) Bits(n int) ([]uint64, error) {
	numWords := (n + 63) / 64
	words := make([]uint64, 0, m.room(numWords, 8))
	err := m.Words(numWords, 8, func(encoded []byte) error {
		word := binary.LittleEndian.Uint64(encoded)
		numUsed := n - 64*len(words) // bits of this word and the following ones
		if numUsed < 64 && word>>numUsed != 0 {
			return fmt.Errorf("found a bit for state %d, wanted 0 after the bits of the %d states", n+bits.TrailingZeros64(word>>numUsed), n)
		}
		words = append(words, word)
		return nil
	})
	return words, err
}

// Numbers reads a column of n numbers of the given type.
func (m *Member) Numbers(n int, t *Type) (out Numbers, err error) {
	if err := t.Number(); err != nil {
		return out, err
	}
	if t.Type == "double" {
		err := m.Words(n, 8, func(word []byte) error {
			out.add(m, n, binary.LittleEndian.Uint64(word))
			return nil
		})
		out.indexOf, out.present = nil, err == nil
		return out, err
	}
	out.fractionSize = int(t.Bits() / 8)
	if err := m.Sized(int64(n), int64(out.fractionSize)); err != nil {
		return out, err
	}
	out.fractions, err = m.All(m.Size)
	out.present = err == nil
	return out, err
}

// Mapping reads the n+1 offsets of the names of n actions: name i is between the offsets i and i+1. The offsets must not decrease.
func (m *Member) Mapping(n int) (out []uint32, err error) {
	last := uint64(0)
	return out, m.Words(n+1, 8, func(word []byte) error {
		x := binary.LittleEndian.Uint64(word)
		if x < last || x > MaxNames {
			return fmt.Errorf("found %d as offset %d of a string", x, len(out))
		}
		last = x
		out = append(out, uint32(x))
		return nil
	})
}

// Numbers is a column of numbers: of float64 numbers, or of fractions in the encoding of the file. The zero value stands for a column that the
// file does not have.
//
// A column with at most 2^16 different float64 numbers stores each number once in doubles, and number i is doubles[indices[i]]. Other columns
// have no indices.
type Numbers struct {
	doubles      []float64
	indices      []uint16
	indexOf      map[uint64]uint16 // the index of each number in doubles, by its bits; nil unless the column is being read
	fractions    []byte
	fractionSize int // in bytes; 0 for a column of float64 numbers
	present      bool
}

// add appends a float64 number, given by its bits, to a column that will have length numbers.
func (n *Numbers) add(m *Member, length int, bits uint64) {
	if n.indexOf == nil && n.doubles == nil { // the first number
		n.indexOf, n.indices = make(map[uint64]uint16), make([]uint16, 0, m.room(length, 8))
	}
	value := math.Float64frombits(bits)
	if n.indexOf == nil {
		n.doubles = append(n.doubles, value)
		return
	}
	if last := len(n.indices) - 1; last >= 0 && math.Float64bits(n.doubles[n.indices[last]]) == bits {
		n.indices = append(n.indices, n.indices[last])
		return
	}
	index, known := n.indexOf[bits]
	if !known && len(n.doubles) > math.MaxUint16 {
		n.dropIndices(m, length)
		n.doubles = append(n.doubles, value)
		return
	}
	if !known {
		index = uint16(len(n.doubles))
		n.indexOf[bits] = index
		n.doubles = append(n.doubles, value)
	}
	n.indices = append(n.indices, index)
}

// dropIndices changes the representation to one without indices, because there are too many different numbers.
func (n *Numbers) dropIndices(m *Member, length int) {
	doubles := make([]float64, 0, m.room(length, 8))
	for _, index := range n.indices {
		doubles = append(doubles, n.doubles[index])
	}
	*n = Numbers{doubles: doubles}
}

// Present reports whether the file has the column.
func (n *Numbers) Present() bool { return n.present }

// Fractions reports whether the numbers are fractions.
func (n *Numbers) Fractions() bool { return n.fractionSize > 0 }

// Double returns number i of a column of float64 numbers.
func (n *Numbers) Double(i int) float64 {
	if n.indices != nil {
		return n.doubles[n.indices[i]]
	}
	return n.doubles[i]
}

// Fraction returns number i of a column of fractions, in the encoding of the file.
func (n *Numbers) Fraction(i int) []byte {
	return n.fractions[i*n.fractionSize : (i+1)*n.fractionSize]
}

// Rat reads the text of a fraction.
func Rat(text []byte) (*big.Rat, error) {
	half := len(text) / 2
	whole := func(text []byte) *big.Int {
		b := slices.Clone(text)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	num, den := whole(text[:half]), whole(text[half:])
	if text[half-1]&0x80 != 0 {
		num.Sub(num, new(big.Int).Lsh(big.NewInt(1), uint(8*half)))
	}
	if den.Sign() == 0 {
		return nil, errors.New("found a fraction with the denominator 0")
	}
	return new(big.Rat).SetFrac(num, den), nil
}
