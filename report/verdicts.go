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
	"tilecheck/result/agree"
)

// Verdicts writes verdicts to w, in the given order, with one row for each. Text and Markdown omit empty columns, round numbers, and list the
// warnings below the table. JSON and CSV have all digits, and CSV has a column for each constant.
func Verdicts(w io.Writer, format table.Format, verdicts []result.Verdict, opt table.Options) error {
	if format.Machine() {
		return table.WriteExperiment(w, format, opt, result.Records(verdicts))
	}
	if err := verdictTable(verdicts, opt).Write(w, format, opt); err != nil {
		return err
	}
	if err := writeListings(w, format, verdicts, opt); err != nil {
		return err
	}
	return writeWitnesses(w, format, verdicts, opt)
}

// verdictTable returns the table of verdicts for text and Markdown.
func verdictTable(verdicts []result.Verdict, opt table.Options) *table.Table {
	verdictRows := &table.Table{Columns: []table.Column{
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
	spaceNote, isSameSpace := sameSpace(verdicts)
	var notes table.Footnotes
	for i := range verdicts {
		verdict := &verdicts[i]
		verdictRows.Append(
			propertyText(verdict), result.Valuation(verdict.Constants).String(), verdict.Engine, verdict.Method,
			valueCell(verdict, opt), intervalText(verdict, opt), confidenceText(verdict), countText(verdict.Samples),
			accuracyText(verdict), resolutionText(verdict), statesText(verdict, isSameSpace), number.Duration(verdict.Seconds), notes.Add(append(longFraction(verdict), Remarks(verdict)...)...),
		)
	}
	verdictRows.Notes = slices.Concat(spaceNote, provenance(verdicts), notes.Paragraphs())
	return verdictRows.DropEmpty()
}

// Remarks returns the doubt of a verdict's own engine and the warnings.
func Remarks(verdict *result.Verdict) []string {
	if verdict.Doubt == "" {
		return verdict.Warnings
	}
	return append([]string{doubtText(verdict)}, verdict.Warnings...)
}

// doubtText says that the engine doubts its value, and why.
func doubtText(verdict *result.Verdict) string {
	return strings.TrimSpace(verdict.Engine+" itself casts doubt on the value") + ": " + verdict.Doubt
}

// longFraction returns a note with the exact value of a verdict, if the fraction is too long for its cell. Otherwise it returns nil.
func longFraction(verdict *result.Verdict) []string {
	const maxLength = 400
	if verdict.Value.Rat == nil {
		return nil
	}
	switch fraction := verdict.Value.Rat.RatString(); {
	case len(fraction) <= number.MaxFraction:
		return nil
	case len(fraction) <= maxLength:
		return []string{"exactly " + fraction}
	default:
		return []string{fmt.Sprintf("exactly a fraction with %d digits, see --format json", len(fraction)-1)}
	}
}

// sameSpace returns a note with the size of the state space, if it is the same for all verdicts that have one. If the sizes differ, isSame is false.
func sameSpace(verdicts []result.Verdict) (note []string, isSame bool) {
	var notes []string
	for i := range verdicts {
		if verdict := &verdicts[i]; verdict.States > 0 {
			notes = append(notes, "state space: "+spaceText(verdict))
		}
	}
	notes = distinct(notes)
	if len(notes) > 1 {
		return nil, false
	}
	return notes, true
}

// statesText is empty if a note has the number of states.
func statesText(verdict *result.Verdict, noted bool) string {
	if noted {
		return ""
	}
	return countText(verdict.States)
}

// provenance returns notes about the origin of the values, each once: the tools, the methods behind the intervals, and the seeds that repeat the run.
func provenance(verdicts []result.Verdict) []string {
	var tools, methods, seeds []string
	for i := range verdicts {
		verdict := &verdicts[i]
		if verdict.Tool != "" {
			tools = append(tools, verdict.Engine+": "+verdict.Tool)
		}
		if verdict.Bound != nil && verdict.BoundMethod != "" {
			origin := strings.TrimSpace(verdict.Engine + " " + verdict.Method)
			if origin != "" {
				origin = " of " + origin
			}
			methods = append(methods, "intervals"+origin+": "+verdict.BoundMethod+confidenceNote(verdict)+widthNote(verdict))
		}
		if verdict.Seed != nil {
			seeds = append(seeds, seedText(verdicts, verdict))
		}
	}
	return distinct(slices.Concat(tools, methods, seeds, seedless(verdicts)))
}

// widthNote says how the half-width of --width is related to the interval of a sampled number. It returns "" for other verdicts, and where the
// note of a verdict says it.
func widthNote(verdict *result.Verdict) string {
	if hasGuaranteedWidth(verdict) {
		return "; sampling ended when their half-width was at most the one of --width"
	}
	return ""
}

// hasGuaranteedWidth reports whether paths were sampled until the interval was narrow enough. Other samples have PRISM's half-width beside the
// interval.
func hasGuaranteedWidth(verdict *result.Verdict) bool {
	return verdict.Samples > 0 && verdict.Bound != nil && verdict.HalfWidth == nil && verdict.Value.Kind == result.Number && verdict.Method == "ci" && verdict.Err == nil
}

// seedText returns a note that the seed of a verdict repeats its numbers. It names the engine if there are several.
func seedText(verdicts []result.Verdict, verdict *result.Verdict) string {
	numbers := "every number"
	if slices.ContainsFunc(verdicts, func(other result.Verdict) bool { return other.Engine != verdict.Engine }) {
		numbers += " of " + verdict.Engine
	}
	text := fmt.Sprintf("seed %d: the same seed repeats %s, for any number of workers", *verdict.Seed, numbers)
	for i := range verdicts {
		if other := &verdicts[i]; other.Engine == verdict.Engine && other.SampledInPart() {
			return text + "; " + repetitionText(other)
		}
	}
	return text
}

// repetitionText says how to repeat a value whose sampling ended early.
func repetitionText(verdict *result.Verdict) string {
	if verdict.Err.MissesShards {
		return "to repeat a value without the missing shards, merge the same shards again"
	}
	return "to repeat a value whose sampling ended early, give its number of samples with --samples"
}

// seedless returns a note for each verdict from samples of an engine that has no seed. It returns none if no engine has a seed.
func seedless(verdicts []result.Verdict) []string {
	seeded := make(map[string]bool)
	for i := range verdicts {
		if verdicts[i].Seed != nil {
			seeded[verdicts[i].Engine] = true
		}
	}
	var notes []string
	for i := range verdicts {
		if verdict := &verdicts[i]; len(seeded) > 0 && verdict.Samples > 0 && !seeded[verdict.Engine] {
			notes = append(notes, verdict.Engine+" draws a seed of its own, which nobody knows: its samples are others in every run")
		}
	}
	return notes
}

// distinct returns the texts without duplicates, in the order of their first occurrence.
func distinct(texts []string) []string {
	var first []string
	for _, text := range texts {
		if !slices.Contains(first, text) {
			first = append(first, text)
		}
	}
	return first
}

// propertyText is the property with its name, as in a properties file.
func propertyText(verdict *result.Verdict) string {
	return result.NamedProperty(verdict.Name, verdict.Property)
}

// valueCell returns the value of a verdict as a cell. If there was an error, the cell has its message instead, or also, if there is a value.
func valueCell(verdict *result.Verdict, opt table.Options) table.Cell {
	text := valueText(verdict, opt)
	if hasPointTable(verdict) {
		text = pointCountText(verdict)
	}
	if verdict.Err == nil {
		if text == "" {
			text = "no value"
		}
		return table.Cell{Text: text}
	}
	if verdict.SampledInPart() { // the message says how much was sampled, and why no more
		return table.Cell{Text: text + "\n" + verdict.Err.Error(), Tone: table.Bad}
	}
	if text != "" {
		text += "\n"
	}
	return table.Cell{Text: text + failureText(verdict.Err), Tone: table.Bad}
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
func valueText(verdict *result.Verdict, opt table.Options) string {
	value := verdict.Value
	switch value.Kind {
	case result.NoValue:
		return ""
	case result.Boolean:
		return strconv.FormatBool(value.Bool)
	case result.Range:
		return number.ScaleOf(0, 0).Interval(value.Num, value.Hi)
	case result.Function:
		return value.Formula
	case result.Curve:
		if value.RatPoints != nil {
			return result.CurveText(value.RatPoints, number.Exact, ", ")
		}
		return result.CurveText(value.Points, func(coordinate float64) string { return number.Text(coordinate) }, ", ")
	}
	if value.Rat != nil {
		return number.Exact(value.Rat)
	}
	if value.Kind == result.Integer {
		return value.Text()
	}
	return estimateText(value.Num, verdict.HalfWidth, verdictScale(verdict, opt), opt)
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

// verdictScale returns the digits that the interval of a verdict justifies; without an interval, those that its half-width justifies. An interval
// with a guaranteed half-width has one more digit, so that outward rounding does not make it visibly wider.
func verdictScale(verdict *result.Verdict, opt table.Options) number.Scale {
	half := math.NaN()
	if verdict.Bound != nil {
		half = (verdict.Bound.Hi - verdict.Bound.Lo) / 2
	}
	if hasGuaranteedWidth(verdict) {
		half /= 10
	}
	if !(half > 0 && !math.IsInf(half, 1)) && verdict.HalfWidth != nil {
		half = *verdict.HalfWidth
	}
	return number.ScaleWithin(verdict.Value.Num, half, opt.MaxDigits())
}

// intervalText returns the interval of a verdict; "" if the value is a fraction or has no interval. For a truth value it is the interval of the probability
// or reward that the property bounds, such as "P in [0.2, 0.4]", with enough digits to show on which side of the bound it lies.
func intervalText(verdict *result.Verdict, opt table.Options) string {
	if verdict.Bound == nil || verdict.Value.Rat != nil {
		return ""
	}
	if verdict.Value.Kind == result.Range { // the width of this interval is no error of its ends
		return number.Scale{Trim: true}.Interval(verdict.Bound.Lo, verdict.Bound.Hi)
	}
	scale := verdictScale(verdict, opt)
	if verdict.Value.Kind == result.Boolean {
		question := agree.Ask(verdict.Property, verdict.Constants)
		interval := scale.IntervalBeside(question.Bound, verdict.Bound.Lo, verdict.Bound.Hi)
		if question.Operator != 0 {
			interval = string(question.Operator) + " in " + interval
		}
		return interval
	}
	return scale.Interval(verdict.Bound.Lo, verdict.Bound.Hi)
}

// confidenceText returns the confidence of a verdict in percent; empty if it has none.
func confidenceText(verdict *result.Verdict) string {
	if verdict.Confidence == 0 {
		return ""
	}
	return number.Percent(verdict.Confidence)
}

// confidenceNote names the confidence of an interval in a note.
func confidenceNote(verdict *result.Verdict) string {
	if verdict.Confidence == 0 {
		return ""
	}
	return ", " + number.Percent(verdict.Confidence) + " confidence"
}

// countText returns a number; empty for 0, which means unknown.
func countText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// accuracyText returns the accuracy of a value in words; empty without a value.
func accuracyText(verdict *result.Verdict) string {
	if verdict.Value.Kind == result.NoValue {
		return ""
	}
	if verdict.Doubt != "" {
		return verdict.ReportedAccuracy().String() + ", doubtful"
	}
	return verdict.ReportedAccuracy().String()
}

// resolutionText returns how nondeterminism was resolved; empty if that is unknown.
func resolutionText(verdict *result.Verdict) string {
	if verdict.Resolution == result.ResolutionUnknown {
		return ""
	}
	return verdict.Resolution.String()
}
