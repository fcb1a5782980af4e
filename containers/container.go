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

// Container is a running container of a tool, which checks one command after
// the other. A run that did not end by itself takes the container with it.
type Container struct {
	testcontainers.Container
	docker *Docker
	tool   Tool
	image  Image
	limits runner.Limits

	busy  sync.Mutex // held during a run
	runs  int        // that were begun here
	bytes int64      // of files that were copied in

	life   net.Conn      // its standard input: the container ends with it
	oom    chan struct{} // closed when the engine says that memory ran out
	deaf   context.CancelFunc
	ending sync.Once
	ended  atomic.Bool
	owned  bool // the connection ends with it
}

// Start starts a container of an image, which has to be there: nothing is
// pulled. Memory and CPUs of limits hold for the container. opts may change
// anything but the walls around it; see the package's documentation.
//
// Whoever starts a container terminates it.
func (d *Docker) Start(ctx context.Context, tool Tool, image string, limits runner.Limits, opts ...testcontainers.ContainerCustomizer) (*Container, error) {
	img, err := d.Find(ctx, tool, image)
	if err != nil {
		return nil, err
	}
	return d.start(ctx, tool, img, limits, opts)
}

func (d *Docker) start(ctx context.Context, tool Tool, img Image, limits runner.Limits, opts []testcontainers.ContainerCustomizer) (*Container, error) {
	req, err := request(tool, img, limits, opts)
	if err != nil {
		return nil, err
	}
	c := &Container{docker: d, tool: tool, image: img, limits: limits, oom: make(chan struct{}), deaf: func() {}}
	prepare := testcontainers.ContainerLifecycleHooks{PostCreates: []testcontainers.ContainerHook{c.attach}}
	for _, o := range []testcontainers.ContainerCustomizer{
		testcontainers.WithLabels(d.session.labels(tool.Name)),
		testcontainers.WithEnv(tool.Env),
		testcontainers.WithAdditionalLifecycleHooks(prepare),
	} {
		if err := o.Customize(&req); err != nil {
			return nil, err
		}
	}
	if c.Container, err = d.create(ctx, req.ContainerRequest); err == nil {
		err = c.Container.Start(ctx)
	}
	if err != nil {
		_ = c.Terminate(ctx) // what cannot be removed now is tried again by Docker.Close
		return nil, classify("start a container of "+img.String(), err)
	}
	return c, nil
}

// createLimit bounds the creation of a container.
const createLimit = 30 * time.Second

// create creates a container. The end of ctx does not stop it: the engine might
// finish what it was asked for, and nobody would know what to remove.
func (d *Docker) create(ctx context.Context, req testcontainers.ContainerRequest) (testcontainers.Container, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), createLimit)
	defer cancel()
	ctr, err := d.provider.CreateContainer(bounded, req)
	if err == nil {
		err = ctx.Err()
	}
	return ctr, err
}

// attach takes hold of a container before it starts.
func (c *Container) attach(ctx context.Context, ctr testcontainers.Container) error {
	id := ctr.GetContainerID()
	conn, err := c.docker.client.ContainerAttach(ctx, id, client.ContainerAttachOptions{Stream: true, Stdin: true})
	if err != nil {
		return err
	}
	c.life = conn.Conn
	var hear context.Context
	hear, c.deaf = context.WithCancel(context.WithoutCancel(ctx))
	c.watch(hear, id)
	return nil
}

// Terminate kills and removes the container, whatever it does. It may be called
// more than once and with a context that has ended.
func (c *Container) Terminate(ctx context.Context, _ ...testcontainers.TerminateOption) error {
	var err error
	c.ending.Do(func() {
		c.ended.Store(true)
		c.deaf()
		if c.life != nil {
			_ = c.life.Close()
		}
		if c.Container == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		if err = c.docker.remove(ctx, c.GetContainerID()); err != nil {
			c.docker.left.add(c.GetContainerID())
			err = classify("remove container "+c.GetContainerID()[:12], err)
		}
		// There is nothing left for it to remove, but it has a connection to Ryuk.
		_ = c.Container.Terminate(ctx, testcontainers.StopContext(ctx), testcontainers.StopTimeout(0))
		if c.owned {
			err = errors.Join(err, c.docker.Close())
		}
	})
	return err
}

// Run starts a container in a session of its own, which ends with it, in the way
// of the modules of testcontainers-go: see Docker.Start.
func Run(ctx context.Context, tool Tool, image string, opts ...testcontainers.ContainerCustomizer) (*Container, error) {
	d, err := Connect(ctx)
	if err != nil {
		return nil, err
	}
	c, err := d.Start(ctx, tool, image, runner.Limits{}, opts...)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	c.owned = true
	return c, nil
}
