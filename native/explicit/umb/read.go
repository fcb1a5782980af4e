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
	r, err := unzip(in)
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
		name := strings.TrimPrefix(h.Name, "./")
		if h.Typeflag != tar.TypeReg || path.Clean("/"+name) != "/"+name || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_./") != "" {
			return fmt.Errorf("found the member %s, wanted files with names such as %s", quoted([]byte(h.Name)), Targets)
		}
		if seen[name] {
			return fmt.Errorf("found %s twice", name)
		}
		seen[name] = true
		switch err := visit(name, &Member{archive, h.Size, ctx}); {
		case err == ErrStop:
			return nil
		case err != nil:
			return err
		}
	}
}

// unzip returns the tar file.
func unzip(in io.Reader) (io.Reader, error) {
	r := bufio.NewReaderSize(in, 1<<16)
	magic, _ := r.Peek(6) // a shorter file is none of the two
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), nil
	case bytes.HasPrefix(magic, []byte("\xfd7zXZ\x00")):
		z, err := xz.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("it is damaged: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<16), nil
	}
	return r, nil
}

// Member is one that is read.
type Member struct {
	r    io.Reader
	Size int64
	ctx  context.Context
}

// All returns the bytes of a member of at most so many.
func (m *Member) All(most int64) ([]byte, error) {
	if m.Size > most {
		return nil, fmt.Errorf("found %d bytes, wanted at most %d", m.Size, most)
	}
	var out bytes.Buffer
	for {
		n, err := io.CopyN(&out, m.r, min(chunk, m.Size-int64(out.Len())))
		if err == nil && m.ctx.Err() != nil {
			err = m.ctx.Err()
		}
		if err != nil {
			return nil, truncated(err)
		}
		if n == 0 || int64(out.Len()) == m.Size {
			return out.Bytes(), nil
		}
	}
}

func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends in the middle")
	}
	return err
}

// Sized returns what is wrong with the size of a column of n values.
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

// room is the capacity to begin with for n values that may not be there.
func room(n int) int { return min(n, chunk) }

// Offsets reads where n rows begin among so many; the last one is that number.
func (m *Member) Offsets(n, most int) ([]uint32, error) {
	out := make([]uint32, 0, room(n+1))
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
func (m *Member) Indices(n, each int, limit uint64) ([]uint32, error) {
	out := make([]uint32, 0, room(n))
	err := m.Words(n, each, func(word []byte) error {
		x := uint64(binary.LittleEndian.Uint32(word))
		if each == 8 {
			x = binary.LittleEndian.Uint64(word)
		}
		if x >= limit {
			return fmt.Errorf("found %d as value %d, wanted one below %d", x, len(out), limit)
		}
		out = append(out, uint32(x))
		return nil
	})
	return out, err
}

// Bits reads a set of n rows, 64 to a word.
func (m *Member) Bits(n int) ([]uint64, error) {
	out := make([]uint64, 0, room((n+63)/64))
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
		out.Doubles = make([]float64, 0, room(n))
		return out, m.Words(n, 8, func(word []byte) error {
			out.Doubles = append(out.Doubles, math.Float64frombits(binary.LittleEndian.Uint64(word)))
			return nil
		})
	}
	out.Size = int(t.Bits() / 8)
	if err := m.Sized(int64(n), int64(out.Size)); err != nil {
		return out, err
	}
	out.Rats, err = m.All(m.Size)
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
	Doubles []float64
	Rats    []byte
	Size    int // of a fraction, in bytes
}

// There reports whether there are any.
func (n *Numbers) There() bool { return n.Doubles != nil || n.Rats != nil }

// Fraction is the text of a fraction in the file.
func (n *Numbers) Fraction(i int) []byte { return n.Rats[i*n.Size : (i+1)*n.Size] }

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
