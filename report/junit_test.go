package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/report/table"
)

// junitElement is what junit-10.xsd of the Jenkins xUnit plugin says of an
// element, transcribed by hand; file and line of a test case are ours.
type junitElement struct {
	required, optional []string
	children           []string
	text               bool
}

func junitSchema() map[string]junitElement {
	outcome := junitElement{optional: []string{"type", "message"}, text: true}
	return map[string]junitElement{
		"testsuites": {optional: []string{"name", "time", "tests", "failures", "errors"}, children: []string{"testsuite"}},
		"testsuite": {
			required: []string{"name", "tests", "failures", "errors"},
			optional: []string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url"},
			children: []string{"testsuite", "properties", "testcase", "system-out", "system-err"},
		},
		"properties": {children: []string{"property"}},
		"property":   {required: []string{"name", "value"}},
		"testcase": {
			required: []string{"name"}, optional: []string{"time", "classname", "group", "file", "line"},
			children: []string{"skipped", "error", "failure", "system-out", "system-err"},
		},
		"skipped": outcome, "error": outcome, "failure": outcome,
		"system-out": {text: true}, "system-err": {text: true},
	}
}

// checkJUnit reads XML and says where it departs from the schema.
func checkJUnit(text string) error {
	schema := junitSchema()
	// SUREFIRE_TIME of the schema, and integers where tools read them as such.
	forms := map[string]*regexp.Regexp{
		"time": regexp.MustCompile(`^[0-9]+\.[0-9]{3}$`), "line": regexp.MustCompile(`^[1-9][0-9]*$`),
		"tests": regexp.MustCompile(`^[0-9]+$`), "failures": regexp.MustCompile(`^[0-9]+$`), "errors": regexp.MustCompile(`^[0-9]+$`),
		"skipped": regexp.MustCompile(`^[0-9]+$`), "timestamp": regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`),
	}
	var path []string
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			e, known := schema[name]
			switch {
			case !known:
				return fmt.Errorf("unknown element %s", name)
			case len(path) == 0 && name != "testsuites":
				return fmt.Errorf("the root is %s", name)
			case len(path) > 0 && !slices.Contains(schema[path[len(path)-1]].children, name):
				return fmt.Errorf("%s in %s", name, path[len(path)-1])
			}
			var have []string
			for _, a := range x.Attr {
				have = append(have, a.Name.Local)
				if !slices.Contains(append(e.required, e.optional...), a.Name.Local) {
					return fmt.Errorf("%s has an attribute %s", name, a.Name.Local)
				}
				if form := forms[a.Name.Local]; form != nil && !form.MatchString(a.Value) {
					return fmt.Errorf("%s of %s is %q", a.Name.Local, name, a.Value)
				}
			}
			for _, a := range e.required {
				if !slices.Contains(have, a) {
					return fmt.Errorf("%s has no attribute %s", name, a)
				}
			}
			path = append(path, name)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) > 0 && !schema[path[len(path)-1]].text && strings.TrimSpace(string(x)) != "" {
				return fmt.Errorf("text %q in %s", x, path[len(path)-1])
			}
		}
	}
}

func TestJUnitSchema(t *testing.T) {
	for name, rep := range map[string]*TestReport{"tests": testReport(), "hostile": hostileReport(), "none": {}, "many": manyResults(500)} {
		text := written(t, func(w io.Writer) error { return WriteJUnit(w, rep) })
		if err := checkJUnit(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{
		`<testsuite name="a" tests="0" failures="0" errors="0"/>`, `<testsuites><testcase name="a"/></testsuites>`,
		`<testsuites><testsuite name="a" tests="1" failures="0"/></testsuites>`, `<testsuites time="1e-05"/>`, `<testsuites tests="1">x</testsuites>`,
	} {
		if checkJUnit(bad) == nil {
			t.Errorf("the checker accepts %s", bad)
		}
	}
}

// What tools read: counts that are those of the elements, names that are unique.
func TestJUnitRoundTrip(t *testing.T) {
	for _, rep := range []*TestReport{testReport(), hostileReport(), manyResults(2000)} {
		// The same property again has another name.
		rep.Results = append(rep.Results, rep.Results[0])
		text := written(t, func(w io.Writer) error { return WriteJUnit(w, rep) })
		var got junitSuites
		if err := xml.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		var all junitSuite
		names := make(map[string]bool)
		for _, s := range got.Suites {
			var own junitSuite
			for _, c := range s.Cases {
				own.countCase(c)
				name := c.Classname + "\n" + c.Name
				if names[name] {
					t.Errorf("two test cases are %q", name)
				}
				names[name] = true
			}
			if own.Tests != s.Tests || own.Failures != s.Failures || own.Errors != s.Errors || own.Skipped != s.Skipped {
				t.Errorf("suite %s says %d/%d/%d/%d, has %+v", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, own)
			}
			all.Tests += own.Tests
			all.Failures += own.Failures
			all.Errors += own.Errors
		}
		if all.Tests != len(rep.Results) || all.Tests != got.Tests || all.Failures != got.Failures || all.Errors != got.Errors {
			t.Errorf("the run says %d/%d/%d, has %+v", got.Tests, got.Failures, got.Errors, all)
		}
	}
}

// countCase counts a test case by its elements.
func (s *junitSuite) countCase(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func TestJUnitFields(t *testing.T) {
	rep := testReport()
	rep.Results[1].Log = "a\x1b[31mb" + strings.Repeat("x", 20<<10) + "the end ]]>"
	text := written(t, func(w io.Writer) error { return WriteJUnit(w, rep) })
	var got junitSuites
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	c := got.Suites[0].Cases[1]
	if c.Classname != "prism.suite.die_props" || c.Name != `"six": P=? [ F s=7&d=6 ]` || c.File != "suite/die.props" || c.Line != 3 || c.Time != "0.310" {
		t.Errorf("test case %+v", c)
	}
	if c.Failure == nil || c.Failure.Type != "fail" || c.Failure.Message != "0.2 is not within 1e-05 of 1/6" {
		t.Fatalf("failure %+v", c.Failure)
	}
	for _, want := range []string{"suite/die.props:3:1", "expected: 1/6", "got: 0.2", "re-run: tilecheck test suite/die.props --engine prism --select six"} {
		if !strings.Contains(c.Failure.Text, want) {
			t.Errorf("the failure has no %q:\n%s", want, c.Failure.Text)
		}
	}
	if c.Out == nil || len(c.Out.Text) > maxJUnitLog+100 || !strings.HasPrefix(c.Out.Text, `a\x1b[31mb`) || !strings.HasSuffix(c.Out.Text, "the end ]]>") {
		t.Errorf("log of %d bytes: %.40q", len(c.Out.Text), c.Out.Text)
	}
	left, err := strconv.Atoi(regexp.MustCompile(`\.\.\. (\d+) bytes are left out`).FindStringSubmatch(c.Out.Text)[1])
	// 20 KiB of x, 7 bytes before and 11 after, of which 16 KiB stay.
	if want := 20<<10 + 18 - 16<<10; err != nil || left != want {
		t.Errorf("%d bytes are left out, want %d", left, want)
	}
}

// TestNothingHidden: neither servers that show JUnit XML nor browsers get characters
// of foreign text that hide it or turn its direction, but in the names of files
// that programs open.
func TestNothingHidden(t *testing.T) {
	rep := hostileReport()
	for i := range rep.Results {
		rep.Results[i].Log += "\u2066\u200b\u009b31m\u00ad\u2028\U000e0041"
	}
	junit := written(t, func(w io.Writer) error { return WriteJUnit(w, rep) })
	files := regexp.MustCompile(` file="[^"]*"`)
	if got := len(files.FindAllString(junit, -1)); got != 3 || !strings.Contains(files.FindString(junit), "\u202e") {
		t.Errorf("%d files, want those of a suite and 2 results, as they are", got)
	}
	for name, text := range map[string]string{
		"JUnit": files.ReplaceAllString(junit, ""),
		"HTML":  written(t, func(w io.Writer) error { return WriteHTML(w, rep, table.Options{}) }),
	} {
		for _, r := range "\u202e\u2066\u200b\u009b\u00ad\u2028\U000e0041" {
			if strings.ContainsRune(text, r) {
				t.Errorf("%s has %U raw", name, r)
			}
		}
		if !strings.Contains(text, `\u202e`) || !strings.Contains(text, `\u2066\u200b\x9b31m\xad\u2028\U000e0041`) {
			t.Errorf("%s does not show what was hidden", name)
		}
	}
}

// XML 1.0 has no other control characters than tab and newlines, no U+FFFE, no U+FFFF and no surrogates.
func TestXMLText(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a\tb\nc", "a\tb\nc"},
		{"a\r\nb", "a\nb"},
		{"\x00\x1b[0m\x0b", `\x00\x1b[0m\x0b`},
		{"\x7f\xff\xc3", `\x7f\xff\xc3`},
		{"\ufffd\ufffe\uffff", "\ufffd" + `\ufffe\uffff`},
		{"größer 大 \U0001F600", "größer 大 \U0001F600"},
		{"\xed\xa0\x80", `\xed\xa0\x80`}, // a surrogate
	} {
		if got := xmlText(tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzXMLText(f *testing.F) {
	f.Add(hostile)
	f.Fuzz(func(t *testing.T, text string) {
		out, err := xml.Marshal(junitText{xmlText(text)})
		if err != nil {
			t.Fatal(err)
		}
		var back junitText
		if err := xml.Unmarshal(out, &back); err != nil || back.Text != xmlText(text) {
			t.Errorf("%q reads back as %q, %v", text, back.Text, err)
		}
	})
}
