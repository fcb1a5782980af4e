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
	f := r.file
	r.file = nil
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// add adds sets of boards. data has their encodings one after the other; runs keeps it.
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
	at := 0
	for _, s := range sets {
		c := chunk{n: s.n, size: s.end - at}
		if offset < 0 {
			c.data = data[at:s.end]
		} else {
			c.offset = offset + int64(at)
		}
		r.parts[s.part] = append(r.parts[s.part], c)
		at = s.end
	}
	return nil
}

// set describes an encoded set of n boards of a part; end is the end of its encoding.
type set struct{ part, n, end int }

// appendRun encodes ascending boards.
func appendRun(dst []byte, boards []uint64) []byte {
	last := uint64(0)
	for _, b := range boards {
		dst = binary.AppendUvarint(dst, b-last)
		last = b
	}
	return dst
}

// appendPart appends the boards of a part to dst. It may be called concurrently after the last call of add.
func (r *runs) appendPart(dst []uint64, part int, s *scratch) ([]uint64, error) {
	for _, c := range r.parts[part] {
		data := c.data
		if data == nil {
			var err error
			if data, err = (fileSection{file: r.file}).view(c.offset, int64(c.size), s.data); err != nil {
				return nil, err
			}
			s.data = data
		}
		board := uint64(0)
		for range c.n {
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
