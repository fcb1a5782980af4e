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
func (r *run) verdict(i int, v *result.Verdict) verdict {
	out := verdict{Record: result.NewRecord(v), Frontier: frontier.FromVerdict(v)}
	if v.Seconds > 0 {
		out.Time = number.Duration(v.Seconds)
	}
	if x := v.Value; x.Kind == result.Number || x.Kind == result.Integer {
		out.Short = digitsOf(v, number.MaxDigits)
		out.Full = digitsOf(v, maxDigits)
	}
	if i < len(r.instances) {
		checked := &r.instances[i]
		out.Index = checked.index
		out.judge(r, checked, v)
	}
	return out
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
	out := &digits{Value: scale.Format(value.Num, 0), Interval: scale.Interval(lo, hi)}
	shown, err := strconv.ParseFloat(out.Value, 64)
	if err != nil {
		return out
	}
	if far := max(hi-shown, shown-lo); far > 0 {
		out.Half = number.ScaleWithin(far, far, 2).Format(far, 1)
	}
	return out
}

// judge compares a verdict with the annotations of its property.
func (d *verdict) judge(current *run, checked *instance, v *result.Verdict) {
	source, property := current.plan.Job.Properties, checked.task.Property
	if property == nil || checked.task.Source == nil || checked.task.Rejected != nil {
		return
	}
	rules := expect.Rules{Exact: current.plan.Job.Numeric.Accuracy == result.Exact, Relative: expect.DefaultRelative}
	program, err := current.plan.Model.Instantiate(checked.model.Map())
	if err != nil {
		return // the verdict says it
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
	j := chosen.Judge(*v, rules)
	d.Expected, d.Outcome, d.Reason = chosen.String(), j.Outcome.String(), j.Reason
}
