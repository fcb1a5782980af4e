package crosscheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tilecheck/result"
	"tilecheck/runner"
)

// sampleGrowth is the ratio of the numbers of samples of successive draws.
const sampleGrowth = 4

// askEngines asks every engine once, and then the sampling engines again in rounds (draws) with more samples each time. The first draw has the number 1. It
// stops when more samples cannot decide a row, or when a limit of samples or time is reached.
func (c *comparison) askEngines(ctx context.Context) {
	samples := c.firstSamples()
	for draw := 1; ; draw++ {
		for engine, run := range c.engineRuns {
			if draw == 1 {
				c.recordVerdicts(engine, c.askEngine(ctx, run, c.rowsToCheck, draw, samples), c.rowsToCheck, draw)
			} else {
				c.askForMoreSamples(ctx, engine, draw, samples)
			}
		}
		undecided := c.compareRows(draw)
		samples *= sampleGrowth
		outOfTime := c.options.Time > 0 && time.Since(c.start) > c.options.Time
		if !undecided {
			return
		}
		if samples > c.options.MaxSamples || ctx.Err() != nil || outOfTime {
			c.noteExhausted()
			return
		}
	}
}

// compareRows compares the answers of each row that got new answers in this draw. It reports whether more samples may decide some row.
func (c *comparison) compareRows(draw int) bool {
	undecided := false
	for _, row := range c.rowsToCheck {
		hasNewAnswers := draw == 1 || slices.Contains(row.needsSamples, true)
		if hasNewAnswers && row.compareAnswers(c) && !c.skipIfBroken(row) {
			undecided = true
		}
	}
	return undecided
}

// firstSamples returns the number of samples in the first draw: the number that the job asks for, or DefaultSamples.
func (c *comparison) firstSamples() int64 {
	samples := c.models[0].plan.Job.Simulation.Samples
	setDefault(&samples, DefaultSamples)
	return samples
}

// skipIfBroken reports whether the strict check found an error in a model of the row. If so, it clears needsSamples of the row, because no samples can decide a
// row with an invalid model.
func (c *comparison) skipIfBroken(row *row) bool {
	for _, model := range c.models {
		if model.instances[row.instance].strictCheck.Validity == Broken {
			clear(row.needsSamples)
			return true
		}
	}
	return false
}

// noteExhausted adds to the reason of each undecided row that no more samples are drawn, if more samples could have decided the row.
func (c *comparison) noteExhausted() {
	for _, row := range c.rowsToCheck {
		if row.Status == Undecided && slices.Contains(row.needsSamples, true) {
			row.Reason += "; no more samples are drawn"
		}
	}
}

// askForMoreSamples asks one engine for more samples of the rows that need them, and records its answers. It asks once for all rows with the same
// constants.
func (c *comparison) askForMoreSamples(ctx context.Context, engine, draw int, samples int64) {
	rowsByValuation := make(map[string][]*row)
	var valuations []string // the keys of rowsByValuation, in the order of the rows
	for _, row := range c.rowsToCheck {
		if !row.needsSamples[engine] {
			continue
		}
		valuation := result.Valuation(row.Constants).String()
		if rowsByValuation[valuation] == nil {
			valuations = append(valuations, valuation)
		}
		rowsByValuation[valuation] = append(rowsByValuation[valuation], row)
	}
	for _, valuation := range valuations {
		verdicts := c.askEngine(ctx, c.engineRuns[engine], rowsByValuation[valuation], draw, samples)
		c.recordVerdicts(engine, verdicts, rowsByValuation[valuation], draw)
	}
}

// recordVerdicts records the verdicts that one engine returned in a draw: verdicts[i] is about rows[i].
func (c *comparison) recordVerdicts(engine int, verdicts []result.Verdict, rows []*row, draw int) {
	for i, row := range rows {
		row.recordAnswer(engine, c.engineRuns[engine], &verdicts[i], c.confidenceLevel(draw))
	}
}

// askEngine lets an engine check rows. It returns a verdict for every row, even if the engine fails. After the first draw all rows must have the same
// constants.
func (c *comparison) askEngine(ctx context.Context, run *engineRun, rows []*row, draw int, samples int64) []result.Verdict {
	plan := run.model.plan.WithSettings(func(settings *runner.Settings) { c.configure(settings, run, draw, samples) })
	if draw > 1 || len(rows) < len(c.allRows) {
		var constants []string // nil means all valuations
		severalValuations := len(c.allRows) > len(plan.Tasks)
		if draw > 1 && severalValuations {
			constants = constantsOf(rows[0])
		}
		rowsPlan, err := plan.Part(tasksOf(rows), constants)
		if err != nil {
			return alignVerdicts(rows, nil, err)
		}
		plan = rowsPlan
	}
	verdicts, err := run.Engine.Check(ctx, plan)
	return alignVerdicts(rows, verdicts, err)
}

// tasksOf returns the indices of the tasks of rows, without duplicates.
func tasksOf(rows []*row) []int {
	var tasks []int
	for _, row := range rows {
		if !slices.Contains(tasks, row.task) {
			tasks = append(tasks, row.task)
		}
	}
	return tasks
}

// constantsOf returns the constants of a row as a list of definitions such as "n=3,p=0.5". The list is empty but not nil if the row has no constants.
func constantsOf(row *row) []string {
	if text := result.Valuation(row.Constants).String(); text != "" {
		return []string{text}
	}
	return []string{}
}

// configure sets the method, the accuracy, the number of samples and the seed with which an engine checks in the given draw.
func (c *comparison) configure(settings *runner.Settings, run *engineRun, draw int, samples int64) {
	if run.Accuracy != result.Unknown {
		settings.Numeric.Accuracy = run.Accuracy
	}
	if run.Method != "" {
		settings.Method = run.Method
	}
	if method := run.samplingMethod(); method != "" {
		settings.Method = method
		simulation := &settings.Simulation
		simulation.Confidence = c.confidenceLevel(draw)
		if method != runner.SPRT {
			simulation.Samples, simulation.Width, simulation.Approximation = samples, 0, 0
		}
		simulation.Seed += uint64(draw-1) << 40 // each draw has samples of its own
	}
}

// alignVerdicts returns one verdict for each row. If err is not nil or the verdicts do not match the rows, every verdict has an error.
func alignVerdicts(rows []*row, verdicts []result.Verdict, err error) []result.Verdict {
	if err == nil {
		err = checkVerdicts(rows, verdicts)
	}
	if err == nil {
		return verdicts
	}
	failed := make([]result.Verdict, len(rows))
	for i, row := range rows {
		failed[i] = result.Verdict{
			Property: row.Property, Name: row.Name, Constants: row.Constants,
			Err: &result.Failure{Class: result.Other, Message: err.Error()},
		}
	}
	return failed
}

// checkVerdicts returns an error unless the verdicts are about the rows, in the same order.
func checkVerdicts(rows []*row, verdicts []result.Verdict) error {
	if len(verdicts) != len(rows) {
		return fmt.Errorf("the engine gave %d verdicts, want %d", len(verdicts), len(rows))
	}
	for i, row := range rows {
		if answered := key(verdicts[i].Property, verdicts[i].Constants); answered != row.key() {
			return fmt.Errorf("the engine answered %q, want %q", answered, row.key())
		}
	}
	return nil
}
