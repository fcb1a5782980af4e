package umb

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math/big"
	"slices"
	"time"
)

// Writer writes members, of which each knows its size. The first error ends
// everything, and Close returns it.
type Writer struct {
	ctx context.Context
	tar *tar.Writer
	err error
}

// NewWriter returns a Writer to out, which is not compressed.
func NewWriter(ctx context.Context, out io.Writer) *Writer {
	return &Writer{ctx: ctx, tar: tar.NewWriter(out)}
}

// Close ends the file.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil {
		return w.err
	}
	return w.tar.Close()
}

// File writes a member of a size that is known. Two writings are the same bytes.
func (w *Writer) File(name string, size int64, body func(*bufio.Writer)) {
	if w.err != nil {
		return
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
	if size >= 1<<33 { // what the format of 1988 has room for
		h.Format = tar.FormatGNU
	}
	if w.err = w.tar.WriteHeader(h); w.err != nil {
		return
	}
	b := bufio.NewWriterSize(w.tar, 1<<16)
	body(b)
	if w.err = b.Flush(); w.err == nil {
		w.err = w.ctx.Err()
	}
}

// Offsets writes where n rows begin whose lengths are known.
func (w *Writer) Offsets(name string, n int, length func(i int) int) {
	w.File(name, int64(8*(n+1)), func(b *bufio.Writer) {
		at := uint64(0)
		PutUint64(b, at)
		for i := range n {
			at += uint64(length(i))
			PutUint64(b, at)
		}
	})
}

// Bits writes a set of n rows.
func (w *Writer) Bits(name string, n int, has func(i int) bool) {
	w.File(name, int64((n+63)/64*8), func(b *bufio.Writer) {
		word := uint64(0)
		for i := range n {
			if has(i) {
				word |= 1 << (i % 64)
			}
			if i%64 == 63 || i == n-1 {
				PutUint64(b, word)
				word = 0
			}
		}
	})
}

// PutUint64 writes to a buffer, whose error comes back when it is flushed.
func PutUint64(b *bufio.Writer, x uint64) {
	_, _ = b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), x))
}

// PutUint64s writes the lowest so many bytes of a number.
func PutUint64s(b *bufio.Writer, x uint64, bytes int) {
	_, _ = b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), x)[:bytes])
}

// RatSize is how many bytes a fraction takes at least: a numerator has a sign.
func RatSize(r *big.Rat) int {
	return 16 * max(1, (r.Num().BitLen()+64)/64, (r.Denom().BitLen()+63)/64)
}

// PutRat writes a fraction in so many bytes.
func PutRat(b *bufio.Writer, r *big.Rat, size int) {
	half := size / 2
	num := new(big.Int).Set(r.Num())
	if num.Sign() < 0 {
		num.Add(num, new(big.Int).Lsh(big.NewInt(1), uint(8*half)))
	}
	for _, n := range []*big.Int{num, r.Denom()} {
		text := n.FillBytes(make([]byte, half))
		slices.Reverse(text)
		_, _ = b.Write(text)
	}
}
