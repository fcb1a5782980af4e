package solve

import (
	"math"
	"math/bits"
	"slices"
)

// eliminationOrder is an order in which the unknowns of x = P x + c are eliminated, with the sparsity
// pattern of the factors. It depends on the positions of the nonzero terms of P only, not on their
// values.
type eliminationOrder struct {
	order      []uint32 // the unknown at each position
	positionOf []uint32 // of each unknown
	// upperColumns[upperStarts[p]:upperStarts[p+1]] are the later positions with a term in row p when it is
	// eliminated, in increasing order.
	upperStarts  []int
	upperColumns []uint32
	// lowerColumns has the earlier positions that are substituted into row p, in the same layout.
	lowerStarts  []int
	lowerColumns []uint32
}

// columnsFunc returns the columns of row k of P. A column may occur twice; column k must not occur.
type columnsFunc func(k int) []uint32

// maxFill limits the terms of the factors, to about a gigabyte.
const maxFill = 1 << 26

// markowitzOrder orders the unknowns for elimination by Markowitz's rule: the next one is always an unknown whose elimination can create few new terms.
// rowColumns(k) returns the columns of row k of the matrix. It returns nil if ordering and elimination need more operations than budget, or if the
// triangular factors have more than maxFill terms.
//
// Source: Markowitz (1957); Duff, Erisman and Reid, Direct methods for sparse matrices (2017), chapters 7 and 10.
func markowitzOrder(meter *meter, numUnknowns int, rowColumns columnsFunc, budget float64) (*eliminationOrder, error) {
	eliminator := newEliminator(numUnknowns, rowColumns)
	for len(eliminator.order) < numUnknowns && !eliminator.isDense() {
		work := eliminator.eliminateCheapest()
		budget -= work
		if budget < eliminator.remainingWork() || eliminator.storedTerms+eliminator.remainingTerms > maxFill {
			return nil, nil
		}
		if len(eliminator.order)%eliminationsPerCheck == 0 && eliminator.isFarOverBudget(budget) {
			return nil, nil
		}
		if err := meter.addWork(int(work)); err != nil {
			return nil, err
		}
	}
	if remaining := numUnknowns - len(eliminator.order); eliminator.storedTerms+remaining*remaining > maxFill {
		return nil, nil
	}
	eliminator.eliminateDense()
	return eliminator.orderByPosition(), meter.addWork(numUnknowns + eliminator.storedTerms)
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
	// rowColumns has the columns of each row, and columnRows the rows with a term in each columnRows. Both may contain
	// eliminated unknowns; rowCount and columnCount do not count those.
	rowColumns, columnRows [][]uint32
	rowCount, columnCount  []int32
	// rowSets has the columns of some long rows as sets, for rows that are merged with shorter ones
	// many times.
	rowSets        map[uint32]map[uint32]struct{}
	remainingTerms int
	initialTerms   int      // remainingTerms before the first elimination
	storedTerms    int      // terms in rowColumns and columnRows of eliminated unknowns
	marks          []uint32 // t is in the current set if marks[t] == currentMark
	currentMark    uint32
	queue          bucketQueue
}

// newEliminator copies the positions of the nonzero terms of the matrix, and queues all unknowns by their Markowitz cost. rowColumns(k) returns the columns
// of the terms of equation k.
func newEliminator(numUnknowns int, rowColumns columnsFunc) *eliminator {
	eliminator := &eliminator{
		order: make([]uint32, 0, numUnknowns), eliminated: make([]bool, numUnknowns), rowColumns: make([][]uint32, numUnknowns), columnRows: make([][]uint32, numUnknowns),
		rowCount: make([]int32, numUnknowns), columnCount: make([]int32, numUnknowns), rowSets: map[uint32]map[uint32]struct{}{}, marks: make([]uint32, numUnknowns), queue: newBucketQueue(numUnknowns),
	}
	eliminator.copyRows(numUnknowns, rowColumns)
	eliminator.fillColumns()
	for unknown := range numUnknowns {
		eliminator.queue.insert(uint32(unknown), eliminator.markowitzCost(uint32(unknown)))
	}
	return eliminator
}

// copyRows copies the columns of each row, without duplicates, and counts the terms in each column.
func (eliminator *eliminator) copyRows(numUnknowns int, rowColumns columnsFunc) {
	numTerms := 0
	for row := range numUnknowns {
		numTerms += len(rowColumns(row))
	}
	storage := make([]uint32, 0, numTerms)
	for row := range numUnknowns {
		first := len(storage)
		eliminator.clearMarks() // a marked column is already in the row
		for _, column := range rowColumns(row) {
			if eliminator.marks[column] != eliminator.currentMark {
				eliminator.marks[column] = eliminator.currentMark
				storage = append(storage, column)
				eliminator.columnCount[column]++
			}
		}
		eliminator.rowColumns[row] = storage[first:len(storage):len(storage)]
		eliminator.rowCount[row] = int32(len(storage) - first)
	}
	eliminator.remainingTerms, eliminator.initialTerms = len(storage), len(storage)
}

// fillColumns lists, for each column, the rows that have a term in it. The lists share one array, which is divided by the counts of copyRows.
func (eliminator *eliminator) fillColumns() {
	storage := make([]uint32, eliminator.remainingTerms)
	for column, count := range eliminator.columnCount {
		eliminator.columnRows[column] = storage[:0:count]
		storage = storage[count:]
	}
	for row, columns := range eliminator.rowColumns {
		for _, column := range columns {
			eliminator.columnRows[column] = append(eliminator.columnRows[column], uint32(row))
		}
	}
}

// clearMarks begins a new empty set of marked unknowns.
func (eliminator *eliminator) clearMarks() {
	if eliminator.currentMark++; eliminator.currentMark == 0 {
		clear(eliminator.marks)
		eliminator.currentMark = 1
	}
}

// markowitzCost returns the greatest number of terms that eliminating an unknown can create, or the work of merging its row in terms, whichever is greater.
func (eliminator *eliminator) markowitzCost(unknown uint32) int {
	// Without the work, a row with one term would come first even if its column were full.
	row, column := int(eliminator.rowCount[unknown]), int(eliminator.columnCount[unknown])
	return max(max(row-1, 0)*max(column-1, 0), row*column/workPerTerm)
}

// isDense reports whether at least three quarters of the remaining matrix are nonzero.
func (eliminator *eliminator) isDense() bool {
	numRemaining := len(eliminator.rowColumns) - len(eliminator.order)
	return eliminator.remainingTerms*4 >= 3*numRemaining*(numRemaining-1)
}

// remainingWork estimates how many operations it takes to eliminate the remaining unknowns. It assumes that no row gets more terms than the rows have now on
// average.
func (eliminator *eliminator) remainingWork() float64 {
	unknowns, terms := float64(len(eliminator.rowColumns)-len(eliminator.order)), float64(eliminator.remainingTerms)
	return terms * terms / max(unknowns, 1) / 6
}

// eliminationsPerCheck is the number of unknowns that are eliminated between two calls of isFarOverBudget.
const eliminationsPerCheck = 64

// isFarOverBudget reports whether elimination is expected to need many times as many operations as a budget allows. It extrapolates the number of terms from
// its growth so far, as a power of the number of remaining unknowns, up to the point where the matrix is dense. Without this check, an elimination that fails
// could fill the memory with terms first.
func (eliminator *eliminator) isFarOverBudget(budget float64) bool {
	const minGrowth, manyTimes = 1.25, 8
	numUnknowns, initialTerms := float64(len(eliminator.rowColumns)), float64(eliminator.initialTerms)
	growth := float64(eliminator.remainingTerms) / initialTerms
	if growth < minGrowth {
		return false
	}
	exponent := math.Log(growth) / math.Log(numUnknowns/(numUnknowns-float64(len(eliminator.order))))
	// A dense matrix of this size has size*size = initialTerms * (numUnknowns/size)^exponent terms.
	size := math.Pow(initialTerms*math.Pow(numUnknowns, exponent), 1/(2+exponent))
	return size*size*size/6 > manyTimes*budget
}

// eliminateCheapest eliminates the unknown with the least Markowitz cost: it substitutes the equation of this unknown into every equation that contains it,
// and updates the costs of the other unknowns in these equations. It returns the number of operations.
func (eliminator *eliminator) eliminateCheapest() float64 {
	cheapest := eliminator.queue.first()
	isEliminated := func(target uint32) bool { return eliminator.eliminated[target] }
	row := slices.DeleteFunc(eliminator.rowColumns[cheapest], isEliminated)
	column := slices.DeleteFunc(eliminator.columnRows[cheapest], isEliminated)
	eliminator.appendToOrder(cheapest, row, column)
	work := workPerUpdate * (len(row) + len(column))
	for _, rowIndex := range column {
		work += eliminator.mergeRow(rowIndex, row)
	}
	work += eliminator.eliminateTwins(row, column)
	for _, rowIndex := range column {
		eliminator.updatePriority(rowIndex)
	}
	for _, target := range row {
		eliminator.updatePriority(target)
	}
	return float64(work)
}

func (eliminator *eliminator) updatePriority(unknown uint32) {
	if !eliminator.eliminated[unknown] {
		eliminator.queue.insert(unknown, eliminator.markowitzCost(unknown))
	}
}

// eliminateTwins eliminates the unknowns whose remaining terms are the same as those of the unknown that was eliminated last, because this creates no new
// terms. row and column are the terms of that unknown. work is the number of operations.
func (eliminator *eliminator) eliminateTwins(row, column []uint32) (work int) {
	eliminator.clearMarks()
	for _, target := range row { // a mark means that the column is in row
		eliminator.marks[target] = eliminator.currentMark
	}
	for _, twin := range column {
		isInRow := eliminator.marks[twin] == eliminator.currentMark
		hasSameCounts := int(eliminator.rowCount[twin]) == len(row)-1 && int(eliminator.columnCount[twin]) == len(column)-1
		if !isInRow || !hasSameCounts {
			continue
		}
		row, column = withoutElement(row, twin), withoutElement(column, twin)
		eliminator.appendToOrder(twin, row, column)
		for _, twinRow := range column {
			eliminator.rowCount[twinRow]--
		}
		work += 2 * (len(row) + len(column))
	}
	return work
}

// withoutElement returns a copy of a set, given as a slice, without one of its elements.
func withoutElement(set []uint32, removed uint32) []uint32 {
	remaining := make([]uint32, 0, len(set)-1)
	for _, element := range set {
		if element != removed {
			remaining = append(remaining, element)
		}
	}
	return remaining
}

// appendToOrder makes an unknown the next one in the order of elimination. row and column are its terms with unknowns that are not eliminated yet.
func (eliminator *eliminator) appendToOrder(unknown uint32, row, column []uint32) {
	eliminator.queue.remove(unknown)
	eliminator.eliminated[unknown] = true
	eliminator.order = append(eliminator.order, unknown)
	eliminator.rowColumns[unknown], eliminator.columnRows[unknown] = row, column
	delete(eliminator.rowSets, unknown)
	eliminator.storedTerms += len(row) + len(column)
	eliminator.remainingTerms -= len(row) + len(column)
	for _, target := range row {
		eliminator.columnCount[target]--
	}
}

// mergeRow substitutes the equation of an eliminated unknown, whose other terms are given, into another row: it adds the terms that this row does not have.
// It returns the number of operations.
func (eliminator *eliminator) mergeRow(rowIndex uint32, terms []uint32) (work int) {
	eliminator.rowCount[rowIndex]-- // the term of the eliminated unknown disappears
	// Searching a long list for a few terms is slow, so a long row also gets a set of its columns.
	isLong := len(eliminator.rowColumns[rowIndex]) > 16*len(terms)+64
	if eliminator.rowSets[rowIndex] == nil && isLong {
		eliminator.rowSets[rowIndex] = setOfColumns(eliminator.rowColumns[rowIndex])
	}
	if rowSet := eliminator.rowSets[rowIndex]; rowSet != nil {
		return eliminator.mergeIntoSet(rowIndex, rowSet, terms)
	}
	return eliminator.mergeIntoList(rowIndex, terms)
}

// setOfColumns returns the columns of a row as a set.
func setOfColumns(row []uint32) map[uint32]struct{} {
	set := make(map[uint32]struct{}, 2*len(row))
	for _, column := range row {
		set[column] = struct{}{}
	}
	return set
}

// mergeIntoSet adds terms to a row that also has a set of its columns, unless the row has them. It returns the number of operations.
func (eliminator *eliminator) mergeIntoSet(rowIndex uint32, rowSet map[uint32]struct{}, terms []uint32) (work int) {
	for _, target := range terms {
		if _, ok := rowSet[target]; !ok && target != rowIndex {
			rowSet[target] = struct{}{}
			eliminator.addTerm(rowIndex, target)
		}
	}
	return workPerTerm * len(terms)
}

// mergeIntoList adds terms to a row, unless the row has them, and removes the terms of eliminated unknowns. It returns the number of operations.
func (eliminator *eliminator) mergeIntoList(rowIndex uint32, terms []uint32) (work int) {
	row := eliminator.rowColumns[rowIndex]
	eliminator.clearMarks()
	eliminator.marks[rowIndex] = eliminator.currentMark
	remaining := row[:0]
	for _, target := range row { // mark the columns that the row keeps
		if !eliminator.eliminated[target] {
			eliminator.marks[target] = eliminator.currentMark
			remaining = append(remaining, target)
		}
	}
	eliminator.rowColumns[rowIndex] = remaining
	added := 0
	for _, target := range terms {
		if eliminator.marks[target] != eliminator.currentMark {
			eliminator.addTerm(rowIndex, target)
			added++
		}
	}
	return len(row) + 2*len(terms) + workPerTerm*added
}

// addTerm adds a nonzero term to the pattern of the matrix.
func (eliminator *eliminator) addTerm(row, column uint32) {
	eliminator.rowColumns[row] = append(eliminator.rowColumns[row], column)
	eliminator.columnRows[column] = append(eliminator.columnRows[column], row)
	eliminator.rowCount[row]++
	eliminator.columnCount[column]++
	eliminator.remainingTerms++
}

// eliminateDense appends all remaining unknowns to the order, as if all terms between them were nonzero. It is called when few terms between them are zero.
func (eliminator *eliminator) eliminateDense() {
	var remaining []uint32
	for unknown, eliminated := range eliminator.eliminated {
		if !eliminated {
			remaining = append(remaining, uint32(unknown))
		}
	}
	for i, unknown := range remaining {
		eliminator.rowColumns[unknown], eliminator.columnRows[unknown] = remaining[i+1:], remaining[i+1:]
		eliminator.storedTerms += 2 * (len(remaining) - i - 1)
	}
	eliminator.order = append(eliminator.order, remaining...)
}

// orderByPosition returns the elimination order, with the positions of the nonzero terms of both triangular factors. A position is an index in the order.
func (eliminator *eliminator) orderByPosition() *eliminationOrder {
	numUnknowns := len(eliminator.rowColumns)
	result := &eliminationOrder{order: eliminator.order, positionOf: make([]uint32, numUnknowns), upperStarts: make([]int, numUnknowns+1), lowerStarts: make([]int, numUnknowns+1)}
	for position, unknown := range result.order {
		result.positionOf[unknown] = uint32(position)
	}
	eliminator.setUpperPattern(result)
	eliminator.setLowerPattern(result)
	return result
}

// setUpperPattern sets the positions of the nonzero terms of the upper triangular factor, row by row.
func (eliminator *eliminator) setUpperPattern(result *eliminationOrder) {
	upperTerms := 0
	for _, row := range eliminator.rowColumns {
		upperTerms += len(row)
	}
	result.upperColumns = make([]uint32, 0, upperTerms)
	for position, unknown := range result.order {
		for _, target := range eliminator.rowColumns[unknown] {
			result.upperColumns = append(result.upperColumns, result.positionOf[target])
		}
		slices.Sort(result.upperColumns[result.upperStarts[position]:])
		result.upperStarts[position+1] = len(result.upperColumns)
	}
}

// setLowerPattern sets the positions of the nonzero terms of the lower triangular factor. The terms are known by column; a counting sort brings them into
// the order of rows.
func (eliminator *eliminator) setLowerPattern(result *eliminationOrder) {
	numUnknowns := len(result.order)
	for _, unknown := range result.order {
		for _, user := range eliminator.columnRows[unknown] {
			result.lowerStarts[result.positionOf[user]+1]++
		}
	}
	for position := range numUnknowns {
		result.lowerStarts[position+1] += result.lowerStarts[position]
	}
	result.lowerColumns = make([]uint32, result.lowerStarts[numUnknowns])
	nextFree := slices.Clone(result.lowerStarts)
	for earlier, unknown := range result.order {
		for _, user := range eliminator.columnRows[unknown] {
			row := result.positionOf[user]
			result.lowerColumns[nextFree[row]] = uint32(earlier)
			nextFree[row]++
		}
	}
}

// bucketQueue is a priority queue of the numbers from 0 to n-1. It has one bucket for each range of
// priorities, and returns some number of the lowest bucket.
type bucketQueue struct {
	heads        []uint32 // the first number of each bucket, plus one; 0 if it is empty
	next, prev   []uint32 // doubly linked lists: plus one; 0 is the end; prev of the first is unused
	buckets      []int32  // the bucket of each number; -1 if it is not in the queue
	lowestBucket int      // lower bound on the first bucket in use
}

func newBucketQueue(size int) bucketQueue {
	queue := bucketQueue{heads: make([]uint32, 512), next: make([]uint32, size), prev: make([]uint32, size), buckets: make([]int32, size)}
	for number := range queue.buckets {
		queue.buckets[number] = -1
	}
	return queue
}

// bucketOfPriority returns the number of the bucket for a priority. Priorities below 16 have a bucket of their own. Greater ones share a bucket if they have
// the same exponent and the same three bits after the highest one.
func bucketOfPriority(priority int) int32 {
	if priority < 16 {
		return int32(priority)
	}
	exponent := bits.Len(uint(priority)) - 1
	nextThreeBits := priority >> (exponent - 3) & 7
	return int32(16 + 8*(exponent-4) + nextThreeBits)
}

// insert puts a number into the bucket of its priority, and removes it from its former bucket.
func (queue *bucketQueue) insert(number uint32, priority int) {
	bucket := bucketOfPriority(priority)
	if queue.buckets[number] == bucket {
		return
	}
	queue.remove(number)
	if first := queue.heads[bucket]; first != 0 {
		queue.prev[first-1] = number + 1
	}
	queue.next[number] = queue.heads[bucket] // a link is the next number plus one, or 0 at the end of the list
	queue.prev[number] = 0
	queue.buckets[number] = bucket
	queue.heads[bucket] = number + 1
	queue.lowestBucket = min(queue.lowestBucket, int(bucket))
}

// remove removes a number from the doubly linked list of its bucket, if it is in the queue. A link is a number plus one, or 0 at an end of the list.
func (queue *bucketQueue) remove(number uint32) {
	bucket := queue.buckets[number]
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
		queue.heads[bucket] = next
	}
	queue.buckets[number] = -1
}

// first returns a number of the first bucket in use, without removing it. The queue must not be
// empty.
func (queue *bucketQueue) first() uint32 {
	for queue.heads[queue.lowestBucket] == 0 {
		queue.lowestBucket++
	}
	return queue.heads[queue.lowestBucket] - 1
}
