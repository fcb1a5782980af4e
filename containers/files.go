package containers

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"tilecheck/runner"
)

// checkNames returns an error for a file name that would leave the folder of a run.
func checkNames(c runner.Command) error {
	names := c.Collect
	for _, f := range c.Files {
		names = append(names[:len(names):len(names)], f.Name)
	}
	for _, n := range names {
		if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "/\\\x00") {
			return failure("%q is no name of a file of a run: it must have no path", n)
		}
	}
	return nil
}

// archive returns the folder of a run as a tar file, owned by the user of the tool.
func archive(dir string, files []runner.File) (*bytes.Buffer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	head := tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o700, Uid: toolUser, Gid: toolUser}
	if err := w.WriteHeader(&head); err != nil {
		return nil, err
	}
	for _, f := range files {
		head := tar.Header{Typeflag: tar.TypeReg, Name: path.Join(dir, f.Name), Mode: 0o600, Uid: toolUser, Gid: toolUser, Size: int64(len(f.Data))}
		if err := w.WriteHeader(&head); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
	}
	return &b, w.Close()
}

// collect reads the named files that a run left in its folder. Missing ones are skipped.
func (c *Container) collect(ctx context.Context, dir string, names []string) ([]runner.File, error) {
	var files []runner.File
	for _, n := range names {
		data, err := c.docker.read(ctx, c.GetContainerID(), path.Join(dir, n))
		switch {
		case errdefs.IsNotFound(err):
		case err != nil:
			return files, fmt.Errorf("collect %s: %w", n, err)
		case data != nil:
			files = append(files, runner.File{Name: n, Data: data})
		}
	}
	return files, nil
}

// read returns the contents of a regular file in a container, nil for any other
// file, such as a symbolic link.
func (d *Docker) read(ctx context.Context, id, file string) ([]byte, error) {
	got, err := d.client.CopyFromContainer(ctx, id, client.CopyFromContainerOptions{SourcePath: file})
	if err != nil {
		return nil, err
	}
	defer got.Content.Close()
	r := tar.NewReader(got.Content)
	head, err := r.Next()
	if err != nil {
		return nil, err
	}
	if head.FileInfo().Mode()&fs.ModeType != 0 {
		return nil, nil
	}
	data := make([]byte, head.Size)
	_, err = io.ReadFull(r, data)
	return data, err
}
