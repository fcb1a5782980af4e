package solve

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
)

// sink is where a record is written to: first everything behind the header, then the header.
type sink interface {
	io.Writer
	// finish writes the header; the record is complete when it returns nil.
	finish(h header) error
	// abandon gives up what was written.
	abandon() error
}

// recordWriter writes the blocks of a record, encoded by many goroutines, in order.
type recordWriter struct {
	header
	out      sink
	workers  int
	index    []byte
	encoders []encoder
}

func newRecordWriter(out sink, k kind, sum int, workers int) *recordWriter {
	return &recordWriter{header: header{kind: k, sum: uint32(sum)}, out: out, workers: workers, encoders: make([]encoder, 16*workers)}
}

// encoder encodes some blocks.
type encoder struct {
	data   []byte
	firsts []uint64
	starts []int
	count  uint64
	entries
}

// block adds a block. All blocks of a record but the last have blockBoards boards.
func (e *encoder) block(b entries) {
	e.firsts = append(e.firsts, b.boards[0])
	e.starts = append(e.starts, len(e.data))
	e.data = appendBlock(e.data, b)
	e.count += uint64(len(b.boards))
}

func (e *encoder) reset() {
	e.data, e.firsts, e.starts, e.count = e.data[:0], e.firsts[:0], e.starts[:0], 0
}

// write encodes parts from lo to hi; encode adds the blocks of one.
func (w *recordWriter) write(ctx context.Context, lo, hi int, encode func(worker, part int, e *encoder) error) error {
	for ; lo < hi; lo += len(w.encoders) {
		n := min(len(w.encoders), hi-lo)
		err := forEach(ctx, w.workers, n, func(worker, i int) error {
			w.encoders[i].reset()
			return encode(worker, lo+i, &w.encoders[i])
		})
		if err != nil {
			return err
		}
		for i := range n {
			if err := w.take(&w.encoders[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// take writes what was encoded.
func (w *recordWriter) take(e *encoder) error {
	for i, first := range e.firsts {
		w.index = binary.LittleEndian.AppendUint64(w.index, first)
		w.index = binary.LittleEndian.AppendUint64(w.index, w.size+uint64(e.starts[i]))
	}
	w.count += e.count
	return w.put(e.data)
}

func (w *recordWriter) put(data []byte) error {
	w.size += uint64(len(data))
	w.checksum = crc32.Update(w.checksum, castagnoli, data)
	_, err := w.out.Write(data)
	return err
}

// finish writes the index and the header.
func (w *recordWriter) finish() error {
	if err := w.put(w.index); err != nil {
		return err
	}
	return w.out.finish(w.header)
}
