package serve

import (
	"math"
	"strconv"

	"tilecheck/report/frontier"
	"tilecheck/report/number"
	"tilecheck/result"
	"tilecheck/verify/expect"
)

// verdict is a verdict as the page shows it.
type verdict struct {
	result.Record
	Index int     `json:"index"` // of the property in its file
	Short *digits `json:"short,omitempty"`
	Full  *digits `json:"full,omitempty"`
	Time  string  `json:"time,omitempty"`
	// Frontier is there for a Pareto curve of two objectives.
	Frontier *frontier.Frontier `json:"frontier,omitempty"`
	// Expected is the value of the RESULT annotation that applies, Outcome how the verdict compares
	// with it: PASS, FAIL, NOT TESTED or UNSUPPORTED.
	Expected string `json:"expected,omitempty"`
	Outcome  string `json:"outcome,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// digits is a number as people read it, with as many digits as its interval justifies. The number
// plus or minus Half contains the interval.
type digits struct {
	Value    string `json:"value"`
	Half     string `json:"half,omitempty"` // empty for an exact number, and where there is no interval
	Interval string `json:"interval,omitempty"`
}

// maxDigits is the largest number of significant digits of a float64.
const maxDigits = 17

// verdict returns the verdict of instance i.
func (r *run) verdict(i int, checkedVerdict *result.Verdict) verdict {
	record := verdict{Record: result.NewRecord(checkedVerdict), Frontier: frontier.FromVerdict(checkedVerdict)}
	if checkedVerdict.Seconds > 0 {
		record.Time = number.Duration(checkedVerdict.Seconds)
	}
	if value := checkedVerdict.Value; value.Kind == result.Number || value.Kind == result.Integer {
		record.Short = digitsOf(checkedVerdict, number.MaxDigits)
		record.Full = digitsOf(checkedVerdict, maxDigits)
	}
	if i < len(r.instances) {
		instance := &r.instances[i]
		record.Index = instance.index
		record.judge(r, instance, checkedVerdict)
	}
	return record
}

// digitsOf writes the number of a verdict with at most limit significant digits.
func digitsOf(verdict *result.Verdict, limit int) *digits {
	value := verdict.Value
	if value.Rat != nil {
		return &digits{Value: number.Exact(value.Rat)}
	}
	lo, hi, half := value.Num, value.Num, 0.0
	switch {
	case verdict.Bound != nil:
		lo, hi = verdict.Bound.Lo, verdict.Bound.Hi
		half = (hi - lo) / 2
	case verdict.HalfWidth != nil:
		half = *verdict.HalfWidth
		lo, hi = value.Num-half, value.Num+half
	}
	if math.IsInf(half, 0) || math.IsNaN(half) || half == 0 {
		return &digits{Value: number.Text(value.Num)}
	}
	scale := number.ScaleWithin(value.Num, half, limit)
	result := &digits{Value: scale.Format(value.Num, 0), Interval: scale.Interval(lo, hi)}
	rounded, err := strconv.ParseFloat(result.Value, 64)
	if err != nil {
		return result
	}
	if distance := max(hi-rounded, rounded-lo); distance > 0 {
		result.Half = number.ScaleWithin(distance, distance, 2).Format(distance, 1)
	}
	return result
}

// judge compares a verdict with the annotations of its property.
func (d *verdict) judge(current *run, checked *instance, verdict *result.Verdict) {
	source, property := current.plan.Job.Properties, checked.task.Property
	if property == nil || checked.task.Source == nil || checked.task.Rejected != nil {
		return
	}
	rules := expect.Rules{Exact: current.plan.Job.Numeric.Accuracy == result.Exact, Relative: expect.DefaultRelative}
	program, err := current.plan.Model.Instantiate(checked.model.Map())
	if err != nil {
		return // the verdict has this error, too
	}
	rules.Constants = checked.task.Source.Props.Values(program, checked.property.Map())
	var chosen expect.Annotations
	if chosen.Terms, err = expect.SelectTerms(expect.ParseTerms(source, property), rules); err == nil {
		chosen.Result, err = expect.Select(expect.Parse(source, property), rules)
	}
	if err != nil || !chosen.Expects() || !chosen.Terms.Wants(d.Engine) {
		return
	}
	if term := chosen.Terms; term != nil && term.Statistical != nil {
		rules.Level = term.Statistical.Level(0)
	}
	judgement := chosen.Judge(*verdict, rules)
	d.Expected, d.Outcome, d.Reason = chosen.String(), judgement.Outcome.String(), judgement.Reason
}
