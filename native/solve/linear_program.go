package solve

import (
	"context"
	"errors"
	"math/big"
	"slices"
)

// LinearProgram maximizes Objective·x subject to Rows·x = Right and x >= 0, in rational arithmetic.
type LinearProgram struct {
	// Objective has one coefficient per variable; nil stands for 0.
	Objective []*big.Rat
	Rows      [][]Term
	Right     []*big.Rat
}

// Term is a coefficient of a variable. The terms of a row have different variables in increasing order.
type Term struct {
	Var   int
	Coeff *big.Rat
}

// The reasons why a linear program has no solution.
var (
	// ErrInfeasible says that no x satisfies the constraints.
	ErrInfeasible = errors.New("the equations have no solution")
	ErrUnbounded  = errors.New("the objective is unbounded") // ErrUnbounded says that the objective has no maximum.
)

// Variable adds a variable with objective coefficient 0, and returns its number.
func (program *LinearProgram) Variable() int {
	program.Objective = append(program.Objective, nil)
	return len(program.Objective) - 1
}

// Row adds an equation.
func (program *LinearProgram) Row(right *big.Rat, terms ...Term) {
	program.Rows = append(program.Rows, terms)
	program.Right = append(program.Right, right)
}

// Maximize returns the maximum of the objective and a solution that attains it. The error is ErrInfeasible, ErrUnbounded or
// the error of the context.
//
// Source: the two-phase simplex method with Bland's rule (1977).
func (program *LinearProgram) Maximize(ctx context.Context) (maximum *big.Rat, solution []*big.Rat, err error) {
	tableau := program.tableau()
	if err := tableau.findFeasibleBasis(ctx); err != nil {
		return nil, nil, err
	}
	tableau.setObjective(program.Objective)
	if err := tableau.run(ctx); err != nil {
		return nil, nil, err
	}
	solution = make([]*big.Rat, len(tableau.reducedCost))
	for j := range solution {
		solution[j] = new(big.Rat)
	}
	for i, j := range tableau.basis {
		solution[j] = tableau.right[i]
	}
	return tableau.value, solution, nil
}

// findFeasibleBasis is phase one of the simplex method: it makes the sum of the artificial variables 0, which gives a basic solution of the
// program. The error is ErrInfeasible if the minimum of this sum is not 0.
func (tab *tableau) findFeasibleBasis(ctx context.Context) error {
	// The objective is minus the sum of the artificial variables, which are the right sides minus the rows.
	for i, row := range tab.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, term := range row {
			tab.addReducedCost(term.Var, term.Coeff)
		}
		tab.value.Sub(tab.value, tab.right[i])
	}
	if err := tab.run(ctx); err != nil {
		return err
	}
	if tab.value.Sign() != 0 {
		return ErrInfeasible
	}
	return tab.removeArtificialVariables(ctx)
}

// setObjective replaces the objective and computes its reduced costs. A nil coefficient stands for 0.
func (tab *tableau) setObjective(objective []*big.Rat) {
	tab.value.SetInt64(0)
	for j, coefficient := range objective {
		tab.reducedCost[j].SetInt64(0)
		if coefficient != nil {
			tab.reducedCost[j].Set(coefficient)
		}
	}
	for i, j := range tab.basis {
		tab.eliminateReducedCost(i, new(big.Rat).Set(tab.reducedCost[j]))
	}
}

// tableau is a basic solution: variable basis[i] has value right[i], all others are 0. reducedCost is
// what a unit of each variable adds to value. A basis variable that is not one of the program's is
// artificial.
type tableau struct {
	rows        [][]Term
	right       []*big.Rat
	basis       []int
	reducedCost []*big.Rat
	value       *big.Rat
}

// tableau returns the initial simplex tableau. Each row has an artificial basis variable and a nonnegative right side.
func (program *LinearProgram) tableau() *tableau {
	result := &tableau{value: new(big.Rat), reducedCost: make([]*big.Rat, len(program.Objective))}
	for j := range result.reducedCost {
		result.reducedCost[j] = new(big.Rat)
	}
	for i, row := range program.Rows {
		terms, right := normalizedRow(row, program.Right[i])
		result.rows = append(result.rows, terms)
		result.right = append(result.right, right)
		result.basis = append(result.basis, len(program.Objective)+i)
	}
	return result
}

// normalizedRow returns an equation multiplied by 1 or -1, so that its right side is not negative.
func normalizedRow(row []Term, right *big.Rat) ([]Term, *big.Rat) {
	sign := big.NewRat(1, 1)
	if right.Sign() < 0 {
		sign.SetInt64(-1)
	}
	terms := make([]Term, len(row))
	for k, term := range row {
		terms[k] = Term{term.Var, new(big.Rat).Mul(sign, term.Coeff)}
	}
	return terms, new(big.Rat).Mul(sign, right)
}

// addReducedCost increases the reduced cost of a variable by an amount.
func (tab *tableau) addReducedCost(variable int, amount *big.Rat) {
	tab.reducedCost[variable].Add(tab.reducedCost[variable], amount)
}

// coeff returns the coefficient of a variable in a row, or nil if it is 0.
func (tab *tableau) coeff(row, variable int) *big.Rat {
	i, ok := slices.BinarySearchFunc(tab.rows[row], variable, func(term Term, variable int) int { return term.Var - variable })
	if !ok {
		return nil
	}
	return tab.rows[row][i].Coeff
}

// run performs simplex pivots until no variable has a positive reduced cost. The error is ErrUnbounded if the objective has no maximum.
func (tab *tableau) run(ctx context.Context) error {
	isDegenerate := false // the last pivot changed no value, so use Bland's rule, which excludes cycles
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		variable := tab.enteringVariable(isDegenerate)
		if variable < 0 {
			return nil
		}
		row := tab.leavingRow(variable)
		if row < 0 {
			return ErrUnbounded
		}
		isDegenerate = tab.right[row].Sign() == 0
		if err := tab.pivot(ctx, row, variable); err != nil {
			return err
		}
	}
}

// enteringVariable returns the variable that enters the basis: the one with the greatest positive reduced cost or, by Bland's rule, the
// first one with a positive reduced cost. It returns -1 if no reduced cost is positive.
func (tab *tableau) enteringVariable(useBlandsRule bool) int {
	best := -1
	for variable, cost := range tab.reducedCost {
		if cost.Sign() <= 0 {
			continue
		}
		if useBlandsRule {
			return variable
		}
		if best < 0 || cost.Cmp(tab.reducedCost[best]) > 0 {
			best = variable
		}
	}
	return best
}

// leavingRow returns the row whose basis variable leaves the basis when the given variable enters: among the rows with a positive
// coefficient of the variable, the one with the least ratio of right side and coefficient. It breaks ties by the smallest basis variable,
// and returns -1 if there is no such row.
func (tab *tableau) leavingRow(variable int) int {
	bestRow := -1
	var minRatio *big.Rat
	for i := range tab.rows {
		coeff := tab.coeff(i, variable)
		if coeff == nil || coeff.Sign() <= 0 {
			continue
		}
		ratio := new(big.Rat).Quo(tab.right[i], coeff)
		if bestRow < 0 {
			bestRow, minRatio = i, ratio
			continue
		}
		order := ratio.Cmp(minRatio)
		if order < 0 || order == 0 && tab.basis[i] < tab.basis[bestRow] {
			bestRow, minRatio = i, ratio
		}
	}
	return bestRow
}

// pivot makes a variable the basis variable of a row. It eliminates the variable from all other rows and from the objective.
func (tab *tableau) pivot(ctx context.Context, row, variable int) error {
	inverse := new(big.Rat).Inv(tab.coeff(row, variable))
	for k := range tab.rows[row] {
		tab.rows[row][k].Coeff.Mul(tab.rows[row][k].Coeff, inverse)
	}
	tab.right[row].Mul(tab.right[row], inverse)
	for other := range tab.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if coeff := tab.coeff(other, variable); other != row && coeff != nil {
			factor := new(big.Rat).Neg(coeff)
			tab.rows[other] = addMultiple(tab.rows[other], tab.rows[row], factor)
			tab.right[other].Add(tab.right[other], factor.Mul(factor, tab.right[row]))
		}
	}
	tab.eliminateReducedCost(row, new(big.Rat).Set(tab.reducedCost[variable]))
	tab.basis[row] = variable
	return nil
}

// eliminateReducedCost makes the reduced cost of the basis variable of a row zero. cost is its current value.
func (tab *tableau) eliminateReducedCost(row int, cost *big.Rat) {
	if cost.Sign() == 0 {
		return
	}
	var product big.Rat
	for _, term := range tab.rows[row] {
		tab.reducedCost[term.Var].Sub(tab.reducedCost[term.Var], product.Mul(cost, term.Coeff))
	}
	tab.value.Add(tab.value, product.Mul(cost, tab.right[row]))
}

// addMultiple returns row + factor*added, sorted by variable and without zero terms. The result may share terms with row.
func addMultiple(row, added []Term, factor *big.Rat) []Term {
	result := make([]Term, 0, len(row)+len(added))
	for len(row) > 0 || len(added) > 0 {
		switch {
		case len(added) == 0 || len(row) > 0 && row[0].Var < added[0].Var:
			result = append(result, row[0])
			row = row[1:]
		case len(row) == 0 || added[0].Var < row[0].Var:
			result = append(result, Term{added[0].Var, new(big.Rat).Mul(factor, added[0].Coeff)})
			added = added[1:]
		default:
			sum := new(big.Rat).Mul(factor, added[0].Coeff)
			sum.Add(sum, row[0].Coeff)
			if sum.Sign() != 0 {
				result = append(result, Term{row[0].Var, sum})
			}
			row, added = row[1:], added[1:]
		}
	}
	return result
}

// removeArtificialVariables replaces the artificial variables in the basis by variables of the program. If the row of an artificial
// variable has no terms, it deletes the row, because the other equations imply it. All artificial variables must have the value 0.
func (tab *tableau) removeArtificialVariables(ctx context.Context) error {
	for i := 0; i < len(tab.rows); {
		switch {
		case tab.basis[i] < len(tab.reducedCost):
			i++
		case len(tab.rows[i]) > 0:
			if err := tab.pivot(ctx, i, tab.rows[i][0].Var); err != nil {
				return err
			}
		default:
			tab.rows = slices.Delete(tab.rows, i, i+1)
			tab.right = slices.Delete(tab.right, i, i+1)
			tab.basis = slices.Delete(tab.basis, i, i+1)
		}
	}
	return nil
}
