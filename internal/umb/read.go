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

// Indices reads n numbers below a limit, of so many bytes.
func Indices[T uint16 | uint32](m *Member, n, each int, limit uint64) ([]T, error) {
	out := make([]T, 0, m.room(n, each))
	limit = min(limit, 1<<(8*binary.Size(T(0))))
	err := m.Words(n, each, func(word []byte) error {
		x := uint64(binary.LittleEndian.Uint32(word))
		if each == 8 {
			x = binary.LittleEndian.Uint64(word)
		}
		if x >= limit {
			return fmt.Errorf("found %d as value %d, wanted one below %d", x, len(out), limit)
		}
		out = append(out, T(x))
		return nil
	})
	return out, err
}

// Bits reads a set of n rows, 64 to a word.
func (m *Member) Bits(n int) ([]uint64, error) {
	out := make([]uint64, 0, m.room((n+63)/64, 8))
	err := m.Words((n+63)/64, 8, func(word []byte) error {
		x := binary.LittleEndian.Uint64(word)
		if behind := n - 64*len(out); behind < 64 && x>>behind != 0 {
			return fmt.Errorf("found a bit for state %d, wanted 0 behind the %d states", n+bits.TrailingZeros64(x>>behind), n)
		}
		out = append(out, x)
		return nil
	})
	return out, err
}

// Numbers reads n numbers.
func (m *Member) Numbers(n int, t *Type) (out Numbers, err error) {
	if err := t.Number(); err != nil {
		return out, err
	}
	if t.Type == "double" {
		err := m.Words(n, 8, func(word []byte) error {
			out.add(m, n, binary.LittleEndian.Uint64(word))
			return nil
		})
		out.known, out.there = nil, err == nil
		return out, err
	}
	out.size = int(t.Bits() / 8)
	if err := m.Sized(int64(n), int64(out.size)); err != nil {
		return out, err
	}
	out.rats, err = m.All(m.Size)
	out.there = err == nil
	return out, err
}

// Mapping reads where the strings of n actions are.
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

// Numbers is a column of numbers: doubles, or fractions as they are in the file.
type Numbers struct {
	doubles []float64 // of which a column of few different ones has each once
	which   []uint16
	known   map[uint64]uint16 // while they are read
	rats    []byte
	size    int // of a fraction, in bytes
	there   bool
}

// add appends a double to a column of n.
func (n *Numbers) add(m *Member, all int, bits uint64) {
	if n.known == nil && n.doubles == nil {
		n.known, n.which = make(map[uint64]uint16), make([]uint16, 0, m.room(all, 8))
	}
	if n.known == nil {
		n.doubles = append(n.doubles, math.Float64frombits(bits))
		return
	}
	if k := len(n.which); k > 0 && math.Float64bits(n.doubles[n.which[k-1]]) == bits {
		n.which = append(n.which, n.which[k-1])
		return
	}
	id, ok := n.known[bits]
	switch {
	case !ok && len(n.doubles) > math.MaxUint16:
		n.spread(m, all)
		n.doubles = append(n.doubles, math.Float64frombits(bits))
		return
	case !ok:
		id = uint16(len(n.doubles))
		n.known[bits] = id
		n.doubles = append(n.doubles, math.Float64frombits(bits))
	}
	n.which = append(n.which, id)
}

// spread keeps all doubles of a column from now on: too many are different.
func (n *Numbers) spread(m *Member, all int) {
	out := make([]float64, 0, m.room(all, 8))
	for _, id := range n.which {
		out = append(out, n.doubles[id])
	}
	*n = Numbers{doubles: out}
}

// There reports whether there are any.
func (n *Numbers) There() bool { return n.there }

// Fractions reports whether they are, and Double has none.
func (n *Numbers) Fractions() bool { return n.size > 0 }

// Double is a number of a column of doubles.
func (n *Numbers) Double(i int) float64 {
	if n.which != nil {
		return n.doubles[n.which[i]]
	}
	return n.doubles[i]
}

// Fraction is the text of a fraction in the file.
func (n *Numbers) Fraction(i int) []byte { return n.rats[i*n.size : (i+1)*n.size] }

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
