package report

import (
	"fmt"
	"math"
	"strings"
)

// minTimed is the number of cases from which on their times make a picture.
const minTimed = 5

// timed is a run that two engines have come to an end with, or to a limit.
type timed struct {
	dot
	marks int // index of timedMarks
	text  string
}

// timedMarks are what became of a run on either engine, the gravest last.
var timedMarks = [...]string{"both as expected", "a limit of time or memory", "not as expected"}

// htmlTimes draws, for the first engine and each other, how long each took for the
// same runs, on logarithmic axes.
func (rep *TestReport) htmlTimes() []htmlFigure {
	var out []htmlFigure
	engines := rep.engines()
	for i := 1; i < len(engines); i++ {
		if points := rep.timed(engines[0], engines[i]); len(points) >= minTimed {
			out = append(out, timesFigure(engines[0], engines[i], points))
		}
	}
	return out
}

// timed pairs the runs of two engines, in the order of the suite. Those that one of
// them refuses, or whose results were kept, have no time.
func (rep *TestReport) timed(first, second string) []timed {
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
	var out []timed
	for _, key := range order {
		a, ok := runs[key][first]
		b, too := runs[key][second]
		if !ok || !too {
			continue
		}
		out = append(out, timed{
			dot{x: a.seconds, y: b.seconds},
			max(a.mark, b.mark), fmt.Sprintf("%s: %s %.3g s, %s %.3g s", strings.TrimSpace(key), first, a.seconds, second, b.seconds),
		})
	}
	return out
}

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

func timesFigure(first, second string, points []timed) htmlFigure {
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
	f := newFigure(ax, ay, decades, decades)
	f.Property, f.Constant = second+" against "+first, "seconds of "+first
	f.Place = fmt.Sprintf("%d runs; %s took less time for %d of them", len(points), first, faster)
	f.Label = fmt.Sprintf("seconds of %s over seconds of %s for %d runs; above the line %s took less time, in %d runs", second, first, len(points), first, faster)
	f.Series = []htmlSeries{{Class: "expected", Line: "M" + svgPoint(ax.at(low), ay.at(low)) + "L" + svgPoint(ax.at(high), ay.at(high))}}
	for i, name := range timedMarks {
		s := htmlSeries{Class: fmt.Sprintf("s%d", i)}
		for _, p := range points {
			if p.marks == i {
				s.Points = append(s.Points, htmlPoint{"dot", markPath(i, ax.at(p.x), ay.at(p.y), 3.6), p.text})
			}
		}
		if len(s.Points) > 0 {
			f.Series = append(f.Series, s)
			f.Legend = append(f.Legend, htmlLegend{Class: s.Class, Name: name, Mark: "dot", Path: markPath(i, 14, 7, 4)})
		}
	}
	return f
}
