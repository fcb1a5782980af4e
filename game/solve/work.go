package solve

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/internal/filelock"
	"tilecheck/internal/processes"
	"tilecheck/internal/shard"
)

// The reasons why SolveFile does not start; the caller tells the user what to do.
var (
	ErrExists     = errors.New("the file exists")
	ErrUnfinished = errors.New("there is unfinished work")
	ErrLocked     = errors.New("another process works on it")
)

// WorkDir returns the directory in which SolveFile works until the file is complete.
func WorkDir(path string) string { return path + ".work" }

// SolveFile solves a problem like Solve and writes the table to a file, which Open reads.
//
// Until the file is complete, all layers are in WorkDir(path), each as soon as it is done. A killed process loses at most one layer. With resume,
// SolveFile continues the work, or starts it; the file is the same as without the interruption. If the file is already complete, SolveFile
// reads it and returns its Stats. Without resume, the error is ErrExists if the file exists and ErrUnfinished if the directory does. The error
// is ErrLocked if another process works on the file and the system supports locks.
//
// Several processes (opts.Process) need the same path on a shared disk. Each process computes its parts of a layer, and waits for the parts of
// the others. A killed process can be started again, with or without resume, while the others wait. All return the Stats.
func SolveFile(ctx context.Context, path string, resume bool, opts Options) (Stats, error) {
	problem, err := opts.Problem()
	if err != nil {
		return Stats{}, err
	}
	if process := opts.Process; process.Count > 1 && (process.Index < 1 || process.Index > process.Count) {
		return Stats{}, fmt.Errorf("process is %v, want one of 1/%d to %d/%d", process, process.Count, process.Count, process.Count)
	}
	job := &work{path: path, dir: dirStore(WorkDir(path)), problem: problem, process: opts.Process}
	stats, isDone, err := job.prepare(resume || job.multiProcess())
	if err != nil || isDone {
		return stats, err
	}
	stats, err = job.solve(ctx, opts)
	err = errors.Join(err, job.close())
	if err != nil && job.multiProcess() && job.checkPublished() != nil { // another process completed the table and removed the directory
		stats, _, err = job.openFinished()
	}
	return stats, err
}

// work is the working directory of SolveFile.
type work struct {
	path    string
	dir     dirStore
	problem Problem
	process shard.Part
	lock    *os.File
	table   *fileTable // nil if another process writes the table
}

const (
	tableName   = "table"
	lockName    = "lock"
	problemName = "problem" // the problem and the number of processes
)

// multiProcess reports whether this is one of several processes.
func (w *work) multiProcess() bool { return w.process.Count > 1 }

// lockName returns the name of the lock of this process.
func (w *work) lockName() string {
	if w.multiProcess() {
		return lockName + processes.Suffix(w.process)
	}
	return lockName
}

// errPublished says that another process has completed the table.
var errPublished = errors.New("the table is complete")

// checkPublished returns errPublished if the file exists.
func (w *work) checkPublished() error {
	if _, err := os.Stat(w.path); err == nil {
		return errPublished
	}
	return nil
}

// prepare opens or creates the work directory, and locks it. If the file of the table already exists, isDone is true and stats are those of the table.
func (w *work) prepare(resume bool) (stats Stats, isDone bool, err error) {
	if _, err := os.Stat(w.path); err == nil {
		if !resume {
			return stats, false, fmt.Errorf("%s: %w", w.path, ErrExists)
		}
		return w.openFinished()
	}
	err = os.Mkdir(string(w.dir), 0o777)
	switch {
	case errors.Is(err, fs.ErrExist) && !resume:
		return stats, false, w.unfinishedError()
	case err != nil && !errors.Is(err, fs.ErrExist):
		return stats, false, err
	case err != nil:
		if err := w.checkWorkDir(); err != nil {
			return stats, false, err
		}
	}
	if err := w.acquire(); err != nil {
		return stats, false, err
	}
	if err := w.open(); err != nil {
		return stats, false, errors.Join(err, w.close())
	}
	return stats, false, nil
}

// open opens or creates the table in the work directory. Of several processes, only the first one writes the table.
func (w *work) open() (err error) {
	if w.multiProcess() {
		if err := w.checkAgreement(); err != nil {
			return err
		}
		if w.process.Index > 1 {
			return nil
		}
	}
	w.table, err = openFileTable(w.dir.path(tableName), w.problem)
	return err
}

// checkAgreement returns an error unless all processes solve the same problem, and agree on the number of processes. The first process to start
// writes both to a file.
func (w *work) checkAgreement() error {
	if _, err := os.Stat(w.dir.path(lockName)); err == nil {
		return fmt.Errorf("%s: one process works on it, want no other", w.dir)
	}
	ownText := binary.LittleEndian.AppendUint32(appendFileHeader(nil, w.problem), uint32(w.process.Count))
	file := w.dir.path(problemName)
	found, err := processes.Agree(file, w.process, ownText)
	if err != nil {
		return err
	}
	if bytes.Equal(found, ownText) {
		return nil
	}
	other, err := parseFileHeader(found)
	if err != nil || len(found) != len(ownText) {
		return fmt.Errorf("%s is corrupt: %w", file, err)
	}
	return fmt.Errorf("%s: the work of %d processes is for %s, want %d for %s",
		w.dir, binary.LittleEndian.Uint32(found[fileHeaderSize:]), other, w.process.Count, w.problem)
}

// unfinishedError returns ErrLocked if a process works in the directory, otherwise ErrUnfinished.
func (w *work) unfinishedError() error {
	file, err := os.OpenFile(w.dir.path(lockName), os.O_RDWR, 0)
	if err == nil {
		err = filelock.Take(file)
		_ = file.Close()
	}
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w", w.dir, ErrLocked)
	}
	return fmt.Errorf("%s: %w", w.dir, ErrUnfinished)
}

// openFinished reads the existing file.
func (w *work) openFinished() (Stats, bool, error) {
	table, err := Open(w.path)
	if err != nil {
		return Stats{}, false, err
	}
	defer table.Close()
	if table.problem != w.problem {
		return Stats{}, false, fmt.Errorf("%s is the table of %s, want %s", w.path, table.problem, w.problem)
	}
	if err := w.checkWorkDir(); err != nil { // there is no work directory, or it has files of other programs
		return table.Stats(), true, nil
	}
	return table.Stats(), true, w.clean()
}

// checkWorkDir returns an error if the directory contains a file that SolveFile does not write.
func (w *work) checkWorkDir() error {
	found, err := os.ReadDir(string(w.dir))
	if err != nil {
		return err
	}
	for _, entry := range found {
		if !isWorkFile(entry.Name()) && !isKeptByNFS(entry.Name()) {
			return fmt.Errorf("%s has a file %s, so it is no work directory of tilecheck solve", w.dir, entry.Name())
		}
		if !w.multiProcess() && entry.Name() == problemName {
			return fmt.Errorf("%s: several processes work on it, want to be one of them", w.dir)
		}
	}
	return nil
}

// isWorkFile reports whether SolveFile writes files with this name to a work directory.
func isWorkFile(name string) bool {
	name = strings.TrimSuffix(name, processes.Unfinished)
	prefix, _, _ := strings.Cut(name, "-")
	switch prefix {
	case tableName, lockName, problemName, positionsName, aftersName, outgoingName, valuesName, afterValuesName, runName, doneName:
		return true
	}
	return false
}

// isKeptByNFS reports whether a name is one that NFS gives to a removed file which a process of this machine has open. NFS removes the file when it
// is closed.
func isKeptByNFS(name string) bool { return strings.HasPrefix(name, ".nfs") }

// acquire locks the directory.
func (w *work) acquire() error {
	file, err := processes.Lock(w.dir.path(w.lockName()))
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w", w.dir, ErrLocked)
	}
	w.lock = file
	return err
}

// close releases everything that prepare opened.
func (w *work) close() error {
	var err error
	if w.table != nil {
		err = w.table.file.Close()
	}
	return errors.Join(err, w.unlock())
}

// unlock releases the lock; further calls do nothing.
func (w *work) unlock() error {
	if w.lock == nil {
		return nil
	}
	file := w.lock
	w.lock = nil
	return file.Close()
}

// solve does the remaining work and publishes the table.
func (w *work) solve(ctx context.Context, opts Options) (Stats, error) {
	solver, err := newSolver(opts, w.dir, w.table)
	if err != nil {
		return Stats{}, err
	}
	solver.keepRecords, solver.checkPublished = true, w.checkPublished
	if err := w.removeUnfinished(); err != nil {
		return solver.stats, err
	}
	enumerated, err := solver.restore(ctx)
	if err != nil {
		return solver.stats, fmt.Errorf("%s: %w", w.dir, err)
	}
	if enumerated, err = solver.enumerate(ctx, enumerated); err != nil {
		return solver.stats, err
	}
	solver.lastSum = enumerated.next - 2
	nextSum, err := w.restoreValues(solver)
	if err != nil {
		return solver.stats, fmt.Errorf("%s: %w", w.dir, err)
	}
	if err := solver.valueFrom(ctx, nextSum); err != nil {
		return solver.stats, err
	}
	if w.multiProcess() {
		if err := solver.complete(ctx); err != nil || w.table == nil {
			return solver.stats, err
		}
	}
	return solver.stats, w.publish(solver.stats)
}

// restoreValues finds the layers whose values this process has computed, and returns the sum of the next layer.
func (w *work) restoreValues(solver *solver) (nextSum int, err error) {
	nextSum = solver.lastSum
	if w.table != nil {
		if nextSum, err = w.table.restore(solver.lastSum); err != nil {
			return nextSum, err
		}
	}
	if !w.multiProcess() {
		return nextSum, nil
	}
	solver.joinedTable = w.table
	for sum := 4; sum <= solver.lastSum; sum += 2 { // records of greater sums may have been removed
		err := solver.verifyOwn(valuesName, valuedBoards, sum)
		if err != errNoRecord {
			return sum - 2, err
		}
	}
	return solver.lastSum, nil
}

// complete adds the last layer to the table, and records that this process is done. The process that publishes the table waits until all are done.
func (s *solver) complete(ctx context.Context) error {
	last, err := s.open(ctx, valuesName, 4)
	if err == nil {
		err = s.joinLayer(last)
		last.close()
	}
	if err == nil {
		err = s.writeStored(ctx, doneName, plainBoards, 0, 0, 0, nil)
	}
	if err != nil || s.joinedTable == nil {
		return err
	}
	everyDone, err := s.open(ctx, doneName, 0)
	everyDone.close()
	return err
}

// removeUnfinished removes incomplete files that a killed process left.
func (w *work) removeUnfinished() error {
	found, err := os.ReadDir(string(w.dir))
	if err != nil {
		return err
	}
	for _, entry := range found {
		name := entry.Name()
		if w.multiProcess() && !strings.HasSuffix(name, processes.Suffix(w.process)+processes.Unfinished) {
			continue
		}
		if strings.HasSuffix(name, processes.Unfinished) {
			if err := os.Remove(w.dir.path(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore verifies and counts the layers of an earlier enumeration.
func (s *solver) restore(ctx context.Context) (enumeration, error) {
	state := enumeration{next: 2}
	for !state.done() {
		if err := ctx.Err(); err != nil {
			return state, err
		}
		counted := Layer{Sum: state.next}
		err := s.verifyOwn(positionsName, plainBoards, state.next)
		if err == nil {
			err = s.verifyOwn(aftersName, plainBoards, state.next)
		}
		if err == errNoRecord {
			return state, nil
		}
		if err == nil {
			counted, err = s.countBoards(ctx, state.next)
		}
		if err != nil {
			return state, err
		}
		state.advance(counted)
		s.countLayer(counted)
	}
	return state, nil
}

// verifyOwn verifies a record of this process; the error is errNoRecord if it does not exist.
func (s *solver) verifyOwn(name string, wantKind kind, sum int) error {
	record, err := s.openOwn(name, sum)
	if err != nil {
		return err
	}
	defer record.Close()
	if int(record.sum) != sum || record.kind != wantKind {
		return fmt.Errorf("%s: found layer %d, want %d", s.ownName(name, sum), record.sum, sum)
	}
	if err := record.verify(); err != nil {
		return fmt.Errorf("%s: %w", s.ownName(name, sum), err)
	}
	return nil
}

// publish completes the table, moves it to its final name and removes the directory.
func (w *work) publish(stats Stats) error {
	if err := w.table.finish(stats); err != nil {
		return err
	}
	// Windows can neither rename nor remove open files, and NFS keeps them under another name.
	if err := w.table.file.Close(); err != nil {
		return err
	}
	w.table = nil
	if err := os.Rename(w.dir.path(tableName), w.path); err != nil {
		return err
	}
	if err := w.unlock(); err != nil { // a process that starts now finds the table, and needs no lock
		return err
	}
	return w.clean()
}

// clean removes the directory. On NFS it stays, empty, if another process of this machine has one of its files open.
func (w *work) clean() error {
	found, err := os.ReadDir(string(w.dir))
	for _, entry := range found {
		if isWorkFile(entry.Name()) {
			err = errors.Join(err, removeFile(filepath.Join(string(w.dir), entry.Name())))
		}
	}
	dirErr := removeFile(string(w.dir))
	remaining, _ := os.ReadDir(string(w.dir))
	if dirErr != nil && len(remaining) > 0 && !slices.ContainsFunc(remaining, func(entry fs.DirEntry) bool { return !isKeptByNFS(entry.Name()) }) {
		dirErr = nil
	}
	return errors.Join(err, dirErr)
}
