package solve

import (
	"context"
	"errors"
	"math/big"
	"slices"
)

// LinearProgram asks for the greatest Gain·x over all x >= 0 that satisfy the
// equations Rows·x = Right. All numbers are fractions.
type LinearProgram struct {
	// Gain has one entry per variable; nil entries are zero.
	Gain  []*big.Rat
	Rows  [][]Term
	Right []*big.Rat
}

// Term is a coefficient of a variable. The terms of a row are in the order of
// their variables, which are different.
type Term struct {
	Var   int
	Coeff *big.Rat
}

// ErrInfeasible says that nothing satisfies the equations, ErrUnbounded that
// the gain has no limit.
var (
	ErrInfeasible = errors.New("the equations have no solution")
	ErrUnbounded  = errors.New("the gain is unbounded")
)

// Variable adds a variable without gain, and returns its number.
func (p *LinearProgram) Variable() int {
	p.Gain = append(p.Gain, nil)
	return len(p.Gain) - 1
}

// Row adds an equation.
func (p *LinearProgram) Row(right *big.Rat, terms ...Term) {
	p.Rows, p.Right = append(p.Rows, terms), append(p.Right, right)
}

// Maximize returns the greatest gain, and a solution that has it. Its error is
// ErrInfeasible, ErrUnbounded or the context's.
//
// Source: the simplex method in two phases. It enters the variable of greatest
// gain; after a step without progress, Bland's rule (1977) until there is some,
// which cannot cycle.
func (p *LinearProgram) Maximize(ctx context.Context) (*big.Rat, []*big.Rat, error) {
	t := p.tableau()
	for i := range t.rows { // first phase: bring the artificial variables to zero
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for _, x := range t.rows[i] {
			t.raise(x.Var, x.Coeff)
		}
		t.value.Sub(t.value, t.right[i])
	}
	if err := t.run(ctx); err != nil {
		return nil, nil, err
	}
	if t.value.Sign() != 0 {
		return nil, nil, ErrInfeasible
	}
	if err := t.dropArtificial(ctx); err != nil {
		return nil, nil, err
	}
	t.value.SetInt64(0)
	for j := range t.gain {
		t.gain[j].SetInt64(0)
		if g := p.Gain[j]; g != nil {
			t.gain[j].Set(g)
		}
	}
	for i, j := range t.basis {
		t.price(i, new(big.Rat).Set(t.gain[j]))
	}
	if err := t.run(ctx); err != nil {
		return nil, nil, err
	}
	x := make([]*big.Rat, len(t.gain))
	for j := range x {
		x[j] = new(big.Rat)
	}
	for i, j := range t.basis {
		x[j] = t.right[i]
	}
	return t.value, x, nil
}

// tableau is a basic solution: variable basis[i] is right[i], all others are
// zero. gain is what a unit of each variable adds to value. A basis variable
// that is not one of the program's is artificial.
type tableau struct {
	rows  [][]Term
	right []*big.Rat
	basis []int
	gain  []*big.Rat
	value *big.Rat
}

func (p *LinearProgram) tableau() *tableau {
	t := &tableau{value: new(big.Rat), gain: make([]*big.Rat, len(p.Gain))}
	for j := range t.gain {
		t.gain[j] = new(big.Rat)
	}
	for i, row := range p.Rows {
		own := make([]Term, len(row))
		for k, x := range row {
			own[k] = Term{x.Var, new(big.Rat).Set(x.Coeff)}
		}
		b := new(big.Rat).Set(p.Right[i])
		if b.Sign() < 0 {
			b.Neg(b)
			for k := range own {
				own[k].Coeff.Neg(own[k].Coeff)
			}
		}
		t.rows, t.right, t.basis = append(t.rows, own), append(t.right, b), append(t.basis, len(p.Gain)+i)
	}
	return t
}

func (t *tableau) raise(j int, by *big.Rat) { t.gain[j].Add(t.gain[j], by) }

// coeff returns the coefficient of a variable in a row, nil if it is zero.
func (t *tableau) coeff(i, j int) *big.Rat {
	k, ok := slices.BinarySearchFunc(t.rows[i], j, func(x Term, j int) int { return x.Var - j })
	if !ok {
		return nil
	}
	return t.rows[i][k].Coeff
}

// run moves from solution to better solution until there is none.
func (t *tableau) run(ctx context.Context) error {
	stalled := false
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		j := t.entering(stalled)
		if j < 0 {
			return nil
		}
		i := t.leaving(j)
		if i < 0 {
			return ErrUnbounded
		}
		stalled = t.right[i].Sign() == 0
		if err := t.pivot(ctx, i, j); err != nil {
			return err
		}
	}
}

// entering returns a variable that adds to the value: the one that adds most,
// or the first; -1 if there is none.
func (t *tableau) entering(first bool) int {
	best := -1
	for j, g := range t.gain {
		if g.Sign() <= 0 || best >= 0 && g.Cmp(t.gain[best]) <= 0 {
			continue
		}
		if best = j; first {
			break
		}
	}
	return best
}

// leaving returns the row whose variable is the first to reach zero if variable
// j grows, the least variable if there are several; -1 if there is none.
func (t *tableau) leaving(j int) int {
	best := -1
	var least *big.Rat
	for i := range t.rows {
		a := t.coeff(i, j)
		if a == nil || a.Sign() <= 0 {
			continue
		}
		ratio := new(big.Rat).Quo(t.right[i], a)
		if best >= 0 {
			if c := ratio.Cmp(least); c > 0 || c == 0 && t.basis[i] > t.basis[best] {
				continue
			}
		}
		best, least = i, ratio
	}
	return best
}

// pivot makes variable j the one of row i. Fractions may be so large that one
// pivot takes seconds.
func (t *tableau) pivot(ctx context.Context, i, j int) error {
	inverse := new(big.Rat).Inv(t.coeff(i, j))
	for k := range t.rows[i] {
		t.rows[i][k].Coeff.Mul(t.rows[i][k].Coeff, inverse)
	}
	t.right[i].Mul(t.right[i], inverse)
	for r := range t.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if a := t.coeff(r, j); r != i && a != nil {
			factor := new(big.Rat).Neg(a)
			t.rows[r] = addMultiple(t.rows[r], t.rows[i], factor)
			t.right[r].Add(t.right[r], factor.Mul(factor, t.right[i]))
		}
	}
	t.price(i, new(big.Rat).Set(t.gain[j]))
	t.basis[i] = j
	return nil
}

// price removes the gain g of a variable of the basis: the variables of its row
// gain less, and the value has it.
func (t *tableau) price(i int, g *big.Rat) {
	if g.Sign() == 0 {
		return
	}
	var x big.Rat
	for _, term := range t.rows[i] {
		t.gain[term.Var].Sub(t.gain[term.Var], x.Mul(g, term.Coeff))
	}
	t.value.Add(t.value, x.Mul(g, t.right[i]))
}

// addMultiple returns row + factor*other, without zeros. It may change row.
func addMultiple(row, other []Term, factor *big.Rat) []Term {
	out := make([]Term, 0, len(row)+len(other))
	for len(row) > 0 || len(other) > 0 {
		switch {
		case len(other) == 0 || len(row) > 0 && row[0].Var < other[0].Var:
			out, row = append(out, row[0]), row[1:]
		case len(row) == 0 || other[0].Var < row[0].Var:
			out = append(out, Term{other[0].Var, new(big.Rat).Mul(factor, other[0].Coeff)})
			other = other[1:]
		default:
			sum := new(big.Rat).Mul(factor, other[0].Coeff)
			if sum.Add(sum, row[0].Coeff); sum.Sign() != 0 {
				out = append(out, Term{row[0].Var, sum})
			}
			row, other = row[1:], other[1:]
		}
	}
	return out
}

// dropArtificial replaces artificial variables, which are zero, by others, and
// drops equations that say nothing.
func (t *tableau) dropArtificial(ctx context.Context) error {
	for i := 0; i < len(t.rows); {
		switch {
		case t.basis[i] < len(t.gain):
			i++
		case len(t.rows[i]) > 0:
			if err := t.pivot(ctx, i, t.rows[i][0].Var); err != nil {
				return err
			}
		default:
			t.rows = slices.Delete(t.rows, i, i+1)
			t.right = slices.Delete(t.right, i, i+1)
			t.basis = slices.Delete(t.basis, i, i+1)
		}
	}
	return nil
}
