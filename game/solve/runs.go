package solve

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
)

// runs stores sorted sets of boards by part. It keeps them in memory up to a limit and then in a file.
type runs struct {
	limit      int64                    // bytes in memory
	createFile func() (*os.File, error) // nil if everything must stay in memory

	mutex sync.Mutex
	parts [][]chunk
	bytes int64 // in memory
	file  *os.File
	size  int64 // of the file
}

// errRun is the error for a damaged file.
var errRun = errors.New("a run of afterstates is malformed")

// chunk is the encoding of n ascending boards: the first one and the differences, as varints.
type chunk struct {
	n      int
	data   []byte // nil if it is in the file
	offset int64
	size   int
}

// reset removes everything.
func (r *runs) reset(parts int) error {
	err := r.close()
	r.parts = make([][]chunk, parts)
	return err
}

func (r *runs) close() error {
	r.parts, r.bytes, r.size = nil, 0, 0
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// add adds sets of boards. data has the encodings of the sets, one after the other. If all data exceeds the limit, it goes to a temporary file.
func (r *runs) add(data []byte, sets []set) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	offset := int64(-1)
	if r.bytes += int64(len(data)); r.bytes > r.limit && r.file == nil {
		var err error
		if r.file, err = r.createFile(); err != nil {
			return err
		}
	}
	if r.file != nil {
		offset = r.size
		if _, err := r.file.WriteAt(data, offset); err != nil {
			return err
		}
		r.size += int64(len(data))
	}
	start := 0
	for _, current := range sets {
		added := chunk{n: current.n, size: current.end - start}
		if offset < 0 {
			added.data = data[start:current.end]
		} else {
			added.offset = offset + int64(start)
		}
		r.parts[current.part] = append(r.parts[current.part], added)
		start = current.end
	}
	return nil
}

// set describes an encoded set of n boards of a part; end is the end of its encoding.
type set struct{ part, n, end int }

// appendRun encodes boards in ascending order as differences.
func appendRun(dst []byte, boards []uint64) []byte {
	last := uint64(0)
	for _, board := range boards {
		dst = binary.AppendUvarint(dst, board-last)
		last = board
	}
	return dst
}

// appendPart appends the boards of a part to dst. It may be called concurrently after the last call of add.
func (r *runs) appendPart(dst []uint64, part int, buffer *scratch) ([]uint64, error) {
	for _, current := range r.parts[part] {
		data := current.data
		if data == nil {
			var err error
			if data, err = (fileSection{file: r.file}).view(current.offset, int64(current.size), buffer.data); err != nil {
				return nil, err
			}
			buffer.data = data
		}
		board := uint64(0)
		for range current.n {
			delta, size := binary.Uvarint(data)
			if size <= 0 {
				return nil, errRun
			}
			board, data = board+delta, data[size:]
			dst = append(dst, board)
		}
	}
	return dst, nil
}
