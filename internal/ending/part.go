package ending

import (
	"context"
	"sync"
)

// parts are the parts of some work that are under way and can be given up alone.
type parts struct {
	mu       sync.Mutex
	underway map[*reasoned]bool // whether it was told to end
}

type partsKey struct{}

// Divisible returns a context like that of Ender, whose end gives up the parts of the work that are under way, if there are any
// that were not told to end before: those that Part began. Otherwise it ends the whole.
func Divisible(parent context.Context) (ctx context.Context, end func(reason error)) {
	p := &parts{underway: make(map[*reasoned]bool)}
	whole := newReasoned(context.WithValue(parent, partsKey{}, p))
	return whole, func(reason error) {
		if !p.end(reason) {
			whole.end(reason)
		}
	}
}

// end ends the parts that were not told before, and reports whether there were any.
func (p *parts) end(reason error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := false
	for part, told := range p.underway {
		if !told {
			p.underway[part], found = true, true
			part.end(reason)
		}
	}
	return found
}

// Part begins a part of the work that can be given up alone where the context is of Divisible; done says that it has ended.
func Part(ctx context.Context) (part context.Context, done func()) {
	p, ok := ctx.Value(partsKey{}).(*parts)
	if !ok {
		return ctx, func() {}
	}
	c := newReasoned(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.underway[c] = false
	return c, func() {
		p.mu.Lock()
		delete(p.underway, c)
		p.mu.Unlock()
		c.end(context.Canceled)
	}
}
