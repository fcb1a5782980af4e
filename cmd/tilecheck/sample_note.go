package main

import (
	"fmt"

	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
	"tilecheck/stats"
)

// noteSamples prints about how many samples are necessary for the half-width that the user asks for.
func (e *environment) noteSamples(plan *runner.Plan) {
	simulation := &plan.Job.Simulation
	method := plan.Job.Method
	widthSetsSamples := simulation.Width != 0 && simulation.Samples == 0 && method != runner.States && method != runner.SPRT && !method.IsSplitting()
	if !widthSetsSamples || e.quiet {
		return
	}
	hasProbability, hasReward := sampledQuantities(plan.Tasks, method)
	maxSamples := stats.MostSamples(simulation.Width, simulation.Confidence)
	if simulation.Valid {
		maxSamples = stats.MostValidSamples(simulation.Width, simulation.Confidence)
	}
	switch {
	case hasProbability:
		fmt.Fprintf(e.stderr, "note: a half-width of %g takes about %.0f samples for a probability near 1/2, and fewer for other probabilities", simulation.Width, maxSamples)
		if hasReward {
			fmt.Fprint(e.stderr, "; for a reward the number depends on the variance")
		}
		fmt.Fprintln(e.stderr)
	case hasReward:
		fmt.Fprintf(e.stderr, "note: how many samples a half-width of %g takes depends on the variance of the reward, which only the samples show\n", simulation.Width)
	}
}

// sampledQuantities reports whether the half-width decides how many samples of a probability or a reward are drawn. The method sim decides bounds
// by SPRT, whose number of samples has another reason.
func sampledQuantities(tasks []*runner.Task, method runner.Method) (hasProbability, hasReward bool) {
	for _, task := range tasks {
		if task.Property == nil {
			continue
		}
		operator := logic.Read(task.Property.X)
		if operator.Kind == logic.Strategy {
			operator = logic.Read(operator.Within)
		}
		isSampledToWidth := operator.Rel == syntax.OpNone || method != runner.Sim
		hasProbability = hasProbability || operator.Kind == logic.Probability && isSampledToWidth
		hasReward = hasReward || operator.Kind == logic.Reward && isSampledToWidth
	}
	return hasProbability, hasReward
}
