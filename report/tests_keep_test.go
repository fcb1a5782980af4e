package report

import (
	"bytes"
	"testing"

	"tilecheck/report/table"
	"tilecheck/result"
)

// TestKeptResults: results that are read back make the same reports, with the spelling of
// constants, and with verdicts that say nothing.
func TestKeptResults(t *testing.T) {
	for _, rep := range []*TestReport{testReport(), manyResults(50)} {
		rep.Results[0].Constants = []result.Constant{{Name: "a", Value: ".50"}, {Name: "b", Value: "0x1p-2"}, {Name: "c", Value: "1/3"}, {Name: "d", Value: "1e400"}}
		rep.Results[1].Verdict = new(result.Verdict)
		text, err := EncodeResults(rep.Results)
		if err != nil {
			t.Fatal(err)
		}
		again := *rep
		if again.Results, err = DecodeResults(text); err != nil {
			t.Fatal(err)
		}
		if v := again.Results[1].Verdict; v == nil {
			t.Error("the verdict that says nothing is lost")
		}
		all := func(rep *TestReport) string {
			var out bytes.Buffer
			for _, f := range []table.Format{table.Text, table.JSON, table.CSV, table.Markdown} {
				if err := WriteTests(&out, f, rep, table.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range []error{WriteJUnit(&out, rep), WriteHTML(&out, rep, table.Options{}), WriteJSONLines(&out, rep, table.Options{}), WriteGitHub(&out, rep)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			return out.String()
		}
		if got, want := all(&again), all(rep); got != want {
			t.Errorf("other reports:\n%s\nwant\n%s", got, want)
		}
	}
	for _, text := range []string{"", "{}", `[{"outcome":"pass"`, `[{"outcome":"good","judged":false}]`, `[{"outcome":"pass","constants":{"a":1},"judged":false}]`, `[{"outcome":"pass","extra":1}]`} {
		if _, err := DecodeResults([]byte(text)); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
