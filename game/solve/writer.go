package solve

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"tilecheck/internal/parallel"
)

// sink is the destination of a record. The header is written last.
type sink interface {
	io.Writer
	// finish writes the header; the record is complete when it returns nil.
	finish(h header) error
	// abandon discards what was written.
	abandon() error
}

// recordWriter writes the parts of a record in order, while several goroutines encode them.
type recordWriter struct {
	header
	out          sink
	index        []byte
	numbering    *numbering
	freeEncoders []*encoder
}

// encoder encodes blocks of boards.
type encoder struct {
	numbering *numbering
	data      []byte
	firsts    []uint64
	starts    []uint64 // index entries: offset and number of boards
	count     uint64
	blockEntries
}

// addBlock encodes a block.
func (e *encoder) addBlock(b blockEntries) {
	e.firsts = append(e.firsts, b.boards[0])
	e.starts = append(e.starts, uint64(len(e.data))|uint64(len(b.boards)-1)<<startBits)
	e.data = e.numbering.appendBlock(e.data, b)
	e.count += uint64(len(b.boards))
}

// addPlain encodes boards without values as blocks.
func (e *encoder) addPlain(boards []uint64) {
	for block := range slices.Chunk(boards, blockBoards) {
		e.addBlock(blockEntries{boards: block})
	}
}

func (e *encoder) reset() {
	e.data, e.firsts, e.starts, e.count = e.data[:0], e.firsts[:0], e.starts[:0], 0
}

// encoding is a function that encodes the blocks of a part.
type encoding func(worker, part int, e *encoder) error

// write encodes and writes the parts first to end-1, in this order. An encoded part waits in memory until all parts before it are written.
func (w *recordWriter) write(ctx context.Context, workers, first, end int, encode encoding) error {
	var mutex sync.Mutex
	waiting := make([]*encoder, end-first)
	next := 0
	return parallel.ForEach(ctx, workers, end-first, func(worker, part int) error {
		mutex.Lock()
		encoded := &encoder{numbering: w.numbering}
		if free := len(w.freeEncoders); free > 0 {
			encoded, w.freeEncoders = w.freeEncoders[free-1], w.freeEncoders[:free-1]
		}
		mutex.Unlock()
		encoded.reset()
		if err := encode(worker, first+part, encoded); err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		waiting[part] = encoded
		for next < len(waiting) && waiting[next] != nil {
			if err := w.writeBlocks(waiting[next]); err != nil {
				return err
			}
			w.freeEncoders = append(w.freeEncoders, waiting[next])
			next++
		}
		return nil
	})
}

// writeBlocks writes the blocks of an encoder.
func (w *recordWriter) writeBlocks(encoded *encoder) error {
	for i, first := range encoded.firsts {
		w.index = binary.LittleEndian.AppendUint64(w.index, first)
		w.index = binary.LittleEndian.AppendUint64(w.index, w.size+encoded.starts[i])
	}
	w.count += encoded.count
	w.blocks += uint64(len(encoded.firsts))
	return w.writeBytes(encoded.data)
}

// copyRecord writes the blocks of another record.
func (w *recordWriter) copyRecord(source *record) error {
	const step = 1 << 20
	base, size := w.size, int64(source.size)-int64(len(source.index))
	var buffer scratch
	for offset := int64(0); offset < size; offset += step {
		data, err := source.source.view(headerSize+offset, min(step, size-offset), buffer.data)
		if err != nil {
			return fmt.Errorf("read layer %d: %w", source.sum, err)
		}
		source.keepBuffer(&buffer, data)
		if err := w.writeBytes(data); err != nil {
			return err
		}
	}
	for block := range int(source.blocks) {
		w.index = binary.LittleEndian.AppendUint64(w.index, source.first(block))
		w.index = binary.LittleEndian.AppendUint64(w.index, source.indexValue(block)+base)
	}
	w.count += source.count
	w.blocks += source.blocks
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
