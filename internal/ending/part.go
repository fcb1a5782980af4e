package ending

import (
	"context"
	"sync"
)

// parts are the parts of some work that are under way and can be given up alone.
type parts struct {
	mutex     sync.Mutex
	toldToEnd map[*reasoned]bool // whether it was told to end
}

type partsKey struct{}

// Divisible returns a context like that of Ender, whose end gives up the parts of the work that are under way, if there are any
// that were not told to end before: those that Part began. Otherwise it ends the whole.
func Divisible(parent context.Context) (ctx context.Context, end func(reason error)) {
	running := &parts{toldToEnd: make(map[*reasoned]bool)}
	whole := newReasoned(context.WithValue(parent, partsKey{}, running))
	return whole, func(reason error) {
		if !running.endParts(reason) {
			whole.end(reason)
		}
	}
}

// endParts ends the parts that were not told before, and reports whether there were any.
func (p *parts) endParts(reason error) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	hasEnded := false
	for part, wasTold := range p.toldToEnd {
		if !wasTold {
			p.toldToEnd[part], hasEnded = true, true
			part.end(reason)
		}
	}
	return hasEnded
}

// Part begins a part of the work that can be given up alone where the context is of Divisible; done says that it has ended.
func Part(ctx context.Context) (part context.Context, done func()) {
	running, ok := ctx.Value(partsKey{}).(*parts)
	if !ok {
		return ctx, func() {}
	}
	partContext := newReasoned(ctx)
	running.mutex.Lock()
	defer running.mutex.Unlock()
	running.toldToEnd[partContext] = false
	return partContext, func() {
		running.mutex.Lock()
		delete(running.toldToEnd, partContext)
		running.mutex.Unlock()
		partContext.end(context.Canceled)
	}
}
