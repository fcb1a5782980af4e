package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"tilecheck/native/space/files/named"

	"tilecheck/internal/limited"
	"tilecheck/native/space/files"
)

// maxSource is the largest model or properties file that is read. Models of
// this size would take PRISM's own parser gigabytes.
const maxSource = 1 << 30

// readSource reads a model or properties file; "-" is standard input. It
// returns one-line errors that name the file and what is wrong with it.
func (e *world) readSource(path string) ([]byte, error) {
	text, err := e.readText(path)
	if err == nil {
		e.remember(path, text)
	}
	return text, err
}

func (e *world) readText(path string) ([]byte, error) {
	if path == "-" {
		return readLimited(e.stdin, "standard input")
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such file", path)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s: permission denied", path)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a directory, want a file", path)
	}
	src, err := readLimited(f, path)
	if err != nil || named.Zip(path) == "" {
		return src, err
	}
	unzipped, err := files.Gunzip(files.Source{Name: path, Text: src}, maxSource)
	return unzipped.Text, err
}

func readLimited(r io.Reader, name string) ([]byte, error) {
	src, err := limited.Read(r, maxSource)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return src, nil
}
