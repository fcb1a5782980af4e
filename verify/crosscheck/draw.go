package crosscheck

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tilecheck/result"
	"tilecheck/runner"
)

// growth is by how much the samples of a draw exceed those of the one before.
const growth = 4

// draw asks every player, and those who sample again where that may decide.
func (c *run) draw(ctx context.Context) {
	n := c.firstSamples()
	for i := 1; ; i++ {
		open := false
		for k, p := range c.players {
			if i == 1 {
				c.take(k, c.ask(ctx, p, c.rows, i, n), c.rows, i)
				continue
			}
			c.again(ctx, k, i, n)
		}
		for _, r := range c.rows {
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

func (c *run) firstSamples() int64 {
	n := c.subjects[0].job.Simulation.Samples
	setDefault(&n, DefaultSamples)
	return n
}

// broken reports whether samples of a row are of no use.
func (c *run) broken(r *row) bool {
	for _, s := range c.subjects {
		if s.instances[r.instance].check.Validity == Broken {
			r.wide = make([]bool, len(c.players))
			return true
		}
	}
	return false
}

// exhausted says of rows that more samples might decide that there are none.
func (c *run) exhausted(open bool) {
	for _, r := range c.rows {
		if open && r.Status == Undecided && slices.Contains(r.wide, true) {
			r.Reason += "; no more samples are drawn"
		}
	}
}

// again asks a player for a further draw for the rows that it may decide, those
// of one valuation at a time.
func (c *run) again(ctx context.Context, k, draw int, n int64) {
	groups := make(map[string][]*row)
	var order []string
	for _, r := range c.rows {
		if !r.wide[k] {
			continue
		}
		g := constantsText(r.Constants)
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], r)
	}
	for _, g := range order {
		c.take(k, c.ask(ctx, c.players[k], groups[g], draw, n), groups[g], draw)
	}
}

func (c *run) take(k int, verdicts []result.Verdict, rows []*row, draw int) {
	for i, r := range rows {
		r.take(k, c.players[k], &verdicts[i], c.level(draw))
	}
}

// ask has a player check rows: all of them in the first draw, later some of one
// valuation. There is a verdict for every row, whatever the engine does.
func (c *run) ask(ctx context.Context, p *player, rows []*row, draw int, n int64) []result.Verdict {
	job := p.subject.job
	if p.Accuracy != result.Unknown {
		job.Numeric.Accuracy = p.Accuracy
	}
	if p.Method != "" {
		job.Method = p.Method
	}
	if m := p.sampling(); m != "" {
		job.Method = m
		sim := &job.Simulation
		sim.Confidence = c.level(draw)
		if m != runner.SPRT {
			sim.Samples, sim.Width, sim.Approximation = n, 0, 0
		}
		sim.Seed += uint64(draw-1) << 40
	}
	if draw > 1 {
		job.Select = c.selection(p, rows)
		if len(c.rows) > len(p.subject.plan.Tasks) { // several valuations
			job.Consts = nil
			if text := constantsText(rows[0].Constants); text != "" {
				job.Consts = []string{text}
			}
		}
	}
	verdicts, err := p.Engine.Check(ctx, job)
	return align(rows, verdicts, err)
}

// selection names the properties of rows for runner.Job.Select.
func (c *run) selection(p *player, rows []*row) []string {
	var out []string
	for _, r := range rows {
		switch job := &p.subject.job; {
		case len(job.Select) > 0:
			out = append(out, job.Select[r.task])
		case r.Name != "":
			out = append(out, r.Name)
		default:
			out = append(out, strconv.Itoa(r.task+1))
		}
	}
	return out
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
