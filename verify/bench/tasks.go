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

// Tasks returns a task definition for each pair of a model and a properties file, after the file of their common property. relative returns the name of
// a file relative to the folder of the definitions. The definitions do not contain switches and constants, which tilecheck test reads from files
// in the folder of the model.
//
// Source: BenchExec, doc/benchexec.md, version 2.0 of the format.
func Tasks(tests []regress.Test, relative func(file string) (string, error)) ([]TaskFile, error) {
	tasks := []TaskFile{{PropertyFile, []byte("The values of all properties are the expected ones.\n")}}
	seen := make(map[[2]string]bool)
	for i := range tests {
		pair := [2]string{tests[i].Model, tests[i].Props}
		if seen[pair] || pair[0] == "" {
			continue
		}
		seen[pair] = true
		var text strings.Builder
		text.WriteString("format_version: '2.0'\ninput_files:\n")
		for _, file := range pair {
			if file == "" {
				continue
			}
			name, err := relative(file)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "  - %s\n", strconv.Quote(filepath.ToSlash(name)))
		}
		fmt.Fprintf(&text, "properties:\n  - property_file: %s\n    expected_verdict: true\n", PropertyFile)
		name := strings.TrimSuffix(path.Base(pair[0]), path.Ext(pair[0]))
		tasks = append(tasks, TaskFile{fmt.Sprintf("%04d-%s.yml", len(tasks), name), []byte(text.String())})
	}
	return tasks, nil
}
