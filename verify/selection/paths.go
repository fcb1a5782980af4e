package selection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// fileNames converts between the user's file names and the names of package regress, which are relative to the root of the working
// directory's volume and have no leading slash.
type fileNames struct {
	fsys         fs.FS
	root         string
	workingDir   string // the working directory
	arguments    []string
	onlyRelative bool // the user gave only relative names
}

func newPaths(args []string) (*fileNames, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := filepath.VolumeName(dir) + string(filepath.Separator)
	p := &fileNames{fsys: os.DirFS(root), root: root, workingDir: dir, onlyRelative: true}
	for _, arg := range args {
		abs := filepath.Clean(arg)
		if filepath.IsAbs(arg) {
			p.onlyRelative = false
		} else {
			abs = filepath.Join(dir, arg)
		}
		name, err := filepath.Rel(root, abs)
		if err != nil {
			return nil, fmt.Errorf("%s: want a file below %s, as the working directory is", arg, root)
		}
		name = filepath.ToSlash(name)
		if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file or directory", arg)
		}
		if !slices.Contains(p.arguments, name) {
			p.arguments = append(p.arguments, name)
		}
	}
	return p, nil
}

// absolute returns the absolute name of a file.
func (p *fileNames) absolute(file string) string {
	return filepath.Join(p.root, filepath.FromSlash(file))
}

// userName returns a file's name for the user: relative to the working directory if the file is below it or if the user gave only
// relative names, otherwise absolute.
func (p *fileNames) userName(file string) string {
	abs := p.absolute(file)
	rel, err := filepath.Rel(p.workingDir, abs)
	if err != nil || !p.onlyRelative && strings.HasPrefix(rel, "..") {
		return abs
	}
	return rel
}

// userError replaces the file name in an error by the user's name for it.
func (p *fileNames) userError(err error) error {
	if e, ok := err.(*syntax.Error); ok {
		return &syntax.Error{File: p.userName(e.File), Pos: e.Pos, Msg: e.Msg}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.userName(e.Path), e.Err)
	}
	return err
}
