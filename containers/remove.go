package containers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

const (
	// removeLimit is how long the removal of a container is tried, while the
	// engine restarts perhaps.
	removeLimit = 5 * time.Second
	pollEvery   = 50 * time.Millisecond
)

// remove kills and removes a container with its volumes and returns when it is
// gone. While the engine is away it tries again until ctx ends.
func (d *Docker) remove(ctx context.Context, id string) error {
	for {
		_, err := d.client.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil, errdefs.IsNotFound(err):
			return nil
		case !errdefs.IsConflict(err) && !lost(err): // a conflict is a removal that has begun
			return err
		}
		if !pause(ctx, pollEvery) {
			return err
		}
	}
}

// pause waits, and reports whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// leftovers are containers that could not be removed yet.
type leftovers struct {
	mu  sync.Mutex
	ids []string
}

func (l *leftovers) add(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, id)
}

func (l *leftovers) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := l.ids
	l.ids = nil
	return ids
}
