package check

import (
	"context"

	"tilecheck/native/space/sparse"
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

// Values evaluates a property like Check, and returns its value in every state of the space. For a filter it returns the
// values of the operand. The values are nil if the verdict has an error.
func (c *Checker) Values(ctx context.Context, property *Property) (*StateValues, result.Verdict) {
	expr := logic.WithoutFilters(property.X).X
	printAll := *property
	// The filter printall needs the values in all states.
	printAll.X = &sema.Filter{Base: sema.Base{ValueType: expr.Type(), Position: expr.Pos()}, Op: "printall", X: expr}
	c.wantsValues = true
	verdict := c.Check(ctx, &printAll)
	c.wantsValues = false
	values := c.values
	c.values = nil
	verdict.Listings = nil
	if verdict.Err != nil {
		return nil, verdict
	}
	return values, verdict
}

// values converts truth values to bounds: [1,1] for true, [0,0] for false and [0,1] for unknown.
func (t truth) values() *StateValues {
	n := t.yes.Len()
	values := &StateValues{Lo: make([]float64, n), Hi: make([]float64, n), Boolean: true}
	for s := range n {
		if t.yes.Has(s) {
			values.Lo[s] = 1
		}
		if !t.no.Has(s) {
			values.Hi[s] = 1
		}
	}
	return values
}

// storeRequestedValues stores the values of a filter that prints, if Values asked for them. It reports whether Values asked for them.
func (e *evaluation) storeRequestedValues(set *sparse.Set, values func() *StateValues) bool {
	if !e.wantsValues {
		return false
	}
	if set.Count() == e.space.Model().NumStates() {
		e.values = values()
	}
	return true
}
