package solve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"tilecheck/internal/filelock"
)

// What SolveFile finds in its way. The caller knows what to tell the user to do.
var (
	ErrExists     = errors.New("the file exists")
	ErrUnfinished = errors.New("there is unfinished work")
	ErrLocked     = errors.New("another process works on it")
)

// WorkDir returns the directory that SolveFile works in until the file is complete.
func WorkDir(path string) string { return path + ".work" }

// SolveFile solves a problem like Solve and writes the table to a file, which Open reads.
//
// Until the file is complete, everything is in WorkDir(path), each layer in its place as soon as it is done. When the process is killed,
// at most one layer is lost. With resume, SolveFile goes on from there, or starts when there is nothing to go on from; the file is the same
// as that of an undisturbed run. If the file is there already, it is opened and its Stats are returned. Without resume, it is ErrExists
// if the file is there, and ErrUnfinished if the directory is. It is ErrLocked while another process is at it, where the system can tell.
func SolveFile(ctx context.Context, path string, resume bool, opts Options) (Stats, error) {
	problem, err := opts.Problem()
	if err != nil {
		return Stats{}, err
	}
	w := &work{path: path, dir: dirStore(WorkDir(path)), problem: problem}
	stats, done, err := w.start(resume)
	if err != nil || done {
		return stats, err
	}
	stats, err = w.solve(ctx, opts)
	return stats, errors.Join(err, w.close())
}

// work is the directory in which a table is made.
type work struct {
	path    string
	dir     dirStore
	problem Problem
	lock    *os.File
	table   *fileTable
}

const (
	tableName = "table"
	lockName  = "lock"
)

// start opens the directory, or makes it. It reports true when the file is there already.
func (w *work) start(resume bool) (stats Stats, done bool, err error) {
	if _, err := os.Stat(w.path); err == nil {
		if !resume {
			return stats, false, fmt.Errorf("%s: %w", w.path, ErrExists)
		}
		return w.finished()
	}
	err = os.Mkdir(string(w.dir), 0o777)
	switch {
	case errors.Is(err, fs.ErrExist) && !resume:
		return stats, false, w.unfinished()
	case err != nil && !errors.Is(err, fs.ErrExist):
		return stats, false, err
	case err != nil:
		if err := w.recognise(); err != nil {
			return stats, false, err
		}
	}
	if err := w.acquire(); err != nil {
		return stats, false, err
	}
	w.table, err = openFileTable(w.dir.path(tableName), w.problem)
	if err != nil {
		return stats, false, errors.Join(err, w.close())
	}
	return stats, false, nil
}

// unfinished says whose the directory is that is there.
func (w *work) unfinished() error {
	f, err := os.OpenFile(w.dir.path(lockName), os.O_RDWR, 0)
	if err == nil {
		err = filelock.Take(f)
		_ = f.Close()
	}
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w", w.dir, ErrLocked)
	}
	return fmt.Errorf("%s: %w", w.dir, ErrUnfinished)
}

// finished reads the file that is there already.
func (w *work) finished() (Stats, bool, error) {
	t, err := Open(w.path)
	if err != nil {
		return Stats{}, false, err
	}
	defer t.Close()
	if t.problem != w.problem {
		return Stats{}, false, fmt.Errorf("%s is the table of %s, want %s", w.path, t.problem, w.problem)
	}
	if err := w.recognise(); err != nil { // no work directory, or none of ours
		return t.Stats(), true, nil
	}
	return t.Stats(), true, w.clean()
}

// recognise returns an error unless the directory has nothing but what is found in work directories.
func (w *work) recognise() error {
	found, err := os.ReadDir(string(w.dir))
	if err != nil {
		return err
	}
	for _, entry := range found {
		if !ours(entry.Name()) {
			return fmt.Errorf("%s has a file %s, so it is no work directory of tilecheck solve", w.dir, entry.Name())
		}
	}
	return nil
}

// ours reports whether a name is one of a file of a work directory.
func ours(name string) bool {
	name = strings.TrimSuffix(name, unfinished)
	prefix, _, _ := strings.Cut(name, "-")
	switch prefix {
	case tableName, lockName, "positions", "afterstates", "values", "run":
		return true
	}
	return false
}

// acquire locks the directory.
func (w *work) acquire() error {
	f, err := os.OpenFile(w.dir.path(lockName), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	if err := filelock.Take(f); errors.Is(err, filelock.ErrLocked) {
		return errors.Join(fmt.Errorf("%s: %w", w.dir, ErrLocked), f.Close())
	} else if err != nil {
		return errors.Join(err, f.Close())
	}
	w.lock = f
	return nil
}

// close gives everything back that start opened.
func (w *work) close() error {
	var err error
	if w.table != nil {
		err = w.table.file.Close()
	}
	return errors.Join(err, w.unlock())
}

// unlock gives the lock back, once.
func (w *work) unlock() error {
	if w.lock == nil {
		return nil
	}
	f := w.lock
	w.lock = nil
	return f.Close()
}

// solve does what is not done yet.
func (w *work) solve(ctx context.Context, opts Options) (Stats, error) {
	s, err := newSolver(opts, w.dir, w.table)
	if err != nil {
		return Stats{}, err
	}
	s.keep = true
	if err := w.removeUnfinished(); err != nil {
		return s.stats, err
	}
	all, err := s.restore(ctx)
	if err != nil {
		return s.stats, fmt.Errorf("%s: %w", w.dir, err)
	}
	if all, err = s.enumerate(ctx, all); err != nil {
		return s.stats, err
	}
	from, err := w.table.restore(s, all.next-2)
	if err != nil {
		return s.stats, fmt.Errorf("%s: %w", w.dir, err)
	}
	if err := s.valueFrom(ctx, from); err != nil {
		return s.stats, err
	}
	return s.stats, w.publish(s.stats)
}

// removeUnfinished removes what a killed process was writing.
func (w *work) removeUnfinished() error {
	found, err := os.ReadDir(string(w.dir))
	if err != nil {
		return err
	}
	for _, entry := range found {
		name := entry.Name()
		if strings.HasSuffix(name, unfinished) || strings.HasPrefix(name, "run-") || strings.HasPrefix(name, "values-") {
			if err := os.Remove(w.dir.path(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore counts the layers that have been made, after checking that they are as they were written.
func (s *solver) restore(ctx context.Context) (enumeration, error) {
	e := enumeration{next: 2}
	for !e.done() {
		if err := ctx.Err(); err != nil {
			return e, err
		}
		l := Layer{Sum: e.next}
		var err error
		if l.Positions, err = s.checked(positionsName(e.next), e.next); err == nil {
			l.Afterstates, err = s.checked(aftersName(e.next), e.next)
		}
		if err == errNoRecord {
			return e, nil
		}
		if err != nil {
			return e, err
		}
		e.add(l)
		s.count(l)
	}
	return e, nil
}

// checked returns the number of boards of a record after checking it.
func (s *solver) checked(name string, sum int) (int64, error) {
	r, err := s.store.open(name)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if int(r.sum) != sum || r.kind != plainBoards {
		return 0, fmt.Errorf("%s: found layer %d, want %d", name, r.sum, sum)
	}
	if err := r.verify(); err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return int64(r.count), nil
}

// publish completes the table, gives it its name and removes the directory.
func (w *work) publish(stats Stats) error {
	if err := w.table.finish(stats); err != nil {
		return err
	}
	// Windows neither renames nor removes what is open.
	if err := w.table.file.Close(); err != nil {
		return err
	}
	w.table = nil
	if err := os.Rename(w.dir.path(tableName), w.path); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		if err := w.unlock(); err != nil {
			return err
		}
	}
	return w.clean()
}

// clean removes the directory.
func (w *work) clean() error {
	found, err := os.ReadDir(string(w.dir))
	for _, entry := range found {
		if ours(entry.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(string(w.dir), entry.Name())))
		}
	}
	return errors.Join(err, os.Remove(string(w.dir)))
}
