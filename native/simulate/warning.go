package simulate

import (
	"cmp"
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// warnParameters adds the warnings of the sampling plan about its parameters, and a warning if several commands of a DTMC were enabled at once.
func (checker *checker) warnParameters() {
	for _, warning := range checker.plan.Warnings() {
		checker.addWarning("%s", warning)
	}
	if checker.property.Program.Type == syntax.DTMC && checker.result.Overlap > 0 {
		checker.addWarning("several commands were enabled at once on %d of %d sampled paths of a DTMC: one was drawn, each with the same probability, as PRISM does without saying so", checker.result.Overlap, checker.result.Samples)
	}
}

// warnResolution adds a warning if paths made choices at random, but the property asks for the minimum, the maximum, or all schedulers. A DTMC needs no
// warning, because its overlapping commands are equally likely by definition.
func (checker *checker) warnResolution() {
	isDTMC := checker.property.Program.Type == syntax.DTMC
	if checker.result.Resolution != result.Uniform || isDTMC {
		return
	}
	operator := "P"
	if checker.objective.Reward {
		operator = "R"
	}
	switch {
	case len(checker.objective.Coalition)+len(checker.objective.Others) > 0:
		checker.addWarning("<<%s>> asks for a guaranteed value, but every choice was made at random, also the choices of %s: the answer is about random choices only. Give a player a strategy with tilecheck resolve --player, and sample the resulting model",
			strings.Join(checker.objective.Coalition, ","), cmp.Or(strings.Join(checker.objective.Others, ", "), "the coalition"))
	case !checker.objective.Query():
		checker.addWarning("%s%s%v is about every scheduler, and the simulator makes every choice at random: the answer is about random choices only", operator, checker.objective.Rel, checker.objective.Bound)
	case checker.objective.Extremum == syntax.NoExtremum:
		checker.addWarning("%s=?: open choices were made at random, so this is the value of random choices", operator)
	default:
		checker.addWarning("%s%s=?: open choices were made at random, so this is the value of random choices, not the %s", operator, checker.objective.Extremum, extremumNoun(checker.objective.Extremum))
	}
}

// extremumNoun returns the word for an extremum in a message: "minimum", "maximum", or a text such as "minmax value" for a game.
func extremumNoun(extremum syntax.Extremum) string {
	switch extremum {
	case syntax.Min:
		return "minimum"
	case syntax.Max:
		return "maximum"
	}
	return fmt.Sprintf("%s value", extremum)
}

// warnEstimate adds warnings about the half-width that PRISM would print with an estimate: all samples are equal, so it is 0; the samples reach only a lower
// confidence than requested; or it is the only interval, and nothing guarantees it.
func (checker *checker) warnEstimate(outcome stats.Outcome) {
	checker.warnZeroWidth(outcome)
	if outcome.Confidence != checker.result.Confidence {
		checker.addWarning("for +/- %v the samples give a confidence of %.3g only, by PRISM's formula; the interval holds with its own confidence", outcome.Width, outcome.Confidence)
	}
	if checker.objective.Reward && checker.result.Bound == nil {
		checker.addWarning("no interval: the half-width of a reward is nominal (PRISM's formula, no guarantee); --max-reward gives a guaranteed interval")
	}
}

// warnZeroWidth adds a warning if all samples are equal, because the half-width that PRISM computes from their variance is then 0.
func (checker *checker) warnZeroWidth(outcome stats.Outcome) {
	usesVariance := outcome.Method != stats.APMC && !checker.plan.Valid()
	if !usesVariance || outcome.N <= 1 || checker.sampleStatistics().Variance() != 0 {
		return
	}
	if checker.result.Bound == nil {
		checker.addWarning("all samples are equal; PRISM's half-width would be 0, which guarantees nothing")
		return
	}
	checker.addWarning("all samples are equal; PRISM's half-width would be 0, which guarantees nothing: use the interval")
}

// warnDecision adds a warning about how reliable the truth value of a bounded property is. For SPRT it gives the probability of error. For other methods it
// warns if the guaranteed interval contains the bound, because then only PRISM's nominal half-width decided the property.
func (checker *checker) warnDecision(outcome stats.Outcome, interval stats.Interval) {
	if outcome.Method == stats.SPRT {
		decidedBy := ""
		if interval.Sound() && interval.Contains(checker.objective.Bound) {
			decidedBy = fmt.Sprintf("the test SPRT decided the answer, not the interval, which contains the bound %v; ", checker.objective.Bound)
		}
		checker.addWarning("%sSPRT errs with probability at most %.4g if the value is at least %v away from the bound, and has no error bound if it is nearer; --width changes this distance, --confidence the probability", decidedBy, stats.Alpha(outcome.Confidence), outcome.Width)
		return
	}
	if interval.Sound() && interval.Contains(checker.objective.Bound) {
		checker.addWarning("decided by PRISM's nominal half-width: the sound interval contains the bound %v", checker.objective.Bound)
	}
}
