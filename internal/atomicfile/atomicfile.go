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
// Errors name path and say what is wrong with it; an error of write is wrapped.
func Write(path string, write func(io.Writer) error) error {
	if err := dispatch(path, write); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

func dispatch(path string, write func(io.Writer) error) error {
	if path == "" {
		return errors.New("the file name is empty")
	}
	if out := standardStream(path); out != nil {
		return fill(out, write)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return through(path, os.O_CREATE|os.O_TRUNC, write) // a dangling link
		}
		return replace(path, nil, write)
	case err != nil:
		return cause(err)
	case info.IsDir():
		return errors.New("it is a directory")
	case isOpenFileName(path) || !info.Mode().IsRegular():
		return through(path, os.O_APPEND, write)
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return cause(err)
	}
	return replace(target, info, write)
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

// through writes to an existing file in place.
func through(path string, flags int, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, 0o666)
	if err != nil {
		return cause(err)
	}
	return errors.Join(fill(f, write), cause(f.Close()))
}

// replace writes a temporary file beside target and renames it over target.
// old describes the existing regular file, nil when there is none.
func replace(target string, old fs.FileInfo, write func(io.Writer) error) (err error) {
	if old != nil {
		if err := probe(target); err != nil {
			return err
		}
	}
	tmp, err := createTemp(target)
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also when write panics
		if !renamed {
			err = errors.Join(err, cause(os.Remove(tmp.Name())))
		}
	}()
	defer tmp.Close() // a second Close is harmless
	if old != nil {
		if err := tmp.Chmod(old.Mode().Perm()); err != nil {
			return cause(err)
		}
	}
	if err := fill(tmp, write); err != nil {
		return err
	}
	// Without Sync a crash soon after could leave an empty file under the name.
	if err := tmp.Sync(); err != nil {
		return cause(err)
	}
	if err := tmp.Close(); err != nil {
		return cause(err)
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return cause(err)
	}
	renamed = true
	return nil
}

// probe reports why the existing file could not be written in place: a
// read-only file is not to be replaced just because its directory is writable.
func probe(target string) error {
	f, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return cause(err)
	}
	return cause(f.Close())
}

// createTemp creates a new file beside target. It is not os.CreateTemp because
// that always asks for mode 0600, and the umask can only be read by setting it.
// The random number decides nothing but the name, so it needs no seed.
func createTemp(target string) (*os.File, error) {
	dir, base := filepath.Split(target)
	if base == "" {
		return nil, errors.New("it is the name of a directory")
	}
	for {
		name := fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
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
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	return cause(w.Flush())
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
