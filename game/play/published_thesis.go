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
	document := Document{
		Name:   "thesis",
		Source: "J. Sijtsma, Creating a Formal Model of the Game 2048, 2020",
		Notes:  []string{modelgen.PublishedNote},
	}
	for _, cell := range modelgen.PublishedTable() {
		document.Rows = append(document.Rows, ThesisRow(cell))
	}
	return document
}

// ThesisRow returns a cell of Table 3.6 as a row.
func ThesisRow(cell modelgen.Published) PublishedRow {
	match := fullBoard()
	match.Goal, match.PlayOn = bits.TrailingZeros(uint(cell.Max)), false
	value := Published{Measure: LossShare, Tile: cell.Max, Text: strconv.FormatFloat(cell.Loss, 'f', 3, 64)}
	if !cell.Reproducible {
		value.Note = "this column of Table 3.6 does not follow from the rules of the game, but from a model with two wrong updates: see docs/thesis.md"
	}
	return PublishedRow{
		Table: "table 3.6", Name: fmt.Sprintf("%s, %d", cell.Strategy, cell.Max), Strategy: cell.Strategy, Model: true, Match: match,
		Games: modelgen.PublishedSamples, Play: thesisPaths, Values: []Published{value},
	}
}

// JudgeVerdict compares the verdict of an engine on a model with a published share. A verdict from samples is compared by the numbers of samples.
// sequential says that the number of samples was not fixed beforehand; after a time limit this is always so. confidence is the confidence of our
// interval, and level is the confidence of the test.
func JudgeVerdict(row *PublishedRow, published *Published, verdict *result.Verdict, confidence, level float64, sequential bool) (Judgement, error) {
	judgement := Judgement{Value: math.NaN(), Games: verdict.Samples, Theirs: row.Games}
	sequential = sequential || verdict.Err != nil
	switch {
	case verdict.Err != nil && !verdict.SampledInPart():
		judgement.Remark = verdict.Err.Message
		return judgement, nil
	case verdict.Value.Kind == result.NoValue:
		return judgement, nil
	case verdict.Samples > 0 && verdict.Value.Kind == result.Number && verdict.Doubt == "":
		ours := stats.Bernoulli{N: verdict.Samples, K: int64(math.Round(verdict.Value.Num * float64(verdict.Samples)))}
		sample := gameSample{sequential: sequential, testConfidence: level}
		return judgement, sample.judgeShare(&judgement, ours, published, confidence)
	}
	share, ok := published.Share()
	if !ok {
		return judgement, fmt.Errorf("%s, %s: %s is no share", row.Table, row.Name, published)
	}
	theirs := result.Verdict{
		Value: result.Value{Kind: result.Number, Num: share}, Accuracy: result.Probable, Resolution: result.Uniform,
		Samples: row.Games, BoundMethod: stats.ClopperPearson.String(),
	}
	outcome := agree.Verdicts("ours", verdict, "the published value", &theirs, agree.Ask(verdict.Property, verdict.Constants), agree.Options{Level: level})
	judgement.Value, judgement.Method = verdict.Value.Num, string(outcome.Basis)
	switch {
	case outcome.Relation == agree.Different:
		judgement.Verdict = Incompatible
	case outcome.Relation == agree.Unknown && !outcome.Compatible:
		judgement.Remark = "not comparable with the published value: " + outcome.Reason
	default:
		judgement.Verdict = Compatible
	}
	return judgement, nil
}
