package main

import (
	"fmt"

	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
	"tilecheck/stats"
)

// noteSamples prints a note with the approximate number of samples that the wanted half-width needs. It prints nothing if the half-width does not determine
// this number.
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

// sampledQuantities reports whether a probability or a reward is sampled until the half-width is reached, so that the half-width determines the number of
// samples. This is not so for bounds such as P>=0.5 with the method sim, because SPRT decides them.
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
