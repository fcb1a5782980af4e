package crosscheck

import "tilecheck/result/agree"

// judge compares the answers of a row in pairs and returns the worst outcome. needsSamples[i] reports whether more samples for answer i may
// decide the row. It is false for all answers if some pair stays undecided with any number of samples.
func judge(answers []*agree.Answer, opt agree.Options) (worst agree.Outcome, needsSamples []bool) {
	needsSamples = make([]bool, len(answers))
	worst.Basis = agree.Proven
	somePairStaysUndecided := false // with any number of samples
	for i := range answers {
		for j := range i {
			outcome := agree.Compare(answers[j], answers[i], opt)
			worst = worse(worst, outcome)
			if outcome.Relation != agree.Unknown {
				continue
			}
			firstTooWide, secondTooWide := outcome.Wide[0], outcome.Wide[1]
			needsSamples[j] = needsSamples[j] || firstTooWide
			needsSamples[i] = needsSamples[i] || secondTooWide
			if !firstTooWide && !secondTooWide {
				somePairStaysUndecided = true
			}
		}
	}
	if somePairStaysUndecided {
		clear(needsSamples)
	}
	return worst, needsSamples
}

// worse returns the worse of two outcomes. A disagreement is worse than an unknown relation, and an unknown relation is worse than an agreement. Two
// disagreements give the stronger basis, and two agreements the weaker basis.
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
