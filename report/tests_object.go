package report

import (
	"io"
	"slices"
	"strings"
	"time"

	"tilecheck/result"
)

// object is a run of a test suite as JSON has it; [WriteTests] lists the members.
func (rep *TestReport) object(opt Options) object {
	results := make([]object, len(rep.Results))
	for i := range rep.Results {
		results[i] = rep.Results[i].object()
	}
	return slices.Concat(
		object{{"tilecheck", opt.version()}},
		rep.heading(),
		object{{"summary", rep.summary()}, {"results", results}, {"findings", rep.findings()}, {"notes", list(rep.Notes)}},
	)
}

func (rep *TestReport) findings() any {
	if len(rep.Findings) == 0 {
		return nil
	}
	all := make([]object, len(rep.Findings))
	for i := range rep.Findings {
		all[i] = rep.Findings[i].object()
	}
	return all
}

func (f *TestFinding) object() object {
	return object{{"file", some(f.File)}, {"line", some(f.Line)}, {"column", some(f.Col)}, {"message", f.Message}}
}

func (rep *TestReport) heading() object {
	var started any
	if !rep.Started.IsZero() {
		started = rep.Started.UTC().Format(time.RFC3339Nano)
	}
	return object{{"title", some(rep.Title)}, {"engines", list(rep.Engines)}, {"started", started}}
}

// summary has every count, zero or not.
func (rep *TestReport) summary() object {
	t := tallyOf(rep.Results)
	o := object{{"results", t.total}}
	for _, outcome := range tallyOrder() {
		o = append(o, member{strings.ReplaceAll(outcome.String(), " ", "_"), t.counts[outcome]})
	}
	return append(o, member{"findings", len(rep.Findings)}, member{"cached", t.cached}, member{"seconds", number(rep.Elapsed.Seconds())})
}

// object is a result as JSON and CSV have it; [WriteJSONLines] lists the members. The verdict is without the
// members that the result has itself.
func (r *TestResult) object() object {
	verdict := r.Verdict
	if verdict == nil {
		verdict = new(result.Verdict)
	}
	own := slices.DeleteFunc(verdictObject(verdict), func(m member) bool {
		return slices.Contains([]string{"property", "name", "constants", "engine"}, m.key)
	})
	return object{
		{"outcome", r.Outcome.String()},
		{"engine", some(r.Engine)},
		{"model", some(r.Model)},
		{"props", some(r.Props)},
		{"args", list(r.Args)},
		{"property", some(r.Property)},
		{"name", some(r.Name)},
		{"constants", constantsOf(r.Constants)},
		{"file", some(r.File)},
		{"line", some(r.Line)},
		{"column", some(r.Col)},
		{"expected_line", some(r.ExpectedLine)},
		{"expected", some(r.Expected)},
		{"got", some(r.Got)},
		{"reason", some(r.Reason)},
		{"seconds", some(number(r.seconds()))},
		{"verdict", own},
		{"rerun", some(r.Rerun)},
		{"cached", some(r.Cached)},
		{"log", some(r.Log)},
	}
}

func (rep *TestReport) writeCSV(w io.Writer) error {
	withoutLog := func(r *TestResult) object {
		return slices.DeleteFunc(r.object(), func(m member) bool { return m.key == "log" })
	}
	records := [][]string{withoutLog(new(TestResult)).columns()}
	for i := range rep.Results {
		records = append(records, withoutLog(&rep.Results[i]).cells())
	}
	return writeCSV(w, records)
}
