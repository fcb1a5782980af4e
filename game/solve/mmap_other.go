//go:build !unix

package solve

import (
	"io"
	"os"
)

// mapFile reads the file where it cannot be mapped into memory.
func mapFile(file *os.File, _ int64) (source, io.Closer, error) {
	return fileSection{file, 0}, file, nil
}
