// Package toolbox has the engines of one run: the embedded one, and PRISM, PRISM-games and Storm
// on this machine or in containers, which it starts and removes.
package toolbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tilecheck/bridge"
	"tilecheck/containers"
	prismimage "tilecheck/containers/prism"
	stormimage "tilecheck/containers/storm"
	"tilecheck/internal/usage"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/local"
	"tilecheck/verify/validity"
)

// Place says where a tool is: a program of this machine, or an image. Empty fields say nothing.
type Place struct{ Path, Image string }

// Box provides the engines of one run. It connects to Docker only when an engine needs a
// container.
type Box struct {
	Places map[string]Place // by the name of the engine

	Jobs    int      // runs of a tool at a time
	Args    []string // switches for tools as they are
	Limits  runner.Limits
	Connect func(ctx context.Context) (*containers.Docker, error)
	// UsesImage is called with each image in which the tool of an engine runs. It may be nil.
	UsesImage func(engine string, image containers.Image)
	// Checker checks models strictly, which the tools do not; crosscheck shares it.
	Checker *validity.Checker

	docker *containers.Docker
	pools  []*containers.Pool
}

// IsConfigured reports whether a flag or the environment says where a tool is.
func (b *Box) IsConfigured(name string) bool {
	return b.Places[name] != Place{}
}

// Close removes all containers that the engines have started, and closes the connection to Docker.
func (b *Box) Close() error {
	var errs []error
	for _, pool := range b.pools {
		errs = append(errs, pool.Close())
	}
	if b.docker != nil {
		errs = append(errs, b.docker.Close())
	}
	return errors.Join(errs...)
}

// Engine returns the engine with this name: native, prism, prism-games or storm. The engine of an external tool checks the model at the same
// time.
func (b *Box) Engine(ctx context.Context, name string) (runner.Engine, error) {
	options := bridge.Options{Args: b.Args, Limits: b.Limits, Jobs: b.Jobs}
	var newEngine func(runner.Commander, bridge.Options) *bridge.Engine
	switch name {
	case native.Name:
		return native.New(), nil
	case "prism":
		newEngine = bridge.PRISM
	case "prism-games":
		newEngine = bridge.PRISMGames
	case "storm":
		newEngine = bridge.Storm
	default:
		return nil, usage.Errorf("unknown engine %q, want native, prism, prism-games or storm", name)
	}
	commander, err := b.findProgram(ctx, name, b.Places[name])
	if err != nil {
		return nil, err
	}
	return b.Checker.Beside(newEngine(commander, options)), nil
}

// findProgram returns the program of a tool: the program at the path that the user named, or in an image, or on PATH. It tries them in this order.
func (b *Box) findProgram(ctx context.Context, name string, place Place) (runner.Commander, error) {
	if place.Path != "" {
		return local.New(place.Path)
	}
	pool, err := b.newPool(ctx, name, place.Image)
	if err == nil {
		return pool, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if place.Image != "" {
		return nil, fmt.Errorf("engine %s: %w", name, err)
	}
	if tool, pathErr := local.New(name); pathErr == nil {
		return tool, nil
	}
	return nil, fmt.Errorf("engine %s: the program is not on PATH (install it, or give --%s-path), and %w", name, name, err)
}

// newPool returns containers that run a tool. If image is empty, it selects the best image on this machine.
func (b *Box) newPool(ctx context.Context, name, image string) (*containers.Pool, error) {
	docker, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	toolImage, err := FindImage(ctx, docker, name, image, ImageCache())
	if err != nil {
		return nil, err
	}
	pool, err := containers.NewPool(ctx, docker, containers.Options{Tool: toolImage.Tool(ImageKind(name)), Image: toolImage.Image.Ref, Jobs: b.Jobs})
	if err != nil {
		return nil, err
	}
	b.pools = append(b.pools, pool)
	if b.UsesImage != nil {
		b.UsesImage(name, toolImage.Image)
	}
	return pool, nil
}

// ImageKind returns the description by which images of a tool are recognized, such as words in their names.
func ImageKind(name string) containers.Kind {
	if name == "storm" {
		return stormimage.Kind()
	}
	return prismimage.Product(name).Kind()
}

// FindImage returns an image that can run a tool. If image is empty, it returns the best image on this machine. cache has the results of earlier
// searches.
func FindImage(ctx context.Context, docker *containers.Docker, tool, image string, cache containers.Cache) (containers.Found, error) {
	if image != "" {
		return findNamedImage(ctx, docker, tool, image, cache)
	}
	images, err := docker.Discover(ctx, ImageKind(tool), cache)
	if err != nil {
		return containers.Found{}, err
	}
	if len(images) > 0 && images[0].Problem == "" {
		return images[0], nil
	}
	message := MissingImage(tool)
	for _, failedImage := range images {
		message += fmt.Sprintf("; image %s cannot run it: %s", failedImage.Image, failedImage.Problem)
	}
	return containers.Found{}, &result.Failure{Class: result.Other, Message: message}
}

// findNamedImage returns the image that the user named. It returns an error if this image cannot run the tool.
func findNamedImage(ctx context.Context, docker *containers.Docker, tool, image string, cache containers.Cache) (containers.Found, error) {
	kind := ImageKind(tool)
	namedImage, err := docker.Find(ctx, kind.Tool, image)
	if err != nil {
		return containers.Found{}, err
	}
	identified, err := docker.Identify(ctx, kind, namedImage, cache)
	if err == nil && identified.Problem != "" {
		err = &result.Failure{Class: result.Other, Message: fmt.Sprintf("image %s cannot run %s: %s", image, tool, identified.Problem)}
	}
	return identified, err
}

// MissingImage returns a message for a user who has no image of a tool. It says how to get one.
func MissingImage(name string) string {
	switch name {
	case "storm":
		return "there is no Docker image of it; get one: docker pull " + stormimage.DefaultImage + ", or, with Storm and PRISM, docker pull " + stormimage.ObservatoryImage
	case "prism-games":
		return "there is no Docker image of it; make one from an installation: tilecheck image prism-games --from DIR"
	}
	return "there is no Docker image of it; get one that has PRISM and Storm: docker pull " + stormimage.ObservatoryImage + ", or make one from an installation: tilecheck image prism --from DIR"
}

// connect connects to Docker on its first call.
func (b *Box) connect(ctx context.Context) (*containers.Docker, error) {
	if b.docker != nil {
		return b.docker, nil
	}
	docker, err := b.Connect(ctx)
	b.docker = docker
	return docker, err
}

// ImageCache returns the cache file with the properties of Docker images.
func ImageCache() containers.Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return containers.Cache(filepath.Join(dir, "tilecheck", "images.json"))
}
