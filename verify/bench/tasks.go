package bench

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"tilecheck/verify/regress"
)

// TaskFile is a task definition of BenchExec.
type TaskFile struct {
	Name string
	Text []byte
}

// PropertyFile is the name of the file with the property of every task, which is that the values are the expected ones.
const PropertyFile = "expected-values.prp"

// Tasks returns the file PropertyFile, and then a task definition for each pair of a model and a properties file. relativeName returns the name of a file
// relative to the folder of the definitions. The definitions do not contain switches and constants.
//
// Source: BenchExec, doc/benchexec.md, version 2.0 of the format.
func Tasks(tests []regress.Test, relativeName func(file string) (string, error)) ([]TaskFile, error) {
	tasks := []TaskFile{{PropertyFile, []byte("The values of all properties are the expected ones.\n")}}
	isListed := make(map[[2]string]bool)
	for i := range tests {
		model, props := tests[i].Model, tests[i].Props
		pair := [2]string{model, props}
		if isListed[pair] || model == "" {
			continue
		}
		isListed[pair] = true
		text, err := taskText(model, props, relativeName)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(path.Base(model), path.Ext(model))
		tasks = append(tasks, TaskFile{fmt.Sprintf("%04d-%s.yml", len(tasks), name), text})
	}
	return tasks, nil
}

// taskText returns the text of a task definition of BenchExec. props is empty if there is no properties file.
func taskText(model, props string, relativeName func(file string) (string, error)) ([]byte, error) {
	text := []byte("format_version: '2.0'\ninput_files:\n")
	for _, file := range []string{model, props} {
		if file == "" {
			continue
		}
		name, err := relativeName(file)
		if err != nil {
			return nil, err
		}
		text = fmt.Appendf(text, "  - %s\n", strconv.Quote(filepath.ToSlash(name)))
	}
	return fmt.Appendf(text, "properties:\n  - property_file: %s\n    expected_verdict: true\n", PropertyFile), nil
}
