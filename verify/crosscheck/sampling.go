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

// draw asks every engine once. Then it asks the sampling engines again, with more and more samples, as long as that may decide a row and the
// limits permit.
func (c *comparison) draw(ctx context.Context) {
	samples := c.firstSamples()
	for draw := 1; ; draw++ {
		for i, run := range c.engineRuns {
			if draw > 1 {
				c.askAgain(ctx, i, draw, samples)
				continue
			}
			c.recordVerdicts(i, c.ask(ctx, run, c.rowsToCheck, draw, samples), c.rowsToCheck, draw)
		}
		undecided := c.compareRows(draw)
		samples *= sampleGrowth
		outOfTime := c.opt.Time > 0 && time.Since(c.start) > c.opt.Time
		if !undecided || samples > c.opt.MaxSamples || ctx.Err() != nil || outOfTime {
			c.noteExhausted(undecided)
			return
		}
	}
}

// compareRows compares the answers of all rows after the first draw, and of rows with new samples after a later one. It reports whether more
// samples may decide some row.
func (c *comparison) compareRows(draw int) bool {
	undecided := false
	for _, row := range c.rowsToCheck {
		hasNewAnswers := draw == 1 || slices.Contains(row.needsSamples, true)
		if hasNewAnswers && row.compare(c) && !c.skipBroken(row) {
			undecided = true
		}
	}
	return undecided
}

// firstSamples returns the number of samples of the first draw.
func (c *comparison) firstSamples() int64 {
	samples := c.models[0].plan.Job.Simulation.Samples
	setDefault(&samples, DefaultSamples)
	return samples
}

// skipBroken reports whether the model of a row is broken. Such a row needs no further samples, so it clears needsSamples.
func (c *comparison) skipBroken(row *row) bool {
	for _, model := range c.models {
		if model.instances[row.instance].check.Validity == Broken {
			row.needsSamples = make([]bool, len(c.engineRuns))
			return true
		}
	}
	return false
}

// noteExhausted adds to the reason of undecided rows that no more samples are drawn. undecided says that there may be such rows.
func (c *comparison) noteExhausted(undecided bool) {
	for _, row := range c.rowsToCheck {
		if undecided && row.Status == Undecided && slices.Contains(row.needsSamples, true) {
			row.Reason += "; no more samples are drawn"
		}
	}
}

// askAgain lets one engine draw more samples for the rows that they may decide, and records its answers. Rows with the same values of
// the constants are one job. draw is the number of the draw, counted from 1, and samples its size.
func (c *comparison) askAgain(ctx context.Context, engine, draw int, samples int64) {
	rowsByValuation := make(map[string][]*row) // by the values of the constants
	var valuations []string
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
		verdicts := c.ask(ctx, c.engineRuns[engine], rowsByValuation[valuation], draw, samples)
		c.recordVerdicts(engine, verdicts, rowsByValuation[valuation], draw)
	}
}

// recordVerdicts records the verdicts of one engine in a draw, one for each row.
func (c *comparison) recordVerdicts(engine int, verdicts []result.Verdict, rows []*row, draw int) {
	for i, row := range rows {
		row.recordAnswer(engine, c.engineRuns[engine], &verdicts[i], c.confidenceLevel(draw))
	}
}

// ask lets an engine check rows: in the first draw all rows of this shard, later some rows of one valuation. It returns a verdict for every row,
// also if the engine fails.
func (c *comparison) ask(ctx context.Context, run *engineRun, rows []*row, draw int, samples int64) []result.Verdict {
	plan := run.model.plan.WithSettings(func(settings *runner.Settings) { c.configure(settings, run, draw, samples) })
	if draw > 1 || len(rows) < len(c.allRows) {
		hasValuations := len(c.allRows) > len(plan.Tasks)
		var consts []string // nil: all valuations
		if draw > 1 && hasValuations {
			consts = constantsOf(rows[0])
		}
		var err error
		if plan, err = plan.Part(tasksOf(rows), consts); err != nil {
			return alignVerdicts(rows, nil, err)
		}
	}
	verdicts, err := run.Engine.Check(ctx, plan)
	return alignVerdicts(rows, verdicts, err)
}

// tasksOf returns the tasks of rows, each once.
func tasksOf(rows []*row) []int {
	var tasks []int
	for _, row := range rows {
		if !slices.Contains(tasks, row.task) {
			tasks = append(tasks, row.task)
		}
	}
	return tasks
}

// constantsOf returns the definitions of constants in the valuation of a row; empty, not nil, if it has none.
func constantsOf(row *row) []string {
	if text := result.Valuation(row.Constants).String(); text != "" {
		return []string{text}
	}
	return []string{}
}

// configure sets the method, accuracy, samples and seed with which an engine checks in a draw.
func (c *comparison) configure(settings *runner.Settings, run *engineRun, draw int, samples int64) {
	if run.Accuracy != result.Unknown {
		settings.Numeric.Accuracy = run.Accuracy
	}
	if run.Method != "" {
		settings.Method = run.Method
	}
	if method := run.sampling(); method != "" {
		settings.Method = method
		simulation := &settings.Simulation
		simulation.Confidence = c.confidenceLevel(draw)
		if method != runner.SPRT {
			simulation.Samples, simulation.Width, simulation.Approximation = samples, 0, 0
		}
		simulation.Seed += uint64(draw-1) << 40
	}
}

// alignVerdicts returns one verdict for each row. If the engine's verdicts do not match the rows, each row gets an error.
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
		if got := key(verdicts[i].Property, verdicts[i].Constants); got != row.key() {
			return fmt.Errorf("the engine answered %q, want %q", got, row.key())
		}
	}
	return nil
}
