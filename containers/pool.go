package containers

import (
	"context"
	"errors"
	"sync"

	"tilecheck/runner"
)

// Options describe a pool; the zero value of a field is its default.
type Options struct {
	Tool  Tool
	Image string
	// Jobs is the number of runs at a time, each in a container of its own; 0 is 1.
	Jobs int
	// RunsPerContainer is after how many runs a container is replaced: what runs
	// leave in their folders stays as long as it lives. 1 is a fresh container for
	// each run, 0 is 64.
	RunsPerContainer int
}

// maxBytes is how much may be copied into a container before it is replaced.
const maxBytes = 256 << 20

// Pool runs a tool in warm containers: a runner.Commander. They are started when
// they are needed, and kept for the next run with the same limits.
type Pool struct {
	docker *Docker
	opts   Options
	image  Image
	slots  chan struct{}

	mu     sync.Mutex
	idle   []*Container
	closed bool
}

var _ runner.Commander = (*Pool)(nil)

// NewPool makes a pool over an image, which has to be there. It starts nothing
// yet. Whoever makes a pool closes it.
func NewPool(ctx context.Context, d *Docker, o Options) (*Pool, error) {
	img, err := d.Find(ctx, o.Tool, o.Image)
	if err != nil {
		return nil, err
	}
	if o.RunsPerContainer == 0 {
		o.RunsPerContainer = 64
	}
	return &Pool{docker: d, opts: o, image: img, slots: make(chan struct{}, max(o.Jobs, 1))}, nil
}

// Where returns the name of the image with its digest.
func (p *Pool) Where() string { return p.image.String() }

// Image returns the image of the pool.
func (p *Pool) Image() Image { return p.image }

// Run implements runner.Commander. It waits until fewer than Options.Jobs runs
// are going on. A run that the context ends after it has begun is an Exit with
// runner.Cancelled; before, the error is the context's.
func (p *Pool) Run(ctx context.Context, cmd runner.Command) (runner.Exit, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return runner.Exit{}, ctx.Err()
	}
	for {
		c, used, err := p.take(ctx, cmd.Limits)
		if err != nil {
			return runner.Exit{}, err
		}
		exit, begun, err := c.check(ctx, cmd)
		p.put(ctx, c)
		if err != nil && !begun && used && ctx.Err() == nil {
			continue // it had ended since its last run; the next one may not have
		}
		return exit, err
	}
}

// take returns a container with the limits given, and whether it was used before.
func (p *Pool) take(ctx context.Context, l runner.Limits) (*Container, bool, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, false, failure("the containers of %s are closed", p.opts.Tool.Name)
	}
	var other *Container
	for i := len(p.idle) - 1; i >= 0; i-- {
		if c := p.idle[i]; c.limits.Memory == l.Memory && c.limits.CPUs == l.CPUs {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.mu.Unlock()
			return c, true, nil
		}
	}
	if n := len(p.idle); n > 0 && n == cap(p.slots) { // never more containers than jobs
		other, p.idle = p.idle[0], p.idle[1:]
	}
	p.mu.Unlock()
	if err := p.end(ctx, other); err != nil {
		return nil, false, err
	}
	c, err := p.docker.start(ctx, p.opts.Tool, p.image, l, nil)
	return c, false, err
}

// put keeps a container for the next run, if it is good for one.
func (p *Pool) put(ctx context.Context, c *Container) {
	if c.ended.Load() {
		return
	}
	p.mu.Lock()
	// A run may survive that memory ran out; the next one is not to be blamed for it.
	keep := !p.closed && c.runs < p.opts.RunsPerContainer && c.bytes < maxBytes && !c.wasOutOfMemory()
	if keep {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		_ = p.end(ctx, c) // the run is over all the same; Docker.Close tries again
	}
}

func (p *Pool) end(ctx context.Context, c *Container) error {
	if c == nil {
		return nil
	}
	return c.Terminate(ctx)
}

// Close removes the containers of the pool. Runs that are going on end with
// their context, and their containers with them.
func (p *Pool) Close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	var errs []error
	for _, c := range idle {
		errs = append(errs, c.Terminate(context.Background()))
	}
	return errors.Join(errs...)
}
