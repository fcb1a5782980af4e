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

// newPaths converts the file names that the user gave. It returns an error if a file does not exist.
func newPaths(args []string) (*fileNames, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := filepath.VolumeName(dir) + string(filepath.Separator)
	paths := &fileNames{fsys: os.DirFS(root), root: root, workingDir: dir, onlyRelative: true}
	for _, arg := range args {
		absolute := filepath.Clean(arg)
		if filepath.IsAbs(arg) {
			paths.onlyRelative = false
		} else {
			absolute = filepath.Join(dir, arg)
		}
		name, err := filepath.Rel(root, absolute)
		if err != nil {
			return nil, fmt.Errorf("%s: want a file below %s, as the working directory is", arg, root)
		}
		name = filepath.ToSlash(name)
		if _, err := os.Stat(absolute); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file or directory", arg)
		}
		if !slices.Contains(paths.arguments, name) {
			paths.arguments = append(paths.arguments, name)
		}
	}
	return paths, nil
}

// absolute returns the absolute name of a file.
func (p *fileNames) absolute(file string) string {
	return filepath.Join(p.root, filepath.FromSlash(file))
}

// userName returns the name of a file for messages: relative to the working directory if the file is below it or if the user gave only relative
// names, otherwise absolute.
func (p *fileNames) userName(file string) string {
	absolute := p.absolute(file)
	relative, err := filepath.Rel(p.workingDir, absolute)
	if err != nil || !p.onlyRelative && strings.HasPrefix(relative, "..") {
		return absolute
	}
	return relative
}

// userError replaces the file name in an error by the user's name for it.
func (p *fileNames) userError(err error) error {
	if syntaxErr, ok := err.(*syntax.Error); ok {
		return &syntax.Error{File: p.userName(syntaxErr.File), Pos: syntaxErr.Pos, Msg: syntaxErr.Msg}
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.userName(pathErr.Path), pathErr.Err)
	}
	return err
}
