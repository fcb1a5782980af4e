package validity

import (
	"context"
	"slices"
	"time"

	"tilecheck/native/check"
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

// answer is what the tool says.
type answer struct {
	verdicts []result.Verdict
	err      error
}

// Check implements runner.Engine. The model is checked while the tool runs: a
// tool may need all of the time for a model that has none. A run is ended where that
// finds properties to be invalid for which the tool has no answer a little later; it begins
// again with the others.
func (b *beside) Check(ctx context.Context, p *runner.Plan) ([]result.Verdict, error) {
	if p.Job.Method != "" && p.Job.Method != runner.States {
		return b.Engine.Check(ctx, p)
	}
	checking, stop := context.WithCancel(ctx)
	defer stop()
	found := make(chan []finding, 1)
	go func() { found <- b.findings(checking, p) }()
	running, end := context.WithCancel(ctx)
	defer end()
	answered := make(chan answer, 1)
	go func() {
		verdicts, err := b.Engine.Check(running, p)
		answered <- answer{verdicts, err}
	}()
	var findings []finding
	var a answer
	select {
	case a = <-answered:
		if a.err != nil {
			stop()
		}
		findings = <-found
	case findings = <-found:
		valid := validTasks(p, findings)
		if len(valid) == len(p.Tasks) {
			a = <-answered
			break
		}
		select {
		case a = <-answered:
		case <-time.After(b.checker.Patience):
			end()
			if a = <-answered; a.err != nil && ctx.Err() == nil {
				a = b.others(ctx, p, valid)
			}
		}
	}
	for i := range a.verdicts[:min(len(a.verdicts), len(findings))] {
		b.judge(&a.verdicts[i], findings[i])
	}
	return a.verdicts, a.err
}

// validTasks lists the tasks that are not known to be invalid under all valuations, by their
// numbers.
func validTasks(p *runner.Plan, findings []finding) []int {
	valid := make([]bool, len(p.Tasks))
	for range p.Models() {
		for i, t := range p.Tasks {
			n := max(1, count(t))
			for _, f := range findings[:n] {
				valid[i] = valid[i] || f.Validity != Broken && f.rewards == nil
			}
			findings = findings[n:]
		}
	}
	var out []int
	for i := range valid {
		if valid[i] {
			out = append(out, i)
		}
	}
	return out
}

// others asks the tool for some tasks. The others have the failure of a run that was ended.
func (b *beside) others(ctx context.Context, p *runner.Plan, tasks []int) (a answer) {
	var given []result.Verdict
	if len(tasks) > 0 {
		part, err := p.Part(tasks, nil)
		if err != nil {
			return answer{err: err}
		}
		if given, a.err = b.Engine.Check(ctx, part); a.err != nil {
			return a
		}
	}
	for model := range p.Models() {
		for i, t := range p.Tasks {
			if slices.Contains(tasks, i) {
				n := min(max(1, count(t)), len(given))
				a.verdicts, given = append(a.verdicts, given[:n]...), given[n:]
				continue
			}
			none := result.Verdict{
				Property: t.Text, Name: t.Name, Engine: b.Name(), Method: string(runner.States), Constants: runner.Constants(model),
				Err: &result.Failure{Class: result.Timeout, Message: "was ended, without an answer so far"},
			}
			if r := t.Rejected; r != nil {
				none.Err = &result.Failure{Class: t.Class, Message: r.Msg, File: r.File, Pos: r.Pos}
				a.verdicts = append(a.verdicts, none)
				continue
			}
			for values := range t.Valuations() {
				none.Constants = runner.Constants(model, values)
				a.verdicts = append(a.verdicts, none)
			}
		}
	}
	return a
}

// finding is what the check found for a verdict.
type finding struct {
	Check
	late    bool            // there was no time for it
	rewards *result.Failure // of a structure that the property uses
}

// findings checks the model under every valuation, in the order of the verdicts.
func (b *beside) findings(ctx context.Context, p *runner.Plan) []finding {
	quiet := p.WithOutputs(func(o *runner.Outputs) { o.Progress = nil }) // only the tool reports progress
	limits := Limits{MaxStates: p.Job.Numeric.MaxStates}
	if limits.MaxStates == 0 {
		limits.MaxStates = BesideStates
	}
	var out []finding
	for model := range p.Models() {
		in := b.checker.Instance(ctx, quiet, model, limits)
		for _, t := range p.Tasks {
			f := finding{Check: in.Check}
			if f.Validity == Valid {
				f.rewards = in.rewards(ctx, t, p.Job.File)
			}
			f.late = ctx.Err() != nil
			out = append(out, slices.Repeat([]finding{f}, max(1, count(t)))...)
		}
		in.Forget()
	}
	return out
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

func (b *beside) judge(v *result.Verdict, f finding) {
	switch {
	case v.Err != nil && !lost(v.Err):
	case f.late:
		v.Warnings = append(v.Warnings, "the model was not checked beside the tool: there was no time left")
	case f.Validity == Broken:
		invalidate(v, b.Name(), f.Failure)
	case f.rewards != nil:
		invalidate(v, b.Name(), f.rewards)
	case f.Validity == Sampled:
		v.Warnings = append(v.Warnings, "the model was not checked in every state: "+f.Note)
	case f.Validity == NotChecked:
		v.Warnings = append(v.Warnings, "the model was not checked beside the tool: "+f.Failure.Message)
	}
}

// lost reports whether a failure says nothing of what the tool was asked: an
// infinite rate is a crash, and a reward that is no number takes forever.
func lost(f *result.Failure) bool {
	switch f.Class {
	case result.Timeout, result.Memory, result.Killed, result.NonConverge, result.Truncated, result.Other:
		return true
	}
	return false
}

// invalidate takes the value from a verdict, or says why there is none.
func invalidate(v *result.Verdict, tool string, f *result.Failure) {
	failure := *f
	failure.Class = result.Model
	if v.Err != nil {
		failure.Message += " (" + tool + ": " + v.Err.Message + ")"
	} else {
		failure.Message += " (" + tool + " accepts it)"
	}
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
