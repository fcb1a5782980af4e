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

// Identify returns the identity of the running program, in the form of a semantic version. Programs of the same identity compute the same
// results:
//
//	0.2.0+dfaa1db0c1d2.3b1f9a2c8d7e       built from this revision; the last part is a hash of the compiler, the modules and the settings
//	0.2.0+dfaa1db0c1d2.dirty.77ab…        built from this revision with changes; the last part is a hash of the program
//	0.2.0+sum.77ab…                       the revision is not known (go run, go test); the last part is a hash of the program
//
// The hash of the program is one of the build ID that the Go linker writes, or of the whole file if there is no build ID, which takes some hundredths of
// a second. An identity that is returned with an error must not be compared with others.
func Identify() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return identity(info, checksum)
}

// identity returns the identity of a program with this build information. It calls checksum only if the build information does not identify the
// program.
func identity(buildInfo *debug.BuildInfo, checksum func() (string, error)) (string, error) {
	var revision, modified string
	for _, s := range buildInfo.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = short(s.Value)
		case "vcs.modified":
			modified = s.Value
		}
	}
	if revision != "" && modified == "false" {
		// The compiler, the modules and the switches are a part of the text.
		return fmt.Sprintf("%s+%s.%s", Version, revision, short(fmt.Sprintf("%x", sha256.Sum256([]byte(buildInfo.String()))))), nil
	}
	prefix := "sum"
	if revision != "" {
		prefix = revision + ".dirty"
	}
	sum, err := checksum()
	if err != nil {
		return Version + "+unknown", fmt.Errorf("identify this program: %w", err)
	}
	return fmt.Sprintf("%s+%s.%s", Version, prefix, short(sum)), nil
}

// short is enough of a hash to tell builds apart.
func short(hash string) string { return hash[:min(12, len(hash))] }

// checksum returns a hash of the running program.
func checksum() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if id := buildID(file); id != "" {
		hash.Write([]byte(id))
	} else if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// buildID returns the build ID of a Go program, which is a hash of everything that it was built from; empty if there is none. ELF files have it in a
// note, other files at the beginning of the code.
//
// Source: cmd/internal/buildid of Go.
func buildID(executable io.ReaderAt) string {
	if elfFile, err := elf.NewFile(executable); err == nil {
		const header = 16 // three lengths and "Go\x00\x00"
		note := elfFile.Section(".note.go.buildid")
		if note == nil || note.Size > 1<<10 {
			return ""
		}
		if b, err := note.Data(); err == nil && len(b) > header {
			return strings.TrimRight(string(b[header:]), "\x00") // to a whole number of words
		}
		return ""
	}
	head := make([]byte, 64<<10)
	n, _ := executable.ReadAt(head, 0)
	_, id, found := bytes.Cut(head[:n], []byte("\xff Go build ID: \""))
	if id, _, ended := bytes.Cut(id, []byte("\"\n \xff")); found && ended {
		return string(id)
	}
	return ""
}
