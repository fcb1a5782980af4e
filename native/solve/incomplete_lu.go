package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// incompleteLU is an approximate LU factorization of the matrix D - R of a BSCC, where R has the weights of transitions
// between different members, and D the exit rates. It drops small entries, so it takes far less memory than the exact
// factors. The lower factor has a unit diagonal.
//
// D - R is an M-matrix: it is diagonally dominant, and no entry off the diagonal is positive. Every step keeps this property,
// whatever is dropped. Therefore the absolute values of a row of the upper factor sum to at most the exit rate, and at
// most 1/dropTolerance of them are kept. A row of the lower factor is limited to maxLowerEntries.
//
// Source: Saad, ILUT: a dual threshold incomplete LU factorization (1994).
type incompleteLU struct {
	lowerFactor, upperFactor triangularFactor
	pivots                   []float64 // diagonal of the upper factor
}

// An entry is dropped if it is smaller than dropTolerance times the exit rate of its row.
const (
	dropTolerance   = 0.02
	maxLowerEntries = 50 // of a row
)

// triangularFactor has the rows of a factor without its diagonal, with columns in ascending order.
type triangularFactor struct {
	rowStarts []int
	columns   []uint32
	values    []float64
}

func newTriangularFactor(rows int) triangularFactor {
	return triangularFactor{rowStarts: make([]int, 1, rows+1)}
}

func (factor *triangularFactor) addEntry(column uint32, value float64) {
	factor.columns, factor.values = append(factor.columns, column), append(factor.values, value)
}

func (factor *triangularFactor) endRow() {
	factor.rowStarts = append(factor.rowStarts, len(factor.columns))
}

// rowProduct returns the scalar product of a row and a vector.
func (factor *triangularFactor) rowProduct(rowIndex int, vector []float64) (sum float64) {
	first, end := factor.rowStarts[rowIndex], factor.rowStarts[rowIndex+1]
	columns := factor.columns[first:end]
	for position, value := range factor.values[first:end] {
		sum += value * vector[columns[position]]
	}
	return sum
}

// newIncompleteLU computes an incomplete LU factorization of the matrix D - R of the members. Its rows and columns have the order of the
// members.
func newIncompleteLU(graph *sparse.Graph, members []uint32, index *unknownIndex, meter *meter) (*incompleteLU, error) {
	numMembers := len(members)
	lu := &incompleteLU{lowerFactor: newTriangularFactor(numMembers), upperFactor: newTriangularFactor(numMembers), pivots: make([]float64, numMembers)}
	row := newEliminationRow(numMembers)
	for i, s := range members {
		exitRate := row.loadState(graph, s, index)
		work := lu.eliminate(row, i, dropTolerance*exitRate)
		lu.finishRow(row, i, exitRate)
		if err := meter.addWork(work); err != nil {
			return nil, err
		}
	}
	return lu, nil
}

// eliminate subtracts multiples of earlier rows from the row with number rowIndex, and adds the multipliers to the lower factor. It skips
// entries below minEntry, and stops after maxLowerEntries multipliers. work is the number of entries that it read.
func (lu *incompleteLU) eliminate(row *eliminationRow, rowIndex int, minEntry float64) (work int) {
	firstEntry := len(lu.lowerFactor.columns)
	for index := 0; ; index++ { // row.add may insert columns after the next one
		column := row.columns[index]
		isFull := len(lu.lowerFactor.columns)-firstEntry == maxLowerEntries
		if int(column) >= rowIndex || isFull {
			break
		}
		work++
		if math.Abs(row.values[column]) < minEntry {
			continue
		}
		factor := row.values[column] / lu.pivots[column]
		lu.lowerFactor.addEntry(column, factor)
		for entry := lu.upperFactor.rowStarts[column]; entry < lu.upperFactor.rowStarts[column+1]; entry++ {
			row.addValue(lu.upperFactor.columns[entry], -factor*lu.upperFactor.values[entry])
			work++
		}
	}
	lu.lowerFactor.endRow()
	return work
}

// finishRow stores the pivot of the row with number rowIndex, adds the large entries right of the diagonal to the upper factor, and clears
// the row. If the pivot is nearly zero, which is possible because the matrix is singular, the exit rate replaces it.
func (lu *incompleteLU) finishRow(row *eliminationRow, rowIndex int, exitRate float64) {
	const smallestPivot = 1e-10
	lu.pivots[rowIndex] = row.values[rowIndex]
	if !(lu.pivots[rowIndex] > smallestPivot*exitRate) {
		lu.pivots[rowIndex] = exitRate
	}
	for _, column := range row.columns {
		if int(column) > rowIndex && math.Abs(row.values[column]) >= dropTolerance*exitRate {
			lu.upperFactor.addEntry(column, row.values[column])
		}
	}
	lu.upperFactor.endRow()
	row.clearEntries()
}

// solve replaces x by the solution y of L U y = x.
func (lu *incompleteLU) solve(vector []float64) {
	for i := range vector {
		vector[i] -= lu.lowerFactor.rowProduct(i, vector)
	}
	for i := len(vector) - 1; i >= 0; i-- {
		vector[i] = (vector[i] - lu.upperFactor.rowProduct(i, vector)) / lu.pivots[i]
	}
}

// eliminationRow is a sparse row to which entries are added.
type eliminationRow struct {
	columns  []uint32  // of the entries, in ascending order
	values   []float64 // by column
	hasEntry []bool    // by column
}

func newEliminationRow(numMembers int) *eliminationRow {
	return &eliminationRow{values: make([]float64, numMembers), hasEntry: make([]bool, numMembers)}
}

// loadState fills an empty row with the row of state s in the matrix D - R: the negative weights of its transitions, and the exit rate on the
// diagonal. It returns the exit rate.
func (row *eliminationRow) loadState(graph *sparse.Graph, s uint32, index *unknownIndex) (exitRate float64) {
	first, end := graph.Transitions(int(s))
	for transition := first; transition < end; transition++ {
		if target := graph.Target[transition]; target != s {
			weight := graph.Prob(transition)
			row.addValue(index.unknowns[target], -weight)
			exitRate += weight
		}
	}
	row.addValue(index.unknowns[s], exitRate)
	return exitRate
}

// add adds a value to the entry of a column. The columns stay sorted.
func (row *eliminationRow) addValue(column uint32, value float64) {
	if !row.hasEntry[column] {
		position, _ := slices.BinarySearch(row.columns, column)
		row.columns = slices.Insert(row.columns, position, column)
		row.hasEntry[column] = true
	}
	row.values[column] += value
}

// clearEntries removes all entries.
func (row *eliminationRow) clearEntries() {
	for _, column := range row.columns {
		row.values[column], row.hasEntry[column] = 0, false
	}
	row.columns = row.columns[:0]
}
