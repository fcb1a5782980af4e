package report

import (
	"fmt"
	"math"
	"strings"

	"tilecheck/internal/noun"
)

// minTimed is the smallest number of runs for a picture of times.
const minTimed = 5

// timedRun is a run that two engines finished, or that reached a limit.
type timedRun struct {
	dot
	marks int // index of timedMarks
	text  string
}

// timedMarks are the outcomes of a run on two engines, the gravest last.
var timedMarks = [...]string{"both as expected", "a limit of time or memory", "not as expected"}

// htmlTimes draws the times of the same runs, for the first engine and each other one, on logarithmic axes.
func (rep *TestReport) htmlTimes() []htmlFigure {
	var out []htmlFigure
	engines := rep.engines()
	for i := 1; i < len(engines); i++ {
		if points := rep.timedRuns(engines[0], engines[i]); len(points) >= minTimed {
			out = append(out, timesFigure(engines[0], engines[i], points))
		}
	}
	return out
}

// timedRuns pairs the runs of two engines, in the order of the suite. A run without a time is left out: one that an
// engine does not support, or a cached one.
func (rep *TestReport) timedRuns(first, second string) []timedRun {
	type run struct {
		seconds float64
		mark    int
	}
	runs := make(map[string]map[string]run)
	var order []string
	for i := range rep.Results {
		r := &rep.Results[i]
		mark, ended := timedMark(r.Outcome)
		if r.Run <= 0 || !ended {
			continue
		}
		key := strings.Join(append([]string{r.Model, r.Props}, r.Args...), " ")
		if runs[key] == nil {
			runs[key] = make(map[string]run)
			order = append(order, key)
		}
		runs[key][r.Engine] = run{r.Run, max(mark, runs[key][r.Engine].mark)}
	}
	var out []timedRun
	for _, key := range order {
		a, firstRan := runs[key][first]
		b, bothRan := runs[key][second]
		if !firstRan || !bothRan {
			continue
		}
		out = append(out, timedRun{
			dot{x: a.seconds, y: b.seconds},
			max(a.mark, b.mark), fmt.Sprintf("%s: %s %.3g s, %s %.3g s", strings.TrimSpace(key), first, a.seconds, second, b.seconds),
		})
	}
	return out
}

// timedMark returns the mark of an outcome in the figure of times; false if the run did not end by itself or at a limit.
func timedMark(o TestOutcome) (mark int, ended bool) {
	switch o {
	case TestPassed, TestUnchecked, TestNotTested:
		return 0, true
	case TestLimit:
		return 1, true
	case TestFailed, TestDisagreed:
		return 2, true
	}
	return 0, false
}

// timesFigure draws the times of the runs of two engines against each other, on logarithmic axes.
func timesFigure(first, second string, points []timedRun) htmlFigure {
	low, high, faster := math.Inf(1), 0.0, 0
	for _, p := range points {
		low, high = min(low, p.x, p.y), max(high, p.x, p.y)
		if p.x < p.y {
			faster++
		}
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high*1.01)))
	ax := axis{low: low, high: high, from: marginLeft, to: figureWidth - marginRight, log: true}
	ay := axis{low: low, high: high, from: figureHeight - foot, to: marginTop, log: true}
	var decades []float64
	for x := low; x <= high*1.01; x *= 10 {
		decades = append(decades, x)
	}
	drawn := newFigure(ax, ay, decades, decades)
	drawn.Property, drawn.Constant = second+" against "+first, "seconds of "+first
	drawn.Place = fmt.Sprintf("%s; %s took less time for %d of them", noun.Count(len(points), "run"), first, faster)
	drawn.Label = fmt.Sprintf("seconds of %s over seconds of %s for %s; above the line %s took less time, in %s", second, first, noun.Count(len(points), "run"), first, noun.Count(faster, "run"))
	drawn.Series = []htmlSeries{{Class: "expected", Line: "M" + svgPoint(ax.at(low), ay.at(low)) + "L" + svgPoint(ax.at(high), ay.at(high))}}
	for i, name := range timedMarks {
		series := htmlSeries{Class: fmt.Sprintf("s%d", i)}
		for _, p := range points {
			if p.marks == i {
				series.Points = append(series.Points, htmlPoint{"dot", markPath(i, ax.at(p.x), ay.at(p.y), 3.6), p.text})
			}
		}
		if len(series.Points) > 0 {
			drawn.Series = append(drawn.Series, series)
			drawn.Legend = append(drawn.Legend, htmlLegend{Class: series.Class, Name: name, Mark: "dot", Path: markPath(i, 14, 7, 4)})
		}
	}
	return drawn
}
