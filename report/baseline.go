package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// A change of time is at least by this factor and by this many seconds.
const (
	baselineFactor  = 2
	baselineSeconds = 1
)

// Aspect is a kind of change between two runs of a test suite. Reports have the aspects in this order.
type Aspect uint8

// The aspects. A result that has none of them is the same.
const (
	Broken         Aspect = iota // it failed, and did not before
	ValueChanged                 // the value is different
	StatesChanged                // the size of the state space is different
	OutcomeChanged               // the outcome is different, and neither Broken nor Mended
	Slower
	Vanished // only the old run has it
	Mended   // it failed before, and does not now
	Faster
	Added // only the new run has it
)

// String returns the word of every output format.
func (a Aspect) String() string {
	return [...]string{"broken", "value", "states", "outcome", "slower", "vanished", "mended", "faster", "new"}[a]
}

// Baseline has the changes of a run of a test suite since an earlier run.
type Baseline struct {
	Changes []BaselineChange // by their first aspect, then in the order of the suite
	Same    int              // results of both runs without a change
	// Compared counts the comparisons of values. Only different values are a change.
	Compared agree.Tally
	// Identical counts values that agree to the last digit although the comparison is undecided, such as wide intervals.
	Identical int
}

// BaselineChange is a result that changed.
type BaselineChange struct {
	Old, New *TestResult // Old is nil for Added, New for Vanished
	Aspects  []Aspect    // in their order, at least one
}

// Count returns the number of results with a change of this kind.
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

// CompareBaseline compares a new run with an old one. Two results belong to the same test if they have the same engine, files, switches and
// constants, and the same name; without names, the same property. Tests that occur several times in a run are paired in their order.
//
// A value changed if package agree says that the values differ. Times of cached results are not compared.
func CompareBaseline(old, now *TestReport) *Baseline {
	unmatched := make(map[string]*TestResult)
	oldKeys := keysOf(old)
	for i, key := range oldKeys {
		unmatched[key] = &old.Results[i]
	}
	baseline := new(Baseline)
	groups := make([][]BaselineChange, Added+1)
	add := func(change BaselineChange) { groups[change.Aspects[0]] = append(groups[change.Aspects[0]], change) }
	for i, key := range keysOf(now) {
		newResult := &now.Results[i]
		oldResult := unmatched[key]
		delete(unmatched, key)
		switch aspects := baseline.changes(oldResult, newResult); {
		case oldResult == nil:
			add(BaselineChange{New: newResult, Aspects: []Aspect{Added}})
		case len(aspects) == 0:
			baseline.Same++
		default:
			add(BaselineChange{oldResult, newResult, aspects})
		}
	}
	for i, key := range oldKeys {
		if unmatched[key] != nil {
			add(BaselineChange{Old: &old.Results[i], Aspects: []Aspect{Vanished}})
		}
	}
	for _, group := range groups {
		baseline.Changes = append(baseline.Changes, group...)
	}
	return baseline
}

// keysOf returns, for every result, a text that identifies its test in any run.
func keysOf(rep *TestReport) []string {
	seen := make(map[string]int)
	out := make([]string, len(rep.Results))
	for i := range rep.Results {
		test := &rep.Results[i]
		property := test.Property
		if test.Name != "" {
			property = "\x00" + test.Name
		}
		// Constants as JSON has them: 0.5 and .5 are one value.
		valuation, err := result.Valuation(test.Constants).MarshalJSON()
		if err != nil {
			valuation = []byte(result.Valuation(test.Constants).String())
		}
		parts := append([]string{test.Engine, test.File, test.Model, test.Props, property, string(valuation)}, test.Args...)
		text, _ := json.Marshal(parts) // strings always have a JSON
		key := string(text)
		out[i] = key + strconv.Itoa(seen[key])
		seen[key]++
	}
	return out
}

// changes returns the aspects in which a result changed, the most serious first; none if old is nil.
func (b *Baseline) changes(old, now *TestResult) []Aspect {
	if old == nil {
		return nil
	}
	var out []Aspect
	if now.Outcome.failing() && !old.Outcome.failing() {
		out = append(out, Broken)
	}
	if b.valueChanged(old, now) {
		out = append(out, ValueChanged)
	}
	if statesChanged(old.Verdict, now.Verdict) {
		out = append(out, StatesChanged)
	}
	if now.Outcome != old.Outcome && now.Outcome.failing() == old.Outcome.failing() {
		out = append(out, OutcomeChanged)
	}
	before, after := old.seconds(), now.seconds()
	measured := before > 0 && after > 0 && !now.Cached && math.Abs(before-after) >= baselineSeconds
	if measured && after >= before*baselineFactor {
		out = append(out, Slower)
	}
	if old.Outcome.failing() && !now.Outcome.failing() {
		out = append(out, Mended)
	}
	if measured && before >= after*baselineFactor {
		out = append(out, Faster)
	}
	return out
}

// statesChanged compares the sizes of state spaces, if both are known.
func statesChanged(a, b *result.Verdict) bool {
	if a == nil || b == nil {
		return false
	}
	for _, n := range [][2]int64{{a.States, b.States}, {a.Choices, b.Choices}, {a.Transitions, b.Transitions}} {
		if n[0] != n[1] && n[0] > 0 && n[1] > 0 {
			return true
		}
	}
	return false
}

// valueChanged reports whether the value changed. Results without values are not compared.
func (b *Baseline) valueChanged(old, now *TestResult) bool {
	if !old.valued() && !now.valued() {
		return false
	}
	o := compared(old, "the old run", now, "the new run")
	b.Compared.Add(o)
	if o.Relation == agree.Unknown && old.valued() && now.valued() && valueKey(old.Verdict) == valueKey(now.Verdict) {
		b.Identical++
	}
	return o.Relation == agree.Different
}

// HasCompared reports whether any value was compared with its old value.
func (b *Baseline) HasCompared() bool { return b.Compared.Compared()+b.Identical > 0 }

// valueKey returns a text with everything that a verdict says about its value, for the comparison of two verdicts.
func valueKey(verdict *result.Verdict) string {
	record := result.NewRecord(&result.Verdict{
		Value: verdict.Value, Accuracy: verdict.Accuracy, Bound: verdict.Bound, BoundMethod: verdict.BoundMethod, HalfWidth: verdict.HalfWidth,
		Confidence: verdict.Confidence, Samples: verdict.Samples, Resolution: verdict.Resolution, Doubt: verdict.Doubt,
	})
	record.Kind = ""                // old reports do not have it
	text, _ := table.Encode(record) // numbers and words, which always have a JSON
	return string(text)
}

// valued reports whether the result has a value.
func (r *TestResult) valued() bool { return r.Verdict != nil && r.Verdict.Value.Kind != result.NoValue }

// compared compares the verdicts of two results for one property. A missing verdict counts as one without a value.
func compared(a *TestResult, nameA string, b *TestResult, nameB string) agree.Outcome {
	verdictA, verdictB := a.Verdict, b.Verdict
	if verdictA == nil {
		verdictA = new(result.Verdict)
	}
	if verdictB == nil {
		verdictB = new(result.Verdict)
	}
	return agree.Verdicts(nameA, verdictA, nameB, verdictB, agree.Ask(b.Property, b.Constants), agree.Options{})
}

// words returns the numbers of changes in one line: "2 broken, 1 slower, 40 the same".
func (b *Baseline) words() string {
	var parts []string
	for a := Broken; a <= Added; a++ {
		if n := b.Count(a); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, a.counted(n)))
		}
	}
	text := strings.Join(append(parts, fmt.Sprintf("%d the same", b.Same)), ", ")
	if b.Compared.Unknown > b.Identical {
		text += "; values: " + b.Compared.String()
	}
	return text
}

// counted returns the words for an aspect after a number.
func (a Aspect) counted(n int) string {
	switch a {
	case ValueChanged:
		return plural(n, "other value", "other values")
	case StatesChanged:
		return plural(n, "other state space", "other state spaces")
	case OutcomeChanged:
		return plural(n, "other outcome", "other outcomes")
	}
	return a.String()
}
