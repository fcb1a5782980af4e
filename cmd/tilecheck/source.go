package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"tilecheck/native/space/files/named"

	"tilecheck/internal/ending"
	"tilecheck/internal/limited"
	"tilecheck/native/space/files"
)

// maxSource is the largest model or properties file that is read. Models of
// this size would take PRISM's own parser gigabytes.
const maxSource = 1 << 30

// sources are the texts that a command has read.
type sources struct {
	texts       map[string][]byte // texts that errors may show lines of, by the name in error messages
	memoryLimit int64             // the limit of the command, 0 if it has none
	bytesRead   int64             // bytes so far
}

// readSource reads a model or properties file; "-" is standard input. It
// returns one-line errors that name the file and what is wrong with it.
func (e *environment) readSource(path string) ([]byte, error) {
	text, err := e.readText(path)
	if err == nil {
		e.remember(path, text)
	}
	return text, err
}

// readText reads a text file and decompresses it if necessary. The path "-" means standard input.
func (e *environment) readText(path string) ([]byte, error) {
	if path == "-" {
		return e.readLimited(e.stdin, "standard input")
	}
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s: permission denied", path)
	case err != nil:
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory, want a file", path)
	}
	src, err := e.readLimited(file, path)
	if err != nil || named.Zip(path) == "" {
		return src, err
	}
	text, err := files.Gunzip(src, e.bytesLeft())
	if err != nil {
		return nil, e.sizeError(path, err)
	}
	e.bytesRead += int64(len(text))
	return text, nil
}

// readLimited reads a text. It returns an error if the text is larger than the limit for all texts together. name is for this error.
func (s *sources) readLimited(reader io.Reader, name string) ([]byte, error) {
	src, err := limited.Read(reader, s.bytesLeft())
	if err != nil {
		return nil, s.sizeError(name, err)
	}
	s.bytesRead += int64(len(src))
	return src, nil
}

// bytesLeft returns how many bytes the next text may have. The command holds all texts in memory, so the memory limit applies to their total
// size.
func (s *sources) bytesLeft() int64 {
	if s.memoryLimit == 0 {
		return maxSource
	}
	return min(maxSource, max(0, s.memoryLimit-s.bytesRead))
}

// sizeError returns the error about a text that is too large. If the reason is the memory limit, and not maxSource, it is the error of this limit.
func (s *sources) sizeError(name string, err error) error {
	if _, large := errors.AsType[limited.TooLarge](err); large && s.bytesLeft() < maxSource {
		err = &ending.Memory{Limit: s.memoryLimit}
	}
	return fmt.Errorf("%s: %w", name, err)
}
