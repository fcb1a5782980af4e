package parse_test

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tilecheck/parse"
	"tilecheck/result"
)

// exported returns what a transcript shows below "Exporting results as …".
func exported(t *testing.T, path string) string {
	t.Helper()
	_, after, ok := strings.Cut(string(readTranscript(t, path).Stdout), "Exporting results as ")
	if !ok {
		t.Fatalf("%s: no exported results", path)
	}
	_, body, _ := strings.Cut(after, "\n\n")
	return body
}

// rows renders results: one line a row.
func rows(sets []parse.Results) []string {
	var out []string
	for _, s := range sets {
		out = append(out, strings.TrimPrefix(s.Name+": "+s.Property, ": "))
		for _, r := range s.Rows {
			text := fmt.Sprintf("  %s -> %s", showConstants(r.Constants...), showValue(r.Value))
			if r.Err != nil {
				text += string(r.Err.Class) + ": " + r.Err.Message
			}
			out = append(out, text)
		}
	}
	return out
}

func TestReadResults(t *testing.T) {
	experiment := []string{
		"P=? [ F<=T s=2 ]", "  T=1 -> number 0.25", "  T=2 -> number 0.5", "  T=3 -> number 0.625",
		"P>=p [ F<=T s=2 ]", "  T=1,p=0.2 -> boolean true", "  T=1,p=0.5 -> boolean false", "  T=1,p=0.8 -> boolean false",
		"  T=2,p=0.2 -> boolean true", "  T=2,p=0.5 -> boolean true", "  T=2,p=0.8 -> boolean false",
		"  T=3,p=0.2 -> boolean true", "  T=3,p=0.5 -> boolean true", "  T=3,p=0.8 -> boolean false",
	}
	frame := slices.Clone(experiment)
	frame[0], frame[4] = "Property_1: ", "Property_2: "
	const cf, pr = "conformance/pr_experiment/prism.", "logs/prism/recorded/"
	for _, c := range []struct {
		path string
		form parse.ResultsForm
		want []string
	}{
		{cf + "plain.txt", parse.ListPlain, experiment},
		{cf + "csv.txt", parse.ListCSV, experiment},
		{cf + "matrix.txt", parse.MatrixPlain, experiment},
		{cf + "csvmatrix.txt", parse.MatrixCSV, experiment},
		{cf + "dataframe.txt", parse.DataFrame, frame},
		{cf + "comment.txt", parse.Comment, experiment},
		{pr + "results-list.log", parse.ListPlain, []string{"", "  k=-1 -> type: Negative bound in true U<=k s=4", "  k=0 -> integer 0 = 0", "  k=1 -> integer 0 = 0"}},
		{pr + "results-none.log", parse.MatrixPlain, []string{"", "   -> number 0.216"}},
		{pr + "results-csv.log", parse.ListCSV, []string{
			"P=? [ F<=k s=j ]", "  k=-1,j=3 -> type: Negative bound in true U<=k s=j", "  k=-1,j=4 -> type: Negative bound in true U<=k s=j",
			"  k=0,j=3 -> integer 0 = 0", "  k=0,j=4 -> integer 0 = 0", "  k=1,j=3 -> integer 0 = 0", "  k=1,j=4 -> integer 0 = 0",
			"b: P>=0.2 [ F<=k s=j ]", "  k=-1,j=3 -> type: Negative bound in true U<=k s=j", "  k=-1,j=4 -> type: Negative bound in true U<=k s=j",
			"  k=0,j=3 -> boolean false", "  k=0,j=4 -> boolean false", "  k=1,j=3 -> boolean false", "  k=1,j=4 -> boolean false",
		}},
		{pr + "results-3.log", parse.MatrixPlain, []string{
			"", "  k=2,j=3,i=1 -> number 0.36", "  k=2,j=3,i=2 -> number 0.36", "  k=2,j=4,i=1 -> integer 0 = 0", "  k=2,j=4,i=2 -> integer 0 = 0",
			"  k=3,j=3,i=1 -> number 0.36", "  k=3,j=3,i=2 -> number 0.36", "  k=3,j=4,i=1 -> number 0.216", "  k=3,j=4,i=2 -> number 0.216",
		}},
		{pr + "results-3csv.log", parse.MatrixCSV, []string{
			"p1: P=? [ F[i,k] s=j ]", "  k=2,j=3,i=1 -> number 0.36", "  k=2,j=3,i=2 -> number 0.36", "  k=2,j=4,i=1 -> integer 0 = 0", "  k=2,j=4,i=2 -> integer 0 = 0",
			"  k=3,j=3,i=1 -> number 0.36", "  k=3,j=3,i=2 -> number 0.36", "  k=3,j=4,i=1 -> number 0.216", "  k=3,j=4,i=2 -> number 0.216",
			"p2: P=? [ F[i,k] s=4 ]", "  k=2,i=1 -> integer 0 = 0", "  k=2,i=2 -> integer 0 = 0", "  k=3,i=1 -> number 0.216", "  k=3,i=2 -> number 0.216",
		}},
	} {
		text := exported(t, c.path)
		got, err := parse.ReadResults(strings.NewReader(text), "r", c.form)
		if err != nil || !slices.Equal(rows(got), c.want) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", c.path, err, rows(got), c.want)
		}
		crlf := strings.ReplaceAll(text, "\n", "\r\n")
		if again, err := parse.ReadResults(strings.NewReader(crlf), "r", c.form); err != nil || !reflect.DeepEqual(rows(again), c.want) {
			t.Errorf("%s with CR LF: %v, %q", c.path, err, rows(again))
		}
	}
}

func TestReadResultsErrors(t *testing.T) {
	for _, c := range []struct {
		form parse.ResultsForm
		text string
		want string
	}{
		{parse.ListPlain, "k\tj\n1\t2\n", `r:1:1: found "k\tj", want a header that ends in Result`},
		{parse.ListCSV, "k,Result\n1\n", "r:2:1: found 1 fields, want 2"},
		{parse.MatrixPlain, "T:\n1\t2\n0.5\n", "r:3:1: found 1 fields, want 2"},
		{parse.MatrixCSV, "\"P=? [ F x ]\"\n\"T\"\n1,2\n", "r:2:1: a matrix ends after its label"},
		{parse.DataFrame, "T,Result\n", `r:1:1: found "T,Result", want a header that begins with Property`},
		{parse.Comment, "RESULT: 1\n", `r:1:1: found "RESULT: 1", want // RESULT`},
	} {
		if got, err := parse.ReadResults(strings.NewReader(c.text), "r", c.form); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, %v, want %s", c.text, rows(got), err, c.want)
		}
	}
}

func TestReadStrategy(t *testing.T) {
	const cf = "../testdata/conformance/"
	for _, c := range []struct {
		path string
		form parse.StrategyForm
		want []parse.Decision
	}{
		{"ex_strat/strat.txt", parse.Actions, []parse.Decision{{"0", 0, -1, "a", -1}, {"1", 0, -1, "c", -1}}},
		{"ex_strat/strat_idx.txt", parse.Indices, []parse.Decision{{"", 0, -1, "", 0}, {"", 1, -1, "", 0}}},
		{"ex_strat/strat_ns.txt", parse.Actions, []parse.Decision{{"", 0, -1, "a", -1}, {"", 1, -1, "c", -1}}},
		{"ex_strat_ltl/strat.txt", parse.Actions, []parse.Decision{{"0", 0, 3, "a", -1}, {"1", 0, 2, "d", -1}, {"0", 0, 2, "b", -1}}},
		{"ex_strat_reward/strat.txt", parse.Actions, []parse.Decision{{"0", 0, -1, "a", -1}, {"1", 0, -1, "", -1}}},
	} {
		data, err := os.ReadFile(cf + c.path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse.ReadStrategy(bytes.NewReader(data), c.path, c.form)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, got %v, want %v", c.path, err, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"(0)=a\n(1)=[0.5:a, 0.5:b]\n": "s:2:1: found \"[0.5:a, 0.5:b]\": randomised strategies are not read",
		"(0,true)\n":                  "s:1:1: found \"(0,true)\", want (state)=action or number=action",
		"(0),{1:0.5}=a\n":             "s:1:1: found \"(0),{1:0.5}=a\", want (state)=action or number=action",
	} {
		if got, err := parse.ReadStrategy(strings.NewReader(text), "s", parse.Actions); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

func TestStormFiles(t *testing.T) {
	open := func(name string) *bytes.Reader {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(data)
	}
	decisions, err := parse.ReadStormScheduler(open("scheduler.json"))
	if err != nil || len(decisions) != 4 {
		t.Fatalf("%d decisions, %v", len(decisions), err)
	}
	d := decisions[2]
	if showConstants(d.State.Valuation...) != "s=2" || len(d.Choices) != 1 || d.Choices[0].Index != 3 || !slices.Equal(d.Choices[0].Labels, []string{"c"}) || d.Choices[0].Probability.Num != 1 {
		t.Errorf("decision 2 is %+v", d)
	}
	results, err := parse.ReadStormResults(open("result.json"))
	if err != nil || len(results) != 1 || results[0].Value.Num != 0.18918890226163915 || !slices.Equal(results[0].Labels, []string{"init"}) {
		t.Errorf("results %+v, %v", results, err)
	}
	exact, err := parse.ReadStormResults(strings.NewReader(`[{"s":7,"v":"7/37","l":[]},{"s":8,"v":true}]`))
	if err != nil || exact[0].State.Index != 7 || exact[0].Value.Rat.RatString() != "7/37" || exact[1].Value.Kind != result.Boolean {
		t.Errorf("exact results %+v, %v", exact, err)
	}
	undefined, err := parse.ReadStormScheduler(strings.NewReader(`[{"s":{"x":1,"b":true},"m":"3","c":"undefined"}]`))
	if err != nil || !undefined[0].Undefined || undefined[0].Memory != "3" || showConstants(undefined[0].State.Valuation...) != "b=true,x=1" {
		t.Errorf("undefined %+v, %v", undefined, err)
	}
	for _, text := range []string{`[{"s":0,"c":[{"prob":1.0}]}]`, `[{"c":[]}]`, `[{"s":0,"c":[{"index":0,"prob":"x"}]}]`, `[] []`, `{}`, `[{"s":0`} {
		if got, err := parse.ReadStormScheduler(strings.NewReader(text)); err == nil {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}
