package report

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/golden"

	"tilecheck/report/table"
	"tilecheck/result"
)

func TestVerdictsGolden(t *testing.T) {
	for _, v := range views() {
		t.Run(v.suffix, func(t *testing.T) {
			golden.Want(t, "verdicts"+v.suffix, func(w io.Writer) error { return Verdicts(w, v.format, verdicts(), v.opt) })
		})
	}
}

// What people ask most: an exact check on 80 columns, a simulation on 120.
func TestCommonVerdictsGolden(t *testing.T) {
	golden.Want(t, "exact.80.txt", func(w io.Writer) error {
		return Verdicts(w, table.Text, verdicts()[:1], table.Options{Width: 80})
	})
	golden.Want(t, "simulation.120.txt", func(w io.Writer) error {
		return Verdicts(w, table.Text, verdicts()[2:4], table.Options{Width: 120})
	})
}

func TestNoVerdictsGolden(t *testing.T) {
	for _, f := range []table.Format{table.Text, table.JSON, table.CSV, table.Markdown} {
		golden.Want(t, "empty."+f.String(), func(w io.Writer) error { return Verdicts(w, f, nil, table.Options{}) })
	}
}

func TestComparisonGolden(t *testing.T) {
	for _, v := range views() {
		t.Run(v.suffix, func(t *testing.T) {
			golden.Want(t, "comparison"+v.suffix, func(w io.Writer) error { return comparison().Write(w, v.format, v.opt) })
			golden.Want(t, "broken"+v.suffix, func(w io.Writer) error { return brokenComparison().Write(w, v.format, v.opt) })
		})
	}
}

func TestTableGolden(t *testing.T) {
	some := &table.Table{
		Title: "Strategies | all",
		Columns: []table.Column{
			{Name: "name", Min: 8, Code: true},
			{Name: "moves", Align: table.Right},
			{Name: "share", Align: table.Center},
			{Name: "meaning", Min: 16},
		},
		Notes: []string{"[1] a note that is long enough to be wrapped when the terminal is narrow", "* another"},
	}
	some.Append("random", 4, 0.25, "every legal move is equally likely")
	some.Append("a|b`c", int64(12), 1.0/3, "two\nlines, <b>markup</b> & a \x1b[2Jcontrol character")
	some.Append("", nil, table.Cell{Text: "most", Value: 0.9}, table.Cell{Text: "größer 大きい", Tone: table.Bad})
	for _, v := range views() {
		t.Run(v.suffix, func(t *testing.T) {
			golden.Want(t, "table"+v.suffix, func(w io.Writer) error { return some.Write(w, v.format, v.opt) })
		})
	}
}

// No line of a table may be wider than the terminal.
func TestTablesKeepToTheWidth(t *testing.T) {
	for width := 30; width <= 200; width += 7 {
		opt := table.Options{Width: width, Unicode: true}
		for name, write := range map[string]func(io.Writer) error{
			"verdicts":   func(w io.Writer) error { return Verdicts(w, table.Text, verdicts(), opt) },
			"comparison": func(w io.Writer) error { return comparison().Write(w, table.Text, opt) },
			"broken":     func(w io.Writer) error { return brokenComparison().Write(w, table.Text, opt) },
		} {
			var b strings.Builder
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimSuffix(line, "\n")
				if n := len([]rune(line)); n > width {
					t.Errorf("%s at width %d: a line of %d: %q", name, width, n, line)
				}
			}
		}
	}
}

// The comparison of four strategies is one table at 120 columns.
func TestFourStrategiesFit120(t *testing.T) {
	var b strings.Builder
	if err := comparison().Write(&b, table.Text, table.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "alternating"); n != 1 || !strings.Contains(b.String(), "random") {
		t.Fatalf("want every strategy once:\n%s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "random") && !strings.Contains(line, "alternating") {
			t.Errorf("random and alternating are not in the same table: %q", line)
		}
	}
}

// decoded is the report as any reader of JSON sees it.
func decoded(t *testing.T, write func(io.Writer) error) (top map[string]any, results []map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&b)
	d.UseNumber()
	if err := d.Decode(&top); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Errorf("after the object: %v, want the end", err)
	}
	for _, r := range top["results"].([]any) {
		results = append(results, r.(map[string]any))
	}
	return top, results
}

func keys(m map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }

// Fields that do not apply are absent, not null, zero or empty.
func TestJSONFields(t *testing.T) {
	top, results := decoded(t, func(w io.Writer) error { return Verdicts(w, table.JSON, verdicts(), table.Options{}) })
	if got := keys(top); got != "command notes results schema tilecheck" || top["tilecheck"] != "devel" {
		t.Errorf("top level %v of version %v", got, top["tilecheck"])
	}
	want := []string{
		"accuracy choices engine fraction kind method property resolution seconds states transitions value",
		"accuracy choices engine kind lower method property resolution seconds states transitions upper value",
		"accuracy bound_method confidence constants engine half_width kind lower method name property resolution samples seconds seed upper value warnings",
		"accuracy bound_method confidence constants engine error lower method name property resolution samples seconds upper warnings",
		"accuracy engine kind property value",
		"accuracy engine kind method property resolution value",
		"engine kind property value",
		"accuracy engine kind property value",
		"accuracy engine kind property value",
		"accuracy choices engine fraction kind method property resolution states transitions value",
		"engine error property",
	}
	if len(results) != len(want) {
		t.Fatalf("%d results, want %d", len(results), len(want))
	}
	for i, r := range results {
		if got := keys(r); got != want[i] {
			t.Errorf("result %d has %s\nwant %s", i, got, want[i])
		}
	}
}

func TestJSONValues(t *testing.T) {
	_, r := decoded(t, func(w io.Writer) error { return Verdicts(w, table.JSON, verdicts(), table.Options{}) })
	tests := []struct {
		what string
		got  any
		want any
	}{
		{"property without escapes", r[4]["property"], "P>=1 [ a<=1|b U <=3 *c* ]"},
		{"number in full", r[1]["value"], json.Number("0.16666650772094727")},
		{"fraction", r[0]["fraction"], "1/6"},
		{"false is a value", r[4]["value"], false},
		{"infinity", r[5]["value"], "Infinity"},
		{"not a number", r[6]["value"], "NaN"},
		{"integer without an exponent", r[8]["value"], json.Number("1598448")},
		{"low end of a range", r[7]["value"].([]any)[0], json.Number("0.25")},
		{"seed beyond 2^53", r[2]["seed"], json.Number("18446744073709551615")},
		{"constant integer", r[2]["constants"].(map[string]any)["MAX"], json.Number("128")},
		{"constant with its zeros", r[2]["constants"].(map[string]any)["p"], json.Number("0.10")},
		{"constant fraction", r[3]["constants"].(map[string]any)["p"], "1/10"},
		{"class", r[3]["error"].(map[string]any)["class"], "timeout"},
		{"no place", keys(r[3]["error"].(map[string]any)), "class message"},
		{"file", r[10]["error"].(map[string]any)["places"].([]any)[0].(map[string]any)["file"], "die.props"},
		{"line", r[10]["error"].(map[string]any)["places"].([]any)[0].(map[string]any)["line"], json.Number("3")},
		{"column", r[10]["error"].(map[string]any)["places"].([]any)[0].(map[string]any)["column"], json.Number("9")},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s: %#v, want %#v", test.what, test.got, test.want)
		}
	}
}

func TestComparisonJSONFields(t *testing.T) {
	top, r := decoded(t, func(w io.Writer) error { return brokenComparison().Write(w, table.JSON, table.Options{}) })
	if got := keys(top); got != "command notes results schema summary tilecheck" {
		t.Errorf("top level %v", got)
	}
	for _, test := range []struct {
		strategy, max, want string
	}{
		{"random", "128", "accuracy bound_method confidence engine half_width kind lower method outcome property published resolution samples strategy tile upper value"},
		{"random", "256", "engine error property published strategy tile"},
		{"opposite", "256", "accuracy bound_method confidence engine half_width kind lower method property resolution samples strategy tile upper value"},
	} {
		i := slices.IndexFunc(r, func(m map[string]any) bool {
			return m["strategy"] == test.strategy && m["tile"] == json.Number(test.max)
		})
		if i < 0 {
			t.Fatalf("no %s at %s", test.strategy, test.max)
		}
		if got := keys(r[i]); got != test.want {
			t.Errorf("%s at %s has %s\nwant %s", test.strategy, test.max, got, test.want)
		}
	}
	if p := r[0]["published"].(map[string]any); p["value"] != json.Number("0.138") || p["half_width"] != json.Number("0.02811") {
		t.Errorf("published %v", p)
	}
	if r[0]["outcome"] != "higher" {
		t.Errorf("outcome %v, want higher", r[0]["outcome"])
	}
	if len(r) != 14 {
		t.Errorf("%d results, want 14", len(r))
	}
}

// Every member of the JSON has a column of the same name in CSV, and the cells
// under it say the same.
func TestCSVAgreesWithJSON(t *testing.T) {
	var b bytes.Buffer
	if err := Verdicts(&b, table.CSV, verdicts(), table.Options{}); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	_, results := decoded(t, func(w io.Writer) error { return Verdicts(w, table.JSON, verdicts(), table.Options{}) })
	var check func(row []string, prefix string, m map[string]any)
	check = func(row []string, prefix string, m map[string]any) {
		for key, value := range m {
			i := slices.Index(records[0], prefix+key)
			switch v := value.(type) {
			case map[string]any:
				if key != "constants" {
					check(row, prefix+key+"_", v)
				}
				continue
			case []any: // the spelling of lists is in the goldens
				continue
			case json.Number:
				value = v.String()
			case bool:
				value = map[bool]string{false: "false", true: "true"}[v]
			}
			if i < 0 || row[i] != value {
				t.Errorf("column %s (%d) does not hold %v", prefix+key, i, value)
			}
		}
	}
	for i, r := range results {
		check(records[i+1], "", r)
	}
}

func TestErrors(t *testing.T) {
	twice := comparison()
	twice.Cells = append(twice.Cells, twice.Cells[0])
	ragged := &table.Table{Columns: []table.Column{{Name: "a"}, {Name: "b"}}}
	ragged.Append(1, 2)
	ragged.Append(1)
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"cell twice", twice.Write(io.Discard, table.CSV, table.Options{}), `strategy "random" occurs twice for MAX 128`},
		{"ragged table", ragged.Write(io.Discard, table.Text, table.Options{}), "row 2 of the table has 1 cells, want 2"},
		{"table format", new(table.Table).Write(io.Discard, 9, table.Options{}), "unknown format Format(9)"},
		{"verdict format", Verdicts(io.Discard, 9, nil, table.Options{}), "unknown format Format(9)"},
		{"comparison format", comparison().Write(io.Discard, 9, table.Options{}), "unknown format Format(9)"},
	}
	for _, test := range tests {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, test.err, test.want)
		}
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }

func TestWriterErrorIsReturned(t *testing.T) {
	w := brokenWriter{errors.New("disk full")}
	for _, f := range []table.Format{table.Text, table.JSON, table.CSV, table.Markdown} {
		if err := Verdicts(w, f, verdicts(), table.Options{}); !errors.Is(err, w.err) {
			t.Errorf("verdicts as %v: error %v", f, err)
		}
		if err := comparison().Write(w, f, table.Options{}); !errors.Is(err, w.err) {
			t.Errorf("comparison as %v: error %v", f, err)
		}
	}
}

func TestFormat(t *testing.T) {
	var _ encoding.TextUnmarshaler = new(table.Format)
	names := strings.Split(table.Names, ",")
	for i, f := range []table.Format{table.Text, table.JSON, table.CSV, table.Markdown} {
		if f.String() != names[i] {
			t.Errorf("%d is %q, want %q", f, f, names[i])
		}
		got, err := table.ParseFormat(names[i])
		if err != nil || got != f {
			t.Errorf("ParseFormat(%q) = %v, %v", names[i], got, err)
		}
		text, err := f.MarshalText()
		var back table.Format
		if err != nil || back.UnmarshalText(text) != nil || back != f {
			t.Errorf("%v does not survive as text: %q, %v", f, text, err)
		}
	}
	_, err := table.ParseFormat("yaml")
	if want := `unknown format "yaml", want one of table, json, csv, markdown`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := table.Format(9).MarshalText(); err == nil {
		t.Error("Format(9) has a text")
	}
}

func TestColorOnlyWhenAsked(t *testing.T) {
	for _, color := range []bool{false, true} {
		var b strings.Builder
		if err := comparison().Write(&b, table.Text, table.Options{Color: color}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "\x1b[31mhigher\x1b[0m"); got != color {
			t.Errorf("with Color %v: red %v", color, got)
		}
	}
}

func TestConstantsKeepTheirOrder(t *testing.T) {
	v := []result.Verdict{{Property: "p", Constants: []result.Constant{{Name: "z", Value: "true"}, {Name: "a", Value: "1e400"}, {Name: "m", Value: ".5"}, {Name: "k", Value: "0x10"}}}}
	var b bytes.Buffer
	if err := Verdicts(&b, table.JSON, v, table.Options{}); err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	// 1e400 is no float64, .5 is no JSON.
	if want := `"constants":{"z":true,"a":"1e400","m":0.5,"k":"0x10"}`; !strings.Contains(compact.String(), want) {
		t.Errorf("got %s\nwant %s in it", compact.String(), want)
	}
}
