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

// Run writes a task definition for each pair of a model and a properties file.
func (c *benchTasksCmd) Run(env *environment) error {
	request := selection.Request{Paths: c.Paths, Engines: []string{native.Name}, Jobs: 1}
	addFiles := func(files []string) error {
		env.commandFiles.addInputs("the set's", files...)
		return env.recorder.checkFiles(env.commandFiles)
	}
	selected, err := request.Find(addFiles)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return err
	}
	relativePath := func(file string) (string, error) { return filepath.Rel(dir, selected.Abs(file)) }
	tasks, err := bench.Tasks(selected.Tests, relativePath)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, task := range tasks {
		name := filepath.Join(dir, task.Name)
		env.recorder.addOutputs(name)
		err = errors.Join(err, os.WriteFile(name, task.Text, 0o644))
	}
	if err != nil {
		return err
	}
	env.markOutputStarted()
	_, err = fmt.Fprintf(env.stdout, "%d tasks in %s\n", len(tasks)-1, c.Dir) // the first file is the property, not a task
	return err
}
