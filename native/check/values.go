package check

import (
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// StateValues is the value of a formula in every state, between two doubles. Truth is 0 or 1;
// 0 to 1 is one that the bounds leave open. Both ends of what is no number are NaN.
type StateValues struct {
	Lo, Hi   []float64
	Boolean  bool
	Accuracy result.Accuracy
}

// Values evaluates a property as Check does, and returns its value in every state of the space: that of
// the operand, where the property is a filter. What goes wrong is the Err of the verdict; then there are none.
func (c *Checker) Values(ctx context.Context, p *Property) (*StateValues, result.Verdict) {
	x := logic.WithoutFilters(p.X).X
	all := *p
	// Printing is what asks for the values of all states.
	all.X = &sema.Filter{Base: sema.Base{T: x.Type(), At: x.Pos()}, Op: "printall", X: x}
	c.valued = true
	v := c.Check(ctx, &all)
	c.valued = false
	out := c.values
	c.values = nil
	v.Listings = nil
	if v.Err != nil {
		return nil, v
	}
	return out, v
}

// spread returns truth in all states as numbers.
func (t truth) spread() *StateValues {
	n := t.yes.Len()
	out := &StateValues{Lo: make([]float64, n), Hi: make([]float64, n), Boolean: true}
	for s := range n {
		if t.yes.Has(s) {
			out.Lo[s] = 1
		}
		if !t.no.Has(s) {
			out.Hi[s] = 1
		}
	}
	return out
}

// keep notes the values of the states of a filter that prints, if they are asked for, and reports whether they are.
func (e *evaluation) keep(set *sparse.Set, values func() *StateValues) bool {
	if !e.valued {
		return false
	}
	if set.Count() == e.space.Model().NumStates() {
		e.values = values()
	}
	return true
}
