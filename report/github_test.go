package report

import (
	"io"
	"strings"
	"testing"
)

// The expected texts follow from actions/toolkit, command.ts: escapeData and escapeProperty.
func TestGitHubEscapes(t *testing.T) {
	for _, tt := range []struct{ in, data, property string }{
		{"plain text = ok", "plain text = ok", "plain text = ok"},
		{"100%", "100%25", "100%25"},
		{"a\r\nb", "a%0D%0Ab", "a%0D%0Ab"},
		{"x:1,y:2", "x:1,y:2", "x%3A1%2Cy%3A2"},
		{"%0A", "%250A", "%250A"},
		{"::error::x", "::error::x", "%3A%3Aerror%3A%3Ax"},
		{"\x1b[31m\t", `\x1b[31m `, `\x1b[31m `},
		{"a\u202eb", `a\u202eb`, `a\u202eb`},
	} {
		if got := githubData(tt.in); got != tt.data {
			t.Errorf("data %q: %q, want %q", tt.in, got, tt.data)
		}
		if got := githubProperty(tt.in); got != tt.property {
			t.Errorf("property %q: %q, want %q", tt.in, got, tt.property)
		}
	}
}

// Results at one line are one annotation; what failed comes before what could not be run; what passed has none.
func TestGitHubAnnotations(t *testing.T) {
	at := func(o TestOutcome, engine string, line int, reason string) TestResult {
		return TestResult{Outcome: o, Engine: engine, Props: "./a/b.props", Line: line, Col: 2, Property: "P=? [ F x ]", Reason: reason, Expected: "1", Got: "0,5"}
	}
	rep := &TestReport{Results: []TestResult{
		at(TestError, "prism", 9, "no image"), at(TestFailed, "native", 3, "50% off"), at(TestFailed, "prism", 3, "line\nbreak"), at(TestPassed, "native", 4, ""),
		at(TestUnsupported, "storm", 5, "R"),
	}}
	rep.Results[0].Expected = ""
	rep.Results[2].Rerun = "tilecheck test a"
	want := "::error file=a/b.props,line=3,col=2,title=fail%3A P=? [ F x ]::" +
		"native: expected 1, got 0,5; 50%25 off%0Aprism: expected 1, got 0,5; line%0Abreak%0A  re-run: tilecheck test a\n" +
		"::error file=a/b.props,line=9,col=2,title=error%3A P=? [ F x ]::prism: no image\n"
	if got := written(t, func(w io.Writer) error { return WriteGitHub(w, rep) }); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Whatever the text, every annotation is one line that begins with its command, and there is no other command.
func TestGitHubHostile(t *testing.T) {
	text := written(t, func(w io.Writer) error { return WriteGitHub(w, hostileReport()) })
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "::error file=") || !strings.HasPrefix(lines[1], "::warning file=") {
		t.Fatalf("%q", lines)
	}
	for _, line := range lines {
		// The properties end at the first "::" after the name: none of them may have one.
		properties, _, _ := strings.Cut(line[2:], "::")
		for _, p := range strings.Split(properties[strings.IndexByte(properties, ' ')+1:], ",") {
			name, _, ok := strings.Cut(p, "=")
			if !ok || !strings.Contains(" file line col title ", " "+name+" ") {
				t.Errorf("property %q in %s", p, line)
			}
		}
	}
}
