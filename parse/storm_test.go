package parse_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"tilecheck/parse"
)

// TestUnreliable: Storm says itself that a value is not reliable, prints it, and
// exits with 0. The recording has left out the middle of the run, which is that
// of the same run without --sound with 438 messages more; their words are those
// of Storm's numerical.cpp.
func TestUnreliable(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile("../testdata/logs/storm/1.14/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cut, whole := read("ctmc-inst-sound.log"), read("ctmc-inst.log")
	before, after, ok := bytes.Cut(cut, []byte("... (438 lines of the same kind left out)\n"))
	_, middle, ok2 := bytes.Cut(whole, []byte("Reward Models:  a\n"))
	middle, _, ok3 := bytes.Cut(middle, []byte("Result (for"))
	if !ok || !ok2 || !ok3 {
		t.Fatal("the recordings have another form")
	}
	const message = " (numerical.cpp:184): Fox-Glynn: lambda = 13.26, underflow near Poi(13.26, 0) = 1.7e-06. The results are unreliable.\n"
	for _, level := range []string{"ERROR", " WARN"} {
		text := bytes.Join([][]byte{before, middle, []byte(strings.Repeat(level+message, 438)), after}, nil)
		log, err := parse.ReadTranscript(text).Log(parse.Storm, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(log.Properties) != 1 {
			t.Fatalf("%d properties", len(log.Properties))
		}
		v := log.Verdicts()[0]
		if v.Value.Num != 1.284570679e-322 || v.Err != nil || !strings.Contains(v.Doubt, "unreliable") {
			t.Errorf("%s: value %v, doubt %q, error %v", level, v.Value.Num, v.Doubt, v.Err)
		}
		if n := len(v.Warnings); n > 5 {
			t.Errorf("%d warnings", n)
		}
	}
}

// TestStormForms: forms of a result that exact arithmetic and several states have.
// Source: printFilteredResult, print and printRange of Storm 1.14.
func TestStormForms(t *testing.T) {
	const start = "Storm 1.14.0 (dev)\n\nDate: x\nCommand line arguments: --prism m.prism --exact\n\nTime for model input parsing: 0.002s.\n\n" +
		"Model checking property \"1\": R=? [F (s = 1)] ...\nResult (for initial states): "
	for text, want := range map[string]string{
		"{0 (approx. 0), 1/3 (approx. 0.3333333333)}": "range [0, 0.3333333333333333] exact",
		"{inf, 1/2 (approx. 0.5)}":                    "range [0.5, +Inf] exact",
		"[1/4, 1/2] (approx. [0.25, 0.5]) (range)":    "range [0.25, 0.5] exact",
		"inf":                          "number +Inf exact",
		"100000000000 (approx. 1e+11)": "unsupported: found 100000000000, which is also what Storm writes for infinity in exact arithmetic",
		"[0, 100000000000] (approx. [0, 1e+11]) (range)": "unsupported: found 100000000000, which is also what Storm writes for infinity in exact arithmetic",
		"1/0 (approx. inf)":      "unsupported: found a fraction with denominator 0",
		"{true, false}":          "boolean false exact",
		"{1/3 (approx. 0.3), x}": `unsupported: found "x", want a number, a fraction or a Boolean`,
		"1/3 (approx. 0.3":       `unsupported: found "1/3 (approx. 0.3", want a number, a fraction or a Boolean`,
		"73779597597208722643/147573952589676412928 (approx. 1)": "number 0.49995 = 73779597597208722643/147573952589676412928 exact",
	} {
		log, err := parse.ReadTranscript([]byte("$ storm\n"+start+text+"\nTime for model checking: 0.001s.\n[exit code 0]\n")).Log(parse.Storm, parse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(log.Properties) != 1 {
			t.Fatalf("%s: %d properties", text, len(log.Properties))
		}
		p := &log.Properties[0]
		got := showValue(p.Value) + " " + p.Accuracy.String()
		if p.Err != nil {
			got = showFailure(p.Err)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
