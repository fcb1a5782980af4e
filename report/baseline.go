package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tilecheck/result"
)

// The limits of [BaselineOptions] that are zero.
const (
	DefaultBaselineTolerance = 1e-5
	DefaultBaselineFactor    = 2
	DefaultBaselineSeconds   = 1
)

// BaselineOptions say what counts as a change. The zero value has the defaults.
type BaselineOptions struct {
	// Tolerance is how far values may be apart, relatively to the larger one.
	// Intervals count from their ends: two that overlap are no change.
	Tolerance float64
	// Factor and Seconds are both needed for a change of time: so many times
	// longer or shorter, and so much longer or shorter.
	Factor, Seconds float64
}

func (o BaselineOptions) withDefaults() BaselineOptions {
	for _, x := range []struct {
		value    *float64
		fallback float64
	}{
		{&o.Tolerance, DefaultBaselineTolerance},
		{&o.Factor, DefaultBaselineFactor},
		{&o.Seconds, DefaultBaselineSeconds},
	} {
		if !(*x.value > 0) {
			*x.value = x.fallback
		}
	}
	return o
}

// Aspect is what changed between two runs of a test suite. The order is that of reports.
type Aspect uint8

// The aspects. A result that has none of them is the same.
const (
	Broken      Aspect = iota // it did not fail and does
	ValueMoved                // the value is another one
	StatesMoved               // the state space has another size
	Otherwise                 // the outcome is another one, and neither broken nor mended
	Slower
	Vanished // only the old run has it
	Mended   // it failed and does not any more
	Faster
	Added // only the new run has it
)

// String returns the word used in every output format.
func (a Aspect) String() string {
	return [...]string{"broken", "value", "states", "outcome", "slower", "vanished", "mended", "faster", "new"}[a]
}

// Baseline is how a run of a test suite differs from an earlier one.
type Baseline struct {
	Changes []BaselineChange // by their first aspect, then in the order of the suite
	Same    int              // results of both runs without a change
}

// BaselineChange is one result that is not as it was.
type BaselineChange struct {
	Old, New *TestResult // Old is nil for Added, New for Vanished
	Aspects  []Aspect    // in their order, at least one
}

// Count returns how many results changed in that way.
func (b *Baseline) Count(a Aspect) int {
	n := 0
	for i := range b.Changes {
		for _, x := range b.Changes[i].Aspects {
			if x == a {
				n++
			}
		}
	}
	return n
}

// CompareBaseline says what changed from the old run to the new one. Results
// belong together when they have the same engine, files, switches, constants,
// and name, or property if it has no name; where that is several times in a
// run, they are taken in order.
//
// Values changed when what is known about them cannot be of one number, with
// the tolerance: fractions are points, intervals are intervals. Two sampled
// intervals of one unchanged number with confidence c are called a change with
// a probability of 2(1-c) at most. Times of results from the cache are not compared.
func CompareBaseline(old, now *TestReport, opt BaselineOptions) *Baseline {
	opt = opt.withDefaults()
	before := make(map[string]*TestResult)
	oldKeys := keysOf(old)
	for i, key := range oldKeys {
		before[key] = &old.Results[i]
	}
	b := new(Baseline)
	groups := make([][]BaselineChange, Added+1)
	add := func(c BaselineChange) { groups[c.Aspects[0]] = append(groups[c.Aspects[0]], c) }
	for i, key := range keysOf(now) {
		r := &now.Results[i]
		o := before[key]
		delete(before, key)
		switch aspects := changes(o, r, opt); {
		case o == nil:
			add(BaselineChange{New: r, Aspects: []Aspect{Added}})
		case len(aspects) == 0:
			b.Same++
		default:
			add(BaselineChange{o, r, aspects})
		}
	}
	for i, key := range oldKeys {
		if before[key] != nil {
			add(BaselineChange{Old: &old.Results[i], Aspects: []Aspect{Vanished}})
		}
	}
	for _, g := range groups {
		b.Changes = append(b.Changes, g...)
	}
	return b
}

// keysOf returns a text for every result that says which it is, the same in every run.
func keysOf(rep *TestReport) []string {
	seen := make(map[string]int)
	out := make([]string, len(rep.Results))
	for i := range rep.Results {
		r := &rep.Results[i]
		what := r.Property
		if r.Name != "" {
			what = "\x00" + r.Name
		}
		// Constants as JSON has them: 0.5 and .5 are one value.
		valuation, err := constants(r.Constants).MarshalJSON()
		if err != nil {
			valuation = []byte(constants(r.Constants).String())
		}
		parts := append([]string{r.Engine, r.File, r.Model, r.Props, what, string(valuation)}, r.Args...)
		text, _ := json.Marshal(parts) // strings always have a JSON
		key := string(text)
		out[i] = key + strconv.Itoa(seen[key])
		seen[key]++
	}
	return out
}

// changes lists how a result differs from what it was, which may be nil.
func changes(old, now *TestResult, opt BaselineOptions) []Aspect {
	if old == nil {
		return nil
	}
	var out []Aspect
	if now.Outcome.failing() && !old.Outcome.failing() {
		out = append(out, Broken)
	}
	if valuesMoved(old.Verdict, now.Verdict, opt.Tolerance) {
		out = append(out, ValueMoved)
	}
	if statesMoved(old.Verdict, now.Verdict) {
		out = append(out, StatesMoved)
	}
	if now.Outcome != old.Outcome && now.Outcome.failing() == old.Outcome.failing() {
		out = append(out, Otherwise)
	}
	a, b := old.seconds(), now.seconds()
	measured := a > 0 && b > 0 && !now.Cached && math.Abs(a-b) >= opt.Seconds
	if measured && b >= a*opt.Factor {
		out = append(out, Slower)
	}
	if old.Outcome.failing() && !now.Outcome.failing() {
		out = append(out, Mended)
	}
	if measured && a >= b*opt.Factor {
		out = append(out, Faster)
	}
	return out
}

// statesMoved compares sizes of state spaces that were both built.
func statesMoved(a, b *result.Verdict) bool {
	if a == nil || b == nil || a.States == 0 || b.States == 0 {
		return false
	}
	return a.States != b.States || a.Choices != b.Choices || a.Transitions != b.Transitions
}

// valuesMoved reports whether two verdicts cannot be of one value. One without
// a value is not comparable: the outcome says it.
func valuesMoved(a, b *result.Verdict, tolerance float64) bool {
	if a == nil || b == nil || a.Value.Kind == result.NoValue || b.Value.Kind == result.NoValue {
		return false
	}
	x, y := a.Value, b.Value
	switch {
	case (x.Kind == result.Boolean) != (y.Kind == result.Boolean) || (x.Kind == result.Range) != (y.Kind == result.Range):
		return true
	case x.Kind == result.Boolean:
		return x.Bool != y.Bool
	case x.Kind == result.Range:
		point := func(v float64) result.Interval { return result.Interval{Lo: v, Hi: v} }
		return apart(point(x.Num), point(y.Num), tolerance) || apart(point(x.Hi), point(y.Hi), tolerance)
	case x.Rat != nil && y.Rat != nil && a.Accuracy == result.Exact && b.Accuracy == result.Exact:
		return x.Rat.Cmp(y.Rat) != 0
	}
	return apart(knownOf(a), knownOf(b), tolerance)
}

// knownOf is where the value is: the interval, or what the half-width makes, or the value itself.
func knownOf(v *result.Verdict) result.Interval {
	known := result.Interval{Lo: v.Value.Num, Hi: v.Value.Num}
	switch {
	case v.Value.Rat != nil || math.IsNaN(v.Value.Num):
	case v.Bound != nil && v.Bound.Lo <= v.Bound.Hi:
		known = *v.Bound
	case v.HalfWidth != nil && *v.HalfWidth > 0:
		known.Lo -= *v.HalfWidth
		known.Hi += *v.HalfWidth
	}
	return known
}

// apart reports whether there is a gap between two intervals that is more than
// the tolerance of the larger end. NaN is apart from everything else.
func apart(a, b result.Interval, tolerance float64) bool {
	if math.IsNaN(a.Lo) || math.IsNaN(b.Lo) {
		return math.IsNaN(a.Lo) != math.IsNaN(b.Lo)
	}
	if a.Lo > b.Lo {
		a, b = b, a
	}
	if a.Hi >= b.Lo {
		return false
	}
	size := max(math.Abs(a.Hi), math.Abs(b.Lo))
	return math.IsInf(size, 1) || b.Lo-a.Hi > tolerance*size
}

// words is "2 broken, 1 slower, 40 the same".
func (b *Baseline) words() string {
	var parts []string
	for a := Broken; a <= Added; a++ {
		if n := b.Count(a); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, a.counted(n)))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d the same", b.Same)), ", ")
}

// counted is the word of an aspect after a number.
func (a Aspect) counted(n int) string {
	switch a {
	case ValueMoved:
		return plural(n, "other value", "other values")
	case StatesMoved:
		return plural(n, "other state space", "other state spaces")
	case Otherwise:
		return plural(n, "other outcome", "other outcomes")
	}
	return a.String()
}
