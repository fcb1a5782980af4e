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

// Folders are the folders in which the page can read and write files. Names and links that lead
// outside are rejected.
type Folders struct {
	list []folder
	// saving is held from the check of a file's version until the new file has replaced it.
	saving sync.Mutex
}

// folder is one of the folders, or a single file in a folder.
type folder struct {
	name string // as shown on the page
	root *os.Root
	only string // the only accessible file; empty for all files
}

// OpenFolders opens the given folders and files. Of a folder that contains a given file, only this file can be read and written.
func OpenFolders(paths []string) (*Folders, error) {
	folders := &Folders{}
	for _, path := range paths {
		if err := folders.add(path); err != nil {
			return nil, errors.Join(err, folders.Close())
		}
	}
	return folders, nil
}

func (f *Folders) add(path string) error {
	full, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	if err != nil {
		return err
	}
	added := folder{name: filepath.Base(full)}
	dir := full
	if !info.IsDir() {
		dir, added.only = filepath.Dir(full), filepath.Base(full)
		added.name = filepath.Base(dir)
	}
	if added.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	base := added.name
	for i := 2; slices.ContainsFunc(f.list, func(other folder) bool { return other.name == added.name }); i++ {
		added.name = fmt.Sprintf("%s (%d)", base, i)
	}
	f.list = append(f.list, added)
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
	maxFiles  = 2000    // number of files in a list
	maxDepth  = 8       // nesting of folders
	fileLimit = 4 << 20 // size of a file in bytes
)

// isReadable reports whether the page can use a file with this name: a model, properties, or a
// record of games or paths.
func isReadable(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".prism", ".pm", ".nm", ".sm", ".ctmc", ".dtmc", ".mdp", ".pta", ".props", ".prop", ".pctl", ".csl", ".jani", ".games", ".record", ".csv", ".txt":
		return !strings.HasPrefix(path.Base(name), ".")
	}
	return false
}

// find returns the folder of a path such as "examples/die.prism", and the path within it.
func (f *Folders) find(name string) (folder, string, error) {
	if f == nil {
		return folder{}, "", badf("no folders were given on the command line")
	}
	first, pathInFolder, _ := strings.Cut(name, "/")
	for _, current := range f.list {
		if current.name != first {
			continue
		}
		if pathInFolder != path.Clean(pathInFolder) || !fs.ValidPath(pathInFolder) || pathInFolder == "." || current.only != "" && pathInFolder != current.only {
			break
		}
		if !isReadable(pathInFolder) {
			return folder{}, "", badf("%q is no file of a model, properties, games or a path", name)
		}
		return current, pathInFolder, nil
	}
	return folder{}, "", badf("%q is not in the folders of the command line", name)
}

type filesQuestion struct{}

type fileEntry struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// files lists the files that can be opened.
func (h *API) files(ctx context.Context, _ *filesQuestion, _ *reply) (any, error) {
	list := struct {
		Files []fileEntry `json:"files"`
		More  bool        `json:"more,omitempty"`
	}{Files: []fileEntry{}}
	if h.Folders == nil {
		return list, nil
	}
	for _, folder := range h.Folders.list {
		err := fs.WalkDir(folder.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil: // a folder that cannot be read has nothing to open
				return nil
			case entry.IsDir():
				if name != "." && (strings.HasPrefix(entry.Name(), ".") || strings.Count(name, "/") >= maxDepth || folder.only != "") {
					return fs.SkipDir
				}
			case len(list.Files) == maxFiles:
				list.More = true
				return fs.SkipAll
			case entry.Type().IsRegular() && isReadable(name) && (folder.only == "" || folder.only == name):
				if info, err := entry.Info(); err == nil {
					list.Files = append(list.Files, fileEntry{folder.name + "/" + name, info.Size()})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

type openQuestion struct {
	Path string `json:"path"`
}

// opened is the text of a file with its version.
type opened struct {
	Path    string `json:"path"`
	Text    string `json:"text"`
	Version string `json:"version"`
}

// open reads a file.
func (h *API) open(_ context.Context, question *openQuestion, _ *reply) (any, error) {
	folder, name, err := h.Folders.find(question.Path)
	if err != nil {
		return nil, err
	}
	text, err := folder.read(name)
	if err != nil {
		return nil, err
	}
	return opened{question.Path, string(text), versionOf(text)}, nil
}

func (in folder) read(name string) ([]byte, error) {
	info, err := in.root.Stat(name)
	if err != nil {
		return nil, hideTarget(err)
	}
	if !info.Mode().IsRegular() { // reading a pipe would block
		return nil, badf("%s is no regular file", name)
	}
	text, err := limited.ReadFile(in.root.FS(), name, fileLimit)
	return text, hideTarget(err)
}

// hideTarget rewrites the error of a file so that it does not name the target of a link.
func hideTarget(err error) error {
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
	// Version is the version that was opened; empty for a new file.
	Version string `json:"version"`
}

// errChanged says that another program has written the file.
var errChanged = errors.New("the file has changed since it was opened: open it again, or save under another name")

// save writes a file completely or not at all. It returns an error if the file has changed since
// the page read it.
func (h *API) save(_ context.Context, question *saveQuestion, _ *reply) (any, error) {
	folder, name, err := h.Folders.find(question.Path)
	if err != nil {
		return nil, err
	}
	if len(question.Text) > fileLimit {
		return nil, badRequest{limited.TooLarge(fileLimit)}
	}
	h.Folders.saving.Lock()
	defer h.Folders.saving.Unlock()
	stored, err := folder.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if question.Version != "" {
			return nil, errChanged
		}
	case err != nil:
		return nil, err
	case versionOf(stored) != question.Version:
		return nil, errChanged
	case !utf8.Valid(stored): // the page shows replacement characters for them
		return nil, badf("%s has bytes that are not UTF-8, which the page cannot keep: save under another name", name)
	}
	if err := folder.write(name, []byte(question.Text)); err != nil {
		return nil, hideTarget(err)
	}
	return opened{Path: question.Path, Version: versionOf([]byte(question.Text))}, nil
}

// write replaces a file within the folder. It does the same as atomicfile.Write, which does not
// support os.Root.
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
	tempName := path.Join(path.Dir(name), atomicfile.PartName(path.Base(name)))
	tempFile, err := in.root.OpenFile(tempName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return named(name, err)
	}
	_, err = io.Copy(tempFile, bytes.NewReader(text))
	err = errors.Join(err, tempFile.Sync(), tempFile.Close())
	if err == nil {
		err = in.root.Rename(tempName, name)
	}
	if err != nil {
		return named(name, errors.Join(err, in.root.Remove(tempName)))
	}
	return nil
}

// writable returns an error if the file cannot be written: a read-only file is not replaced,
// although its folder may be writable.
func (in folder) writable(name string) error {
	f, err := in.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// named replaces the name of the temporary file in an error by the name of the file.
func named(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}
