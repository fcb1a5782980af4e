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
	// MaxIndex and MaxNames are the largest sizes in bytes of index.json and of a member with strings.
	MaxIndex = 16 << 20
	MaxNames = 64 << 20
	// chunk is the number of bytes or values that are read before a buffer grows, because the size in a file can be wrong.
	chunk = 1 << 20
	// bufferSize is the size in bytes of the buffers of readers and writers.
	bufferSize = 1 << 16
)

// ErrStop is returned by the function that Members calls, to end the reading.
var ErrStop = errors.New("stop")

// Members calls visit for every member of a UMB file, in the order of the file. If visit returns ErrStop, Members returns nil at once. The error
// is one of visit, or says that the file is damaged or that a member has a wrong name.
func Members(ctx context.Context, in io.Reader, visit func(name string, m *Member) error) error {
	uncompressed, maxSize, err := decompress(in)
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	archive := tar.NewReader(uncompressed)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		header, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is neither a certificate nor a UMB file (states), or it is damaged: %w", err)
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		name, err := memberName(header)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("found %s twice", name)
		}
		seen[name] = true
		err = visit(name, &Member{r: archive, Size: header.Size, sizeIsPossible: header.Size <= maxSize, ctx: ctx})
		if err == ErrStop {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// memberName returns the name of a member without the prefix "./". It returns an error if the member is not a regular file, or if the format
// does not allow the name.
func memberName(header *tar.Header) (string, error) {
	isSparse := header.PAXRecords["GNU.sparse.major"] != "" || header.PAXRecords["GNU.sparse.map"] != ""
	if isSparse { // the zeros are not in the file, so a few bytes could stand for gigabytes
		return "", fmt.Errorf("found the sparse member %s, wanted all of its bytes", quoted([]byte(header.Name)))
	}
	name := strings.TrimPrefix(header.Name, "./")
	isValid := path.Clean("/"+name) == "/"+name && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./") == ""
	if header.Typeflag != tar.TypeReg || !isValid {
		return "", fmt.Errorf("found the member %s, wanted files with names such as %s", quoted([]byte(header.Name)), Targets)
	}
	return name, nil
}

// maxExpansion is the largest number of bytes that one byte of a gzip file stands for: the shortest code of a repetition has two bits, and the
// longest repetition has 258 bytes.
const maxExpansion = 1032

// decompress returns the tar file in a file that may be compressed with gzip or xz, and the largest size in bytes that the tar file can have; 0
// if this is not known.
func decompress(in io.Reader) (tar io.Reader, maxSize int64, err error) {
	if known, ok := in.(interface{ Len() int }); ok {
		maxSize = int64(known.Len())
	}
	r := bufio.NewReaderSize(in, bufferSize)
	magic, _ := r.Peek(6) // a shorter file has no error here: it has neither of the two prefixes
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, 0, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, bufferSize), maxExpansion * maxSize, nil
	case bytes.HasPrefix(magic, []byte("\xfd7zXZ\x00")):
		z, err := xz.NewReader(r)
		if err != nil {
			return nil, 0, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, bufferSize), 0, nil
	}
	return r, maxSize, nil
}

// Member is a member of a UMB file that is being read.
type Member struct {
	r              io.Reader
	Size           int64 // in bytes, according to the file
	sizeIsPossible bool  // the whole file can be as large as Size
	ctx            context.Context
}

// capacity returns the capacity that a slice for n values should have at first. valueSize is the size of a value in the file, in bytes. The
// capacity is small if the size of the member can be wrong.
func (m *Member) capacity(n, valueSize int) int {
	if m.sizeIsPossible {
		return int(min(int64(n), m.Size/int64(valueSize)))
	}
	return min(n, chunk)
}

// ReadAll returns the bytes of a member. It returns an error if there are more than limit.
func (m *Member) ReadAll(limit int64) ([]byte, error) {
	if m.Size > limit {
		return nil, fmt.Errorf("found %d bytes, wanted at most %d", m.Size, limit)
	}
	content := make([]byte, 0, m.capacity(int(m.Size), 1))
	for int64(len(content)) < m.Size {
		n := int(min(chunk, m.Size-int64(len(content))))
		content = slices.Grow(content, n)
		if _, err := io.ReadFull(m.r, content[len(content):len(content)+n]); err != nil {
			return nil, truncated(err)
		}
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		content = content[:len(content)+n]
	}
	return content, nil
}

// truncated returns an error that says that the file is too short, if err means this, otherwise err.
func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends in the middle")
	}
	return err
}

// CheckSize returns an error unless the member has the size of n values of valueSize bytes each.
func (m *Member) CheckSize(n, valueSize int64) error {
	if m.Size != n*valueSize {
		return fmt.Errorf("found %d bytes, wanted %d: %d values of %d bytes", m.Size, n*valueSize, n, valueSize)
	}
	return nil
}

// Words reads n values of valueSize bytes each, and calls visit for every value, in order. The error can be one of visit.
func (m *Member) Words(n, valueSize int, visit func(word []byte) error) error {
	if err := m.CheckSize(int64(n), int64(valueSize)); err != nil {
		return err
	}
	buffer := make([]byte, valueSize*max(1, min(n, chunk/valueSize)))
	for n > 0 {
		part := buffer[:valueSize*min(n, len(buffer)/valueSize)]
		if _, err := io.ReadFull(m.r, part); err != nil {
			return truncated(err)
		}
		if err := m.ctx.Err(); err != nil {
			return err
		}
		for i := 0; i < len(part); i += valueSize { // slices.Chunk takes twice as long
			if err := visit(part[i : i+valueSize]); err != nil {
				return err
			}
		}
		n -= len(part) / valueSize
	}
	return nil
}

// Offsets reads the n+1 offsets of n rows, whose entries are stored one row after the other: row i has the entries from offset i up to offset
// i+1. It returns an error unless the offsets begin with 0, do not decrease, and end with numEntries.
func (m *Member) Offsets(n, numEntries int) ([]uint32, error) {
	offsets := make([]uint32, 0, m.capacity(n+1, 8))
	last := uint64(0)
	err := m.Words(n+1, 8, func(word []byte) error {
		offset := binary.LittleEndian.Uint64(word)
		if offset < last || offset > uint64(numEntries) || len(offsets) == 0 && offset != 0 {
			return fmt.Errorf("found %d as offset %d, wanted 0 first and then none that is less than the one before or above %d", offset, len(offsets), numEntries)
		}
		last = offset
		offsets = append(offsets, uint32(offset))
		return nil
	})
	if err == nil && last != uint64(numEntries) {
		err = fmt.Errorf("found %d as the last offset, wanted %d", last, numEntries)
	}
	return offsets, err
}

// Indices reads n indices of 4 or 8 bytes each (size). An index that is not below limit, or does not fit T, is an error.
func Indices[T uint16 | uint32](m *Member, n, size int, limit uint64) ([]T, error) {
	indices := make([]T, 0, m.capacity(n, size))
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
	words := make([]uint64, 0, m.capacity(numWords, 8))
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
func (m *Member) Numbers(n int, t *Type) (column Numbers, err error) {
	if err := t.CheckNumber(); err != nil {
		return column, err
	}
	if t.Type == "double" {
		err := m.Words(n, 8, func(word []byte) error {
			column.add(m, n, binary.LittleEndian.Uint64(word))
			return nil
		})
		column.indexOf, column.present = nil, err == nil
		return column, err
	}
	column.fractionSize = int(t.Bits() / 8)
	if err := m.CheckSize(int64(n), int64(column.fractionSize)); err != nil {
		return column, err
	}
	column.fractions, err = m.ReadAll(m.Size)
	column.present = err == nil
	return column, err
}

// Mapping reads the n+1 offsets of the names of n actions: name i is between the offsets i and i+1. The offsets must not decrease.
func (m *Member) Mapping(n int) ([]uint32, error) {
	var offsets []uint32
	last := uint64(0)
	err := m.Words(n+1, 8, func(word []byte) error {
		offset := binary.LittleEndian.Uint64(word)
		if offset < last || offset > MaxNames {
			return fmt.Errorf("found %d as offset %d of a string, wanted one from %d to %d", offset, len(offsets), last, MaxNames)
		}
		last = offset
		offsets = append(offsets, uint32(offset))
		return nil
	})
	return offsets, err
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
		n.indexOf, n.indices = make(map[uint64]uint16), make([]uint16, 0, m.capacity(length, 8))
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
	doubles := make([]float64, 0, m.capacity(length, 8))
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

// DecodeRat decodes a fraction, which PutRat has encoded: a numerator in two's complement and a denominator, of the same size.
func DecodeRat(encoded []byte) (*big.Rat, error) {
	half := len(encoded) / 2
	numerator, denominator := decodeInt(encoded[:half]), decodeInt(encoded[half:])
	if isNegative := encoded[half-1]&0x80 != 0; isNegative {
		numerator.Sub(numerator, new(big.Int).Lsh(big.NewInt(1), uint(8*half)))
	}
	if denominator.Sign() == 0 {
		return nil, errors.New("found a fraction with the denominator 0")
	}
	return new(big.Rat).SetFrac(numerator, denominator), nil
}

// decodeInt decodes a whole number without a sign, whose lowest byte is the first.
func decodeInt(encoded []byte) *big.Int {
	highestFirst := slices.Clone(encoded)
	slices.Reverse(highestFirst)
	return new(big.Int).SetBytes(highestFirst)
}
