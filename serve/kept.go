package serve

import (
	"container/list"
	"context"
	"sync"
)

// cache keeps values by key up to a memory limit, and drops the least recently used first.
type cache[T sized] struct {
	mu    sync.Mutex
	limit int64
	order list.List // of *entry[T], most recently used first
	byKey map[string]*list.Element
}

// sized is a value that knows its memory in bytes.
type sized interface{ bytes() int64 }

// entry is an entry of a cache. Its holder has exclusive access to the value.
type entry[T sized] struct {
	key   string
	hold  chan struct{}
	size  int64
	value T
	made  bool
}

func newCache[T sized](limit int64) *cache[T] {
	return &cache[T]{limit: limit, byKey: map[string]*list.Element{}}
}

// use calls do with the value of a key, which it creates if necessary. do has exclusive access to
// the value: other requests for the same key wait.
func (k *cache[T]) use(ctx context.Context, key string, create func() (T, error), do func(T) error) error {
	used := k.entry(key)
	select {
	case used.hold <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-used.hold }()
	if !used.made {
		value, err := create()
		if err != nil {
			k.forget(used)
			return err
		}
		used.value, used.made = value, true
	}
	err := do(used.value)
	k.resize(used)
	return err
}

func (k *cache[T]) entry(key string) *entry[T] {
	k.mu.Lock()
	defer k.mu.Unlock()
	if element := k.byKey[key]; element != nil {
		k.order.MoveToFront(element)
		return element.Value.(*entry[T])
	}
	added := &entry[T]{key: key, hold: make(chan struct{}, 1)}
	k.byKey[key] = k.order.PushFront(added)
	return added
}

func (k *cache[T]) forget(e *entry[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := k.byKey[e.key]; at != nil && at.Value.(*entry[T]) == e {
		k.order.Remove(at)
		delete(k.byKey, e.key)
	}
}

// maxCached is the largest number of entries.
const maxCached = 64

// resize updates the size of an entry, and drops others that no longer fit.
func (k *cache[T]) resize(changed *entry[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed.size = changed.value.bytes()
	sum := int64(0)
	for element := k.order.Front(); element != nil; element = element.Next() {
		sum += element.Value.(*entry[T]).size
	}
	for (sum > k.limit || k.order.Len() > maxCached) && k.order.Len() > 1 {
		last := k.order.Back()
		old := last.Value.(*entry[T])
		sum -= old.size
		k.order.Remove(last)
		delete(k.byKey, old.key)
	}
}
