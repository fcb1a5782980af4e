package cluster

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"tilecheck/cluster/settings"
	"tilecheck/internal/atomicfile"
	"tilecheck/internal/filelock"
)

// Dir is the absolute path of the directory of a job.
type Dir string

// Part returns the path of the partial file of a shard. Tasks pass a text for a shell as shard.
func (d Dir) Part(shard string) string { return d.path("parts", shard+".part") }

// Run returns the path of the record of how the run of a shard in a round ended.
func (d Dir) Run(round int, shard string) string {
	return d.path("runs", fmt.Sprintf("%d-%s", round, shard))
}

// Log returns the path of the log of a task.
func (d Dir) Log(round int, task string) string {
	return d.path("log", fmt.Sprintf("%d-%s.log", round, task))
}

// Tasks returns the path of the list of a round's shards, which has one line for each task.
func (d Dir) Tasks(round int) string { return d.path("rounds", fmt.Sprintf("%d.tasks", round)) }

// Script returns the path of the file that a back end submits for a round: a batch script (sh) or a manifest (yaml).
func (d Dir) Script(round int, kind string) string {
	return d.path("rounds", fmt.Sprintf("%d.%s", round, kind))
}

// Program returns the path of the staged program of a job.
func (d Dir) Program(j *Job) string {
	name := "tilecheck"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return d.path("bin", j.Binary.Digest[:16], name)
}

// Work returns the directory in which tasks run. In it, inputs have the names that the command uses.
func (d Dir) Work(j *Job) string {
	return filepath.Join(d.path("inputs", j.Tree[:16]), strings.Repeat("x/", j.Up))
}

func (d Dir) path(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

func (d Dir) stateFile() string { return d.path("submit.json") }

// folders are the directories in a job's directory.
func folders() []string { return []string{"bin", "inputs", "rounds", "parts", "runs", "log"} }

const (
	lockName     = "submit.lock"
	stateVersion = 1
	maxState     = 64 << 20
)

// Work is a job's directory to which this process is attached.
type Work struct {
	Dir      Dir
	Job      Job
	Backend  string // the name of the back end
	Settings settings.Settings
	ID       string // unique among all directories
	Rounds   []*Round

	lock *os.File
}

// state is the content of submit.json.
type state struct {
	Version  int               `json:"version"`
	ID       string            `json:"id"`
	Backend  string            `json:"backend"`
	Job      Job               `json:"job"`
	Settings settings.Settings `json:"settings"`
	Rounds   []*Round          `json:"rounds"`
}

// checksummedState is a state with its checksum.
type checksummedState struct {
	Sum   string          `json:"sha256"`
	State json.RawMessage `json:"state"`
}

// Exists reports whether a directory contains a job.
func Exists(dir string) bool {
	_, err := os.Lstat(Dir(dir).stateFile())
	return err == nil
}

// Create creates the directory of a job, stages the files that its tasks read, and attaches to it. It continues a directory whose driver was
// killed before it wrote the job. Other existing files are an error.
func Create(dir string, request Request) (w *Work, err error) {
	path, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	w = &Work{Dir: Dir(path), Backend: request.Backend, Settings: request.Settings}
	if err := w.checkFiles(); err != nil {
		return nil, err
	}
	if err := w.attach(); err != nil {
		return nil, err
	}
	defer func(w *Work) {
		if err != nil {
			w.Close()
		}
	}(w)
	if Exists(path) { // another process created the job before this one got the lock
		return nil, fmt.Errorf("%s has a job already", path)
	}
	for _, name := range folders() {
		if err := os.Mkdir(w.Dir.path(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	if err := w.checkFolders(); err != nil {
		return nil, err
	}
	if w.Job, err = w.Dir.stageFiles(request); err != nil {
		return nil, err
	}
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	w.ID = hex.EncodeToString(id[:])
	return w, w.saveState()
}

// Open attaches to the directory of a job and checks its files, so that it accepts only what a driver can have written.
func Open(dir string) (work *Work, err error) {
	path, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	work = &Work{Dir: Dir(path)}
	if !Exists(path) {
		return nil, fmt.Errorf("%s is no directory of submit: it has no submit.json", path)
	}
	if err := work.attach(); err != nil {
		return nil, err
	}
	defer func(work *Work) {
		if err != nil {
			work.Close()
		}
	}(work)
	if err := work.checkFolders(); err != nil {
		return nil, err
	}
	if err := work.loadState(); err != nil {
		return nil, fmt.Errorf("%s: %w", work.Dir.stateFile(), err)
	}
	return work, work.Dir.verify(&work.Job)
}

func absolute(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil && strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		err = fmt.Errorf("found the directory %q, want a name without control characters", path)
	}
	return path, err
}

// Close detaches, so that another driver can attach.
func (w *Work) Close() { _ = w.lock.Close() }

// attach locks the directory for this process.
func (w *Work) attach() error {
	name := w.Dir.path(lockName)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s, want a file", name, kind(info))
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if err := filelock.Take(file); err != nil {
		_ = file.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return fmt.Errorf("%s: another submit is attached to it; if its machine is lost, remove %s", w.Dir, name)
		}
		return fmt.Errorf("lock %s: %w", name, err)
	}
	w.lock = file
	return nil
}

// checkFiles returns an error if the directory contains a file that a driver does not write.
func (w *Work) checkFiles() error {
	entries, err := os.ReadDir(string(w.Dir))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != lockName && !slices.Contains(folders(), entry.Name()) {
			return fmt.Errorf("%s has %s, want a directory that is new, or of submit", w.Dir, entry.Name())
		}
	}
	return nil
}

// checkFolders returns an error for links in the place of directories or of files that tasks write.
func (w *Work) checkFolders() error {
	for _, name := range folders() {
		info, err := os.Lstat(w.Dir.path(name))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is %s, want a directory", w.Dir.path(name), kind(info))
		}
		if name == "bin" || name == "inputs" {
			continue // these files are compared with their digests
		}
		entries, err := os.ReadDir(w.Dir.path(name))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if info, err := entry.Info(); err == nil && !entry.Type().IsRegular() { // tasks rename files meanwhile
				return fmt.Errorf("%s is %s, want a file", w.Dir.path(name, entry.Name()), kind(info))
			}
		}
	}
	return nil
}

func kind(info fs.FileInfo) string {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	case info.IsDir():
		return "a directory"
	case info.Mode().IsRegular():
		return "a file"
	}
	return "no regular file"
}

// readRegular reads a regular file that is not larger than limit. It does not follow a link.
func readRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is %s, want a file", name, kind(info))
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, want at most %d", name, info.Size(), limit)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit))
}

// loadState reads and checks the state.
func (w *Work) loadState() error {
	text, err := readRegular(w.Dir.stateFile(), maxState)
	if err != nil {
		return err
	}
	var outer checksummedState
	if err := json.Unmarshal(text, &outer); err != nil {
		return fmt.Errorf("it is damaged: %w", err)
	}
	if sum := sha256.Sum256(outer.State); hex.EncodeToString(sum[:]) != outer.Sum {
		return errors.New("it is damaged: its checksum is another one")
	}
	var loaded state
	if err := json.Unmarshal(outer.State, &loaded); err != nil {
		return err
	}
	if loaded.Version != stateVersion {
		return fmt.Errorf("found version %d, want %d: attach with the program that wrote it", loaded.Version, stateVersion)
	}
	w.ID, w.Backend, w.Job, w.Settings, w.Rounds = loaded.ID, loaded.Backend, loaded.Job, loaded.Settings, loaded.Rounds
	return w.checkState()
}

// checkState checks that a driver can have written the state.
func (w *Work) checkState() error {
	if err := w.Job.check(); err != nil {
		return err
	}
	if err := w.Settings.Check(); err != nil {
		return err
	}
	if len(w.ID) != 8 || strings.Trim(w.ID, "0123456789abcdef") != "" {
		return fmt.Errorf("found the id %q, want 8 hexadecimal digits", w.ID)
	}
	if len(w.Rounds) > maxRounds {
		return fmt.Errorf("found %d rounds, want at most %d", len(w.Rounds), maxRounds)
	}
	for i, round := range w.Rounds {
		if round == nil || round.Number != i+1 || len(round.Tasks) == 0 || len(round.Tasks) > settings.MaxShards {
			return fmt.Errorf("round %d is none", i+1)
		}
		for _, shards := range round.Tasks {
			if len(shards) == 0 || slices.ContainsFunc(shards, func(shard int) bool { return shard < 1 || shard > settings.MaxShards }) {
				return fmt.Errorf("round %d has a shard that is none", i+1)
			}
		}
		w.fillRound(round)
	}
	return nil
}

// fillRound sets the fields of a round that all rounds have in common.
func (w *Work) fillRound(round *Round) {
	round.Name = fmt.Sprintf("tilecheck-%s-%d", w.ID, round.Number)
	round.Job, round.Settings, round.Dir = &w.Job, w.Settings, w.Dir
}

// saveState replaces the state file.
func (w *Work) saveState() error {
	body, err := json.Marshal(state{Version: stateVersion, ID: w.ID, Backend: w.Backend, Job: w.Job, Settings: w.Settings, Rounds: w.Rounds})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	text, err := json.Marshal(checksummedState{Sum: hex.EncodeToString(sum[:]), State: body})
	if err != nil {
		return err
	}
	return atomicfile.Write(w.Dir.stateFile(), func(file io.Writer) error {
		_, err := file.Write(append(text, '\n'))
		return err
	})
}

// newRound adds a round and writes its files and the state, before the round is submitted.
func (w *Work) newRound(tasks [][]int) (*Round, error) {
	if len(w.Rounds) == maxRounds {
		return nil, fmt.Errorf("%s has %d rounds, want fewer", w.Dir, maxRounds)
	}
	round := &Round{Number: len(w.Rounds) + 1, Tasks: tasks}
	w.fillRound(round)
	if err := w.Dir.createFile(w.Dir.Tasks(round.Number), round.taskLines()); err != nil {
		return nil, err
	}
	w.Rounds = append(w.Rounds, round)
	return round, w.saveState()
}

// taskLines returns the shards of each task, one line for each task, in the format that scripts read.
func (r *Round) taskLines() string {
	var text strings.Builder
	for _, shards := range r.Tasks {
		for i, shard := range shards {
			if i > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(strconv.Itoa(shard))
		}
		text.WriteByte('\n')
	}
	return text.String()
}

// createFile writes a file in the directory, never through a link. It replaces a file of a driver that was killed.
func (d Dir) createFile(name, text string) error {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s, want none or a file", name, kind(info))
	}
	return atomicfile.Write(name, func(file io.Writer) error {
		_, err := io.WriteString(file, text)
		return err
	})
}

// WriteScript writes the file that a back end submits for a round.
func (r *Round) WriteScript(kind, text string) (name string, err error) {
	name = r.Dir.Script(r.Number, kind)
	return name, r.Dir.createFile(name, text)
}
