package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	measurement "tilecheck/report/bench"
	"tilecheck/verify/bench"
)

// recordFormat is the version of records. Those of earlier versions are read.
const recordFormat = 1

// runRecord is what a record keeps of a run, besides the files beside it.
type runRecord struct {
	Format    int                 `json:"format"`
	Args      []string            `json:"args"` // the command line without --record-run
	Tilecheck string              `json:"tilecheck"`
	Started   time.Time           `json:"started"`
	Machine   measurement.Machine `json:"machine"`
	ExitCode  int                 `json:"exit_code"`
	// Inputs and Outputs are files with their digests, below the folders inputs and outputs.
	Inputs  []recordedFile `json:"inputs"`
	Outputs []recordedFile `json:"outputs"`
	// Programs are the tools that flags or the environment name.
	Programs []recordedFile `json:"programs,omitempty"`
	// Environment has the variables of tilecheck, such as TILECHECK_PRISM_IMAGE.
	Environment []string `json:"environment,omitempty"`
}

// recordedFile is a file with its digest.
type recordedFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// The files and folders of a record.
const (
	recordFile    = "record.json"
	recordStdout  = "stdout"
	recordStderr  = "stderr"
	recordInputs  = "inputs"
	recordOutputs = "outputs"
)

// recorder keeps a record of the run of this process.
type recorder struct {
	dir            string
	record         runRecord
	stdout, stderr bytes.Buffer
}

// cutRecord returns the folder of the flag --record-run, and the arguments without it. found is false if there is no such flag with a value.
func cutRecord(args []string) (dir string, rest []string, found bool) {
	for i, word := range args {
		switch value, hasValue := strings.CutPrefix(word, "--record-run="); {
		case word == "--":
			return "", args, false
		case hasValue && value != "":
			return value, slices.Delete(slices.Clone(args), i, i+1), true
		case word == "--record-run" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			return args[i+1], slices.Delete(slices.Clone(args), i, i+2), true
		}
	}
	return "", args, false
}

// beginRecord begins the record in a folder, which it makes. Standard output and standard error are no terminals then.
func (e *environment) beginRecord(dir string, args []string) (*recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--record-run: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("--record-run: %w", err)
	}
	if len(entries) > 0 {
		return nil, usageError("--record-run: found files in %s, want a new folder", dir)
	}
	build, err := e.identify()
	if err != nil {
		return nil, err
	}
	r := &recorder{dir: dir, record: runRecord{
		Format: recordFormat, Args: args, Tilecheck: build, Started: time.Now().UTC(), Machine: bench.ThisMachine(),
		Inputs: []recordedFile{}, Outputs: []recordedFile{},
	}}
	e.stdout, e.stderr = io.MultiWriter(e.stdout, &r.stdout), io.MultiWriter(e.stderr, &r.stderr)
	return r, nil
}

// finish writes the record of a run that ended with an exit code.
func (r *recorder) finish(env *environment, code int) error {
	r.record.ExitCode = code
	if env.files == nil {
		return errors.New("--record-run: nothing was run")
	}
	for _, variable := range []string{"TILECHECK_PRISM", "TILECHECK_PRISM_GAMES", "TILECHECK_STORM"} {
		for _, name := range []string{variable, variable + "_IMAGE"} {
			if value := env.getenv(name); value != "" {
				r.record.Environment = append(r.record.Environment, name+"="+value)
			}
		}
	}
	inputs, outputs := recordableNames(env.files.inputs), recordableNames(env.files.outputs)
	var err error
	if r.record.Programs, inputs, err = r.programs(inputs); err != nil {
		return err
	}
	if r.record.Inputs, err = r.keep(recordInputs, inputs); err != nil {
		return err
	}
	if r.record.Outputs, err = r.keep(recordOutputs, outputs); err != nil {
		return err
	}
	text, err := json.MarshalIndent(&r.record, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(r.dir, recordStdout), r.stdout.Bytes(), 0o644),
		os.WriteFile(filepath.Join(r.dir, recordStderr), r.stderr.Bytes(), 0o644),
		os.WriteFile(filepath.Join(r.dir, recordFile), append(text, '\n'), 0o644),
	)
}

// recordableNames returns the names of files, each once, in order. Standard input is none.
func recordableNames(files []namedFile) (out []string) {
	for _, file := range files {
		if file.name != "-" && file.name != "" && !slices.Contains(out, file.name) {
			out = append(out, file.name)
		}
	}
	slices.Sort(out)
	return out
}

// programs returns the digests of the executable files among the inputs, which are not kept, and the other inputs.
func (r *recorder) programs(inputs []string) (programs []recordedFile, others []string, err error) {
	for _, name := range inputs {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			others = append(others, name)
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		programs = append(programs, recordedFile{name, digestOf(text)})
	}
	return programs, others, nil
}

// keep copies files into a folder of the record. Files that do not exist and folders are left out.
func (r *recorder) keep(folder string, names []string) ([]recordedFile, error) {
	out := []recordedFile{}
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("--record-run: %w", err)
		}
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("--record-run: %s is outside of the current directory: run tilecheck in a directory above its files", name)
		}
		place := filepath.Join(r.dir, folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(place), 0o755), os.WriteFile(place, text, 0o644)); err != nil {
			return nil, fmt.Errorf("--record-run: %w", err)
		}
		out = append(out, recordedFile{filepath.ToSlash(name), digestOf(text)})
	}
	return out, nil
}

// digestOf returns the SHA-256 digest of a text.
func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
