package disk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"syscall"

	"tilecheck/internal/processes"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
)

// Several processes work in one directory like this. Process 1 alone writes the manifest and removes files. It publishes one task after the other in the
// file taskName. Each process does its part of the task, and writes its files under names that the task gives. When these are complete, it writes a result.
// Process 1 reads all results and publishes the next task. So every decision is made by process 1, from data that do not depend on who computed them.
//
// The names of tasks and files begin with the number of the start of process 1. So what remains of a task before process 1 was killed is not confused with
// later tasks.

const (
	agreementName = "agreement" // what all processes agree on
	taskName      = "task"      // the current task
	resultKind    = "result"
)

// Team says that several processes work in a directory. All of them must have the same Agreement.
type Team struct {
	// Process is the number of this process; the zero value if it works alone.
	Process shard.Part
	// Agreement describes the settings that must be equal in all processes, as text for messages.
	Agreement string
}

// isShared reports whether there are several processes.
func (team *Team) isShared() bool { return team.Process.Count > 1 }

// helps reports whether this process does parts of the tasks of process 1.
func (team *Team) helps() bool { return team.Process.Index > 1 }

// lockName returns the name of the lock of this process.
func (team *Team) lockName() string {
	if team.helps() {
		return lockName + processes.Suffix(team.Process)
	}
	return lockName
}

// agree returns an error if another process has a different agreement. A process that works alone removes the agreement of earlier processes.
func (directory *Directory) agree(model, digest string) error {
	path := directory.Path(agreementName)
	if !directory.team.isShared() {
		return removeIfThere(path)
	}
	own := fmt.Sprintf("%d processes, %s, model %s, digest %s", directory.team.Process.Count, directory.team.Agreement, model, digest)
	found, err := processes.Agree(path, directory.team.Process, []byte(own))
	if err != nil {
		return directory.writeError(err, int64(len(own)))
	}
	if string(found) != own {
		return fmt.Errorf("the processes in %q began with %s; want the same in each, found %s: to change it, stop all processes and delete %q", directory.path, found, own, path)
	}
	return nil
}

// Helps reports whether this process does parts of the tasks of process 1. Such a process calls Help instead of working on its own.
func (space *Space) Helps() bool { return space.Directory.team.helps() }

// Process returns the number of this process among those that work in the directory.
func (directory *Directory) Process() shard.Part { return directory.team.Process }

// task is a piece of work for all processes.
type task struct {
	ID    string // unique in the directory
	Stage string // what the task is part of; empty if there is nothing to do until the next task
	Data  json.RawMessage
}

// publish makes a task the current one. Without other processes it does nothing.
func (directory *Directory) publish(stage string, data any) (id string, err error) {
	if !directory.team.isShared() {
		return "", nil
	}
	encoded, err := json.Marshal(data)
	if err != nil {
		return "", err
	}
	published := task{ID: directory.NewName(resultKind), Stage: stage, Data: encoded}
	return published.ID, directory.writeJSON(taskName, &published)
}

// writeJSON writes a file that other processes read only when it is complete.
func (directory *Directory) writeJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return directory.writeError(processes.Write(directory.Path(name), directory.team.Process, text), int64(len(text)))
}

// readJSON reads a file of another process. isThere is false if it does not exist.
func (directory *Directory) readJSON(name string, value any) (isThere bool, err error) {
	text, err := os.ReadFile(directory.Path(name))
	if isMissing(err) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		err = fmt.Errorf("read %q: %w", directory.Path(name), err)
	}
	return err == nil, err
}

// isMissing reports whether a file does not exist, or another machine has removed it.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE)
}

// Divide publishes a task for all processes, does the part of this process by do, and then calls add with the result of each other process. Without other
// processes it only calls do.
func (space *Space) Divide(ctx context.Context, stage string, data any, do func() error, add func(process shard.Part, result json.RawMessage) error) error {
	directory := space.Directory
	id, err := directory.publish(stage, data)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	for index := 2; index <= directory.team.Process.Count; index++ {
		process := shard.Part{Index: index, Count: directory.team.Process.Count}
		var found answer
		name := id + processes.Suffix(process)
		reporter := space.waitReporter(process)
		err := processes.Await(ctx, func() (bool, error) {
			reporter()
			return directory.readJSON(name, &found)
		})
		if err != nil {
			return waitingError(ctx, process, err)
		}
		directory.CountFile(name)
		directory.Obsolete(name)
		if found.Failure != "" {
			return &FailureError{Process: process, Text: found.Failure}
		}
		if err := add(process, found.Result); err != nil {
			return err
		}
	}
	return nil
}

// answer is the result of a process for a task.
type answer struct {
	Failure string `json:",omitempty"`
	Result  json.RawMessage
}

// Rest tells the other processes that the current task is over, and that they find what they wait for in the manifest.
func (directory *Directory) Rest() error {
	_, err := directory.publish("", nil)
	return err
}

// Conclude ends a stage of process 1, with an error or without one. Other processes that wait for the stage end with the same error. It returns the error.
func (space *Space) Conclude(ctx context.Context, stage string, err error) error {
	directory := space.Directory
	if err == nil {
		return directory.Rest()
	}
	directory.keepObsolete()
	if ctx.Err() == nil && directory.team.isShared() {
		commitErr := directory.Commit(func(manifest *Manifest) {
			failures := maps.Clone(manifest.Failures)
			if failures == nil {
				failures = map[string]string{}
			}
			failures[stage] = err.Error()
			manifest.Failures = failures
		})
		return errors.Join(err, commitErr, directory.Rest())
	}
	return err
}

// failure returns the error with which process 1 has ended a stage since this process began; nil if there is none.
func (directory *Directory) failure(stage string) error {
	text := directory.manifest.Failures[stage]
	isOld := directory.manifest.Starts == directory.oldManifest.Starts && text == directory.oldManifest.Failures[stage]
	if text == "" || isOld {
		return nil
	}
	return &FailureError{Process: shard.Part{Index: 1, Count: directory.team.Process.Count}, Text: text}
}

// FailureError is the error of another process, for which this process has waited.
type FailureError struct {
	Process shard.Part
	Text    string
}

func (err *FailureError) Error() string { return fmt.Sprintf("process %v: %s", err.Process, err.Text) }

// Help does the parts of this process in the tasks of a stage, until the manifest of process 1 says that the stage is done. do does the part of a task
// and returns its result.
func (space *Space) Help(ctx context.Context, stage string, isDone func(*Manifest) (bool, error), do func(data json.RawMessage) (result any, err error)) error {
	directory := space.Directory
	first := shard.Part{Index: 1, Count: directory.team.Process.Count}
	last := "none" // the ID of the last task that was looked at
	for {
		var current task
		isOver := false
		reporter := space.waitReporter(first)
		err := processes.Await(ctx, func() (bool, error) {
			reporter()
			if _, err := directory.readJSON(taskName, &current); err != nil {
				return false, err
			}
			if current.ID == last {
				return false, nil
			}
			if current.Stage == stage {
				return true, nil
			}
			// Read the manifest after the task: process 1 writes it before it publishes a task of another stage.
			var err error
			if isOver, err = directory.reload(isDone); err == nil && !isOver {
				err = directory.failure(stage)
			}
			last = current.ID
			return isOver, err
		})
		if err != nil {
			return waitingError(ctx, first, err)
		}
		if isOver {
			return nil
		}
		last = current.ID
		if err := directory.doTask(ctx, &current, do); err != nil {
			return err
		}
	}
}

// doTask does the part of this process in a task, unless its result exists. It ignores the error if the task is over, or if files are missing because
// process 1 is about to publish the next task.
func (directory *Directory) doTask(ctx context.Context, current *task, do func(json.RawMessage) (any, error)) error {
	name := current.ID + processes.Suffix(directory.team.Process)
	if _, err := os.Stat(directory.Path(name)); err == nil {
		return nil
	}
	result, err := do(current.Data)
	if err == nil {
		var encoded json.RawMessage
		if encoded, err = json.Marshal(result); err == nil {
			err = directory.writeJSON(name, &answer{Result: encoded})
		}
	}
	if err == nil || isMissing(err) {
		return nil
	}
	var now task
	if _, readErr := directory.readJSON(taskName, &now); readErr == nil && now.ID != current.ID {
		return nil
	}
	if ctx.Err() == nil {
		err = errors.Join(err, directory.writeJSON(name, &answer{Failure: err.Error()}))
	}
	return err
}

// reload reads the manifest of process 1, and reports whether it says that something is done. If the manifest does not exist yet, nothing is done.
func (directory *Directory) reload(isDone func(*Manifest) (bool, error)) (bool, error) {
	var manifest Manifest
	if isThere, err := directory.readJSON(manifestName, &manifest); !isThere || err != nil {
		return false, err
	}
	directory.mutex.Lock()
	directory.manifest = manifest
	directory.mutex.Unlock()
	return isDone(&manifest)
}

// CountFile adds the size of a file that another process wrote to the number of used bytes.
func (directory *Directory) CountFile(name string) {
	if info, err := os.Stat(directory.Path(name)); err == nil {
		directory.usedBytes.Add(info.Size())
	}
}

// patience is the number of attempts to read a file of another process before the progress says that this process waits. It is about a second.
const patience = 12

// waitReporter returns a function that is called before each attempt to read a file of another process. It reports for which process this one waits.
func (space *Space) waitReporter(process shard.Part) func() {
	attempts := 0
	return func() {
		if attempts++; attempts >= patience && space.opts.Progress != nil {
			space.opts.Progress(progress.Progress{Unit: progress.States, Detail: fmt.Sprintf("waiting for process %v", process)})
		}
	}
}

// waitingError adds to an error of the context for which process this one waited.
func waitingError(ctx context.Context, process shard.Part, err error) error {
	if ended := ctx.Err(); ended != nil && errors.Is(err, ended) {
		return fmt.Errorf("%w while waiting for process %v", err, process)
	}
	return err
}

// belongsToTeam reports whether a file is one by which processes agree and exclude each other. Such a file is not data.
func belongsToTeam(name string) bool {
	return strings.HasPrefix(name, lockName) || strings.HasPrefix(name, agreementName) || strings.HasPrefix(name, taskName)
}
