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

// budget divides the allowed memory between stored records and working data.
type budget struct {
	limit int64 // total bytes; 0 means no limit
}

const (
	// fixedBytes is the memory of a solver that does not depend on its layers: move tables, buffers of goroutines, the runtime.
	fixedBytes = 48 << 20
	// minWorkingBytes is the smallest working memory. With so little a solver is slow, but it makes progress.
	minWorkingBytes = 1 << 10
)

// workingBytes returns the number of bytes for working data if the records take kept bytes.
func (b budget) workingBytes(keptBytes int64) int64 {
	if b.limit == 0 {
		return math.MaxInt64
	}
	return max(b.limit-fixedBytes-keptBytes, minWorkingBytes)
}

// runBytes returns the number of bytes for sorted runs. Merging them needs the same amount again.
func (b budget) runBytes(kept int64) int64 { return b.workingBytes(kept) / 2 }

// valueBytes returns the number of bytes for lookups of values. The rest is for data that is read and written.
func (b budget) valueBytes(kept int64) int64 { return b.workingBytes(kept) / 3 * 2 }

// check returns an error if records of kept bytes leave no working memory.
func (b budget) check(keptBytes int64, sum int) error {
	if b.limit != 0 && keptBytes > 0 && keptBytes+fixedBytes > b.limit {
		return &MemoryError{b.limit, sum}
	}
	return nil
}
