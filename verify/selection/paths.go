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

// fileNames converts between the file names of the user and the names in fsys, which are relative to root. root is the root directory of the
// working directory's volume.
type fileNames struct {
	fileSystem   fs.FS
	root         string
	workingDir   string
	arguments    []string // the names of the user, converted, without repetitions
	onlyRelative bool     // the user gave only relative names
}

// newFileNames converts the file names that the user wrote to names below the root of the file system. It returns an error if a file does not
// exist.
func newFileNames(args []string) (*fileNames, error) {
	workingDir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := filepath.VolumeName(workingDir) + string(filepath.Separator)
	names := &fileNames{fileSystem: directory(root), root: root, workingDir: workingDir, onlyRelative: true}
	// io/fs needs names relative to the root, with slashes.
	for _, arg := range args {
		absolute := filepath.Clean(arg)
		if filepath.IsAbs(arg) {
			names.onlyRelative = false
		} else {
			absolute = filepath.Join(workingDir, arg)
		}
		name, err := filepath.Rel(root, absolute)
		if err != nil {
			return nil, fmt.Errorf("%s: want a file below %s, as the working directory is", arg, root)
		}
		name = filepath.ToSlash(name)
		if _, err := os.Stat(absolute); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file or directory", arg)
		}
		if !slices.Contains(names.arguments, name) {
			names.arguments = append(names.arguments, name)
		}
	}
	return names, nil
}

// directory is like os.DirFS, but it also opens files whose names are not UTF-8.
type directory string

func (d directory) Open(name string) (fs.File, error) {
	return os.Open(filepath.Join(string(d), filepath.FromSlash(name)))
}

// absolute returns the absolute name of a file.
func (p *fileNames) absolute(file string) string {
	return filepath.Join(p.root, filepath.FromSlash(file))
}

// userName returns the name of a file for messages. The name is relative to the working directory if the file is below this directory, or if the
// user wrote only relative names.
func (p *fileNames) userName(file string) string {
	absolute := p.absolute(file)
	relative, err := filepath.Rel(p.workingDir, absolute)
	isOutside := strings.HasPrefix(relative, "..")
	if err != nil || isOutside && !p.onlyRelative {
		return absolute
	}
	return relative
}

// userError returns an error whose file name is replaced by the name for messages.
func (p *fileNames) userError(err error) error {
	if syntaxErr, ok := err.(*syntax.Error); ok {
		return &syntax.Error{File: p.userName(syntaxErr.File), Pos: syntaxErr.Pos, Msg: syntaxErr.Msg}
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.userName(pathErr.Path), pathErr.Err)
	}
	return err
}
