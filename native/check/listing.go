package check

import (
	"strconv"
	"strings"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// mostListed is the greatest number of values in a listing.
const mostListed = 1000

// addListing adds a listing of the values in a set of states, for a filter print or printall, in PRISM's order of the states.
// value returns the value of a state, and whether it is 0 or false; print leaves these out.
//
// Source: PRISM 4.10, StateModelChecker.checkExpressionFilter, StateValues.printFiltered.
func (e *evaluation) addListing(formula *logic.Formula, set *sparse.Set, value func(state int) (v result.Value, zero bool)) {
	if formula.Op == "store" {
		return
	}
	out := result.Listing{Zeros: formula.Op == "printall"}
	var state []int32
	for prismIndex, i := range e.space.Order() {
		if !set.Has(int(i)) {
			continue
		}
		v, zero := value(int(i))
		switch {
		case zero && !out.Zeros:
		case len(out.Values) == mostListed:
			out.Left++
		default:
			state = e.space.State(state, int(i))
			out.Values = append(out.Values, result.StateValue{State: prismIndex, Valuation: e.valuation(state), Value: v})
		}
	}
	e.listings = append(e.listings, out)
}

// listTruth lists or stores the truth values of a filter print, printall or store.
func (e *evaluation) listTruth(formula *logic.Formula, set *sparse.Set, t truth) {
	if e.storeRequestedValues(set, t.values) {
		return
	}
	e.addListing(formula, set, func(s int) (result.Value, bool) {
		if !t.yes.Has(s) && !t.no.Has(s) {
			return result.Value{}, false
		}
		return result.Value{Kind: result.Boolean, Bool: t.yes.Has(s)}, t.no.Has(s)
	})
}

// listNumbers lists or stores the numbers of a filter print, printall or store.
func (e *evaluation) listNumbers(formula *logic.Formula, set *sparse.Set, values *numbers) {
	if e.storeRequestedValues(set, func() *StateValues { return &StateValues{Lo: values.lo, Hi: values.hi} }) {
		return
	}
	e.addListing(formula, set, func(s int) (result.Value, bool) {
		n := values.at(s)
		isZero := n.lo == 0 && n.hi == 0 && (n.rat == nil || n.rat.Sign() == 0)
		return resultValue(n, formula.X.Type()), isZero
	})
}

// valuation returns a state as PRISM prints it, such as (0,true).
func (e *evaluation) valuation(state []int32) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, variable := range e.space.Program().Vars {
		if i > 0 {
			b.WriteByte(',')
		}
		if variable.Type == sema.Bool {
			b.WriteString(strconv.FormatBool(state[i] != 0))
		} else {
			b.WriteString(strconv.Itoa(int(state[i])))
		}
	}
	b.WriteByte(')')
	return b.String()
}
