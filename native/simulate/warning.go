package simulate

import (
	"fmt"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/stats"
)

func (c *check) warnParameters() {
	for _, w := range c.plan.Warnings() {
		c.warn("%s", w)
	}
	if c.p.Program.Type == syntax.DTMC && c.res.Overlap > 0 {
		c.warn("several commands were enabled at once on %d of %d sampled paths of a DTMC: one was drawn, each with the same probability, as PRISM does without saying so", c.res.Overlap, c.res.Samples)
	}
}

// warnResolution says what an estimate of a nondeterministic model is not.
func (c *check) warnResolution() {
	if c.res.Resolution != result.Uniform || c.p.Program.Type == syntax.DTMC { // whose uniform choice between commands is its meaning
		return
	}
	operator := "P"
	if c.obj.Reward {
		operator = "R"
	}
	switch {
	case !c.obj.Query():
		c.warn("%s%s%v is about every scheduler, and the simulator makes every choice at random: the answer is about random choices only", operator, c.obj.Rel, c.obj.Bound)
	case c.obj.Extremum == syntax.NoExtremum:
		c.warn("%s=?: every choice was made at random, so this is the value of random choices", operator)
	default:
		c.warn("%s%s=?: every choice was made at random, so this is the value of random choices, not the %s", operator, c.obj.Extremum, extremumNoun(c.obj.Extremum))
	}
}

func extremumNoun(e syntax.Extremum) string {
	switch e {
	case syntax.Min:
		return "minimum"
	case syntax.Max:
		return "maximum"
	}
	return fmt.Sprintf("%s value", e)
}

// warnEstimate says where PRISM's half-width means less than it seems to. The
// texts have no numbers, so that verdicts share them.
func (c *check) warnEstimate(o stats.Outcome) {
	if o.N > 1 && c.stats().Variance() == 0 && o.Method != stats.APMC && !c.plan.Valid() {
		if c.res.Bound != nil {
			c.warn("all samples are equal, so PRISM's half-width 0 says nothing: use the interval")
		} else {
			c.warn("all samples are equal, so PRISM's half-width 0 says nothing")
		}
	}
	if o.Confidence != c.res.Confidence {
		c.warn("the half-width %v has the nominal confidence %v, which was computed from the samples", o.Width, o.Confidence)
	}
	if c.obj.Reward && c.res.Bound == nil {
		c.warn("the half-width of a reward is nominal: without a maximum reward there is no sound interval")
	}
}

// warnDecision says what stands behind a decision.
func (c *check) warnDecision(o stats.Outcome, sound stats.Interval) {
	if o.Method == stats.SPRT {
		c.warn("SPRT errs with probability at most %.4g if the value is at least %v away from the bound, and may say anything if it is nearer", stats.Alpha(o.Confidence), o.Width)
		return
	}
	if sound.Sound() && sound.Contains(c.obj.Bound) {
		c.warn("decided by PRISM's nominal half-width: the sound interval contains the bound %v", c.obj.Bound)
	}
}
