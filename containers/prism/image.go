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

// Recipe says how to make an image from an installation of PRISM or PRISM-games.
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

// Make makes an image from an installation. The image has the folders that PRISM needs to run, and a start script that is adapted to their new place.
// PRISM runs as nobody. Make runs PRISM once in the image before it names the image, and adds PRISM's version as a label.
func Make(ctx context.Context, docker *containers.Docker, recipe Recipe) (containers.Image, error) {
	if _, err := os.Stat(filepath.Join(recipe.From, "bin", "prism")); err != nil {
		return containers.Image{}, failure("%s is no installation of %s: it has no bin/prism (of its sources, give the folder prism in them, after make)", recipe.From, recipe.Product.title())
	}
	base, err := baseImage(ctx, docker, recipe)
	if err != nil {
		return containers.Image{}, err
	}
	id, err := docker.Build(ctx, "", dockerfile(base.ID), func(archive *tar.Writer) error { return pack(archive, recipe.From) })
	if err != nil {
		return containers.Image{}, err
	}
	image, err := recipe.name(ctx, docker, id, base)
	if err != nil {
		return containers.Image{}, errors.Join(err, docker.RemoveImage(context.WithoutCancel(ctx), id))
	}
	return image, nil
}

// baseImage returns the image on which to build. It imports the image first if the recipe has a root file system.
func baseImage(ctx context.Context, docker *containers.Docker, recipe Recipe) (containers.Image, error) {
	ref := recipe.Base
	if ref == "" {
		ref = DefaultBase
	}
	if recipe.BaseRootfs != "" {
		file, err := os.Open(recipe.BaseRootfs)
		if err != nil {
			return containers.Image{}, err
		}
		defer file.Close()
		if err := docker.Import(ctx, ref, file); err != nil {
			return containers.Image{}, err
		}
	}
	return docker.Find(ctx, containers.Tool{Name: "a Java runtime", Missing: missingBase}, ref)
}

// missingBase returns advice on how to get a base image that is not on the machine.
func missingBase(image string) string {
	if image != DefaultBase {
		return fmt.Sprintf("get it with `docker pull %s`", image)
	}
	return "name an image that has Java, bash and awk with --base (after `docker pull eclipse-temurin:21-jre`, for example), " +
		"or without a registry make a root file system, `mmdebstrap --variant=minbase --include=openjdk-17-jre-headless bookworm jre.tar`, and give --base-rootfs jre.tar"
}

// name runs the product in a new image, then gives the image a name and labels with the version. base is only for the error message.
func (r Recipe) name(ctx context.Context, docker *containers.Docker, id string, base containers.Image) (containers.Image, error) {
	pool, err := containers.NewPool(ctx, docker, containers.Options{Tool: r.Product.Tool(), Image: id})
	if err != nil {
		return containers.Image{}, err
	}
	version, err := r.Product.Version(ctx, pool)
	if err := errors.Join(err, pool.Close()); err != nil {
		return containers.Image{}, fmt.Errorf("%s does not run on %s, which needs Java, bash and awk: %w", r.Product.title(), base, err)
	}
	ref := cmp.Or(r.Tag, "tilecheck/"+string(r.Product)+":"+tag(version))
	labels := fmt.Sprintf("FROM %s\nLABEL %s=true %s=%s %s=%q\n", id, containers.LabelProject, containers.LabelTool, r.Product, containers.LabelVersion, version)
	if _, err := docker.Build(ctx, ref, labels, nil); err != nil {
		return containers.Image{}, err
	}
	return docker.Find(ctx, r.Product.Tool(), ref)
}

// tag returns a version as the tag of an image: hyphens replace characters that tags do not allow.
func tag(version string) string {
	return regexp.MustCompile(`[^A-Za-z0-9_.-]`).ReplaceAllString(version, "-")
}

// dockerfile returns the Dockerfile of an image that is built on the base image.
func dockerfile(base string) string {
	return fmt.Sprintf(`FROM %s
COPY prism %s
ENV PATH=%s/bin:$PATH
USER 65534:65534
WORKDIR /work
ENTRYPOINT ["prism"]
`, base, home, home)
}

// pack writes the files of an installation that PRISM needs to run.
func pack(archive *tar.Writer, from string) error {
	for _, dir := range []string{"bin", "classes", "lib", "dtds", "etc", "images"} {
		err := filepath.WalkDir(filepath.Join(from, dir), func(file string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return packFile(archive, from, file)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // binary releases have no classes
			return fmt.Errorf("pack %s: %w", dir, err)
		}
	}
	return nil
}

// packFile writes a file or folder, owned by root and readable by all users. It follows links, because their targets may not be in the image.
func packFile(archive *tar.Writer, from, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	relative, err := filepath.Rel(from, file)
	if err != nil {
		return err
	}
	head := tar.Header{Name: path.Join("prism", filepath.ToSlash(relative)), Mode: 0o644, ModTime: info.ModTime()}
	if info.Mode()&0o111 != 0 {
		head.Mode = 0o755
	}
	if info.IsDir() {
		head.Typeflag = tar.TypeDir
		return archive.WriteHeader(&head)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if filepath.Base(filepath.Dir(file)) == "bin" {
		data = relocate(data)
	}
	head.Size = int64(len(data))
	if err := archive.WriteHeader(&head); err != nil {
		return err
	}
	_, err = io.Copy(archive, bytes.NewReader(data))
	return err
}

// relocate returns a start script with PRISM's folder in the image. install.sh has written the folder of the installation into the script. Other
// files do not change.
func relocate(script []byte) []byte {
	if !bytes.HasPrefix(script, []byte("#!")) {
		return script
	}
	return regexp.MustCompile(`(?m)^PRISM_DIR=.*$`).ReplaceAll(script, []byte(`PRISM_DIR="`+home+`"`))
}

func failure(format string, args ...any) *result.Failure {
	return &result.Failure{Class: result.Other, Message: fmt.Sprintf(format, args...)}
}
