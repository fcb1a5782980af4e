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
			worst = worse(worst, outcome)
			if outcome.Relation != agree.Unknown {
				continue
			}
			wideFirst, wideSecond := outcome.Wide[0], outcome.Wide[1]
			needsSamples[j] = needsSamples[j] || wideFirst
			needsSamples[i] = needsSamples[i] || wideSecond
			undecidable = undecidable || !wideFirst && !wideSecond
		}
	}
	if undecidable {
		clear(needsSamples)
	}
	return worst, needsSamples
}

// worse returns the worse of two outcomes. Of two disagreements it is the one with the stronger basis. Two agreements together have the weaker
// basis.
func worse(worst, outcome agree.Outcome) agree.Outcome {
	switch {
	case outcome.Relation > worst.Relation:
		return outcome
	case outcome.Relation < worst.Relation:
		return worst
	}
	switch outcome.Relation {
	case agree.Different:
		isStronger := outcome.Basis != worst.Basis && agree.Weaker(outcome.Basis, worst.Basis) == worst.Basis
		if isStronger {
			return outcome
		}
	case agree.Same:
		worst.Basis = agree.Weaker(worst.Basis, outcome.Basis)
		if worst.Reason == "" {
			worst.Reason = outcome.Reason
		}
	}
	return worst
}

// statusFor returns the status of a row whose answers have this relation.
func statusFor(r agree.Relation) Status { return [...]Status{Agree, Undecided, Disagree}[r] }
