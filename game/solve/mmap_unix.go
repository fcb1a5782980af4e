//go:build unix

package solve

import (
	"fmt"
	"io"
	"math"
	"os"
	"syscall"
)

// mapped is a file in memory.
type mapped struct {
	file *os.File
	data []byte
}

// mapFile maps a file of size bytes. Closing it closes the file too.
func mapFile(file *os.File, size int64) (source, io.Closer, error) {
	if size == 0 || size > math.MaxInt {
		return fileSection{file, 0}, file, nil
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map into memory: %w", err)
	}
	return memorySource(data), &mapped{file, data}, nil
}

func (m *mapped) Close() error {
	err := syscall.Munmap(m.data)
	if closed := m.file.Close(); err == nil {
		err = closed
	}
	return err
}
