package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/report/number"
)

// Format is an output format. The zero value is the table for people.
type Format uint8

// The formats.
const (
	Text Format = iota
	JSON
	CSV
	Markdown
)

// The names of the formats in the order of their constants, and as a help screen lists them.
const (
	Names   = "table,json,csv,markdown"
	Choices = "table (default), json, csv or markdown"
)

// ParseFormat returns the format of that name.
func ParseFormat(name string) (Format, error) {
	names := strings.Split(Names, ",")
	if i := slices.Index(names, name); i >= 0 {
		return Format(i), nil
	}
	return 0, fmt.Errorf("unknown format %q, want one of %s", name, strings.Join(names, ", "))
}

// String returns the name, or "Format(n)" for a value that is not a format.
func (f Format) String() string {
	names := strings.Split(Names, ",")
	if int(f) >= len(names) {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return names[f]
}

// Machine reports whether programs read the format: its tables have a column for every number.
func (f Format) Machine() bool { return f == JSON || f == CSV }

// MarshalText implements [encoding.TextMarshaler].
func (f Format) MarshalText() ([]byte, error) {
	if f > Markdown {
		return nil, fmt.Errorf("unknown format %v", f)
	}
	return []byte(f.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (f *Format) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFormat(string(text))
	return err
}

// Options say what the writer can show. The zero value suits a file: plain
// ASCII of any width (but text of the user's and of tools is shown as it is).
type Options struct {
	// Version says which tilecheck this is, for JSON and HTML; nil is "devel".
	Version func() string
	// Command is the command whose results these are, for JSON: "check".
	Command string
	// Width is the number of columns that a table for people may use; 0 is no limit.
	Width int
	// Whole keeps formulas and values whole, for a file: what is broken cannot be copied. A table that is too wide for that
	// is printed as blocks of lines.
	Whole bool
	// Color permits ANSI colours in the table for people.
	Color bool
	// Unicode permits "±" and box-drawing characters in tables and Markdown.
	Unicode bool
	// Digits is the number of significant digits that a value with an interval may
	// have in tables for people, if the interval justifies them; 0 is 8.
	Digits int
}

// For returns the options for bounds of a relative width that was asked for; 0 asks for none.
func (o Options) For(width float64) Options {
	if width > 0 {
		o.Digits = min(max(number.MaxDigits, 1+int(math.Ceil(-math.Log10(width)))), 17)
	}
	return o
}

// MaxDigits returns the largest number of digits of a number.
func (o Options) MaxDigits() int { return cmp.Or(o.Digits, number.MaxDigits) }

// VersionText returns the version of the program.
func (o Options) VersionText() string {
	if o.Version == nil {
		return "devel"
	}
	return o.Version()
}

// PlusMinus returns the sign between a value and its half-width.
func (o Options) PlusMinus() string {
	if o.Unicode {
		return " ± "
	}
	return " +/- "
}

// Unknown is the mark of a comparison that cannot be made.
func (o Options) Unknown() string {
	if o.Unicode {
		return "—"
	}
	return "-"
}
