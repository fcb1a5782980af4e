package solve

import (
	"runtime"
	"sync"
)

// minStatesPerPart is a number of states that are worth a goroutine: it costs less than a step of them.
const minStatesPerPart = 1 << 12

// inParallelParts splits the numbers from 0 to count-1 into consecutive parts of at least minPart numbers, and calls handlePart for each part, concurrently.
// The number of parts depends on the number of processors, so the caller's results must not depend on it.
func inParallelParts(count, minPart int, handlePart func(from, to int)) {
	partSize := count
	if workers := min(runtime.GOMAXPROCS(0), count/minPart); workers > 1 {
		partSize = (count + workers - 1) / workers
	}
	var wg sync.WaitGroup
	from := 0
	for ; count-from > partSize; from += partSize {
		partStart := from
		wg.Go(func() { handlePart(partStart, partStart+partSize) })
	}
	handlePart(from, count)
	wg.Wait()
}
