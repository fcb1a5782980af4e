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

// Import builds faketool and imports an image that has it as /bin/faketool, with a link to it at each of the names, such as /bin/cat. It returns the
// name of the image, which Own makes unique. The image has the labels, and is removed at the end of the test.
func Import(tb testing.TB, name string, labels map[string]string, names ...string) string {
	tb.Helper()
	ref := Own(name)
	dockerClient, err := client.New(client.FromEnv)
	if err != nil {
		tb.Fatal(err)
	}
	archive := pack(tb, Program(tb), names)
	changes := []string{"ENV PATH=/bin"}
	for label, value := range labels {
		changes = append(changes, fmt.Sprintf("LABEL %s=%q", label, value))
	}
	out, err := dockerClient.ImageImport(tb.Context(), client.ImageImportSource{Source: archive, SourceName: "-"}, ref, client.ImageImportOptions{Changes: changes})
	if err != nil {
		tb.Fatalf("import %s: %v", ref, err)
	}
	defer out.Close()
	if text, err := io.ReadAll(out); err != nil || strings.Contains(string(text), `"error"`) {
		tb.Fatalf("import %s: %s %v", ref, text, err)
	}
	tb.Cleanup(func() {
		if _, err := dockerClient.ImageRemove(context.Background(), ref, client.ImageRemoveOptions{Force: true}); err != nil {
			tb.Errorf("remove %s: %v", ref, err)
		}
	})
	return ref
}

// Own returns a name of an image that no other test uses: the same tests may run at the same time on one engine.
func Own(name string) string { return name + "-" + strings.ToLower(rand.Text()[:10]) }

// Program returns the program faketool, linked statically. It is built once.
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

// pack returns a tar file with the program as bin/faketool and a link to it for each name.
func pack(tb testing.TB, program []byte, names []string) io.Reader {
	tb.Helper()
	var buf bytes.Buffer
	writer := tar.NewWriter(&buf)
	put := func(header tar.Header, data []byte) {
		header.Size = int64(len(data))
		if err := writer.WriteHeader(&header); err != nil {
			tb.Fatal(err)
		}
		if _, err := writer.Write(data); err != nil {
			tb.Fatal(err)
		}
	}
	put(tar.Header{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}, nil)
	put(tar.Header{Typeflag: tar.TypeReg, Name: "bin/faketool", Mode: 0o755}, program)
	for _, name := range names {
		put(tar.Header{Typeflag: tar.TypeSymlink, Name: strings.TrimPrefix(name, "/"), Linkname: "/bin/faketool", Mode: 0o777}, nil)
	}
	if err := writer.Close(); err != nil {
		tb.Fatal(err)
	}
	return &buf
}
