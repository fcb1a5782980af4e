package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"tilecheck/verify/validity"
)

// toolPlaces say where the tools are.
type toolPlaces struct {
	PrismPath  string `help:"PRISM on this machine." env:"TILECHECK_PRISM" placeholder:"PATH" file:"in"`
	StormPath  string `help:"Storm on this machine." env:"TILECHECK_STORM" placeholder:"PATH" file:"in"`
	PrismImage string `rare:"" help:"Docker image of PRISM (default: the newest that tilecheck image made)." env:"TILECHECK_PRISM_IMAGE" placeholder:"IMAGE"`
	StormImage string `rare:"" help:"Docker image of Storm (default: ${storm_image})." env:"TILECHECK_STORM_IMAGE" placeholder:"IMAGE"`
}

// engineFlags say where the tools are, and how they are run.
type engineFlags struct {
	toolPlaces `embed:""`

	Jobs    int      `rare:"" help:"Runs of a tool at a time." default:"1" want:"[1,1024]" placeholder:"N"`
	ToolArg []string `rare:"" help:"A switch for PRISM or Storm as it is; repeatable." sep:"none" placeholder:"ARG"`
}

// toolbox is the engines of one command. Docker is asked only when a tool in a
// container is wanted.
type toolbox struct {
	flags  engineFlags
	env    *world
	limits runner.Limits
	docker *containers.Docker
	pools  []*containers.Pool
	// checker checks models strictly, which the tools do not; crosscheck shares it.
	checker *validity.Checker
}

func (e *world) toolbox(f engineFlags, memory byteCount, timeout time.Duration) *toolbox {
	// An image that was asked for wins over a path of the environment.
	if e.given["prism-image"] && !e.given["prism-path"] {
		f.PrismPath = ""
	}
	if e.given["storm-image"] && !e.given["storm-path"] {
		f.StormPath = ""
	}
	return &toolbox{flags: f, env: e, limits: runner.Limits{Memory: int64(memory), Time: timeout}, checker: validity.New()}
}

// withoutTools refuses the flags of tools that are not among the engines.
func (e *world) withoutTools(engines []string) error {
	prism, storm := slices.Contains(engines, "prism"), slices.Contains(engines, "storm")
	return cmp.Or(
		e.without(!prism, "without the engine prism", "prism-path", "prism-image"),
		e.without(!storm, "without the engine storm", "storm-path", "storm-image"),
		e.without(!prism && !storm, "without the engines prism and storm", "tool-arg"),
		e.without(e.given["prism-path"], "with --prism-path", "prism-image"),
		e.without(e.given["storm-path"], "with --storm-path", "storm-image"),
	)
}

// named reports whether a flag or the environment says where a tool is.
func (t *toolbox) named(name string) bool {
	return name == "prism" && t.flags.PrismPath+t.flags.PrismImage != "" || name == "storm" && t.flags.StormPath+t.flags.StormImage != ""
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

// engine returns the engine of that name.
func (t *toolbox) engine(ctx context.Context, name string) (runner.Engine, error) {
	opt := bridge.Options{Args: t.flags.ToolArg, Limits: t.limits, Jobs: t.flags.Jobs}
	switch name {
	case native.Name:
		return native.New(), nil
	case "prism":
		cmd, err := t.commander(ctx, name, t.flags.PrismPath, t.flags.PrismImage)
		if err != nil {
			return nil, err
		}
		return t.checker.Beside(bridge.PRISM(cmd, opt)), nil
	case "storm":
		cmd, err := t.commander(ctx, name, t.flags.StormPath, t.flags.StormImage)
		if err != nil {
			return nil, err
		}
		return t.checker.Beside(bridge.Storm(cmd, opt)), nil
	}
	return nil, usageError("unknown engine %q, want native, prism or storm", name)
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
	if ctx.Err() != nil {
		return nil, ctx.Err() // another place would not have been asked either
	}
	return nil, fmt.Errorf("engine %s: %w; or install it and give --%s-path", name, err, name)
}

func (t *toolbox) pool(ctx context.Context, name, image string) (*containers.Pool, error) {
	d, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	found, err := findImage(ctx, d, name, image, t.env.imageMemory())
	if err != nil {
		return nil, err
	}
	p, err := containers.NewPool(ctx, d, containers.Options{Tool: found.Tool(imagesOf(name)), Image: found.Image.Ref, Jobs: t.flags.Jobs})
	if err == nil {
		t.pools = append(t.pools, p)
	}
	return p, err
}

// imagesOf is how images of a tool are found.
func imagesOf(name string) containers.Kind {
	if name == "storm" {
		return stormimage.Kind()
	}
	return prismimage.Kind()
}

// imageMemory is where it is remembered what images of other makers hold.
func (e *world) imageMemory() containers.Memory {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return containers.Memory(filepath.Join(dir, "tilecheck", "images.json"))
}

// findImage returns an image of a tool and where it is there: the one that was
// asked for, or the best one on the machine.
func findImage(ctx context.Context, d *containers.Docker, name, image string, memory containers.Memory) (containers.Found, error) {
	kind := imagesOf(name)
	if image != "" {
		img, err := d.Find(ctx, kind.Tool, image)
		if err != nil {
			return containers.Found{}, err
		}
		found, err := d.Ask(ctx, kind, img, memory)
		if err == nil && found.Problem != "" {
			err = &result.Failure{Class: result.Other, Message: fmt.Sprintf("image %s is of no use for %s: %s", image, name, found.Problem)}
		}
		return found, err
	}
	all, err := d.Discover(ctx, kind, memory)
	if err != nil {
		return containers.Found{}, err
	}
	if len(all) > 0 && all[0].Problem == "" {
		return all[0], nil
	}
	message := missingImage(name)
	for _, f := range all {
		message += fmt.Sprintf("; image %s is of no use: %s", f.Image, f.Problem)
	}
	return containers.Found{}, &result.Failure{Class: result.Other, Message: message}
}

// missingImage says how to get an image of a tool.
func missingImage(name string) string {
	if name == "storm" {
		return "there is no image of Storm on this machine; `docker pull " + stormimage.DefaultImage + "` gets the official one, `docker pull " +
			stormimage.ObservatoryImage + "` one that has PRISM as well"
	}
	return "there is no Docker image of PRISM; tilecheck image prism --from DIR makes one from an installation, and `docker pull " +
		stormimage.ObservatoryImage + "` gets one that has PRISM and Storm"
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

// isTool reports whether the engine of that name runs a tool.
func isTool(name string) bool { return name != native.Name }

// engineNames are the names of engines without how they are to check.
func engineNames(labels []string) []string {
	var out []string
	for _, label := range labels {
		name, _, _ := strings.Cut(label, ":")
		out = append(out, name)
	}
	return out
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
