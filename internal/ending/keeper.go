package ending

import (
	"context"
	"sync"
)

// keeper has the cleanup functions to call before the process exits.
type keeper struct {
	mu    sync.Mutex
	todo  map[int]func()
	next  int
	ended bool
}

type keeperKey struct{}

// Keep returns a context in which OnExit registers cleanup functions, and a function that calls all of them. A function that is
// registered after that is called at once.
func Keep(parent context.Context) (ctx context.Context, clean func()) {
	k := &keeper{todo: map[int]func(){}}
	return context.WithValue(parent, keeperKey{}, k), k.clean
}

// OnExit registers a function that is called if the process has to exit before the caller can clean up: it kills a process or removes a
// directory. It must be quick, and safe to call concurrently with the caller. The caller calls done when no cleanup is needed
// any more.
func OnExit(ctx context.Context, f func()) (done func()) {
	k, ok := ctx.Value(keeperKey{}).(*keeper)
	if !ok {
		return func() {}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended {
		f()
		return func() {}
	}
	n := k.next
	k.next++
	k.todo[n] = f
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.todo, n)
	}
}

// clean calls the functions, the last registered first.
func (k *keeper) clean() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	for n := k.next - 1; n >= 0; n-- {
		if f, ok := k.todo[n]; ok {
			f()
		}
	}
	k.todo = nil
}
