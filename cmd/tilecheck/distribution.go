package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"strings"

	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	digits "tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// distributionCmd says how stateTable a Markov chain is in each of its states.
type distributionCmd struct {
	spaceFlags `embed:""`

	Time    *timeRange   `help:"At that time, or after so many steps, as 5, 1/2, from:to or from:step:to (default: in the long run)." placeholder:"T"`
	Epsilon float64      `help:"Relative width of bounds (default: 1e-8)." want:"(0,0.1]" placeholder:"E"`
	Zeros   bool         `help:"List also states that have no probability."`
	Output  string       `short:"o" help:"Write the numbers to a file, as PRISM's -exportsteadystate and -exporttransient; of several times to as many, with the time before the extension. - is standard output." placeholder:"FILE" file:"some"`
	Matlab  bool         `rare:"" help:"With --output: MATLAB code of a vector."`
	Format  table.Format `help:"Output: table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// timeRange is a time, or several at the same distances.
type timeRange struct{ times []*big.Rat }

// UnmarshalText reads 5, 0:10 or 0:0.1:1.
func (r *timeRange) UnmarshalText(text []byte) error {
	times, err := check.ParseTimes(string(text))
	r.times = times
	return err
}

// Run computes the probabilities and prints or writes them.
func (c *distributionCmd) Run(ctx context.Context, env *world) error {
	ctx, cancel := env.limits(ctx, c.Timeout, c.Memory)
	defer cancel()
	if err := env.without(c.Output == "", "without --output", "matlab"); err != nil {
		return err
	}
	if err := env.without(c.Output != "", "with --output", "format", "zeros"); err != nil {
		return err
	}
	var times []*big.Rat
	if c.Time != nil {
		times = c.Time.times
	}
	names := c.names(times)
	if c.Output != "" && c.Output != "-" {
		if err := env.places.with("--output", names...).check(); err != nil {
			return err
		}
	}
	space, err := c.space(ctx, env)
	if err != nil {
		return err
	}
	opts := check.Options{Epsilon: c.Epsilon}
	if c.Exact {
		opts.Accuracy = result.Exact
	}
	var done func()
	opts.Progress, done = env.progress()
	defer done()
	l := &stateTable{cmd: c, space: space, names: names}
	l.setColumns()
	err = env.writeSet(nil, func(write writeFile) error {
		return check.Distributions(ctx, space, times, opts, func(d *check.Distribution) error { return l.add(ctx, write, d) })
	})
	done()
	if err != nil && len(l.Rows) == 0 {
		return err
	}
	return cmp.Or(err, l.print(env)) // the times that are finished
}

// names are the files to write: as in PRISM, the time is before the extension.
func (c *distributionCmd) names(times []*big.Rat) []string {
	if len(times) < 2 || c.Output == "-" || c.Output == "" {
		return []string{c.Output}
	}
	var out []string
	ext := filepath.Ext(c.Output)
	for _, t := range times {
		out = append(out, strings.TrimSuffix(c.Output, ext)+timeText(t)+ext)
	}
	return out
}

// timeText is a time as a decimal number.
func timeText(t *big.Rat) string {
	if t.IsInt() {
		return t.Num().String()
	}
	f, _ := t.Float64()
	return sema.Value{Type: sema.Double, Float: f}.String()
}

// stateTable has the probabilities of the states, or the names of the files with them.
type stateTable struct {
	cmd   *distributionCmd
	space *explicit.Space
	names []string
	wrote []string
	table.Table
	zeros, left int
}

// mostShown is the largest number of rows of a table for people, at each time.
const mostShown = 1000

// setColumns sets the title and the columns.
func (l *stateTable) setColumns() {
	l.Title = "Long-run probabilities of the states of " + l.cmd.ModelFile
	time := table.Column{Field: "time"}
	if l.cmd.Time != nil {
		l.Title = "Probabilities of the states of " + l.cmd.ModelFile
		time.Name = "time"
	}
	l.Columns = []table.Column{
		time,
		{Name: "state", Align: table.Right},
		{Name: "values", Field: "valuation", Min: 16},
		{Name: "probability", Field: "value"},
		{Name: "interval", Field: "-"},
		{Field: "fraction"},
		{Field: "lower"},
		{Field: "upper"},
		{Name: "accuracy"},
	}
	l.Notes = l.space.Warnings()
}

// add writes a distribution to its file, or adds its rows.
func (l *stateTable) add(ctx context.Context, write writeFile, d *check.Distribution) error {
	if d.Wide {
		l.Notes = append(l.Notes, "some bounds are wider than asked for")
	}
	if l.cmd.Output != "" {
		name := l.names[min(len(l.wrote), len(l.names)-1)]
		l.wrote = append(l.wrote, name)
		return write(name, func(w io.Writer) error { return d.Write(ctx, w, l.space, l.cmd.Matlab) })
	}
	shown := 0
	var state []int32
	for k, s := range l.space.Order() {
		if k%(1<<12) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case d.Zero(int(s)) && !l.cmd.Zeros:
			l.zeros++
			continue
		case shown == mostShown && !l.cmd.Format.Machine():
			l.left++
			continue
		}
		shown++
		state = l.space.State(state, int(s))
		l.row(d, int(s), k, l.space.Compiled().StateText(state))
	}
	return nil
}

func (l *stateTable) row(d *check.Distribution, s, k int, text string) {
	value, in := d.At(s)
	shown, interval := table.Estimate(value.Num, in.Lo, in.Hi)
	var time, fraction any
	if d.Time != nil {
		f, _ := d.Time.Float64()
		time = table.Cell{Text: timeText(d.Time), Value: f}
	}
	if value.Rat != nil {
		shown.Text, interval.Text, fraction = digits.Exact(value.Rat), "", value.Rat.RatString()
	}
	l.Append(time, k, text, shown, interval, fraction, in.Lo, in.Hi, d.Accuracy.String())
}

// print prints the table, or the names of the files.
func (l *stateTable) print(env *world) error {
	if l.cmd.Output != "" {
		for _, note := range l.Notes {
			fmt.Fprintf(env.stderr, "warning: %s\n", note)
		}
		if l.cmd.Output != "-" && !env.quiet {
			fmt.Fprintf(env.stderr, "wrote %s\n", strings.Join(l.wrote, ", "))
		}
		return nil
	}
	if l.left > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("and %d more, which --format csv and json have", l.left))
	}
	if l.zeros > 0 {
		l.Notes = append(l.Notes, fmt.Sprintf("without %d that have no probability, which --zeros lists", l.zeros))
	}
	env.printing()
	t := &l.Table
	if !l.cmd.Format.Machine() {
		t = t.DropEmpty()
	}
	return t.Write(env.stdout, l.cmd.Format, env.reportOptions())
}
