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
	lower, upper triangularFactor
	pivot        []float64 // diagonal of the upper factor
}

// An entry is dropped if it is smaller than dropTolerance times the exit rate of its row.
const (
	dropTolerance   = 0.02
	maxLowerEntries = 50 // of a row
)

// triangularFactor has the rows of a factor without its diagonal, with columns in ascending order.
type triangularFactor struct {
	start  []int
	column []uint32
	value  []float64
}

func newTriangularFactor(rows int) triangularFactor {
	return triangularFactor{start: make([]int, 1, rows+1)}
}

func (factor *triangularFactor) add(column uint32, value float64) {
	factor.column, factor.value = append(factor.column, column), append(factor.value, value)
}

func (factor *triangularFactor) endRow() { factor.start = append(factor.start, len(factor.column)) }

// rowProduct returns the scalar product of a row and a vector.
func (factor *triangularFactor) rowProduct(rowIndex int, vector []float64) (sum float64) {
	first, end := factor.start[rowIndex], factor.start[rowIndex+1]
	columns := factor.column[first:end]
	for k, value := range factor.value[first:end] {
		sum += value * vector[columns[k]]
	}
	return sum
}

// newIncompleteLU computes an incomplete LU factorization of the matrix D - R of the members. Its rows and columns have the order of the
// members.
func newIncompleteLU(graph *sparse.Graph, members []uint32, index *unknownIndex, meter *meter) (*incompleteLU, error) {
	n := len(members)
	lu := &incompleteLU{lower: newTriangularFactor(n), upper: newTriangularFactor(n), pivot: make([]float64, n)}
	row := newEliminationRow(n)
	for i, s := range members {
		exitRate := row.load(graph, s, index)
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
	firstEntry := len(lu.lower.column)
	for next := 0; ; next++ { // row.add may insert columns after the next one
		column := row.columns[next]
		isFull := len(lu.lower.column)-firstEntry == maxLowerEntries
		if int(column) >= rowIndex || isFull {
			break
		}
		work++
		if math.Abs(row.value[column]) < minEntry {
			continue
		}
		factor := row.value[column] / lu.pivot[column]
		lu.lower.add(column, factor)
		for entry := lu.upper.start[column]; entry < lu.upper.start[column+1]; entry++ {
			row.add(lu.upper.column[entry], -factor*lu.upper.value[entry])
			work++
		}
	}
	lu.lower.endRow()
	return work
}

// finishRow stores the pivot of the row with number rowIndex, adds the large entries right of the diagonal to the upper factor, and clears
// the row. If the pivot is nearly zero, which is possible because the matrix is singular, the exit rate replaces it.
func (lu *incompleteLU) finishRow(row *eliminationRow, rowIndex int, exitRate float64) {
	const smallestPivot = 1e-10
	lu.pivot[rowIndex] = row.value[rowIndex]
	if !(lu.pivot[rowIndex] > smallestPivot*exitRate) {
		lu.pivot[rowIndex] = exitRate
	}
	for _, column := range row.columns {
		if int(column) > rowIndex && math.Abs(row.value[column]) >= dropTolerance*exitRate {
			lu.upper.add(column, row.value[column])
		}
	}
	lu.upper.endRow()
	row.clear()
}

// solve replaces x by the solution y of L U y = x.
func (lu *incompleteLU) solve(x []float64) {
	for i := range x {
		x[i] -= lu.lower.rowProduct(i, x)
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] = (x[i] - lu.upper.rowProduct(i, x)) / lu.pivot[i]
	}
}

// eliminationRow is a sparse row to which entries are added.
type eliminationRow struct {
	columns []uint32  // of the entries, in ascending order
	value   []float64 // by column
	present []bool    // by column
}

func newEliminationRow(n int) *eliminationRow {
	return &eliminationRow{value: make([]float64, n), present: make([]bool, n)}
}

// load fills an empty row with the row of state s in the matrix D - R: the negative weights of its transitions, and the exit rate on the
// diagonal. It returns the exit rate.
func (row *eliminationRow) load(graph *sparse.Graph, s uint32, index *unknownIndex) (exitRate float64) {
	first, end := graph.Row(int(s))
	for transition := first; transition < end; transition++ {
		if target := graph.Target[transition]; target != s {
			weight := graph.Prob(transition)
			row.add(index.unknowns[target], -weight)
			exitRate += weight
		}
	}
	row.add(index.unknowns[s], exitRate)
	return exitRate
}

// add adds a value to the entry of a column. The columns stay sorted.
func (row *eliminationRow) add(column uint32, value float64) {
	if !row.present[column] {
		position, _ := slices.BinarySearch(row.columns, column)
		row.columns = slices.Insert(row.columns, position, column)
		row.present[column] = true
	}
	row.value[column] += value
}

// clear removes all entries.
func (row *eliminationRow) clear() {
	for _, column := range row.columns {
		row.value[column], row.present[column] = 0, false
	}
	row.columns = row.columns[:0]
}
