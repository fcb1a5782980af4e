package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Place identifies the file that a write to a name would change, so that names can be compared. Links are followed, also dangling ones. The file
// need not exist.
type Place struct {
	info       fs.FileInfo // of the file; nil if it does not exist
	dir        fs.FileInfo // of the directory of a file that does not exist; nil if the directory does not exist
	name       string      // of a file that does not exist: its name in dir, or its absolute path
	isOpenFile bool        // the name is one of an open file, such as /dev/stdout
}

// maxLinks is the largest number of links that afterLinks follows, because links can form a cycle.
const maxLinks = 40

// PlaceOf returns the place that path leads to.
func PlaceOf(path string) Place {
	place := Place{isOpenFile: isOpenFileName(path)}
	var err error
	if place.info, err = os.Stat(path); err == nil {
		return place
	}
	path = afterLinks(path)
	dir, name := split(path)
	if place.dir, err = os.Stat(dir); err == nil {
		place.name = name
	} else if place.name, err = filepath.Abs(path); err != nil {
		place.name = path
	}
	return place
}

// PlaceOfOpen returns the place of an open file.
func PlaceOfOpen(f *os.File) (p Place, err error) {
	p.info, err = f.Stat()
	return p, err
}

// afterLinks returns the name of the file to which a dangling link leads, or path if it is no link.
func afterLinks(path string) string {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(target) {
			dir, _ := split(path)
			target = dir + target
		}
		path = target
	}
	return path
}

// split returns the directory of a name, which ends with a separator, and the
// name in it. filepath.Dir would take a/.. away, which is another directory if a
// is a link.
func split(path string) (dir, name string) {
	if dir, name = filepath.Split(path); dir == "" {
		dir = "." + string(filepath.Separator)
	}
	return dir, name
}

// Same reports whether writing to one place changes the content of the other.
func (p Place) Same(other Place) bool {
	if p.info != nil && other.info != nil {
		return os.SameFile(p.info, other.info)
	}
	if p.info != nil || other.info != nil || (p.dir == nil) != (other.dir == nil) {
		return false
	}
	return sameName(p.name, other.name) && (p.dir == nil || os.SameFile(p.dir, other.dir))
}

// sameName compares names in one directory: most file systems of these systems
// do not tell a from A.
func sameName(left, right string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(left, right)
	}
	return left == right
}

// KeepsOutput reports whether the place keeps the written content and nothing else, so that
// a second output would replace it. This excludes a terminal, /dev/null and other
// devices, and the name of an open file, to which output is appended.
func (p Place) KeepsOutput() bool {
	return !p.isOpenFile && (p.info == nil || p.info.Mode()&fs.ModeDevice == 0)
}

// Regular reports whether there is a regular file.
func (p Place) Regular() bool { return p.info != nil && p.info.Mode().IsRegular() }
