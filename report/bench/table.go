package bench

import (
	"fmt"
	"slices"
	"strings"

	"tilecheck/report/table"
)

// Summary is what the repetitions of one tool on one case have in common.
type Summary struct {
	Case, Tool string
	Outcome    Outcome // the gravest
	Reason     string  // of it
	Runs       int
	// CPU and Wall (seconds) and Memory (bytes) are medians.
	CPU, Wall float64
	Memory    float64
	// Disturbed is the number of runs with interference.
	Disturbed int
}

// Summarize returns a summary for each case and tool, in the order of their first runs.
func Summarize(runs []Run) []Summary {
	type key struct{ name, tool string }
	groups := make(map[key][]*Run)
	var order []key
	for i := range runs {
		k := key{runs[i].Case, runs[i].Tool}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], &runs[i])
	}
	var out []Summary
	for _, k := range order {
		out = append(out, summarize(groups[k]))
	}
	return out
}

// summarize returns the summary of the runs of one tool on one case.
func summarize(runs []*Run) Summary {
	out := Summary{Case: runs[0].Case, Tool: runs[0].Tool, Runs: len(runs)}
	for _, run := range runs {
		if out.Outcome == "" || run.Outcome.Graver(out.Outcome) {
			out.Outcome, out.Reason = run.Outcome, run.Reason
		}
		if len(run.Interference) > 0 {
			out.Disturbed++
		}
	}
	out.CPU = median(runs, func(r *Run) float64 { return r.CPUSeconds })
	out.Wall = median(runs, func(r *Run) float64 { return r.WallSeconds })
	out.Memory = median(runs, func(r *Run) float64 { return float64(r.PeakMemory) })
	return out
}

// median returns the median of a number of some runs.
func median(runs []*Run, of func(*Run) float64) float64 {
	var numbers []float64
	for _, run := range runs {
		numbers = append(numbers, of(run))
	}
	slices.Sort(numbers)
	middle := len(numbers) / 2
	if len(numbers)%2 == 1 {
		return numbers[middle]
	}
	return (numbers[middle-1] + numbers[middle]) / 2
}

// Table returns a row for each case and tool, with notes about how it was measured.
func Table(runs []Run) *table.Table {
	out := &table.Table{Columns: []table.Column{
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
	for _, s := range Summarize(runs) {
		out.Append(s.Case, s.Tool, outcomeCell(s.Outcome), secondsCell(s.CPU), secondsCell(s.Wall), memoryCell(s.Memory), s.Runs, s.Disturbed, reasonOf(&s))
	}
	out.Notes = append(out.Notes, notes(runs)...)
	return out
}

// reasonOf returns the reason of an outcome other than right, in one line.
func reasonOf(s *Summary) string {
	if s.Outcome == Right {
		return ""
	}
	first, _, _ := strings.Cut(s.Reason, "\n")
	return first
}

// outcomeCell returns a cell with an outcome.
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

// notes says how the runs were measured, and which were disturbed.
func notes(runs []Run) (out []string) {
	counts := make(map[string]int)
	add := func(text string) {
		if counts[text]++; counts[text] == 1 {
			out = append(out, text)
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
			text, _, _ = strings.Cut(text, " used ") // without the numbers
			add("disturbed: " + text)
		}
	}
	for i, text := range out {
		if kind, ok := strings.CutPrefix(text, "disturbed: "); ok {
			out[i] = fmt.Sprintf("%d of %d runs were disturbed: %s", counts[text], len(runs), map[bool]string{true: "others used the cores", false: kind}[kind == "others"])
		}
	}
	return out
}

// ExitCode returns the exit code of a command that measured the runs: that of the gravest outcome.
func ExitCode(runs []Run) int {
	found := make(map[Outcome]bool)
	for i := range runs {
		found[runs[i].Outcome] = true
	}
	switch {
	case found[Failed] || len(runs) == 0:
		return 1
	case found[Wrong] || found[BoundViolated]:
		return 2
	case found[Timeout] || found[OutOfMemory]:
		return 4
	case !found[Right] && !found[Unchecked]:
		return 1
	}
	return 0
}
