package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/ending"
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
	// States, Choices and Transitions are the numbers of the first space.
	States, Choices, Transitions int
	Exact                        bool     // the weights were compared as fractions
	Remarks                      []string // known differences, and parts that were not compared
}

// Equal is a verdict of a Comparison.
type Equal string

// The verdicts.
const (
	Same        Equal = "same"
	Different   Equal = "different"
	NotCompared Equal = "not compared"
)

// Equal returns the verdict.
func (c *Comparison) Equal() Equal {
	switch {
	case c.Err != nil:
		return NotCompared
	case c.Difference != nil:
		return Different
	}
	return Same
}

// Models compares the state space of a model with those that the entrants build of its text or, if other is not nil,
// with that of the other model: states, choices, probabilities, rewards and labels. Probabilities are compared as
// fractions, unless that fails or the entrant has another accuracy. Entrants that cannot export a state space, such as
// the native engine, are left out.
//
// As for Run, the error means that there is nothing to compare. The fields of opt about values have no effect.
func Models(ctx context.Context, job runner.Job, other *runner.Job, entrants []runner.Entrant, opt Options) (*Equality, error) {
	start := time.Now()
	if err := opt.complete(&job); err != nil {
		return nil, err
	}
	tells := func(x runner.Entrant) bool { _, ok := runner.As[StateBuilder](x.Engine); return ok }
	if other == nil && !slices.ContainsFunc(entrants, tells) {
		return nil, errors.New(strings.Join(append([]string{"nobody to compare the model with: want PRISM, Storm or another model"}, opt.NotAsked...), "; "))
	}
	s, err := subjectOf(runner.PlanModel(ctx, job))
	if err != nil {
		return nil, err
	}
	out := &Equality{Notes: opt.NotAsked}
	e := &modelComparison{opt: &opt, ours: s, out: out}
	if other != nil {
		theirs, err := subjectOf(runner.PlanModel(ctx, *other))
		if err != nil {
			return nil, err
		}
		if err := e.compareModels(ctx, theirs); err != nil {
			return nil, err
		}
	} else {
		e.compareTools(ctx, entrants)
	}
	out.Seconds = time.Since(start).Seconds()
	return out, nil
}

// modelComparison is a run of Models.
type modelComparison struct {
	opt  *Options
	ours *subject
	out  *Equality
}

func (e *modelComparison) compareModels(ctx context.Context, theirs *subject) error {
	if len(theirs.instances) != len(e.ours.instances) {
		return fmt.Errorf("the constants of %s have %d valuations, those of %s %d", e.ours.plan.Job.File, len(e.ours.instances), theirs.plan.Job.File, len(theirs.instances))
	}
	called := names([]*subject{e.ours, theirs})
	x := runner.Entrant{Label: called[1]}
	if e.ours.plan.Job.States != nil || theirs.plan.Job.States != nil {
		x.Accuracy = result.Float // files of states usually have rounded numbers
	}
	for i, in := range e.ours.instances {
		e.checkInstance(ctx, e.ours, in)
		second := theirs.instances[i]
		e.checkInstance(ctx, theirs, second)
		e.compareInstance(ctx, in, called[0], &x, func(ctx context.Context, exact bool) (*explicit.ToolSpace, error) {
			space, err := second.space(ctx, exact)
			return &explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, AllActions: err == nil && !space.Imported()}, err
		})
		in.Forget()
		second.Forget()
	}
	return nil
}

func (e *modelComparison) compareTools(ctx context.Context, entrants []runner.Entrant) {
	for _, in := range e.ours.instances {
		e.checkInstance(ctx, e.ours, in)
		for i := range entrants {
			x := &entrants[i]
			tool, ok := runner.As[StateBuilder](x.Engine)
			if !ok {
				continue
			}
			e.compareInstance(ctx, in, "native", x, func(ctx context.Context, exact bool) (*explicit.ToolSpace, error) {
				plan := e.ours.plan.WithSettings(func(s *runner.Settings) {
					if s.Numeric.Accuracy = result.Float; exact {
						s.Numeric.Accuracy = result.Exact
					}
				})
				return tool.States(ctx, plan, in.valuation)
			})
		}
		in.Forget()
	}
}

func (e *modelComparison) checkInstance(ctx context.Context, s *subject, in *instance) {
	in.strict(ctx, s.plan, e.opt)
	e.out.Models = append(e.out.Models, in.check)
}

// compareInstance compares an instance with the space that theirs returns, as fractions if possible.
func (e *modelComparison) compareInstance(ctx context.Context, in *instance, ours string, entrant *runner.Entrant, theirs func(ctx context.Context, exact bool) (*explicit.ToolSpace, error)) {
	c := Comparison{
		Diagnosis: Diagnosis{First: ours, Second: entrant.Called(), Constants: in.check.Constants},
		States:    in.check.States, Choices: in.check.Choices, Transitions: in.check.Transitions,
	}
	var err error
	switch {
	case in.check.Validity != Valid && in.check.Validity != Broken:
		_, err = in.Space(ctx) // the error says why there is no state space
	case entrant.Accuracy == result.Unknown || entrant.Accuracy == result.Exact:
		c.Exact = true
		if err = c.compareSpaces(ctx, in, theirs); err != nil && entrant.Accuracy == result.Unknown && retryWithFloats(err) {
			c.Remarks = append(c.Remarks, "compared as doubles, not as fractions: "+err.Error())
			c.Exact = false
			err = c.compareSpaces(ctx, in, theirs)
		}
	default:
		err = c.compareSpaces(ctx, in, theirs)
	}
	if err != nil {
		c.Err = check.Failure(err, "", syntax.Pos{})
	}
	e.out.Comparisons = append(e.out.Comparisons, c)
}

// retryWithFloats reports whether an exact comparison that failed may succeed with float64 numbers: the model was not refused,
// and neither time nor the user stopped it.
func retryWithFloats(err error) bool {
	f, ok := errors.AsType[*result.Failure](err)
	return !ending.Requested(err) && (!ok || !refusesText(f) && f.Class != result.Interrupted && f.Class != result.Timeout)
}

// refusesText reports whether a tool refuses a model because of its text.
func refusesText(f *result.Failure) bool {
	return f.Class == result.Parse || f.Class == result.TypeError || f.Class == result.Model
}

// compareSpaces compares the two state spaces. A model that only one tool accepts is a difference.
func (c *Comparison) compareSpaces(ctx context.Context, in *instance, theirs func(ctx context.Context, exact bool) (*explicit.ToolSpace, error)) error {
	second, refused := theirs(ctx, c.Exact)
	f, ok := errors.AsType[*result.Failure](refused)
	valid := in.check.Validity == Valid
	switch {
	case !valid && refused == nil:
		c.Difference = &Difference{Kind: Refused, First: "refused (" + in.check.Failure.Error() + ")", Second: builtText(second.Space.Model().NumStates())}
		return nil
	case !valid:
		return fmt.Errorf("both refuse the model: %w; %w", in.check.Failure, refused)
	case c.Exact && ok && refusesText(f) && !in.buildsExactly(ctx):
		return fmt.Errorf("both refuse the model in exact arithmetic: %v", refused) // both may accept it with float64 numbers
	case ok && refusesText(f):
		c.Difference = &Difference{Kind: Refused, First: builtText(in.check.States), Second: "refused (" + f.Error() + ")"}
		return nil
	case refused != nil:
		return refused
	}
	ours, err := in.space(ctx, c.Exact)
	if err == nil {
		c.Difference, err = Diff(ctx, builtSide(c.First, ours), Side{c.Second, *second})
	}
	if err == nil {
		c.Remarks = append(c.Remarks, second.Notes...)
		c.Remarks = append(c.Remarks, second.Space.Warnings()...)
	}
	return err
}

// buildsExactly reports whether the state space can be built with fractions.
func (in *instance) buildsExactly(ctx context.Context) bool {
	_, err := in.Exact(ctx)
	return err == nil
}

func builtText(states int) string { return fmt.Sprintf("built, %d states", states) }

// ExitCode returns ExitDisagree if a comparison found a difference; otherwise ExitLimit or ExitOpen if one was not
// compared, with and without a limit of time or memory as the cause; otherwise ExitAgree.
func (e *Equality) ExitCode() int {
	code := ExitAgree
	for i := range e.Comparisons {
		switch c := &e.Comparisons[i]; c.Equal() {
		case Different:
			return ExitDisagree
		case NotCompared:
			if code = max(code, ExitOpen); c.Err.Class.Limited() {
				code = ExitLimit
			}
		}
	}
	return code
}

// Count returns the number of comparisons with a verdict.
func (e *Equality) Count(v Equal) int {
	n := 0
	for i := range e.Comparisons {
		if e.Comparisons[i].Equal() == v {
			n++
		}
	}
	return n
}
