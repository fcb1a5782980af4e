package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"tilecheck/report/table"
	"tilecheck/result"
)

// What another program claims is never called bounded, and what an engine says
// against its own value is in every format.
func TestClaimsAndDoubts(t *testing.T) {
	v := result.Verdict{
		Property: "P=? [ F a ]", Engine: "storm", Value: result.Value{Kind: result.Number, Num: 0.5}, Accuracy: result.Claimed,
		Bound: &result.Interval{Lo: 0.4, Hi: 0.6}, Doubt: "results are unreliable", States: 13, Transitions: 20,
	}
	for f, want := range map[table.Format][]string{
		table.Text:     {"claimed, doubtful", "[1] storm itself casts doubt on the value: results are unreliable", "state space: 13 states, 20 transitions"},
		table.Markdown: {"claimed, doubtful", "results are unreliable"},
		table.JSON:     {`"accuracy": "claimed"`, `"doubt": "results are unreliable"`},
		table.CSV:      {",claimed,", ",results are unreliable,", "warnings,doubt,"},
	} {
		text := written(t, func(w io.Writer) error { return Verdicts(w, f, []result.Verdict{v}, table.Options{}) })
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%v: no %q in\n%s", f, part, text)
			}
		}
		if strings.Contains(text, "bounded") || strings.Contains(text, "0 choices") {
			t.Errorf("%v:\n%s", f, text)
		}
	}
	rep := &TestReport{Results: []TestResult{{Engine: "storm", Property: v.Property, Outcome: TestPassed, Verdict: &v}}}
	for name, write := range map[string]func(io.Writer) error{
		"JUnit": func(w io.Writer) error { return WriteJUnit(w, rep) },
		"HTML":  func(w io.Writer) error { return WriteHTML(w, rep, table.Options{}) },
		"CSV":   func(w io.Writer) error { return WriteTests(w, table.CSV, rep, table.Options{}) },
		"JSON":  func(w io.Writer) error { return WriteTests(w, table.JSON, rep, table.Options{}) },
		"lines": func(w io.Writer) error { return WriteJSONLines(w, rep, table.Options{}) },
	} {
		if text := written(t, write); !strings.Contains(text, "results are unreliable") {
			t.Errorf("%s: no doubt in\n%s", name, text)
		}
	}
	var text bytes.Buffer
	if err := WriteJSONLines(&text, rep, table.Options{}); err != nil {
		t.Fatal(err)
	}
	back, err := ReadJSONLines(&text, "x.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if w := back.Results[0].Verdict; w.Accuracy != result.Claimed || w.Doubt != v.Doubt {
		t.Errorf("read back: %v, %q", w.Accuracy, w.Doubt)
	}
}

// A seed repeats the samples of the engine that has it, and no others.
func TestSeedIsOfItsEngine(t *testing.T) {
	seed := uint64(1)
	sampled := func(engine string, seed *uint64) result.Verdict {
		return result.Verdict{
			Property: "P=? [ F a ]", Engine: engine, Value: result.Value{Kind: result.Number, Num: 0.5}, Accuracy: result.Probable, Samples: 10, Seed: seed,
		}
	}
	text := func(verdicts ...result.Verdict) string {
		return written(t, func(w io.Writer) error { return Verdicts(w, table.Text, verdicts, table.Options{}) })
	}
	alone, both := text(sampled("native", &seed)), text(sampled("native", &seed), sampled("prism", nil))
	if !strings.Contains(alone, "seed 1: the same seed repeats every number, for") {
		t.Error(alone)
	}
	if !strings.Contains(both, "repeats every number of native, for") || !strings.Contains(both, "prism draws a seed of its own") {
		t.Error(both)
	}
	if other := text(sampled("prism", nil)); strings.Contains(other, "seed") {
		t.Error(other)
	}
}

// TestRepetitionNote: the first samples of the seed repeat a value whose time was up, but not a value without the samples of lost shards.
func TestRepetitionNote(t *testing.T) {
	seed := uint64(1)
	verdict := result.Verdict{
		Engine: "native", Method: "ci", Value: result.Value{Kind: result.Number}, Bound: &result.Interval{Hi: 1}, Samples: 10, Seed: &seed,
		Err: &result.Failure{Class: result.Interrupted},
	}
	for missesShards, want := range map[bool]string{
		false: "; to repeat a value whose sampling ended early, give its number of samples with --samples",
		true:  "; to repeat a value without the missing shards, merge the same shards again",
	} {
		verdict.Err.MissesShards = missesShards
		if got := seedText([]result.Verdict{verdict}, &verdict); !strings.HasSuffix(got, want) {
			t.Errorf("found %q, want %q at the end", got, want)
		}
	}
}
