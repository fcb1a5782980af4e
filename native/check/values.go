package check

import (
	"context"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// StateValues are bounds on the value of a formula in every state. A truth value is 0 or 1; its bounds are 0 and 1 if it is
// unknown. Both bounds of NaN are NaN.
type StateValues struct {
	Lo, Hi   []float64
	Boolean  bool
	Accuracy result.Accuracy
}

// Values evaluates a property in every state. It returns the values and the same verdict as Check. For a filter it returns the values of the
// filter's operand. The values are nil if the verdict has an error.
func (checker *Checker) Values(ctx context.Context, property *Property) (*StateValues, result.Verdict) {
	// The filter printall makes Check compute the values in all states. As checker.wantsValues is true, it stores them in checker.values.
	expr := logic.WithoutFilters(property.Expr).Expr
	printAll := *property
	printAll.Expr = &sema.Filter{Base: sema.Base{ValueType: expr.Type(), Position: expr.Pos()}, Op: "printall", X: expr}
	checker.wantsValues = true
	verdict := checker.Check(ctx, &printAll)
	values := checker.values
	checker.wantsValues, checker.values = false, nil
	verdict.Listings = nil
	if verdict.Err != nil {
		return nil, verdict
	}
	return values, verdict
}

// values converts truth values to bounds: [1,1] for true, [0,0] for false and [0,1] for unknown.
func (t truth) values() *StateValues {
	numStates := t.trueStates.Len()
	values := &StateValues{Lo: make([]float64, numStates), Hi: make([]float64, numStates), Boolean: true}
	for s := range numStates {
		if t.trueStates.Has(s) {
			values.Lo[s] = 1
		}
		if !t.falseStates.Has(s) {
			values.Hi[s] = 1
		}
	}
	return values
}
