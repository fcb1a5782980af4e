package containers

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"tilecheck/runner"
)

// Container is a running container of a tool. It runs one command at a time. A
// run that does not end by itself ends the container.
type Container struct {
	testcontainers.Container
	docker *Docker
	tool   Tool
	image  Image
	limits runner.Limits

	busy  sync.Mutex // held during a run
	runs  int        // number of runs started
	bytes int64      // size of the files copied in

	stdin          net.Conn      // standard input; the container ends when it is closed
	oom            chan struct{} // closed when the engine reports that memory ran out
	stopWatching   context.CancelFunc
	terminateOnce  sync.Once
	ended          atomic.Bool
	ownsConnection bool // Terminate also closes docker
}

// Start starts a container of an image, which must be on this machine: nothing is
// pulled. Memory and CPUs of limits apply to the container. opts may change
// anything but the isolation that the package's documentation describes.
//
// The caller must call Terminate.
func (d *Docker) Start(ctx context.Context, tool Tool, image string, limits runner.Limits, opts ...testcontainers.ContainerCustomizer) (*Container, error) {
	img, err := d.Find(ctx, tool, image)
	if err != nil {
		return nil, err
	}
	return d.start(ctx, tool, img, limits, opts)
}

// start starts a container of an image. See Start.
func (d *Docker) start(ctx context.Context, tool Tool, img Image, limits runner.Limits, opts []testcontainers.ContainerCustomizer) (*Container, error) {
	req, err := containerRequest(tool, img, limits, opts)
	if err != nil {
		return nil, err
	}
	container := &Container{docker: d, tool: tool, image: img, limits: limits, oom: make(chan struct{}), stopWatching: func() {}}
	prepare := testcontainers.ContainerLifecycleHooks{PostCreates: []testcontainers.ContainerHook{container.attach}}
	for _, customizer := range []testcontainers.ContainerCustomizer{
		testcontainers.WithLabels(d.session.labels(tool.Name)),
		testcontainers.WithEnv(tool.Env),
		testcontainers.WithAdditionalLifecycleHooks(prepare),
	} {
		if err := customizer.Customize(&req); err != nil {
			return nil, err
		}
	}
	if container.Container, err = d.create(ctx, req.ContainerRequest); err == nil {
		err = container.Container.Start(ctx)
	}
	if err != nil {
		_ = container.Terminate(ctx) // Docker.Close tries again if this fails
		return nil, classify("start a container of "+img.String(), err)
	}
	return container, nil
}

// createLimit is the time limit for creating a container.
const createLimit = 30 * time.Second

// create creates a container. It does not stop when ctx ends, because the engine might still create the container, and nothing would know its ID. It
// returns the container, also with the error of ctx.
func (d *Docker) create(ctx context.Context, req testcontainers.ContainerRequest) (testcontainers.Container, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), createLimit)
	defer cancel()
	container, err := d.provider.CreateContainer(bounded, req)
	if err == nil {
		err = ctx.Err()
	}
	return container, err
}

// attach connects to the standard input of the created container, which ends the container when it is closed, and starts to watch for a lack of
// memory.
func (c *Container) attach(ctx context.Context, created testcontainers.Container) error {
	id := created.GetContainerID()
	conn, err := c.docker.client.ContainerAttach(ctx, id, client.ContainerAttachOptions{Stream: true, Stdin: true})
	if err != nil {
		return err
	}
	c.stdin = conn.Conn
	var watchContext context.Context
	watchContext, c.stopWatching = context.WithCancel(context.WithoutCancel(ctx))
	c.watchOOM(watchContext, id)
	return nil
}

// Terminate kills and removes the container. It may be called more than once and
// with a context that has ended.
func (c *Container) Terminate(ctx context.Context, _ ...testcontainers.TerminateOption) error {
	var err error
	c.terminateOnce.Do(func() {
		c.ended.Store(true)
		c.stopWatching()
		if c.stdin != nil {
			_ = c.stdin.Close()
		}
		if c.Container == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		if err = c.docker.remove(ctx, c.GetContainerID()); err != nil {
			c.docker.leftovers.add(c.GetContainerID())
			err = classify("remove container "+c.GetContainerID()[:12], err)
		}
		// The container is removed already; this closes its connection to Ryuk.
		_ = c.Container.Terminate(ctx, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
		if c.ownsConnection {
			err = errors.Join(err, c.docker.Close())
		}
	})
	return err
}

// Run connects to Docker and starts a container, like the function Run of testcontainers-go's modules. Terminate also closes the connection. See
// Docker.Start.
func Run(ctx context.Context, tool Tool, image string, opts ...testcontainers.ContainerCustomizer) (*Container, error) {
	docker, err := Connect(ctx)
	if err != nil {
		return nil, err
	}
	container, err := docker.Start(ctx, tool, image, runner.Limits{}, opts...)
	if err != nil {
		return nil, errors.Join(err, docker.Close())
	}
	container.ownsConnection = true
	return container, nil
}
