package solve

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"sort"

	"tilecheck/game"
)

// A record has the boards of one layer, or of one run:
//
//	header  magic, kind, sum of the tiles, numbers of boards and blocks, length and checksum of the rest, checksum of the header
//	blocks  see appendBlock
//	index   for each block its first board, and its offset after the header together with its number of boards
//
// Boards are in the order of their parts, and no block has boards of two parts.
//
// All numbers are little-endian. The header is written last; an incomplete record has zeros there, which is not a valid header.
const (
	recordMagic = "2048layr"
	headerSize  = 48
	indexEntry  = 16

	startBits  = 56 // bits of an index entry for the offset; the others have the number of boards minus 1
	readBlocks = 64 // number of blocks that are read from a file at a time
)

// castagnoli is the table of CRC-32C, which many processors compute by an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// kind says whether the boards of a record have values.
type kind uint32

const (
	plainBoards  kind = 1 // positions or afterstates
	valuedBoards kind = 2 // with values and moves
)

type header struct {
	kind     kind
	sum      uint32 // of the tiles
	count    uint64 // boards
	blocks   uint64
	size     uint64 // bytes of blocks and index
	checksum uint32 // of them
}

func (h header) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, recordMagic...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.kind))
	dst = binary.LittleEndian.AppendUint32(dst, h.sum)
	dst = binary.LittleEndian.AppendUint64(dst, h.count)
	dst = binary.LittleEndian.AppendUint64(dst, h.size)
	dst = binary.LittleEndian.AppendUint64(dst, h.blocks)
	dst = binary.LittleEndian.AppendUint32(dst, h.checksum)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

var errNoRecord = errors.New("no complete layer")

// parseHeader parses the header of a record. The error is errNoRecord if the header is not valid.
func parseHeader(data []byte) (header, error) {
	if len(data) < headerSize || string(data[:8]) != recordMagic ||
		crc32.Checksum(data[:headerSize-4], castagnoli) != binary.LittleEndian.Uint32(data[headerSize-4:]) {
		return header{}, errNoRecord
	}
	result := header{
		kind: kind(binary.LittleEndian.Uint32(data[8:])), sum: binary.LittleEndian.Uint32(data[12:]),
		count: binary.LittleEndian.Uint64(data[16:]), size: binary.LittleEndian.Uint64(data[24:]),
		blocks: binary.LittleEndian.Uint64(data[32:]), checksum: binary.LittleEndian.Uint32(data[40:]),
	}
	if result.kind != plainBoards && result.kind != valuedBoards || result.size > math.MaxInt64/2 || result.size/indexEntry < result.blocks ||
		result.count > result.blocks*blockBoards {
		return result, errNoRecord
	}
	return result, nil
}

// source is where a record is stored: memory or part of a file.
type source interface {
	// view returns n bytes at offset off. The result may belong to the source and must not be changed, or may be in buf, which is reallocated if too
	// short.
	view(off, n int64, buf []byte) ([]byte, error)
	// copies reports whether view copies into buffers.
	copies() bool
}

type memorySource []byte

func (m memorySource) view(offset, length int64, _ []byte) ([]byte, error) {
	if offset < 0 || length < 0 || offset > int64(len(m)) || length > int64(len(m))-offset {
		return nil, io.ErrUnexpectedEOF
	}
	return m[offset : offset+length : offset+length], nil
}

func (m memorySource) copies() bool { return false }

// fileSection is part of a file.
type fileSection struct {
	file io.ReaderAt
	base int64
}

func (s fileSection) view(offset, length int64, buffer []byte) ([]byte, error) {
	if int64(cap(buffer)) < length {
		buffer = make([]byte, length)
	}
	buffer = buffer[:length]
	if read, err := s.file.ReadAt(buffer, s.base+offset); read < len(buffer) {
		return nil, err
	}
	return buffer, nil
}

func (s fileSection) copies() bool { return true }

// record is a complete record with its index. It is safe for concurrent use.
type record struct {
	header
	order  // of the boards
	source source
	index  []byte
	file   io.Closer // nil if there is nothing to close
}

// Close closes the file of the record, if it has one of its own.
func (r *record) Close() error {
	if r == nil || r.file == nil {
		return nil
	}
	return r.file.Close()
}

// openRecord reads the header and the index of the record at the start of a source. It checks the checksum of the header only.
func openRecord(src source) (*record, error) {
	data, err := src.view(0, headerSize, nil)
	if err != nil {
		return nil, errNoRecord
	}
	head, err := parseHeader(data)
	if err != nil {
		return nil, err
	}
	opened := &record{header: head, source: src}
	size := indexEntry * int64(head.blocks)
	if opened.index, err = src.view(headerSize+int64(head.size)-size, size, nil); err != nil {
		return nil, fmt.Errorf("read the index of layer %d: %w", head.sum, err)
	}
	return opened, nil
}

// verify returns an error if the checksum of the record is wrong. It reads the whole record.
func (r *record) verify() error {
	const step = 1 << 20
	var buffer scratch
	sum := uint32(0)
	for offset := int64(0); offset < int64(r.size); offset += step {
		data, err := r.source.view(headerSize+offset, min(step, int64(r.size)-offset), buffer.data)
		if err != nil {
			return fmt.Errorf("layer %d: %w", r.sum, err)
		}
		sum = crc32.Update(sum, castagnoli, data)
		r.keepBuffer(&buffer, data)
	}
	if sum != r.checksum {
		return fmt.Errorf("layer %d: checksum is %08x, want %08x", r.sum, sum, r.checksum)
	}
	return nil
}

// first returns the first board of a block.
func (r *record) first(block int) uint64 {
	return binary.LittleEndian.Uint64(r.index[block*indexEntry:])
}

func (r *record) indexValue(block int) uint64 {
	return binary.LittleEndian.Uint64(r.index[block*indexEntry+8:])
}

// start returns the offset of a block. After the last block it returns the offset of the index.
func (r *record) start(block int) int64 {
	if block == int(r.blocks) {
		return int64(r.size) - int64(len(r.index))
	}
	return int64(r.indexValue(block) & (1<<startBits - 1))
}

// boardsIn returns the number of boards of a block.
func (r *record) boardsIn(block int) int { return int(r.indexValue(block)>>startBits) + 1 }

// blockFor returns the last block whose first board is not after board, -1 if there is none.
func (r *record) blockFor(board uint64) int {
	return sort.Search(int(r.blocks), func(i int) bool { return r.precedes(board, r.first(i)) }) - 1
}

// blocksOfPart returns the range of blocks lo to hi-1 of a part.
func (r *record) blocksOfPart(i int) (lo, hi int) {
	lo = sort.Search(int(r.blocks), func(block int) bool { return r.partOf(r.first(block)) >= i })
	hi = lo + sort.Search(int(r.blocks)-lo, func(block int) bool { return r.partOf(r.first(lo+block)) > i })
	return lo, hi
}

// boardsOf returns the number of boards of a part.
func (r *record) boardsOf(part int) int {
	n := 0
	for lo, hi := r.blocksOfPart(part); lo < hi; lo++ {
		n += r.boardsIn(lo)
	}
	return n
}

// scratch has the buffers of one goroutine for reading records.
type scratch struct {
	data   []byte
	boards []uint64
}

// readPart calls visit for each block of a part. The arguments of visit are valid during the call only.
func (r *record) readPart(ctx context.Context, part int, buffer *scratch, visit func(view *blockView, boards []uint64) error) error {
	first, end := r.blocksOfPart(part)
	for ; first < end; first += readBlocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.readChunk(first, min(first+readBlocks, end), buffer, visit); err != nil {
			return err
		}
	}
	return nil
}

// readBlocks calls visit for the blocks first to end-1. The arguments of visit are valid during the call only.
func (r *record) readBlocks(first, end int, buffer *scratch, visit func(view *blockView, boards []uint64) error) error {
	for ; first < end; first += readBlocks {
		if err := r.readChunk(first, min(first+readBlocks, end), buffer, visit); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) readChunk(firstBlock, endBlock int, buffer *scratch, visit func(view *blockView, boards []uint64) error) error {
	start, end := r.start(firstBlock), r.start(endBlock)
	if start > end || end > int64(r.size) {
		return r.malformed(firstBlock)
	}
	data, err := r.source.view(headerSize+start, end-start, buffer.data)
	if err != nil {
		return fmt.Errorf("read layer %d: %w", r.sum, err)
	}
	r.keepBuffer(buffer, data)
	for block := firstBlock; block < endBlock; block++ {
		blockStart, blockEnd := r.start(block)-start, r.start(block+1)-start
		if blockStart < 0 || blockStart > blockEnd || blockEnd > int64(len(data)) || r.boardsIn(block) > blockBoards {
			return r.malformed(block)
		}
		view, ok := splitBlock(data[blockStart:blockEnd], r.boardsIn(block), r.first(block), r.kind == valuedBoards)
		if ok {
			buffer.boards, ok = r.appendBoards(buffer.boards[:0], &view)
		}
		if !ok {
			return r.malformed(block)
		}
		if err := visit(&view, buffer.boards); err != nil {
			return err
		}
	}
	return nil
}

// keepBuffer stores data in s for reuse, unless it belongs to the source.
func (r *record) keepBuffer(s *scratch, data []byte) {
	if r.source.copies() {
		s.data = data
	}
}

// find returns the value and the best moves of a board; found is false if the record does not have the board.
func (r *record) find(board uint64) (value float64, moves game.Moves, found bool) {
	block := r.blockFor(board)
	if block < 0 {
		return 0, 0, false
	}
	err := r.readBlocks(block, block+1, new(scratch), func(view *blockView, boards []uint64) error {
		index, isThere := slices.BinarySearch(boards, board)
		if isThere {
			value, found = view.value(index)
			moves = game.Moves(nibble(view.moves, index))
		}
		return nil
	})
	return value, moves, found && err == nil
}

func (r *record) malformed(block int) error {
	return fmt.Errorf("layer %d: block %d is malformed", r.sum, block)
}
