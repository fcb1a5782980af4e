package solve

import (
	"runtime"
	"sync"
)

// inParts has the numbers from 0 to n done in consecutive parts of at least the
// given size, at the same time where there are processors. Where a part ends
// depends on their number, so no result may depend on it.
func inParts(n, least int, part func(from, to int)) {
	size := n
	if workers := min(runtime.GOMAXPROCS(0), n/least); workers > 1 {
		size = (n + workers - 1) / workers
	}
	var wg sync.WaitGroup
	from := 0
	for ; n-from > size; from += size {
		first := from
		wg.Go(func() { part(first, first+size) })
	}
	part(from, n)
	wg.Wait()
}
