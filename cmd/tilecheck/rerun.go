package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	Format table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run repeats a recorded run in a temporary directory. It prints a row for each part of the record, such as the exit code or an output file: whether the new
// run gives the same.
func (c *rerunCmd) Run(ctx context.Context, env *environment) (err error) {
	recorded, err := readRecord(c.Dir)
	if err != nil {
		return err
	}
	dir, remove, err := tempdir.Make(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	workDir := filepath.Join(dir, "work")
	if err := recorded.restoreInputs(c.Dir, workDir); err != nil {
		return err
	}
	repeated, err := recorded.repeat(ctx, workDir, dir)
	if err != nil {
		return err
	}
	partTable := &table.Table{Columns: []table.Column{{Name: "part"}, {Name: "outcome"}, {Name: "recorded"}, {Name: "now"}}}
	isSame := recorded.compare(partTable, c.Dir, workDir, repeated)
	version, err := env.identifyBuild()
	if err == nil && version != recorded.Tilecheck {
		partTable.Notes = append(partTable.Notes, fmt.Sprintf("recorded by tilecheck %s, repeated by %s", recorded.Tilecheck, version))
	}
	partTable.Notes = append(partTable.Notes, recorded.toolNotes(repeated.record)...)
	env.markOutputStarted()
	if err := partTable.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if !isSame {
		return exitStatus(exitFailed)
	}
	return nil
}

// readRecord reads record.json, the description of a recorded run, from the folder of the record.
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

// restoreInputs copies the input files of a record from recordDir to workDir. It returns an error if a file in the record has
// changed.
func (r *runRecord) restoreInputs(recordDir, workDir string) error {
	if err := os.MkdirAll(workDir, 0o755); err != nil {
		return err
	}
	for _, file := range r.Inputs {
		name := filepath.FromSlash(file.Name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("the record has the input %s, want a file below the current directory", file.Name)
		}
		copied := filepath.Join(recordDir, recordInputs, name)
		digest, err := copyFile(copied, filepath.Join(workDir, name))
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

// repeat runs the recorded command in the directory workDir. The new run is recorded in the directory tempDir, and uses an empty cache.
func (r *runRecord) repeat(ctx context.Context, workDir, tempDir string) (*repetition, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	tool, err := local.New(program)
	if err != nil {
		return nil, err
	}
	var stdout bytes.Buffer
	newRecordDir := filepath.Join(tempDir, "record")
	args := slices.Insert(slices.Clone(r.Args), 1, "--record-run="+newRecordDir)
	// With an empty cache, all answers are computed again.
	environment := append([]string{"TILECHECK_CACHE=" + filepath.Join(tempDir, "cache"), "COLUMNS="}, r.Environment...)
	exited, err := tool.In(workDir, environment...).Run(ctx, runner.Command{Args: args, Stdout: &stdout})
	if err != nil {
		return nil, err
	}
	record, err := readRecord(newRecordDir)
	if err != nil {
		record = new(runRecord) // the command failed before it used a tool
	}
	return &repetition{exited.Code, stdout.Bytes(), record}, nil
}

// toolNotes returns a note for each program and each image that has changed since the record.
func (r *runRecord) toolNotes(now *runRecord) []string {
	return slices.Concat(r.programNotes(now), r.imageNotes(now))
}

// programNotes returns a note for each program that has changed: its digest in the new record is another one.
func (r *runRecord) programNotes(newRecord *runRecord) (notes []string) {
	for _, recorded := range r.Programs {
		for _, current := range newRecord.Programs {
			if current.Name == recorded.Name && current.SHA256 != recorded.SHA256 {
				notes = append(notes, fmt.Sprintf("%s is another program: recorded with SHA-256 %s, now %s", recorded.Name, recorded.SHA256, current.SHA256))
			}
		}
	}
	return notes
}

// imageNotes returns a note for each tool that now runs in another image.
func (r *runRecord) imageNotes(newRecord *runRecord) (notes []string) {
	for _, recorded := range r.Images {
		for _, current := range newRecord.Images {
			if current.Engine == recorded.Engine && current.ID != recorded.ID {
				notes = append(notes, fmt.Sprintf("%s ran in another image: recorded %s %s, now %s %s", recorded.Engine, recorded.Name, recorded.ID, current.Name, current.ID))
			}
		}
	}
	return notes
}

// compare compares a repeated run with the record in the folder recordDir. It adds a row to the table for each part: exit code, standard output, output
// files. It returns true if all parts are the same. The repeated run has written its files in the directory workDir.
func (r *runRecord) compare(partTable *table.Table, recordDir, workDir string, repeated *repetition) bool {
	compared := &comparedParts{table: partTable}
	compared.addPart("exit code", r.ExitCode == repeated.code, fmt.Sprint(r.ExitCode), fmt.Sprint(repeated.code))
	compared.addStdout(filepath.Join(recordDir, recordStdout), repeated.stdout)
	for _, file := range r.Outputs {
		name := filepath.FromSlash(file.Name)
		compared.addOutput(file, filepath.Join(recordDir, recordOutputs, name), filepath.Join(workDir, name))
	}
	return !compared.hasDifference
}

// comparedParts has a row for each part of a record that was compared with its repetition.
type comparedParts struct {
	table         *table.Table
	hasDifference bool // some part is different
}

// addPart adds the row for a part of the record. The row shows the recorded and the new text only if they differ.
func (p *comparedParts) addPart(part string, isSame bool, recorded, now string) {
	if isSame {
		p.table.Append(part, table.Cell{Text: "same", Tone: table.Good}, "", "")
		return
	}
	p.hasDifference = true
	p.table.Append(part, table.Cell{Text: "different", Tone: table.Bad}, recorded, now)
}

// addStdout adds the row for standard output. recordedFile is the recorded output, and newOutput is the new output. Times in the outputs are not compared.
func (p *comparedParts) addStdout(recordedFile string, newOutput []byte) {
	recorded, err := os.ReadFile(recordedFile)
	if err != nil {
		p.addPart("standard output", false, err.Error(), "")
		return
	}
	first, second := firstDifferentLines(withoutTimes(recorded), withoutTimes(newOutput))
	p.addPart("standard output", first == second, first, second)
}

// addOutput adds the row for an output file. recordedFile is the path of the recorded copy, and newFile is the path of the file that the new run
// has written.
func (p *comparedParts) addOutput(file shard.Input, recordedFile, newFile string) {
	digest, _, err := shard.Digest(newFile)
	if err != nil {
		p.addPart(file.Name, false, file.SHA256, "was not written")
		return
	}
	isSame := digest == file.SHA256 || differInTimesOnly(recordedFile, newFile)
	p.addPart(file.Name, isSame, "SHA-256 "+file.SHA256, "SHA-256 "+digest)
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

// firstDifferentLines returns the first pair of different lines of two texts. It returns two empty lines if the texts are equal.
func firstDifferentLines(first, second []string) (string, string) {
	for line := range max(len(first), len(second)) {
		var firstLine, secondLine string
		if line < len(first) {
			firstLine = first[line]
		}
		if line < len(second) {
			secondLine = second[line]
		}
		if firstLine != secondLine {
			return firstLine, secondLine
		}
	}
	return "", ""
}
