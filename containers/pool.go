package containers

import (
	"context"
	"errors"
	"sync"

	"tilecheck/runner"
)

// Options configure a pool. The zero value of a field means its default.
type Options struct {
	Tool  Tool
	Image string
	// Jobs is the number of concurrent runs, each in its own container; 0 means 1.
	Jobs int
	// RunsPerContainer is the number of runs after which a container is replaced,
	// because files of its runs stay in it. 1 uses a new container for each run; 0
	// means 64.
	RunsPerContainer int
}

// defaultRunsPerContainer is the default of Options.RunsPerContainer.
const defaultRunsPerContainer = 64

// maxBytes is the total size of files copied into a container before it is replaced.
const maxBytes = 256 << 20

// Pool implements runner.Commander: it runs a tool in containers, which it starts
// when needed and keeps for later runs with the same limits.
type Pool struct {
	docker *Docker
	opts   Options
	image  Image
	slots  chan struct{}

	mutex  sync.Mutex
	idle   []*Container
	closed bool
}

var _ runner.Commander = (*Pool)(nil)

// NewPool returns a pool for an image, which must be on the machine. It starts no
// container yet. The caller must call Close.
func NewPool(ctx context.Context, docker *Docker, opts Options) (*Pool, error) {
	image, err := docker.Find(ctx, opts.Tool, opts.Image)
	if err != nil {
		return nil, err
	}
	if opts.RunsPerContainer == 0 {
		opts.RunsPerContainer = defaultRunsPerContainer
	}
	return &Pool{docker: docker, opts: opts, image: image, slots: make(chan struct{}, max(opts.Jobs, 1))}, nil
}

// Where returns the name of the image with its digest.
func (p *Pool) Where() string { return p.image.String() }

// Image returns the image of the pool.
func (p *Pool) Image() Image { return p.image }

// Run implements runner.Commander. It waits until fewer than Options.Jobs runs are
// active. If ctx ends during the run, Run returns an Exit with runner.Cancelled; if
// ctx ends before, Run returns the error of ctx.
func (p *Pool) Run(ctx context.Context, cmd runner.Command) (runner.Exit, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return runner.Exit{}, ctx.Err()
	}
	for {
		container, wasUsed, err := p.acquire(ctx, cmd.Limits)
		if err != nil {
			return runner.Exit{}, err
		}
		exit, started, err := container.check(ctx, cmd)
		p.release(ctx, container)
		if err != nil && !started && wasUsed && ctx.Err() == nil {
			continue // this idle container had ended; try another one
		}
		return exit, err
	}
}

// acquire returns a container with the given limits, and whether it was used before. It starts a container if no idle one has the same limits.
func (p *Pool) acquire(ctx context.Context, limits runner.Limits) (*Container, bool, error) {
	p.mutex.Lock()
	if p.closed {
		p.mutex.Unlock()
		return nil, false, failure("the containers of %s are closed", p.opts.Tool.Name)
	}
	var toRemove *Container
	for i := len(p.idle) - 1; i >= 0; i-- {
		if container := p.idle[i]; container.limits.Memory == limits.Memory && container.limits.CPUs == limits.CPUs {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.mutex.Unlock()
			return container, true, nil
		}
	}
	if numIdle := len(p.idle); numIdle > 0 && numIdle == cap(p.slots) { // never more containers than jobs
		toRemove, p.idle = p.idle[0], p.idle[1:]
	}
	p.mutex.Unlock()
	if err := p.terminate(ctx, toRemove); err != nil {
		return nil, false, err
	}
	container, err := p.docker.start(ctx, p.opts.Tool, p.image, limits, nil)
	return container, false, err
}

// release keeps a container for a later run, or removes it if it has run too often, has too many files, or ran out of memory.
func (p *Pool) release(ctx context.Context, container *Container) {
	if container.ended.Load() {
		return
	}
	p.mutex.Lock()
	// A run can finish although memory ran out. The next run must not be blamed for it.
	keep := !p.closed && container.runs < p.opts.RunsPerContainer && container.bytes < maxBytes && !container.wasOutOfMemory()
	if keep {
		p.idle = append(p.idle, container)
	}
	p.mutex.Unlock()
	if !keep {
		_ = p.terminate(ctx, container) // the run is complete; Docker.Close tries the removal again
	}
}

// terminate removes a container. It does nothing for nil.
func (p *Pool) terminate(ctx context.Context, container *Container) error {
	if container == nil {
		return nil
	}
	return container.Terminate(ctx)
}

// Close removes the idle containers of the pool. Active runs end with their
// contexts, and end their containers.
func (p *Pool) Close() error {
	p.mutex.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mutex.Unlock()
	var errs []error
	for _, container := range idle {
		errs = append(errs, container.Terminate(context.Background()))
	}
	return errors.Join(errs...)
}
