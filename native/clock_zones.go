package native

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/native/space/zones"
	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// checkByZones checks a property of a timed automaton on an MDP of zones, which depends on the property. It returns an error, which the verdict
// has too, if the MDP cannot be built.
func (states *timedStates) checkByZones(ctx context.Context, property *checkedProperty, limit int) (result.Verdict, error) {
	timed, err := digital.ForZones(property.Program, &property.Property)
	if err != nil {
		return result.Verdict{Err: translationFailure(err, property)}, err
	}
	built, err := zones.Build(ctx, timed, zones.Options{MaxStates: limit})
	if timelock, ok := errors.AsType[*zones.TimelockError](err); ok {
		err = timelockFailure(property.Program, timelock.State)
	}
	if err != nil {
		return result.Verdict{Err: failure(err, result.Build, property.Program.File, property.Pos)}, err
	}
	ofZones := property.Property
	ofZones.X = built.Property
	return states.checkOn(ctx, &timedSpace{
		model:   states.method.newExploredModel(built.Space, nil),
		warning: violationWarning(built.Violating),
	}, property, built.Space.Program(), ofZones), nil
}

// timelockFailure returns the failure for a reachable state in which nothing can happen.
func timelockFailure(program *sema.Program, state string) *result.Failure {
	return &result.Failure{Class: result.Deadlock, File: program.File, Message: fmt.Sprintf("Timelock in PTA, e.g. in state %s: time cannot pass, and no command is enabled", state)}
}

// violationWarning returns the warning about a reachable state that violates an invariant; "" for no state.
func violationWarning(state string) string {
	if state == "" {
		return ""
	}
	return fmt.Sprintf("state %s is reachable but violates an invariant, and time cannot pass in it", state)
}

// checkOn checks a translated property on the MDP of a timed automaton.
func (states *timedStates) checkOn(ctx context.Context, space *timedSpace, property *checkedProperty, program *sema.Program, translated sema.Property) result.Verdict {
	verdict := space.model.check(ctx, &checkedProperty{runner.Instance{Property: translated, Program: program, File: property.File}, property.constants, property.keep})
	return states.withWarnings(verdict, space)
}
