package suite

import (
	"bytes"
	"io/fs"
	"strings"

	"tilecheck/internal/limited"
	"tilecheck/prism/syntax"
)

// word is one word of a file of switches, with its place.
type word struct {
	text  string
	place Place
}

const (
	// maxLines is the greatest size of a file of switches or of a list, in bytes.
	maxLines = 256 << 10
	// maxRuns is the greatest number of runs in a directory.
	maxRuns = 100_000
)

// readLines reads a file of switches or a list.
func readLines(fileSystem fs.FS, name string) ([][]word, error) {
	text, err := limited.ReadFile(fileSystem, name, maxLines)
	if err != nil {
		return nil, err
	}
	return splitLines(name, text), nil
}

// splitLines splits a file of switches into lines of words. It skips empty lines and comment lines, which start with #.
func splitLines(name string, text []byte) [][]word {
	var lines [][]word
	lineNumber, offset := int32(0), 0
	for line := range bytes.Lines(text) {
		lineNumber++
		if words := splitWords(name, lineNumber, offset, line); len(words) > 0 && words[0].text[0] != '#' {
			lines = append(lines, words)
		}
		offset += len(line)
	}
	return lines
}

// splitWords splits a line into words at white space. offset is the offset of the line in the file.
func splitWords(name string, lineNumber int32, offset int, line []byte) []word {
	var words []word
	start := -1 // the index of the current word; -1 between words
	for i := 0; i <= len(line); i++ {
		isBlank := i == len(line) || strings.IndexByte(" \t\r\n\v\f", line[i]) >= 0
		switch {
		case !isBlank && start < 0:
			start = i
		case isBlank && start >= 0:
			pos := syntax.Pos{Offset: int32(offset + start), Line: lineNumber, Col: int32(start + 1)}
			words = append(words, word{string(line[start:i]), Place{name, pos}})
			start = -1
		}
	}
	return words
}
