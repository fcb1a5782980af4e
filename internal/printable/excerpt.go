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
		_, following, found := bytes.Cut(text, []byte("\n"))
		if !found {
			return ""
		}
		text = following
	}
	if row < 1 || col < 1 || len(text) == 0 {
		return ""
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	column := min(col-1, len(line))
	leftPart, rightPart := Line(string(line[:column])), Line(string(line[column:]))
	const indent, dots = "  ", "..."
	room := max(width-len(indent)-2*len(dots), 20)
	if shortened := cutLeft(leftPart, room*2/3); len(shortened) < len(leftPart) {
		leftPart = dots + shortened
	}
	if shortened := displaywidth.TruncateString(rightPart, max(room-columns(leftPart), room/3), dots); len(shortened) < len(rightPart) {
		rightPart = shortened
	}
	return indent + leftPart + rightPart + "\n" + indent + strings.Repeat(" ", columns(leftPart)) + "^\n"
}

// columns returns the width of a text on a terminal.
func columns(text string) int { return displaywidth.String(text) }

// cutLeft returns the longest suffix of a text that is at most width columns wide.
func cutLeft(text string, width int) string {
	usedWidth, cutStart := 0, len(text)
	for cutStart > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:cutStart])
		if usedWidth += columns(string(r)); usedWidth > width {
			break
		}
		cutStart -= size
	}
	return text[cutStart:]
}
