// Package printable makes text from outside safe to show. File names, labels, actions and output of tools
// can contain escape sequences of terminals, characters that change the direction of writing, and invisible
// characters. The package replaces them by visible escapes such as \x1b and \u202e. It is for text that people read;
// machine formats keep the text and quote it in their own way.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns text in a form that is safe to show. It keeps newlines, replaces tabs by blanks, and removes the
// carriage return of a final CR LF.
func Text(text string) string { return escape(text, false) }

// Line is Text for one line: it also makes newlines visible.
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

// unsafe reports whether a character must be escaped: control characters (C0, DEL, C1), format characters
// (bidirectional controls, zero-width characters, tags), separators of lines and paragraphs, blanks that are
// invisible, noncharacters, and invalid UTF-8.
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
