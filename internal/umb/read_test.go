package umb_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tilecheck/internal/umb"
)

// archived is a tar file of one member; a type that tar does not write is written over that
// of a plain file.
func archived(t *testing.T, name string, kind byte, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Format: tar.FormatUSTAR}); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte(text))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	out := b.Bytes()
	out[156] = kind
	copy(out[148:156], "        ")
	sum := 0
	for _, c := range out[:512] {
		sum += int(c)
	}
	copy(out[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return out
}

// TestSparse tests that sparse members are errors: with them, a file of 4 kB could have members of terabytes.
func TestSparse(t *testing.T) {
	records := func(lines ...string) string {
		out := ""
		for _, line := range lines {
			out += fmt.Sprintf("%d %s\n", len(line)+4, line) // with two digits, a blank and the end of the line
		}
		return out
	}
	for name, file := range map[string][]byte{
		"format 1.0": bytes.Join([][]byte{
			archived(t, "x", 'x', records("GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=a.bin", "GNU.sparse.realsize=9000000000000")),
			archived(t, "a.bin", '0', "0\n"+strings.Repeat("\x00", 510)), make([]byte, 1024),
		}, nil),
		"format 0.1": bytes.Join([][]byte{
			archived(t, "x", 'x', records("GNU.sparse.map=0,0", "GNU.sparse.numblocks=1", "GNU.sparse.name=a.bin", "GNU.sparse.size=9000000000000")),
			archived(t, "a.bin", '0', ""), make([]byte, 1024),
		}, nil),
	} {
		err := umb.Members(t.Context(), bytes.NewReader(file), func(name string, m *umb.Member) error {
			return fmt.Errorf("%s of %d bytes", name, m.Size)
		})
		if err == nil || !strings.Contains(err.Error(), `found the sparse member "a.bin"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
