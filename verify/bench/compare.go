package bench

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"golang.org/x/perf/benchmath"

	record "tilecheck/report/bench"
)

// FalseAlarms is the probability of a false alarm: that a comparison of two measurements of the same tool says that one is slower. One
// half of it is for the ratio over all cases, the other half for the single cases.
const FalseAlarms = 0.01

// Pairing says which old runs are compared with which new runs.
type Pairing struct {
	OldTool, NewTool string // labels; if they are empty, runs of tools with the same label are compared
	// Measure returns the number of a run that is compared, such as its time. Greater numbers are worse.
	Measure func(*record.Run) float64
}

// Comparison is the result of comparing two measurements.
type Comparison struct {
	Cases []CaseComparison
	// Ratio is the Hodges-Lehmann estimate of new divided by old, from the ratios of all pairs of runs. Lower and Upper are one-sided
	// bounds, each of which is wrong with at most half the probability FalseAlarms. Ratio is NaN if there are no pairs.
	Ratio, Lower, Upper float64
	// Mean is the geometric mean over the cases of the ratios of the medians.
	Mean  float64
	Pairs int
	// Separate says that all old runs started before the new runs, or all after them. Then a change of the machine looks like a change of the tool.
	Separate bool
}

// CaseComparison compares the runs on one case.
type CaseComparison struct {
	Case, OldTool, NewTool string
	OldMedian, NewMedian   float64 // medians of the runs with an answer; NaN without one
	OldRuns, NewRuns       int     // with an answer
	OldOutcome, NewOutcome record.Outcome
	Ratio                  float64 // of the medians
	// PValue is the probability that runs of the same tool differ at least as much (the p-value of the Mann-Whitney test), adjusted by Holm's method: the
	// probability that any case is a false alarm is then at most half of FalseAlarms.
	PValue float64
	// LostAnswers says that every old run has an answer, and no new run has one.
	LostAnswers bool
}

// Significant reports whether the case differs beyond chance. P is two-sided, but only a slower case is an alarm, so the limit is not
// halved.
func (c *CaseComparison) Significant() bool { return c.PValue <= FalseAlarms }

// Slower reports whether the new measurement is significantly slower and may exceed a limit such as 1.1. It also returns true if a single case is
// slower than the limit allows.
func (c *Comparison) Slower(limit float64) bool {
	isSlower := func(single CaseComparison) bool { return single.SlowerThan(limit) }
	return c.Lower > 1 && c.Upper >= limit || slices.ContainsFunc(c.Cases, isSlower)
}

// SlowerThan reports whether the case is slower than a limit allows: its ratio differs beyond chance and is at least the limit, or the new runs
// have no answer.
func (c *CaseComparison) SlowerThan(limit float64) bool {
	return c.LostAnswers || c.Significant() && c.Ratio >= limit
}

// group has the old and the new runs of one tool on one case.
type group struct {
	name, oldTool, newTool string
	oldRuns, newRuns       []*record.Run
}

// Compare compares an old and a new measurement, case by case. It also estimates the ratio new/old over all pairs of runs, with bounds. It
// returns an error if the measurements have no case in common.
func Compare(oldRuns, newRuns []record.Run, pairing Pairing) (*Comparison, error) {
	groups := groupRuns(oldRuns, newRuns, &pairing)
	if len(groups) == 0 {
		return nil, errors.New("nothing to compare: no case was measured in both measurements")
	}
	comparison := &Comparison{Separate: ranSeparately(groups)}
	var differences []float64
	for _, group := range groups {
		comparison.Cases = append(comparison.Cases, compareCase(group, pairing.Measure))
		differences = append(differences, logRatios(group, pairing.Measure)...)
	}
	adjustForCases(comparison.Cases)
	comparison.Pairs = len(differences)
	centre, lower, upper := signedRank(differences, FalseAlarms/2)
	comparison.Ratio, comparison.Lower, comparison.Upper = math.Exp(centre), math.Exp(lower), math.Exp(upper)
	comparison.Mean = geometricMean(comparison.Cases)
	return comparison, nil
}

// groupRuns groups the old and the new runs by case and tool, in the order of the new runs. If the pairing names two tools, it groups the runs by case
// only. It omits groups without old runs.
func groupRuns(oldRuns, newRuns []record.Run, pairing *Pairing) []*group {
	groups := make(map[groupKey]*group)
	var ordered []*group
	for run, key := range runsOfTool(newRuns, pairing.NewTool) {
		if groups[key] == nil {
			groups[key] = &group{name: run.Case, newTool: run.Tool}
			ordered = append(ordered, groups[key])
		}
		groups[key].newRuns = append(groups[key].newRuns, run)
	}
	for run, key := range runsOfTool(oldRuns, pairing.OldTool) {
		if group := groups[key]; group != nil {
			group.oldTool = run.Tool
			group.oldRuns = append(group.oldRuns, run)
		}
	}
	return slices.DeleteFunc(ordered, func(group *group) bool { return len(group.oldRuns) == 0 })
}

// groupKey identifies a group. The tool is empty if the pairing names one.
type groupKey struct{ name, tool string }

// runsOfTool iterates over the runs of the tool with the given label, each with the key of its group. An empty label selects the runs of all
// tools; then the key also contains the tool.
func runsOfTool(runs []record.Run, toolLabel string) iter.Seq2[*record.Run, groupKey] {
	return func(yield func(*record.Run, groupKey) bool) {
		for i := range runs {
			run := &runs[i]
			if toolLabel != "" && run.Tool != toolLabel {
				continue
			}
			key := groupKey{name: run.Case}
			if toolLabel == "" {
				key.tool = run.Tool
			}
			if !yield(run, key) {
				return
			}
		}
	}
}

// ranSeparately reports whether all old runs started before all new runs, or all old runs started after all new runs.
func ranSeparately(groups []*group) bool {
	var oldRuns, newRuns []*record.Run
	for _, group := range groups {
		oldRuns, newRuns = append(oldRuns, group.oldRuns...), append(newRuns, group.newRuns...)
	}
	oldFirst, oldLast := startTimes(oldRuns)
	newFirst, newLast := startTimes(newRuns)
	return oldLast.Before(newFirst) || newLast.Before(oldFirst)
}

// startTimes returns the start time of the run that started first and of the run that started last.
func startTimes(runs []*record.Run) (first, last time.Time) {
	first, last = runs[0].Started, runs[0].Started
	for _, run := range runs[1:] {
		if run.Started.Before(first) {
			first = run.Started
		}
		if run.Started.After(last) {
			last = run.Started
		}
	}
	return first, last
}

// compareCase compares the runs of one case by their medians. PValue is the p-value of the Mann-Whitney test, without an adjustment for the number
// of cases. Without solved old or new runs, Ratio is NaN and PValue is 1.
func compareCase(group *group, measure func(*record.Run) float64) CaseComparison {
	thresholds := benchmath.DefaultThresholds
	oldSample := benchmath.NewSample(solvedValues(group.oldRuns, measure), &thresholds)
	newSample := benchmath.NewSample(solvedValues(group.newRuns, measure), &thresholds)
	comparison := CaseComparison{
		Case: group.name, OldTool: group.oldTool, NewTool: group.newTool,
		OldMedian: median(oldSample), NewMedian: median(newSample), OldRuns: len(oldSample.Values), NewRuns: len(newSample.Values),
		OldOutcome: gravestOutcome(group.oldRuns), NewOutcome: gravestOutcome(group.newRuns), Ratio: math.NaN(), PValue: 1,
	}
	comparison.LostAnswers = comparison.OldRuns == len(group.oldRuns) && comparison.NewRuns == 0
	if comparison.OldRuns > 0 && comparison.NewRuns > 0 {
		comparison.Ratio = comparison.NewMedian / comparison.OldMedian
		comparison.PValue = benchmath.AssumeNothing.Compare(oldSample, newSample).P
	}
	return comparison
}

// median returns the median of a sample; NaN if it is empty.
func median(sample *benchmath.Sample) float64 {
	if len(sample.Values) == 0 {
		return math.NaN()
	}
	return benchmath.AssumeNothing.Summary(sample, 1-FalseAlarms).Center
}

// solvedValues returns the measured numbers, such as times, of the solved runs. It omits numbers that are not positive.
func solvedValues(runs []*record.Run, measure func(*record.Run) float64) (numbers []float64) {
	for _, run := range runs {
		if number := measure(run); run.Outcome.Solved() && number > 0 {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// gravestOutcome returns the worst outcome of the runs.
func gravestOutcome(runs []*record.Run) record.Outcome {
	outcome := runs[0].Outcome
	for _, run := range runs {
		if run.Outcome.IsGraverThan(outcome) {
			outcome = run.Outcome
		}
	}
	return outcome
}

// logRatios returns the logarithm of new divided by old for each pair of solved runs with the same repetition.
func logRatios(group *group, measure func(*record.Run) float64) (logs []float64) {
	oldValues := make(map[int]float64) // by repetition
	for _, run := range group.oldRuns {
		if run.Outcome.Solved() {
			oldValues[run.Repetition] = measure(run)
		}
	}
	for _, run := range group.newRuns {
		oldValue, newValue := oldValues[run.Repetition], measure(run)
		if run.Outcome.Solved() && oldValue > 0 && newValue > 0 {
			logs = append(logs, math.Log(newValue/oldValue))
		}
	}
	return logs
}

// adjustForCases adjusts the p-values of the cases to the number of cases, by Holm's method. After this, the probability that any of them is below
// alpha by chance is at most alpha.
//
// Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
func adjustForCases(cases []CaseComparison) {
	byPValue := make([]*CaseComparison, len(cases))
	for i := range cases {
		byPValue[i] = &cases[i]
	}
	slices.SortStableFunc(byPValue, func(first, second *CaseComparison) int { return cmp.Compare(first.PValue, second.PValue) })
	adjusted := 0.0
	for i, comparison := range byPValue {
		factor := float64(len(byPValue) - i)
		adjusted = max(adjusted, min(1, comparison.PValue*factor))
		comparison.PValue = adjusted
	}
}

// geometricMean returns the geometric mean of the ratios of the cases. It is NaN if no case has a ratio.
func geometricMean(cases []CaseComparison) float64 {
	sum, count := 0.0, 0
	for i := range cases {
		if ratio := cases[i].Ratio; !math.IsNaN(ratio) {
			sum += math.Log(ratio)
			count++
		}
	}
	return math.Exp(sum / float64(count))
}
