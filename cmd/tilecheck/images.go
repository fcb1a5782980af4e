package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/docker/go-units"

	"tilecheck/containers"
	prismimage "tilecheck/containers/prism"
	stormimage "tilecheck/containers/storm"
	"tilecheck/report"
	"tilecheck/runner/local"
)

// imageCmd makes and lists the images that tools run in.
type imageCmd struct {
	List  imageListCmd  `cmd:"" default:"1" help:"List the images that tilecheck can use."`
	Prism imagePrismCmd `cmd:"" help:"Make an image from an installation of PRISM: there is no official one."`
}

type imageListCmd struct {
	Format report.Format `help:"Output format: table, json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run lists images.
func (c *imageListCmd) Run(ctx context.Context, env *world) (err error) {
	d, err := env.docker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	images, err := d.Images(ctx, stormimage.DefaultImage)
	if err != nil {
		return err
	}
	t := &report.Table{Columns: []report.Column{
		{Name: "image"}, {Name: "tool"}, {Name: "version"}, {Name: "id"}, {Name: "size", Align: report.Right}, {Name: "created"},
	}}
	for _, i := range images {
		t.Append(i.Ref, i.Tool, i.Version, shortID(i.ID), units.HumanSize(float64(i.Size)), i.Created.UTC().Format("2006-01-02 15:04"))
	}
	if len(images) == 0 {
		t.Notes = append(t.Notes, "no images: tilecheck image prism --from DIR makes one of PRISM; docker pull "+stormimage.DefaultImage+" fetches Storm's")
	}
	return t.Write(env.stdout, c.Format, env.reportOptions())
}

func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(12, len(id))]
}

type imagePrismCmd struct {
	From       string `required:"" help:"Folder of the installation, which has bin/prism." placeholder:"DIR"`
	Tag        string `help:"Name of the image (default: tilecheck/prism with PRISM's version)." placeholder:"IMAGE"`
	Base       string `help:"Image to build on, with Java 11 or later, bash and awk." placeholder:"IMAGE"`
	BaseRootfs string `help:"Tar file of a root file system with these programs, to make the base of." placeholder:"TAR"`
}

// Run makes the image and prints its name.
func (c *imagePrismCmd) Run(ctx context.Context, env *world) (err error) {
	d, err := env.docker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	img, err := prismimage.Make(ctx, d, prismimage.Recipe{From: c.From, Ref: c.Tag, Base: c.Base, BaseRootfs: c.BaseRootfs})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.stdout, "%s: PRISM %s, %s\n", img.Ref, img.Version, units.HumanSize(float64(img.Size)))
	return err
}

// cleanCmd removes what runs that were killed left behind.
type cleanCmd struct {
	All bool `help:"Also the containers of runs that are still going on."`
}

// Run removes containers and says which.
func (c *cleanCmd) Run(ctx context.Context, env *world) (err error) {
	d, err := env.docker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	removed, err := d.Sweep(ctx, c.All)
	for _, l := range removed {
		fmt.Fprintf(env.stdout, "removed %s of %s (%s)\n", shortID(l.ID), l.Tool, l.State)
	}
	if len(removed) == 0 && err == nil {
		_, err = fmt.Fprintln(env.stdout, "nothing to remove")
	}
	return err
}

// doctorCmd says what is there and what to do about what is missing.
type doctorCmd struct {
	engineFlags `embed:""`
	Format      report.Format `help:"Output format: table, json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run prints one row for everything that an engine may need. It is an error
// only if it cannot be printed: the embedded engine needs nothing.
func (c *doctorCmd) Run(ctx context.Context, env *world) (err error) {
	t := &report.Table{Columns: []report.Column{{Name: "what"}, {Name: "state"}, {Name: "detail", Min: 30}}}
	t.Append("native engine", "ready", "tilecheck "+version)
	t.Append("machine", "ready", fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH))
	for _, tool := range []struct{ name, path string }{{"prism", c.PrismPath}, {"storm", c.StormPath}} {
		c.local(t, tool.name, tool.path)
	}
	if err := c.docker(ctx, env, t); err != nil {
		return err
	}
	return t.Write(env.stdout, c.Format, env.reportOptions())
}

func (c *doctorCmd) local(t *report.Table, name, path string) {
	what := name + " on this machine"
	if path == "" {
		path = name
	}
	if tool, err := local.New(path); err == nil {
		t.Append(what, "ready", tool.Where())
		return
	}
	t.Append(what, "missing", fmt.Sprintf("install it and put it on PATH, or give --%s-path", name))
}

func (c *doctorCmd) docker(ctx context.Context, env *world, t *report.Table) (err error) {
	d, err := env.docker(ctx)
	if err != nil {
		t.Append("Docker", "missing", err.Error())
		return nil
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	engine, err := d.Engine(ctx)
	if err != nil {
		t.Append("Docker", "failing", err.Error())
		return nil
	}
	t.Append("Docker", "ready", fmt.Sprintf("engine %s, %d cores, %s of memory", engine.Version, engine.CPUs, units.BytesSize(float64(engine.Memory))))
	c.image(ctx, d, t, "prism", c.PrismImage)
	c.image(ctx, d, t, "storm", c.StormImage)
	left, err := d.Leftovers(ctx)
	if err != nil {
		return err
	}
	dead := 0
	for _, l := range left {
		if l.Dead {
			dead++
		}
	}
	if dead > 0 {
		t.Append("containers left behind", "to do", fmt.Sprintf("%d: tilecheck clean removes them", dead))
	}
	return nil
}

func (c *doctorCmd) image(ctx context.Context, d *containers.Docker, t *report.Table, name, ref string) {
	what := "image of " + name
	tool := prismimage.Tool()
	if name == "storm" {
		tool = stormimage.Tool()
	}
	var err error
	if ref == "" {
		ref, err = defaultImage(ctx, d, name)
	}
	var img containers.Image
	if err == nil {
		img, err = d.Find(ctx, tool, ref)
	}
	if err != nil {
		t.Append(what, "missing", err.Error())
		return
	}
	t.Append(what, "ready", strings.TrimSpace(img.String()+" "+img.Version))
}
