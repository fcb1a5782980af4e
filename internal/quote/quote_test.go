package quote

import (
	"os/exec"
	"testing"
)

// words that a shell could take for something else.
func oddWords() []string {
	return []string{
		"", "plain", "two words", "it's", `"quoted"`, "$HOME", "`id`", "a;b", "a&b", "a|b", "*", "~", "#x", "!x", "a\nb", "a\tb", `back\slash`,
		"P=? [ F \"top\" ]", "(x)", "{a,b}", "<x>", "é", "-x", "=x", "%PATH%", `end\`,
	}
}

// TestQuotedForShell has a shell read what was quoted.
func TestQuotedForShell(t *testing.T) {
	for _, word := range oddWords() {
		out, err := exec.Command("sh", "-c", "printf '%s.' "+For("linux", word)).Output()
		if err != nil || string(out) != word+"." {
			t.Errorf("%q quoted is %s, which a shell reads as %q (%v)", word, For("linux", word), out, err)
		}
	}
}

// TestQuotedForWindows has expectations from the rules of CommandLineToArgvW.
func TestQuotedForWindows(t *testing.T) {
	for word, want := range map[string]string{
		`C:\a\b`: `C:\a\b`, `C:\a b\`: `"C:\a b\\"`, `say "x"`: `"say \"x\""`, `a\"b`: `"a\\\"b"`, "": `""`, "it's": `"it's"`, "50%": `"50%"`,
	} {
		if got := For("windows", word); got != want {
			t.Errorf("%q quoted is %s, want %s", word, got, want)
		}
	}
}
