package play

import (
	"math"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/result"
	"tilecheck/stats"
)

// The rows of the thesis stand for the counts of its table: 1000 games, three decimals.
func TestThesisCounts(t *testing.T) {
	d := Thesis()
	for i, p := range modelgen.PublishedTable() {
		row := d.Rows[i]
		counts, remark, err := publishedCounts(row.Values[0].Text, row.Games)
		if err != nil || remark != "" || len(counts) != 1 || counts[0].N != 1000 || counts[0].K != int64(math.Round(1000*p.Loss)) {
			t.Errorf("%s: %v, %q, %v, want %v of 1000", row.Name, counts, remark, err, p.Loss)
		}
		if expected := row.Values[0].Note != ""; expected == p.Reproducible {
			t.Errorf("%s: a note is there: %t", row.Name, expected)
		}
	}
	if len(d.Rows) != 20 {
		t.Errorf("%d rows, want 20", len(d.Rows))
	}
}

// A verdict beside 722 games of 1000. Samples are compared by counts, whatever engine drew them; a state space by its value, if it is of the same scheduler.
func TestJudgeVerdict(t *testing.T) {
	number := func(x float64, a result.Accuracy, r result.Resolution, samples int64) result.Verdict {
		return result.Verdict{
			Property: "Pmin=? [ F fail ]", Value: result.Value{Kind: result.Number, Num: x}, Accuracy: a, Resolution: r, Samples: samples,
		}
	}
	cutShort := number(0.5, result.Probable, result.Uniform, 1000)
	cutShort.Bound, cutShort.Err = &result.Interval{Lo: 0.4, Hi: 0.6}, &result.Failure{Class: result.Timeout, Message: "time limit reached after 1000 samples"}
	row := ThesisRow(modelgen.Published{Strategy: "opposite", Max: 128, Loss: 0.722, Reproducible: true})
	for _, test := range []struct {
		name   string
		v      result.Verdict
		want   Verdict
		remark bool
	}{
		{"near", number(0.736, result.Probable, result.Uniform, 1000), Compatible, false},
		{"far", number(0.5, result.Probable, result.Uniform, 1000), Incompatible, false},
		{"few", number(0.8, result.Probable, result.Uniform, 5), TooFew, true},
		{"exact, near", number(0.736, result.Exact, result.Uniform, 0), Compatible, false},
		{"exact, far", number(0.5, result.Exact, result.Uniform, 0), Incompatible, false},
		{"a minimum", number(0.722, result.Exact, result.Minimum, 0), NotCompared, true},
		{"nothing", result.Verdict{}, NotCompared, false},
		{"cut short by a limit", cutShort, Incompatible, false},
		{"an error", result.Verdict{Err: &result.Failure{Message: "the time was up"}}, NotCompared, true},
	} {
		j, err := JudgeVerdict(&row, &row.Values[0], &test.v, 0.99, stats.CompareConfidence, false)
		if err != nil || j.Verdict != test.want || (j.Remark != "") != test.remark {
			t.Errorf("%s: %+v, %v, want verdict %d", test.name, j, err, test.want)
		}
	}
	for _, text := range []string{"0.722", "72.2 %", "722"} {
		p := Published{Measure: LossShare, Tile: 128, Text: text}
		v := number(0.736, result.Probable, result.Uniform, 1000)
		j, err := JudgeVerdict(&row, &p, &v, 0.99, stats.CompareConfidence, false)
		if err != nil || j.Verdict != Compatible || j.Theirs != 1000 || j.Games != 1000 {
			t.Errorf("%s: %+v, %v", text, j, err)
		}
	}
}

// What is drawn of a printed share.
func TestShare(t *testing.T) {
	for text, want := range map[string]float64{"0.722": 0.722, "1.000": 1, "72.2 %": 0.722, "about 8 %": 0.08, "3/10": 0.3, "Yes": 1, "No": 0, "0": 0} {
		p := Published{Measure: LossShare, Text: text}
		if got, ok := p.Share(); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, %t, want %v", text, got, ok, want)
		}
	}
	if got, ok := (&Published{Measure: MeanScore, Text: "0.5"}).Share(); ok {
		t.Errorf("a mean score is the share %v", got)
	}
}
