package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// Verdicts prints one row for each property and valuation of the constants, in the given order. Tables and Markdown
// leave out empty columns, round numbers as the package comment says, and have the warnings below, each once, with
// numbers. JSON and CSV have every digit; CSV has a column for each constant.
func Verdicts(w io.Writer, f table.Format, verdicts []result.Verdict, opt table.Options) error {
	switch f {
	case table.JSON:
		return table.WriteRecords(w, f, opt, nil, result.Records(verdicts), nil)
	case table.CSV:
		return table.WriteExperiment(w, result.Records(verdicts))
	}
	if err := verdictTable(verdicts, opt).Write(w, f, opt); err != nil {
		return err
	}
	if err := writeListings(w, f, verdicts, opt); err != nil {
		return err
	}
	return writeWitnesses(w, f, verdicts, opt)
}

// verdictTable is the table for people.
func verdictTable(verdicts []result.Verdict, opt table.Options) *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "property", Min: 16, Code: true},
		{Name: "constants", Min: 12, Code: true},
		{Name: "engine"},
		{Name: "method", Min: 8},
		{Name: "value", Min: 15, Max: 44, Each: true},
		{Name: "interval", Min: 13, Each: true},
		{Name: "confidence", Align: table.Right},
		{Name: "samples", Align: table.Right},
		{Name: "accuracy"},
		{Name: "resolution"},
		{Name: "states", Align: table.Right},
		{Name: "time", Align: table.Right, Each: true},
		{Name: "notes"},
	}}
	space, same := sameSpace(verdicts)
	var notes table.Footnotes
	for i := range verdicts {
		v := &verdicts[i]
		t.Append(
			propertyText(v), result.Valuation(v.Constants).String(), v.Engine, v.Method,
			valueCell(v, opt), intervalText(v, opt), confidenceText(v), countText(v.Samples),
			accuracyText(v), resolutionText(v), statesText(v, same), number.Duration(v.Seconds), notes.Add(append(longFraction(v), Remarks(v)...)...),
		)
	}
	t.Notes = slices.Concat(space, provenance(verdicts), notes.Paragraphs())
	return t.DropEmpty()
}

// Remarks returns the doubt of a verdict's own engine and the warnings.
func Remarks(v *result.Verdict) []string {
	if v.Doubt == "" {
		return v.Warnings
	}
	return append([]string{doubtText(v)}, v.Warnings...)
}

// doubtText says that the engine doubts its value, and why.
func doubtText(v *result.Verdict) string {
	return strings.TrimSpace(v.Engine+" itself casts doubt on the value") + ": " + v.Doubt
}

// longFraction returns a note with a fraction that is too long for its cell.
func longFraction(v *result.Verdict) []string {
	const longest = 400
	if v.Value.Rat == nil {
		return nil
	}
	switch fraction := v.Value.Rat.RatString(); {
	case len(fraction) <= number.MaxFraction:
		return nil
	case len(fraction) <= longest:
		return []string{"exactly " + fraction}
	default:
		return []string{fmt.Sprintf("exactly a fraction with %d digits, see --format json", len(fraction)-1)}
	}
}

// sameSpace returns a note about the state space if all verdicts with one have the same.
func sameSpace(verdicts []result.Verdict) (note []string, same bool) {
	var notes []string
	for i := range verdicts {
		if v := &verdicts[i]; v.States > 0 {
			notes = append(notes, "state space: "+spaceText(v))
		}
	}
	notes = distinct(notes)
	if len(notes) > 1 {
		return nil, false
	}
	return notes, true
}

// statesText is empty if a note has the number of states.
func statesText(v *result.Verdict, noted bool) string {
	if noted {
		return ""
	}
	return countText(v.States)
}

// provenance returns the notes about intervals, once for each engine and method, and about the seeds that repeat the
// run.
func provenance(verdicts []result.Verdict) []string {
	var tools, methods, seeds []string
	for i := range verdicts {
		v := &verdicts[i]
		if v.Tool != "" {
			tools = append(tools, v.Engine+": "+v.Tool)
		}
		if v.Bound != nil && v.BoundMethod != "" {
			whose := strings.TrimSpace(v.Engine + " " + v.Method)
			if whose != "" {
				whose = " of " + whose
			}
			methods = append(methods, "intervals"+whose+": "+v.BoundMethod+confidenceNote(v))
		}
		if v.Seed != nil {
			seeds = append(seeds, seedText(verdicts, v))
		}
	}
	return distinct(slices.Concat(tools, methods, seeds, seedless(verdicts)))
}

// seedText says that a seed repeats the numbers of its engine. It names the engine if there are others.
func seedText(verdicts []result.Verdict, v *result.Verdict) string {
	numbers := "every number"
	if slices.ContainsFunc(verdicts, func(w result.Verdict) bool { return w.Engine != v.Engine }) {
		numbers += " of " + v.Engine
	}
	text := fmt.Sprintf("seed %d: the same seed repeats %s, for any number of workers", *v.Seed, numbers)
	if slices.ContainsFunc(verdicts, func(w result.Verdict) bool { return w.Engine == v.Engine && w.SampledInPart() }) {
		text += ", but not those that a time limit or an interruption cut short"
	}
	return text
}

// seedless names the engines whose samples no seed repeats, if another engine has a seed.
func seedless(verdicts []result.Verdict) []string {
	seeded := make(map[string]bool)
	for i := range verdicts {
		if verdicts[i].Seed != nil {
			seeded[verdicts[i].Engine] = true
		}
	}
	var out []string
	for i := range verdicts {
		if v := &verdicts[i]; len(seeded) > 0 && v.Samples > 0 && !seeded[v.Engine] {
			out = append(out, v.Engine+" draws a seed of its own, which nobody knows: its samples are others in every run")
		}
	}
	return out
}

// distinct returns the first of equal strings, in order.
func distinct(all []string) []string {
	var out []string
	for _, s := range all {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// propertyText is the property with its name, as in a properties file.
func propertyText(v *result.Verdict) string {
	if v.Name == "" {
		return v.Property
	}
	return strconv.Quote(v.Name) + ": " + v.Property
}

// valueCell is the value, or the reason why there is none, or both if the value is incomplete.
func valueCell(v *result.Verdict, opt table.Options) table.Cell {
	text := valueText(v, opt)
	if v.Err == nil {
		if text == "" {
			text = "no value"
		}
		return table.Cell{Text: text}
	}
	if text != "" {
		text += "\n"
	}
	return table.Cell{Text: text + failureText(v.Err), Tone: table.Bad}
}

// failureText is the message with its place. Without a place, the class comes first, unless the message begins with it.
func failureText(f *result.Failure) string {
	text := f.Error()
	if f.Pos.IsValid() || strings.HasPrefix(text, string(f.Class)) {
		return text
	}
	return string(f.Class) + ": " + text
}

// valueText returns the value of a verdict with the digits that its interval justifies.
func valueText(v *result.Verdict, opt table.Options) string {
	x := v.Value
	switch x.Kind {
	case result.NoValue:
		return ""
	case result.Boolean:
		return strconv.FormatBool(x.Bool)
	case result.Range:
		return number.Of(0, 0).Interval(x.Num, x.Hi)
	case result.Function:
		return x.Formula
	case result.Curve:
		if x.RatPoints != nil {
			return result.CurveText(x.RatPoints, number.Exact, ", ")
		}
		return result.CurveText(x.Points, func(v float64) string { return number.Of(v, 0).Format(v, 0) }, ", ")
	}
	if x.Rat != nil {
		return number.Exact(x.Rat)
	}
	if x.Kind == result.Integer {
		return x.Text()
	}
	return estimateText(x.Num, v.HalfWidth, verdictScale(v, opt), opt)
}

// estimateText returns a value with its half-width: "0.444 +/- 0.041". Without a half-width it is "0.444", and also where all samples were
// equal: their half-width of 0 says nothing.
func estimateText(x float64, half *float64, s number.Scale, opt table.Options) string {
	text := s.Format(x, 0)
	if half != nil && *half != 0 {
		text += opt.PlusMinus() + s.Format(*half, 0)
	}
	return text
}

// verdictScale returns the digits that the interval of a verdict justifies; without an interval, those that its half-width justifies.
func verdictScale(v *result.Verdict, opt table.Options) number.Scale {
	half := math.NaN()
	if v.Bound != nil {
		half = (v.Bound.Hi - v.Bound.Lo) / 2
	}
	if !(half > 0 && !math.IsInf(half, 1)) && v.HalfWidth != nil {
		half = *v.HalfWidth
	}
	return number.To(v.Value.Num, half, opt.MaxDigits())
}

// intervalText returns the interval of a verdict; empty without one, or for a fraction. The width of an interval around a
// range of values says nothing about the accuracy of its ends.
func intervalText(v *result.Verdict, opt table.Options) string {
	if v.Bound == nil || v.Value.Rat != nil {
		return ""
	}
	if v.Value.Kind == result.Range {
		return number.Scale{Trim: true}.Interval(v.Bound.Lo, v.Bound.Hi)
	}
	return verdictScale(v, opt).Interval(v.Bound.Lo, v.Bound.Hi)
}

// confidenceText returns the confidence of a verdict in percent; empty if it has none.
func confidenceText(v *result.Verdict) string {
	if v.Confidence == 0 {
		return ""
	}
	return number.Percent(v.Confidence)
}

// confidenceNote names the confidence of an interval in a note.
func confidenceNote(v *result.Verdict) string {
	if v.Confidence == 0 {
		return ""
	}
	return ", " + number.Percent(v.Confidence) + " confidence"
}

// countText returns a number; empty for 0, which means unknown.
func countText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// accuracyText returns the accuracy of a value in words; empty without a value.
func accuracyText(v *result.Verdict) string {
	if v.Value.Kind == result.NoValue {
		return ""
	}
	if v.Doubt != "" {
		return v.Accuracy.String() + ", doubtful"
	}
	return v.Accuracy.String()
}

// resolutionText returns how nondeterminism was resolved; empty if that is unknown.
func resolutionText(v *result.Verdict) string {
	if v.Resolution == result.ResolutionUnknown {
		return ""
	}
	return v.Resolution.String()
}
