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

// use calls action with the value of a key, which it creates if necessary. During the call, action has
// exclusive access to the value: other requests for the same key wait.
func (k *cache[T]) use(ctx context.Context, key string, create func() (T, error), action func(T) error) error {
	entry := k.entry(key)
	select {
	case entry.hold <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-entry.hold }()
	if !entry.made {
		value, err := create()
		if err != nil {
			k.forget(entry)
			return err
		}
		entry.value, entry.made = value, true
	}
	err := action(entry.value)
	k.resize(entry)
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

func (k *cache[T]) forget(dropped *entry[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if element := k.byKey[dropped.key]; element != nil && element.Value.(*entry[T]) == dropped {
		k.order.Remove(element)
		delete(k.byKey, dropped.key)
	}
}

// maxCached is the largest number of entries.
const maxCached = 64

// resize updates the size of an entry, and drops the entries used least recently if the cache is larger than its limit.
func (k *cache[T]) resize(changed *entry[T]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed.size = changed.value.bytes()
	sum := int64(0)
	for element := k.order.Front(); element != nil; element = element.Next() {
		sum += element.Value.(*entry[T]).size
	}
	for (sum > k.limit || k.order.Len() > maxCached) && k.order.Len() > 1 {
		oldest := k.order.Back()
		oldEntry := oldest.Value.(*entry[T])
		sum -= oldEntry.size
		k.order.Remove(oldest)
		delete(k.byKey, oldEntry.key)
	}
}
