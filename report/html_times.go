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

// htmlTimes returns a figure for each other engine that compares its running times with the times of the first engine. It omits engines with too few
// runs.
func (rep *TestReport) htmlTimes() []htmlFigure {
	var figures []htmlFigure
	engines := rep.engines()
	for i := 1; i < len(engines); i++ {
		if points := rep.timedRuns(engines[0], engines[i]); len(points) >= minTimed {
			figures = append(figures, timesFigure(engines[0], engines[i], points))
		}
	}
	return figures
}

// timedRuns returns the pairs of runs of two engines on the same model and properties, in the order of the suite. It omits runs without a time: the
// engine does not support them, or the answer came from the cache.
func (rep *TestReport) timedRuns(first, second string) []timedRun {
	type run struct {
		seconds float64
		mark    int
	}
	runs := make(map[string]map[string]run)
	var order []string
	for i := range rep.Results {
		test := &rep.Results[i]
		mark, hasTime := timedMark(test.Outcome)
		if test.Run <= 0 || !hasTime {
			continue
		}
		key := strings.Join(append([]string{test.Model, test.Props}, test.Args...), " ")
		if runs[key] == nil {
			runs[key] = make(map[string]run)
			order = append(order, key)
		}
		runs[key][test.Engine] = run{test.Run, max(mark, runs[key][test.Engine].mark)}
	}
	var pairs []timedRun
	for _, key := range order {
		firstRun, firstRan := runs[key][first]
		secondRun, bothRan := runs[key][second]
		if !firstRan || !bothRan {
			continue
		}
		pairs = append(pairs, timedRun{
			dot{x: firstRun.seconds, y: secondRun.seconds},
			max(firstRun.mark, secondRun.mark), fmt.Sprintf("%s: %s %.3g s, %s %.3g s", strings.TrimSpace(key), first, firstRun.seconds, second, secondRun.seconds),
		})
	}
	return pairs
}

// timedMark returns the index of the mark of an outcome in the figure of times. hasTime is false if the run ended with an error or did not take place:
// then its time is not compared.
func timedMark(outcome TestOutcome) (mark int, hasTime bool) {
	switch outcome {
	case TestPassed, TestUnchecked, TestNotTested:
		return 0, true
	case TestLimit:
		return 1, true
	case TestFailed, TestDisagreed:
		return 2, true
	}
	return 0, false
}

// timesFigure returns a scatter plot of the running times of two engines, on logarithmic axes. x is the time of the first engine, and y the time of
// the second one.
func timesFigure(first, second string, points []timedRun) htmlFigure {
	low, high, faster := math.Inf(1), 0.0, 0
	for _, point := range points {
		low, high = min(low, point.x, point.y), max(high, point.x, point.y)
		if point.x < point.y {
			faster++
		}
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high*1.01)))
	xAxis := axis{low: low, high: high, from: marginLeft, to: figureWidth - marginRight, log: true}
	yAxis := axis{low: low, high: high, from: figureHeight - marginBottom, to: marginTop, log: true}
	var decades []float64
	for decade := low; decade <= high*1.01; decade *= 10 {
		decades = append(decades, decade)
	}
	scatter := newFigure(xAxis, yAxis, decades, decades)
	scatter.Property, scatter.Constant = second+" against "+first, "seconds of "+first
	scatter.Place = fmt.Sprintf("%s; %s took less time for %d of them", noun.Count(len(points), "run"), first, faster)
	scatter.Label = fmt.Sprintf("seconds of %s over seconds of %s for %s; above the line %s took less time, in %s", second, first, noun.Count(len(points), "run"), first, noun.Count(faster, "run"))
	scatter.Series = []htmlSeries{{Class: "expected", Line: "M" + svgPoint(xAxis.position(low), yAxis.position(low)) + "L" + svgPoint(xAxis.position(high), yAxis.position(high))}}
	for i, name := range timedMarks {
		series := htmlSeries{Class: fmt.Sprintf("s%d", i)}
		for _, point := range points {
			if point.marks == i {
				series.Points = append(series.Points, htmlPoint{"dot", markPath(i, xAxis.position(point.x), yAxis.position(point.y), 3.6), point.text})
			}
		}
		if len(series.Points) > 0 {
			scatter.Series = append(scatter.Series, series)
			scatter.Legend = append(scatter.Legend, htmlLegend{Class: series.Class, Name: name, Mark: "dot", Path: markPath(i, 14, 7, 4)})
		}
	}
	return scatter
}
