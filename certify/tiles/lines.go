package tiles

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math/bits"
	"strings"
)

// lines reads the lines of a certificate. The last line has the checksum of all lines before it, which detects accidental changes.
type lines struct {
	ctx     context.Context
	scanner *bufio.Scanner // lines have at most bufio.MaxScanTokenSize bytes, 64 kB
	line    int            // number of the current line, from 1
	hash    hash.Hash
}

func newLines(ctx context.Context, r io.Reader) *lines {
	return &lines{ctx: ctx, scanner: bufio.NewScanner(r), hash: sha256.New()}
}

// nextLine returns the next line and adds it to the checksum. The slice is valid only until the next call.
func (l *lines) nextLine() ([]byte, error) {
	l.line++
	if l.line%1024 == 1 && l.ctx.Err() != nil {
		return nil, context.Cause(l.ctx)
	}
	if !l.scanner.Scan() {
		if err := l.scanner.Err(); errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("it is longer than %d kB", bufio.MaxScanTokenSize>>10)
		}
		return nil, cmp.Or(l.scanner.Err(), io.ErrUnexpectedEOF)
	}
	text := l.scanner.Bytes()
	l.hash.Write(text)
	l.hash.Write([]byte{'\n'})
	return text, nil
}

// header reads a header of n lines. It joins the lines with blanks and parses them with fmt.Sscanf: the values that format names are stored in
// fields.
func (l *lines) header(n int, format string, fields ...any) error {
	var header []string
	for range n {
		text, err := l.nextLine()
		if err != nil {
			return err
		}
		header = append(header, string(text))
	}
	if _, err := fmt.Sscanf(strings.Join(header, " "), format, fields...); err != nil {
		return fmt.Errorf("found %.200q, want a header such as %q", strings.Join(header, "\n"), format)
	}
	return nil
}

// checkEnd reads the last line. It is an error if the line does not have the right checksum, or if another line follows.
func (l *lines) checkEnd() error {
	wantText := fmt.Sprintf("sha256 %x", l.hash.Sum(nil))
	text, err := l.nextLine()
	if err != nil {
		return err
	}
	if string(text) != wantText {
		return fmt.Errorf("found %.80q, want %q: some line was changed", text, wantText)
	}
	if text, err := l.nextLine(); !errors.Is(err, io.ErrUnexpectedEOF) {
		return cmp.Or(err, fmt.Errorf("found %.80q, want the end of the file", text))
	}
	return nil
}

// wrap adds the number of the line to an error.
func (l *lines) wrap(err error) error { return fmt.Errorf("line %d: %w", l.line, err) }

// exponentOf returns the exponent of a tile, such as 11 for 2048. The tile must be a power of two from 4 to 32768.
func exponentOf(tile int) (board, error) {
	exp := bits.TrailingZeros(uint(tile))
	if exp < 2 || exp > 15 || tile != 1<<exp {
		return 0, fmt.Errorf("tile %d, want a power of two from 4 to 32768", tile)
	}
	return board(exp), nil
}

// digit returns the exponent that a hexadecimal digit stands for, or 16 for another character.
func digit(c byte) board {
	switch {
	case '0' <= c && c <= '9':
		return board(c - '0')
	case 'a' <= c && c <= 'f':
		return board(c-'a') + 10
	}
	return 16
}
