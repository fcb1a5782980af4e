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

// paths converts between the user's file names and the names of package regress, which are relative to the root of the working
// directory's volume and have no leading slash.
type paths struct {
	fsys        fs.FS
	root        string
	dir         string // the working directory
	names       []string
	allRelative bool // the user gave only relative names
}

func newPaths(args []string) (*paths, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := filepath.VolumeName(dir) + string(filepath.Separator)
	p := &paths{fsys: os.DirFS(root), root: root, dir: dir, allRelative: true}
	for _, arg := range args {
		abs := filepath.Clean(arg)
		if filepath.IsAbs(arg) {
			p.allRelative = false
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
		if !slices.Contains(p.names, name) {
			p.names = append(p.names, name)
		}
	}
	return p, nil
}

// abs returns the absolute name of a file.
func (p *paths) abs(file string) string { return filepath.Join(p.root, filepath.FromSlash(file)) }

// name returns a file's name for the user: relative to the working directory if the file is below it or if the user gave only
// relative names, otherwise absolute.
func (p *paths) name(file string) string {
	abs := p.abs(file)
	rel, err := filepath.Rel(p.dir, abs)
	if err != nil || !p.allRelative && strings.HasPrefix(rel, "..") {
		return abs
	}
	return rel
}

// userError replaces the file name in an error by the user's name for it.
func (p *paths) userError(err error) error {
	if e, ok := err.(*syntax.Error); ok {
		return &syntax.Error{File: p.name(e.File), Pos: e.Pos, Msg: e.Msg}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.name(e.Path), e.Err)
	}
	return err
}
