package containers

import (
	"archive/tar"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Image is an image on the machine.
type Image struct {
	Ref     string // the requested name, or one of its names
	ID      string // of its configuration: content-addressed, "sha256:…"
	Digest  string // of its manifest, if it came from a registry
	Tool    string // the tool in it, if this program made the image
	Version string // the version of Tool
	Size    int64  // bytes
	Created time.Time
}

// String returns the name of the image with the first 12 digits of its digest, or else of its ID.
func (i Image) String() string {
	digest := i.Digest
	if digest == "" {
		digest = i.ID
	}
	hex, _ := strings.CutPrefix(digest, "sha256:")
	return i.Ref + "@sha256:" + hex[:min(12, len(hex))]
}

// Find returns an image on the machine. If it is not there, the error is a
// *result.Failure with the advice of Tool.Missing. Nothing is pulled, so Find
// takes milliseconds.
func (d *Docker) Find(ctx context.Context, tool Tool, ref string) (Image, error) {
	image, err := d.inspect(ctx, ref)
	if errdefs.IsNotFound(err) {
		return Image{}, failure("there is no image %s of %s on this machine; %s", ref, tool.Name, tool.Missing(ref))
	}
	return image, classify("look for image "+ref, err)
}

// inspect returns an image on the machine by its name.
func (d *Docker) inspect(ctx context.Context, ref string) (Image, error) {
	found, err := d.client.ImageInspect(ctx, ref)
	if err != nil {
		return Image{}, err
	}
	image := Image{Ref: ref, ID: found.ID, Size: found.Size, Digest: digest(found.RepoDigests)}
	if config := found.Config; config != nil {
		image.Tool, image.Version = config.Labels[LabelTool], config.Labels[LabelVersion]
	}
	// An image of another maker may have any date, or none.
	image.Created, _ = time.Parse(time.RFC3339Nano, found.Created)
	return image, nil
}

// digest returns the digest in the first of several names such as repository@sha256:0123; empty if there is no name.
func digest(repoDigests []string) string {
	if len(repoDigests) == 0 {
		return ""
	}
	_, first, _ := strings.Cut(repoDigests[0], "@")
	return first
}

// Images returns the images that this program made, and the images of refs that exist, ordered by name.
func (d *Docker) Images(ctx context.Context, refs ...string) ([]Image, error) {
	found, err := d.client.ImageList(ctx, client.ImageListOptions{Filters: make(client.Filters).Add("label", LabelTool)})
	if err != nil {
		return nil, classify("list images", err)
	}
	var images []Image
	for _, item := range found.Items {
		for _, ref := range item.RepoTags {
			images = append(images, Image{
				Ref: ref, ID: item.ID, Digest: digest(item.RepoDigests), Tool: item.Labels[LabelTool], Version: item.Labels[LabelVersion],
				Size: item.Size, Created: time.Unix(item.Created, 0),
			})
		}
	}
	for _, ref := range refs {
		image, err := d.inspect(ctx, ref)
		switch {
		case errdefs.IsNotFound(err) || err == nil && image.Tool != "":
		case err != nil:
			return nil, classify("look for image "+ref, err)
		default:
			images = append(images, image)
		}
	}
	slices.SortFunc(images, func(first, second Image) int { return cmp.Compare(first.Ref, second.Ref) })
	return images, nil
}

// Pull fetches an image from its registry.
func (d *Docker) Pull(ctx context.Context, ref string) error {
	out, err := d.client.ImagePull(ctx, ref, client.ImagePullOptions{})
	if err != nil {
		return classify("pull "+ref, err)
	}
	return classify("pull "+ref, out.Wait(ctx))
}

// Import makes an image from a root file system, a tar file that may be compressed.
func (d *Docker) Import(ctx context.Context, ref string, rootfs io.Reader) error {
	out, err := d.client.ImageImport(ctx, client.ImageImportSource{Source: rootfs, SourceName: "-"}, ref, client.ImageImportOptions{})
	if err != nil {
		return classify("import "+ref, err)
	}
	defer out.Close()
	_, err = progress(out)
	return classify("import "+ref, err)
}

// Build makes an image from a Dockerfile and its files. It names the image ref,
// unless ref is empty, and returns its ID. The Dockerfile cannot use the network.
func (d *Docker) Build(ctx context.Context, ref, dockerfile string, files func(*tar.Writer) error) (string, error) {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(writeBuildContext(writer, dockerfile, files)) }()
	defer reader.Close()
	opts := client.ImageBuildOptions{Remove: true, ForceRemove: true, NetworkMode: "none"}
	if ref != "" {
		opts.Tags = []string{ref}
	}
	out, err := d.client.ImageBuild(ctx, reader, opts)
	if err != nil {
		return "", classify("build image", err)
	}
	defer out.Body.Close()
	id, err := progress(out.Body)
	return id, classify("build image", err)
}

// writeBuildContext writes a tar file with a Dockerfile and the files that the function files adds.
func writeBuildContext(out io.Writer, dockerfile string, files func(*tar.Writer) error) error {
	archive := tar.NewWriter(out)
	if err := archive.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(dockerfile))}); err != nil {
		return err
	}
	if _, err := io.WriteString(archive, dockerfile); err != nil {
		return err
	}
	if files != nil {
		if err := files(archive); err != nil {
			return err
		}
	}
	return archive.Close()
}

// progress reads all messages of an engine about the construction of an image. It returns the image's ID, empty if no message has it, or the error
// that a message reports.
func progress(messages io.Reader) (string, error) {
	id := ""
	decoder := json.NewDecoder(messages)
	for {
		var message struct {
			Error string `json:"error"`
			Aux   struct{ ID string }
		}
		switch err := decoder.Decode(&message); {
		case errors.Is(err, io.EOF):
			return id, nil
		case err != nil:
			return id, err
		case message.Error != "":
			return id, errors.New(message.Error)
		case message.Aux.ID != "":
			id = message.Aux.ID
		}
	}
}

// RemoveImage removes an image.
func (d *Docker) RemoveImage(ctx context.Context, ref string) error {
	_, err := d.client.ImageRemove(ctx, ref, client.ImageRemoveOptions{Force: true, PruneChildren: true})
	return classify("remove image "+ref, err)
}
