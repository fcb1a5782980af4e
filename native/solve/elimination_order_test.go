package solve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func noMeter(t *testing.T) *meter { return newMeter(t.Context(), Options{}, 0) }

// randomTerms returns the rows of a random matrix, some columns twice.
func randomTerms(rng *rand.Rand, n int) [][]uint32 {
	rows := make([][]uint32, n)
	for k := range rows {
		for range rng.IntN(5) {
			if t := rng.IntN(n); t != k {
				rows[k] = append(rows[k], uint32(t))
			}
		}
		if k > 0 && rng.IntN(3) == 0 { // a hub
			rows[k] = append(rows[k], 0)
		}
	}
	return rows
}

// TestMarkowitzOrder compares with the elimination of a dense matrix in the same order: every term must
// have a position.
func TestMarkowitzOrder(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 1 + rng.IntN(60)
		rows := randomTerms(rng, n)
		f, err := markowitzOrder(noMeter(t), n, func(k int) []uint32 { return rows[k] }, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		dense := make([][]bool, n) // by place
		for p := range dense {
			dense[p] = make([]bool, n)
			if f.positionOf[f.order[p]] != uint32(p) {
				t.Fatalf("seed %d: place and order differ", seed)
			}
			for _, c := range rows[f.order[p]] {
				dense[p][f.positionOf[c]] = true
			}
		}
		for p := range n {
			for i := p + 1; i < n; i++ {
				for c := p + 1; c < n; c++ {
					dense[i][c] = dense[i][c] || dense[i][p] && dense[p][c]
				}
			}
		}
		for p := range n {
			up, low := f.upperColumns[f.upperStarts[p]:f.upperStarts[p+1]], f.lowerColumns[f.lowerStarts[p]:f.lowerStarts[p+1]]
			if !slices.IsSorted(up) || !slices.IsSorted(low) {
				t.Fatalf("seed %d: places %v, %v are not in order", seed, up, low)
			}
			for c, has := range dense[p] {
				in := low
				if c > p {
					in = up
				}
				if has && c != p && !slices.Contains(in, uint32(c)) {
					t.Fatalf("seed %d: no place for a term of row %d in column %d", seed, p, c)
				}
			}
		}
	}
}

// TestMarkowitzOrderSparse checks that there is no fill where none is necessary.
func TestMarkowitzOrderSparse(t *testing.T) {
	const n = 20_000
	tests := []struct {
		name string
		row  func(k int) []uint32
		most int // terms
	}{
		{"path", func(k int) []uint32 {
			return slices.DeleteFunc([]uint32{uint32(k - 1), uint32(k + 1)}, func(t uint32) bool { return t >= n })
		}, 2 * n},
		{"rounds", func(k int) []uint32 {
			return slices.DeleteFunc([]uint32{0, uint32(k + 1), uint32(k + 2 + k*k%97)}, func(t uint32) bool { return t >= n || t == uint32(k) })
		}, 4 * n},
		{"reset", func(k int) []uint32 { // a path from n-1 down to 0 that starts again from everywhere; the column of n-1 is full
			return slices.DeleteFunc([]uint32{uint32(k - 1), n - 1}, func(t uint32) bool { return t >= n || t == uint32(k) })
		}, 4 * n},
		{"star", func(k int) []uint32 {
			if k > 0 {
				return []uint32{0}
			}
			all := make([]uint32, 0, n)
			for t := range uint32(n - 1) {
				all = append(all, t+1)
			}
			return all
		}, 2 * n},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := markowitzOrder(noMeter(t), n, tt.row, 1000*n)
			if err != nil || f == nil {
				t.Fatal("given up", err)
			}
			if got := len(f.upperColumns) + len(f.lowerColumns); got > tt.most {
				t.Errorf("%d terms, want %d at most", got, tt.most)
			}
		})
	}
}

// TestMarkowitzOrderOfGrid checks that elimination is not given up if its budget is a quarter above its work. On a grid, the number of terms first grows and
// then falls.
func TestMarkowitzOrderOfGrid(t *testing.T) {
	const size = 200
	row := func(k int) (columns []uint32) {
		x, y := k%size, k/size
		for _, neighbour := range [][2]int{{x - 1, y}, {x + 1, y}, {x, y - 1}, {x, y + 1}} {
			if min(neighbour[0], neighbour[1]) >= 0 && max(neighbour[0], neighbour[1]) < size {
				columns = append(columns, uint32(neighbour[1]*size+neighbour[0]))
			}
		}
		return columns
	}
	meter := noMeter(t)
	order, err := markowitzOrder(meter, size*size, row, math.Inf(1))
	if err != nil || order == nil {
		t.Fatal("given up without a limit", err)
	}
	order, err = markowitzOrder(noMeter(t), size*size, row, 1.25*meter.totalWork())
	if err != nil || order == nil {
		t.Errorf("given up with a budget of %g operations, of which %g suffice (error %v)", 1.25*meter.totalWork(), meter.totalWork(), err)
	}
}

// TestMarkowitzOrderBudget checks that elimination is given up where the fill explodes, and before most of the budget is used.
func TestMarkowitzOrderBudget(t *testing.T) {
	const n = 5000
	rng := rand.New(rand.NewPCG(1, 4))
	rows := make([][]uint32, n)
	for k := range rows {
		for range 4 {
			if t := rng.IntN(n); t != k {
				rows[k] = append(rows[k], uint32(t))
			}
		}
	}
	tests := []struct {
		budget, mostWork float64
		suffices         bool
	}{
		{budget: 100 * n, mostWork: 100 * n},
		{budget: 3e7, mostWork: 3e7 / 2},
		{budget: 1e9, mostWork: 1e9, suffices: true},
	}
	for _, tt := range tests {
		meter := noMeter(t)
		order, err := markowitzOrder(meter, n, func(k int) []uint32 { return rows[k] }, tt.budget)
		if err != nil || (order != nil) != tt.suffices {
			t.Errorf("budget %g: found an order: %t (error %v), want %t", tt.budget, order != nil, err, tt.suffices)
		}
		if meter.totalWork() > tt.mostWork {
			t.Errorf("budget %g: %g operations, want %g at most", tt.budget, meter.totalWork(), tt.mostWork)
		}
	}
}
