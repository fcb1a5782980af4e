package syntax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a position in a source file. Line and Col count from 1, Offset from 0. Col counts bytes, and a tab is one byte. PRISM counts a tab
// differently: it advances to the next multiple of eight. The zero Pos is unknown, as in a tree that was not parsed.
type Pos struct {
	Offset, Line, Col int32
	// Formula says that a property has an error in a formula that it uses: the position is in the
	// model file, where the formula is defined.
	Formula bool
}

// IsValid reports whether the position is known.
func (p Pos) IsValid() bool { return p.Line > 0 }

// String returns "line:col", or "-" for an unknown position.
func (p Pos) String() string {
	if !p.IsValid() {
		return "-"
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Col)
}

// Compare orders positions by line, then column.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// Error is one diagnostic about a source file: a syntax error here, a name or
// type error in package sema. Msg starts in lower case, has no full stop, and
// says what was found and what was wanted.
type Error struct {
	File string // as the user named it; empty for text given on the command line
	Pos  Pos
	Msg  string
}

// Error returns "file:line:col: message", without the parts that are unknown.
func (e *Error) Error() string {
	var text strings.Builder
	if e.File != "" {
		text.WriteString(e.File + ":")
	}
	if e.Pos.IsValid() {
		text.WriteString(e.Pos.String() + ":")
	}
	if text.Len() > 0 {
		text.WriteByte(' ')
	}
	text.WriteString(e.Msg)
	return text.String()
}

// ErrorList collects the diagnostics of one file. The zero value is ready to use.
type ErrorList []*Error

// Add appends a diagnostic.
func (l *ErrorList) Add(file string, pos Pos, format string, args ...any) {
	*l = append(*l, &Error{File: file, Pos: pos, Msg: fmt.Sprintf(format, args...)})
}

// Err returns the list as an error, sorted by position with one diagnostic per position. For an
// empty list it returns nil.
func (l ErrorList) Err() error {
	if len(l) == 0 {
		return nil
	}
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(first, second *Error) int {
		return cmp.Or(cmp.Compare(first.File, second.File), first.Pos.Compare(second.Pos))
	})
	return slices.CompactFunc(sorted, func(first, second *Error) bool {
		return first.File == second.File && first.Pos.IsValid() && first.Pos == second.Pos
	})
}

// Error returns every diagnostic on a line of its own.
func (l ErrorList) Error() string {
	lines := make([]string, len(l))
	for i, syntaxErr := range l {
		lines[i] = syntaxErr.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single diagnostics.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, syntaxErr := range l {
		errs[i] = syntaxErr
	}
	return errs
}
