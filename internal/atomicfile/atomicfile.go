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
// Devices, pipes, dangling links and the names of open files, such as /dev/stdout, cannot be replaced by a rename. Write opens them and writes to
// them, so an error can leave incomplete contents.
//
// Errors name the path and the problem; an error of write is wrapped.
func Write(path string, write func(io.Writer) error) error {
	return WriteWithExitHook(path, nil, write)
}

// WriteWithExitHook is Write for a process that can end before Write returns, for example by a signal. It passes onExit a function that removes
// the temporary file, and calls the function that onExit returns when there is no temporary file any more.
func WriteWithExitHook(path string, onExit func(remove func()) (done func()), write func(io.Writer) error) error {
	if err := dispatch(path, onExit, write); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// Check returns the error that Write would return before it writes: the directory is missing, path is the name of a directory, or a permission
// is missing. It does not change existing files, and opens neither devices nor pipes. It creates a file beside path, as Write does, and
// removes it.
func Check(path string) error {
	t, err := targetOf(path)
	if err == nil && t.method == inPlace && t.info == nil { // Write will create the file to which a dangling link leads
		t = target{path: afterLinks(path)}
	}
	if err == nil && t.method == byRename {
		err = t.checkWritable()
	}
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return nil
}

// target is the file that Write writes, and the method.
type target struct {
	method method
	path   string      // for byRename and inPlace
	info   fs.FileInfo // of the file if it exists
	stream *os.File    // for toStream
}

// method is the method by which a file is written.
type method uint8

const (
	byRename method = iota // write a temporary file and rename it
	inPlace                // open the file and write to it
	toStream               // write to a standard stream
)

// targetOf returns the target of a name.
func targetOf(path string) (target, error) {
	if path == "" {
		return target{}, errors.New("the file name is empty")
	}
	if stream := standardStream(path); stream != nil {
		return target{method: toStream, stream: stream}, nil
	}
	fileInfo, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil { // a dangling link
			return target{method: inPlace, path: path}, nil
		}
		return target{path: path}, nil
	case err != nil:
		return target{}, cause(err)
	case fileInfo.IsDir():
		return target{}, errors.New("it is a directory")
	case isOpenFileName(path) || !fileInfo.Mode().IsRegular():
		return target{method: inPlace, path: path, info: fileInfo}, nil
	}
	path, err = filepath.EvalSymlinks(path)
	return target{path: path, info: fileInfo}, cause(err)
}

// dispatch writes to path by the method of its target. Its errors do not name path.
func dispatch(path string, onExit func(func()) func(), write func(io.Writer) error) error {
	target, err := targetOf(path)
	switch {
	case err != nil:
		return err
	case target.method == toStream:
		return writeBuffered(target.stream, write)
	case target.method == byRename:
		return target.replace(onExit, write)
	case target.info == nil:
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

// standardStream returns the standard stream that path names; nil if it names none. Write uses the open stream, because this keeps its offset,
// and because a socket cannot be opened by name.
func standardStream(path string) *os.File {
	if !isOpenFileName(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, stream := range []*os.File{os.Stdout, os.Stderr} {
		streamInfo, err := stream.Stat()
		if err == nil && os.SameFile(info, streamInfo) {
			return stream
		}
	}
	return nil
}

// writeThrough writes to a file in place.
func writeThrough(path string, flags int, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|flags, 0o666)
	if err != nil {
		return cause(err)
	}
	return errors.Join(writeBuffered(file, write), cause(file.Close()))
}

// replace writes a temporary file beside the target and renames it over it.
func (t target) replace(onExit func(func()) func(), write func(io.Writer) error) error {
	partFile, err := t.part(onExit, write)
	if err != nil {
		return err
	}
	defer partFile.removeHook()
	if err := partFile.rename(); err != nil {
		return errors.Join(err, cause(os.Remove(partFile.name)))
	}
	return nil
}

// completePart is a temporary file whose contents are complete.
type completePart struct {
	name, target string
	info         fs.FileInfo // of the temporary file
	removeHook   func()      // says that nothing is to be removed any more
}

// rename renames the temporary file to its target. If a server of NFS restarts before the client has its answer, the client sends the request
// again; if the server had executed it, the second answer says that there is no temporary file. So after an error rename looks at the target.
func (p completePart) rename() error {
	err := os.Rename(p.name, p.target)
	if err == nil {
		return nil
	}
	if info, errTarget := os.Lstat(p.target); errTarget == nil && os.SameFile(info, p.info) {
		return nil
	}
	return cause(err)
}

// part writes a temporary file beside the target.
func (t target) part(onExit func(func()) func(), write func(io.Writer) error) (created completePart, err error) {
	if err := t.writable(); err != nil {
		return created, err
	}
	tempFile, err := createTemp(t.path)
	if err != nil {
		return created, err
	}
	created = completePart{name: tempFile.Name(), target: t.path, removeHook: func() {}}
	if onExit != nil {
		created.removeHook = onExit(func() { _ = os.Remove(created.name) })
	}
	complete := false
	defer func() { // also when write panics
		if !complete {
			err = errors.Join(err, cause(os.Remove(created.name)))
			created.removeHook()
		}
	}()
	defer tempFile.Close() // a second Close is harmless
	if t.info != nil {
		if err := tempFile.Chmod(t.info.Mode().Perm()); err != nil {
			return created, cause(err)
		}
	}
	if err := writeBuffered(tempFile, write); err != nil {
		return created, err
	}
	// Without Sync a crash soon after could leave an empty file under the name.
	if err := tempFile.Sync(); err != nil {
		return created, cause(err)
	}
	if created.info, err = tempFile.Stat(); err != nil {
		return created, cause(err)
	}
	if err := tempFile.Close(); err != nil {
		return created, cause(err)
	}
	complete = true
	return created, nil
}

// writable returns an error if the existing file cannot be opened for writing. A rename would replace a read-only file if only its directory is
// writable.
func (t target) writable() error {
	if t.info == nil {
		return nil
	}
	file, err := os.OpenFile(t.path, os.O_WRONLY, 0)
	if err != nil {
		return cause(err)
	}
	return cause(file.Close())
}

// checkWritable returns the error that replace would return before it writes.
func (t target) checkWritable() error {
	if err := t.writable(); err != nil {
		return err
	}
	tempFile, err := createTemp(t.path)
	if err != nil {
		return err
	}
	return cause(errors.Join(tempFile.Close(), os.Remove(tempFile.Name())))
}

// PartName returns a new name for the temporary file of a file in the same directory. Sweep finds such names.
// The random number decides nothing but the name, so it needs no seed.
func PartName(base string) string { return fmt.Sprintf(".%s.%08x%s", base, rand.Uint32(), partEnd) }

// partEnd is what the names of temporary files end with.
const partEnd = ".tilecheck-part"

// createTemp creates a new file in the directory of target. It does not use os.CreateTemp, which always creates files with mode 0600, because the
// mode of the new file must depend on the umask, which a program cannot read without changing it.
func createTemp(target string) (*os.File, error) {
	dir, base := filepath.Split(target)
	if base == "" {
		return nil, errors.New("it is the name of a directory")
	}
	for {
		name := dir + PartName(base)
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		switch {
		case err == nil:
			return file, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("directory %q does not exist", filepath.Dir(target))
		case !errors.Is(err, fs.ErrExist):
			return nil, fmt.Errorf("create a file in directory %q: %w", filepath.Dir(target), cause(err))
		}
	}
}

// writeBuffered calls write with a buffered writer of the file, and flushes the buffer.
func writeBuffered(file *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(unnamed{file})
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

// cause returns an error of package os without the operation and the file name, because the name is that of the temporary file, or the message
// has it already.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	if pathErr, ok := errors.AsType[*os.LinkError](err); ok {
		return pathErr.Err
	}
	return err
}
