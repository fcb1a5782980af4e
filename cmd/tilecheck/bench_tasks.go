package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tilecheck/native"
	"tilecheck/verify/bench"
	"tilecheck/verify/selection"
)

// benchTasksCmd writes task definitions of BenchExec.
type benchTasksCmd struct {
	Paths []string `arg:"" name:"path" help:"Directories, models, properties files, suite files (.yaml)." file:"some"`

	Dir string `required:"" help:"Folder of the definitions." placeholder:"DIR" file:"none"`
}

// Run writes a definition for each model with its properties.
func (c *benchTasksCmd) Run(env *environment) error {
	request := selection.Request{Paths: c.Paths, Engines: []string{native.Name}, Jobs: 1}
	selected, err := request.Find(func([]string) error { return nil })
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	tasks, err := bench.Tasks(selected.Tests, func(file string) (string, error) { return filepath.Rel(dir, selected.Abs(file)) })
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, task := range tasks {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, task.Name), task.Text, 0o644))
	}
	if err != nil {
		return err
	}
	env.setPrinting()
	_, err = fmt.Fprintf(env.stdout, "%d tasks in %s\n", len(tasks)-1, c.Dir)
	return err
}
