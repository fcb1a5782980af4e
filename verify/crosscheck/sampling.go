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

// draw asks every entry once. Then it asks the sampling entries again, with more and more samples, as long as that
// may decide a row.
func (c *comparison) draw(ctx context.Context) {
	n := c.firstSamples()
	for i := 1; ; i++ {
		open := false
		for k, p := range c.entries {
			if i == 1 {
				c.recordVerdicts(k, c.ask(ctx, p, c.mine, i, n), c.mine, i)
				continue
			}
			c.askAgain(ctx, k, i, n)
		}
		for _, r := range c.mine {
			if i == 1 || slices.Contains(r.wide, true) {
				open = r.compare(c) && !c.skipBroken(r) || open
			}
		}
		n *= sampleGrowth
		if !open || n > c.opt.MaxSamples || ctx.Err() != nil || c.opt.Time > 0 && time.Since(c.start) > c.opt.Time {
			c.noteExhausted(open)
			return
		}
	}
}

func (c *comparison) firstSamples() int64 {
	n := c.subjects[0].plan.Job.Simulation.Samples
	setDefault(&n, DefaultSamples)
	return n
}

// skipBroken reports whether the row's model is broken; such a row needs no further samples.
func (c *comparison) skipBroken(r *row) bool {
	for _, s := range c.subjects {
		if s.instances[r.instance].check.Validity == Broken {
			r.wide = make([]bool, len(c.entries))
			return true
		}
	}
	return false
}

// noteExhausted notes in undecided rows that the limit of samples or time is reached.
func (c *comparison) noteExhausted(open bool) {
	for _, r := range c.mine {
		if open && r.Status == Undecided && slices.Contains(r.wide, true) {
			r.Reason += "; no more samples are drawn"
		}
	}
}

// askAgain asks an entry for a further draw of the rows that it may decide, grouped by valuation.
func (c *comparison) askAgain(ctx context.Context, k, draw int, n int64) {
	groups := make(map[string][]*row)
	var order []string
	for _, r := range c.mine {
		if !r.wide[k] {
			continue
		}
		constants := result.Valuation(r.Constants).String()
		if groups[constants] == nil {
			order = append(order, constants)
		}
		groups[constants] = append(groups[constants], r)
	}
	for _, constants := range order {
		c.recordVerdicts(k, c.ask(ctx, c.entries[k], groups[constants], draw, n), groups[constants], draw)
	}
}

func (c *comparison) recordVerdicts(k int, verdicts []result.Verdict, rows []*row, draw int) {
	for i, r := range rows {
		r.take(k, c.entries[k], &verdicts[i], c.level(draw))
	}
}

// ask lets an entry check rows: in the first draw all rows of this part, later some rows of one valuation. It returns
// a verdict for every row, whatever the engine returns.
func (c *comparison) ask(ctx context.Context, e *entry, rows []*row, draw int, n int64) []result.Verdict {
	plan := e.subject.plan.WithSettings(func(s *runner.Settings) { c.configure(s, e, draw, n) })
	if draw > 1 || len(rows) < len(c.rows) {
		var tasks []int
		for _, r := range rows {
			if !slices.Contains(tasks, r.task) {
				tasks = append(tasks, r.task)
			}
		}
		var consts []string
		if draw > 1 && len(c.rows) > len(plan.Tasks) { // several valuations
			consts = []string{}
			if text := result.Valuation(rows[0].Constants).String(); text != "" {
				consts = append(consts, text)
			}
		}
		var err error
		if plan, err = plan.Part(tasks, consts); err != nil {
			return alignVerdicts(rows, nil, err)
		}
	}
	verdicts, err := e.Engine.Check(ctx, plan)
	return alignVerdicts(rows, verdicts, err)
}

// configure sets the method, accuracy, samples and seed with which an entry checks in a draw.
func (c *comparison) configure(s *runner.Settings, e *entry, draw int, n int64) {
	if e.Accuracy != result.Unknown {
		s.Numeric.Accuracy = e.Accuracy
	}
	if e.Method != "" {
		s.Method = e.Method
	}
	if m := e.sampling(); m != "" {
		s.Method = m
		sim := &s.Simulation
		sim.Confidence = c.level(draw)
		if m != runner.SPRT {
			sim.Samples, sim.Width, sim.Approximation = n, 0, 0
		}
		sim.Seed += uint64(draw-1) << 40
	}
}

// alignVerdicts returns one verdict for each row. If the engine's verdicts do not match the rows, each row gets an error.
func alignVerdicts(rows []*row, verdicts []result.Verdict, err error) []result.Verdict {
	if err == nil && len(verdicts) != len(rows) {
		err = fmt.Errorf("the engine gave %d verdicts, want %d", len(verdicts), len(rows))
	}
	for i := 0; err == nil && i < len(rows); i++ {
		if got := key(verdicts[i].Property, verdicts[i].Constants); got != rows[i].key() {
			err = fmt.Errorf("the engine answered %q, want %q", got, rows[i].key())
		}
	}
	if err == nil {
		return verdicts
	}
	out := make([]result.Verdict, len(rows))
	for i, r := range rows {
		out[i] = result.Verdict{
			Property: r.Property, Name: r.Name, Constants: r.Constants,
			Err: &result.Failure{Class: result.Other, Message: err.Error()},
		}
	}
	return out
}
