package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tilecheck/native/space/files/named"
	"tilecheck/prism/drn"
)

// namesStates reports whether a name on the command line means files of a state space. A DRN file with functions of parameters is a model.
func namesStates(name string) bool { return named.Is(name) && !hasFunctions(name) }

// hasFunctions reports whether a name is that of a DRN file with functions. It reads the beginning of the file only, and ignores errors: whoever reads
// the file reports them.
func hasFunctions(name string) bool {
	zipSuffix := named.Zip(name)
	if filepath.Ext(strings.TrimSuffix(name, zipSuffix)) != ".drn" {
		return false
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() { // a pipe can be read only once
		return false
	}
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	var text io.Reader = file
	if zipSuffix != "" {
		if text, err = gzip.NewReader(file); err != nil {
			return false
		}
	}
	const preambleSize = 1 << 16
	beginning, _ := io.ReadAll(io.LimitReader(text, preambleSize))
	return drn.HasFunctions(beginning)
}
