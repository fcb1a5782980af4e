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

// BesideStates is the default limit of states for the check beside a tool.
const BesideStates = 1_000_000

// Beside returns an engine that runs the check of the model beside the given engine. If
// the model, or a reward structure of the property, is invalid, the verdict gets an
// error of class model. If the model has too many states for the check, or its
// kind is not supported here, the verdict gets a warning.
func (c *Checker) Beside(engine runner.Engine) runner.Engine { return &beside{engine, c} }

type beside struct {
	runner.Engine
	checker *Checker
}

// Unwrap returns the engine itself; see runner.As.
func (b *beside) Unwrap() runner.Engine { return b.Engine }

// toolAnswer is the answer of the tool.
type toolAnswer struct {
	verdicts []result.Verdict
	err      error
}

// Check implements runner.Engine. The model is checked while the tool runs, because a
// tool may never finish on an invalid model. If the check finds invalid properties, and the
// tool has not answered after Checker.Patience, it is stopped and started again with the valid
// properties.
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
	answered := make(chan toolAnswer, 1)
	go func() {
		verdicts, err := b.Engine.Check(running, p)
		answered <- toolAnswer{verdicts, err}
	}()
	var findings []finding
	var a toolAnswer
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
				a = b.checkValid(ctx, p, valid)
			}
		}
	}
	for i := range a.verdicts[:min(len(a.verdicts), len(findings))] {
		b.addFinding(&a.verdicts[i], findings[i])
	}
	return a.verdicts, a.err
}

// validTasks returns the indices of the tasks that are not known to be invalid under every valuation.
func validTasks(p *runner.Plan, findings []finding) []int {
	valid := make([]bool, len(p.Tasks))
	for range p.Models() {
		for i, t := range p.Tasks {
			n := max(1, verdictCount(t))
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

// checkValid runs the tool on the valid tasks. The verdicts of the other tasks say that the run was stopped.
func (b *beside) checkValid(ctx context.Context, p *runner.Plan, tasks []int) (a toolAnswer) {
	var fromTool []result.Verdict
	if len(tasks) > 0 {
		part, err := p.Part(tasks, nil)
		if err != nil {
			return toolAnswer{err: err}
		}
		if fromTool, a.err = b.Engine.Check(ctx, part); a.err != nil {
			return a
		}
	}
	for model := range p.Models() {
		for i, t := range p.Tasks {
			if slices.Contains(tasks, i) {
				n := min(max(1, verdictCount(t)), len(fromTool))
				a.verdicts, fromTool = append(a.verdicts, fromTool[:n]...), fromTool[n:]
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

// finding is the result of the check for a verdict.
type finding struct {
	Check
	late    bool            // the check did not finish in time
	rewards *result.Failure // of a reward structure of the property
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
				f.rewards = in.checkRewards(ctx, t, p.Job.File)
			}
			f.late = ctx.Err() != nil
			out = append(out, slices.Repeat([]finding{f}, max(1, verdictCount(t)))...)
		}
		in.Forget()
	}
	return out
}

// verdictCount is the number of verdicts of a task under one valuation of the model's constants.
func verdictCount(t *runner.Task) int {
	n := 0
	if t.Rejected == nil {
		for range t.Valuations() {
			n++
		}
	}
	return n
}

// addFinding changes the verdict of the tool by the finding.
func (b *beside) addFinding(v *result.Verdict, f finding) {
	switch {
	case v.Err != nil && !mayBeInvalid(v.Err):
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

// mayBeInvalid reports whether an invalid model can be the cause of a failure: a tool
// may crash on an infinite rate, and may not finish if a reward is NaN.
func mayBeInvalid(f *result.Failure) bool {
	switch f.Class {
	case result.Timeout, result.Memory, result.Killed, result.NonConverge, result.Truncated, result.Other:
		return true
	}
	return false
}

// invalidate replaces the value of a verdict by a failure.
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

// checkRewards returns the failure of a reward structure that the property uses.
func (in *Instance) checkRewards(ctx context.Context, t *runner.Task, file string) *result.Failure {
	used := usedRewards(in.Program, t)
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

// usedRewards lists the reward structures that a property names, by name or by
// number.
func usedRewards(prog *sema.Program, t *runner.Task) []int {
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
