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

// Writer writes a UMB file. After an error its methods do nothing, and Close returns the error.
type Writer struct {
	ctx context.Context
	tar *tar.Writer
	err error
}

// NewWriter returns a Writer that writes to out, without compression.
func NewWriter(ctx context.Context, out io.Writer) *Writer {
	return &Writer{ctx: ctx, tar: tar.NewWriter(out)}
}

// Close writes the end of the file. It returns the first error of the Writer.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.ctx.Err()
	}
	if w.err != nil {
		return w.err
	}
	return w.tar.Close()
}

// File writes a member with the given size in bytes, whose content body writes. The time in the member is constant, so that the same model
// always gives the same file.
func (w *Writer) File(name string, size int64, body func(*bufio.Writer)) {
	if w.err != nil {
		return
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
	if size >= 1<<33 { // USTAR has 11 octal digits for the size
		h.Format = tar.FormatGNU
	}
	if w.err = w.tar.WriteHeader(h); w.err != nil {
		return
	}
	b := bufio.NewWriterSize(w.tar, bufferSize)
	body(b)
	if w.err = b.Flush(); w.err == nil {
		w.err = w.ctx.Err()
	}
}

// Offsets writes the n+1 offsets of n rows with the given lengths, which Member.Offsets reads.
func (w *Writer) Offsets(name string, n int, length func(i int) int) {
	w.File(name, int64(8*(n+1)), func(b *bufio.Writer) {
		offset := uint64(0)
		PutUint64(b, offset)
		for i := range n {
			offset += uint64(length(i))
			PutUint64(b, offset)
		}
	})
}

// Bits writes a bit for each of n rows, in words of 64 bits, which Member.Bits reads.
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

// PutUint64 writes a number in eight bytes. An error appears when the buffer is flushed.
func PutUint64(b *bufio.Writer, x uint64) {
	_, _ = b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), x))
}

// PutLowBytes writes the given number of lowest bytes of a number, the lowest first.
func PutLowBytes(b *bufio.Writer, x uint64, numBytes int) {
	_, _ = b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), x)[:numBytes])
}

// RatSize returns the smallest size in bytes with which PutRat can write a fraction. Numerator and denominator have the same number of words of
// eight bytes, and the numerator needs one more bit for its sign.
func RatSize(r *big.Rat) int {
	return 16 * max(1, (r.Num().BitLen()+64)/64, (r.Denom().BitLen()+63)/64)
}

// PutRat writes a fraction in size bytes: the numerator in two's complement in the first half, the denominator in the second, both with the lowest
// byte first.
func PutRat(b *bufio.Writer, r *big.Rat, size int) {
	half := size / 2
	numerator := new(big.Int).Set(r.Num())
	if numerator.Sign() < 0 {
		numerator.Add(numerator, new(big.Int).Lsh(big.NewInt(1), uint(8*half)))
	}
	for _, n := range []*big.Int{numerator, r.Denom()} {
		encoded := n.FillBytes(make([]byte, half))
		slices.Reverse(encoded)
		_, _ = b.Write(encoded)
	}
}
