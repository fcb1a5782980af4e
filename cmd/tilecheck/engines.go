package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tilecheck/containers"
	prismimage "tilecheck/containers/prism"
	stormimage "tilecheck/containers/storm"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/bridge"
	"tilecheck/runner/local"
)

// engineFlags say where the tools are.
type engineFlags struct {
	PrismPath  string   `help:"PRISM on this machine." env:"TILECHECK_PRISM" placeholder:"PATH"`
	StormPath  string   `help:"Storm on this machine." env:"TILECHECK_STORM" placeholder:"PATH"`
	PrismImage string   `help:"Docker image of PRISM (default: the newest that tilecheck image made)." env:"TILECHECK_PRISM_IMAGE" placeholder:"IMAGE"`
	StormImage string   `help:"Docker image of Storm (default: ${storm_image})." env:"TILECHECK_STORM_IMAGE" placeholder:"IMAGE"`
	Jobs       int      `help:"Runs of a tool at a time." default:"1" placeholder:"N"`
	ToolArg    []string `help:"A switch for PRISM or Storm as it is; repeatable." sep:"none" placeholder:"ARG"`
}

// toolbox is the engines of one command. Docker is asked only when a tool in a
// container is wanted.
type toolbox struct {
	flags  engineFlags
	env    *world
	limits runner.Limits
	docker *containers.Docker
	pools  []*containers.Pool
}

func (e *world) toolbox(f engineFlags, memory byteCount, timeout time.Duration) *toolbox {
	return &toolbox{flags: f, env: e, limits: runner.Limits{Memory: int64(memory), Time: timeout}}
}

// close removes every container.
func (t *toolbox) close() error {
	var errs []error
	for _, p := range t.pools {
		errs = append(errs, p.Close())
	}
	if t.docker != nil {
		errs = append(errs, t.docker.Close())
	}
	return errors.Join(errs...)
}

// engine returns the engine of that name and, unless it is the embedded one,
// what runs its tool.
func (t *toolbox) engine(ctx context.Context, name string) (runner.Engine, runner.Commander, error) {
	opt := bridge.Options{Args: t.flags.ToolArg, Limits: t.limits, Jobs: t.flags.Jobs}
	switch name {
	case native.Name:
		return native.New(), nil, nil
	case "prism":
		cmd, err := t.commander(ctx, name, t.flags.PrismPath, t.flags.PrismImage)
		if err != nil {
			return nil, nil, err
		}
		return bridge.PRISM(cmd, opt), cmd, nil
	case "storm":
		cmd, err := t.commander(ctx, name, t.flags.StormPath, t.flags.StormImage)
		if err != nil {
			return nil, nil, err
		}
		return bridge.Storm(cmd, opt), cmd, nil
	}
	return nil, nil, usageError("unknown engine %q, want native, prism or storm", name)
}

// commander finds a tool: where a flag says it is, else in a container of an
// image that is there, else on PATH.
func (t *toolbox) commander(ctx context.Context, name, path, image string) (runner.Commander, error) {
	if path != "" {
		return local.New(path)
	}
	pool, err := t.pool(ctx, name, image)
	if err == nil {
		return pool, nil
	}
	if image == "" && ctx.Err() == nil {
		if tool, missing := local.New(name); missing == nil {
			return tool, nil
		}
	}
	return nil, fmt.Errorf("engine %s: %w; or install it and give --%s-path", name, err, name)
}

func (t *toolbox) pool(ctx context.Context, name, image string) (*containers.Pool, error) {
	d, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	tool := prismimage.Tool()
	if name == "storm" {
		tool = stormimage.Tool()
	}
	if image == "" {
		if image, err = defaultImage(ctx, d, name); err != nil {
			return nil, err
		}
	}
	p, err := containers.NewPool(ctx, d, containers.Options{Tool: tool, Image: image, Jobs: t.flags.Jobs})
	if err == nil {
		t.pools = append(t.pools, p)
	}
	return p, err
}

func (t *toolbox) connect(ctx context.Context) (*containers.Docker, error) {
	if t.docker != nil {
		return t.docker, nil
	}
	d, err := t.env.docker(ctx)
	t.docker = d
	return d, err
}

// docker connects to Docker.
func (e *world) docker(ctx context.Context) (*containers.Docker, error) {
	if err := containers.Prepare(ctx, e.lookupEnv, e.setenv); err != nil {
		return nil, err
	}
	return containers.Connect(ctx)
}

// defaultImage is the official image of Storm, or the newest image of PRISM
// that was made here.
func defaultImage(ctx context.Context, d *containers.Docker, name string) (string, error) {
	if name == "storm" {
		return stormimage.DefaultImage, nil
	}
	images, err := d.Images(ctx)
	if err != nil {
		return "", err
	}
	images = slices.DeleteFunc(images, func(i containers.Image) bool { return i.Tool != name })
	if len(images) == 0 {
		return "", &result.Failure{Class: result.Other, Message: "there is no Docker image of PRISM; tilecheck image prism --from DIR makes one from an installation"}
	}
	newest := slices.MaxFunc(images, func(a, b containers.Image) int { return a.Created.Compare(b.Created) })
	return newest.Ref, nil
}

// splitNames separates names that a flag has with commas, too.
func splitNames(args []string) []string {
	var out []string
	for _, arg := range args {
		for name := range strings.SplitSeq(arg, ",") {
			if name = strings.TrimSpace(name); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
