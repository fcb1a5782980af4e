package crosscheck

import "tilecheck/verify/agree"

// judge compares all answers of a row with each other. The disagreement with the
// strongest basis counts. Of each answer it says whether more samples might help,
// which they do not where some pair stays unknown whatever is drawn.
func judge(answers []*agree.Answer, opt agree.Options) (worst agree.Outcome, wide []bool) {
	wide = make([]bool, len(answers))
	worst.Basis = agree.Proven
	hopeless := false
	for i := range answers {
		for j := range i {
			c := agree.Compare(answers[j], answers[i], opt)
			if c.Relation == agree.Unknown {
				wide[j], wide[i] = wide[j] || c.Wide[0], wide[i] || c.Wide[1]
				hopeless = hopeless || !c.Wide[0] && !c.Wide[1]
			}
			switch {
			case c.Relation > worst.Relation:
				worst = c
			case c.Relation < worst.Relation:
			case c.Relation == agree.Different && c.Basis != worst.Basis && agree.Weaker(c.Basis, worst.Basis) == worst.Basis:
				worst = c
			case c.Relation == agree.Same:
				worst.Basis = agree.Weaker(worst.Basis, c.Basis)
				if worst.Reason == "" {
					worst.Reason = c.Reason
				}
			}
		}
	}
	if hopeless {
		clear(wide)
	}
	return worst, wide
}

// statusOf is what a comparison makes of a row.
func statusOf(r agree.Relation) Status { return [...]Status{Agree, Undecided, Disagree}[r] }
