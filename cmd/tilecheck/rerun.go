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
	"slices"
	"strings"
	"unicode/utf8"

	"tilecheck/internal/shard"
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

// Run repeats the run in a temporary directory, and prints which parts of the record differ.
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
	now, err := before.repeat(ctx, work, dir)
	if err != nil {
		return err
	}
	out := &table.Table{Columns: []table.Column{{Name: "part"}, {Name: "outcome"}, {Name: "recorded"}, {Name: "now"}}}
	isSame := before.compare(out, c.Dir, work, now)
	version, err := env.identify()
	if err == nil && version != before.Tilecheck {
		out.Notes = append(out.Notes, fmt.Sprintf("recorded by tilecheck %s, repeated by %s", before.Tilecheck, version))
	}
	out.Notes = append(out.Notes, before.toolNotes(now.record)...)
	env.markOutputStarted()
	if err := out.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if !isSame {
		return exitStatus(exitFailed)
	}
	return nil
}

// readRecord reads the file record.json of a record.
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

// restoreInputs copies the inputs from the record into a directory. It returns an error if the record does not have the original files any more.
func (r *runRecord) restoreInputs(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, file := range r.Inputs {
		name := filepath.FromSlash(file.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the record has the input %s, want a file below the current directory", file.Name)
		}
		copied := filepath.Join(from, recordInputs, name)
		digest, err := copyFile(copied, filepath.Join(to, name))
		if err != nil {
			return err
		}
		if digest != file.SHA256 {
			return fmt.Errorf("%s is not the file that was recorded: its SHA-256 is %s, want %s", copied, digest, file.SHA256)
		}
	}
	return nil
}

// repetition is the outcome of a repeated run.
type repetition struct {
	code   int
	stdout []byte
	record *runRecord
}

// repeat runs the command of the record in the directory work. It records the new run, with a cache of its own, in the directory temp.
func (r *runRecord) repeat(ctx context.Context, work, temp string) (*repetition, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	tool, err := local.New(program)
	if err != nil {
		return nil, err
	}
	var stdout bytes.Buffer
	newRecord := filepath.Join(temp, "record")
	args := slices.Insert(slices.Clone(r.Args), 1, "--record-run="+newRecord)
	// The new cache is empty, so all answers are computed again.
	environment := append([]string{"TILECHECK_CACHE=" + filepath.Join(temp, "cache"), "COLUMNS="}, r.Environment...)
	exit, err := tool.In(work, environment...).Run(ctx, runner.Command{Args: args, Stdout: &stdout})
	if err != nil {
		return nil, err
	}
	record, err := readRecord(newRecord)
	if err != nil {
		record = new(runRecord) // the command failed before it used a tool
	}
	return &repetition{exit.Code, stdout.Bytes(), record}, nil
}

// toolNotes returns a note for each program and each image that has changed since the record.
func (r *runRecord) toolNotes(now *runRecord) []string {
	return slices.Concat(r.programNotes(now), r.imageNotes(now))
}

// programNotes returns a note for each program with another digest than in the record.
func (r *runRecord) programNotes(now *runRecord) (notes []string) {
	for _, before := range r.Programs {
		for _, after := range now.Programs {
			if after.Name == before.Name && after.SHA256 != before.SHA256 {
				notes = append(notes, fmt.Sprintf("%s is another program: recorded with SHA-256 %s, now %s", before.Name, before.SHA256, after.SHA256))
			}
		}
	}
	return notes
}

// imageNotes returns a note for each tool that ran in another image than in the record.
func (r *runRecord) imageNotes(now *runRecord) (notes []string) {
	for _, before := range r.Images {
		for _, after := range now.Images {
			if after.Engine == before.Engine && after.ID != before.ID {
				notes = append(notes, fmt.Sprintf("%s ran in another image: recorded %s %s, now %s %s", before.Engine, before.Name, before.ID, after.Name, after.ID))
			}
		}
	}
	return notes
}

// compare adds a row to the table for each part of the record, and reports whether all parts are the same. The repetition wrote its files in the
// directory work.
func (r *runRecord) compare(out *table.Table, dir, work string, now *repetition) bool {
	parts := &comparedParts{table: out}
	parts.add("exit code", r.ExitCode == now.code, fmt.Sprint(r.ExitCode), fmt.Sprint(now.code))
	parts.addStdout(filepath.Join(dir, recordStdout), now.stdout)
	for _, file := range r.Outputs {
		name := filepath.FromSlash(file.Name)
		parts.addOutput(file, filepath.Join(dir, recordOutputs, name), filepath.Join(work, name))
	}
	return !parts.differ
}

// comparedParts has a row for each part of a record that was compared with its repetition.
type comparedParts struct {
	table  *table.Table
	differ bool // some part is different
}

// add adds the row of a part.
func (p *comparedParts) add(part string, isSame bool, recorded, now string) {
	if isSame {
		p.table.Append(part, table.Cell{Text: "same", Tone: table.Good}, "", "")
		return
	}
	p.differ = true
	p.table.Append(part, table.Cell{Text: "different", Tone: table.Bad}, recorded, now)
}

// addStdout adds the row of standard output. file is its copy in the record.
func (p *comparedParts) addStdout(file string, now []byte) {
	recorded, err := os.ReadFile(file)
	if err != nil {
		p.add("standard output", false, err.Error(), "")
		return
	}
	first, second := firstDifferentLines(withoutTimes(recorded), withoutTimes(now))
	p.add("standard output", first == second, first, second)
}

// addOutput adds the row of an output file. recorded and now are the paths of the copy in the record and of the new file.
func (p *comparedParts) addOutput(file shard.Input, recorded, now string) {
	digest, _, err := shard.Digest(now)
	if err != nil {
		p.add(file.Name, false, file.SHA256, "was not written")
		return
	}
	isSame := digest == file.SHA256 || differInTimesOnly(recorded, now)
	p.add(file.Name, isSame, "SHA-256 "+file.SHA256, "SHA-256 "+digest)
}

// differInTimesOnly reports whether two text files are equal without the times in them.
func differInTimesOnly(recorded, now string) bool {
	first, err1 := os.ReadFile(recorded)
	second, err2 := os.ReadFile(now)
	if err1 != nil || err2 != nil || !utf8.Valid(first) || !utf8.Valid(second) {
		return false
	}
	return slices.Equal(withoutTimes(first), withoutTimes(second))
}

// times matches the texts that differ between runs with the same answers: durations and speeds in tables, and times in JSON.
var times = regexp.MustCompile(`moves per second"?[ ,]+[-+0-9.e]+|<?\d+(\.\d+)?(ns|µs|ms|s|m|h)(\d+(\.\d+)?(ms|s|m))*\b|\btime(stamp)?="[^"]*"|"([a-z_]*seconds|elapsed|run|started|created|version)": ?("[^"]*"|[-+0-9.e]+)`)

// withoutTimes returns the lines of an output without times. It normalizes blanks and dashes, because the widths of table columns depend on times.
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

// firstDifferentLines returns the first pair of different lines of two texts. It returns two empty lines if the texts are equal.
func firstDifferentLines(first, second []string) (string, string) {
	for i := range max(len(first), len(second)) {
		var firstLine, secondLine string
		if i < len(first) {
			firstLine = first[i]
		}
		if i < len(second) {
			secondLine = second[i]
		}
		if firstLine != secondLine {
			return firstLine, secondLine
		}
	}
	return "", ""
}
