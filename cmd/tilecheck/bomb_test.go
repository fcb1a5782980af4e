//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ulikunitz/xz"

	"tilecheck/internal/needs"
)

// bombPart is how much of a bomb is compressed; a file has it bombParts times, 800 MB.
const (
	bombPart  = 4 << 20
	bombParts = 200
)

// bomb is a compressed file of a beginning and as much as that of a few bytes again and again.
func bomb(t *testing.T, compress func(io.Writer) io.WriteCloser, begin []byte, unit string) []byte {
	t.Helper()
	part := compressed(t, compress, bytes.Repeat([]byte(unit), bombPart/len(unit)))
	return append(compressed(t, compress, begin), bytes.Repeat(part, bombParts)...)
}

func compressed(t *testing.T, compress func(io.Writer) io.WriteCloser, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := compress(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func gzipped(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }

// largeColumn is the begin of a UMB file with more and more branches: the members, and the head of a column.
func largeColumn(t *testing.T, numbers string, more map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	head := func(name string, size int64) {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	add := func(name, text string) {
		head(name, int64(len(text)))
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	add("index.json", fmt.Sprintf(`{"format-version": 1, "transition-system": {"time": "discrete", "#players": 0, "#states": 3, "#initial-states": 1,
		"#choices": 3, "#branches": %d, "branch-probability-type": %s}}`, bombPart*bombParts/8, numbers))
	for name, text := range more {
		add(name, text)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	head("branch-to-target.bin", bombPart*bombParts)
	return out.Bytes()
}

// A compressed file that stands for more than the memory limit is given up at about the limit, with one line.
func TestDecompressionIsBounded(t *testing.T) {
	needs.Full(t)
	needs.NotShort(t, "the race detector takes memory itself")
	const limit, slack = 100 << 20, 300 << 20
	rows := []byte("100000000 100000000\n")
	xzipped := func(w io.Writer) io.WriteCloser {
		z, err := xz.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	model := largeColumn(t, `{"type": "double", "size": 64}`, nil)
	proof := largeColumn(t, `{"type": "rational", "size": 128}`, map[string]string{"certificates/index.json": `{"format-version": 1, "sets": [], "vectors": [], "claims": []}`})
	program := ownProgram(t)
	for _, test := range []struct {
		name string
		text []byte
		args []string
	}{
		{"line.tra.gz", bomb(t, gzipped, []byte("3 4\n0 0 0.5"), " "), nil},
		{"rows.tra.gz", bomb(t, gzipped, rows, "0 0 1\n"), nil},
		{"labels.tra,lab.gz", bomb(t, gzipped, []byte("0=\"init\""), "\n"), nil},
		{"lines.drn.gz", bomb(t, gzipped, []byte("@type: DTMC\n"), "\n"), nil},
		{"model.prism.gz", bomb(t, gzipped, []byte("dtmc\n"), "\n"), nil},
		{"column.umb", bomb(t, gzipped, model, "\x00"), nil},
		{"xz.umb", bomb(t, xzipped, model, "\x00"), nil},
		{"proof.cert", bomb(t, gzipped, proof, "\x00"), []string{"certify"}},
		{"xz.cert", bomb(t, xzipped, proof, "\x00"), []string{"certify"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.name == "xz.cert" { // xz is slow
				needs.Full(t)
			}
			dir := t.TempDir()
			name := test.name
			if base, labels := strings.CutSuffix(name, ".tra,lab.gz"); labels {
				tra := compressed(t, gzipped, []byte("3 3\n0 1 1\n1 2 1\n2 2 1\n"))
				if err := os.WriteFile(filepath.Join(dir, base+".tra.gz"), tra, 0o600); err != nil {
					t.Fatal(err)
				}
				name = base + ".lab.gz"
			}
			if err := os.WriteFile(filepath.Join(dir, name), test.text, 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(test.args, test.name, "--memory", fmt.Sprint(limit))
			if test.args == nil {
				args = append([]string{"info"}, args...)
			}
			cmd := exec.CommandContext(t.Context(), program, args...)
			var stderr strings.Builder
			cmd.Dir, cmd.Stderr = dir, &stderr
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != exitOutOfLimit || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "memory limit") {
				t.Errorf("exit code %d, %q, want %d and one line about the memory limit", code, stderr.String(), exitOutOfLimit)
			}
			if most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; most > limit+slack {
				t.Errorf("it took %d MB, want at most %d", most>>20, (limit+slack)>>20)
			}
		})
	}
}
