package solve

import (
	"math/bits"
	"slices"
)

// eliminationOrder is an order in which the unknowns of x = P x + c are eliminated, with the sparsity
// pattern of the factors. It depends on the positions of the nonzero terms of P only, not on their
// values.
type eliminationOrder struct {
	order    []uint32 // the unknown at each position
	position []uint32 // of each unknown
	// upperCols[upperStart[p]:upperStart[p+1]] are the later positions with a term in row p when it is
	// eliminated, in increasing order.
	upperStart []int
	upperCols  []uint32
	// lowerCols has the earlier positions that are substituted into row p, in the same layout.
	lowerStart []int
	lowerCols  []uint32
}

// rowFunc returns the columns of row k of P. A column may occur twice; column k must not occur.
type rowFunc func(k int) []uint32

// maxFill limits the terms of the factors, to about a gigabyte.
const maxFill = 1 << 26

// markowitzOrder orders the unknowns by Markowitz's rule: it always eliminates an unknown whose elimination can create few new terms.
// row(k) returns the columns of row k of the matrix. It returns nil if ordering and elimination exceed the budget of operations, or the
// factors maxFill terms.
//
// Source: Markowitz (1957); Duff, Erisman and Reid, Direct methods for sparse matrices (2017), chapters 7 and 10.
func markowitzOrder(meter *meter, numUnknowns int, row rowFunc, budget float64) (*eliminationOrder, error) {
	elim := newEliminator(numUnknowns, row)
	for len(elim.order) < numUnknowns && !elim.isDense() {
		work := elim.eliminateCheapest()
		budget -= work
		if budget < elim.remainingWork() || elim.storedTerms+elim.remainingTerms > maxFill {
			return nil, nil
		}
		if err := meter.addWork(int(work)); err != nil {
			return nil, err
		}
	}
	if remaining := numUnknowns - len(elim.order); elim.storedTerms+remaining*remaining > maxFill {
		return nil, nil
	}
	elim.eliminateDense()
	return elim.result(), meter.addWork(numUnknowns + elim.storedTerms)
}

// Costs in operations of a sweep.
const (
	workPerTerm   = 30 // adding a term
	workPerUpdate = 10 // changing a priority
)

// eliminator computes an elimination order. "Remaining" are the unknowns that have no position yet.
type eliminator struct {
	order      []uint32
	eliminated []bool
	// row has the columns of each row, and column the rows with a term in each column. Both may contain
	// eliminated unknowns; rowCount and columnCount do not count those.
	row, column           [][]uint32
	rowCount, columnCount []int32
	// rowSets has the columns of some long rows as sets, for rows that are merged with shorter ones
	// many times.
	rowSets        map[uint32]map[uint32]struct{}
	remainingTerms int
	storedTerms    int      // terms in row and column of eliminated unknowns
	mark           []uint32 // t is in the current set if mark[t] == stamp
	stamp          uint32
	queue          bucketQueue
}

// newEliminator copies the pattern of the matrix, and queues all unknowns by their Markowitz cost. row(k) returns the columns of equation k.
func newEliminator(numUnknowns int, row rowFunc) *eliminator {
	elim := &eliminator{
		order: make([]uint32, 0, numUnknowns), eliminated: make([]bool, numUnknowns), row: make([][]uint32, numUnknowns), column: make([][]uint32, numUnknowns),
		rowCount: make([]int32, numUnknowns), columnCount: make([]int32, numUnknowns), rowSets: map[uint32]map[uint32]struct{}{}, mark: make([]uint32, numUnknowns), queue: newBucketQueue(numUnknowns),
	}
	elim.copyRows(numUnknowns, row)
	elim.fillColumns()
	for k := range numUnknowns {
		elim.queue.insert(uint32(k), elim.markowitzCost(uint32(k)))
	}
	return elim
}

// copyRows copies the columns of each row without duplicates, and counts the terms of each column.
func (elim *eliminator) copyRows(numUnknowns int, row rowFunc) {
	total := 0
	for k := range numUnknowns {
		total += len(row(k))
	}
	storage := make([]uint32, 0, total)
	for k := range numUnknowns {
		first := len(storage)
		elim.clearMarks()
		for _, target := range row(k) {
			if elim.mark[target] != elim.stamp {
				elim.mark[target] = elim.stamp
				storage = append(storage, target)
				elim.columnCount[target]++
			}
		}
		elim.row[k] = storage[first:len(storage):len(storage)]
		elim.rowCount[k] = int32(len(storage) - first)
	}
	elim.remainingTerms = len(storage)
}

// fillColumns stores the rows of each column: the transposed pattern.
func (elim *eliminator) fillColumns() {
	storage := make([]uint32, elim.remainingTerms)
	for k, count := range elim.columnCount {
		elim.column[k] = storage[:0:count]
		storage = storage[count:]
	}
	for k, targets := range elim.row {
		for _, target := range targets {
			elim.column[target] = append(elim.column[target], uint32(k))
		}
	}
}

// clearMarks begins a new empty set of marked unknowns.
func (elim *eliminator) clearMarks() {
	if elim.stamp++; elim.stamp == 0 {
		clear(elim.mark)
		elim.stamp = 1
	}
}

// markowitzCost bounds the number of terms that eliminating k creates, plus the work of merging its row, in terms.
func (elim *eliminator) markowitzCost(k uint32) int {
	// Without the work, a row with one term would come first even if its column were full.
	row, column := int(elim.rowCount[k]), int(elim.columnCount[k])
	return max(row-1, 0)*max(column-1, 0) + row*column/workPerTerm
}

// isDense reports whether at least three quarters of the remaining matrix are nonzero.
func (elim *eliminator) isDense() bool {
	m := len(elim.row) - len(elim.order)
	return elim.remainingTerms*4 >= 3*m*(m-1)
}

// remainingWork estimates the number of operations to eliminate the remaining unknowns, if their rows do not grow.
func (elim *eliminator) remainingWork() float64 {
	unknowns, terms := float64(len(elim.row)-len(elim.order)), float64(elim.remainingTerms)
	return terms * terms / max(unknowns, 1) / 6
}

// eliminateCheapest eliminates the unknown with the least Markowitz cost: it adds the terms of its row to every row that uses the unknown.
// It returns the number of operations.
func (elim *eliminator) eliminateCheapest() float64 {
	cheapest := elim.queue.first()
	isEliminated := func(target uint32) bool { return elim.eliminated[target] }
	row := slices.DeleteFunc(elim.row[cheapest], isEliminated)
	column := slices.DeleteFunc(elim.column[cheapest], isEliminated)
	elim.appendToOrder(cheapest, row, column)
	work := workPerUpdate * (len(row) + len(column))
	for _, user := range column {
		work += elim.mergeRow(user, row)
	}
	work += elim.eliminateTwins(row, column)
	for _, user := range column {
		elim.updatePriority(user)
	}
	for _, target := range row {
		elim.updatePriority(target)
	}
	return float64(work)
}

func (elim *eliminator) updatePriority(k uint32) {
	if !elim.eliminated[k] {
		elim.queue.insert(k, elim.markowitzCost(k))
	}
}

// eliminateTwins eliminates the unknowns that have the same remaining terms as the unknown that was eliminated last. row and column are the
// terms of that unknown. The elimination of a twin creates no new terms. work is the number of operations.
func (elim *eliminator) eliminateTwins(row, column []uint32) (work int) {
	elim.clearMarks()
	for _, target := range row {
		elim.mark[target] = elim.stamp
	}
	for _, twin := range column {
		isInRow := elim.mark[twin] == elim.stamp
		hasSameCounts := int(elim.rowCount[twin]) == len(row)-1 && int(elim.columnCount[twin]) == len(column)-1
		if !isInRow || !hasSameCounts {
			continue
		}
		row, column = withoutElement(row, twin), withoutElement(column, twin)
		elim.appendToOrder(twin, row, column)
		for _, twinRow := range column {
			elim.rowCount[twinRow]--
		}
		work += 2 * (len(row) + len(column))
	}
	return work
}

// withoutElement returns a copy of a set without an element.
func withoutElement(set []uint32, removed uint32) []uint32 {
	remaining := make([]uint32, 0, len(set)-1)
	for _, element := range set {
		if element != removed {
			remaining = append(remaining, element)
		}
	}
	return remaining
}

// appendToOrder makes an unknown the next one that is eliminated. row and column are its terms with unknowns that are not eliminated yet.
func (elim *eliminator) appendToOrder(unknown uint32, row, column []uint32) {
	elim.queue.remove(unknown)
	elim.eliminated[unknown] = true
	elim.order = append(elim.order, unknown)
	elim.row[unknown], elim.column[unknown] = row, column
	delete(elim.rowSets, unknown)
	elim.storedTerms += len(row) + len(column)
	elim.remainingTerms -= len(row) + len(column)
	for _, target := range row {
		elim.columnCount[target]--
	}
}

// mergeRow substitutes the row of an eliminated unknown into another row: it adds the terms that this row does not have yet. It returns the
// number of operations.
func (elim *eliminator) mergeRow(rowIndex uint32, terms []uint32) (work int) {
	elim.rowCount[rowIndex]-- // the term in the eliminated unknown
	isLong := len(elim.row[rowIndex]) > 16*len(terms)+64
	if elim.rowSets[rowIndex] == nil && isLong {
		elim.rowSets[rowIndex] = setOfColumns(elim.row[rowIndex])
	}
	if rowSet := elim.rowSets[rowIndex]; rowSet != nil {
		return elim.mergeIntoSet(rowIndex, rowSet, terms)
	}
	return elim.mergeIntoList(rowIndex, terms)
}

// setOfColumns returns the columns of a row as a set.
func setOfColumns(row []uint32) map[uint32]struct{} {
	set := make(map[uint32]struct{}, 2*len(row))
	for _, column := range row {
		set[column] = struct{}{}
	}
	return set
}

// mergeIntoSet adds new terms to a row whose columns are also in rowSet. It returns the number of operations.
func (elim *eliminator) mergeIntoSet(rowIndex uint32, rowSet map[uint32]struct{}, terms []uint32) (work int) {
	for _, target := range terms {
		if _, ok := rowSet[target]; !ok && target != rowIndex {
			rowSet[target] = struct{}{}
			elim.addTerm(rowIndex, target)
		}
	}
	return workPerTerm * len(terms)
}

// mergeIntoList removes eliminated unknowns from a row and adds new terms to it. It returns the number of operations.
func (elim *eliminator) mergeIntoList(rowIndex uint32, terms []uint32) (work int) {
	row := elim.row[rowIndex]
	elim.clearMarks()
	elim.mark[rowIndex] = elim.stamp
	remaining := row[:0]
	for _, target := range row {
		if !elim.eliminated[target] {
			elim.mark[target] = elim.stamp
			remaining = append(remaining, target)
		}
	}
	elim.row[rowIndex] = remaining
	added := 0
	for _, target := range terms {
		if elim.mark[target] != elim.stamp {
			elim.addTerm(rowIndex, target)
			added++
		}
	}
	return len(row) + 2*len(terms) + workPerTerm*added
}

// addTerm adds a nonzero term to the pattern of the matrix.
func (elim *eliminator) addTerm(row, column uint32) {
	elim.row[row] = append(elim.row[row], column)
	elim.column[column] = append(elim.column[column], row)
	elim.rowCount[row]++
	elim.columnCount[column]++
	elim.remainingTerms++
}

// eliminateDense appends all remaining unknowns to the order. It assumes that all terms between them are nonzero.
func (elim *eliminator) eliminateDense() {
	var remaining []uint32
	for k, eliminated := range elim.eliminated {
		if !eliminated {
			remaining = append(remaining, uint32(k))
		}
	}
	for i, k := range remaining {
		elim.row[k], elim.column[k] = remaining[i+1:], remaining[i+1:]
		elim.storedTerms += 2 * (len(remaining) - i - 1)
	}
	elim.order = append(elim.order, remaining...)
}

// result returns the elimination order with the patterns of both triangular factors, by positions.
func (elim *eliminator) result() *eliminationOrder {
	n := len(elim.row)
	result := &eliminationOrder{order: elim.order, position: make([]uint32, n), upperStart: make([]int, n+1), lowerStart: make([]int, n+1)}
	for p, k := range result.order {
		result.position[k] = uint32(p)
	}
	elim.setUpperPattern(result)
	elim.setLowerPattern(result)
	return result
}

// setUpperPattern sets the positions of the terms of the upper triangular factor.
func (elim *eliminator) setUpperPattern(result *eliminationOrder) {
	upperTerms := 0
	for _, row := range elim.row {
		upperTerms += len(row)
	}
	result.upperCols = make([]uint32, 0, upperTerms)
	for p, k := range result.order {
		for _, target := range elim.row[k] {
			result.upperCols = append(result.upperCols, result.position[target])
		}
		slices.Sort(result.upperCols[result.upperStart[p]:])
		result.upperStart[p+1] = len(result.upperCols)
	}
}

// setLowerPattern sets the positions of the terms of the lower triangular factor by a counting sort.
func (elim *eliminator) setLowerPattern(result *eliminationOrder) {
	n := len(result.order)
	for _, k := range result.order {
		for _, i := range elim.column[k] {
			result.lowerStart[result.position[i]+1]++
		}
	}
	for p := range n {
		result.lowerStart[p+1] += result.lowerStart[p]
	}
	result.lowerCols = make([]uint32, result.lowerStart[n])
	next := slices.Clone(result.lowerStart)
	for p, k := range result.order {
		for _, i := range elim.column[k] {
			position := result.position[i]
			result.lowerCols[next[position]] = uint32(p)
			next[position]++
		}
	}
}

// bucketQueue is a priority queue of the numbers from 0 to n-1. It has one bucket for each range of
// priorities, and returns some number of the lowest bucket.
type bucketQueue struct {
	head       []uint32 // the first number of each bucket, plus one; 0 if it is empty
	next, prev []uint32 // doubly linked lists: plus one; 0 is the end; prev of the first is unused
	bucket     []int32  // the bucket of each number; -1 if it is not in the queue
	lowest     int      // lower bound on the first bucket in use
}

func newBucketQueue(n int) bucketQueue {
	b := bucketQueue{head: make([]uint32, 512), next: make([]uint32, n), prev: make([]uint32, n), bucket: make([]int32, n)}
	for k := range b.bucket {
		b.bucket[k] = -1
	}
	return b
}

// bucketOfPriority returns the bucket of a priority. Greater priorities share a bucket if they have the same exponent and the same next
// three bits.
func bucketOfPriority(priority int) int32 {
	if priority < 16 {
		return int32(priority)
	}
	exponent := bits.Len(uint(priority)) - 1
	nextThreeBits := priority >> (exponent - 3) & 7
	return int32(16 + 8*(exponent-4) + nextThreeBits)
}

// insert moves a number to the bucket of its priority.
func (queue *bucketQueue) insert(number uint32, priority int) {
	bucket := bucketOfPriority(priority)
	if queue.bucket[number] == bucket {
		return
	}
	queue.remove(number)
	if first := queue.head[bucket]; first != 0 {
		queue.prev[first-1] = number + 1
	}
	queue.next[number] = queue.head[bucket] // links are numbers plus one; 0 is the end
	queue.prev[number] = 0
	queue.bucket[number] = bucket
	queue.head[bucket] = number + 1
	queue.lowest = min(queue.lowest, int(bucket))
}

// remove removes a number from the doubly linked list of its bucket, if it is queued. Links are numbers plus one.
func (queue *bucketQueue) remove(number uint32) {
	bucket := queue.bucket[number]
	if bucket < 0 {
		return
	}
	next, prev := queue.next[number], queue.prev[number]
	if next != 0 {
		queue.prev[next-1] = prev
	}
	if prev != 0 {
		queue.next[prev-1] = next
	} else {
		queue.head[bucket] = next
	}
	queue.bucket[number] = -1
}

// first returns a number of the first bucket in use, without removing it. The queue must not be
// empty.
func (queue *bucketQueue) first() uint32 {
	for queue.head[queue.lowest] == 0 {
		queue.lowest++
	}
	return queue.head[queue.lowest] - 1
}
