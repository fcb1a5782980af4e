package suite

import (
	"bytes"
	"io/fs"

	"tilecheck/internal/limited"
	"tilecheck/prism/syntax"
)

// word is one word of a file of switches, with its place.
type word struct {
	text  string
	place Place
}

const (
	// maxLines is the greatest size of a file of switches or of a list, in bytes. PRISM's own
	// suite has files of up to 2,505 bytes.
	maxLines = 256 << 10
	// maxRuns is the greatest number of runs in a directory: the lines of a model's file and of
	// its properties' file multiply.
	maxRuns = 100_000
)

// readLines reads a file of switches or a list.
func readLines(fsys fs.FS, name string) ([][]word, error) {
	text, err := limited.ReadFile(fsys, name, maxLines)
	if err != nil {
		return nil, err
	}
	return splitLines(name, text), nil
}

// splitLines splits a file of switches into words, line by line. It skips empty lines and lines that start with #. There
// is no quoting.
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

// splitWords splits a line of a file into words at blanks. offset is the offset of the line in the file.
func splitWords(name string, lineNumber int32, offset int, line []byte) []word {
	var words []word
	start := -1 // of the current word; negative between words
	for i := 0; i <= len(line); i++ {
		isBlank := i == len(line) || bytes.IndexByte([]byte(" \t\r\n\v\f"), line[i]) >= 0
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
