// Package testimage makes the image that tests of containers run: FROM scratch,
// with the program of package faketool under the names that are asked for. It
// needs Docker and Go, and no network.
package testimage

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/client"
)

// Import builds faketool and imports an image that has it as /bin/faketool, with
// a link to it at each of the names, /bin/cat for example. It returns the name of
// the image: that given, and what makes it this test's own. The image is labelled
// and goes away with the test.
func Import(tb testing.TB, name string, labels map[string]string, names ...string) string {
	tb.Helper()
	ref := Own(name)
	c, err := client.New(client.FromEnv)
	if err != nil {
		tb.Fatal(err)
	}
	archive := pack(tb, Program(tb), names)
	changes := []string{"ENV PATH=/bin"}
	for k, v := range labels {
		changes = append(changes, fmt.Sprintf("LABEL %s=%q", k, v))
	}
	out, err := c.ImageImport(tb.Context(), client.ImageImportSource{Source: archive, SourceName: "-"}, ref, client.ImageImportOptions{Changes: changes})
	if err != nil {
		tb.Fatalf("import %s: %v", ref, err)
	}
	defer out.Close()
	if text, err := io.ReadAll(out); err != nil || strings.Contains(string(text), `"error"`) {
		tb.Fatalf("import %s: %s %v", ref, text, err)
	}
	tb.Cleanup(func() {
		if _, err := c.ImageRemove(context.Background(), ref, client.ImageRemoveOptions{Force: true}); err != nil {
			tb.Errorf("remove %s: %v", ref, err)
		}
	})
	return ref
}

// Own makes a name of an image one that no other test has: the same tests may run
// at the same time, on an engine that they share.
func Own(name string) string { return name + "-" + strings.ToLower(rand.Text()[:10]) }

// Program is faketool, static. It is built once.
func Program(tb testing.TB) []byte {
	tb.Helper()
	program, err := built()
	if err != nil {
		tb.Fatal(err)
	}
	return program
}

var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "faketool")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "faketool")
	c := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, "tilecheck/containers/internal/faketool")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build faketool: %w\n%s", err, out)
	}
	return os.ReadFile(file)
})

func pack(tb testing.TB, program []byte, names []string) io.Reader {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(h tar.Header, data []byte) {
		h.Size = int64(len(data))
		if err := w.WriteHeader(&h); err != nil {
			tb.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			tb.Fatal(err)
		}
	}
	put(tar.Header{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}, nil)
	put(tar.Header{Typeflag: tar.TypeReg, Name: "bin/faketool", Mode: 0o755}, program)
	for _, n := range names {
		put(tar.Header{Typeflag: tar.TypeSymlink, Name: strings.TrimPrefix(n, "/"), Linkname: "/bin/faketool", Mode: 0o777}, nil)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return &b
}
