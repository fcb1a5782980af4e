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
	var figures []htmlFigure
	engines := rep.engines()
	for i := 1; i < len(engines); i++ {
		if points := rep.timedRuns(engines[0], engines[i]); len(points) >= minTimed {
			figures = append(figures, timesFigure(engines[0], engines[i], points))
		}
	}
	return figures
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
		test := &rep.Results[i]
		mark, ended := timedMark(test.Outcome)
		if test.Run <= 0 || !ended {
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

// timedMark returns the mark of an outcome in the figure of times; false if the run did not end by itself or at a limit.
func timedMark(outcome TestOutcome) (mark int, ended bool) {
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

// timesFigure draws the times of the runs of two engines against each other, on logarithmic axes.
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
	drawn := newFigure(xAxis, yAxis, decades, decades)
	drawn.Property, drawn.Constant = second+" against "+first, "seconds of "+first
	drawn.Place = fmt.Sprintf("%s; %s took less time for %d of them", noun.Count(len(points), "run"), first, faster)
	drawn.Label = fmt.Sprintf("seconds of %s over seconds of %s for %s; above the line %s took less time, in %s", second, first, noun.Count(len(points), "run"), first, noun.Count(faster, "run"))
	drawn.Series = []htmlSeries{{Class: "expected", Line: "M" + svgPoint(xAxis.at(low), yAxis.at(low)) + "L" + svgPoint(xAxis.at(high), yAxis.at(high))}}
	for i, name := range timedMarks {
		series := htmlSeries{Class: fmt.Sprintf("s%d", i)}
		for _, point := range points {
			if point.marks == i {
				series.Points = append(series.Points, htmlPoint{"dot", markPath(i, xAxis.at(point.x), yAxis.at(point.y), 3.6), point.text})
			}
		}
		if len(series.Points) > 0 {
			drawn.Series = append(drawn.Series, series)
			drawn.Legend = append(drawn.Legend, htmlLegend{Class: series.Class, Name: name, Mark: "dot", Path: markPath(i, 14, 7, 4)})
		}
	}
	return drawn
}
