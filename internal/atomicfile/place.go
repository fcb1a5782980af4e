package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Place is the file that a name leads to, there or not yet, so that names can be
// compared: links are followed, also those that lead nowhere.
type Place struct {
	info fs.FileInfo // of the existing file
	dir  fs.FileInfo // where it will be, nil if that is not there either
	name string      // in dir, or absolute
	open bool
}

// maxLinks is after how many links in a row a name leads nowhere.
const maxLinks = 40

// PlaceOf returns the place that path leads to.
func PlaceOf(path string) Place {
	p := Place{open: isOpenFileName(path)}
	var err error
	if p.info, err = os.Stat(path); err == nil {
		return p
	}
	path = afterLinks(path)
	dir, name := split(path)
	if p.dir, err = os.Stat(dir); err == nil {
		p.name = name
	} else if p.name, err = filepath.Abs(path); err != nil {
		p.name = path
	}
	return p
}

// PlaceOfOpen returns the place of an open file.
func PlaceOfOpen(f *os.File) (p Place, err error) {
	p.info, err = f.Stat()
	return p, err
}

// afterLinks follows the links of a name that leads to nothing.
func afterLinks(path string) string {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			dir, _ := split(path)
			to = dir + to
		}
		path = to
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
func (p Place) Same(q Place) bool {
	if p.info != nil && q.info != nil {
		return os.SameFile(p.info, q.info)
	}
	if p.info != nil || q.info != nil || (p.dir == nil) != (q.dir == nil) {
		return false
	}
	return sameName(p.name, q.name) && (p.dir == nil || os.SameFile(p.dir, q.dir))
}

// sameName compares names in one directory: most file systems of these systems
// do not tell a from A.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// Keeps reports whether the place keeps the written content and nothing else, so that
// a second output would replace it. This excludes a terminal, /dev/null and other
// devices, and the name of an open file, to which output is appended.
func (p Place) Keeps() bool {
	return !p.open && (p.info == nil || p.info.Mode()&fs.ModeDevice == 0)
}

// Regular reports whether there is a regular file.
func (p Place) Regular() bool { return p.info != nil && p.info.Mode().IsRegular() }
