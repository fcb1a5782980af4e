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
	Format table.Format `help:"table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run prints a table, or writes the page.
func (c *benchReportCmd) Run(env *environment) error {
	var runs []record.Run
	seen := make(map[record.Key]bool)
	for _, name := range c.Files {
		read, err := readRuns(name)
		if err != nil {
			return err
		}
		for i := range read {
			if key := read[i].Key(); !seen[key] {
				seen[key] = true
				runs = append(runs, read[i])
			}
		}
	}
	if c.Output == "" {
		env.beginsPrinting()
		return record.Table(runs).Write(env.stdout, c.Format, env.reportOptions())
	}
	return env.writeSet(nil, func(write writeFile) error {
		return write(c.Output, func(w io.Writer) error { return record.WritePage(w, runs, c.Title) })
	})
}
