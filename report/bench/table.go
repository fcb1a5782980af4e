package bench

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/report/table"
)

// Summary summarizes the runs of one tool on one case.
type Summary struct {
	Case, Tool string
	Outcome    Outcome // the gravest outcome of the runs
	Reason     string  // the reason of this outcome
	Runs       int
	// CPU and Wall (seconds) and Memory (bytes) are medians.
	CPU, Wall float64
	Memory    float64
	// Disturbed is the number of runs with interference.
	Disturbed int
}

// Summarize returns a summary for each case and tool, in the order of their first runs.
func Summarize(runs []Run) []Summary {
	type caseAndTool struct{ name, tool string }
	groups := make(map[caseAndTool][]*Run)
	var order []caseAndTool
	for i := range runs {
		key := caseAndTool{runs[i].Case, runs[i].Tool}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], &runs[i])
	}
	var summaries []Summary
	for _, key := range order {
		summaries = append(summaries, summarize(groups[key]))
	}
	return summaries
}

// summarize returns the summary of the runs of one tool on one case.
func summarize(runs []*Run) Summary {
	summary := Summary{Case: runs[0].Case, Tool: runs[0].Tool, Runs: len(runs)}
	for _, run := range runs {
		if summary.Outcome == "" || run.Outcome.IsGraverThan(summary.Outcome) {
			summary.Outcome, summary.Reason = run.Outcome, run.Reason
		}
		if len(run.Interference) > 0 {
			summary.Disturbed++
		}
	}
	summary.CPU = median(runs, func(r *Run) float64 { return r.CPUSeconds })
	summary.Wall = median(runs, func(r *Run) float64 { return r.WallSeconds })
	summary.Memory = median(runs, func(r *Run) float64 { return float64(r.PeakMemory) })
	return summary
}

// median returns the median of a measured number of the runs.
func median(runs []*Run, measure func(*Run) float64) float64 {
	var numbers []float64
	for _, run := range runs {
		numbers = append(numbers, measure(run))
	}
	slices.Sort(numbers)
	middle := len(numbers) / 2
	if len(numbers)%2 == 1 {
		return numbers[middle]
	}
	return (numbers[middle-1] + numbers[middle]) / 2
}

// Table returns a table with a row for each pair of a case and a tool, and with notes about the measurement.
func Table(runs []Run) *table.Table {
	result := &table.Table{Columns: []table.Column{
		{Name: "case", Min: 20},
		{Name: "tool"},
		{Name: "outcome"},
		{Name: "CPU", Field: "cpu_seconds", Align: table.Right},
		{Name: "wall", Field: "wall_seconds", Align: table.Right},
		{Name: "memory", Field: "peak_memory_bytes", Align: table.Right},
		{Name: "runs", Align: table.Right},
		{Name: "disturbed", Align: table.Right},
		{Name: "reason", Min: 20},
	}}
	for _, summary := range Summarize(runs) {
		result.Append(summary.Case, summary.Tool, outcomeCell(summary.Outcome), secondsCell(summary.CPU), secondsCell(summary.Wall), memoryCell(summary.Memory), summary.Runs, summary.Disturbed, reasonOf(&summary))
	}
	result.Notes = append(result.Notes, notes(runs)...)
	return result
}

// reasonOf returns the first line of the reason of an outcome. It is empty if the outcome is Right.
func reasonOf(s *Summary) string {
	if s.Outcome == Right {
		return ""
	}
	firstLine, _, _ := strings.Cut(s.Reason, "\n")
	return firstLine
}

// outcomeCell returns a cell with an outcome: green for a right answer, and red for a wrong one.
func outcomeCell(outcome Outcome) table.Cell {
	cell := table.Cell{Text: string(outcome)}
	switch outcome {
	case Right:
		cell.Tone = table.Good
	case Wrong, BoundViolated:
		cell.Tone = table.Bad
	}
	return cell
}

// secondsCell returns a cell with a time.
func secondsCell(seconds float64) table.Cell {
	return table.Cell{Text: fmt.Sprintf("%.3f s", seconds), Value: seconds}
}

// memoryCell returns a cell with an amount of memory.
func memoryCell(bytes float64) table.Cell {
	return table.Cell{Text: fmt.Sprintf("%.1f MB", bytes/1e6), Value: bytes}
}

// notes returns notes about the method of measurement, and about the number of runs that other processes disturbed. Each note occurs once.
func notes(runs []Run) (lines []string) {
	const disturbedPrefix = "disturbed: "
	counts := make(map[string]int) // the number of runs with each note
	add := func(text string) {
		counts[text]++
		if counts[text] == 1 {
			lines = append(lines, text)
		}
	}
	for i := range runs {
		run := &runs[i]
		switch {
		case run.MeasuredWhy != "":
			add("without a control group, memory is the largest that was seen, and limits of memory are not kept: " + run.MeasuredWhy)
		case run.Measured != "":
			add("measured by " + run.Measured + ": all processes of a run together")
		}
		for _, text := range run.Interference {
			kind, _, _ := strings.Cut(text, " used ") // the number in "others used 7 % of the cores" differs between runs
			add(disturbedPrefix + kind)
		}
	}
	for i, text := range lines { // put the numbers of disturbed runs into the notes
		if kind, ok := strings.CutPrefix(text, disturbedPrefix); ok {
			if kind == "others" {
				kind = "others used the cores"
			}
			lines[i] = fmt.Sprintf("%d of %d runs were disturbed: %s", counts[text], len(runs), kind)
		}
	}
	return lines
}

// ExitCode returns the exit code for the most serious outcome of the runs: 1 if a run failed or there is no answer, 2 for a wrong answer, 4 for a
// limit, otherwise 0.
func ExitCode(runs []Run) int {
	occurs := make(map[Outcome]bool)
	for i := range runs {
		occurs[runs[i].Outcome] = true
	}
	switch {
	case occurs[Failed] || len(runs) == 0:
		return 1
	case occurs[Wrong] || occurs[BoundViolated]:
		return 2
	case occurs[Timeout] || occurs[OutOfMemory]:
		return 4
	case !occurs[Right] && !occurs[Unchecked]:
		return 1
	}
	return 0
}
