package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tilecheck/containers"
	"tilecheck/internal/atomicfile"
	"tilecheck/internal/shard"
	measurement "tilecheck/report/bench"
	"tilecheck/verify/bench"
)

// recordFormat is the version of records. Records of earlier versions can be read.
const recordFormat = 1

// runRecord is the contents of the file record.json of a record. The record also has copies of the files, and the output of the run.
type runRecord struct {
	Format    int                 `json:"format"`
	Args      []string            `json:"args"` // the command line without --record-run
	Tilecheck string              `json:"tilecheck"`
	Started   time.Time           `json:"started"`
	Machine   measurement.Machine `json:"machine"`
	ExitCode  int                 `json:"exit_code"`
	// Inputs and Outputs are files with their digests. Their copies are in the folders inputs and outputs.
	Inputs  []shard.Input `json:"inputs"`
	Outputs []shard.Input `json:"outputs"`
	// Programs are the tools that flags or the environment name. They are not copied.
	Programs []shard.Input `json:"programs,omitempty"`
	// Images are the images of Docker in which tools ran. They are not copied.
	Images []recordedImage `json:"images,omitempty"`
	// Environment has the variables of tilecheck, such as TILECHECK_PRISM_IMAGE.
	Environment []string `json:"environment,omitempty"`
}

// recordedImage is an image of Docker in which a tool ran.
type recordedImage struct {
	Engine string `json:"engine"`
	Name   string `json:"name"`             // such as tilecheck/prism:4.8
	ID     string `json:"id"`               // the digest of its configuration and layers
	Digest string `json:"digest,omitempty"` // of its manifest, if it came from a registry
}

// The files and folders of a record.
const (
	recordFile    = "record.json"
	recordStdout  = "stdout"
	recordStderr  = "stderr"
	recordInputs  = "inputs"
	recordOutputs = "outputs"
)

// recorder records the run of this process.
type recorder struct {
	dir            string
	record         runRecord
	stdout, stderr bytes.Buffer
	mutex          sync.Mutex // guards record.Images and outputs
	outputs        []string   // the files that the run has written
}

// addOutputs records that the run writes files. It omits standard output and devices. Without a recorder (nil) it does nothing.
func (r *recorder) addOutputs(names ...string) {
	if r == nil {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, name := range names {
		if isStdout(name) || !atomicfile.PlaceOf(name).KeepsOutput() {
			continue
		}
		if filepath.IsAbs(name) { // commands that find their files themselves use absolute names
			name = relativeName(name)
		}
		r.outputs = append(r.outputs, filepath.Clean(name))
	}
}

// relativeName returns an absolute file name relative to the current directory. It returns the name unchanged if there is no relative name.
func relativeName(absoluteName string) string {
	currentDir, err := filepath.Abs(".")
	if err != nil {
		return absoluteName
	}
	name, err := filepath.Rel(currentDir, absoluteName)
	if err != nil {
		return absoluteName
	}
	return name
}

// addImage records that the tool of an engine runs in an image. Without a recorder (nil) it does nothing.
func (r *recorder) addImage(engine string, image containers.Image) {
	if r == nil {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	usedImage := recordedImage{Engine: engine, Name: image.Ref, ID: image.ID, Digest: image.Digest}
	if !slices.Contains(r.record.Images, usedImage) {
		r.record.Images = append(r.record.Images, usedImage)
	}
}

// cutRecord removes the flag --record-run from the arguments. It returns the folder that the flag names and the other arguments. isFound is false
// if the flag is missing or has no value.
func cutRecord(args []string) (dir string, otherArgs []string, isFound bool) {
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

// beginRecord begins the record of a run in a new folder. From now on, the record also gets everything that is written to standard output and
// standard error.
func (e *environment) beginRecord(dir string, args []string) (*recorder, error) {
	for _, arg := range args {
		if !utf8.ValidString(arg) { // JSON cannot express it, so the run could not be repeated
			return nil, usageError("--record-run: %s is not UTF-8, which the record needs", arg)
		}
	}
	if err := makeEmptyFolder(dir); err != nil {
		return nil, err
	}
	thisBuild, err := e.identifyBuild()
	if err != nil {
		return nil, err
	}
	newRecorder := &recorder{dir: dir, record: runRecord{
		Format: recordFormat, Args: args, Tilecheck: thisBuild, Started: time.Now().UTC(), Machine: bench.ThisMachine(),
		Inputs: []shard.Input{}, Outputs: []shard.Input{},
	}}
	e.stdout, e.stderr = io.MultiWriter(e.stdout, &newRecorder.stdout), io.MultiWriter(e.stderr, &newRecorder.stderr)
	return newRecorder, nil
}

// makeEmptyFolder makes the folder of a record. It returns an error if the folder has files.
func makeEmptyFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--record-run: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("--record-run: %w", err)
	}
	if len(entries) > 0 {
		return usageError("--record-run: found files in %s, want a new folder", dir)
	}
	return nil
}

// checkFiles returns a usage error if the files make it impossible to repeat the run. Without a recorder (nil) it accepts all files.
func (r *recorder) checkFiles(files *commandFiles) error {
	if r == nil {
		return nil
	}
	if len(files.fromStdin) > 0 {
		return usageError("--record-run: %s is standard input, which cannot be recorded, want a file", files.fromStdin[0])
	}
	for _, file := range slices.Concat(files.inputs, files.outputs) {
		_, err := os.Stat(file.name)
		switch {
		case file.source == "--cache": // a repetition uses a new cache
		case file.isUpdated && err == nil:
			return usageError("--record-run: %v exists and will be changed, want a new file", file)
		case file.name != "-" && !filepath.IsLocal(file.name) && !isProgram(file.name):
			return usageError("--record-run: %v is outside of the current directory: run tilecheck in a directory above its files", file)
		}
	}
	return nil
}

// writeRecord completes the record after the run: it copies the input and output files and writes the text of the streams. code is the exit code of
// the run.
func (r *recorder) writeRecord(env *environment, code int) error {
	r.record.ExitCode = code
	if env.commandFiles == nil {
		return errors.New("--record-run: nothing was run")
	}
	r.record.Environment = toolVariables(env)
	inputs, outputs := recordableNames(env.commandFiles.inputs), slices.Compact(slices.Sorted(slices.Values(r.outputs)))
	var err error
	if r.record.Programs, inputs, err = separatePrograms(inputs); err != nil {
		return err
	}
	if r.record.Inputs, err = r.copyFiles(recordInputs, inputs); err != nil {
		return err
	}
	for _, name := range inputs {
		if slices.Contains(outputs, filepath.Clean(name)) {
			return fmt.Errorf("--record-run: the command has changed its input %s, so the record cannot be repeated", name)
		}
	}
	if r.record.Outputs, err = r.copyFiles(recordOutputs, outputs); err != nil {
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

// toolVariables returns the environment variables that select the tools, as NAME=VALUE.
func toolVariables(env *environment) (variables []string) {
	for _, tool := range []string{"TILECHECK_PRISM", "TILECHECK_PRISM_GAMES", "TILECHECK_STORM"} {
		for _, name := range []string{tool, tool + "_IMAGE"} {
			if value := env.getenv(name); value != "" {
				variables = append(variables, name+"="+value)
			}
		}
	}
	return variables
}

// recordableNames returns the names of files, sorted and without duplicates. It omits standard input, and files that the run updates, such as
// caches.
func recordableNames(files []namedFile) (names []string) {
	for _, file := range files {
		if file.name != "-" && file.name != "" && !file.isUpdated && !slices.Contains(names, file.name) {
			names = append(names, file.name)
		}
	}
	slices.Sort(names)
	return names
}

// separatePrograms divides the inputs into executable files and other files. Executable files are not copied into the record, so it returns their
// digests.
func separatePrograms(inputs []string) (programs []shard.Input, otherFiles []string, err error) {
	for _, name := range inputs {
		if !isProgram(name) {
			otherFiles = append(otherFiles, name)
			continue
		}
		digest, _, err := shard.Digest(name)
		if err != nil {
			return nil, nil, err
		}
		programs = append(programs, shard.Input{Name: name, SHA256: digest})
	}
	return programs, otherFiles, nil
}

// isProgram reports whether a file can be executed.
func isProgram(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// copyFiles copies files into a folder of the record and returns their digests. It omits folders and missing files.
func (r *recorder) copyFiles(folder string, names []string) ([]shard.Input, error) {
	digests := []shard.Input{}
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
			continue
		}
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("--record-run: %s is outside of the current directory: run tilecheck in a directory above its files", name)
		}
		digest, err := copyFile(name, filepath.Join(r.dir, folder, name))
		if err != nil {
			return nil, fmt.Errorf("--record-run: %w", err)
		}
		digests = append(digests, shard.Input{Name: filepath.ToSlash(name), SHA256: digest})
	}
	return digests, nil
}

// copyFile copies a file and returns the SHA-256 digest of the copy. It makes the missing directories.
func copyFile(source, target string) (digest string, err error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, text, 0o644)); err != nil {
		return "", err
	}
	digest, _, err = shard.Digest(target)
	return digest, err
}
