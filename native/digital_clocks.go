package native

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// timedStates is an instance of a timed automaton, by an MDP of digital clocks, of regions or of zones. The largest values of the
// clocks depend on the property. Properties with the same largest values share an MDP, except that of zones.
type timedStates struct {
	method           *statesMethod
	wantCertificates bool                   // certificates are wanted; there are none for timed automata
	spaces           map[string]*timedSpace // by digital.Model.Key
}

// timedSpace is an MDP, or the error of building it.
type timedSpace struct {
	model   *exploredModel
	err     error
	limit   int // of states; 0 means none
	warning string
}

// newTimedStates returns the instance that checks a timed automaton. A method or an output that timed automata do
// not support is an error.
func newTimedStates(method method, program *sema.Program) (*timedStates, error) {
	statesMethod, ok := method.(*statesMethod)
	switch {
	case !ok:
		return nil, unsupported(program, "%ss are not sampled, want method states", program.Type)
	case statesMethod.outputs.Certificate != nil:
		return nil, unsupported(program, "found a %s, want a model without clocks for a certificate", program.Type)
	case statesMethod.export != nil:
		return nil, unsupported(program, "found a %s, want a model without clocks for the export of schedulers", program.Type)
	}
	withoutProofs := *statesMethod
	withoutProofs.wantCertificates = false
	return &timedStates{method: &withoutProofs, wantCertificates: statesMethod.wantCertificates, spaces: make(map[string]*timedSpace)}, nil
}

// unsupported returns the error of a program that cannot be checked.
func unsupported(p *sema.Program, format string, args ...any) error {
	return &result.Failure{Class: result.Unsupported, File: p.File, Message: fmt.Sprintf(format, args...)}
}

// check implements instance. It tries representations of clocks until one is supported and small enough.
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

// attempts returns the representations of clocks to try for a property, in this order. The last one has no limit.
func (states *timedStates) attempts(property *checkedProperty) []clockAttempt {
	if clocks := states.method.clocks; clocks != "" {
		return []clockAttempt{{clocks, 0}}
	}
	exact := runner.DigitalClocks
	if digital.NeedsRegions(property.Program, &property.Property) {
		exact = runner.ClockRegions
	}
	byZones, last := clockAttempt{runner.ClockZones, maxZones}, clockAttempt{exact, 0}
	switch _, err := digital.ForZones(property.Program, &property.Property); {
	case err != nil || states.method.outputs.Witness != nil:
		return []clockAttempt{last}
	case exact == runner.ClockRegions:
		return []clockAttempt{byZones, last}
	}
	return []clockAttempt{{exact, maxDigitalStates}, byZones, last}
}

// checkBy checks a property with a representation of clocks. The error says why the MDP cannot be built. Then the
// verdict also has this error.
func (states *timedStates) checkBy(ctx context.Context, property *checkedProperty, attempt clockAttempt) (result.Verdict, error) {
	limit := attempt.limit
	if own := states.method.build.MaxStates; limit == 0 || own > 0 && own < limit {
		limit = own
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
		return result.Verdict{Err: translationFailure(err, property)}, err
	}
	space := states.spaceOf(ctx, translated, limit)
	if space.err != nil {
		return result.Verdict{Err: failure(space.err, result.Build, property.Program.File, property.Pos)}, space.err
	}
	return states.checkOn(ctx, space, property, translated.Program, translated.Property), nil
}

// spaceOf returns the MDP of a translated program. It builds a new MDP, unless there is one from an earlier property.
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
	verdict := space.model.check(ctx, &checkedProperty{instance, property.constants, property.keep})
	return states.withWarnings(verdict, space)
}

// withWarnings adds the warnings about an MDP to a verdict.
func (states *timedStates) withWarnings(verdict result.Verdict, space *timedSpace) result.Verdict {
	if states.wantCertificates {
		verdict.Warnings = append(slices.Clip(verdict.Warnings), NotProven+"there is no certificate of models with clocks")
	}
	if space.warning != "" {
		verdict.Warnings = append(slices.Clip(verdict.Warnings), space.warning)
	}
	return verdict
}

// translationFailure converts an error of the translation to an MDP to a failure of a verdict.
func translationFailure(err error, property *checkedProperty) *result.Failure {
	failure := &result.Failure{Class: result.Unsupported, Message: err.Error(), File: property.File, Pos: property.Pos}
	translationError, ok := errors.AsType[*digital.Error](err)
	if !ok {
		return failure
	}
	failure.Pos = translationError.Pos
	if translationError.Always {
		failure.Class = result.TypeError
	}
	if translationError.File != "" {
		failure.File = translationError.File
	}
	return failure
}

// buildMDP explores the MDP of a translated program. A deadlock of the MDP is a timelock of the automaton, and an
// error. A reachable state that violates an invariant gives a warning.
func (states *timedStates) buildMDP(ctx context.Context, translated *digital.Model, limit int) *timedSpace {
	built := &timedSpace{limit: limit}
	compiled, err := compile.Compile(translated.Program, compile.Options{})
	if err != nil {
		built.err = err
		return built
	}
	options := states.method.build
	options.NoFixDeadlocks, options.MaxStates = true, limit
	space, err := explicit.Build(ctx, compiled, options)
	if deadlockErr, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		built.err = timelockFailure(translated.Program, translated.StateText(deadlockErr.Values))
		return built
	}
	if err != nil {
		built.err = err
		return built
	}
	if built.warning, built.err = invariantWarning(space, translated); built.err == nil {
		built.model = states.method.newExploredModel(space, nil)
	}
	return built
}

// invariantWarning returns a warning if a reachable state violates an invariant.
func invariantWarning(space *explicit.Space, translated *digital.Model) (string, error) {
	satisfying, err := space.States(translated.Invariants)
	if err != nil {
		return "", err
	}
	for state := range satisfying.Complement().All() {
		return violationWarning(translated.StateText(space.State(nil, state))), nil // about the first state
	}
	return "", nil
}

// timelockFailure returns the failure for a reachable state in which nothing can happen.
func timelockFailure(program *sema.Program, state string) *result.Failure {
	return &result.Failure{Class: result.Deadlock, File: program.File, Message: fmt.Sprintf("Timelock in PTA, e.g. in state %s: time cannot pass, and no command is enabled", state)}
}

// violationWarning returns a warning about a reachable state that violates an invariant. It returns "" if state is
// "".
func violationWarning(state string) string {
	if state == "" {
		return ""
	}
	return fmt.Sprintf("state %s is reachable but violates an invariant, and time cannot pass in it", state)
}
