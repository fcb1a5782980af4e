package solve

import (
	"context"
	"errors"
	"math/big"
	"slices"
)

// LinearProgram maximizes Objective·x subject to Rows·x = RightSides and x >= 0, in rational arithmetic.
type LinearProgram struct {
	// Objective has one coefficient per variable; nil stands for 0.
	Objective  []*big.Rat
	Rows       [][]Term
	RightSides []*big.Rat
}

// Term is a coefficient of a variable. The terms of a row have different variables in increasing order.
type Term struct {
	Variable    int
	Coefficient *big.Rat
}

// The reasons why a linear program has no solution.
var (
	// ErrInfeasible says that no x satisfies the constraints.
	ErrInfeasible = errors.New("the equations have no solution")
	ErrUnbounded  = errors.New("the objective is unbounded") // ErrUnbounded says that the objective has no maximum.
)

// AddVariable adds a variable with objective coefficient 0, and returns its number.
func (program *LinearProgram) AddVariable() int {
	program.Objective = append(program.Objective, nil)
	return len(program.Objective) - 1
}

// AddRow adds an equation.
func (program *LinearProgram) AddRow(right *big.Rat, terms ...Term) {
	program.Rows = append(program.Rows, terms)
	program.RightSides = append(program.RightSides, right)
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
	if err := tableau.pivotUntilOptimal(ctx); err != nil {
		return nil, nil, err
	}
	solution = make([]*big.Rat, len(tableau.reducedCosts))
	for variable := range solution {
		solution[variable] = new(big.Rat)
	}
	for row, variable := range tableau.basisVariables {
		solution[variable] = tableau.rightSides[row]
	}
	return tableau.value, solution, nil
}

// findFeasibleBasis is phase one of the simplex method: it minimizes the sum of the artificial variables. If the minimum is 0, this gives a basic solution
// of the program. Otherwise the error is ErrInfeasible.
func (tableau *tableau) findFeasibleBasis(ctx context.Context) error {
	// The objective is minus the sum of the artificial variables. Each of these is the right side of a row minus the other terms of the row.
	for i, row := range tableau.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, term := range row {
			tableau.addReducedCost(term.Variable, term.Coefficient)
		}
		tableau.value.Sub(tableau.value, tableau.rightSides[i])
	}
	if err := tableau.pivotUntilOptimal(ctx); err != nil {
		return err
	}
	if tableau.value.Sign() != 0 {
		return ErrInfeasible
	}
	return tableau.removeArtificialVariables(ctx)
}

// setObjective replaces the objective and computes its reduced costs. A nil coefficient stands for 0.
func (tableau *tableau) setObjective(objective []*big.Rat) {
	tableau.value.SetInt64(0)
	for variable, coefficient := range objective {
		tableau.reducedCosts[variable].SetInt64(0)
		if coefficient != nil {
			tableau.reducedCosts[variable].Set(coefficient)
		}
	}
	for row, variable := range tableau.basisVariables {
		tableau.eliminateReducedCost(row, new(big.Rat).Set(tableau.reducedCosts[variable]))
	}
}

// tableau is a basic solution: variable basisVariables[i] has value rightSides[i], all others are 0. reducedCosts is
// what a unit of each variable adds to value. A basis variable that is not one of the program's is
// artificial.
type tableau struct {
	rows           [][]Term
	rightSides     []*big.Rat
	basisVariables []int
	reducedCosts   []*big.Rat
	value          *big.Rat
}

// tableau returns the initial simplex tableau. Each row has an artificial basis variable and a nonnegative right side.
func (program *LinearProgram) tableau() *tableau {
	result := &tableau{value: new(big.Rat), reducedCosts: make([]*big.Rat, len(program.Objective))}
	for variable := range result.reducedCosts {
		result.reducedCosts[variable] = new(big.Rat)
	}
	for i, row := range program.Rows {
		terms, right := normalizedRow(row, program.RightSides[i])
		result.rows = append(result.rows, terms)
		result.rightSides = append(result.rightSides, right)
		result.basisVariables = append(result.basisVariables, len(program.Objective)+i)
	}
	return result
}

// normalizedRow returns an equation multiplied by 1 or -1, so that its right side is not negative.
func normalizedRow(row []Term, rightSide *big.Rat) ([]Term, *big.Rat) {
	sign := big.NewRat(1, 1)
	if rightSide.Sign() < 0 {
		sign.SetInt64(-1)
	}
	terms := make([]Term, len(row))
	for i, term := range row {
		terms[i] = Term{term.Variable, new(big.Rat).Mul(sign, term.Coefficient)}
	}
	return terms, new(big.Rat).Mul(sign, rightSide)
}

// addReducedCost increases the reduced cost of a variable by an amount.
func (tableau *tableau) addReducedCost(variable int, amount *big.Rat) {
	tableau.reducedCosts[variable].Add(tableau.reducedCosts[variable], amount)
}

// coefficientOf returns the coefficient of a variable in a row, or nil if it is 0.
func (tableau *tableau) coefficientOf(row, variable int) *big.Rat {
	i, ok := slices.BinarySearchFunc(tableau.rows[row], variable, func(term Term, variable int) int { return term.Variable - variable })
	if !ok {
		return nil
	}
	return tableau.rows[row][i].Coefficient
}

// pivotUntilOptimal performs simplex pivots until no variable has a positive reduced cost. The error is ErrUnbounded if the objective has no maximum.
func (tableau *tableau) pivotUntilOptimal(ctx context.Context) error {
	isDegenerate := false // the last pivot changed no value, so use Bland's rule, which excludes cycles
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		variable := tableau.enteringVariable(isDegenerate)
		if variable < 0 {
			return nil
		}
		row := tableau.leavingRow(variable)
		if row < 0 {
			return ErrUnbounded
		}
		isDegenerate = tableau.rightSides[row].Sign() == 0
		if err := tableau.pivot(ctx, row, variable); err != nil {
			return err
		}
	}
}

// enteringVariable returns the variable that enters the basis: the variable with the greatest positive reduced cost or, by Bland's rule, the first variable
// with a positive reduced cost. If there is none, the basis is optimal, and it returns -1.
func (tableau *tableau) enteringVariable(useBlandsRule bool) int {
	bestVariable := -1
	for variable, cost := range tableau.reducedCosts {
		if cost.Sign() <= 0 {
			continue
		}
		if useBlandsRule {
			return variable
		}
		if bestVariable < 0 || cost.Cmp(tableau.reducedCosts[bestVariable]) > 0 {
			bestVariable = variable
		}
	}
	return bestVariable
}

// leavingRow returns the row whose basis variable leaves the basis when the given variable enters: of the rows with a positive coefficient of the variable,
// the row with the least ratio of right side and coefficient. If several are equal, it takes the smallest basis variable. Without such a row the objective
// is unbounded, and it returns -1.
func (tableau *tableau) leavingRow(variable int) int {
	bestRow := -1
	var minRatio *big.Rat
	for i := range tableau.rows {
		coefficient := tableau.coefficientOf(i, variable)
		if coefficient == nil || coefficient.Sign() <= 0 {
			continue
		}
		ratio := new(big.Rat).Quo(tableau.rightSides[i], coefficient)
		if bestRow < 0 {
			bestRow, minRatio = i, ratio
			continue
		}
		order := ratio.Cmp(minRatio)
		if order < 0 || order == 0 && tableau.basisVariables[i] < tableau.basisVariables[bestRow] {
			bestRow, minRatio = i, ratio
		}
	}
	return bestRow
}

// pivot makes a variable the basis variable of a row. It eliminates the variable from all other rows and from the objective.
func (tableau *tableau) pivot(ctx context.Context, row, variable int) error {
	inverse := new(big.Rat).Inv(tableau.coefficientOf(row, variable))
	for i := range tableau.rows[row] {
		tableau.rows[row][i].Coefficient.Mul(tableau.rows[row][i].Coefficient, inverse)
	}
	tableau.rightSides[row].Mul(tableau.rightSides[row], inverse)
	for otherRow := range tableau.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if coefficient := tableau.coefficientOf(otherRow, variable); otherRow != row && coefficient != nil {
			factor := new(big.Rat).Neg(coefficient)
			tableau.rows[otherRow] = addMultiple(tableau.rows[otherRow], tableau.rows[row], factor)
			tableau.rightSides[otherRow].Add(tableau.rightSides[otherRow], factor.Mul(factor, tableau.rightSides[row]))
		}
	}
	tableau.eliminateReducedCost(row, new(big.Rat).Set(tableau.reducedCosts[variable]))
	tableau.basisVariables[row] = variable
	return nil
}

// eliminateReducedCost subtracts a multiple of a row from the objective, so that the reduced cost of the row's basis variable becomes zero. cost is this
// reduced cost before.
func (tableau *tableau) eliminateReducedCost(row int, cost *big.Rat) {
	if cost.Sign() == 0 {
		return
	}
	var product big.Rat
	for _, term := range tableau.rows[row] {
		tableau.reducedCosts[term.Variable].Sub(tableau.reducedCosts[term.Variable], product.Mul(cost, term.Coefficient))
	}
	tableau.value.Add(tableau.value, product.Mul(cost, tableau.rightSides[row]))
}

// addMultiple returns row + factor*addedRow, sorted by variable and without zero terms. The result may share terms with row.
func addMultiple(row, addedRow []Term, factor *big.Rat) []Term {
	result := make([]Term, 0, len(row)+len(addedRow))
	for len(row) > 0 || len(addedRow) > 0 {
		switch {
		case len(addedRow) == 0 || len(row) > 0 && row[0].Variable < addedRow[0].Variable:
			result = append(result, row[0])
			row = row[1:]
		case len(row) == 0 || addedRow[0].Variable < row[0].Variable:
			result = append(result, Term{addedRow[0].Variable, new(big.Rat).Mul(factor, addedRow[0].Coefficient)})
			addedRow = addedRow[1:]
		default:
			sum := new(big.Rat).Mul(factor, addedRow[0].Coefficient)
			sum.Add(sum, row[0].Coefficient)
			if sum.Sign() != 0 {
				result = append(result, Term{row[0].Variable, sum})
			}
			row, addedRow = row[1:], addedRow[1:]
		}
	}
	return result
}

// removeArtificialVariables replaces the artificial variables in the basis by variables of the program. If the row of an artificial
// variable has no terms, it deletes the row, because the other equations imply it. All artificial variables must have the value 0.
func (tableau *tableau) removeArtificialVariables(ctx context.Context) error {
	for i := 0; i < len(tableau.rows); {
		switch {
		case tableau.basisVariables[i] < len(tableau.reducedCosts):
			i++
		case len(tableau.rows[i]) > 0:
			if err := tableau.pivot(ctx, i, tableau.rows[i][0].Variable); err != nil {
				return err
			}
		default:
			tableau.rows = slices.Delete(tableau.rows, i, i+1)
			tableau.rightSides = slices.Delete(tableau.rightSides, i, i+1)
			tableau.basisVariables = slices.Delete(tableau.basisVariables, i, i+1)
		}
	}
	return nil
}
