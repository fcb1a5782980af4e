package report

import "math"

// Estimate returns the cells of a number with an interval, for a [Table]: the number with the digits that the interval justifies, and the
// interval with its ends rounded outwards. An end that is not finite means that there is none: the second cell is then empty.
func Estimate(value, lo, hi float64) (number, interval Cell) {
	half := (hi - lo) / 2
	if math.IsInf(half, 0) || math.IsNaN(half) {
		return Cell{Text: scaleOf(value, 0).format(value, 0), Value: value}, Cell{}
	}
	s := scaleOf(value, half)
	low, high := s, s
	if s.trim { // no width to take digits from: each end has its own
		low, high = scaleOf(lo, 0), scaleOf(hi, 0)
	}
	return Cell{Text: s.format(value, 0), Value: value}, Cell{Text: "[" + low.format(lo, -1) + ", " + high.format(hi, +1) + "]"}
}

// Footnotes numbers the notes below a [Table]. The zero value has none.
type Footnotes struct{ notes numbered }

// Add returns the marks of notes, "[1,3]", or nothing for none. A note that is there already keeps its number.
func (f *Footnotes) Add(notes ...string) string { return f.notes.add(notes...) }

// Paragraphs returns the notes with their numbers, as [Table.Notes] wants them.
func (f *Footnotes) Paragraphs() []string { return f.notes.paragraphs() }
