package crosscheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tilecheck/result"
	"tilecheck/runner"
)

// growth is by how much the samples of a draw exceed those of the one before.
const growth = 4

// draw asks every entry, and those who sample again where that may decide.
func (c *comparison) draw(ctx context.Context) {
	n := c.firstSamples()
	for i := 1; ; i++ {
		open := false
		for k, p := range c.entries {
			if i == 1 {
				c.take(k, c.ask(ctx, p, c.mine, i, n), c.mine, i)
				continue
			}
			c.again(ctx, k, i, n)
		}
		for _, r := range c.mine {
			if i == 1 || slices.Contains(r.wide, true) {
				open = r.compare(c) && !c.broken(r) || open
			}
		}
		n *= growth
		if !open || n > c.opt.MaxSamples || ctx.Err() != nil || c.opt.Time > 0 && time.Since(c.start) > c.opt.Time {
			c.exhausted(open)
			return
		}
	}
}

func (c *comparison) firstSamples() int64 {
	n := c.subjects[0].plan.Job.Simulation.Samples
	setDefault(&n, DefaultSamples)
	return n
}

// broken reports whether samples of a row are of no use.
func (c *comparison) broken(r *row) bool {
	for _, s := range c.subjects {
		if s.instances[r.instance].check.Validity == Broken {
			r.wide = make([]bool, len(c.entries))
			return true
		}
	}
	return false
}

// exhausted says of rows that more samples might decide that there are none.
func (c *comparison) exhausted(open bool) {
	for _, r := range c.mine {
		if open && r.Status == Undecided && slices.Contains(r.wide, true) {
			r.Reason += "; no more samples are drawn"
		}
	}
}

// again asks an entry for a further draw for the rows that it may decide, those
// of one valuation at a time.
func (c *comparison) again(ctx context.Context, k, draw int, n int64) {
	groups := make(map[string][]*row)
	var order []string
	for _, r := range c.mine {
		if !r.wide[k] {
			continue
		}
		g := result.Valuation(r.Constants).String()
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], r)
	}
	for _, g := range order {
		c.take(k, c.ask(ctx, c.entries[k], groups[g], draw, n), groups[g], draw)
	}
}

func (c *comparison) take(k int, verdicts []result.Verdict, rows []*row, draw int) {
	for i, r := range rows {
		r.take(k, c.entries[k], &verdicts[i], c.level(draw))
	}
}

// ask has an entry check rows: all of the part in the first draw, later some of
// one valuation. There is a verdict for every row, whatever the engine does.
func (c *comparison) ask(ctx context.Context, e *entry, rows []*row, draw int, n int64) []result.Verdict {
	plan := e.subject.plan.With(func(job *runner.Job) { c.order(job, e, draw, n) })
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
			return align(rows, nil, err)
		}
	}
	verdicts, err := e.Engine.Check(ctx, plan)
	return align(rows, verdicts, err)
}

// order says how an entry is to check in a draw.
func (c *comparison) order(job *runner.Job, e *entry, draw int, n int64) {
	if e.Accuracy != result.Unknown {
		job.Numeric.Accuracy = e.Accuracy
	}
	if e.Method != "" {
		job.Method = e.Method
	}
	if m := e.sampling(); m != "" {
		job.Method = m
		sim := &job.Simulation
		sim.Confidence = c.level(draw)
		if m != runner.SPRT {
			sim.Samples, sim.Width, sim.Approximation = n, 0, 0
		}
		sim.Seed += uint64(draw-1) << 40
	}
}

// align gives every row its verdict. An engine whose verdicts are not those of
// the rows has not answered any of them.
func align(rows []*row, verdicts []result.Verdict, err error) []result.Verdict {
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
