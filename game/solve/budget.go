package solve

import (
	"fmt"
	"math"
)

// MemoryError says that a problem needs more memory than allowed. Nothing is kept.
type MemoryError struct {
	Limit int64 // bytes
	Sum   int   // of the layer that did not fit
}

// Error says what the limit is and how far the solution came.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("layer %d needs more than %d MB of memory", e.Sum, e.Limit>>20)
}

// budget shares out memory between what is kept, which is records in memory, and what is worked with.
type budget struct {
	limit int64 // bytes of everything; 0 means any number
}

const (
	// fixedBytes is what a solver takes whatever the size of its layers: tables of moves, buffers of the goroutines, the runtime.
	fixedBytes = 48 << 20
	// leastRoom is what a solver works with at least. It is slow then, but gets somewhere.
	leastRoom = 1 << 10
)

// room returns how many bytes there are to work with.
func (b budget) room(kept int64) int64 {
	if b.limit == 0 {
		return math.MaxInt64
	}
	return max(b.limit-fixedBytes-kept, leastRoom)
}

// runs returns how many bytes of sorted runs may be in memory: as much again is needed to merge them.
func (b budget) runs(kept int64) int64 { return b.room(kept) / 2 }

// values returns how many bytes of lookups may be in memory: the rest is for what is on its way into and out of them.
func (b budget) values(kept int64) int64 { return b.room(kept) / 3 * 2 }

// check returns an error when what is kept leaves no room. When nothing is kept, there is enough.
func (b budget) check(kept int64, sum int) error {
	if b.limit != 0 && kept > 0 && kept+fixedBytes > b.limit {
		return &MemoryError{b.limit, sum}
	}
	return nil
}
