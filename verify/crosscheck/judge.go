package crosscheck

import "tilecheck/result/agree"

// judgeAnswers compares the answers of a row in pairs and returns the worst outcome. needsSamples[i] reports whether more samples for answer i may
// decide the row. It is false for all answers if some pair stays undecided with any number of samples.
func judgeAnswers(answers []*agree.Answer, options agree.Options) (worst agree.Outcome, needsSamples []bool) {
	needsSamples = make([]bool, len(answers))
	worst.Basis = agree.Proven
	isUndecidable := false // with any number of samples
	for i := range answers {
		for j := range i {
			outcome := agree.Compare(answers[j], answers[i], options)
			worst = worse(worst, outcome)
			if outcome.Relation != agree.Unknown {
				continue
			}
			firstTooWide, secondTooWide := outcome.TooWide[0], outcome.TooWide[1]
			needsSamples[j] = needsSamples[j] || firstTooWide
			needsSamples[i] = needsSamples[i] || secondTooWide
			if !firstTooWide && !secondTooWide {
				isUndecidable = true
			}
		}
	}
	if isUndecidable {
		clear(needsSamples)
	}
	return worst, needsSamples
}

// worse returns the worse of two outcomes. A disagreement is worse than an unknown relation, and an unknown relation is worse than an agreement. Two
// disagreements give the stronger basis, and two agreements the weaker basis.
func worse(first, second agree.Outcome) agree.Outcome {
	switch {
	case second.Relation > first.Relation:
		return second
	case second.Relation < first.Relation:
		return first
	}
	switch second.Relation {
	case agree.Different:
		isStronger := second.Basis != first.Basis && agree.Weaker(second.Basis, first.Basis) == first.Basis
		if isStronger {
			return second
		}
	case agree.Same:
		first.Basis = agree.Weaker(first.Basis, second.Basis)
		if first.Reason == "" {
			first.Reason = second.Reason
		}
	}
	return first
}

// statusFor returns the status of a row whose answers have this relation.
func statusFor(r agree.Relation) Status { return [...]Status{Agree, Undecided, Disagree}[r] }
