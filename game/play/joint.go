package play

import (
	"math"

	"tilecheck/stats"
)

// Joint says whether the mean scores of a table agree with ours when they are judged together. Small deviations in the same direction can each
// be compatible and yet be incompatible as a whole.
type Joint struct {
	Table string
	Rows  int // rows with a compared mean score, each with its own games
	// Deviation is the sum of the deviations of the rows divided by the square root of Rows. It is nominally standard normal if the table
	// agrees with ours, and negative if the published numbers are lower. PValue is two-sided.
	Deviation, PValue float64
	Verdict           Verdict
}

// Joints tests the mean scores of each table together, by Stouffer's method with the confidence [stats.CompareConfidence]. It returns a result for
// each table with at least two compared mean scores.
//
// Source: Stouffer, Suchman, DeVinney, Star and Williams 1949, The American Soldier, volume 1, footnote to page 45.
func Joints(results []RowResult) []Joint {
	var tables []Joint
	seenTables := make(map[[2]string]bool)
	for i := range results {
		result := &results[i]
		for index := range result.Judgements {
			judgement := &result.Judgements[index]
			isMean := result.Row.Values[index].Measure == MeanScore
			isCompared := judgement.Verdict == Compatible || judgement.Verdict == Incompatible
			series := [2]string{result.Row.Table, result.Strategy} // rows of a series share their games
			if !isMean || !isCompared || seenTables[series] {
				continue
			}
			seenTables[series] = true
			if len(tables) == 0 || tables[len(tables)-1].Table != result.Row.Table {
				tables = append(tables, Joint{Table: result.Row.Table})
			}
			lastTable := &tables[len(tables)-1]
			lastTable.Rows++
			lastTable.Deviation += judgement.Deviation
		}
	}
	joints := tables[:0]
	for _, joint := range tables {
		if joint.Rows < 2 {
			continue
		}
		joint.Deviation /= math.Sqrt(float64(joint.Rows))
		joint.PValue = math.Erfc(math.Abs(joint.Deviation) / math.Sqrt2)
		joint.Verdict = Compatible
		if joint.PValue <= stats.Alpha(stats.CompareConfidence) {
			joint.Verdict = Incompatible
		}
		joints = append(joints, joint)
	}
	return joints
}
