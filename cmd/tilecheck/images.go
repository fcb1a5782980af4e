package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/docker/go-units"

	"tilecheck/containers"
	prismimage "tilecheck/containers/prism"
	stormimage "tilecheck/containers/storm"
	"tilecheck/internal/atomicfile"
	"tilecheck/internal/cgroup"
	"tilecheck/internal/tempdir"
	"tilecheck/report/table"
)

// imageCmd makes and lists the images that tools run in.
type imageCmd struct {
	List  imageListCmd  `cmd:"" default:"withargs" help:"List the images that tilecheck can use."`
	Prism imagePrismCmd `cmd:"" help:"Make an image from an installation of PRISM: there is no official one."`
	Games imageGamesCmd `cmd:"" name:"prism-games" help:"Make an image from an installation of PRISM-games: there is no official one."`
}

type imageListCmd struct {
	Format table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run lists images.
func (c *imageListCmd) Run(ctx context.Context, env *environment) (err error) {
	client, err := env.docker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	images, err := client.Images(ctx, stormimage.DefaultImage)
	if err != nil {
		return err
	}
	return env.writeRowsOrNotes(imageTable(images), c.Format)
}

// imageTable returns a table of the images. If there are none, it has a note that says how to get an image.
func imageTable(images []containers.Image) *table.Table {
	imageRows := &table.Table{Columns: []table.Column{
		{Name: "image"}, {Name: "tool"}, {Name: "version"}, {Name: "id"}, {Name: "size", Field: "bytes", Align: table.Right}, {Name: "created"},
	}}
	for _, image := range images {
		imageRows.Append(image.Ref, image.Tool, image.Version, shortID(image.ID),
			table.Cell{Text: units.HumanSize(float64(image.Size)), Value: image.Size},
			table.Cell{Text: image.Created.UTC().Format("2006-01-02 15:04"), Value: image.Created.UTC().Format(time.RFC3339)})
	}
	if len(images) == 0 {
		imageRows.Notes = append(imageRows.Notes, "no images: tilecheck image prism --from DIR makes one of PRISM; docker pull "+stormimage.DefaultImage+" fetches Storm's")
	}
	return imageRows
}

// shortID returns the first digits of the identity of an image, as docker prints them.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(12, len(id))]
}

// recipeFlags are the flags from which an image of PRISM or PRISM-games is built.
type recipeFlags struct {
	From       string `required:"" help:"Folder of the installation, which has bin/prism." placeholder:"DIR" file:"in"`
	Tag        string `help:"Name of the image (default: tilecheck/prism or tilecheck/prism-games with the version)." placeholder:"IMAGE"`
	Base       string `help:"Image to build on, with Java 11 or later, bash and awk." placeholder:"IMAGE"`
	BaseRootfs string `help:"Tar file of a root file system with these programs, to make the base of." placeholder:"TAR" file:"in"`
}

type imagePrismCmd struct {
	recipeFlags `embed:""`
}

// Run makes the image and prints its name.
func (c *imagePrismCmd) Run(ctx context.Context, env *environment) error {
	return c.makeImage(ctx, env, prismimage.PRISM, "PRISM")
}

type imageGamesCmd struct {
	recipeFlags `embed:""`
}

// Run makes the image and prints its name.
func (c *imageGamesCmd) Run(ctx context.Context, env *environment) error {
	return c.makeImage(ctx, env, prismimage.Games, "PRISM-games")
}

// makeImage builds a Docker image of PRISM or PRISM-games, and prints its name, version and size. productName is the name of the product.
func (c *recipeFlags) makeImage(ctx context.Context, env *environment, product prismimage.Product, productName string) (err error) {
	docker, err := env.docker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, docker.Close()) }()
	recipe := prismimage.Recipe{Product: product, From: c.From, Tag: c.Tag, Base: c.Base, BaseRootfs: c.BaseRootfs}
	image, err := prismimage.Make(ctx, docker, recipe)
	if err != nil {
		return err
	}
	size := units.HumanSize(float64(image.Size))
	_, err = fmt.Fprintf(env.stdout, "%s: %s %s, %s\n", image.Ref, productName, image.Version, size)
	return err
}

// cleanCmd removes containers, directories, control groups and files that killed runs left behind.
type cleanCmd struct {
	Dirs []string `arg:"" optional:"" name:"path" help:"Folders in which to remove the temporary files of writes that were killed (default: this one)." file:"none"`

	All bool `name:"running" aliases:"all" help:"Also remove containers of runs that are still going on."`
}

// Run removes what killed runs have left behind: directories, control groups, files and containers. It prints their names.
func (c *cleanCmd) Run(ctx context.Context, env *environment) error {
	removed, err := c.sweepFiles()
	for _, name := range removed {
		fmt.Fprintln(env.stdout, "removed", name)
	}
	numContainers, errContainers := c.removeContainers(ctx, env)
	if containers.Absent(errContainers) {
		fmt.Fprintln(env.stderr, "note: there is no Docker on this machine, and so no containers to remove")
		errContainers = nil
	}
	err = errors.Join(err, errContainers)
	if len(removed)+numContainers == 0 && err == nil {
		_, err = fmt.Fprintln(env.stdout, "nothing to remove")
	}
	return err
}

// sweepFiles removes the directories, control groups and files that killed runs have left behind, and returns their names.
func (c *cleanCmd) sweepFiles() ([]string, error) {
	removed, err := tempdir.Sweep()
	groups, errGroups := cgroup.Sweep()
	removed, err = append(removed, groups...), errors.Join(err, errGroups)
	folders := c.Dirs
	if len(folders) == 0 {
		folders = []string{"."}
	}
	for _, folder := range folders {
		files, errFiles := atomicfile.Sweep(folder)
		removed, err = append(removed, files...), errors.Join(err, errFiles)
	}
	return removed, err
}

// removeContainers removes the containers that killed runs have left behind, prints their names, and returns their number.
func (c *cleanCmd) removeContainers(ctx context.Context, env *environment) (numRemoved int, err error) {
	client, err := env.docker(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	removed, err := client.Sweep(ctx, c.All)
	for _, container := range removed {
		fmt.Fprintf(env.stdout, "removed %s of %s (%s)\n", shortID(container.ID), container.Tool, container.State)
	}
	return len(removed), err
}
