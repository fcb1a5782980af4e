package crosscheck

import "tilecheck/result/agree"

// judge compares all answers of a row pairwise and returns the worst outcome; among disagreements, the one with the strongest basis.
// needsSamples says for each answer whether more samples might decide the row. If some pair stays unknown whatever the samples are, it is all
// false.
func judge(answers []*agree.Answer, opt agree.Options) (worst agree.Outcome, needsSamples []bool) {
	needsSamples = make([]bool, len(answers))
	worst.Basis = agree.Proven
	undecidable := false
	for i := range answers {
		for j := range i {
			outcome := agree.Compare(answers[j], answers[i], opt)
			if outcome.Relation == agree.Unknown {
				needsSamples[j], needsSamples[i] = needsSamples[j] || outcome.Wide[0], needsSamples[i] || outcome.Wide[1]
				undecidable = undecidable || !outcome.Wide[0] && !outcome.Wide[1]
			}
			switch {
			case outcome.Relation > worst.Relation:
				worst = outcome
			case outcome.Relation < worst.Relation:
			case outcome.Relation == agree.Different && outcome.Basis != worst.Basis && agree.Weaker(outcome.Basis, worst.Basis) == worst.Basis:
				worst = outcome
			case outcome.Relation == agree.Same:
				worst.Basis = agree.Weaker(worst.Basis, outcome.Basis)
				if worst.Reason == "" {
					worst.Reason = outcome.Reason
				}
			}
		}
	}
	if undecidable {
		clear(needsSamples)
	}
	return worst, needsSamples
}

// statusFor returns the status of a row whose answers have this relation.
func statusFor(r agree.Relation) Status { return [...]Status{Agree, Undecided, Disagree}[r] }
