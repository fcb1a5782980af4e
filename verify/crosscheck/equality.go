package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/ending"
	"tilecheck/internal/noun"
	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Equality is the result of Models: whether other tools, or another model, have the same state space.
type Equality struct {
	Models      []ModelCheck
	Comparisons []Comparison
	Notes       []string
	Seconds     float64
}

// Comparison is the comparison of two state spaces.
type Comparison struct {
	Diagnosis
	// States, Choices and Transitions are the numbers of the first space. The others are those of the second, 0 if it was not built.
	States, Choices, Transitions                   int
	SecondStates, SecondChoices, SecondTransitions int
	Exact                                          bool     // the weights were compared as fractions
	Remarks                                        []string // known differences, parts that were not compared, and warnings, each with the name of the space
}

// Equal is a verdict of a Comparison.
type Equal string

// The verdicts.
const (
	Same        Equal = "same"
	Different   Equal = "different"
	NotCompared Equal = "not compared"
)

// Verdict returns NotCompared after an error, Different if a difference was found, and Same otherwise.
func (c *Comparison) Verdict() Equal {
	switch {
	case c.Err != nil:
		return NotCompared
	case c.Difference != nil:
		return Different
	}
	return Same
}

// Models compares the state space of a model with the state spaces that the engines build from its text. If other is not nil, it compares the model
// with the other model instead. It omits engines that cannot export a state space. Probabilities are compared as fractions if possible.
//
// An error means that there is nothing to compare. The fields of options about values have no effect.
func Models(ctx context.Context, job runner.Job, other *runner.Job, engines []runner.EngineConfig, options Options) (*Equality, error) {
	start := time.Now()
	if err := options.setDefaults(&job); err != nil {
		return nil, err
	}
	if other == nil && !slices.ContainsFunc(engines, exportsStates) {
		reasons := append([]string{"nothing to compare the model with: give another model with --against, or use PRISM or Storm"}, options.Unavailable...)
		return nil, errors.New(strings.Join(reasons, "; "))
	}
	model, err := newPlannedModel(runner.PlanModel(ctx, job))
	if err != nil {
		return nil, err
	}
	equality := &Equality{Notes: options.Unavailable}
	comparison := &modelComparison{options: &options, model: model, result: equality}
	if other != nil {
		otherModel, err := newPlannedModel(runner.PlanModel(ctx, *other))
		if err != nil {
			return nil, err
		}
		if err := comparison.compareModels(ctx, otherModel); err != nil {
			return nil, err
		}
	} else {
		comparison.compareTools(ctx, engines)
	}
	equality.Seconds = time.Since(start).Seconds()
	return equality, nil
}

// exportsStates reports whether an engine can export the state space that its tool builds.
func exportsStates(engine runner.EngineConfig) bool {
	_, ok := runner.As[StateBuilder](engine.Engine)
	return ok
}

// modelComparison is a run of Models.
type modelComparison struct {
	options *Options
	model   *plannedModel
	result  *Equality
}

// compareModels compares the model with another model for each valuation of the constants. It returns an error if their numbers of valuations differ.
func (e *modelComparison) compareModels(ctx context.Context, other *plannedModel) error {
	if len(other.instances) != len(e.model.instances) {
		return fmt.Errorf("the constants of %s have %d valuations, those of %s %d", e.model.plan.Job.File, len(e.model.instances), other.plan.Job.File, len(other.instances))
	}
	names := modelNames([]*plannedModel{e.model, other})
	config := runner.EngineConfig{Label: names[1]}
	if e.model.plan.Job.States != nil || other.plan.Job.States != nil {
		config.Accuracy = result.Float // files of states usually have rounded numbers
	}
	for i, first := range e.model.instances {
		second := other.instances[i]
		e.checkInstance(ctx, e.model, first)
		e.checkInstance(ctx, other, second)
		buildSecond := func(ctx context.Context, exact bool) (*explicit.ToolSpace, error) {
			space, err := second.space(ctx, exact)
			return &explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, AllActions: err == nil && !space.Imported()}, err
		}
		e.compareInstance(ctx, first, names[0], &config, buildSecond)
		first.Forget()
		second.Forget()
	}
	return nil
}

// compareTools compares the model with the state space that each engine builds of it.
func (e *modelComparison) compareTools(ctx context.Context, engines []runner.EngineConfig) {
	for _, instance := range e.model.instances {
		e.checkInstance(ctx, e.model, instance)
		for i := range engines {
			tool, ok := runner.As[StateBuilder](engines[i].Engine)
			if !ok {
				continue
			}
			build := func(ctx context.Context, exact bool) (*explicit.ToolSpace, error) {
				return tool.States(ctx, e.planWithNumbers(exact), instance.valuation)
			}
			e.compareInstance(ctx, instance, "native", &engines[i], build)
		}
		instance.Forget()
	}
}

// planWithNumbers returns the plan of the model with fractions or with float64 numbers.
func (e *modelComparison) planWithNumbers(exact bool) *runner.Plan {
	return e.model.plan.WithSettings(func(settings *runner.Settings) {
		settings.Numeric.Accuracy = result.Float
		if exact {
			settings.Numeric.Accuracy = result.Exact
		}
	})
}

// checkInstance does the strict check of an instance of a model, and appends the check to the result.
func (e *modelComparison) checkInstance(ctx context.Context, model *plannedModel, instance *instance) {
	instance.runStrictCheck(ctx, model.plan, e.options)
	e.result.Models = append(e.result.Models, instance.strictCheck)
}

// buildFunc builds a state space, with fractions if exact is true and otherwise with float64 numbers.
type buildFunc func(ctx context.Context, exact bool) (*explicit.ToolSpace, error)

// compareInstance compares the state space of an instance with the space that buildSecond returns, and adds the comparison to the result. The report
// calls the first space firstName, and the second space by the name of the engine.
func (e *modelComparison) compareInstance(ctx context.Context, tested *instance, firstName string, engine *runner.EngineConfig, buildSecond buildFunc) {
	comparison := Comparison{
		Diagnosis: Diagnosis{First: firstName, Second: engine.DisplayName(), Constants: tested.strictCheck.Constants},
		States:    tested.strictCheck.States, Choices: tested.strictCheck.Choices, Transitions: tested.strictCheck.Transitions,
	}
	if err := comparison.compareAccurately(ctx, tested, engine.Accuracy, buildSecond); err != nil {
		comparison.Err = check.Failure(err, "", syntax.Pos{})
	}
	e.result.Comparisons = append(e.result.Comparisons, comparison)
}

// compareAccurately compares two state spaces as fractions or as float64 numbers, as the accuracy demands. If the accuracy is unknown, it tries
// fractions first, then float64 numbers.
func (c *Comparison) compareAccurately(ctx context.Context, tested *instance, accuracy result.Accuracy, buildSecond buildFunc) error {
	wasBuilt := tested.strictCheck.Validity == Valid || tested.strictCheck.Validity == Broken
	if !wasBuilt {
		_, err := tested.Space(ctx) // the error says why there is no state space
		return err
	}
	c.Exact = accuracy == result.Unknown || accuracy == result.Exact
	err := c.compareSpaces(ctx, tested, buildSecond)
	if err != nil && accuracy == result.Unknown && retryWithFloats(err) {
		c.addRemarks(c.Second, "compared as float64 numbers, not as fractions: "+err.Error())
		c.Exact = false
		err = c.compareSpaces(ctx, tested, buildSecond)
	}
	return err
}

// retryWithFloats reports whether a failed exact comparison may succeed with float64 numbers.
func retryWithFloats(err error) bool {
	if ending.Requested(err) {
		return false
	}
	failure, ok := errors.AsType[*result.Failure](err)
	if !ok {
		return true
	}
	wasStopped := failure.Class == result.Interrupted || failure.Class == result.Timeout
	return !wasStopped && !refusesText(failure)
}

// refusesText reports whether a tool refuses a model because of its text.
func refusesText(failure *result.Failure) bool {
	return failure.Class == result.Parse || failure.Class == result.TypeError || failure.Class == result.Model
}

// compareSpaces compares the state space of an instance with the space that buildSecond returns. It sets Difference if they differ, or if only one of
// them can be built. It returns an error if there is nothing to compare.
func (c *Comparison) compareSpaces(ctx context.Context, tested *instance, buildSecond buildFunc) error {
	second, secondErr := buildSecond(ctx, c.Exact)
	if tested.strictCheck.Validity != Valid {
		return c.firstRefused(tested, second, secondErr)
	}
	if secondErr != nil {
		return c.secondRefused(ctx, tested, secondErr)
	}
	first, err := tested.space(ctx, c.Exact)
	if err != nil {
		return err
	}
	c.Difference, err = Diff(ctx, builtSpace(c.First, first), NamedSpace{c.Second, *second})
	if err != nil {
		return err
	}
	model := second.Space.Model()
	c.SecondStates, c.SecondChoices, c.SecondTransitions = model.NumStates(), model.NumChoices(), model.NumTransitions()
	c.addRemarks(c.First, first.Warnings()...)
	c.addRemarks(c.Second, slices.Concat(second.Notes, second.Space.Warnings())...)
	return nil
}

// addRemarks adds remarks about one of the spaces, with its name and the values of the constants.
func (c *Comparison) addRemarks(name string, remarks ...string) {
	for _, remark := range remarks {
		c.Remarks = append(c.Remarks, strings.TrimSpace(name+" "+result.Valuation(c.Constants).String())+": "+remark)
	}
}

// firstRefused records as the Difference that the first tool refuses the model and the second accepts it. It returns an error if both refuse the
// model.
func (c *Comparison) firstRefused(tested *instance, second *explicit.ToolSpace, secondErr error) error {
	if secondErr != nil {
		return fmt.Errorf("both refuse the model: %w; %w", tested.strictCheck.Failure, secondErr)
	}
	c.Difference = &Difference{Kind: Refused, First: "refused (" + tested.strictCheck.Failure.Error() + ")", Second: builtText(second.Space.Model().NumStates())}
	return nil
}

// secondRefused sets Difference if the second tool refuses the text of a model that the first tool accepts. It returns all other errors.
func (c *Comparison) secondRefused(ctx context.Context, tested *instance, err error) error {
	failure, ok := errors.AsType[*result.Failure](err)
	if !ok || !refusesText(failure) {
		return err
	}
	if c.Exact && !tested.buildsExactly(ctx) {
		return fmt.Errorf("both refuse the model in exact arithmetic: %v", err) // both may accept it with float64 numbers
	}
	c.Difference = &Difference{Kind: Refused, First: builtText(tested.strictCheck.States), Second: "refused (" + failure.Error() + ")"}
	return nil
}

// buildsExactly reports whether the state space of the instance can be built with fractions as weights.
func (in *instance) buildsExactly(ctx context.Context) bool {
	_, err := in.Exact(ctx)
	return err == nil
}

// builtText says that a state space was built, and its size.
func builtText(states int) string { return fmt.Sprintf("built, %s", noun.Count(states, "state")) }

// ExitCode returns ExitDisagree if a comparison found a difference, and ExitAgree if all comparisons found none. If a comparison is missing, it
// returns ExitLimit for a limit of time or memory, and ExitOpen for other reasons.
func (e *Equality) ExitCode() int {
	code := ExitAgree
	for i := range e.Comparisons {
		comparison := &e.Comparisons[i]
		switch comparison.Verdict() {
		case Different:
			return ExitDisagree
		case NotCompared:
			code = max(code, ExitOpen)
			if comparison.Err.Class.Limited() {
				code = ExitLimit
			}
		}
	}
	return code
}

// Count returns the number of comparisons with the given verdict.
func (e *Equality) Count(verdict Equal) int {
	count := 0
	for i := range e.Comparisons {
		if e.Comparisons[i].Verdict() == verdict {
			count++
		}
	}
	return count
}
