package solve_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tilecheck/native/solve"
)

// dense returns a linear program: rows of coefficients with the right-hand side at the end.
func dense(gain []int64, rows ...[]int64) *solve.LinearProgram {
	p := &solve.LinearProgram{}
	for _, g := range gain {
		p.Objective = append(p.Objective, big.NewRat(g, 1))
	}
	for _, row := range rows {
		var terms []solve.Term
		for j, a := range row[:len(gain)] {
			if a != 0 {
				terms = append(terms, solve.Term{Variable: j, Coefficient: big.NewRat(a, 1)})
			}
		}
		p.Rows, p.RightSides = append(p.Rows, terms), append(p.RightSides, big.NewRat(row[len(gain)], 1))
	}
	return p
}

func TestLinearProgram(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    *solve.LinearProgram
		want string
		err  error
	}{
		{"no equations", dense([]int64{-1, 0}), "0", nil},
		{"textbook", dense([]int64{3, 5, 0, 0, 0}, []int64{1, 0, 1, 0, 0, 4}, []int64{0, 2, 0, 1, 0, 12}, []int64{3, 2, 0, 0, 1, 18}), "36", nil},
		{"negative right side", dense([]int64{-1, 0}, []int64{-1, 1, -3}), "-3", nil},
		{"said twice", dense([]int64{1, 1}, []int64{1, 1, 2}, []int64{2, 2, 4}), "2", nil},
		{"contradiction", dense([]int64{1, 1}, []int64{1, 1, 2}, []int64{1, 1, 3}), "", solve.ErrInfeasible},
		{"below zero", dense([]int64{1}, []int64{1, -1}), "", solve.ErrInfeasible},
		{"unbounded", dense([]int64{1, 0}, []int64{1, -1, 2}), "", solve.ErrUnbounded},
		// Beale's example: the rule of greatest gain alone goes round in circles.
		{
			"cycle", dense([]int64{75, -15000, 2, -600, 0, 0, 0},
				[]int64{25, -6000, -4, 900, 100, 0, 0, 0}, []int64{50, -9000, -2, 300, 0, 100, 0, 0}, []int64{0, 0, 1, 0, 0, 0, 1, 1}),
			"5", nil,
		},
	} {
		got, _, err := tt.p.Maximize(t.Context())
		if !errors.Is(err, tt.err) || err == nil && got.RatString() != tt.want {
			t.Errorf("%s: %v, %v, want %s, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
}

func TestLinearProgramInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := dense([]int64{1}, []int64{1, 1}).Maximize(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestLinearProgramRandom compares with the best of all basic solutions. The last row bounds all
// variables, so that there is a maximum.
func TestLinearProgramRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	feasible := 0
	for range 400 {
		n, rows := 5, 3
		gain := make([]int64, n)
		for j := range gain {
			gain[j] = rng.Int64N(9) - 4
		}
		var table [][]int64
		for range rows - 1 {
			row := make([]int64, n+1)
			for j := range row {
				row[j] = rng.Int64N(7) - 3
			}
			row[n-1] = 0
			table = append(table, row)
		}
		table = append(table, []int64{1, 1, 1, 1, 1, 10})
		gain[n-1] = 0
		want := bestBasis(gain, table)
		got, x, err := dense(gain, table...).Maximize(t.Context())
		switch {
		case want == nil && !errors.Is(err, solve.ErrInfeasible):
			t.Fatalf("%v %v: got %v, %v, want no solution", gain, table, got, err)
		case want != nil && (err != nil || got.Cmp(want) != 0):
			t.Fatalf("%v %v: got %v, %v, want %v", gain, table, got, err, want)
		case want != nil:
			feasible++
			checkSolution(t, gain, table, x, want)
		}
	}
	if feasible < 50 {
		t.Errorf("only %d programs had a solution", feasible)
	}
}

// checkSolution checks that a solution satisfies the equations and attains the objective.
func checkSolution(t *testing.T, gain []int64, table [][]int64, x []*big.Rat, want *big.Rat) {
	t.Helper()
	dot := func(row []int64) *big.Rat {
		sum := new(big.Rat)
		for j, v := range x {
			sum.Add(sum, new(big.Rat).Mul(big.NewRat(row[j], 1), v))
		}
		return sum
	}
	for _, row := range table {
		if dot(row).Cmp(big.NewRat(row[len(x)], 1)) != 0 {
			t.Fatalf("%v %v: the solution %v does not satisfy %v", gain, table, x, row)
		}
	}
	if dot(gain).Cmp(want) != 0 || slices.ContainsFunc(x, func(v *big.Rat) bool { return v.Sign() < 0 }) {
		t.Fatalf("%v %v: the solution %v gains %v, want %v", gain, table, x, dot(gain), want)
	}
}

// bestBasis tries all sets of three variables.
func bestBasis(gain []int64, table [][]int64) *big.Rat {
	var best *big.Rat
	n := len(gain)
	for a := range n {
		for b := a + 1; b < n; b++ {
			for c := b + 1; c < n; c++ {
				x := cramer(table, []int{a, b, c})
				if x == nil || slices.ContainsFunc(x, func(r *big.Rat) bool { return r.Sign() < 0 }) {
					continue
				}
				sum := new(big.Rat)
				for i, j := range []int{a, b, c} {
					sum.Add(sum, new(big.Rat).Mul(big.NewRat(gain[j], 1), x[i]))
				}
				if best == nil || sum.Cmp(best) > 0 {
					best = sum
				}
			}
		}
	}
	return best
}

// cramer solves three equations for three variables; nil if they are dependent.
func cramer(table [][]int64, vars []int) []*big.Rat {
	n := len(table[0]) - 1
	det := func(cols [3]int) int64 {
		at := func(i, k int) int64 { return table[i][cols[k]] }
		return at(0, 0)*(at(1, 1)*at(2, 2)-at(1, 2)*at(2, 1)) - at(0, 1)*(at(1, 0)*at(2, 2)-at(1, 2)*at(2, 0)) + at(0, 2)*(at(1, 0)*at(2, 1)-at(1, 1)*at(2, 0))
	}
	all := [3]int{vars[0], vars[1], vars[2]}
	d := det(all)
	if d == 0 {
		return nil
	}
	var out []*big.Rat
	for k := range 3 {
		cols := all
		cols[k] = n
		out = append(out, big.NewRat(det(cols), d))
	}
	return out
}

// TestLinearProgramLarge checks that Maximize ends soon after its context, however long the fractions
// have become.
func TestLinearProgramLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	big64 := func() *big.Rat { return big.NewRat(rng.Int64(), 1+rng.Int64()) }
	p := &solve.LinearProgram{}
	for range 300 {
		p.Objective = append(p.Objective, big64())
	}
	for range 150 {
		var row []solve.Term
		for j := range p.Objective {
			row = append(row, solve.Term{Variable: j, Coefficient: big64()})
		}
		p.Rows, p.RightSides = append(p.Rows, row), append(p.RightSides, big64())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, _, err := p.Maximize(ctx)
	if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}
