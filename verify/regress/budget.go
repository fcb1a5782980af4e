package regress

import (
	"slices"

	"tilecheck/verify/expect"
)

// splitBudget splits the probability of false alarms evenly over the statistical expectations of the whole suite on all
// engines, before a part is selected. By Bonferroni's inequality, the suite fails by chance with at most that
// probability.
func (r *run) splitBudget() {
	for _, s := range r.subjects {
		engines := 0
		for i := range r.entrants {
			if s.runsOn(&r.entrants[i]) {
				engines++
			}
		}
		for _, it := range s.items {
			if t := it.chosen.Terms; t != nil && t.Statistical != nil {
				r.statistical += engines
			}
		}
	}
	for _, s := range r.subjects {
		if r.statistical > 0 {
			s.falseAlarm = r.opt.Flakes / float64(r.statistical)
		}
	}
}

// runsOn reports whether a test is for an entrant.
func (s *subject) runsOn(e *Entrant) bool {
	return len(s.Engines) == 0 || slices.Contains(s.Engines, e.Called())
}

// level is the confidence of an interval with these terms.
func (s *subject) level(t *expect.Statistical) float64 { return t.Level(s.falseAlarm) }
