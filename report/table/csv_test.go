package table

import (
	"encoding/json"
	"strings"
	"testing"
)

// The list of characters is OWASP's.
func TestCSVFormulas(t *testing.T) {
	for cell, want := range map[string]string{
		"=1+1": "'=1+1", "+x": "'+x", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\uff1d1": "'\uff1d1",
		"-1.5": "-1.5", "+2": "+2", "-1e-300": "-1e-300", "-Infinity": "-Infinity", "-1/3": "-1/3", "-1/3+cmd": "'-1/3+cmd", "-1/": "'-1/", "-": "'-",
		"": "", "P=? [ F x ]": "P=? [ F x ]", "a-b": "a-b", "'x": "'x", "'=x": "''=x", // one apostrophe less is what there was
	} {
		var b strings.Builder
		if err := (&Table{Columns: []Column{{Name: "c"}, {Name: "d"}}, Rows: [][]Cell{{{Text: "x", Value: cell}, {}}}}).Write(&b, CSV, Options{}); err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSuffix(strings.TrimPrefix(b.String(), "c,d\n"), ",\n")
		if strings.ContainsAny(want, "\r") {
			want = `"` + want + `"`
		}
		if got != want {
			t.Errorf("%q became %q, want %q", cell, got, want)
		}
	}
}

// A CSV file is UTF-8, whatever bytes a name has, and has the same characters as JSON.
func TestCSVInvalidUTF8(t *testing.T) {
	for cell, want := range map[string]string{"caf\xe9.prism": "caf\ufffd.prism", "\xff\xfe": "\ufffd\ufffd", "=\xe9": "'=\ufffd", "café": "café", "\xc3": "\ufffd"} {
		var b strings.Builder
		if err := (&Table{Columns: []Column{{Name: "c"}}, Rows: [][]Cell{{{Text: "x", Value: cell}}}}).Write(&b, CSV, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(strings.TrimPrefix(b.String(), "c\n"), "\n"); got != want {
			t.Errorf("%q became %q, want %q", cell, got, want)
		}
		text, err := json.Marshal(cell)
		if err != nil {
			t.Fatal(err)
		}
		var inJSON string
		if err := json.Unmarshal(text, &inJSON); err != nil {
			t.Fatal(err)
		}
		if strings.TrimPrefix(want, "'") != inJSON {
			t.Errorf("%q is %q in JSON, want %q", cell, inJSON, want)
		}
	}
}
