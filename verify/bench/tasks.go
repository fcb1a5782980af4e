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

// PropertyFile is the name of the property of every task: the values are the expected ones.
const PropertyFile = "expected-values.prp"

// Tasks returns a task definition for each pair of a model and a properties file, and the file of their common property. relative returns the name of
// a file from the folder of the definitions. The switches and constants of a pair are in files beside it, which tilecheck test finds.
//
// Source: BenchExec, doc/benchexec.md, version 2.0 of the format.
func Tasks(tests []regress.Test, relative func(file string) (string, error)) ([]TaskFile, error) {
	out := []TaskFile{{PropertyFile, []byte("The values of all properties are the expected ones.\n")}}
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
		out = append(out, TaskFile{fmt.Sprintf("%04d-%s.yml", len(out), name), []byte(text.String())})
	}
	return out, nil
}
