package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
)

// ColumnFiles says how far the transitions of the states are written.
type ColumnFiles struct {
	Done   bool
	File   string
	Size   int64 // bytes of the chunks that are complete
	States int64 // in these chunks
	// ChunkStates is the number of states of each chunk but the last.
	ChunkStates int
}

// Range is a range of numbers of states.
type Range struct{ First, End int64 }

// Columns are the transitions of all states in a file, in chunks of consecutive states.
//
// The row of a state has its choices, each with a distribution and the differences of the targets' numbers to its own. Equal rows of a chunk
// are stored once. A distribution is a list of weights, which is stored once in a chunk, too.
type Columns struct {
	Chunks []Chunk
	// Totals of all chunks.
	States, Choices, Transitions, Deadlocks, Overlaps int64
	RelErr                                            float64 // bounds the relative error of the weights
	MinWeight, MaxWeight                              float64
	// Forward and Backward are the sums of the weights of transitions to other chunks, with greater and with smaller numbers.
	Forward, Backward float64
	Bytes             int64

	file *os.File
}

// Chunk describes the rows of consecutive states. Most of its fields are the header of the chunk in the file.
type Chunk struct {
	First                                     int64 // number of the first state
	States, Choices, Transitions              int64
	Deadlocks, Overlaps                       int64
	Operands                                  int64 // the length of Rows.Operands
	Weights                                   int64 // the length of Rows.Weights
	RelErr, MinWeight, MaxWeight              float64
	Forward, Backward                         float64
	rangesSize, weightsSize, rowsSize, offset int64 // bytes of the parts, and position of the first part in the file
	checksum                                  uint32
	// FirstChoice is the number of choices of all chunks before. It is not in the header.
	FirstChoice int64
}

const (
	chunkMagic  = 0x6b6e6863 // "chnk"
	headerBytes = 8 * 17
)

// appendHeader appends the header of the chunk in its binary form: a magic number with the checksum, and the fields of the chunk.
func (chunk *Chunk) appendHeader(data []byte) []byte {
	data = binary.LittleEndian.AppendUint64(data, chunkMagic|uint64(chunk.checksum)<<32)
	for _, number := range chunk.integerFields() {
		data = binary.LittleEndian.AppendUint64(data, uint64(*number))
	}
	for _, number := range chunk.floatFields() {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(*number))
	}
	return data
}

// integerFields returns the integers of the header.
func (chunk *Chunk) integerFields() []*int64 {
	return []*int64{
		&chunk.First, &chunk.States, &chunk.Choices, &chunk.Transitions, &chunk.Deadlocks, &chunk.Overlaps, &chunk.Operands, &chunk.Weights,
		&chunk.rangesSize, &chunk.weightsSize, &chunk.rowsSize,
	}
}

// floatFields returns the other numbers of the header.
func (chunk *Chunk) floatFields() []*float64 {
	return []*float64{&chunk.RelErr, &chunk.MinWeight, &chunk.MaxWeight, &chunk.Forward, &chunk.Backward}
}

// readHeader sets the fields of the chunk from a header in binary form. The error is errDamaged if the magic number is wrong.
func (chunk *Chunk) readHeader(data []byte) error {
	first := binary.LittleEndian.Uint64(data)
	if uint32(first) != chunkMagic {
		return errDamaged
	}
	chunk.checksum = uint32(first >> 32)
	data = data[8:]
	for _, number := range chunk.integerFields() {
		*number, data = int64(binary.LittleEndian.Uint64(data)), data[8:]
	}
	for _, number := range chunk.floatFields() {
		*number, data = math.Float64frombits(binary.LittleEndian.Uint64(data)), data[8:]
	}
	return nil
}

// partsSize returns the number of bytes of the parts.
func (chunk *Chunk) partsSize() int64 { return chunk.rangesSize + chunk.weightsSize + chunk.rowsSize }

// openColumns opens the file of the transitions, and reads the header of each chunk.
func openColumns(directory *Directory, files *ColumnFiles) (*Columns, error) {
	file, err := os.Open(directory.Path(files.File))
	if err != nil {
		return nil, err
	}
	columns := &Columns{file: file, MinWeight: 1, MaxWeight: 1, Bytes: files.Size}
	var header [headerBytes]byte
	for offset := int64(0); offset < files.Size; {
		var chunk Chunk
		_, err := file.ReadAt(header[:], offset)
		if err == nil {
			err = chunk.readHeader(header[:])
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", file.Name(), err), file.Close())
		}
		chunk.offset = offset + headerBytes
		offset = chunk.offset + chunk.partsSize()
		columns.addChunk(chunk)
	}
	return columns, nil
}

// addChunk appends a chunk to the list of chunks, and adds its numbers to the totals.
func (columns *Columns) addChunk(chunk Chunk) {
	chunk.FirstChoice = columns.Choices
	columns.Chunks = append(columns.Chunks, chunk)
	columns.States += chunk.States
	columns.Choices += chunk.Choices
	columns.Transitions += chunk.Transitions
	columns.Deadlocks += chunk.Deadlocks
	columns.Overlaps += chunk.Overlaps
	columns.Forward += chunk.Forward
	columns.Backward += chunk.Backward
	columns.RelErr = max(columns.RelErr, chunk.RelErr)
	columns.MinWeight, columns.MaxWeight = min(columns.MinWeight, chunk.MinWeight), max(columns.MaxWeight, chunk.MaxWeight)
}

// Close closes the file.
func (columns *Columns) Close() error { return columns.file.Close() }

// rangeGap is the number of states up to which two ranges of targets are joined: reading a value that is not needed takes less than
// describing another range.
const rangeGap = 32

// TargetRanges appends to ranges disjoint ranges of states, in ascending order, that contain all targets of the chunk's transitions. They may also contain
// other states.
func (columns *Columns) TargetRanges(ranges []Range, chunk int) ([]Range, error) {
	header := &columns.Chunks[chunk]
	data := make([]byte, header.rangesSize)
	if _, err := columns.file.ReadAt(data, header.offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", columns.file.Name(), err)
	}
	previousEnd := int64(0)
	for len(data) > 0 {
		gap, gapBytes := binary.Uvarint(data)
		length, lengthBytes := binary.Uvarint(data[max(gapBytes, 0):])
		if gapBytes <= 0 || lengthBytes <= 0 {
			return nil, fmt.Errorf("read %s: %w", columns.file.Name(), errDamaged)
		}
		data = data[gapBytes+lengthBytes:]
		first := previousEnd + int64(gap)
		previousEnd = first + int64(length)
		ranges = append(ranges, Range{first, previousEnd})
	}
	return ranges, nil
}

// appendRanges appends ranges of states to data in binary form. Each range is stored as two numbers: its distance from the end of the previous range, and
// its length.
func appendRanges(data []byte, ranges []Range) []byte {
	previousEnd := int64(0)
	for _, current := range ranges {
		data = binary.AppendUvarint(data, uint64(current.First-previousEnd))
		data = binary.AppendUvarint(data, uint64(current.End-current.First))
		previousEnd = current.End
	}
	return data
}

// Rows are the rows of consecutive states. The row of a state begins at RowOf[i] of Operands: the number of its choices, and for each
// choice the number of its transitions, the position of their weights in Weights, and for each transition the number of its target minus
// the number of the state.
type Rows struct {
	RowOf    []uint32
	Operands []int64
	Weights  []float64
}

// Reserve removes all rows, and reserves memory for the rows of the given chunks.
func (rows *Rows) Reserve(chunks []Chunk) {
	var states, operands, weights int64
	for i := range chunks {
		states, operands, weights = states+chunks[i].States, operands+chunks[i].Operands, weights+chunks[i].Weights
	}
	rows.RowOf = slices.Grow(rows.RowOf[:0], int(states))
	rows.Operands = slices.Grow(rows.Operands[:0], int(operands))
	rows.Weights = slices.Grow(rows.Weights[:0], int(weights))
}

// MemoryOf returns the number of bytes of the rows of a chunk.
func (chunk *Chunk) MemoryOf() int64 { return 4*chunk.States + 8*chunk.Operands + 8*chunk.Weights }

// AppendRows reads the rows of a chunk and appends them to rows. It uses buffer as scratch memory, and returns the buffer for the next
// call.
func (columns *Columns) AppendRows(rows *Rows, chunk int, buffer []byte) ([]byte, error) {
	header := &columns.Chunks[chunk]
	size := header.weightsSize + header.rowsSize
	buffer = slices.Grow(buffer[:0], int(size))[:size]
	if _, err := columns.file.ReadAt(buffer, header.offset+header.rangesSize); err != nil {
		return buffer, fmt.Errorf("read %s: %w", columns.file.Name(), err)
	}
	if crc32.Checksum(buffer, castagnoli) != header.checksum {
		return buffer, fmt.Errorf("read %s: %w", columns.file.Name(), errDamaged)
	}
	decoder := rowDecoder{rows: rows}
	if err := decoder.decodeDistributions(buffer[:header.weightsSize]); err != nil {
		return buffer, fmt.Errorf("read %s: %w", columns.file.Name(), err)
	}
	if err := decoder.decodeRows(buffer[header.weightsSize:], int(header.States)); err != nil {
		return buffer, fmt.Errorf("read %s: %w", columns.file.Name(), err)
	}
	return buffer, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowDecoder decodes a chunk.
type rowDecoder struct {
	rows          *Rows
	distributions []distribution
	templates     []uint32 // the positions of the rows with a number
}

// distribution has the position of its weights in Rows.Weights.
type distribution struct{ firstWeight, numWeights int64 }

// decodeDistributions decodes the distributions of a chunk, and appends their weights to rows.Weights. Each distribution is stored as its
// length and its weights.
func (decoder *rowDecoder) decodeDistributions(data []byte) error {
	for len(data) > 0 {
		length, size := binary.Uvarint(data)
		if size <= 0 || uint64(len(data)-size) < 8*length {
			return errDamaged
		}
		data = data[size:]
		decoder.distributions = append(decoder.distributions, distribution{int64(len(decoder.rows.Weights)), int64(length)})
		for range length {
			decoder.rows.Weights = append(decoder.rows.Weights, math.Float64frombits(binary.LittleEndian.Uint64(data)))
			data = data[8:]
		}
	}
	return nil
}

// maxTemplates is the number of rows of a chunk that get a number, to which later states refer.
const maxTemplates = 1 << 12

// decodeRows decodes the rows of numStates states. A row that equals an earlier row of the chunk is stored as the number of that row.
func (decoder *rowDecoder) decodeRows(data []byte, numStates int) error {
	for range numStates {
		code, size := shortUvarint(data) // 0 if a new row follows, otherwise 1 + the number of an equal earlier row
		if size <= 0 || code > uint64(len(decoder.templates)) {
			return errDamaged
		}
		data = data[size:]
		if code > 0 {
			decoder.rows.RowOf = append(decoder.rows.RowOf, decoder.templates[code-1])
			continue
		}
		row := uint32(len(decoder.rows.Operands))
		decoder.rows.RowOf = append(decoder.rows.RowOf, row)
		if len(decoder.templates) < maxTemplates {
			decoder.templates = append(decoder.templates, row)
		}
		var err error
		if data, err = decoder.decodeRow(data); err != nil {
			return err
		}
	}
	return nil
}

// decodeRow decodes one row and appends it to rows.Operands. It returns the data after the row.
func (decoder *rowDecoder) decodeRow(data []byte) ([]byte, error) {
	numChoices, size := binary.Uvarint(data)
	if size <= 0 {
		return nil, errDamaged
	}
	data = data[size:]
	decoder.rows.Operands = append(decoder.rows.Operands, int64(numChoices))
	for range numChoices {
		number, size := binary.Uvarint(data)
		if size <= 0 || number >= uint64(len(decoder.distributions)) {
			return nil, errDamaged
		}
		data = data[size:]
		distribution := decoder.distributions[number]
		decoder.rows.Operands = append(decoder.rows.Operands, distribution.numWeights, distribution.firstWeight)
		for range distribution.numWeights {
			difference, size := binary.Varint(data)
			if size <= 0 {
				return nil, errDamaged
			}
			data = data[size:]
			decoder.rows.Operands = append(decoder.rows.Operands, difference)
		}
	}
	return data, nil
}
