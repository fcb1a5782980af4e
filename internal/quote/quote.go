// Package quote writes words as shells take them.
package quote

import (
	"runtime"
	"strings"
)

// Word is a word as the shell of this machine takes it.
func Word(word string) string { return For(runtime.GOOS, word) }

// For quotes a word for sh, or, on Windows, as programs there split their
// command lines, which cmd.exe and PowerShell pass on.
func For(system, word string) string {
	plain := "-_./:=,+@"
	if system == "windows" {
		plain += `\`
	} else {
		plain += "%" // which cmd.exe replaces
	}
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(plain, r))
	}
	switch {
	case word != "" && !strings.ContainsFunc(word, odd):
		return word
	case system != "windows":
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	slashes := 0
	for _, r := range word {
		switch r {
		case '\\':
			slashes++
			continue
		case '"': // one more for each, and one for the quote itself
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteRune(r)
	}
	return `"` + b.String() + strings.Repeat(`\`, 2*slashes) + `"`
}
