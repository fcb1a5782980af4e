package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/noun"

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
func (b *Baseline) Count(aspect Aspect) int {
	total := 0
	for i := range b.Changes {
		for _, changed := range b.Changes[i].Aspects {
			if changed == aspect {
				total++
			}
		}
	}
	return total
}

// CompareBaseline compares a new run with an old run. Two results belong to the same test if they have the same engine, files, switches, constants
// and name. Without names they must have the same property. Package agree decides whether values differ.
func CompareBaseline(old, current *TestReport) *Baseline {
	unmatched := make(map[string]*TestResult)
	oldKeys := keysOf(old)
	for i, key := range oldKeys {
		unmatched[key] = &old.Results[i]
	}
	baseline := new(Baseline)
	for i, key := range keysOf(current) {
		newResult := &current.Results[i]
		oldResult := unmatched[key]
		delete(unmatched, key)
		switch aspects := baseline.changes(oldResult, newResult); {
		case oldResult == nil:
			baseline.Changes = append(baseline.Changes, BaselineChange{New: newResult, Aspects: []Aspect{Added}})
		case len(aspects) == 0:
			baseline.Same++
		default:
			baseline.Changes = append(baseline.Changes, BaselineChange{oldResult, newResult, aspects})
		}
	}
	for i, key := range oldKeys {
		if unmatched[key] != nil {
			baseline.Changes = append(baseline.Changes, BaselineChange{Old: &old.Results[i], Aspects: []Aspect{Vanished}})
		}
	}
	byFirstAspect := func(left, right BaselineChange) int { return cmp.Compare(left.Aspects[0], right.Aspects[0]) }
	slices.SortStableFunc(baseline.Changes, byFirstAspect)
	return baseline
}

// keysOf returns a key for each result of a report. A test has the same key in each run, and the keys of a run are distinct.
func keysOf(report *TestReport) []string {
	numEqual := make(map[string]int)
	keys := make([]string, len(report.Results))
	for i := range report.Results {
		test := &report.Results[i]
		property := test.Property
		if test.Name != "" {
			property = "\x00" + test.Name // the zero byte avoids equality with the text of a property
		}
		// In JSON the constants 0.5 and .5 have the same text.
		valuation, err := result.Valuation(test.Constants).MarshalJSON()
		if err != nil {
			valuation = []byte(result.Valuation(test.Constants).String())
		}
		parts := append([]string{test.Engine, test.File, test.Model, test.Props, property, string(valuation)}, test.Args...)
		text, _ := json.Marshal(parts) // the encoding of strings cannot fail
		key := string(text)
		keys[i] = key + strconv.Itoa(numEqual[key]) // equal tests of a run are numbered
		numEqual[key]++
	}
	return keys
}

// changes returns the aspects in which a result changed, the most serious first. It returns nil if there is no old result.
func (b *Baseline) changes(old, current *TestResult) []Aspect {
	if old == nil {
		return nil
	}
	var aspects []Aspect
	if current.Outcome.failing() && !old.Outcome.failing() {
		aspects = append(aspects, Broken)
	}
	if b.valueChanged(old, current) {
		aspects = append(aspects, ValueChanged)
	}
	if statesChanged(old.Verdict, current.Verdict) {
		aspects = append(aspects, StatesChanged)
	}
	if current.Outcome != old.Outcome && current.Outcome.failing() == old.Outcome.failing() {
		aspects = append(aspects, OutcomeChanged)
	}
	oldSeconds, newSeconds := old.seconds(), current.seconds()
	isMeasured := oldSeconds > 0 && newSeconds > 0 && !current.Cached && math.Abs(oldSeconds-newSeconds) >= baselineSeconds
	if isMeasured && newSeconds >= oldSeconds*baselineFactor {
		aspects = append(aspects, Slower)
	}
	if old.Outcome.failing() && !current.Outcome.failing() {
		aspects = append(aspects, Mended)
	}
	if isMeasured && oldSeconds >= newSeconds*baselineFactor {
		aspects = append(aspects, Faster)
	}
	return aspects
}

// statesChanged reports whether a known number of states, choices or transitions changed. The number 0 means unknown.
func statesChanged(old, current *result.Verdict) bool {
	if old == nil || current == nil {
		return false
	}
	for _, sizes := range [][2]int64{{old.States, current.States}, {old.Choices, current.Choices}, {old.Transitions, current.Transitions}} {
		if sizes[0] != sizes[1] && sizes[0] > 0 && sizes[1] > 0 {
			return true
		}
	}
	return false
}

// valueChanged reports whether the value of a result changed, and counts the comparison in the baseline. It does not count two results without
// values.
func (b *Baseline) valueChanged(old, current *TestResult) bool {
	if !old.hasValue() && !current.hasValue() {
		return false
	}
	outcome := compareVerdicts(old, "the old run", current, "the new run")
	b.Compared.Add(outcome)
	if outcome.Relation == agree.Unknown && old.hasValue() && current.hasValue() && valueKey(old.Verdict) == valueKey(current.Verdict) {
		b.Identical++
	}
	return outcome.Relation == agree.Different
}

// HasCompared reports whether any value was compared with its old value.
func (b *Baseline) HasCompared() bool { return b.Compared.Compared()+b.Identical > 0 }

// valueKey returns the value of a verdict, with its accuracy, interval and samples, as text. Equal texts mean equal values.
func valueKey(verdict *result.Verdict) string {
	record := result.NewRecord(&result.Verdict{
		Value: verdict.Value, Accuracy: verdict.Accuracy, Bound: verdict.Bound, BoundMethod: verdict.BoundMethod, HalfWidth: verdict.HalfWidth,
		Confidence: verdict.Confidence, Samples: verdict.Samples, Resolution: verdict.Resolution, Doubt: verdict.Doubt,
	})
	record.Kind = ""                // old reports do not have it
	text, _ := table.Encode(record) // the encoding of numbers and texts cannot fail
	return string(text)
}

// hasValue reports whether the result has a value.
func (r *TestResult) hasValue() bool {
	return r.Verdict != nil && r.Verdict.Value.Kind != result.NoValue
}

// compareVerdicts compares the values of two results for one property. A result without a verdict counts as a result without a value. The names are
// for the message.
func compareVerdicts(first *TestResult, firstName string, second *TestResult, secondName string) agree.Outcome {
	firstVerdict, secondVerdict := first.Verdict, second.Verdict
	if firstVerdict == nil {
		firstVerdict = new(result.Verdict)
	}
	if secondVerdict == nil {
		secondVerdict = new(result.Verdict)
	}
	return agree.Verdicts(firstName, firstVerdict, secondName, secondVerdict, agree.Ask(second.Property, second.Constants), agree.Options{})
}

// countsLine returns the numbers of changes in one line, such as "2 results changed (a result can count more than once): 2 broken, 1 slower; 40 unchanged".
func (b *Baseline) countsLine() string {
	var parts []string
	total := 0
	for aspect := Broken; aspect <= Added; aspect++ {
		if count := b.Count(aspect); count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count, aspect.nameInCounts()))
			total += count
		}
	}
	text := fmt.Sprintf("%d unchanged", b.Same)
	if total > 0 {
		changed := noun.Count(len(b.Changes), "result") + " changed"
		if total > len(b.Changes) {
			changed += " (a result can count more than once)"
		}
		text = changed + ": " + strings.Join(parts, ", ") + "; " + text
	}
	if b.Compared.Unknown > b.Identical {
		text += "; values: " + b.Compared.String()
	}
	return text
}

// nameInCounts returns the name of an aspect behind a number of results.
func (a Aspect) nameInCounts() string {
	switch a {
	case ValueChanged:
		return "with another value"
	case StatesChanged:
		return "with another state space"
	case OutcomeChanged:
		return "with another outcome"
	}
	return a.String()
}
