package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	record "tilecheck/report/bench"
	"tilecheck/report/table"
	"tilecheck/verify/bench"
)

// benchCompareCmd compares two measurements.
type benchCompareCmd struct {
	Old string `arg:"" name:"old" help:"File of results." file:"in"`
	New string `arg:"" name:"new" help:"File of results; it may be the same one, with --old-tool and --new-tool." file:"in"`

	OldTool    string       `help:"Compare the runs of this tool in OLD (default: tools with the same label)." placeholder:"TOOL"`
	NewTool    string       `help:"Compare the runs of this tool in NEW." placeholder:"TOOL"`
	Measure    string       `help:"Compare cpu (default), wall or memory." default:"cpu" enum:"cpu,wall,memory" placeholder:"NAME"`
	FailSlower string       `help:"Exit with code 2 if NEW is slower beyond chance and may be slower by so much, such as 10%." placeholder:"PERCENT"`
	Format     table.Format `help:"table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run compares and prints a row for each case.
func (c *benchCompareCmd) Run(env *environment) error {
	limit, err := parsePercent(c.FailSlower)
	if err != nil {
		return usageError("--fail-slower: %w", err)
	}
	if (c.OldTool == "") != (c.NewTool == "") {
		return usageError("--old-tool and --new-tool go together")
	}
	if c.OldTool == "" && c.Old == c.New {
		return usageError("the files are the same, want --old-tool and --new-tool")
	}
	old, err := readRuns(c.Old)
	if err != nil {
		return err
	}
	measured, err := readRuns(c.New)
	if err != nil {
		return err
	}
	compared, err := bench.Compare(old, measured, bench.Pairing{OldTool: c.OldTool, NewTool: c.NewTool, Measure: record.Measure(c.Measure)})
	if err != nil {
		return err
	}
	env.beginsPrinting()
	if err := c.table(compared, limit).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	switch {
	case compared.Pairs == 0:
		return fmt.Errorf("nothing was compared: no case has an answer on both sides")
	case limit > 0 && compared.Slower(limit):
		return exitStatus(exitFailed)
	}
	return nil
}

// parsePercent reads "10%" as the ratio 1.1; empty is 0.
func parsePercent(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	number, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") || !(number > 0 && number <= 1e6) {
		return 0, fmt.Errorf("found %q, want a positive percentage such as 10%%", text)
	}
	return 1 + number/100, nil
}

// readRuns reads a file of results.
func readRuns(name string) ([]record.Run, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return record.Read(file, name)
}

// table returns a row for each case, and notes about all.
func (c *benchCompareCmd) table(compared *bench.Comparison, limit float64) *table.Table {
	out := &table.Table{Columns: []table.Column{
		{Name: "case", Min: 20}, {Name: "tool"}, {Name: "old", Align: table.Right}, {Name: "new", Align: table.Right},
		{Name: "ratio", Align: table.Right}, {Name: "p", Align: table.Right}, {Name: "change"},
	}}
	for i := range compared.Cases {
		x := &compared.Cases[i]
		tool := x.NewTool
		if x.OldTool != x.NewTool {
			tool = x.OldTool + " -> " + x.NewTool
		}
		out.Append(x.Case, tool, c.cell(x.Old, x.OldOutcome), c.cell(x.New, x.NewOutcome), ratioCell(x.Ratio), numberCell("%.3g", x.P), change(x, limit))
	}
	out.Notes = append(out.Notes, fmt.Sprintf(
		"all cases: %s is %.3f times that of the old runs, from %.3f to %.3f with %g %% confidence (%d pairs of runs); geometric mean of the cases %.3f",
		c.Measure, compared.Ratio, compared.Lower, compared.Upper, 100*(1-bench.FalseAlarms), compared.Pairs, compared.Mean))
	if compared.Apart {
		out.Notes = append(out.Notes, "the old runs and the new ones were at different times: a change of the machine looks like a change of the tool. Measure both in one run of bench: --tool native@OLD --tool native@NEW")
	}
	if limit > 0 && compared.Slower(limit) {
		out.Notes = append(out.Notes, fmt.Sprintf("slower than allowed (%s)", c.FailSlower))
	}
	return out
}

// cell returns a measured number; without one, the outcome.
func (c *benchCompareCmd) cell(x float64, outcome record.Outcome) table.Cell {
	switch {
	case math.IsNaN(x):
		return table.Cell{Text: string(outcome)}
	case c.Measure == "memory":
		return table.Cell{Text: fmt.Sprintf("%.1f MB", x/1e6), Value: x}
	}
	return table.Cell{Text: fmt.Sprintf("%.3f s", x), Value: x}
}

// ratioCell returns a ratio; nothing if there is none.
func ratioCell(x float64) table.Cell { return numberCell("%.3f", x) }

// numberCell returns a number; nothing if there is none.
func numberCell(format string, x float64) table.Cell {
	if math.IsNaN(x) {
		return table.Cell{}
	}
	return table.Cell{Text: fmt.Sprintf(format, x), Value: x}
}

// change says how a case has changed.
func change(x *bench.CaseComparison, limit float64) table.Cell {
	switch {
	case x.Lost:
		return table.Cell{Text: "no answer", Tone: table.Bad}
	case !x.Significant():
		return table.Cell{Text: "~"}
	case x.Ratio < 1:
		return table.Cell{Text: "faster", Tone: table.Good}
	case limit > 0 && x.Ratio < limit:
		return table.Cell{Text: "slower, allowed"}
	}
	return table.Cell{Text: "slower", Tone: table.Bad}
}
