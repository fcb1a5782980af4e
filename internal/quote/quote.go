// Package quote quotes words for shells.
package quote

import (
	"runtime"
	"strings"
)

// Word quotes a word for the shell of this machine.
func Word(word string) string { return For(runtime.GOOS, word) }

// For quotes a word for sh or, on Windows, for the way in which programs split their command lines, which cmd.exe and PowerShell
// pass on unchanged.
func For(system, word string) string {
	plain := "-_./:=,+@"
	if system == "windows" {
		plain += `\`
	} else {
		plain += "%" // cmd.exe replaces it
	}
	needsQuotes := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(plain, r))
	}
	switch {
	case word != "" && !strings.ContainsFunc(word, needsQuotes):
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
		case '"': // double the backslashes before it, and escape the quote itself
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteRune(r)
	}
	return `"` + b.String() + strings.Repeat(`\`, 2*slashes) + `"`
}
