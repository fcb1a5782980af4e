package validity

import (
	"context"
	"slices"

	"tilecheck/native/explicit/check"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// BesideStates is how many states are looked at beside a tool by default.
const BesideStates = 1_000_000

// Beside returns the engine with the strict check of the model beside it. What a
// tool says of a model that is wrong is an error of class model, as is what it
// says of rewards that the model may not have; where the model has too many
// states for the check, or is of a kind that is not checked here, the verdict
// has a warning.
func (c *Checker) Beside(engine runner.Engine) runner.Engine { return &beside{engine, c} }

type beside struct {
	runner.Engine
	checker *Checker
}

// Unwrap returns the engine itself; see runner.As.
func (b *beside) Unwrap() runner.Engine { return b.Engine }

// Check implements runner.Engine.
func (b *beside) Check(ctx context.Context, p *runner.Plan) ([]result.Verdict, error) {
	verdicts, err := b.Engine.Check(ctx, p)
	if err != nil || p.Job.Method != "" && p.Job.Method != runner.Exact {
		return verdicts, err
	}
	quiet := p.With(func(job *runner.Job) { job.Progress = nil }) // of the tool, whose it is
	limits := Limits{MaxStates: p.Job.Numeric.MaxStates}
	if limits.MaxStates == 0 {
		limits.MaxStates = BesideStates
	}
	i := 0
	for model := range p.Models() {
		in := b.checker.Instance(ctx, quiet, model, limits)
		for _, t := range p.Tasks {
			for range max(1, count(t)) {
				if i < len(verdicts) {
					b.judge(ctx, &verdicts[i], in, t, p.Job.File)
				}
				i++
			}
		}
		in.Forget()
	}
	return verdicts, nil
}

// count is the number of verdicts of a task under one valuation of the model's constants.
func count(t *runner.Task) int {
	n := 0
	if t.Rejected == nil {
		for range t.Valuations() {
			n++
		}
	}
	return n
}

func (b *beside) judge(ctx context.Context, v *result.Verdict, in *Instance, t *runner.Task, file string) {
	if v.Err != nil {
		return
	}
	if ctx.Err() != nil {
		v.Warnings = append(v.Warnings, "the model was not checked beside the tool: there was no time left")
		return
	}
	switch c := &in.Check; c.Validity {
	case Broken:
		invalidate(v, b.Name(), c.Failure)
	case Valid:
		if f := in.rewards(ctx, t, file); f != nil {
			invalidate(v, b.Name(), f)
		}
	case Sampled:
		v.Warnings = append(v.Warnings, "the model was not checked in every state: "+c.Note)
	case NotChecked:
		v.Warnings = append(v.Warnings, "the model was not checked beside the tool: "+c.Failure.Message)
	}
}

// invalidate takes the value from a verdict.
func invalidate(v *result.Verdict, tool string, f *result.Failure) {
	failure := *f
	failure.Class = result.Model
	failure.Message += " (" + tool + " accepts it)"
	*v = result.Verdict{
		Property: v.Property, Name: v.Name, Constants: v.Constants, Engine: v.Engine, Tool: v.Tool, Method: v.Method,
		States: v.States, Choices: v.Choices, Transitions: v.Transitions, Seconds: v.Seconds, Warnings: v.Warnings, Err: &failure,
	}
}

// rewards says what is wrong with the reward structures that a property uses.
func (in *Instance) rewards(ctx context.Context, t *runner.Task, file string) *result.Failure {
	used := structures(in.Program, t)
	if len(used) == 0 {
		return nil
	}
	space, err := in.Space(ctx)
	if err != nil {
		return nil
	}
	for _, i := range used {
		if _, err := space.Reward(i); err != nil {
			return check.Failure(err, file, syntax.Pos{})
		}
	}
	return nil
}

// structures lists the reward structures that a property names; by a number, or
// by way of another property, it may be any of them.
func structures(prog *sema.Program, t *runner.Task) []int {
	var out []int
	add := func(i int) {
		if i >= 0 && i < len(prog.Rewards) && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	syntax.Inspect(t.Property.X, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Reward)
		if !ok {
			return true
		}
		switch s := r.Struct.(type) {
		case nil:
			add(0)
		case *syntax.Quoted:
			add(slices.IndexFunc(prog.Rewards, func(x sema.RewardStruct) bool { return x.Name == s.Name }))
		case *syntax.IntLit:
			add(int(s.Value) - 1)
		}
		return true
	})
	return out
}
