package native

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/native/load"
	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// timedStates is an instance of a timed automaton, by an MDP of digital clocks, of regions or of zones. The largest values of the
// clocks depend on the property. Properties with the same largest values share an MDP, except that of zones.
type timedStates struct {
	method    *statesMethod
	spaces    map[string]*timedSpace // by digital.Model.Key
	fileModel *exploredModel         // the MDP whose certificates the file gets; nil if there is none yet
}

// timedSpace is an MDP, or the error of building it.
type timedSpace struct {
	model   *exploredModel
	err     error
	limit   int // of states; 0 means none
	warning string
}

// newTimedStates returns the instance that checks properties of a timed automaton. It is an error if the method or an output of the job is not
// supported for timed automata.
func newTimedStates(method method, program *sema.Program) (*timedStates, error) {
	statesMethod, ok := method.(*statesMethod)
	if !ok {
		return nil, unsupported(program, "%ss are not sampled, want method states", program.Type)
	}
	if err := statesMethod.checkClocks(program); err != nil {
		return nil, err
	}
	return &timedStates{method: statesMethod, spaces: make(map[string]*timedSpace)}, nil
}

// unsupported returns the error of a program that cannot be checked.
func unsupported(p *sema.Program, format string, args ...any) error {
	return &result.Failure{Class: result.Unsupported, File: p.File, Message: fmt.Sprintf(format, args...)}
}

// check implements instance. It tries representations of clocks, such as digital clocks and zones, until one supports the property and does not
// exceed its limit of states.
func (states *timedStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	attempts := states.attempts(property)
	for _, attempt := range attempts[:len(attempts)-1] {
		verdict, err := states.checkBy(ctx, property, attempt)
		isUnsupported := err != nil && failure(err, result.Build, "", property.Pos).Class == result.Unsupported
		if !isUnsupported && !exceedsLimit(err) {
			return verdict
		}
	}
	verdict, _ := states.checkBy(ctx, property, attempts[len(attempts)-1])
	return verdict
}

// clockAttempt is a representation of clocks to try, with a limit of states or zones; 0 means none.
type clockAttempt struct {
	clocks runner.ClockMethod
	limit  int
}

// Limits of attempts whose representation of clocks may be much larger than another one: of states of digital clocks, and of zones, which take some seconds.
const (
	maxDigitalStates = 1_000_000
	maxZones         = 10_000
)

// attempts returns the representations of clocks to try for a property, in this order. Each attempt but the last has a limit of states, beyond which the
// next attempt is tried.
func (states *timedStates) attempts(property *checkedProperty) []clockAttempt {
	if clocks := states.method.clocks; clocks != "" { // the job selects the representation
		return []clockAttempt{{clocks: clocks}}
	}
	if states.method.export != nil { // only schedulers of digital clocks are exported
		return []clockAttempt{{clocks: runner.DigitalClocks}}
	}
	finalAttempt := clockAttempt{clocks: runner.DigitalClocks}
	needsRegions := digital.NeedsRegions(property.Program, &property.Property)
	if needsRegions {
		finalAttempt.clocks = runner.ClockRegions
	}
	_, zonesErr := digital.ForZones(property.Program, &property.Property)
	if zonesErr != nil || states.method.outputs.Witness != nil {
		return []clockAttempt{finalAttempt}
	}
	zoneAttempt := clockAttempt{clocks: runner.ClockZones, limit: maxZones}
	if needsRegions && !states.method.wantCertificates {
		return []clockAttempt{zoneAttempt, finalAttempt}
	}
	return []clockAttempt{{clocks: finalAttempt.clocks, limit: maxDigitalStates}, zoneAttempt, finalAttempt}
}

// checkBy checks a property with one representation of clocks. If the MDP cannot be built, the error says why, and the verdict has the same
// error.
func (states *timedStates) checkBy(ctx context.Context, property *checkedProperty, attempt clockAttempt) (result.Verdict, error) {
	limit := attempt.limit // 0 means none
	jobLimit := states.method.build.MaxStates
	isJobLimitLower := jobLimit > 0 && jobLimit < limit
	if limit == 0 || isJobLimitLower {
		limit = jobLimit
	}
	if attempt.clocks == runner.ClockZones {
		return states.checkByZones(ctx, property, limit)
	}
	method := digital.Digital
	if attempt.clocks == runner.ClockRegions {
		method = digital.Regions
	}
	translated, err := digital.Translate(property.Program, &property.Property, method)
	if err != nil {
		return result.Verdict{Err: load.TranslationFailure(err, &property.Instance)}, err
	}
	space := states.spaceOf(ctx, translated, limit)
	if space.err != nil {
		return result.Verdict{Err: failure(space.err, result.Build, property.Program.File, property.Pos)}, space.err
	}
	verdict := states.checkOn(ctx, states.withProofs(space), property, translated.Program, translated.Property)
	return states.withOutputs(verdict, space, translated), nil
}

// spaceOf returns the MDP of a translated program. It reuses the MDP of an earlier property with the same key. An exploration that failed is repeated if
// the limit of states is another one.
func (states *timedStates) spaceOf(ctx context.Context, translated *digital.Model, limit int) *timedSpace {
	space := states.spaces[translated.Key]
	isUsable := space != nil && (space.err == nil || space.limit == limit)
	if isUsable {
		return space
	}
	space = states.buildMDP(ctx, translated, limit)
	wasInterrupted := space.err != nil && ctx.Err() != nil
	if !wasInterrupted {
		states.spaces[translated.Key] = space
	}
	return space
}

// checkOn checks a translated property on the MDP of a timed automaton.
func (states *timedStates) checkOn(ctx context.Context, space *timedSpace, property *checkedProperty, program *sema.Program, translated sema.Property) result.Verdict {
	instance := runner.Instance{Property: translated, Program: program, File: property.File}
	verdict := space.model.check(ctx, &checkedProperty{instance, property.constants, property.keepVerdict})
	return states.withWarnings(verdict, space)
}

// withWarnings adds the warnings about an MDP to a verdict.
func (states *timedStates) withWarnings(verdict result.Verdict, space *timedSpace) result.Verdict {
	if space.warning != "" {
		verdict.Warnings = append(slices.Clip(verdict.Warnings), space.warning)
	}
	return verdict
}

// buildMDP explores the MDP of a translated program, with at most limit states. It is an error if the MDP has a deadlock, which is a timelock of
// the automaton. A reachable state that violates an invariant adds a warning.
func (states *timedStates) buildMDP(ctx context.Context, translated *digital.Model, limit int) *timedSpace {
	result := &timedSpace{limit: limit}
	options := states.method.build
	options.MaxStates = limit
	space, violatingStates, inexact, err := load.ClockMDP(ctx, translated, options, states.method.wantCertificates)
	if err != nil {
		result.err = err
		return result
	}
	result.warning = load.Violation(violatingStates)
	result.model = states.method.newExploredModel(space, inexact)
	return result
}

// withoutProofs returns the method without certificates.
func (method *statesMethod) withoutProofs() *statesMethod {
	result := *method
	result.wantCertificates = false
	return &result
}

// notProven adds a warning to a verdict without a certificate.
func notProven(verdict result.Verdict, reason string) result.Verdict {
	if verdict.Err == nil {
		verdict.Warnings = append(slices.Clip(verdict.Warnings), NotProven+reason)
	}
	return verdict
}
