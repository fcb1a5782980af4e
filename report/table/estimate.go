package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/number"
)

// Estimate returns the cells of a number with an interval, for a [Table]: the number with the digits that the interval justifies, and the
// interval with its ends rounded outwards. An end that is not finite means that there is none: the second cell is then empty.
func Estimate(value, lo, hi float64) (text, interval Cell) {
	half := (hi - lo) / 2
	if math.IsInf(half, 0) || math.IsNaN(half) {
		return Cell{Text: number.Text(value), Value: value}, Cell{}
	}
	s := number.ScaleOf(value, half)
	return Cell{Text: s.Format(value, 0), Value: value}, Cell{Text: s.Interval(lo, hi)}
}

// Footnotes are the notes below a [Table], each once, with numbers. The zero value has none.
type Footnotes []string

// Add returns the marks of notes, "[1,3]", or nothing for none. A note that is there already keeps its number.
func (f *Footnotes) Add(notes ...string) string {
	var marks []string
	for _, note := range notes {
		i := slices.Index(*f, note)
		if i < 0 {
			i = len(*f)
			*f = append(*f, note)
		}
		if mark := strconv.Itoa(i + 1); !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	if len(marks) == 0 {
		return ""
	}
	return "[" + strings.Join(marks, ",") + "]"
}

// Paragraphs returns the notes with their numbers, as [Table.Notes] wants them.
func (f Footnotes) Paragraphs() []string {
	out := make([]string, len(f))
	for i, note := range f {
		out[i] = fmt.Sprintf("[%d] %s", i+1, note)
	}
	return out
}
