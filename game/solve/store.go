package solve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tilecheck/internal/processes"
)

// store keeps records by name.
type store interface {
	create(name string) (sink, error)
	// open opens a complete record; the error is errNoRecord if there is none.
	open(name string) (*record, error)
	// remove removes a record if it exists.
	remove(name string) error
	// spill creates a temporary file for data that does not fit in memory; the caller removes it. It returns nil if the store has no files.
	spill(name string) (*os.File, error)
	// size returns the bytes of memory that the records use.
	size() int64
}

// memoryStore keeps records in memory.
type memoryStore map[string]memorySource

type memorySink struct {
	store memoryStore
	name  string
	data  []byte
}

func (m memoryStore) create(name string) (sink, error) {
	return &memorySink{m, name, make([]byte, headerSize, 1<<12)}, nil
}

func (m memoryStore) open(name string) (*record, error) { return openRecord(m[name]) }

func (m memoryStore) remove(name string) error {
	delete(m, name)
	return nil
}

func (memoryStore) spill(string) (*os.File, error) { return nil, nil }

func (m memoryStore) size() int64 {
	total := int64(0)
	for _, data := range m {
		total += int64(len(data))
	}
	return total
}

func (s *memorySink) Write(p []byte) (int, error) {
	s.data = append(s.data, p...)
	return len(p), nil
}

func (s *memorySink) finish(head header) error {
	head.append(s.data[:0])
	if len(s.data) < cap(s.data)*15/16 {
		s.data = slices.Clone(s.data)
	}
	s.store[s.name] = s.data
	return nil
}

func (s *memorySink) abandon() error { return nil }

// dirStore keeps records as files in a directory. A file gets its final name when it is complete.
type dirStore string

func (d dirStore) path(name string) string { return filepath.Join(string(d), name) }

func (d dirStore) create(name string) (sink, error) {
	file, err := os.Create(d.path(name + processes.Unfinished))
	if err != nil {
		return nil, err
	}
	return &fileSink{file: file, name: d.path(name)}, nil
}

func (d dirStore) open(name string) (*record, error) {
	file, err := os.Open(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoRecord
	}
	if err != nil {
		return nil, err
	}
	opened, err := openRecord(fileSection{file: file})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", d.path(name), err), file.Close())
	}
	opened.file = file
	return opened, nil
}

func (d dirStore) remove(name string) error {
	return removeFile(d.path(name))
}

// removeFile removes a file that another process may remove too.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d dirStore) size() int64 { return 0 }

func (d dirStore) spill(name string) (*os.File, error) {
	return os.Create(d.path(name + processes.Unfinished))
}

// fileSink writes a record to a file, from offset base on.
type fileSink struct {
	file *os.File
	base int64
	size int64  // bytes after the header
	name string // final name of the file; empty for a record inside a larger file
	done func(h header)
}

func (s *fileSink) Write(p []byte) (int, error) {
	n, err := s.file.WriteAt(p, s.base+headerSize+s.size)
	s.size += int64(n)
	return n, err
}

func (s *fileSink) finish(head header) error {
	if _, err := s.file.WriteAt(head.append(nil), s.base); err != nil {
		return err
	}
	if s.name == "" {
		s.done(head)
		return nil
	}
	if err := s.file.Close(); err != nil {
		return err
	}
	return os.Rename(s.file.Name(), s.name)
}

func (s *fileSink) abandon() error {
	if s.name == "" {
		return s.file.Truncate(s.base)
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}
