package solve

import (
	"slices"

	"tilecheck/native/space/sparse"
)

// incompleteLU is an approximate factorization P (I + L) (I + U) of the matrix D - R of a BSCC. R has the weights of transitions
// between different members, and D the exit rates. P is diagonal, L strictly lower triangular, and U strictly upper triangular.
// Small entries are dropped, so it takes far less memory than the exact factors.
//
// D - R is an M-matrix: it is diagonally dominant, and no entry off the diagonal is positive. Every step keeps this property,
// whatever is dropped. Therefore the absolute values of a row of U sum to at most 1, and at most 1/dropTolerance of them are kept. A
// row of L is limited to maxLowerEntries.
//
// A pivot is the sum of its row plus the absolute values of the other entries. This is computed without subtractions, so the factors may
// have few digits (float32), even if rates differ by many orders of magnitude.
//
// Source: Saad, ILUT: a dual threshold incomplete LU factorization (1994). Pivots: Grassmann, Taksar and Heyman, Regenerative
// analysis and steady state distributions for Markov chains (1985).
type incompleteLU struct {
	lowerFactor, upperFactor triangularFactor // L and U
	pivots                   []float64        // the diagonal of P
	rowSums                  []float32        // of I + U; nil after the factorization
}

// An entry is dropped if it is smaller than dropTolerance times the exit rate of its row.
const (
	dropTolerance   = 0.02
	maxLowerEntries = 50 // of a row
)

// triangularFactor has the rows of a strictly triangular matrix. They are on pages, which are not copied while the factor grows.
type triangularFactor struct {
	pages [][]factorEntry
	rows  []factorRow
}

// factorEntry is an entry of a row. The columns of a row are in ascending order.
type factorEntry struct {
	column uint32
	value  float32
}

// factorRow is the place of a row: entries start to end of a page.
type factorRow struct {
	page       uint32
	start, end uint16
}

// factorPageLength is the number of entries of a page. Rows are shorter.
const factorPageLength = 1 << 14

func newTriangularFactor(numRows int) triangularFactor {
	return triangularFactor{rows: make([]factorRow, 0, numRows)}
}

// addRow appends a row with the given entries to a triangular factor.
func (factor *triangularFactor) addRow(entries []factorEntry) {
	if len(factor.pages) == 0 || len(last(factor.pages))+len(entries) > factorPageLength {
		factor.pages = append(factor.pages, make([]factorEntry, 0, factorPageLength))
	}
	page := len(factor.pages) - 1
	start := len(factor.pages[page])
	factor.pages[page] = append(factor.pages[page], entries...)
	factor.rows = append(factor.rows, factorRow{uint32(page), uint16(start), uint16(start + len(entries))})
}

// row returns the entries of a row.
func (factor *triangularFactor) row(rowIndex int) []factorEntry {
	row := factor.rows[rowIndex]
	return factor.pages[row.page][row.start:row.end]
}

// rowProduct returns the scalar product of a row and a vector.
func (factor *triangularFactor) rowProduct(rowIndex int, vector []float64) (sum float64) {
	for _, entry := range factor.row(rowIndex) {
		sum += float64(entry.value) * vector[entry.column]
	}
	return sum
}

// newIncompleteLU computes an incomplete LU factorization of the matrix D - R of the members. Its rows and columns have the order of the
// members.
func newIncompleteLU(graph *sparse.Graph, members []uint32, index *unknownIndex, meter *meter) (*incompleteLU, error) {
	numMembers := len(members)
	lu := &incompleteLU{
		lowerFactor: newTriangularFactor(numMembers), upperFactor: newTriangularFactor(numMembers),
		pivots: make([]float64, numMembers), rowSums: make([]float32, numMembers),
	}
	row := &eliminationRow{weights: make([]float64, numMembers)}
	for i, s := range members {
		exitRate := row.loadState(graph, s, index)
		work := lu.eliminate(row, i, dropTolerance*exitRate)
		lu.finishRow(row, i, exitRate)
		if err := meter.addWork(work); err != nil {
			return nil, err
		}
	}
	lu.rowSums = nil
	return lu, nil
}

// eliminate subtracts multiples of earlier rows from the row with number rowIndex, until it has no entries left of the diagonal. It lists the columns of
// these entries in row.eliminated. It drops entries with a weight below minWeight, and all entries after the first maxLowerEntries. work is the number of
// entries that it read.
func (lu *incompleteLU) eliminate(row *eliminationRow, rowIndex int, minWeight float64) (work int) {
	for index := 0; index < len(row.columns); index++ { // addWeight may insert columns after this index
		column := row.columns[index]
		if int(column) >= rowIndex {
			break
		}
		work++
		weight := row.weights[column]
		if weight < minWeight || len(row.eliminated) == maxLowerEntries {
			row.sum += weight // dropping the entry keeps the row sum, which the pivot uses
			continue
		}
		row.eliminated = append(row.eliminated, column)
		row.sum += weight * float64(lu.rowSums[column])
		for _, entry := range lu.upperFactor.row(int(column)) {
			row.addWeight(entry.column, -weight*float64(entry.value))
			work++
		}
	}
	return work
}

// finishRow stores the pivot of the row with number rowIndex and its rows of both factors, without small entries right of the diagonal. Then it clears the
// row. The matrix is singular, so the pivot can be nearly zero; then the exit rate replaces it.
func (lu *incompleteLU) finishRow(row *eliminationRow, rowIndex int, exitRate float64) {
	const smallestPivot = 1e-10
	diagonal, _ := slices.BinarySearch(row.columns, uint32(rowIndex))
	pivot := row.sum
	for _, column := range row.columns[diagonal:] {
		if int(column) > rowIndex {
			pivot += row.weights[column]
		}
	}
	if !(pivot > smallestPivot*exitRate) {
		row.sum += exitRate - pivot
		pivot = exitRate
	}
	if exitRate == 0 { // the equation of an absorbing state has the gain only
		pivot = 1
	}
	lower := row.entries[:0]
	for _, column := range row.eliminated {
		lower = append(lower, factorEntry{column, float32(-row.weights[column] / pivot)})
	}
	lu.lowerFactor.addRow(lower)
	upper := lower[:0]
	for _, column := range row.columns[diagonal:] {
		weight := row.weights[column]
		switch {
		case int(column) == rowIndex:
		case weight >= dropTolerance*exitRate:
			upper = append(upper, factorEntry{column, float32(-weight / pivot)})
		default:
			row.sum += weight // dropping the entry keeps the row sum, which the pivot uses
		}
	}
	lu.upperFactor.addRow(upper)
	lu.pivots[rowIndex], lu.rowSums[rowIndex] = pivot, float32(row.sum/pivot)
	row.entries = upper
	row.clearEntries()
}

// solve replaces vector by the solution y of P (I + L) (I + U) y = vector, where P is the diagonal matrix of the pivots, and L and U are the triangular
// factors.
func (lu *incompleteLU) solve(vector []float64) {
	for i := range vector {
		vector[i] = vector[i]/lu.pivots[i] - lu.lowerFactor.rowProduct(i, vector)
	}
	for i := len(vector) - 1; i >= 0; i-- {
		vector[i] -= lu.upperFactor.rowProduct(i, vector)
	}
}

// eliminationRow is a row of the matrix during its elimination. Entries off the diagonal are stored as weights, their absolute
// values. The entry on the diagonal follows from them and the sum of the row.
type eliminationRow struct {
	columns    []uint32  // of the entries, in ascending order
	weights    []float64 // by column; 0 if there is no entry
	sum        float64
	eliminated []uint32
	entries    []factorEntry // reused memory
}

// loadState fills an empty row with the row of state s in the matrix D - R: D has the exit rates on its diagonal, and R has the weights between different
// states. It returns the exit rate of s.
func (row *eliminationRow) loadState(graph *sparse.Graph, s uint32, index *unknownIndex) (exitRate float64) {
	first, end := graph.Transitions(int(s))
	for transition := first; transition < end; transition++ {
		if target := graph.Target[transition]; target != s {
			weight := graph.Prob(transition)
			row.addWeight(index.unknowns[target], weight)
			exitRate += weight
		}
	}
	return exitRate
}

// addWeight adds a weight to the entry of a column. The columns stay sorted.
func (row *eliminationRow) addWeight(column uint32, weight float64) {
	if weight == 0 { // a product has underflowed
		return
	}
	if row.weights[column] == 0 {
		position, _ := slices.BinarySearch(row.columns, column)
		row.columns = slices.Insert(row.columns, position, column)
	}
	row.weights[column] += weight
}

// clearEntries removes all entries.
func (row *eliminationRow) clearEntries() {
	for _, column := range row.columns {
		row.weights[column] = 0
	}
	row.columns, row.eliminated, row.sum = row.columns[:0], row.eliminated[:0], 0
}
