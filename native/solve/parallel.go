package solve

import (
	"runtime"
	"sync"
)

// inParallelParts splits the numbers from 0 to count-1 into consecutive parts of at least minPart numbers, and calls handlePart for each
// part, concurrently. Results must not depend on the number of processors.
func inParallelParts(count, minPart int, handlePart func(from, to int)) {
	size := count
	if workers := min(runtime.GOMAXPROCS(0), count/minPart); workers > 1 {
		size = (count + workers - 1) / workers
	}
	var wg sync.WaitGroup
	from := 0
	for ; count-from > size; from += size {
		partStart := from
		wg.Go(func() { handlePart(partStart, partStart+size) })
	}
	handlePart(from, count)
	wg.Wait()
}
