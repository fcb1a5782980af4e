package play

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"tilecheck/modelgen"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/stats"
)

// thesisPaths is how many paths are sampled beside the 1000 of a cell.
const thesisPaths = 20_000

// Thesis returns the experiment of the thesis, which sampled models.
func Thesis() Document {
	d := Document{
		Name:   "thesis",
		Source: "J. Sijtsma, Creating a Formal Model of the Game 2048, 2020",
		Notes:  []string{modelgen.PublishedNote},
	}
	for _, p := range modelgen.PublishedTable() {
		d.Rows = append(d.Rows, ThesisRow(p))
	}
	return d
}

// ThesisRow returns a cell of Table 3.6 as a row.
func ThesisRow(p modelgen.Published) PublishedRow {
	m := fullBoard()
	m.Goal, m.PlayOn = bits.TrailingZeros(uint(p.Max)), false
	v := Published{Measure: LossShare, Tile: p.Max, Text: strconv.FormatFloat(p.Loss, 'f', 3, 64)}
	if !p.Reproducible {
		v.Note = "this column of Table 3.6 does not follow from the rules of the game, but from a model with two wrong updates: see docs/thesis.md"
	}
	return PublishedRow{
		Table: "table 3.6", Name: fmt.Sprintf("%s, %d", p.Strategy, p.Max), Strategy: p.Strategy, Model: true, Match: m,
		Games: modelgen.PublishedSamples, Play: thesisPaths, Values: []Published{v},
	}
}

// JudgeVerdict compares the verdict of a model with a published share, that of games which drew their moves. Samples are compared by counts.
// sequential says that the number of samples was decided while sampling; it always was if a time limit ended the sampling. A verdict of the
// state space has no number of samples. confidence is that of our interval, level that of the test.
func JudgeVerdict(row *PublishedRow, p *Published, v *result.Verdict, confidence, level float64, sequential bool) (Judgement, error) {
	j := Judgement{Value: math.NaN(), Games: v.Samples, Theirs: row.Games}
	sequential = sequential || v.Err != nil
	switch {
	case v.Err != nil && !v.SampledInPart():
		j.Remark = v.Err.Message
		return j, nil
	case v.Value.Kind == result.NoValue:
		return j, nil
	case v.Samples > 0 && v.Value.Kind == result.Number && v.Doubt == "":
		ours := stats.Bernoulli{N: v.Samples, K: int64(math.Round(v.Value.Num * float64(v.Samples)))}
		s := gameSample{sequential: sequential, testConfidence: level}
		return j, s.judgeShare(&j, ours, p, confidence)
	}
	share, ok := p.Share()
	if !ok {
		return j, fmt.Errorf("%s, %s: %s is no share", row.Table, row.Name, p)
	}
	theirs := result.Verdict{
		Value: result.Value{Kind: result.Number, Num: share}, Accuracy: result.Probable, Resolution: result.Uniform,
		Samples: row.Games, BoundMethod: stats.ClopperPearson.String(),
	}
	o := agree.Verdicts("ours", v, "the published value", &theirs, agree.Ask(v.Property, v.Constants), agree.Options{Level: level})
	j.Value, j.Method = v.Value.Num, string(o.Basis)
	switch {
	case o.Relation == agree.Different:
		j.Verdict = Incompatible
	case o.Relation == agree.Unknown && !o.Compatible:
		j.Remark = "not comparable with the published value: " + o.Reason
	default:
		j.Verdict = Compatible
	}
	return j, nil
}
