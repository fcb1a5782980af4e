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

// Joints judges the mean scores of each table with at least two of them by Stouffer's method at [stats.CompareConfidence]. Rows with too few
// games are left out.
//
// Source: Stouffer, Suchman, DeVinney, Star and Williams 1949, The American Soldier, volume 1, footnote to page 45.
func Joints(results []RowResult) []Joint {
	var out []Joint
	seen := make(map[[2]string]bool)
	for i := range results {
		r := &results[i]
		for k := range r.Judgements {
			j := &r.Judgements[k]
			compared := j.Verdict == Compatible || j.Verdict == Incompatible
			game := [2]string{r.Row.Table, r.Strategy}
			if r.Row.Values[k].Measure != MeanScore || !compared || seen[game] {
				continue
			}
			seen[game] = true
			if len(out) == 0 || out[len(out)-1].Table != r.Row.Table {
				out = append(out, Joint{Table: r.Row.Table})
			}
			last := &out[len(out)-1]
			last.Rows++
			last.Deviation += j.Deviation
		}
	}
	joints := out[:0]
	for _, j := range out {
		if j.Rows < 2 {
			continue
		}
		j.Deviation /= math.Sqrt(float64(j.Rows))
		j.PValue = math.Erfc(math.Abs(j.Deviation) / math.Sqrt2)
		j.Verdict = Compatible
		if j.PValue <= stats.Alpha(stats.CompareConfidence) {
			j.Verdict = Incompatible
		}
		joints = append(joints, j)
	}
	return joints
}
