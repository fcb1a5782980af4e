package regress

import (
	"slices"

	"tilecheck/verify/expect"
)

// allot splits the budget for false alarms over the statistical expectations of
// the whole suite, on every engine, before a part is taken: by Bonferroni's
// inequality the suite fails by chance with at most that probability.
func (r *run) allot() {
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
			s.part = r.opt.Flakes / float64(r.statistical)
		}
	}
}

// runsOn reports whether a test is for an entrant.
func (s *subject) runsOn(e *Entrant) bool {
	return len(s.Engines) == 0 || slices.Contains(s.Engines, e.Called())
}

// level is the confidence that an interval must have on those terms.
func (s *subject) level(t *expect.Statistical) float64 { return t.Level(s.part) }
