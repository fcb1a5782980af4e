package ending

import (
	"context"
	"sync"
)

// keeper has the cleanup functions to call before the process exits.
type keeper struct {
	mutex    sync.Mutex
	cleanups map[int]func()
	nextKey  int
	hasEnded bool
}

type keeperKey struct{}

// Keep returns a context in which OnExit registers cleanup functions, and a function that calls all of them. A function that is
// registered after that is called at once.
func Keep(parent context.Context) (ctx context.Context, clean func()) {
	k := &keeper{cleanups: map[int]func(){}}
	return context.WithValue(parent, keeperKey{}, k), k.clean
}

// OnExit registers a function that is called if the process has to exit before the caller can clean up: it kills a process or removes a
// directory. It must be quick, and safe to call concurrently with the caller. The caller calls done when no cleanup is needed
// any more.
func OnExit(ctx context.Context, cleanup func()) (remove func()) {
	k, ok := ctx.Value(keeperKey{}).(*keeper)
	if !ok {
		return func() {}
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.hasEnded {
		cleanup()
		return func() {}
	}
	n := k.nextKey
	k.nextKey++
	k.cleanups[n] = cleanup
	return func() {
		k.mutex.Lock()
		defer k.mutex.Unlock()
		delete(k.cleanups, n)
	}
}

// clean calls the functions, the last registered first.
func (k *keeper) clean() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.hasEnded = true
	for n := k.nextKey - 1; n >= 0; n-- {
		if cleanup, ok := k.cleanups[n]; ok {
			cleanup()
		}
	}
	k.cleanups = nil
}
