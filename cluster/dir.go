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

// Dir is the directory of a job, absolute.
type Dir string

// Part is the partial file of a shard. Tasks put a text for a shell here.
func (d Dir) Part(shard string) string { return d.in("parts", shard+".part") }

// Run is the record of how the run of a shard in a round ended.
func (d Dir) Run(round int, shard string) string {
	return d.in("runs", fmt.Sprintf("%d-%s", round, shard))
}

// Log is what a task says.
func (d Dir) Log(round int, task string) string {
	return d.in("log", fmt.Sprintf("%d-%s.log", round, task))
}

// Tasks lists the shards of a round, one line a task.
func (d Dir) Tasks(round int) string { return d.in("rounds", fmt.Sprintf("%d.tasks", round)) }

// Script is what a back end is given of a round: a batch script (sh), a manifest (yaml).
func (d Dir) Script(round int, kind string) string {
	return d.in("rounds", fmt.Sprintf("%d.%s", round, kind))
}

// Program is the staged program of a job.
func (d Dir) Program(j *Job) string {
	name := "tilecheck"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return d.in("bin", j.Binary.Digest[:16], name)
}

// Work is the directory that tasks run in, where inputs have the names that the command has for them.
func (d Dir) Work(j *Job) string {
	return filepath.Join(d.in("inputs", j.Tree[:16]), strings.Repeat("x/", j.Up))
}

func (d Dir) in(parts ...string) string {
	return filepath.Join(append([]string{string(d)}, parts...)...)
}

func (d Dir) state() string { return d.in("submit.json") }

// folders are what a directory has besides its state and its lock.
func folders() []string { return []string{"bin", "inputs", "rounds", "parts", "runs", "log"} }

const (
	lockName     = "submit.lock"
	stateVersion = 1
	maxState     = 64 << 20
)

// Work is a directory that this process is attached to.
type Work struct {
	Dir      Dir
	Job      Job
	Backend  string // the name of the back end
	Settings settings.Settings
	ID       string // of its own among all directories
	Rounds   []*Round

	lock *os.File
}

// state is what submit.json has.
type state struct {
	Version  int               `json:"version"`
	ID       string            `json:"id"`
	Backend  string            `json:"backend"`
	Job      Job               `json:"job"`
	Settings settings.Settings `json:"settings"`
	Rounds   []*Round          `json:"rounds"`
}

// sealed is a state with its checksum.
type sealed struct {
	Sum   string          `json:"sha256"`
	State json.RawMessage `json:"state"`
}

// Exists reports whether a directory has a job.
func Exists(dir string) bool {
	_, err := os.Lstat(Dir(dir).state())
	return err == nil
}

// Create makes the directory of a job, stages what its tasks read, and attaches to
// it. A directory of a driver that was killed before the job was written is taken;
// one that has anything else is an error.
func Create(dir string, request Request) (w *Work, err error) {
	path, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, err
	}
	w = &Work{Dir: Dir(path), Backend: request.Backend, Settings: request.Settings}
	if err := w.onlyOurs(); err != nil {
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
	if Exists(path) { // in the moment before it was locked
		return nil, fmt.Errorf("%s has a job already", path)
	}
	for _, name := range folders() {
		if err := os.Mkdir(w.Dir.in(name), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	if err := w.folders(); err != nil {
		return nil, err
	}
	if w.Job, err = w.Dir.stage(request); err != nil {
		return nil, err
	}
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	w.ID = hex.EncodeToString(id[:])
	return w, w.save()
}

// Open attaches to the directory of a job. What is there is checked: nothing of it
// is believed that a driver could not have written.
func Open(dir string) (w *Work, err error) {
	path, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	w = &Work{Dir: Dir(path)}
	if !Exists(path) {
		return nil, fmt.Errorf("%s is no directory of submit: it has no submit.json", path)
	}
	if err := w.attach(); err != nil {
		return nil, err
	}
	defer func(w *Work) {
		if err != nil {
			w.Close()
		}
	}(w)
	if err := w.folders(); err != nil {
		return nil, err
	}
	if err := w.load(); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Dir.state(), err)
	}
	return w, w.Dir.verify(&w.Job)
}

func absolute(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err == nil && strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		err = fmt.Errorf("found the directory %q, want a name without control characters", path)
	}
	return path, err
}

// Close lets another driver attach.
func (w *Work) Close() { _ = w.lock.Close() }

// attach locks the directory.
func (w *Work) attach() error {
	name := w.Dir.in(lockName)
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s, want a file", name, kind(info))
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if err := filelock.Take(f); err != nil {
		_ = f.Close()
		if errors.Is(err, filelock.ErrLocked) {
			return fmt.Errorf("%s: another submit is attached to it", w.Dir)
		}
		return fmt.Errorf("lock %s: %w", name, err)
	}
	w.lock = f
	return nil
}

// onlyOurs refuses a directory that has something of somebody else.
func (w *Work) onlyOurs() error {
	entries, err := os.ReadDir(string(w.Dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != lockName && !slices.Contains(folders(), e.Name()) {
			return fmt.Errorf("%s has %s, want a directory that is new, or of submit", w.Dir, e.Name())
		}
	}
	return nil
}

// folders refuses links in the place of directories, and in the place of what
// tasks write.
func (w *Work) folders() error {
	for _, name := range folders() {
		info, err := os.Lstat(w.Dir.in(name))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is %s, want a directory", w.Dir.in(name), kind(info))
		}
		if name == "bin" || name == "inputs" {
			continue // compared with their digests
		}
		entries, err := os.ReadDir(w.Dir.in(name))
		if err != nil {
			return err
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && !e.Type().IsRegular() { // tasks rename files meanwhile
				return fmt.Errorf("%s is %s, want a file", w.Dir.in(name, e.Name()), kind(info))
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

// read reads a file that is no link and not larger than limit.
func read(name string, limit int64) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is %s, want a file", name, kind(info))
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, want at most %d", name, info.Size(), limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// load reads and checks the state.
func (w *Work) load() error {
	text, err := read(w.Dir.state(), maxState)
	if err != nil {
		return err
	}
	var outer sealed
	if err := json.Unmarshal(text, &outer); err != nil {
		return fmt.Errorf("it is damaged: %w", err)
	}
	if sum := sha256.Sum256(outer.State); hex.EncodeToString(sum[:]) != outer.Sum {
		return errors.New("it is damaged: its checksum is another one")
	}
	var s state
	if err := json.Unmarshal(outer.State, &s); err != nil {
		return err
	}
	if s.Version != stateVersion {
		return fmt.Errorf("found version %d, want %d: attach with the program that wrote it", s.Version, stateVersion)
	}
	w.ID, w.Backend, w.Job, w.Settings, w.Rounds = s.ID, s.Backend, s.Job, s.Settings, s.Rounds
	return w.check()
}

// check looks at a state that somebody may have made.
func (w *Work) check() error {
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
	for i, r := range w.Rounds {
		if r == nil || r.Number != i+1 || len(r.Tasks) == 0 || len(r.Tasks) > settings.MaxShards {
			return fmt.Errorf("round %d is none", i+1)
		}
		for _, shards := range r.Tasks {
			if len(shards) == 0 || slices.ContainsFunc(shards, func(s int) bool { return s < 1 || s > settings.MaxShards }) {
				return fmt.Errorf("round %d has a shard that is none", i+1)
			}
		}
		w.complete(r)
	}
	return nil
}

// complete gives a round what all rounds have in common.
func (w *Work) complete(r *Round) {
	r.Name = fmt.Sprintf("tilecheck-%s-%d", w.ID, r.Number)
	r.Job, r.Settings, r.Dir = &w.Job, w.Settings, w.Dir
}

// save replaces the state.
func (w *Work) save() error {
	body, err := json.Marshal(state{Version: stateVersion, ID: w.ID, Backend: w.Backend, Job: w.Job, Settings: w.Settings, Rounds: w.Rounds})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	text, err := json.Marshal(sealed{Sum: hex.EncodeToString(sum[:]), State: body})
	if err != nil {
		return err
	}
	return atomicfile.Write(w.Dir.state(), func(f io.Writer) error {
		_, err := f.Write(append(text, '\n'))
		return err
	})
}

// begin writes a new round, before it is submitted.
func (w *Work) begin(tasks [][]int) (*Round, error) {
	if len(w.Rounds) == maxRounds {
		return nil, fmt.Errorf("%s has %d rounds, want fewer", w.Dir, maxRounds)
	}
	r := &Round{Number: len(w.Rounds) + 1, Tasks: tasks}
	w.complete(r)
	if err := w.Dir.new(w.Dir.Tasks(r.Number), r.lines()); err != nil {
		return nil, err
	}
	w.Rounds = append(w.Rounds, r)
	return r, w.save()
}

// lines are the shards of each task, as a script reads them.
func (r *Round) lines() string {
	var b strings.Builder
	for _, shards := range r.Tasks {
		for i, s := range shards {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.Itoa(s))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// new writes a file of the directory, never through a link. One that a driver
// wrote before it was killed is replaced.
func (d Dir) new(name, text string) error {
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s, want none or a file", name, kind(info))
	}
	return atomicfile.Write(name, func(f io.Writer) error {
		_, err := io.WriteString(f, text)
		return err
	})
}

// WriteScript writes what a back end is given of a round.
func (r *Round) WriteScript(kind, text string) (name string, err error) {
	name = r.Dir.Script(r.Number, kind)
	return name, r.Dir.new(name, text)
}
