// Package printable makes text of others safe to show: file names, labels,
// actions and what tools say may hold escape sequences of terminals, characters
// that turn the direction of writing, and characters that nobody sees. They
// become visible escapes such as \x1b and \u202e. It is for what people read;
// machine formats keep the text and quote it in their own way.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text as it may be shown: newlines stay, tabs become blanks, and
// the carriage return of an ending CR LF goes.
func Text(text string) string { return escape(text, false) }

// Line is Text in one line: newlines are made visible, too.
func Line(text string) string { return escape(text, true) }

func escape(text string, oneLine bool) string {
	if !strings.ContainsFunc(text, unsafe) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' && !oneLine:
			b.WriteByte('\n')
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case r == '\r' && !oneLine && strings.HasPrefix(text[i:], "\r\n"):
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !unsafe(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// unsafe reports whether a character is not shown as it is: control characters
// (C0, DEL, C1), format characters (bidirectional controls, zero-width
// characters, tags), separators of lines and paragraphs, blanks that look like
// nothing, noncharacters, and what is not UTF-8.
//
// Source: Unicode Standard Annex 9, section 2; Boucher and Anderson, "Trojan
// Source: Invisible Vulnerabilities", 2021.
func unsafe(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, utf8.RuneError:
		return true
	}
	nonCharacter := r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
	return nonCharacter || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
