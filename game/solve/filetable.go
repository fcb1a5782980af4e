package solve

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// fileTable writes a table to a file, layer by layer.
type fileTable struct {
	file   *os.File
	end    int64 // of the last complete layer
	layers []layerEntry
}

// openFileTable opens a file, and writes the header if the file is new.
func openFileTable(path string, problem Problem) (*fileTable, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := startFile(file, problem); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return &fileTable{file: file, end: fileHeaderSize}, nil
}

// startFile writes the header of a new file. It returns an error if an existing file has the header of another problem.
func startFile(file *os.File, problem Problem) error {
	head := make([]byte, fileHeaderSize)
	if _, err := file.ReadAt(head, 0); err == io.EOF { // the file is new, or its writer was killed here
		_, err := file.WriteAt(appendFileHeader(nil, problem), 0)
		return err
	} else if err != nil {
		return err
	}
	found, err := parseFileHeader(head)
	if err == nil && found != problem {
		err = fmt.Errorf("the work is for %s, want %s", found, problem)
	}
	return err
}

func (t *fileTable) create(sum int) (sink, error) {
	return &fileSink{file: t.file, base: t.end, done: func(h header) { t.add(h) }}, nil
}

func (t *fileTable) add(h header) {
	size := headerSize + h.size
	t.layers = append(t.layers, layerEntry{sum: h.sum, offset: uint64(t.end), size: size, positions: h.count})
	t.end += int64(size)
}

func (t *fileTable) open(sum int) (*record, error) {
	for _, entry := range t.layers {
		if int(entry.sum) == sum {
			return openRecord(fileSection{t.file, int64(entry.offset)})
		}
	}
	return nil, errNoRecord
}

func (t *fileTable) forget(int) error { return nil }

// next returns the sum of the next layer to add; first is the sum of the first layer.
func (t *fileTable) next(first int) int { return first - 2*len(t.layers) }

// restore reads the complete layers in the file, and removes an incomplete layer after them. sum is the sum of the first layer; the next ones have
// smaller sums. It returns the sum of the layer to compute next.
func (t *fileTable) restore(sum int) (int, error) {
	for ; sum >= 4; sum -= 2 {
		found, err := openRecord(fileSection{t.file, t.end})
		if err == errNoRecord {
			break
		}
		if err == nil {
			err = found.verify()
		}
		if err == nil && (int(found.sum) != sum || found.kind != valuedBoards) {
			err = fmt.Errorf("found layer %d in the table, want %d", found.sum, sum)
		}
		if err != nil {
			return 0, err
		}
		t.add(found.header)
	}
	return sum, t.file.Truncate(t.end)
}

// finish writes the directory and the footer.
func (t *fileTable) finish(stats Stats) error {
	contents := directory{initial: stats.Initial, positions: uint64(stats.Positions), afterstates: uint64(stats.Afterstates), layers: t.layers}
	afterstates := make(map[uint32]int64)
	for _, current := range stats.Layers {
		afterstates[uint32(current.Sum)] = current.Afterstates
	}
	for i := range contents.layers {
		contents.layers[i].afterstates = uint64(afterstates[contents.layers[i].sum])
	}
	ending := contents.append(nil)
	ending = appendFooter(ending, uint64(t.end), uint64(len(ending)))
	if _, err := t.file.WriteAt(ending, t.end); err != nil {
		return err
	}
	if err := t.file.Truncate(t.end + int64(len(ending))); err != nil {
		return err
	}
	return t.file.Sync()
}
