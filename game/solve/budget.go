package solve

import (
	"fmt"
	"math"
)

// MemoryError says that a problem needs more memory than allowed.
type MemoryError struct {
	Limit int64 // bytes
	Sum   int   // of the layer that did not fit
}

// Error names the limit and the layer that did not fit.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("layer %d needs more than %d MB of memory", e.Sum, e.Limit>>20)
}

// budget divides the memory between the records that are kept and the working data.
type budget struct {
	limit int64 // total bytes; 0 means no limit
}

const (
	// fixedBytes is the memory of a solver that does not depend on its layers: tables of moves, buffers of the goroutines, the runtime.
	fixedBytes = 48 << 20
	// leastRoom is the least working memory. With so little a solver is slow, but it makes progress.
	leastRoom = 1 << 10
)

// room returns the number of bytes of working memory.
func (b budget) room(kept int64) int64 {
	if b.limit == 0 {
		return math.MaxInt64
	}
	return max(b.limit-fixedBytes-kept, leastRoom)
}

// runs returns the number of bytes of sorted runs that may be in memory. Merging them needs as much again.
func (b budget) runs(kept int64) int64 { return b.room(kept) / 2 }

// values returns the number of bytes of lookups that may be in memory. The rest is for data being read and written.
func (b budget) values(kept int64) int64 { return b.room(kept) / 3 * 2 }

// check returns an error if the kept records leave no working memory.
func (b budget) check(kept int64, sum int) error {
	if b.limit != 0 && kept > 0 && kept+fixedBytes > b.limit {
		return &MemoryError{b.limit, sum}
	}
	return nil
}
