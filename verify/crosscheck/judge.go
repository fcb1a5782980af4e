package crosscheck

import "tilecheck/result/agree"

// judgeAnswers compares the answers of a row in pairs and returns the worst outcome. needsSamples[i] says that more samples for answer i may decide the row. If
// some pair stays undecided with any number of samples, it is false for all answers.
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

// worse returns the worse of two outcomes: a disagreement, then an unknown relation, then an agreement. If both are disagreements, it returns the outcome with
// the stronger basis. If both are agreements, the result has the weaker basis, because it must hold for both.
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
