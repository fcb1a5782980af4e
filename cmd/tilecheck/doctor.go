package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"

	"tilecheck/cmd/tilecheck/toolbox"
	"tilecheck/containers"
	"tilecheck/report/table"
	"tilecheck/runner/local"
)

// doctorCmd says what is there and what to do about what is missing.
type doctorCmd struct {
	toolPlaces `embed:""`
	Format     table.Format `help:"Output: table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`
}

// Run prints one row for everything that an engine may need, and what to type
// next. That something is missing is an error only if a flag or the environment
// names it: the embedded engine needs nothing.
func (c *doctorCmd) Run(ctx context.Context, env *world) error {
	t := &table.Table{Columns: []table.Column{{Name: "name"}, {Name: "outcome"}, {Name: "detail", Min: 30}}}
	t.Append("native engine", "ready", "tilecheck "+env.version())
	t.Append("machine", "ready", fmt.Sprintf("%d cores, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH))
	x := &checkup{cmd: c, env: env, table: t}
	x.local(ctx, "prism", c.PrismPath)
	x.local(ctx, "storm", c.StormPath)
	err := x.docker(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // what was not asked is not missing
	}
	if err != nil {
		return err
	}
	t.Notes = append(t.Notes, x.next())
	if err := t.Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if x.lacking {
		return status(exitCannotRun)
	}
	return nil
}

// checkup is a run of doctor.
type checkup struct {
	cmd   *doctorCmd
	env   *world
	table *table.Table
	tools []string // that are ready somewhere
	// lacking says that something was asked for by name and is not there.
	lacking bool
}

func (c *checkup) ready(tool string) {
	if !slices.Contains(c.tools, tool) {
		c.tools = append(c.tools, tool)
	}
}

func (c *checkup) failed(what, state string, err error, asked bool) {
	c.table.Append(what, state, err.Error())
	c.lacking = c.lacking || asked
}

// next is the command to type.
func (c *checkup) next() string {
	const models = " MODEL PROPS"
	switch {
	case len(c.tools) > 0:
		return "next: tilecheck crosscheck" + models + " --engine native," + strings.Join(c.tools, ",")
	default:
		return "next: tilecheck check" + models + ", which needs no other engine; " + toolbox.MissingImage("prism")
	}
}

// askLimit is the time that a tool gets to say its version.
const askLimit = 20 * time.Second

// local runs a tool of this machine: only one that says its version is ready.
func (c *checkup) local(ctx context.Context, name, path string) {
	what, asked := name+" on this machine", path != ""
	if !asked {
		path = name
	}
	tool, err := local.New(path)
	if err != nil {
		if !asked {
			err = fmt.Errorf("install it and put it on PATH, or give --%s-path", name)
		}
		c.failed(what, "missing", err, asked)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	version, err := toolbox.ImagesOf(name).Version(ctx, tool)
	if err != nil {
		c.failed(what, "failing", err, asked)
		return
	}
	c.ready(name)
	c.table.Append(what, "ready", "version "+version+", "+tool.Where())
}

// docker says what Docker has, and which tools are ready there.
func (c *checkup) docker(ctx context.Context) (err error) {
	d, err := c.env.docker(ctx)
	if err != nil {
		c.failed("Docker", "missing", err, c.cmd.PrismImage+c.cmd.StormImage != "")
		return nil
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	engine, err := d.Engine(ctx)
	if err != nil {
		c.failed("Docker", "failing", err, c.cmd.PrismImage+c.cmd.StormImage != "")
		return nil
	}
	c.table.Append("Docker", "ready", fmt.Sprintf("engine %s at %s, %d cores, %s of memory", engine.Version, engine.Host, engine.CPUs, units.BytesSize(float64(engine.Memory))))
	c.image(ctx, d, "prism", c.cmd.PrismImage)
	c.image(ctx, d, "storm", c.cmd.StormImage)
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
		c.table.Append("containers left behind", "to do", fmt.Sprintf("%d: tilecheck clean removes them", dead))
	}
	return nil
}

// image looks for an image that has a tool: only one whose tool says its version
// is ready.
func (c *checkup) image(ctx context.Context, d *containers.Docker, name, ref string) {
	what := "image of " + name
	found, err := toolbox.FindImage(ctx, d, name, ref, toolbox.Memory())
	if err != nil {
		c.failed(what, "missing", err, ref != "")
		return
	}
	label := found.Version
	if found, err = d.Try(ctx, toolbox.ImagesOf(name), found); err != nil {
		return // the caller looks at ctx
	}
	if found.Problem != "" {
		c.failed(what, "failing", fmt.Errorf("%s: %s", found.Image, found.Problem), ref != "")
		return
	}
	c.ready(name)
	detail := found.Image.String() + " " + found.Version + ", program " + found.Program
	if label != "" && label != found.Version {
		detail += ", although its label says " + label
	}
	c.table.Append(what, "ready", detail)
}
