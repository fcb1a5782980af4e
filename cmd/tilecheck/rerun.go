package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"tilecheck/internal/tempdir"
	"tilecheck/report/table"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// rerunCmd repeats the run of a record.
type rerunCmd struct {
	Dir    string       `arg:"" help:"The folder of a record."`
	Format table.Format `help:"table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run repeats the run in a temporary directory, and says what differs.
func (c *rerunCmd) Run(ctx context.Context, env *environment) (err error) {
	before, err := readRecord(c.Dir)
	if err != nil {
		return err
	}
	dir, remove, err := tempdir.Make(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	work := filepath.Join(dir, "work")
	if err := before.restoreInputs(c.Dir, work); err != nil {
		return err
	}
	now, err := before.repeat(ctx, work, filepath.Join(dir, "cache"))
	if err != nil {
		return err
	}
	out := &table.Table{Columns: []table.Column{{Name: "part"}, {Name: "outcome"}, {Name: "recorded"}, {Name: "now"}}}
	same := before.compare(out, c.Dir, work, now)
	version, err := env.identify()
	if err == nil && version != before.Tilecheck {
		out.Notes = append(out.Notes, fmt.Sprintf("recorded by tilecheck %s, repeated by %s", before.Tilecheck, version))
	}
	env.beginsPrinting()
	if err := out.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if !same {
		return exitStatus(exitFailed)
	}
	return nil
}

// readRecord reads a record. The error says that an input is not the one that was recorded.
func readRecord(dir string) (*runRecord, error) {
	name := filepath.Join(dir, recordFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var record runRecord
	switch err := json.Unmarshal(text, &record); {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case record.Format > recordFormat:
		return nil, fmt.Errorf("%s: found format %d, want at most %d: a newer tilecheck wrote it", name, record.Format, recordFormat)
	case record.Format < 1 || len(record.Args) == 0:
		return nil, fmt.Errorf("%s: found no format or no command, want a record of tilecheck", name)
	}
	return &record, nil
}

// restoreInputs puts the inputs into a directory.
func (r *runRecord) restoreInputs(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, file := range r.Inputs {
		name := filepath.FromSlash(file.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the record has the input %s, want a file below the current directory", file.Name)
		}
		place := filepath.Join(from, recordInputs, name)
		text, err := os.ReadFile(place)
		if err != nil {
			return err
		}
		if digestOf(text) != file.SHA256 {
			return fmt.Errorf("%s is not the file that was recorded: its SHA-256 is %s, want %s", place, digestOf(text), file.SHA256)
		}
		target := filepath.Join(to, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, text, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// repetition is the outcome of a repeated run.
type repetition struct {
	code   int
	stdout []byte
}

// repeat runs the command of the record with this program. Answers that are kept elsewhere are not used.
func (r *runRecord) repeat(ctx context.Context, dir, cache string) (*repetition, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	tool, err := local.New(program)
	if err != nil {
		return nil, err
	}
	var stdout bytes.Buffer
	environment := append([]string{"TILECHECK_CACHE=" + cache, "COLUMNS="}, r.Environment...)
	exit, err := tool.In(dir, environment...).Run(ctx, runner.Command{Args: r.Args, Stdout: &stdout})
	if err != nil {
		return nil, err
	}
	return &repetition{exit.Code, stdout.Bytes()}, nil
}

// compare adds a row for each part of the record, and reports whether all are the same.
func (r *runRecord) compare(out *table.Table, dir, work string, now *repetition) bool {
	same := true
	add := func(part string, equal bool, recorded, found string) {
		outcome := table.Cell{Text: "same", Tone: table.Good}
		if !equal {
			same = false
			outcome = table.Cell{Text: "different", Tone: table.Bad}
		} else {
			recorded, found = "", ""
		}
		out.Append(part, outcome, recorded, found)
	}
	add("exit code", r.ExitCode == now.code, fmt.Sprint(r.ExitCode), fmt.Sprint(now.code))
	recorded, err := os.ReadFile(filepath.Join(dir, recordStdout))
	if err != nil {
		add("standard output", false, err.Error(), "")
	} else {
		first, second := firstDifferentLines(withoutTimes(recorded), withoutTimes(now.stdout))
		add("standard output", first == second, first, second)
	}
	for _, file := range r.Outputs {
		text, err := os.ReadFile(filepath.Join(work, filepath.FromSlash(file.Name)))
		if err != nil {
			add(file.Name, false, file.SHA256, "was not written")
			continue
		}
		add(file.Name, digestOf(text) == file.SHA256, "SHA-256 "+file.SHA256, "SHA-256 "+digestOf(text))
	}
	return same
}

// times matches what differs from run to run although the answers are the same: durations and speeds of tables, and times in JSON.
var times = regexp.MustCompile(`moves per second"?[ ,]+[-+0-9.e]+|<?\d+(\.\d+)?(ns|µs|ms|s|m|h)(\d+(\.\d+)?(ms|s|m))*\b|"([a-z_]*seconds|elapsed|run|started|created|version)": ?("[^"]*"|[-+0-9.e]+)`)

// withoutTimes returns the lines of an output without times, and with single blanks: the widths of columns depend on times.
func withoutTimes(text []byte) []string {
	var out []string
	for line := range strings.Lines(string(text)) {
		line = times.ReplaceAllString(line, "TIME")
		words := strings.Fields(strings.ReplaceAll(line, "--", ""))
		if joined := strings.Trim(strings.Join(words, " "), "- "); joined != "" {
			out = append(out, joined)
		}
	}
	return out
}

// firstDifferentLines returns the first lines in which two texts differ, which are equal if there are none.
func firstDifferentLines(first, second []string) (string, string) {
	for i := range max(len(first), len(second)) {
		var x, y string
		if i < len(first) {
			x = first[i]
		}
		if i < len(second) {
			y = second[i]
		}
		if x != y {
			return x, y
		}
	}
	return "", ""
}
