//go:build !js

package build

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// Identify returns the identity of the running program, in the form of a
// semantic version. Programs of the same identity compute the same:
//
//	0.2.0+dfaa1db0c1d2.3b1f9a2c8d7e       built from this revision, with everything that the build was told
//	0.2.0+dfaa1db0c1d2.dirty.77ab…        the tree had changes: a checksum of the program
//	0.2.0+sum.77ab…                       no revision is known (go run, go test, an archive): the same
//
// The checksum is the one that the Go linker left in the program, or, without it, one
// of the whole file: some hundredths of a second, so ask once, and only where it is
// needed. With an error the identity is good for showing and for nothing else.
func Identify() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return identity(info, checksum)
}

// identity is Identify for what the linker has left in a program, and its checksum.
func identity(info *debug.BuildInfo, checksum func() (string, error)) (string, error) {
	var revision, modified string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = short(s.Value)
		case "vcs.modified":
			modified = s.Value
		}
	}
	if revision != "" && modified == "false" {
		// The compiler, the modules and the switches are a part of the text.
		return fmt.Sprintf("%s+%s.%s", Version, revision, short(fmt.Sprintf("%x", sha256.Sum256([]byte(info.String()))))), nil
	}
	kind := "sum"
	if revision != "" {
		kind = revision + ".dirty"
	}
	sum, err := checksum()
	if err != nil {
		return Version + "+unknown", fmt.Errorf("identify this program: %w", err)
	}
	return fmt.Sprintf("%s+%s.%s", Version, kind, short(sum)), nil
}

// short is enough of a hash to tell builds apart.
func short(hash string) string { return hash[:min(12, len(hash))] }

// checksum is that of the running program.
func checksum() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if id := linked(f); id != "" {
		h.Write([]byte(id))
	} else if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// linked returns the build ID of a Go program, a hash of everything that it was made
// of: in a note of ELF files, and at the beginning of the text of others (the same two
// places as in cmd/internal/buildid of Go). It is empty where there is none.
func linked(f io.ReaderAt) string {
	if e, err := elf.NewFile(f); err == nil {
		const header = 16 // three lengths and "Go\x00\x00"
		note := e.Section(".note.go.buildid")
		if note == nil || note.Size > 1<<10 {
			return ""
		}
		if b, err := note.Data(); err == nil && len(b) > header {
			return strings.TrimRight(string(b[header:]), "\x00") // to a whole number of words
		}
		return ""
	}
	head := make([]byte, 64<<10)
	n, _ := f.ReadAt(head, 0)
	_, id, found := bytes.Cut(head[:n], []byte("\xff Go build ID: \""))
	if id, _, ended := bytes.Cut(id, []byte("\"\n \xff")); found && ended {
		return string(id)
	}
	return ""
}
