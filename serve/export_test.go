package serve

import (
	"strings"
	"testing"
)

// The files are those of the command export, with all states.
func TestExport(t *testing.T) {
	model := "dtmc\nmodule m\n  x : [0..2];\n  [a] x<2 -> 0.5:(x'=x+1) + 0.5:(x'=2);\n  [] x=2 -> true;\nendmodule\nlabel \"end\" = x=2;\n"
	for format, want := range map[string]string{
		"tra": "3 4\n0 1 0.5 a\n0 2 0.5 a\n1 2 1 a\n2 2 1\n", "sta": "(x)\n0:(0)\n1:(1)\n2:(2)\n", "lab": "end", "pexp": "end", "dot": "digraph", "drn": "@type: DTMC",
	} {
		var answer struct{ Text string }
		ask(t, Options{}, "export", object{"model": model, "format": format}, &answer)
		if !strings.Contains(answer.Text, want) {
			t.Errorf("%s: found %q, want %q", format, answer.Text, want)
		}
	}
	text, outcome := answerTo(t, New(Options{}), "export", `{"model":"dtmc module m x:[0..1]; endmodule","format":"exe"}`)
	if outcome != Malformed || !strings.Contains(text, `format \"exe\", want one of tra`) {
		t.Errorf("%d %s", outcome, text)
	}
}
