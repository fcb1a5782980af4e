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

// checkNames returns an error if a file name of a command could mean a file outside the folder of the run.
func checkNames(command runner.Command) error {
	names := command.Collect
	for _, file := range command.Files {
		names = append(names[:len(names):len(names)], file.Name)
	}
	for _, name := range names {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
			return failure("%q is no name of a file of a run: it must have no path", name)
		}
	}
	return nil
}

// archive returns a tar file with the folder of a run and its files, which belong to the user that runs the tool.
func archive(dir string, files []runner.File) (*bytes.Buffer, error) {
	var buf bytes.Buffer
	writer := tar.NewWriter(&buf)
	head := tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o700, Uid: toolUser, Gid: toolUser}
	if err := writer.WriteHeader(&head); err != nil {
		return nil, err
	}
	for _, file := range files {
		head := tar.Header{Typeflag: tar.TypeReg, Name: path.Join(dir, file.Name), Mode: 0o600, Uid: toolUser, Gid: toolUser, Size: int64(len(file.Data))}
		if err := writer.WriteHeader(&head); err != nil {
			return nil, fmt.Errorf("pack %s: %w", file.Name, err)
		}
		if _, err := writer.Write(file.Data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", file.Name, err)
		}
	}
	return &buf, writer.Close()
}

// collect returns the named files in the folder of a run. It omits missing files.
func (c *Container) collect(ctx context.Context, dir string, names []string) ([]runner.File, error) {
	var files []runner.File
	for _, name := range names {
		data, err := c.docker.read(ctx, c.GetContainerID(), path.Join(dir, name))
		switch {
		case errdefs.IsNotFound(err):
		case err != nil:
			return files, fmt.Errorf("collect %s: %w", name, err)
		case data != nil:
			files = append(files, runner.File{Name: name, Data: data})
		}
	}
	return files, nil
}

// read returns the contents of a regular file in a container. It returns nil for another kind of file, such as a symbolic link.
func (d *Docker) read(ctx context.Context, id, file string) ([]byte, error) {
	copied, err := d.client.CopyFromContainer(ctx, id, client.CopyFromContainerOptions{SourcePath: file})
	if err != nil {
		return nil, err
	}
	defer copied.Content.Close()
	reader := tar.NewReader(copied.Content)
	head, err := reader.Next()
	if err != nil {
		return nil, err
	}
	if head.FileInfo().Mode()&fs.ModeType != 0 {
		return nil, nil
	}
	data := make([]byte, head.Size)
	_, err = io.ReadFull(reader, data)
	return data, err
}
