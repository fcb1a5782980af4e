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

// The scheduler is that of check --export-scheduler, and the probabilities are those of the command distribution. Both were computed by hand.
func TestExportSchedulerAndDistributions(t *testing.T) {
	const mdp = "mdp\nmodule m\n  x : [0..2];\n  [safe] x=0 -> 0.5:(x'=1) + 0.5:(x'=2);\n  [bold] x=0 -> 0.9:(x'=1) + 0.1:(x'=2);\n  [] x>0 -> true;\nendmodule\n"
	const dtmc = "dtmc\nmodule m\n  x : [0..1];\n  [] x=0 -> 0.5:(x'=1) + 0.5:true;\n  [] x=1 -> 0.25:(x'=0) + 0.75:true;\nendmodule\n"
	for _, test := range []struct {
		question object
		want     string
	}{
		{object{"model": mdp, "props": "Pmax=? [ F x=1 ]; Pmin=? [ F x=1 ];", "format": "scheduler.txt", "property": 0}, "(0)=bold\n"},
		{object{"model": mdp, "props": "Pmax=? [ F x=1 ]; Pmin=? [ F x=1 ];", "format": "scheduler.txt", "property": 1}, "(0)=safe\n"},
		{object{"model": mdp, "props": "Pmin=? [ F x=1 ];", "format": "scheduler.json", "property": 0}, "\"safe\""},
		{object{"model": dtmc, "format": "steady"}, "0.33333333333333\n0.66666666666667\n"},
		{object{"model": dtmc, "format": "transient", "time": "2"}, "0=0.375\n1=0.625\n"},
	} {
		var answer struct{ Text string }
		ask(t, Options{}, "export", test.question, &answer)
		if !strings.Contains(answer.Text, test.want) {
			t.Errorf("%v: found %q, want %q", test.question, answer.Text, test.want)
		}
	}
	for question, want := range map[string]string{
		`{"model":"mdp module m x:[0..1]; endmodule","format":"scheduler.txt"}`:                                                       "want one",
		`{"model":"dtmc module m x:[0..1]; endmodule","format":"transient","time":"0:5"}`:                                             "found 6 times, want one",
		`{"model":"dtmc module m x:[0..1]; endmodule","format":"transient","time":"tomorrow"}`:                                        "is not a time",
		`{"model":"mdp module m x:[0..1]; endmodule","format":"steady"}`:                                                              "mdp",
		`{"model":"dtmc module m x:[0..1]; endmodule","props":"P=? [ F x=1 ]; P=? [ F x=0 ];","format":"scheduler.txt","property":0}`: "scheduler",
	} {
		if text, _ := answerTo(t, New(Options{}), "export", question); !strings.Contains(strings.ToLower(text), want) {
			t.Errorf("%s: found %s, want %q", question, text, want)
		}
	}
}
