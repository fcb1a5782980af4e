package solve

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"
)

// sink is the destination of a record. The header is written last.
type sink interface {
	io.Writer
	// finish writes the header; the record is complete when it returns nil.
	finish(h header) error
	// abandon gives up what was written.
	abandon() error
}

// recordWriter writes the parts of a record in order, while many goroutines encode them.
type recordWriter struct {
	header
	out   sink
	index []byte
	by    *numbering
	free  []*encoder
}

// encoder encodes blocks of boards.
type encoder struct {
	by     *numbering
	data   []byte
	firsts []uint64
	starts []uint64 // combined with the number of boards, as in the index
	count  uint64
	entries
}

// block adds a block.
func (e *encoder) block(b entries) {
	e.firsts = append(e.firsts, b.boards[0])
	e.starts = append(e.starts, uint64(len(e.data))|uint64(len(b.boards)-1)<<startBits)
	e.data = e.by.appendBlock(e.data, b)
	e.count += uint64(len(b.boards))
}

// plain adds blocks of boards.
func (e *encoder) plain(boards []uint64) {
	for block := range slices.Chunk(boards, blockBoards) {
		e.block(entries{boards: block})
	}
}

func (e *encoder) reset() {
	e.data, e.firsts, e.starts, e.count = e.data[:0], e.firsts[:0], e.starts[:0], 0
}

// encoding adds the blocks of a part.
type encoding func(worker, part int, e *encoder) error

// write writes the parts from first to end. Encoded parts wait in memory until those before them are written.
func (w *recordWriter) write(ctx context.Context, workers, first, end int, encode encoding) error {
	var mu sync.Mutex
	waiting := make([]*encoder, end-first)
	next := 0
	return forEach(ctx, workers, end-first, func(worker, part int) error {
		mu.Lock()
		e := &encoder{by: w.by}
		if n := len(w.free); n > 0 {
			e, w.free = w.free[n-1], w.free[:n-1]
		}
		mu.Unlock()
		e.reset()
		if err := encode(worker, first+part, e); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		waiting[part] = e
		for next < len(waiting) && waiting[next] != nil {
			if err := w.append(waiting[next]); err != nil {
				return err
			}
			w.free = append(w.free, waiting[next])
			next++
		}
		return nil
	})
}

// append writes the blocks of an encoder.
func (w *recordWriter) append(e *encoder) error {
	for i, first := range e.firsts {
		w.index = binary.LittleEndian.AppendUint64(w.index, first)
		w.index = binary.LittleEndian.AppendUint64(w.index, w.size+e.starts[i])
	}
	w.count += e.count
	w.blocks += uint64(len(e.firsts))
	return w.writeBytes(e.data)
}

// copyRecord writes the blocks of another record.
func (w *recordWriter) copyRecord(r *record) error {
	const step = 1 << 20
	base, size := w.size, int64(r.size)-int64(len(r.index))
	var s scratch
	for off := int64(0); off < size; off += step {
		data, err := r.source.view(headerSize+off, min(step, size-off), s.data)
		if err != nil {
			return fmt.Errorf("read layer %d: %w", r.sum, err)
		}
		r.keep(&s, data)
		if err := w.writeBytes(data); err != nil {
			return err
		}
	}
	for block := range int(r.blocks) {
		w.index = binary.LittleEndian.AppendUint64(w.index, r.first(block))
		w.index = binary.LittleEndian.AppendUint64(w.index, r.entry(block)+base)
	}
	w.count += r.count
	w.blocks += r.blocks
	return nil
}

func (w *recordWriter) writeBytes(data []byte) error {
	w.size += uint64(len(data))
	w.checksum = crc32.Update(w.checksum, castagnoli, data)
	_, err := w.out.Write(data)
	return err
}

// finish writes the index and the header.
func (w *recordWriter) finish() error {
	if err := w.writeBytes(w.index); err != nil {
		return err
	}
	return w.out.finish(w.header)
}
