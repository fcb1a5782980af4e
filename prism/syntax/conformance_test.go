package syntax_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

// conformance is the corpus of what PRISM 4.10.2-dev says to small files.
const conformance = "../../testdata/conformance"

// expectation is the part of expected.json that is about syntax.
type expectation struct {
	Errors            []string
	PrintedProperties []string `json:"printed_properties"`
	// printedAs maps the text of a property to PRISM's echo of it.
	printedAs map[string]string
}

func readExpectation(t *testing.T, file string) expectation {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	e := expectation{printedAs: make(map[string]string)}
	for key, raw := range entries {
		switch {
		case key == "$run":
			err = json.Unmarshal(raw, &e)
		case !strings.HasPrefix(key, "$"):
			p := struct {
				PrintedAs string `json:"printed_as"`
			}{key}
			err = json.Unmarshal(raw, &p)
			e.printedAs[key] = p.PrintedAs
		}
		if err != nil {
			t.Fatalf("%s: %s: %v", file, key, err)
		}
	}
	return e
}

var syntaxErrorRE = regexp.MustCompile(`^(?:Syntax error|Label names must be enclosed in double-quotes).* line ([0-9]+), column ([0-9]+)\)`)

// syntaxError returns where PRISM reports a syntax error, if it does.
func (e expectation) syntaxError() (line, col int, found bool) {
	for _, msg := range e.Errors {
		if m := syntaxErrorRE.FindStringSubmatch(msg); m != nil {
			line, _ = strconv.Atoi(m[1])
			col, _ = strconv.Atoi(m[2])
			return line, col, true
		}
	}
	return 0, 0, false
}

// A case is rejected exactly where PRISM rejects it, and otherwise parses,
// prints to what parses to the same, and its properties are echoed as by PRISM.
func TestConformance(t *testing.T) {
	cases, err := filepath.Glob(conformance + "/*/expected.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no conformance corpus in %s: %v", conformance, err)
	}
	rejected, accepted, echoed := 0, 0, 0
	for _, file := range cases {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			want := readExpectation(t, file)
			nodes, first := parseCase(t, dir)
			line, col, found := want.syntaxError()
			switch {
			case found && first == nil:
				t.Errorf("no syntax error, want one at %d:%d", line, col)
			case found && (int(first.Pos.Line) != line || int(first.Pos.Col) != col):
				t.Errorf("got %v, want an error at %d:%d", first, line, col)
			case found:
				rejected++
			case first != nil:
				t.Errorf("PRISM accepts this: %v", first)
			default:
				accepted++
			}
			for _, n := range nodes {
				checkRoundTrip(t, n)
			}
			if first == nil {
				echoed += checkEcho(t, nodes, want)
			}
		})
	}
	t.Logf("%d cases: %d rejected where PRISM rejects them, %d accepted, %d properties echoed as by PRISM", len(cases), rejected, accepted, echoed)
}

// parseCase parses the files of a case, the model first, up to the first error.
func parseCase(t *testing.T, dir string) (nodes []syntax.Node, first *syntax.Error) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.props")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Insert(files, 0, dir+"/model.prism") {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, err := parseFile(file, src)
		if err != nil {
			return nodes, errorList(t, err)[0]
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// checkRoundTrip checks that a tree prints to a text that means the same and
// prints to itself. It returns the text.
func checkRoundTrip(t *testing.T, n syntax.Node) string {
	t.Helper()
	text := sprint(t, n)
	name := "print.prism"
	if _, ok := n.(*syntax.Properties); ok {
		name = "print.props"
	}
	again, err := parseFile(name, []byte(text))
	if err != nil {
		t.Fatalf("printed text does not parse: %v\n%s", err, text)
	}
	if !syntax.Equal(n, again) {
		t.Fatalf("printed text means something else:\n%s", text)
	}
	if second := sprint(t, again); second != text {
		t.Fatalf("printing is not idempotent:\n%s\nand then\n%s", text, second)
	}
	return text
}

func sprint(t *testing.T, n syntax.Node) string {
	t.Helper()
	var b strings.Builder
	if err := syntax.Fprint(&b, n, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkEcho compares the properties of a case with PRISM's list of them, and
// each text in the corpus with PRISM's echo. It returns their number.
func checkEcho(t *testing.T, nodes []syntax.Node, want expectation) int {
	t.Helper()
	var got []string
	for _, n := range nodes {
		ps, ok := n.(*syntax.Properties)
		if !ok {
			continue
		}
		for _, item := range ps.Items {
			if p, ok := item.(*syntax.Property); ok {
				got = append(got, p.String())
			}
		}
	}
	if want.PrintedProperties != nil && !slices.Equal(got, want.PrintedProperties) {
		t.Errorf("properties\n%q\nwant\n%q", got, want.PrintedProperties)
	}
	if len(want.PrintedProperties) == 0 {
		return 0 // PRISM did not get as far as echoing
	}
	for src, printed := range want.printedAs {
		p, err := syntax.ParseProperty("", []byte(src))
		if err != nil {
			t.Errorf("property %s: %v", src, err)
		} else if s := p.String(); s != printed {
			t.Errorf("property %s echoed as %s, want %s", src, s, printed)
		}
	}
	return len(want.PrintedProperties) + len(want.printedAs)
}
