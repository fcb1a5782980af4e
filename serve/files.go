package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"tilecheck/internal/atomicfile"
	"tilecheck/internal/limited"
)

// Folders are the folders whose files a page may read and write: nothing outside of them, whatever names and links say.
type Folders struct {
	list []folder
	// saving is held from the look at a file's version until the new file is in its place.
	saving sync.Mutex
}

// folder is one of them, or one file of it.
type folder struct {
	name string // as the page calls it
	root *os.Root
	only string // the one file; empty for all
}

// OpenFolders opens folders, and files, which stand for themselves alone.
func OpenFolders(paths []string) (*Folders, error) {
	f := &Folders{}
	for _, p := range paths {
		if err := f.add(p); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return f, nil
}

func (f *Folders) add(p string) error {
	full, err := filepath.Abs(p)
	if err != nil {
		return err
	}
	info, err := os.Stat(full)
	if err != nil {
		return err
	}
	in := folder{name: filepath.Base(full)}
	dir := full
	if !info.IsDir() {
		dir, in.only = filepath.Dir(full), filepath.Base(full)
		in.name = filepath.Base(dir)
	}
	if in.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	base := in.name
	for i := 2; slices.ContainsFunc(f.list, func(o folder) bool { return o.name == in.name }); i++ {
		in.name = fmt.Sprintf("%s (%d)", base, i)
	}
	f.list = append(f.list, in)
	return nil
}

// Close closes the folders.
func (f *Folders) Close() error {
	var errs []error
	for _, in := range f.list {
		errs = append(errs, in.root.Close())
	}
	return errors.Join(errs...)
}

const (
	mostFiles = 2000    // that are listed
	mostDepth = 8       // of folders within folders
	fileLimit = 4 << 20 // bytes of a file
)

// readable reports whether a name is one of a file that the page has a use for: models, properties, records of games and paths.
func readable(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".prism", ".pm", ".nm", ".sm", ".ctmc", ".dtmc", ".mdp", ".pta", ".props", ".prop", ".pctl", ".csl", ".jani", ".games", ".record", ".csv", ".txt":
		return !strings.HasPrefix(path.Base(name), ".")
	}
	return false
}

// find returns the folder of a path such as "examples/die.prism", and the rest.
func (f *Folders) find(name string) (folder, string, error) {
	if f == nil {
		return folder{}, "", badf("no folders were given on the command line")
	}
	first, rest, _ := strings.Cut(name, "/")
	for _, in := range f.list {
		if in.name != first {
			continue
		}
		if rest != path.Clean(rest) || !fs.ValidPath(rest) || rest == "." || in.only != "" && rest != in.only {
			break
		}
		if !readable(rest) {
			return folder{}, "", badf("%q is no file of a model, properties, games or a path", name)
		}
		return in, rest, nil
	}
	return folder{}, "", badf("%q is not in the folders of the command line", name)
}

type filesQuestion struct{}

type fileEntry struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// files lists what can be opened.
func (h *handler) files(ctx context.Context, _ *filesQuestion, _ *reply) (any, error) {
	out := struct {
		Files []fileEntry `json:"files"`
		More  bool        `json:"more,omitempty"`
	}{Files: []fileEntry{}}
	if h.Folders == nil {
		return out, nil
	}
	for _, in := range h.Folders.list {
		err := fs.WalkDir(in.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil: // a folder that cannot be read has nothing to open
				return nil
			case d.IsDir():
				if name != "." && (strings.HasPrefix(d.Name(), ".") || strings.Count(name, "/") >= mostDepth || in.only != "") {
					return fs.SkipDir
				}
			case len(out.Files) == mostFiles:
				out.More = true
				return fs.SkipAll
			case d.Type().IsRegular() && readable(name) && (in.only == "" || in.only == name):
				if info, err := d.Info(); err == nil {
					out.Files = append(out.Files, fileEntry{in.name + "/" + name, info.Size()})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

type openQuestion struct {
	Path string `json:"path"`
}

// opened is a file, and what it was when it was read.
type opened struct {
	Path    string `json:"path"`
	Text    string `json:"text"`
	Version string `json:"version"`
}

// open reads a file.
func (h *handler) open(_ context.Context, q *openQuestion, _ *reply) (any, error) {
	in, name, err := h.Folders.find(q.Path)
	if err != nil {
		return nil, err
	}
	text, err := in.read(name)
	if err != nil {
		return nil, err
	}
	return opened{q.Path, string(text), versionOf(text)}, nil
}

func (in folder) read(name string) ([]byte, error) {
	info, err := in.root.Stat(name)
	if err != nil {
		return nil, outside(err)
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, badf("%s is no regular file", name)
	}
	text, err := limited.ReadFile(in.root.FS(), name, fileLimit)
	return text, outside(err)
}

// outside words the error of a file without naming what is behind a link.
func outside(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return badf("%s: %w", e.Path, e.Err)
	}
	return err
}

func versionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

type saveQuestion struct {
	Path string `json:"path"`
	Text string `json:"text"`
	// Version is what was opened; empty for a new file.
	Version string `json:"version"`
}

// errChanged says that somebody else wrote the file.
var errChanged = errors.New("the file has changed since it was opened: open it again, or save under another name")

// save writes a file completely or not at all, and not over what the page has not seen.
func (h *handler) save(_ context.Context, q *saveQuestion, _ *reply) (any, error) {
	in, name, err := h.Folders.find(q.Path)
	if err != nil {
		return nil, err
	}
	if len(q.Text) > fileLimit {
		return nil, badRequest{limited.TooLarge(fileLimit)}
	}
	h.Folders.saving.Lock()
	defer h.Folders.saving.Unlock()
	now, err := in.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if q.Version != "" {
			return nil, errChanged
		}
	case err != nil:
		return nil, err
	case versionOf(now) != q.Version:
		return nil, errChanged
	case !utf8.Valid(now): // the page has seen other characters in their place
		return nil, badf("%s has bytes that are not UTF-8, which the page cannot keep: save under another name", name)
	}
	if err := in.write(name, []byte(q.Text)); err != nil {
		return nil, outside(err)
	}
	return opened{Path: q.Path, Version: versionOf([]byte(q.Text))}, nil
}

// write puts a new file in the place of the old one, within the folder: it does what atomicfile.Write does, which knows no roots.
func (in folder) write(name string, text []byte) error {
	mode := fs.FileMode(0o666)
	if info, err := in.root.Lstat(name); err == nil {
		if info.Mode()&fs.ModeSymlink != 0 {
			return badf("%s is a link, and stays one: save under another name", name)
		}
		mode = info.Mode().Perm()
		if err := in.writable(name); err != nil {
			return err
		}
	}
	part := path.Join(path.Dir(name), atomicfile.PartName(path.Base(name)))
	w, err := in.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return named(name, err)
	}
	_, err = io.Copy(w, bytes.NewReader(text))
	err = errors.Join(err, w.Sync(), w.Close())
	if err == nil {
		err = in.root.Rename(part, name)
	}
	if err != nil {
		return named(name, errors.Join(err, in.root.Remove(part)))
	}
	return nil
}

// writable reports why a file could not be written in place: a read-only file is not replaced, although its folder could be written to.
func (in folder) writable(name string) error {
	f, err := in.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// named gives an error about the temporary file beside a file the name of the file.
func named(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}
