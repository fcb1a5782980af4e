package main

import (
	"io"

	record "tilecheck/report/bench"
	"tilecheck/report/table"
)

// benchReportCmd shows measurements.
type benchReportCmd struct {
	Files []string `arg:"" name:"file" help:"Files of results, of all shards." file:"in"`

	Output string       `short:"o" help:"Write a page, with plots and tables that can be sorted, filtered, and saved as CSV and LaTeX." placeholder:"FILE" file:"out"`
	Title  string       `help:"Title of the page." default:"Measurements" placeholder:"TEXT"`
	Format table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run prints the runs as a table, or writes them as a page to the file of --output.
func (c *benchReportCmd) Run(env *environment) error {
	runs, err := c.readDistinctRuns()
	if err != nil {
		return err
	}
	if c.Output == "" {
		env.markOutputStarted()
		return record.Table(runs).Write(env.stdout, c.Format, env.reportOptions())
	}
	return env.writeSet(nil, func(write writeFile) error {
		return write(c.Output, func(w io.Writer) error { return record.WritePage(w, runs, c.Title) })
	})
}

// readDistinctRuns reads the runs of all files. If several runs have the same case, tool and repetition, it returns only the first.
func (c *benchReportCmd) readDistinctRuns() ([]record.Run, error) {
	var distinct []record.Run
	isKnown := make(map[record.Key]bool)
	for _, name := range c.Files {
		runs, err := readRuns(name)
		if err != nil {
			return nil, err
		}
		for i := range runs {
			if key := runs[i].Key(); !isKnown[key] {
				isKnown[key] = true
				distinct = append(distinct, runs[i])
			}
		}
	}
	return distinct, nil
}
