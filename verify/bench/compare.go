package bench

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	record "tilecheck/report/bench"
)

// FalseAlarms is the probability with which a comparison of two measurements of the same tool says that one is slower. Half of it
// is for the ratio of all cases together, half for all single cases.
const FalseAlarms = 0.01

// Pairing says which runs of a comparison belong together.
type Pairing struct {
	OldTool, NewTool string // empty: tools with the same label
	// Measure is the number that is compared; larger is worse.
	Measure func(*record.Run) float64
}

// Comparison is the result of comparing two measurements.
type Comparison struct {
	Cases []CaseComparison
	// Ratio is new divided by old: the middle of the ratios of all pairs of runs (Hodges and Lehmann), with one-sided bounds, each
	// of which fails with half the probability FalseAlarms. It is NaN if there are no pairs.
	Ratio, Lower, Upper float64
	// Mean is the geometric mean over the cases of the ratios of the medians.
	Mean  float64
	Pairs int
	// Apart says that the old runs had ended before the new ones began, or the other way round. Then a change of the machine looks like a change of
	// the tool.
	Apart bool
}

// CaseComparison compares the runs on one case.
type CaseComparison struct {
	Case, OldTool, NewTool string
	Old, New               float64 // medians of the runs with an answer; NaN without one
	OldRuns, NewRuns       int     // with an answer
	OldOutcome, NewOutcome record.Outcome
	Ratio                  float64 // of the medians
	// P is the probability of a difference like this between runs of the same tool (Mann and Whitney), times the number of cases that are at least as
	// different (Holm), so that all cases together give a false alarm with half the probability FalseAlarms.
	P float64
	// Lost says that every old run has an answer, and no new one.
	Lost bool
}

// Significant reports whether the case differs beyond chance. P is two-sided, and only one side is an alarm.
func (c *CaseComparison) Significant() bool { return c.P <= FalseAlarms }

// Slower returns whether the new measurement is slower than allowed: the bounds of the ratio exclude 1 and do not exclude the limit, such as 1.1; or a
// case is slower beyond chance by as much, or has no answer any more.
func (c *Comparison) Slower(limit float64) bool {
	return c.Lower > 1 && c.Upper >= limit || slices.ContainsFunc(c.Cases, func(x CaseComparison) bool { return x.SlowerThan(limit) })
}

// SlowerThan reports whether the case is slower than allowed.
func (c *CaseComparison) SlowerThan(limit float64) bool {
	return c.Lost || c.Significant() && c.Ratio >= limit
}

// group is the runs of one tool on one case, on either side.
type group struct {
	name, oldTool, newTool string
	old, new               []*record.Run
}

// Compare compares two measurements. The error says that they have no case in common.
func Compare(old, new []record.Run, pairing Pairing) (*Comparison, error) {
	groups := pair(old, new, &pairing)
	if len(groups) == 0 {
		return nil, errors.New("nothing to compare: no case was measured on both sides")
	}
	out := &Comparison{Apart: apart(groups)}
	var differences []float64
	for _, g := range groups {
		out.Cases = append(out.Cases, compareCase(g, pairing.Measure))
		differences = append(differences, logRatios(g, pairing.Measure)...)
	}
	adjust(out.Cases)
	out.Pairs = len(differences)
	middle, lower, upper := signedRank(differences, FalseAlarms/2)
	out.Ratio, out.Lower, out.Upper = math.Exp(middle), math.Exp(lower), math.Exp(upper)
	out.Mean = geometricMean(out.Cases)
	return out, nil
}

// pair returns the groups of runs that both sides have, in the order of the new side.
func pair(old, new []record.Run, pairing *Pairing) []*group {
	type key struct{ name, tool string }
	groups := make(map[key]*group)
	var order []*group
	for i := range new {
		run := &new[i]
		if pairing.NewTool != "" && run.Tool != pairing.NewTool {
			continue
		}
		k := key{run.Case, run.Tool}
		if pairing.NewTool != "" {
			k.tool = ""
		}
		if groups[k] == nil {
			groups[k] = &group{name: run.Case, newTool: run.Tool}
			order = append(order, groups[k])
		}
		groups[k].new = append(groups[k].new, run)
	}
	for i := range old {
		run := &old[i]
		if pairing.OldTool != "" && run.Tool != pairing.OldTool {
			continue
		}
		k := key{run.Case, run.Tool}
		if pairing.OldTool != "" {
			k.tool = ""
		}
		if g := groups[k]; g != nil {
			g.oldTool = run.Tool
			g.old = append(g.old, run)
		}
	}
	return slices.DeleteFunc(order, func(g *group) bool { return len(g.old) == 0 })
}

// apart reports whether all old runs were before all new ones, or after them.
func apart(groups []*group) bool {
	started := func(side func(*group) []*record.Run) (first, last int64) {
		first, last = math.MaxInt64, math.MinInt64
		for _, g := range groups {
			for _, run := range side(g) {
				first, last = min(first, run.Started.UnixNano()), max(last, run.Started.UnixNano())
			}
		}
		return first, last
	}
	oldFirst, oldLast := started(func(g *group) []*record.Run { return g.old })
	newFirst, newLast := started(func(g *group) []*record.Run { return g.new })
	return oldLast < newFirst || newLast < oldFirst
}

// compareCase compares the runs on one case. P is not adjusted yet.
func compareCase(g *group, measure func(*record.Run) float64) CaseComparison {
	out := CaseComparison{Case: g.name, OldTool: g.oldTool, NewTool: g.newTool, OldOutcome: gravest(g.old), NewOutcome: gravest(g.new), P: 1}
	thresholds := benchmath.DefaultThresholds
	old := benchmath.NewSample(solved(g.old, measure), &thresholds)
	new := benchmath.NewSample(solved(g.new, measure), &thresholds)
	out.OldRuns, out.NewRuns = len(old.Values), len(new.Values)
	out.Old, out.New, out.Ratio = math.NaN(), math.NaN(), math.NaN()
	out.Lost = out.OldRuns == len(g.old) && out.NewRuns == 0
	if out.OldRuns > 0 {
		out.Old = benchmath.AssumeNothing.Summary(old, 1-FalseAlarms).Center
	}
	if out.NewRuns > 0 {
		out.New = benchmath.AssumeNothing.Summary(new, 1-FalseAlarms).Center
	}
	if out.OldRuns > 0 && out.NewRuns > 0 {
		out.Ratio = out.New / out.Old
		out.P = benchmath.AssumeNothing.Compare(old, new).P
	}
	return out
}

// solved returns the numbers of the runs that have an answer.
func solved(runs []*record.Run, measure func(*record.Run) float64) (out []float64) {
	for _, run := range runs {
		if x := measure(run); run.Outcome.Solved() && x > 0 {
			out = append(out, x)
		}
	}
	return out
}

// gravest returns the gravest outcome of some runs.
func gravest(runs []*record.Run) record.Outcome {
	out := runs[0].Outcome
	for _, run := range runs {
		if run.Outcome.Graver(out) {
			out = run.Outcome
		}
	}
	return out
}

// logRatios returns the logarithms of new divided by old of the runs with the same repetition that both have an answer.
func logRatios(g *group, measure func(*record.Run) float64) (out []float64) {
	before := make(map[int]float64)
	for _, run := range g.old {
		if run.Outcome.Solved() {
			before[run.Repetition] = measure(run)
		}
	}
	for _, run := range g.new {
		if x, y := before[run.Repetition], measure(run); run.Outcome.Solved() && x > 0 && y > 0 {
			out = append(out, math.Log(y/x))
		}
	}
	return out
}

// adjust multiplies the probabilities so that they hold for all cases together.
//
// Source: Holm, A simple sequentially rejective multiple test procedure, 1979.
func adjust(cases []CaseComparison) {
	order := make([]*CaseComparison, len(cases))
	for i := range cases {
		order[i] = &cases[i]
	}
	slices.SortStableFunc(order, func(a, b *CaseComparison) int { return cmp.Compare(a.P, b.P) })
	least := 0.0
	for i, c := range order {
		least = max(least, min(1, c.P*float64(len(order)-i)))
		c.P = least
	}
}

// geometricMean returns the geometric mean of the ratios of the cases; NaN if there is none.
func geometricMean(cases []CaseComparison) float64 {
	sum, n := 0.0, 0
	for i := range cases {
		if ratio := cases[i].Ratio; !math.IsNaN(ratio) {
			sum += math.Log(ratio)
			n++
		}
	}
	return math.Exp(sum / float64(n))
}
