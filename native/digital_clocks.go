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

// timedStates is an instance of a timed automaton, by an MDP of digital clocks or of regions. The largest values of the
// clocks depend on the property. Properties with the same largest values share an MDP.
type timedStates struct {
	method           *statesMethod
	wantCertificates bool                   // certificates are wanted; there are none for timed automata
	spaces           map[string]*timedSpace // by digital.Model.Key
}

// timedSpace is an MDP, or the error of building it.
type timedSpace struct {
	model   *exploredModel
	err     error
	warning string
}

// newTimedStates returns the instance that checks a timed automaton. It returns an error if the method or an output is not
// supported for timed automata.
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

// check implements instance. It translates the property and the timed automaton to an MDP, and checks the translated
// property there.
func (states *timedStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	if states.method.clocks == runner.ClockZones {
		return states.checkByZones(ctx, property)
	}
	translated, err := digital.Translate(property.Program, &property.Property, states.translation())
	if err != nil {
		return result.Verdict{Err: translationFailure(err, property)}
	}
	space := states.spaces[translated.Key]
	if space == nil {
		space = states.buildMDP(ctx, translated)
		if space.err == nil || ctx.Err() == nil {
			states.spaces[translated.Key] = space
		}
	}
	if space.err != nil {
		return result.Verdict{Err: failure(space.err, result.Build, property.Program.File, property.Pos)}
	}
	return states.checkOn(ctx, space, property, translated.Program, translated.Property)
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

// translation returns how clocks are represented.
func (states *timedStates) translation() digital.Method {
	switch states.method.clocks {
	case runner.DigitalClocks:
		return digital.Digital
	case runner.ClockRegions:
		return digital.Regions
	}
	return digital.Automatic
}

// translationFailure classifies an error of the translation to an MDP.
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

// buildMDP explores the MDP of a translated program. A deadlock of the MDP is a timelock of the automaton, which is an error. A
// reachable state that violates an invariant causes a warning.
func (states *timedStates) buildMDP(ctx context.Context, translated *digital.Model) *timedSpace {
	built := &timedSpace{}
	compiled, err := compile.Compile(translated.Program, compile.Options{})
	if err != nil {
		built.err = err
		return built
	}
	options := states.method.build
	options.NoFixDeadlocks = true
	space, err := explicit.Build(ctx, compiled, options)
	if deadlockErr, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		built.err = timelockFailure(translated.Program, translated.StateText(deadlockErr.Values))
		return built
	}
	if err != nil {
		built.err = err
		return built
	}
	invariantHolds, err := space.States(translated.Invariants)
	if err != nil {
		built.err = err
		return built
	}
	if violating := invariantHolds.Complement(); !violating.Empty() {
		for state := range violating.All() {
			built.warning = violationWarning(translated.StateText(space.State(nil, state)))
			break
		}
	}
	built.model = states.method.newExploredModel(space, nil)
	return built
}
