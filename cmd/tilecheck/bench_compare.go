package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	record "tilecheck/report/bench"
	"tilecheck/report/table"
	"tilecheck/result"
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
	Format     table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run compares two measurements and prints a row for each case. With --fail-slower, it returns an error if the new measurement is slower than
// allowed.
func (c *benchCompareCmd) Run(env *environment) error {
	maxRatio, err := parseMaxRatio(c.FailSlower)
	if err != nil {
		return usageError("--fail-slower: %w", err)
	}
	if (c.OldTool == "") != (c.NewTool == "") {
		return usageError("want both --old-tool and --new-tool, or neither")
	}
	if c.OldTool == "" && c.Old == c.New {
		return usageError("the files are the same, want --old-tool and --new-tool")
	}
	oldRuns, err := readRuns(c.Old)
	if err != nil {
		return err
	}
	newRuns, err := readRuns(c.New)
	if err != nil {
		return err
	}
	comparison, err := bench.Compare(oldRuns, newRuns, bench.Pairing{OldTool: c.OldTool, NewTool: c.NewTool, Measure: record.Measure(c.Measure)})
	if err != nil {
		return err
	}
	env.markOutputStarted()
	if err := c.comparisonTable(comparison, maxRatio).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	switch {
	case comparison.Pairs == 0:
		return errors.New("nothing was compared: no case has an answer in both measurements")
	case maxRatio > 0 && comparison.Slower(maxRatio):
		return exitStatus(exitFailed)
	}
	return nil
}

// parseMaxRatio parses a percentage such as "10%" and returns it as a ratio such as 1.1. It returns 0 for an empty text.
func parseMaxRatio(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	const maxPercentage = 1e6
	number, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") || !(number > 0 && number <= maxPercentage) {
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

// comparisonTable returns a table with a row for each case. maxRatio is the greatest allowed ratio of the new to the old number; 0 allows every ratio.
func (c *benchCompareCmd) comparisonTable(comparison *bench.Comparison, maxRatio float64) *table.Table {
	caseTable := &table.Table{Columns: []table.Column{
		{Name: "case", Min: 20},
		{Name: "tool"},
		{Name: "old", Align: table.Right},
		{Name: "new", Align: table.Right},
		{Name: "ratio", Align: table.Right},
		{Name: "p", Align: table.Right},
		{Name: "change"},
	}}
	for i := range comparison.Cases {
		caseComparison := &comparison.Cases[i]
		tool := caseComparison.NewTool
		if caseComparison.OldTool != caseComparison.NewTool {
			tool = caseComparison.OldTool + " -> " + caseComparison.NewTool
		}
		caseTable.Append(caseComparison.Case, tool, c.measureCell(caseComparison.OldMedian, caseComparison.OldOutcome), c.measureCell(caseComparison.NewMedian, caseComparison.NewOutcome), ratioCell(caseComparison.Ratio), numberCell("%.3g", caseComparison.PValue), changeCell(caseComparison, maxRatio))
	}
	caseTable.Notes = c.notes(comparison, maxRatio)
	caseTable.Summary = &comparisonSummary{
		Measure: c.Measure, Ratio: result.JSONNumber(comparison.Ratio), Lower: result.JSONNumber(comparison.Lower), Upper: result.JSONNumber(comparison.Upper), Confidence: 1 - bench.FalseAlarms,
		Pairs: comparison.Pairs, GeometricMean: result.JSONNumber(comparison.Mean), IsSlower: maxRatio > 0 && comparison.Slower(maxRatio),
	}
	return caseTable
}

// comparisonSummary is the comparison of all cases together in JSON.
type comparisonSummary struct {
	Measure       string            `json:"measure"`
	Ratio         result.JSONNumber `json:"ratio"` // of new to old
	Lower         result.JSONNumber `json:"lower"`
	Upper         result.JSONNumber `json:"upper"` // infinite if there are too few pairs for a bound
	Confidence    float64           `json:"confidence"`
	Pairs         int               `json:"pairs"`
	GeometricMean result.JSONNumber `json:"geometric_mean"`      // of the ratios of the cases
	IsSlower      bool              `json:"slower_than_allowed"` // by --fail-slower; false without the flag
}

// notes returns notes about all cases together: the ratio with its bounds, and warnings. maxRatio is the greatest allowed ratio of the new
// measure to the old one; 0 allows every ratio.
func (c *benchCompareCmd) notes(comparison *bench.Comparison, maxRatio float64) []string {
	notes := []string{fmt.Sprintf(
		"all cases: %s is %.3f times that of the old runs, from %.3f to %.3f with %g %% confidence (%d pairs of runs); geometric mean of the cases %.3f",
		c.Measure, comparison.Ratio, comparison.Lower, comparison.Upper, 100*(1-bench.FalseAlarms), comparison.Pairs, comparison.Mean)}
	if comparison.Separate {
		notes = append(notes, "the old runs and the new ones were at different times: a change of the machine looks like a change of the tool. Measure both in one run of bench: --tool native@OLD --tool native@NEW")
	}
	if maxRatio > 0 && comparison.Slower(maxRatio) {
		notes = append(notes, fmt.Sprintf("slower than allowed (%s)", c.FailSlower))
	}
	return notes
}

// measureCell returns a cell with a measured number and its unit, or with the outcome if the number is NaN.
func (c *benchCompareCmd) measureCell(number float64, outcome record.Outcome) table.Cell {
	switch {
	case math.IsNaN(number):
		return table.Cell{Text: string(outcome)}
	case c.Measure == "memory":
		return table.Cell{Text: fmt.Sprintf("%.1f MB", number/1e6), Value: number}
	}
	return table.Cell{Text: fmt.Sprintf("%.3f s", number), Value: number}
}

// ratioCell returns a cell with a ratio. It is empty if the ratio is NaN.
func ratioCell(ratio float64) table.Cell { return numberCell("%.3f", ratio) }

// numberCell returns a table cell with a formatted number. If the number is NaN, the cell is empty.
func numberCell(format string, number float64) table.Cell {
	if math.IsNaN(number) {
		return table.Cell{}
	}
	return table.Cell{Text: fmt.Sprintf(format, number), Value: number}
}

// changeCell returns the table cell that says whether a case has become faster or slower. It is "~" if the difference may be chance. maxRatio is the
// greatest allowed ratio of the new measure to the old one; 0 allows every ratio.
func changeCell(caseComparison *bench.CaseComparison, maxRatio float64) table.Cell {
	switch {
	case caseComparison.LostAnswers:
		return table.Cell{Text: "no answer", Tone: table.Bad}
	case !caseComparison.Significant():
		return table.Cell{Text: "~"}
	case caseComparison.Ratio < 1:
		return table.Cell{Text: "faster", Tone: table.Good}
	case maxRatio > 0 && caseComparison.Ratio < maxRatio:
		return table.Cell{Text: "slower, allowed"}
	}
	return table.Cell{Text: "slower", Tone: table.Bad}
}
