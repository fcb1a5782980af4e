package simulate

import (
	"cmp"
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

// warnParameters warns about sampling parameters, and about simultaneously enabled commands of a DTMC.
func (c *checker) warnParameters() {
	for _, warning := range c.plan.Warnings() {
		c.warn("%s", warning)
	}
	if c.property.Program.Type == syntax.DTMC && c.result.Overlap > 0 {
		c.warn("several commands were enabled at once on %d of %d sampled paths of a DTMC: one was drawn, each with the same probability, as PRISM does without saying so", c.result.Overlap, c.result.Samples)
	}
}

// warnResolution warns that the estimate is valid only for the uniform scheduler.
func (c *checker) warnResolution() {
	isDTMC := c.property.Program.Type == syntax.DTMC // its commands are selected uniformly by definition
	if c.result.Resolution != result.Uniform || isDTMC {
		return
	}
	operator := "P"
	if c.objective.Reward {
		operator = "R"
	}
	switch {
	case len(c.objective.Coalition)+len(c.objective.Others) > 0:
		c.warn("<<%s>> asks for a guaranteed value, but every choice was made at random, also the choices of %s: the answer is about random choices only. Give a player a strategy with tilecheck resolve --player, and sample the resulting model",
			strings.Join(c.objective.Coalition, ","), cmp.Or(strings.Join(c.objective.Others, ", "), "the coalition"))
	case !c.objective.Query():
		c.warn("%s%s%v is about every scheduler, and the simulator makes every choice at random: the answer is about random choices only", operator, c.objective.Rel, c.objective.Bound)
	case c.objective.Extremum == syntax.NoExtremum:
		c.warn("%s=?: every choice was made at random, so this is the value of random choices", operator)
	default:
		c.warn("%s%s=?: every choice was made at random, so this is the value of random choices, not the %s", operator, c.objective.Extremum, extremumNoun(c.objective.Extremum))
	}
}

// extremumNoun returns the noun for min or max in a message.
func extremumNoun(e syntax.Extremum) string {
	switch e {
	case syntax.Min:
		return "minimum"
	case syntax.Max:
		return "maximum"
	}
	return fmt.Sprintf("%s value", e)
}

// warnEstimate warns if PRISM's half-width is less reliable than it seems.
func (c *checker) warnEstimate(outcome stats.Outcome) {
	c.warnZeroWidth(outcome)
	if outcome.Confidence != c.result.Confidence {
		c.warn("the half-width %v has the nominal confidence %v, which was computed from the samples", outcome.Width, outcome.Confidence)
	}
	if c.objective.Reward && c.result.Bound == nil {
		c.warn("the half-width of a reward is nominal: without a maximum reward there is no sound interval")
	}
}

// warnZeroWidth warns if all samples are equal, because PRISM's half-width is then 0.
func (c *checker) warnZeroWidth(outcome stats.Outcome) {
	usesVariance := outcome.Method != stats.APMC && !c.plan.Valid()
	if !usesVariance || outcome.N <= 1 || c.stats().Variance() != 0 {
		return
	}
	if c.result.Bound == nil {
		c.warn("all samples are equal, so PRISM's half-width 0 says nothing")
		return
	}
	c.warn("all samples are equal, so PRISM's half-width 0 says nothing: use the interval")
}

// warnDecision warns about the reliability of a decision by sampling.
func (c *checker) warnDecision(outcome stats.Outcome, interval stats.Interval) {
	if outcome.Method == stats.SPRT {
		c.warn("SPRT errs with probability at most %.4g if the value is at least %v away from the bound, and has no error bound if it is nearer", stats.Alpha(outcome.Confidence), outcome.Width)
		return
	}
	if interval.Sound() && interval.Contains(c.objective.Bound) {
		c.warn("decided by PRISM's nominal half-width: the sound interval contains the bound %v", c.objective.Bound)
	}
}
