package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/number"
)

// Estimate returns two cells for a [Table]: a number with the digits that its interval justifies, and the interval with its ends rounded outwards.
// The second cell is empty if an end is not finite.
func Estimate(value, lower, upper float64) (text, interval Cell) {
	halfWidth := (upper - lower) / 2
	if math.IsInf(halfWidth, 0) || math.IsNaN(halfWidth) {
		return Cell{Text: number.Text(value), Value: value}, Cell{}
	}
	scale := number.ScaleOf(value, halfWidth)
	return Cell{Text: scale.Format(value, 0), Value: value}, Cell{Text: scale.Interval(lower, upper)}
}

// EstimateBeside is like [Estimate], but the interval has as many more digits as are needed to show that it does not contain x, if it does not.
func EstimateBeside(x, value, lower, upper float64) (text, interval Cell) {
	text, interval = Estimate(value, lower, upper)
	if interval.Text != "" {
		interval.Text = number.ScaleOf(value, (upper-lower)/2).IntervalBeside(x, lower, upper)
	}
	return text, interval
}

// Footnotes are the notes below a [Table], each once, with numbers. The zero value has none.
type Footnotes []string

// Add adds notes to the footnotes, and returns their numbers as a mark, such as "[1,3]". A note that already exists keeps its number. Without notes,
// the mark is empty.
func (f *Footnotes) Add(notes ...string) string {
	var numbers []int
	for _, note := range notes {
		i := slices.Index(*f, note)
		if i < 0 {
			i = len(*f)
			*f = append(*f, note)
		}
		if !slices.Contains(numbers, i+1) {
			numbers = append(numbers, i+1)
		}
	}
	if len(numbers) == 0 {
		return ""
	}
	slices.Sort(numbers)
	marks := make([]string, len(numbers))
	for i, number := range numbers {
		marks[i] = strconv.Itoa(number)
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
