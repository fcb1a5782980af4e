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

// Beside returns an engine that checks the model while the given engine runs. If
// the model, or a reward structure of the property, is invalid, the verdict gets an
// error of class model. If the model has too many states for the check, or its
// kind is not supported here, the verdict gets a warning.
func (c *Checker) Beside(engine runner.Engine) runner.Engine { return &beside{engine, c} }

// beside is an engine that checks the model while the tool runs.
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

// Check implements runner.Engine. It checks the model at the same time as the tool runs, because a tool may never finish on an invalid model. If
// some properties are invalid and the tool does not answer soon, Check stops the tool and runs it again on the valid properties.
func (b *beside) Check(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error) {
	isSampled := plan.Job.Method != "" && plan.Job.Method != runner.States
	if isSampled {
		return b.Engine.Check(ctx, plan)
	}
	// Check the model and run the tool at the same time.
	checkCtx, stopCheck := context.WithCancel(ctx)
	defer stopCheck()
	modelChecked := make(chan []finding, 1)
	go func() { modelChecked <- b.findings(checkCtx, plan) }()
	toolCtx, stopTool := context.WithCancel(ctx)
	defer stopTool()
	toolAnswered := make(chan toolAnswer, 1)
	go func() {
		verdicts, err := b.Engine.Check(toolCtx, plan)
		toolAnswered <- toolAnswer{verdicts, err}
	}()
	// After an error of the tool, the result of the model check is not needed.
	var findings []finding
	var answer toolAnswer
	select {
	case answer = <-toolAnswered:
		if answer.err != nil {
			stopCheck()
		}
		findings = <-modelChecked
	case findings = <-modelChecked:
		answer = b.awaitTool(ctx, plan, findings, toolAnswered, stopTool)
	}
	for i := range min(len(answer.verdicts), len(findings)) {
		b.addFinding(&answer.verdicts[i], findings[i])
	}
	return answer.verdicts, answer.err
}

// awaitTool waits for the answer of the tool after the model has been checked. If some properties are invalid and the tool does not answer within
// Checker.Patience, it stops the tool and runs it again on the valid properties.
func (b *beside) awaitTool(ctx context.Context, plan *runner.Plan, findings []finding, answered <-chan toolAnswer, stopTool func()) toolAnswer {
	tasks := validTasks(plan, findings)
	if len(tasks) == len(plan.Tasks) {
		return <-answered
	}
	select {
	case answer := <-answered:
		return answer
	case <-time.After(b.checker.Patience):
	}
	stopTool()
	answer := <-answered
	if answer.err != nil && ctx.Err() == nil {
		return b.checkValid(ctx, plan, tasks)
	}
	return answer
}

// validTasks returns the indices of the tasks that may be valid: for at least one valuation of the constants, no error was found in the model and
// in the rewards. The findings are in the order of the tool's verdicts.
func validTasks(plan *runner.Plan, findings []finding) []int {
	mayBeValid := func(candidate finding) bool { return candidate.Validity != Broken && candidate.rewardError == nil }
	isValid := make(map[int]bool) // by the index of the task
	for range plan.Models() {
		for i, task := range plan.Tasks {
			count := max(1, verdictCount(task))
			if slices.ContainsFunc(findings[:count], mayBeValid) {
				isValid[i] = true
			}
			findings = findings[count:]
		}
	}
	var tasks []int
	for i := range plan.Tasks {
		if isValid[i] {
			tasks = append(tasks, i)
		}
	}
	return tasks
}

// checkValid runs the tool on the tasks with the given indices only. It returns verdicts for all tasks of the plan: a task that was left out has a failure.
func (b *beside) checkValid(ctx context.Context, plan *runner.Plan, tasks []int) toolAnswer {
	var toolVerdicts []result.Verdict
	if len(tasks) > 0 {
		validPlan, err := plan.Part(tasks, nil)
		if err != nil {
			return toolAnswer{err: err}
		}
		if toolVerdicts, err = b.Engine.Check(ctx, validPlan); err != nil {
			return toolAnswer{err: err}
		}
	}
	var verdicts []result.Verdict
	for model := range plan.Models() {
		for i, task := range plan.Tasks {
			if !slices.Contains(tasks, i) {
				verdicts = append(verdicts, b.stoppedVerdicts(task, model)...)
				continue
			}
			count := min(max(1, verdictCount(task)), len(toolVerdicts))
			verdicts = append(verdicts, toolVerdicts[:count]...)
			toolVerdicts = toolVerdicts[count:]
		}
	}
	return toolAnswer{verdicts: verdicts}
}

// stoppedVerdicts returns failures for a task on which the tool was stopped: one for each valuation of the constants of the property.
func (b *beside) stoppedVerdicts(task *runner.Task, model sema.Valuation) []result.Verdict {
	stopped := result.Verdict{
		Property: task.Text, Name: task.Name, Engine: b.Name(), Method: string(runner.States), Constants: runner.Constants(model),
		Err: &result.Failure{Class: result.Timeout, Message: "was stopped before it had an answer"},
	}
	if rejected := task.Rejected; rejected != nil {
		stopped.Err = &result.Failure{Class: task.Class, Message: rejected.Msg, File: rejected.File, Pos: rejected.Pos}
		return []result.Verdict{stopped}
	}
	var verdicts []result.Verdict
	for values := range task.Valuations() {
		stopped.Constants = runner.Constants(model, values)
		verdicts = append(verdicts, stopped)
	}
	return verdicts
}

// finding is the result of the check of the model that a verdict is about.
type finding struct {
	Check
	isIncomplete bool            // the check did not finish in time
	rewardError  *result.Failure // an invalid reward structure of the property; nil if there is none
}

// findings checks the model under every valuation of its constants. It returns one finding for each verdict of the tool, in the same order.
func (b *beside) findings(ctx context.Context, plan *runner.Plan) []finding {
	quiet := plan.WithOutputs(func(outputs *runner.Outputs) { outputs.Progress = nil }) // only the tool reports progress
	limits := Limits{MaxStates: plan.Job.Numeric.MaxStates}
	if limits.MaxStates == 0 {
		limits.MaxStates = BesideStates
	}
	var findings []finding
	for model := range plan.Models() {
		instance := b.checker.Instance(ctx, quiet, model, limits)
		for _, task := range plan.Tasks {
			modelFinding := finding{Check: instance.Check}
			if modelFinding.Validity == Valid {
				modelFinding.rewardError = instance.checkRewards(ctx, task, plan.Job.File)
			}
			modelFinding.isIncomplete = ctx.Err() != nil
			findings = append(findings, slices.Repeat([]finding{modelFinding}, max(1, verdictCount(task)))...)
		}
		instance.Forget()
	}
	return findings
}

// verdictCount returns the number of verdicts about a task for one valuation of the model's constants: one for each valuation of the property's
// constants. It returns 0 if the task was rejected.
func verdictCount(task *runner.Task) int {
	if task.Rejected != nil {
		return 0
	}
	count := 0
	for range task.Valuations() {
		count++
	}
	return count
}

// addFinding changes a verdict of the tool to a failure if the model is invalid. It adds a warning if the model was not checked completely.
func (b *beside) addFinding(verdict *result.Verdict, modelFinding finding) {
	switch {
	case verdict.Err != nil && !mayBeInvalid(verdict.Err):
		return // the model is not the cause
	case modelFinding.isIncomplete:
		verdict.Warnings = append(verdict.Warnings, "the model was not checked beside the tool: there was no time left")
	case modelFinding.Validity == Broken:
		invalidate(verdict, b.Name(), modelFinding.Failure)
	case modelFinding.rewardError != nil:
		invalidate(verdict, b.Name(), modelFinding.rewardError)
	case modelFinding.Validity == Sampled:
		verdict.Warnings = append(verdict.Warnings, "the model was not checked in every state: "+modelFinding.Note)
	case modelFinding.Validity == NotChecked:
		verdict.Warnings = append(verdict.Warnings, "the model was not checked beside the tool: "+modelFinding.Failure.Message)
	}
}

// mayBeInvalid reports whether an invalid model can be the cause of a failure of a tool.
func mayBeInvalid(failure *result.Failure) bool {
	switch failure.Class {
	case result.Timeout, result.Memory, result.Killed, result.NonConverge, result.Truncated, result.Other:
		return true
	}
	return false
}

// invalidate changes a verdict to a failure of class Model. The message has the cause, and says how the tool answered.
func invalidate(verdict *result.Verdict, tool string, cause *result.Failure) {
	failure := *cause
	failure.Class = result.Model
	if verdict.Err != nil {
		failure.Message += " (" + tool + ": " + verdict.Err.Message + ")"
	} else {
		failure.Message += " (" + tool + " accepts it)"
	}
	*verdict = result.Verdict{
		Property: verdict.Property, Name: verdict.Name, Constants: verdict.Constants, Engine: verdict.Engine, Tool: verdict.Tool, Method: verdict.Method,
		States: verdict.States, Choices: verdict.Choices, Transitions: verdict.Transitions, Seconds: verdict.Seconds, Warnings: verdict.Warnings, Err: &failure,
	}
}

// checkRewards returns a failure if a reward structure that the property uses is invalid; nil otherwise.
func (in *Instance) checkRewards(ctx context.Context, task *runner.Task, file string) *result.Failure {
	rewardIndices := usedRewards(in.Program, task)
	if len(rewardIndices) == 0 {
		return nil
	}
	space, err := in.Space(ctx)
	if err != nil {
		return nil
	}
	for _, i := range rewardIndices {
		if _, err := space.Reward(i); err != nil {
			return check.Failure(err, file, syntax.Pos{})
		}
	}
	return nil
}

// usedRewards returns the indices of the reward structures that a property uses.
func usedRewards(program *sema.Program, task *runner.Task) []int {
	var indices []int
	syntax.Inspect(task.Property.X, func(node syntax.Node) bool {
		operator, isReward := node.(*syntax.Reward)
		if !isReward {
			return true
		}
		i := rewardIndex(program, operator)
		if i >= 0 && i < len(program.Rewards) && !slices.Contains(indices, i) {
			indices = append(indices, i)
		}
		return true
	})
	return indices
}

// rewardIndex returns the index of the reward structure to which an operator R refers; -1 if it is unknown. The operator contains the name of the
// structure or its number from 1. Without both, it refers to the first structure.
func rewardIndex(program *sema.Program, operator *syntax.Reward) int {
	switch structure := operator.Struct.(type) {
	case nil:
		return 0
	case *syntax.Quoted:
		return slices.IndexFunc(program.Rewards, func(rewards sema.RewardStruct) bool { return rewards.Name == structure.Name })
	case *syntax.IntLit:
		return int(structure.Value) - 1
	}
	return -1
}
