package solve

import (
	"math/bits"
	"slices"
)

// fill is the order in which the unknowns of x = P x + c are eliminated, and
// where that puts terms. It depends on the places of the terms of P only, not on
// their values. A place is a position in the order.
type fill struct {
	order []uint32 // the unknown at each place
	place []uint32 // of each unknown
	// up[upStart[k]:upStart[k+1]] are the later places in which the equation of
	// place k has terms when its turn comes, increasing.
	upStart []int
	up      []uint32
	// low is the same for the earlier places that had been put in before.
	lowStart []int
	low      []uint32
}

// terms describes P: the rows of the unknowns, which may name a column twice but
// not themselves.
type terms func(k int) []uint32

// maxFill is the greatest number of terms that an elimination may lead to; they
// take about a gigabyte.
const maxFill = 1 << 26

// eliminate chooses an order for n unknowns, by Markowitz's rule: next is one
// whose elimination touches the fewest terms. It returns nil when elimination by
// that order, or finding it, would take more than so many operations.
//
// Source: Markowitz (1957); Duff, Erisman and Reid, Direct methods for sparse
// matrices (2017), chapters 7 and 10, for the queue.
func eliminate(mt *meter, n int, row terms, budget float64) (*fill, error) {
	e := newEliminator(n, row)
	for len(e.order) < n && !e.full() {
		work := e.next()
		budget -= work
		if budget < e.ahead() || e.stored+e.live > maxFill {
			return nil, nil
		}
		if err := mt.did(int(work)); err != nil {
			return nil, err
		}
	}
	if m := n - len(e.order); e.stored+m*m > maxFill {
		return nil, nil
	}
	e.rest()
	return e.finish(), mt.did(n + e.stored)
}

// What it takes to add a term, and to change a priority, in operations as cheap
// as those of a sweep.
const (
	workPerTerm   = 30
	workPerUpdate = 10
)

// eliminator is an elimination under way. What is left are the unknowns that
// have no place yet.
type eliminator struct {
	order []uint32
	gone  []bool
	// row has the terms of each row, into the rows with a term in each unknown,
	// both once, and also some that are gone; rows and columns count those that
	// are not.
	row, into     [][]uint32
	rows, columns []int32
	// long has the terms of some rows again, for those that shorter ones are
	// added to again and again.
	long   map[uint32]map[uint32]struct{}
	live   int      // terms left
	stored int      // terms in row and into of unknowns that are gone
	mark   []uint32 // mark[t] == stamp says that t is in a set
	stamp  uint32
	queue  buckets
}

func newEliminator(n int, row terms) *eliminator {
	e := &eliminator{
		order: make([]uint32, 0, n), gone: make([]bool, n), row: make([][]uint32, n), into: make([][]uint32, n),
		rows: make([]int32, n), columns: make([]int32, n), long: map[uint32]map[uint32]struct{}{}, mark: make([]uint32, n), queue: newBuckets(n),
	}
	total := 0
	for k := range n {
		total += len(row(k))
	}
	all := make([]uint32, 0, total)
	for k := range n {
		first := len(all)
		e.newSet()
		for _, t := range row(k) {
			if e.mark[t] != e.stamp {
				e.mark[t] = e.stamp
				all = append(all, t)
				e.columns[t]++
			}
		}
		e.row[k] = all[first:len(all):len(all)]
		e.rows[k] = int32(len(all) - first)
	}
	e.live = len(all)
	columns := make([]uint32, len(all))
	for k := range n {
		e.into[k] = columns[:0:e.columns[k]]
		columns = columns[e.columns[k]:]
	}
	for k := range n {
		for _, t := range e.row[k] {
			e.into[t] = append(e.into[t], uint32(k))
		}
	}
	for k := range n {
		e.queue.put(uint32(k), e.cost(uint32(k)))
	}
	return e
}

// newSet empties the set of marked unknowns.
func (e *eliminator) newSet() {
	if e.stamp++; e.stamp == 0 {
		clear(e.mark)
		e.stamp = 1
	}
}

// cost orders the unknowns by how many more terms there can be without them.
func (e *eliminator) cost(k uint32) int {
	return max(int(e.rows[k])-1, 0) * max(int(e.columns[k])-1, 0)
}

// full reports whether so many terms are left that elimination is as fast when
// all others are added.
func (e *eliminator) full() bool {
	m := len(e.row) - len(e.order)
	return e.live*4 >= 3*m*(m-1)
}

// ahead estimates the work that is left: at least that of the numbers, if rows do
// not become longer.
func (e *eliminator) ahead() float64 {
	m, live := float64(len(e.row)-len(e.order)), float64(e.live)
	return live * live / max(m, 1) / 6
}

// next eliminates the unknown that is cheapest and returns the work that was.
func (e *eliminator) next() float64 {
	k := e.queue.least()
	gone := func(t uint32) bool { return e.gone[t] }
	row, into := slices.DeleteFunc(e.row[k], gone), slices.DeleteFunc(e.into[k], gone)
	e.take(k, row, into)
	work := workPerUpdate * (len(row) + len(into))
	for _, i := range into {
		work += e.merge(i, row)
	}
	work += e.twins(row, into)
	for _, i := range into {
		e.update(i)
	}
	for _, t := range row {
		e.update(t)
	}
	return float64(work)
}

func (e *eliminator) update(k uint32) {
	if !e.gone[k] {
		e.queue.put(k, e.cost(k))
	}
}

// twins eliminates those unknowns that now have the same row and column as the
// one just eliminated had: nothing is to be merged for them.
func (e *eliminator) twins(row, into []uint32) (work int) {
	e.newSet()
	for _, t := range row {
		e.mark[t] = e.stamp
	}
	for _, i := range into {
		if e.mark[i] != e.stamp || int(e.rows[i]) != len(row)-1 || int(e.columns[i]) != len(into)-1 {
			continue
		}
		row, into = without(row, i), without(into, i)
		e.take(i, row, into)
		for _, r := range into {
			e.rows[r]--
		}
		work += 2 * (len(row) + len(into))
	}
	return work
}

func without(set []uint32, x uint32) []uint32 {
	out := make([]uint32, 0, len(set)-1)
	for _, y := range set {
		if y != x {
			out = append(out, y)
		}
	}
	return out
}

// take gives an unknown, whose row and column are left as they are, the next place.
func (e *eliminator) take(k uint32, row, into []uint32) {
	e.queue.remove(k)
	e.gone[k] = true
	e.order = append(e.order, k)
	e.row[k], e.into[k] = row, into
	delete(e.long, k)
	e.stored += len(row) + len(into)
	e.live -= len(row) + len(into)
	for _, t := range row {
		e.columns[t]--
	}
}

// merge adds terms to row i, which has lost one, and returns the work.
func (e *eliminator) merge(i uint32, terms []uint32) int {
	e.rows[i]--
	own, long := e.row[i], e.long[i]
	if long == nil && len(own) > 16*len(terms)+64 {
		long = make(map[uint32]struct{}, 2*len(own))
		for _, t := range own {
			long[t] = struct{}{}
		}
		e.long[i] = long
	}
	if long != nil {
		for _, t := range terms {
			if _, ok := long[t]; !ok && t != i {
				long[t] = struct{}{}
				e.add(i, t)
			}
		}
		return workPerTerm * len(terms)
	}
	e.newSet()
	e.mark[i] = e.stamp
	kept := own[:0]
	for _, t := range own {
		if !e.gone[t] {
			e.mark[t] = e.stamp
			kept = append(kept, t)
		}
	}
	e.row[i] = kept
	added := 0
	for _, t := range terms {
		if e.mark[t] != e.stamp {
			e.add(i, t)
			added++
		}
	}
	return len(own) + 2*len(terms) + workPerTerm*added
}

func (e *eliminator) add(i, t uint32) {
	e.row[i] = append(e.row[i], t)
	e.into[t] = append(e.into[t], i)
	e.rows[i]++
	e.columns[t]++
	e.live++
}

// rest eliminates what is left as if all terms were there.
func (e *eliminator) rest() {
	var left []uint32
	for k, gone := range e.gone {
		if !gone {
			left = append(left, uint32(k))
		}
	}
	for i, k := range left {
		e.row[k], e.into[k] = left[i+1:], left[i+1:]
		e.stored += 2 * (len(left) - i - 1)
	}
	e.order = append(e.order, left...)
}

// finish turns the numbers of unknowns into places.
func (e *eliminator) finish() *fill {
	n := len(e.row)
	f := &fill{order: e.order, place: make([]uint32, n), upStart: make([]int, n+1), lowStart: make([]int, n+1)}
	ups := 0
	for p, k := range f.order {
		f.place[k] = uint32(p)
		ups += len(e.row[k])
	}
	f.up = make([]uint32, 0, ups)
	for p, k := range f.order {
		for _, t := range e.row[k] {
			f.up = append(f.up, f.place[t])
		}
		slices.Sort(f.up[f.upStart[p]:])
		f.upStart[p+1] = len(f.up)
		for _, i := range e.into[k] {
			f.lowStart[f.place[i]+1]++
		}
	}
	for p := range n {
		f.lowStart[p+1] += f.lowStart[p]
	}
	f.low = make([]uint32, f.lowStart[n])
	next := slices.Clone(f.lowStart)
	for p, k := range f.order {
		for _, i := range e.into[k] {
			q := f.place[i]
			f.low[next[q]] = uint32(p)
			next[q]++
		}
	}
	return f
}

// buckets is a priority queue of numbers below n, each at most once. Priorities
// that differ by less than an eighth may count as equal.
type buckets struct {
	head       []uint32 // first of each level
	next, prev []uint32 // plus one; 0 is none. prev of the first is unused
	level      []int32  // of each number; -1 when it is not in the queue
	lowest     int      // no level below has a number
}

func newBuckets(n int) buckets {
	b := buckets{head: make([]uint32, 512), next: make([]uint32, n), prev: make([]uint32, n), level: make([]int32, n)}
	for k := range b.level {
		b.level[k] = -1
	}
	return b
}

func levelOf(priority int) int32 {
	if priority < 16 {
		return int32(priority)
	}
	e := bits.Len(uint(priority)) - 1
	return int32(16 + 8*(e-4) + priority>>(e-3)&7)
}

// put adds a number or changes its priority.
func (b *buckets) put(k uint32, priority int) {
	level := levelOf(priority)
	if b.level[k] == level {
		return
	}
	b.remove(k)
	if first := b.head[level]; first != 0 {
		b.prev[first-1] = k + 1
	}
	b.next[k], b.prev[k], b.level[k] = b.head[level], 0, level
	b.head[level] = k + 1
	b.lowest = min(b.lowest, int(level))
}

func (b *buckets) remove(k uint32) {
	level := b.level[k]
	if level < 0 {
		return
	}
	next, prev := b.next[k], b.prev[k]
	if next != 0 {
		b.prev[next-1] = prev
	}
	if prev != 0 {
		b.next[prev-1] = next
	} else {
		b.head[level] = next
	}
	b.level[k] = -1
}

// least returns a number of the lowest level. The queue must not be empty.
func (b *buckets) least() uint32 {
	for b.head[b.lowest] == 0 {
		b.lowest++
	}
	return b.head[b.lowest] - 1
}
