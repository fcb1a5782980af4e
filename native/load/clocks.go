package load

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

// ClockMDP builds the MDP of a translated timed automaton. It is an error if the MDP has a deadlock, which is a timelock of the automaton.
// violatingState describes a reachable state that violates an invariant; it is "" if all states satisfy the invariants. If fractions is true but cannot
// be computed, inexactErr is the reason, and the MDP has float64 weights.
func ClockMDP(ctx context.Context, translated *digital.Model, options explicit.Options, fractions bool) (space *explicit.Space, violatingState string, inexactErr, err error) {
	compiled, err := compile.Compile(translated.Program, compile.Options{})
	if err != nil {
		return nil, "", nil, err
	}
	options.NoFixDeadlocks = true
	if fractions {
		space, inexactErr, err = Fractions(ctx, compiled, options)
	} else {
		space, err = explicit.Build(ctx, compiled, options)
	}
	if deadlockErr, ok := errors.AsType[*explicit.DeadlockError](err); ok {
		return nil, "", nil, Timelock(translated.Program, translated.StateText(deadlockErr.Values))
	}
	if err != nil {
		return nil, "", nil, err
	}
	satisfyingStates, err := space.States(translated.Invariants)
	if err != nil {
		return nil, "", nil, err
	}
	for s := range satisfyingStates.Complement().All() {
		violatingState = translated.StateText(space.State(nil, s))
		break // the first one is enough
	}
	return space, violatingState, inexactErr, nil
}

// Timelock returns the failure for a reachable state of a timed automaton in which nothing can happen.
func Timelock(program *sema.Program, state string) *result.Failure {
	return &result.Failure{Class: result.Deadlock, File: program.File, Message: fmt.Sprintf("Timelock in PTA, e.g. in state %s: time cannot pass, and no command is enabled", state)}
}

// Violation returns the warning about a reachable state of a timed automaton that violates an invariant; "" for no state.
func Violation(state string) string {
	if state == "" {
		return ""
	}
	return fmt.Sprintf("state %s is reachable but violates an invariant, and time cannot pass in it", state)
}

// TranslationFailure converts an error of the translation of a timed automaton for a property to a failure with a class and a position.
func TranslationFailure(err error, property *runner.Instance) *result.Failure {
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

// ClockProperties returns the MDP of a plan's timed automaton, with fractions, and the plan's properties as properties of this MDP. All
// properties must have the same MDP: the MDP of digital clocks or, if a property needs it, the MDP of regions.
func ClockProperties(ctx context.Context, plan *runner.Plan) (*explicit.Space, []runner.Instance, error) {
	program, err := Program(plan)
	if err != nil {
		return nil, nil, err
	}
	instances, err := plannedInstances(plan, program)
	if err != nil {
		return nil, nil, err
	}
	first, translated, err := translateClocks(instances)
	if err != nil {
		return nil, nil, err
	}
	options := Options(&plan.Job)
	options.Exact = true
	space, _, _, err := ClockMDP(ctx, first, options, false)
	return space, translated, err
}

// translateClocks translates properties of a timed automaton to properties of one MDP of clocks. It is an error if two properties need different MDPs.
// firstModel is the translation of the automaton for the first property.
func translateClocks(instances []runner.Instance) (firstModel *digital.Model, translated []runner.Instance, err error) {
	if len(instances) == 0 {
		return nil, nil, errors.New("found no property, want one: the MDP of clocks depends on it")
	}
	for i := range instances {
		property := &instances[i]
		method := digital.Digital
		if digital.NeedsRegions(property.Program, &property.Property) {
			method = digital.Regions
		}
		model, err := digital.Translate(property.Program, &property.Property, method)
		switch {
		case err != nil:
			return nil, nil, TranslationFailure(err, property)
		case firstModel == nil:
			firstModel = model
		case firstModel.Key != model.Key:
			return nil, nil, fmt.Errorf("%s needs another MDP of clocks than %s", property.Text, instances[0].Text)
		}
		translated = append(translated, runner.Instance{Property: model.Property, Program: model.Program, File: property.File})
	}
	return firstModel, translated, nil
}

// ClockModel returns the MDP of a plan's timed automaton for no particular property. program is the program of the automaton, possibly with the labels
// of a properties file added. space has only the labels in modelLabels; translated has all labels. A warning names each label that the MDP cannot have.
func ClockModel(ctx context.Context, plan *runner.Plan, program *sema.Program, modelLabels []sema.LabelDef, method digital.Method) (space *explicit.Space, translated *digital.Model, warnings []string, err error) {
	translated, omitted, err := digital.TranslateModel(program, method)
	if err != nil {
		return nil, nil, nil, TranslationFailure(err, &runner.Instance{File: program.File})
	}
	for _, label := range omitted {
		warnings = append(warnings, "left out: "+label.Msg)
	}
	onlyModel := *translated.Program
	onlyModel.Labels = slices.DeleteFunc(slices.Clone(onlyModel.Labels), func(label sema.LabelDef) bool {
		return !slices.ContainsFunc(modelLabels, func(other sema.LabelDef) bool { return other.Name == label.Name })
	})
	built := *translated
	built.Program = &onlyModel
	space, violatingState, _, err := ClockMDP(ctx, &built, Options(&plan.Job), false)
	if violatingState != "" {
		warnings = append(warnings, Violation(violatingState))
	}
	return space, translated, warnings, err
}
