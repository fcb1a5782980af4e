package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	digits "tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// distributionCmd computes the probability of each state of a Markov chain, in the long run or at a time.
type distributionCmd struct {
	spaceFlags `embed:""`

	Time    *timeRange   `help:"Transient probabilities at time T, or after T steps: 5, 1/2, from:to or from:step:to (default: steady state)." placeholder:"T"`
	Epsilon float64      `help:"Relative width of bounds (default: 1e-8)." want:"(0,0.1]" placeholder:"E"`
	Zeros   bool         `help:"List also states with probability 0."`
	Output  string       `short:"o" help:"Write the probabilities to a file, in the format of PRISM's -exportsteadystate and -exporttransient; for several times one file each, named with the time. - is standard output." placeholder:"FILE" file:"some"`
	Matlab  bool         `rare:"" help:"With --output: MATLAB code of a vector."`
	Format  table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`

	timeFlag `embed:""`
}

// timeRange is one time, or several at equal distances.
type timeRange struct{ times []*big.Rat }

// UnmarshalText parses one time or a range of times, such as 5, 0:10 or 0:0.1:1.
func (r *timeRange) UnmarshalText(text []byte) error {
	times, err := check.ParseTimes(string(text))
	r.times = times
	return err
}

// Run computes the probabilities and prints or writes them.
func (c *distributionCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withLimits(ctx, c.Timeout, c.Memory)
	defer cancel()
	var times []*big.Rat
	if c.Time != nil {
		times = c.Time.times
	}
	fileNames := c.outputNames(times)
	if err := c.checkOutput(env, fileNames); err != nil {
		return err
	}
	space, err := c.space(ctx, env)
	if err != nil {
		return err
	}
	stateRows := &stateTable{command: c, space: space, fileNames: fileNames}
	stateRows.setColumns()
	err = stateRows.compute(ctx, env, times)
	if err != nil && len(stateRows.Rows) == 0 {
		return err
	}
	return cmp.Or(err, stateRows.print(env)) // after an error, print the times computed so far
}

// checkOutput checks the flags that depend on --output, and the names of the output files.
func (c *distributionCmd) checkOutput(env *environment, fileNames []string) error {
	if c.Output == "" {
		return env.refuseGivenFlags("without --output", "matlab")
	}
	if err := env.refuseGivenFlags("with --output", "format", "zeros"); err != nil || c.Output == "-" {
		return err
	}
	return env.checkOutputs("--output", fileNames...)
}

// outputNames returns the names of the output files. If there are several times, each name contains its time before the extension, as in PRISM.
func (c *distributionCmd) outputNames(times []*big.Rat) []string {
	if len(times) < 2 || c.Output == "-" || c.Output == "" {
		return []string{c.Output}
	}
	var names []string
	extension := filepath.Ext(c.Output)
	for _, time := range times {
		names = append(names, strings.TrimSuffix(c.Output, extension)+timeText(time)+extension)
	}
	return names
}

// timeText returns a time as a decimal number.
func timeText(time *big.Rat) string {
	if time.IsInt() {
		return time.Num().String()
	}
	float, _ := time.Float64()
	return sema.Value{Type: sema.Double, Float: float}.String()
}

// stateTable has the probabilities of the states, or the names of the files with them.
type stateTable struct {
	command      *distributionCmd
	space        *explicit.Space
	fileNames    []string
	writtenNames []string
	table.Table
	numZeros, numOmitted int // the numbers of omitted rows: with probability 0, and beyond maxShown
}

// compute adds the probabilities of all times to the table or writes them to files.
func (t *stateTable) compute(ctx context.Context, env *environment, times []*big.Rat) error {
	options := check.Options{Epsilon: t.command.Epsilon}
	if t.command.Exact {
		options.Accuracy = result.Exact
	}
	var stopProgress func()
	options.Progress, stopProgress = env.startProgress()
	defer stopProgress()
	return env.writeSet(nil, func(write writeFile) error {
		return check.Distributions(ctx, t.space, times, options, func(d *check.Distribution) error { return t.addDistribution(ctx, write, d) })
	})
}

// maxShown is the largest number of rows for each time in a table that is not machine-readable.
const maxShown = 1000

// setColumns sets the title and the columns.
func (t *stateTable) setColumns() {
	t.Title = "Long-run probabilities of the states of " + t.command.ModelFile
	time := table.Column{Field: "time"}
	if t.command.Time != nil {
		t.Title = "Probabilities of the states of " + t.command.ModelFile
		time.Name = "time"
	}
	t.Columns = []table.Column{
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
	t.Notes = t.space.Warnings()
}

// addDistribution writes a distribution to its file. Without --output, it adds a row for each state to the table instead.
func (t *stateTable) addDistribution(ctx context.Context, write writeFile, distribution *check.Distribution) error {
	if distribution.Wide {
		t.Notes = append(t.Notes, "some bounds have a greater relative width than required (--epsilon)")
	}
	if t.command.Output == "" {
		return t.addRows(ctx, distribution)
	}
	name := t.fileNames[min(len(t.writtenNames), len(t.fileNames)-1)] // standard output is a single name, used for every time
	t.writtenNames = append(t.writtenNames, name)
	return write(name, func(w io.Writer) error { return distribution.Write(ctx, w, t.space, t.command.Matlab) })
}

// addRows adds a row for each state, in the order of the state space. It omits states with probability 0, unless --zeros is given. It also omits
// states beyond the first maxShown rows, unless the format is for programs. The omitted states are counted.
func (t *stateTable) addRows(ctx context.Context, distribution *check.Distribution) error {
	const statesPerPoll = 4096
	numShown := 0
	var valuation []int32
	for number, state := range t.space.Order() {
		if number%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case distribution.Zero(int(state)) && !t.command.Zeros:
			t.numZeros++
		case numShown == maxShown && !t.command.Format.Machine():
			t.numOmitted++
		default:
			numShown++
			valuation = t.space.State(valuation, int(state))
			t.appendRow(distribution, int(state), number, t.space.Compiled().StateText(valuation))
		}
	}
	return nil
}

// appendRow adds the row of a state. number is the number of the state in the output, and valuation is the text of its variables.
func (t *stateTable) appendRow(distribution *check.Distribution, state, number int, valuation string) {
	value, bounds := distribution.At(state)
	estimate, interval := table.Estimate(value.Num, bounds.Lo, bounds.Hi)
	var time, fraction any
	if distribution.Time != nil {
		timeValue, _ := distribution.Time.Float64()
		time = table.Cell{Text: timeText(distribution.Time), Value: timeValue}
	}
	if value.Rat != nil {
		estimate.Text, interval.Text, fraction = digits.Exact(value.Rat), "", value.Rat.RatString()
	}
	t.Append(time, number, valuation, estimate, interval, fraction, bounds.Lo, bounds.Hi, distribution.Accuracy.String())
}

// print prints the table. With --output, the table was written to files, and print only prints their names.
func (t *stateTable) print(env *environment) error {
	if t.command.Output != "" {
		t.printFiles(env)
		return nil
	}
	return t.printTable(env)
}

// printFiles prints the warnings and the names of the written files on standard error.
func (t *stateTable) printFiles(env *environment) {
	env.warn(t.Notes)
	if t.command.Output != "-" && !env.quiet {
		fmt.Fprintf(env.stderr, "wrote %s\n", strings.Join(t.writtenNames, ", "))
	}
}

// printTable prints the table, with notes about the rows that it omits.
func (t *stateTable) printTable(env *environment) error {
	if t.numOmitted > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more, which --format csv and json list", t.numOmitted))
	}
	if t.numZeros > 0 {
		t.Notes = append(t.Notes, noun.Count(t.numZeros, "state")+" with probability 0 "+noun.Verb(t.numZeros, "is", "are")+" not listed (--zeros lists them)")
	}
	env.markOutputStarted()
	printed := &t.Table
	if !t.command.Format.Machine() {
		printed = printed.DropEmpty()
	}
	return printed.Write(env.stdout, t.command.Format, env.reportOptions())
}
