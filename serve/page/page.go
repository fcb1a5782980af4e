// Package page contains the files of the web page: HTML, CSS and JavaScript without a build step.
// They load nothing from other hosts, and insert text from models into the page only as text,
// never as HTML.
package page

import (
	"embed"
	"io/fs"
	"path"
)

//go:embed static
var static embed.FS

// Files returns the files by name.
func Files() map[string][]byte {
	files := map[string][]byte{}
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := static.ReadFile(name)
		files[name[len("static/"):]] = text
		return err
	})
	if err != nil {
		panic(err) // the files are a part of the program
	}
	return files
}

// Type returns the media type of a file of the page.
func Type(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "application/octet-stream"
}
