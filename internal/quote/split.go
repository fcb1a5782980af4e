package quote

import (
	"fmt"
	"strings"
)

// Split splits a text into words at blanks. Blanks in '...' or "..." do not split; there is no other quoting, and a backslash stands for itself.
// The error says that a quote is not closed.
func Split(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quoted := false, rune(0)
	for _, r := range text {
		switch {
		case quoted != 0 && r == quoted:
			quoted = 0
		case quoted != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			inWord, quoted = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quoted != 0 {
		return nil, fmt.Errorf("%c is not closed in %s", quoted, text)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
