package crosscheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/ending"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/check"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// Equality says whether others have the same states of a model as we.
type Equality struct {
	Models      []ModelCheck
	Comparisons []Comparison
	Notes       []string
	Seconds     float64
}

// Comparison compares two state spaces as a whole.
type Comparison struct {
	Diagnosis
	// States, Choices and Transitions are those of the first.
	States, Choices, Transitions int
	Exact                        bool     // numbers were compared as fractions
	Remarks                      []string // differences that are meant, and what was not compared
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

// Models compares the states of a model, as we build them, with those that every
// entrant builds of its text, or if there is one with those of the other model: all
// states, choices, probabilities, rewards and labels. Probabilities are fractions
// unless that fails, or the entrant's accuracy is something else. Entrants that tell
// of no states, such as our own engine, are left out.
//
// The error is for what leaves nothing to compare, as for Run. Of opt, what is about
// values has no meaning.
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
	e := &equality{opt: &opt, ours: s, out: out}
	if other != nil {
		theirs, err := subjectOf(runner.PlanModel(ctx, *other))
		if err != nil {
			return nil, err
		}
		if err := e.against(ctx, theirs); err != nil {
			return nil, err
		}
	} else {
		e.tools(ctx, entrants)
	}
	out.Seconds = time.Since(start).Seconds()
	return out, nil
}

// equality is a comparison of models under way.
type equality struct {
	opt  *Options
	ours *subject
	out  *Equality
}

func (e *equality) against(ctx context.Context, theirs *subject) error {
	if len(theirs.instances) != len(e.ours.instances) {
		return fmt.Errorf("the constants of %s have %d valuations, those of %s %d", e.ours.plan.Job.File, len(e.ours.instances), theirs.plan.Job.File, len(theirs.instances))
	}
	called := names([]*subject{e.ours, theirs})
	x := runner.Entrant{Label: called[1]}
	if e.ours.plan.Job.States != nil || theirs.plan.Job.States != nil {
		x.Accuracy = result.Float // files have rounded numbers, as a rule
	}
	for i, in := range e.ours.instances {
		e.instance(ctx, e.ours, in)
		second := theirs.instances[i]
		e.instance(ctx, theirs, second)
		e.compare(ctx, in, called[0], &x, func(ctx context.Context, exact bool) (*explicit.Told, error) {
			space, err := second.space(ctx, exact)
			return &explicit.Told{Space: space, Whole: true, Actions: err == nil && !space.Imported()}, err
		})
		in.Forget()
		second.Forget()
	}
	return nil
}

func (e *equality) tools(ctx context.Context, entrants []runner.Entrant) {
	for _, in := range e.ours.instances {
		e.instance(ctx, e.ours, in)
		for i := range entrants {
			x := &entrants[i]
			tool, ok := runner.As[StateBuilder](x.Engine)
			if !ok {
				continue
			}
			e.compare(ctx, in, "native", x, func(ctx context.Context, exact bool) (*explicit.Told, error) {
				plan := e.ours.plan.With(func(job *runner.Job) {
					if job.Numeric.Accuracy = result.Float; exact {
						job.Numeric.Accuracy = result.Exact
					}
				})
				return tool.States(ctx, plan, in.valuation)
			})
		}
		in.Forget()
	}
}

func (e *equality) instance(ctx context.Context, s *subject, in *instance) {
	in.strict(ctx, s.plan, e.opt)
	e.out.Models = append(e.out.Models, in.check)
}

// compare compares an instance with what a function returns, as fractions if that
// can be.
func (e *equality) compare(ctx context.Context, in *instance, ours string, x *runner.Entrant, theirs func(ctx context.Context, exact bool) (*explicit.Told, error)) {
	c := Comparison{
		Diagnosis: Diagnosis{First: ours, Second: x.Called(), Constants: in.check.Constants},
		States:    in.check.States, Choices: in.check.Choices, Transitions: in.check.Transitions,
	}
	var err error
	switch {
	case in.check.Validity != Valid && in.check.Validity != Broken:
		_, err = in.Space(ctx) // says why there are none
	case x.Accuracy == result.Unknown || x.Accuracy == result.Exact:
		c.Exact = true
		if err = c.states(ctx, in, theirs); err != nil && x.Accuracy == result.Unknown && fallible(err) {
			c.Remarks = append(c.Remarks, "compared as doubles, not as fractions: "+err.Error())
			c.Exact = false
			err = c.states(ctx, in, theirs)
		}
	default:
		err = c.states(ctx, in, theirs)
	}
	if err != nil {
		c.Err = check.Failure(err, "", syntax.Pos{})
	}
	e.out.Comparisons = append(e.out.Comparisons, c)
}

// fallible reports whether what fails with fractions may do without: neither was
// the model refused nor is there no time left.
func fallible(err error) bool {
	f, ok := errors.AsType[*result.Failure](err)
	return !ending.Requested(err) && (!ok || !ofText(f) && f.Class != result.Interrupted && f.Class != result.Timeout)
}

// ofText reports whether a tool refuses a model because of its text.
func ofText(f *result.Failure) bool {
	return f.Class == result.Parse || f.Class == result.TypeError || f.Class == result.Model
}

// states compares the states of both. A model that only one has is a difference.
func (c *Comparison) states(ctx context.Context, in *instance, theirs func(ctx context.Context, exact bool) (*explicit.Told, error)) error {
	told, refused := theirs(ctx, c.Exact)
	f, ok := errors.AsType[*result.Failure](refused)
	valid := in.check.Validity == Valid
	switch {
	case !valid && refused == nil:
		c.Difference = &Difference{Kind: Refused, First: "refused (" + in.check.Failure.Error() + ")", Second: built(told.Space.Model().NumStates())}
		return nil
	case !valid:
		return fmt.Errorf("both refuse the model: %w; %w", in.check.Failure, refused)
	case c.Exact && ok && ofText(f) && !in.exact(ctx):
		return fmt.Errorf("both refuse the model in exact arithmetic: %v", refused) // and may accept it in doubles
	case ok && ofText(f):
		c.Difference = &Difference{Kind: Refused, First: built(in.check.States), Second: "refused (" + f.Error() + ")"}
		return nil
	case refused != nil:
		return refused
	}
	ours, err := in.space(ctx, c.Exact)
	if err == nil {
		c.Difference, err = Diff(ctx, ofModel(c.First, ours), Side{c.Second, *told})
	}
	if err == nil {
		c.Remarks = append(c.Remarks, told.Notes...)
		c.Remarks = append(c.Remarks, told.Space.Warnings()...)
	}
	return err
}

// exact reports whether the model has states with fractions.
func (in *instance) exact(ctx context.Context) bool {
	_, err := in.Exact(ctx)
	return err == nil
}

func built(states int) string { return fmt.Sprintf("built, %d states", states) }

// ExitCode is ExitDisagree if a model is different, else ExitOpen if one was not
// compared, but ExitLimit where a limit of time or memory was reached; else ExitAgree.
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
