package crosscheck

import "tilecheck/result/agree"

// judge compares all answers of a row pairwise and returns the worst outcome; among disagreements, the one with the strongest
// basis. wide tells for each answer whether more samples might decide the row; it is all false if some pair stays
// unknown whatever the samples are.
func judge(answers []*agree.Answer, opt agree.Options) (worst agree.Outcome, wide []bool) {
	wide = make([]bool, len(answers))
	worst.Basis = agree.Proven
	undecidable := false
	for i := range answers {
		for j := range i {
			c := agree.Compare(answers[j], answers[i], opt)
			if c.Relation == agree.Unknown {
				wide[j], wide[i] = wide[j] || c.Wide[0], wide[i] || c.Wide[1]
				undecidable = undecidable || !c.Wide[0] && !c.Wide[1]
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
	if undecidable {
		clear(wide)
	}
	return worst, wide
}

// statusOf returns the status of a row for the relation of its answers.
func statusOf(r agree.Relation) Status { return [...]Status{Agree, Undecided, Disagree}[r] }
