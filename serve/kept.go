package serve

import (
	"container/list"
	"context"
	"sync"
)

// kept keeps things by key, as much as fits into some memory, and forgets first what was not used for longest.
type kept[T sized] struct {
	mu    sync.Mutex
	limit int64
	order list.List // of *entry[T], the last used first
	byKey map[string]*list.Element
}

// sized is a thing that says how much memory it takes. It is asked while nobody changes it.
type sized interface{ bytes() int64 }

// entry is a place for a thing. Who holds it has it alone.
type entry[T sized] struct {
	key  string
	hold chan struct{}
	size int64
	what T
	made bool
}

func newKept[T sized](limit int64) *kept[T] {
	return &kept[T]{limit: limit, byKey: map[string]*list.Element{}}
}

// use gives the thing of a key to f, to which it belongs until f returns; it is made if it is not there. A second request about the
// same thing waits.
func (k *kept[T]) use(ctx context.Context, key string, create func() (T, error), f func(T) error) error {
	e := k.entry(key)
	select {
	case e.hold <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-e.hold }()
	if !e.made {
		what, err := create()
		if err != nil {
			k.forget(e)
			return err
		}
		e.what, e.made = what, true
	}
	err := f(e.what)
	k.weigh(e)
	return err
}

func (k *kept[T]) entry(key string) *entry[T] {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.byKey[key]; at != nil {
		k.order.MoveToFront(at)
		return at.Value.(*entry[T])
	}
	e := &entry[T]{key: key, hold: make(chan struct{}, 1)}
	k.byKey[key] = k.order.PushFront(e)
	return e
}

func (k *kept[T]) forget(e *entry[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.byKey[e.key]; at != nil && at.Value.(*entry[T]) == e {
		k.order.Remove(at)
		delete(k.byKey, e.key)
	}
}

// most things that are kept, however small.
const mostKept = 64

// weigh notes the size of a thing, and forgets others that no longer fit.
func (k *kept[T]) weigh(e *entry[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.size = e.what.bytes()
	sum := int64(0)
	for at := k.order.Front(); at != nil; at = at.Next() {
		sum += at.Value.(*entry[T]).size
	}
	for (sum > k.limit || k.order.Len() > mostKept) && k.order.Len() > 1 {
		last := k.order.Back()
		old := last.Value.(*entry[T])
		sum -= old.size
		k.order.Remove(last)
		delete(k.byKey, old.key)
	}
}
