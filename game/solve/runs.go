package solve

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
)

// runs are sorted sets of boards on their way to the parts of a layer: in memory up to a limit, then in a file.
type runs struct {
	limit int64                    // bytes in memory
	spill func() (*os.File, error) // makes the file, or returns nil where everything has to stay in memory

	mu    sync.Mutex
	parts [][]chunk
	bytes int64 // in memory
	file  *os.File
	size  int64 // of the file
}

// errRun says that the file is not as it was written.
var errRun = errors.New("a run of afterstates is malformed")

// chunk is the encoding of n ascending boards: the first one and differences, as varints.
type chunk struct {
	n      int
	data   []byte // nil if it is in the file
	offset int64
	size   int
}

// reset forgets what there is.
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

// add adds sets, whose encodings lie one behind the other in data, by part. It keeps data.
func (r *runs) add(data []byte, sets []set) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	offset := int64(-1)
	if r.bytes += int64(len(data)); r.bytes > r.limit && r.file == nil {
		var err error
		if r.file, err = r.spill(); err != nil {
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

// set is a set of n boards of a part, and where its encoding ends.
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

// take appends the boards of a part. It may be called for several parts at a time, once nothing is added any more.
func (r *runs) take(dst []uint64, part int, s *scratch) ([]uint64, error) {
	for _, c := range r.parts[part] {
		data := c.data
		if data == nil {
			var err error
			if data, err = (section{file: r.file}).view(c.offset, int64(c.size), s.data); err != nil {
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
