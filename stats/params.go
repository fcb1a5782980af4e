package stats

import "math"

// PRISM's defaults. Its default approximation for APMC, 0.05, is never used:
// without one, PRISM computes it from samples and confidence.
const (
	DefaultConfidence = 0.99
	DefaultSamples    = 1000
	DefaultWidth      = 0.05 // SPRT only; CI and ACI compute the width when it is not given
	DefaultMaxReward  = 1000.0
)

// Params are the simulation options. A zero field was not given; since PRISM
// accepts a zero for none of them, a front end has to refuse an explicit zero.
//
// CI, ACI and APMC have three parameters, width (Approx for APMC), confidence
// and samples, of which the third is computed from two: the width if it is not
// given, else the samples if they are not given, else the confidence. What is
// neither given nor computed has its default. SPRT uses Width as half the width
// of its indifference region and computes the samples.
//
// Source: PRISM, PrismCL.processSimulationOptions.
type Params struct {
	Method     Method
	Width      float64 // half the length of the interval (-simwidth)
	Confidence float64 // 0.99 where -simconf is 0.01
	Samples    int64   // -simsamples
	Approx     float64 // APMC's width (-simapprox)

	// MaxReward bounds the absolute value of the reward of a path (-simmaxrwd). A variance
	// of 0 is believed after MaxReward/Width samples, 1/Width for probabilities.
	MaxReward float64
	// ZeroVarianceSamples, if given, is that number of samples itself (-simmanual
	// -simvar; PRISM takes 2 when -simmanual stands alone).
	ZeroVarianceSamples int64
	// Valid asks CI, where it computes the number of samples of a query, to go on until the interval that
	// [BernoulliInterval] or [RewardInterval] proves is as narrow as Width; PRISM's nominal one is narrow
	// enough before. Rewards need MaxReward.
	Valid bool
	// MaxSamples ends sampling that has not converged, with an error of code
	// Truncated. Without it a plan stops only when its condition holds. PRISM has none.
	MaxSamples int64
}

// Property is the property that the samples are drawn for.
type Property struct {
	Reward        bool   // R rather than P
	MayBeNegative bool   // the reward may be negative
	Bound         *Bound // nil for a quantitative property (=?)
}

// Bound is the bound of a property: at least or at most Threshold. Sampling
// cannot tell > from >=.
type Bound struct {
	AtLeast   bool
	Threshold float64 // in [0,1] for P
}

// width returns the given half-width of the method.
func (p Params) width() float64 {
	if p.Method == APMC {
		return p.Approx
	}
	return p.Width
}

// resolve returns the parameters with a method in place of Auto: SPRT if the property has a bound, else CI.
func (p Params) resolve(property Property) Params {
	if p.Method == Auto {
		p.Method = CI
		if property.Bound != nil {
			p.Method = SPRT
		}
	}
	return p
}

// check returns an error if the parameters are invalid, or do not fit the method or the property.
func (p Params) check(property Property) error {
	if p.Method == Auto || p.Method > SPRT {
		return errorf(BadValue, "unknown simulation method %d", uint8(p.Method))
	}
	if err := p.checkRanges(); err != nil {
		return err
	}
	if err := property.check(); err != nil {
		return err
	}
	switch {
	case p.Method == APMC && property.Reward:
		return errorf(Unsupported, "the APMC method cannot be used for rewards, want CI or ACI")
	case p.Method == SPRT && property.Bound == nil:
		return errorf(Unsupported, "the SPRT method cannot be used for a quantitative property (=?), want CI, ACI or APMC")
	case p.Method != SPRT && p.width() != 0 && p.Confidence != 0 && p.Samples != 0:
		return errorf(Overspecified, "width, confidence and samples are all given for the %v method, want at most two", p.Method)
	}
	return nil
}

// checkRanges returns an error if a parameter is negative, infinite or not a number.
func (p Params) checkRanges() error {
	if p.Confidence != 0 {
		if err := checkConfidence(p.Confidence); err != nil {
			return err
		}
	}
	for _, field := range []struct {
		name  string
		value float64
	}{
		{"width", p.Width},
		{"approximation", p.Approx},
		{"maximum reward", p.MaxReward},
		{"number of samples", float64(p.Samples)},
		{"number of samples for zero variance", float64(p.ZeroVarianceSamples)},
		{"maximum number of samples", float64(p.MaxSamples)},
	} {
		if !(field.value >= 0) || math.IsInf(field.value, 1) {
			return errorf(BadValue, "%s %v: want a positive number", field.name, field.value)
		}
	}
	return nil
}

// check returns an error if the threshold is not finite or, for a probability, not in [0,1].
func (p Property) check() error {
	if p.Bound == nil {
		return nil
	}
	threshold := p.Bound.Threshold
	switch {
	case p.Reward && (math.IsNaN(threshold) || math.IsInf(threshold, 0)):
		return errorf(BadValue, "bound %v: want a finite reward", threshold)
	case !p.Reward && !(threshold >= 0 && threshold <= 1):
		return errorf(BadValue, "bound %v: want a probability", threshold)
	}
	return nil
}

// warnings returns a warning for every given parameter that the method ignores,
// for ACI where PRISM would run CI, and for SPRT on rewards.
func (p Params) warnings(property Property) []string {
	var warnings []string
	ignore := func(isGiven bool, name string) {
		if isGiven {
			warnings = append(warnings, name+" is not used by the "+p.Method.String()+" method and is ignored")
		}
	}
	ignore(p.Approx != 0 && p.Method != APMC, "approximation")
	ignore(p.Width != 0 && p.Method == APMC, "width")
	if p.Samples != 0 && p.Method == SPRT {
		warnings = append(warnings, "the number of samples has no effect on a bound: SPRT draws as many as it needs")
	}
	if p.Method == ACI && !property.Reward && p.Width != 0 && p.Samples == 0 && p.ZeroVarianceSamples == 0 {
		warnings = append(warnings, "PRISM runs CI where ACI is asked for a probability of given width; this is ACI")
	}
	if p.Method == SPRT && property.Reward {
		warnings = append(warnings, "SPRT on rewards takes them for normal and their variance from as few as two samples: its error probability is not guaranteed")
	}
	return warnings
}
