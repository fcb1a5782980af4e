package regress

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tilecheck/report"
)

// balance keeps the subjects of the part. All parts should take about equally long, by the times of an earlier run: the
// longest test comes first, and each test goes to the part with the smallest sum so far. A test without a time counts as
// the average.
//
// Source: Graham, Bounds on Multiprocessing Timing Anomalies, SIAM J. Appl. Math. 17, 1969: no part takes more than 4/3 of the
// optimum.
func (r *run) balance() error {
	of := r.opt.Shard.Of
	known := make(map[string]float64)
	for i := range r.opt.Times.Results {
		x := &r.opt.Times.Results[i]
		known[testOf(x)] += x.Seconds
	}
	cost := make([]float64, len(r.subjects))
	total, timed := 0.0, 0
	for i, s := range r.subjects {
		x := s.result(&r.entrants[0], nil)
		if cost[i] = known[testOf(&x)]; cost[i] > 0 {
			total += cost[i]
			timed++
		}
	}
	if timed == 0 {
		return errors.New("the times to balance the parts by are of other tests: none of this suite is among them")
	}
	order := make([]int, len(r.subjects))
	for i := range order {
		order[i] = i
		if cost[i] == 0 {
			cost[i] = total / float64(timed)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost[b], cost[a]) })
	loads := make([]float64, min(of, len(order)))
	var own []int
	for _, i := range order {
		part := slices.Index(loads, slices.Min(loads))
		loads[part] += cost[i]
		if part == r.opt.Shard.Index-1 {
			own = append(own, i)
		}
	}
	slices.Sort(own)
	kept := make([]*subject, len(own))
	for k, i := range own {
		kept[k] = r.subjects[i]
	}
	r.subjects = kept
	return nil
}

// testOf names the test of a result.
func testOf(r *report.TestResult) string { return fmt.Sprintf("%q %q %q", r.Model, r.Props, r.Args) }
