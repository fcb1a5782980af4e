package ending

import (
	"context"
	"sync"
)

// keeper has what to do before the process ends.
type keeper struct {
	mu    sync.Mutex
	todo  map[int]func()
	next  int
	ended bool
}

type keeperKey struct{}

// Keep returns a context in which OnExit notes what must not be left behind, and
// a function that does all of it. What is noted afterwards is done at once.
func Keep(parent context.Context) (ctx context.Context, clean func()) {
	k := &keeper{todo: map[int]func(){}}
	return context.WithValue(parent, keeperKey{}, k), k.clean
}

// OnExit notes something to do if the process has to end before its owner can do
// it: kill a process, remove a directory. It must be short, and safe while the
// owner is still at work. The owner calls done when there is nothing left to do.
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

// clean does everything, the last noted first.
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
