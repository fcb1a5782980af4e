package solve

import (
	"math"
	"testing"

	"tilecheck/native/space/sparse"
)

// repairShop has up to size-1 broken machines of each of two kinds. Machines break rarely, and one repair man mends them
// one after the other, those of the first kind first. The reward is the number of broken
// machines.
func repairShop(t *testing.T, size int) (model *sparse.Model, reward *sparse.Reward) {
	t.Helper()
	b := sparse.NewBuilder(sparse.CTMC)
	reward = &sparse.Reward{State: make([]float64, size*size)}
	for s := range size * size {
		first, second := s/size, s%size
		b.State()
		if first+1 < size {
			b.Add(s+size, float64(size-1-first)/500)
		}
		if second+1 < size {
			b.Add(s+1, float64(size-1-second)/500)
		}
		switch {
		case first > 0:
			b.Add(s-size, 2)
		case second > 0:
			b.Add(s-1, 1.5)
		}
		reward.State[s] = float64(first + second)
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Initial = []uint32{0}
	return model, reward
}

// factorized returns the matrix D - R of a model's states, and its incomplete factors.
func factorized(t *testing.T, model *sparse.Model) (matrix [][]float64, lu *incompleteLU) {
	t.Helper()
	n := model.NumStates()
	var index unknownIndex
	index.allocate(n)
	members := make([]uint32, n)
	for s := range members {
		members[s], index.unknowns[s] = uint32(s), uint32(s)
	}
	lu, err := newIncompleteLU(sparse.NewGraph(model), members, &index, newMeter(t.Context(), Options{}, n))
	if err != nil {
		t.Fatal(err)
	}
	for s := range n {
		row := make([]float64, n)
		first, end := model.Transitions(s)
		for i := first; i < end; i++ {
			row[model.Target[i]] -= model.Prob(i)
			row[s] += model.Prob(i)
		}
		matrix = append(matrix, row)
	}
	return matrix, lu
}

// product returns entry i, j of P (I + L) (I + U).
func (lu *incompleteLU) product(i, j int) float64 {
	lower := make([]float64, len(lu.pivots))
	lower[i] = 1
	for _, entry := range lu.lowerFactor.row(i) {
		lower[entry.column] = float64(entry.value)
	}
	sum := lower[j]
	for k := range j {
		for _, entry := range lu.upperFactor.row(k) {
			if int(entry.column) == j {
				sum += lower[k] * float64(entry.value)
			}
		}
	}
	return sum * lu.pivots[i]
}

// TestIncompleteLUWithoutDropping: nothing is dropped of the tridiagonal matrix of a queue, so the product of the factors is the matrix. Only
// the last pivot, which would be zero, is another one.
func TestIncompleteLUWithoutDropping(t *testing.T) {
	const n = 30
	model, _, _ := queues(t, n, 6)
	matrix, lu := factorized(t, model)
	for i := range n {
		for j := range n {
			if i == n-1 && j == n-1 {
				continue
			}
			if got := lu.product(i, j); math.Abs(got-matrix[i][j]) > 1e-6 {
				t.Errorf("entry %d, %d of the product is %v, of the matrix %v", i, j, got, matrix[i][j])
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		for j := range n {
			x[i] += lu.product(i, j) * float64(j*j)
		}
	}
	lu.solve(x)
	for i, got := range x {
		if want := float64(i * i); math.Abs(got-want) > 1e-9*(1+want) {
			t.Errorf("solution %d is %v, want %v", i, got, want)
		}
	}
}

// TestIncompleteLURows: all pivots are positive, and no row is longer than its limit, also in a chain whose every state
// has a transition to the first one, where the exact factors have n^2/2 entries.
func TestIncompleteLURows(t *testing.T) {
	const n = 400
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range n {
		b.State()
		if s+1 < n {
			b.Add(s+1, 0.5)
			b.Add(0, 0.5)
		} else {
			b.Add(0, 1)
		}
	}
	resets, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	shop, _ := repairShop(t, 20)
	queue, _, _ := queues(t, 7, 4, 6, 9)
	for name, model := range map[string]*sparse.Model{"resets": resets, "repair shop": shop, "queues": queue} {
		_, lu := factorized(t, model)
		for i, pivot := range lu.pivots {
			lower, upper := len(lu.lowerFactor.row(i)), len(lu.upperFactor.row(i))
			if !(pivot > 0) || lower > maxLowerEntries || float64(upper) > 1/dropTolerance {
				t.Errorf("%s: row %d has pivot %v, and %d and %d entries", name, i, pivot, lower, upper)
			}
		}
	}
}

// TestIncompleteLUPivot: three states are left only by a transition with a tiny rate. The last of their pivots is this rate. The difference of
// the exit rate and the eliminated entries would have six digits of it.
func TestIncompleteLUPivot(t *testing.T) {
	const leavingRate = 2e-10
	b := sparse.NewBuilder(sparse.CTMC)
	for s := range 4 {
		b.State()
		for target := range 3 {
			if target != s {
				b.Add(target, 0.1+1/float64(3+s+2*target))
			}
		}
		if s == 2 {
			b.Add(3, leavingRate)
		}
	}
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	_, lu := factorized(t, model)
	if relErr := math.Abs(lu.pivots[2]/leavingRate - 1); relErr > 1e-12 {
		t.Errorf("the pivot is %v, want %v", lu.pivots[2], leavingRate)
	}
}

// TestGMRESStiff: rates differ by a factor of a thousand.
func TestGMRESStiff(t *testing.T) {
	model, reward := repairShop(t, 60)
	if bounds := gmresBounds(t, model, reward, 200); bounds.Hi-bounds.Lo > 1e-8*bounds.Hi {
		t.Errorf("bounds %v after 200 steps", bounds)
	}
}
