package prism

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"tilecheck/containers"
	"tilecheck/result"
)

// Recipe is how to make an image of an installation of PRISM or PRISM-games.
type Recipe struct {
	Product Product
	From    string // the folder of the installation, which has bin/prism
	Tag     string // the name of the image; empty is "tilecheck/prism" or "tilecheck/prism-games" with the version
	// Base is the image to build on, with a Java runtime (11 or later), bash and
	// awk. Empty is DefaultBase, which BaseRootfs makes.
	Base string
	// BaseRootfs is a tar file of a root file system with these programs, to make
	// DefaultBase of; empty is to use it as it is.
	BaseRootfs string
}

// DefaultBase is the image that images of PRISM are built on.
const DefaultBase = "tilecheck/jre:local"

// home is where PRISM is in its images.
const home = "/opt/prism"

// Make makes an image from an installation: the folders that PRISM needs to run,
// its start script pointed to the new place, started as nobody. PRISM runs in it
// once before it gets its name, and the version in its banner becomes a label.
func Make(ctx context.Context, d *containers.Docker, r Recipe) (containers.Image, error) {
	if _, err := os.Stat(filepath.Join(r.From, "bin", "prism")); err != nil {
		return containers.Image{}, failure("%s is no installation of %s: it has no bin/prism (of its sources, give the folder prism in them, after make)", r.From, r.Product.title())
	}
	base, err := baseImage(ctx, d, r)
	if err != nil {
		return containers.Image{}, err
	}
	id, err := d.Build(ctx, "", dockerfile(base.ID), func(w *tar.Writer) error { return pack(w, r.From) })
	if err != nil {
		return containers.Image{}, err
	}
	img, err := r.name(ctx, d, id, base)
	if err != nil {
		return containers.Image{}, errors.Join(err, d.RemoveImage(context.WithoutCancel(ctx), id))
	}
	return img, nil
}

// baseImage finds the base, or makes it.
func baseImage(ctx context.Context, d *containers.Docker, r Recipe) (containers.Image, error) {
	ref := r.Base
	if ref == "" {
		ref = DefaultBase
	}
	if r.BaseRootfs != "" {
		f, err := os.Open(r.BaseRootfs)
		if err != nil {
			return containers.Image{}, err
		}
		defer f.Close()
		if err := d.Import(ctx, ref, f); err != nil {
			return containers.Image{}, err
		}
	}
	return d.Find(ctx, containers.Tool{Name: "a Java runtime", Missing: missingBase}, ref)
}

func missingBase(image string) string {
	if image != DefaultBase {
		return fmt.Sprintf("get it with `docker pull %s`", image)
	}
	return "name an image that has Java, bash and awk with --base (after `docker pull eclipse-temurin:21-jre`, for example), " +
		"or without a registry make a root file system, `mmdebstrap --variant=minbase --include=openjdk-17-jre-headless bookworm jre.tar`, and give --base-rootfs jre.tar"
}

// name runs the product in an image without a name, and gives it one and a version.
func (r Recipe) name(ctx context.Context, d *containers.Docker, id string, base containers.Image) (containers.Image, error) {
	pool, err := containers.NewPool(ctx, d, containers.Options{Tool: r.Product.Tool(), Image: id})
	if err != nil {
		return containers.Image{}, err
	}
	version, err := r.Product.Version(ctx, pool)
	if err := errors.Join(err, pool.Close()); err != nil {
		return containers.Image{}, fmt.Errorf("%s does not run on %s, which needs Java, bash and awk: %w", r.Product.title(), base, err)
	}
	ref := cmp.Or(r.Tag, "tilecheck/"+string(r.Product)+":"+tag(version))
	labels := fmt.Sprintf("FROM %s\nLABEL %s=true %s=%s %s=%q\n", id, containers.LabelProject, containers.LabelTool, r.Product, containers.LabelVersion, version)
	if _, err := d.Build(ctx, ref, labels, nil); err != nil {
		return containers.Image{}, err
	}
	return d.Find(ctx, r.Product.Tool(), ref)
}

// tag makes a tag of an image out of a version.
func tag(version string) string {
	return regexp.MustCompile(`[^A-Za-z0-9_.-]`).ReplaceAllString(version, "-")
}

func dockerfile(base string) string {
	return fmt.Sprintf(`FROM %s
COPY prism %s
ENV PATH=%s/bin:$PATH
USER 65534:65534
WORKDIR /work
ENTRYPOINT ["prism"]
`, base, home, home)
}

// pack writes what PRISM needs of an installation to run.
func pack(w *tar.Writer, from string) error {
	for _, dir := range []string{"bin", "classes", "lib", "dtds", "etc", "images"} {
		err := filepath.WalkDir(filepath.Join(from, dir), func(file string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return packFile(w, from, file)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // binary releases have no classes
			return fmt.Errorf("pack %s: %w", dir, err)
		}
	}
	return nil
}

// packFile writes a file or folder, owned by root and readable by all. Links are
// followed: where they point may not be in the image.
func packFile(w *tar.Writer, from, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(from, file)
	if err != nil {
		return err
	}
	head := tar.Header{Name: path.Join("prism", filepath.ToSlash(rel)), Mode: 0o644, ModTime: info.ModTime()}
	if info.Mode()&0o111 != 0 {
		head.Mode = 0o755
	}
	if info.IsDir() {
		head.Typeflag = tar.TypeDir
		return w.WriteHeader(&head)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if filepath.Base(filepath.Dir(file)) == "bin" {
		data = relocate(data)
	}
	head.Size = int64(len(data))
	if err := w.WriteHeader(&head); err != nil {
		return err
	}
	_, err = io.Copy(w, bytes.NewReader(data))
	return err
}

// relocate points a start script to where PRISM is in the image: install.sh has
// written the folder of the installation into it.
func relocate(script []byte) []byte {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return script
	}
	return regexp.MustCompile(`(?m)^PRISM_DIR=.*$`).ReplaceAll(script, []byte(`PRISM_DIR="`+home+`"`))
}

func failure(format string, args ...any) *result.Failure {
	return &result.Failure{Class: result.Other, Message: fmt.Sprintf(format, args...)}
}
