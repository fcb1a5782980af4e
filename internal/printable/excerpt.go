package printable

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Excerpt returns a line of a text and a second line with a caret below a column, which counts bytes from 1. It cuts a line
// wider than width on both sides. It returns an empty string if the line does not exist.
func Excerpt(text []byte, row, col, width int) string {
	for ; row > 1; row-- {
		_, rest, found := bytes.Cut(text, []byte("\n"))
		if !found {
			return ""
		}
		text = rest
	}
	if row < 1 || col < 1 || len(text) == 0 {
		return ""
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	at := min(col-1, len(line))
	before, behind := Line(string(line[:at])), Line(string(line[at:]))
	const indent, dots = "  ", "..."
	room := max(width-len(indent)-2*len(dots), 20)
	if cut := cutLeft(before, room*2/3); len(cut) < len(before) {
		before = dots + cut
	}
	if cut := displaywidth.TruncateString(behind, max(room-columns(before), room/3), dots); len(cut) < len(behind) {
		behind = cut
	}
	return indent + before + behind + "\n" + indent + strings.Repeat(" ", columns(before)) + "^\n"
}

// columns returns the width of a text on a terminal.
func columns(text string) int { return displaywidth.String(text) }

// cutLeft returns the longest suffix of a text that is at most width columns wide.
func cutLeft(text string, width int) string {
	wide, start := 0, len(text)
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if wide += columns(string(r)); wide > width {
			break
		}
		start -= size
	}
	return text[start:]
}
