package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Write calls write once with a buffered writer and makes what it wrote the
// contents of path. When anything fails, path is as it was before and no
// temporary file is left.
//
// A new file gets mode 0666 less the umask, as with a shell redirection; an
// existing one keeps its permission bits and must be writable itself, although
// the rename asks for a writable directory only. A symbolic link is followed,
// so that the link stays; other hard links keep the old contents.
//
// What cannot be renamed over is written through, without the promise above:
// devices, pipes, dangling links, and the names of open files such as
// /dev/stdout, which go to that open file even when it is a regular one.
//
// Errors name the path and the problem; an error of write is wrapped.
func Write(path string, write func(io.Writer) error) error {
	return WriteWithExitHook(path, nil, write)
}

// WriteWithExitHook is Write in a process that may have to end before it returns: onExit
// gets a function that removes the temporary file, and returns one that says that
// this is no longer needed.
func WriteWithExitHook(path string, onExit func(remove func()) (done func()), write func(io.Writer) error) error {
	if err := dispatch(path, onExit, write); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// Check reports what would keep Write from writing path, as far as that shows
// without changing existing files: a missing directory, a name that is a
// directory's, no permission. It creates a file beside path and removes it, as
// Write will, and opens neither devices nor pipes. It returns the same errors as Write.
func Check(path string) error {
	t, err := targetOf(path)
	if err == nil && t.how == through && t.info == nil {
		t = target{path: afterLinks(path)}
	}
	if err == nil && t.how == replaced {
		err = t.probe()
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// target is what a name stands for.
type target struct {
	how  way
	path string      // for replaced and through
	info fs.FileInfo // of an existing regular file
	out  *os.File    // for open
}

// way is how a file is written.
type way uint8

const (
	replaced way = iota // by a rename
	through             // opened and written in place
	open                // already open
)

func targetOf(path string) (target, error) {
	if path == "" {
		return target{}, errors.New("the file name is empty")
	}
	if out := standardStream(path); out != nil {
		return target{how: open, out: out}, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // a dangling link
			return target{how: through, path: path}, nil
		}
		return target{path: path}, nil
	case err != nil:
		return target{}, cause(err)
	case info.IsDir():
		return target{}, errors.New("it is a directory")
	case isOpenFileName(path) || !info.Mode().IsRegular():
		return target{how: through, path: path, info: info}, nil
	}
	path, err = filepath.EvalSymlinks(path)
	return target{path: path, info: info}, cause(err)
}

func dispatch(path string, onExit func(func()) func(), write func(io.Writer) error) error {
	t, err := targetOf(path)
	switch {
	case err != nil:
		return err
	case t.how == open:
		return fill(t.out, write)
	case t.how == replaced:
		return t.replace(onExit, write)
	case t.info == nil:
		return writeThrough(path, os.O_CREATE|os.O_TRUNC, write)
	}
	return writeThrough(path, os.O_APPEND, write)
}

// isOpenFileName reports whether path names an open file of a process and not
// a directory entry. Opening it again would start at offset 0, before what a
// shell's >> wants kept, and renaming over it makes no sense.
func isOpenFileName(path string) bool {
	path = filepath.Clean(path)
	return path == "/dev/stdout" || path == "/dev/stderr" ||
		strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}

// standardStream returns the standard stream that path is a name of, if any:
// writing to it keeps its offset, and works for sockets, which cannot be opened.
func standardStream(path string) *os.File {
	if !isOpenFileName(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	streams := []*os.File{os.Stdout, os.Stderr}
	if i := slices.IndexFunc(streams, func(f *os.File) bool {
		open, err := f.Stat()
		return err == nil && os.SameFile(info, open)
	}); i >= 0 {
		return streams[i]
	}
	return nil
}

// writeThrough writes to a file in place.
func writeThrough(path string, flags int, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, 0o666)
	if err != nil {
		return cause(err)
	}
	return errors.Join(fill(f, write), cause(f.Close()))
}

// replace writes a temporary file beside the target and renames it over it.
func (t target) replace(onExit func(func()) func(), write func(io.Writer) error) error {
	p, err := t.part(onExit, write)
	if err != nil {
		return err
	}
	defer p.done()
	if err := os.Rename(p.name, t.path); err != nil {
		return errors.Join(cause(err), cause(os.Remove(p.name)))
	}
	return nil
}

// part is a temporary file whose contents are complete.
type part struct {
	name, target string
	done         func() // says that nothing is to be removed any more
}

// part writes a temporary file beside the target.
func (t target) part(onExit func(func()) func(), write func(io.Writer) error) (p part, err error) {
	if err := t.writable(); err != nil {
		return p, err
	}
	tmp, err := createTemp(t.path)
	if err != nil {
		return p, err
	}
	p = part{tmp.Name(), t.path, func() {}}
	if onExit != nil {
		p.done = onExit(func() { _ = os.Remove(p.name) })
	}
	complete := false
	defer func() { // also when write panics
		if !complete {
			err = errors.Join(err, cause(os.Remove(p.name)))
			p.done()
		}
	}()
	defer tmp.Close() // a second Close is harmless
	if t.info != nil {
		if err := tmp.Chmod(t.info.Mode().Perm()); err != nil {
			return p, cause(err)
		}
	}
	if err := fill(tmp, write); err != nil {
		return p, err
	}
	// Without Sync a crash soon after could leave an empty file under the name.
	if err := tmp.Sync(); err != nil {
		return p, cause(err)
	}
	if err := tmp.Close(); err != nil {
		return p, cause(err)
	}
	complete = true
	return p, nil
}

// writable reports why the existing file could not be written in place: a
// read-only file is not to be replaced just because its directory is writable.
func (t target) writable() error {
	if t.info == nil {
		return nil
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY, 0)
	if err != nil {
		return cause(err)
	}
	return cause(f.Close())
}

// probe does what replace does first.
func (t target) probe() error {
	if err := t.writable(); err != nil {
		return err
	}
	tmp, err := createTemp(t.path)
	if err != nil {
		return err
	}
	return cause(errors.Join(tmp.Close(), os.Remove(tmp.Name())))
}

// PartName returns a new name for the temporary file of a file in the same directory. Sweep finds such names.
// The random number decides nothing but the name, so it needs no seed.
func PartName(base string) string { return fmt.Sprintf(".%s.%08x%s", base, rand.Uint32(), partEnd) }

// partEnd is what the names of temporary files end with.
const partEnd = ".tilecheck-part"

// createTemp creates a new file beside target. It is not os.CreateTemp because
// that always asks for mode 0600, and the umask can only be read by setting it.
func createTemp(target string) (*os.File, error) {
	dir, base := filepath.Split(target)
	if base == "" {
		return nil, errors.New("it is the name of a directory")
	}
	for {
		name := dir + PartName(base)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("directory %q does not exist", filepath.Dir(target))
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("create a file in directory %q: %w", filepath.Dir(target), cause(err))
		}
	}
}

// fill runs write on a buffer in front of f.
func fill(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(unnamed{f})
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// unnamed writes to a file whose name is not the one that errors should have.
type unnamed struct{ f *os.File }

func (u unnamed) Write(p []byte) (int, error) {
	n, err := u.f.Write(p)
	return n, cause(err)
}

// cause drops the operation and the file name from an error of package os,
// which would name the temporary file or repeat the target.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
