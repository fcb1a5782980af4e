package native

import (
	"cmp"
	"context"
	"errors"

	"tilecheck/native/load"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/zones"
	"tilecheck/prism/digital"
	"tilecheck/result"
)

// checkByZones checks a property of a timed automaton on an MDP of zones with at most limit states. If this MDP cannot be built, the error is the
// reason, and the verdict has the same error.
func (states *timedStates) checkByZones(ctx context.Context, property *checkedProperty, limit int) (result.Verdict, error) {
	if states.method.outputs.Witness != nil {
		err := unsupported(property.Program, "found zones of clocks, want --clocks digital or regions for a witness")
		return result.Verdict{Err: failure(err, result.Unsupported, property.Program.File, property.Pos)}, err
	}
	timed, err := digital.ForZones(property.Program, &property.Property)
	if err != nil {
		return result.Verdict{Err: load.TranslationFailure(err, &property.Instance)}, err
	}
	options := zones.Options{MaxStates: limit, MaxMemory: states.method.build.MaxMemory}
	for {
		built, err := zones.Build(ctx, timed, options)
		if timelock, ok := errors.AsType[*zones.TimelockError](err); ok {
			err = load.Timelock(property.Program, timelock.State)
		}
		if err != nil {
			return result.Verdict{Err: failure(err, result.Build, property.Program.File, property.Pos)}, err
		}
		verdict := states.checkOnZones(ctx, built, built.Space, property)
		if built.Upper == nil || verdict.Err != nil {
			return verdict, nil
		}
		// The value lies between the values of the two MDPs, built.Space and built.Upper.
		upper := states.checkOnZones(ctx, built, built.Upper, property)
		if states.combineBounds(&verdict, &upper) {
			return verdict, nil
		}
		options.KeepAll = true // the MDP without dominated states is too inaccurate
	}
}

// checkOnZones checks a property on space, an MDP of zones that was built for the property.
func (states *timedStates) checkOnZones(ctx context.Context, built *zones.Built, space *explicit.Space, property *checkedProperty) result.Verdict {
	translated := property.Property
	translated.Expr = built.Property
	zoneSpace := &timedSpace{model: states.method.withoutProofs().newExploredModel(space, nil), warning: load.Violation(built.Violating)}
	verdict := states.checkOn(ctx, zoneSpace, property, space.Program(), translated)
	if states.method.wantCertificates {
		return notProven(verdict, "there is no certificate of zones of clocks, want --clocks digital or regions")
	}
	return verdict
}

// combineBounds widens the bounds of verdict so that they contain the bounds of other, because the value lies between the two values. It returns false
// if the combined bounds are too wide, or if two truth values or fractions differ.
func (states *timedStates) combineBounds(verdict, other *result.Verdict) bool {
	value, otherValue := &verdict.Value, &other.Value
	switch {
	case other.Err != nil:
		return false
	case value.Kind == result.Boolean:
		return value.Bool == otherValue.Bool
	case value.Rat != nil && otherValue.Rat != nil:
		return value.Rat.Cmp(otherValue.Rat) == 0
	}
	lower, upper := min(value.Num, otherValue.Num), max(value.Num, otherValue.Num)
	if verdict.Bound != nil && other.Bound != nil {
		lower, upper = min(verdict.Bound.Lo, other.Bound.Lo), max(verdict.Bound.Hi, other.Bound.Hi)
		verdict.Bound = &result.Interval{Lo: lower, Hi: upper}
	}
	// Each verdict has bounds of relative width epsilon. So two verdicts for one value may differ by twice this width.
	epsilon := cmp.Or(states.method.opt.Epsilon, solve.DefaultEpsilon)
	return upper-lower <= 2*epsilon*upper
}
