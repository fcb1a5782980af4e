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
	// removeLimit is how long a removal is tried, for example while the engine
	// restarts.
	removeLimit = 5 * time.Second
	// pollEvery is the time between two tries.
	pollEvery = 50 * time.Millisecond
)

// remove kills and removes a container and its volumes, and returns when it is
// gone. If the engine does not answer, it tries again until ctx ends.
func (d *Docker) remove(ctx context.Context, id string) error {
	for {
		_, err := d.client.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil, errdefs.IsNotFound(err):
			return nil
		case !errdefs.IsConflict(err) && !noAnswer(err): // a conflict means that the removal has begun
			return err
		}
		if !pause(ctx, pollEvery) {
			return err
		}
	}
}

// pause waits for a duration and returns true, or returns false as soon as ctx ends.
func pause(ctx context.Context, duration time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(duration):
		return true
	}
}

// isContext reports whether an error is that of a context.
func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// leftovers is the set of containers that could not be removed yet.
type leftovers struct {
	mutex sync.Mutex
	ids   []string
}

// add adds a container.
func (l *leftovers) add(id string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.ids = append(l.ids, id)
}

// takeAll removes all containers from the set and returns them.
func (l *leftovers) takeAll() []string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	ids := l.ids
	l.ids = nil
	return ids
}
