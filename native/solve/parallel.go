package solve

import (
	"runtime"
	"sync"
)

// inParallelParts splits the numbers from 0 to n-1 into consecutive parts of at least minPart numbers, and calls handlePart for each part,
// concurrently. Results must not depend on the number of processors.
func inParallelParts(n, minPart int, handlePart func(from, to int)) {
	size := n
	if workers := min(runtime.GOMAXPROCS(0), n/minPart); workers > 1 {
		size = (n + workers - 1) / workers
	}
	var wg sync.WaitGroup
	from := 0
	for ; n-from > size; from += size {
		partStart := from
		wg.Go(func() { handlePart(partStart, partStart+size) })
	}
	handlePart(from, n)
	wg.Wait()
}
