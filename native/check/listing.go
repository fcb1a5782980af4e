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
// valueOf returns the value of state s, and whether it is 0 or false; the filter print leaves these values out.
//
// Source: PRISM 4.10, StateModelChecker.checkExpressionFilter, StateValues.printFiltered.
func (e *evaluation) addListing(formula *logic.Formula, set *sparse.Set, valueOf func(s int) (value result.Value, isZero bool)) {
	listing := result.Listing{Zeros: formula.Op == "printall"}
	var valuation []int32
	for prismIndex, s := range e.space.Order() {
		if !set.Has(int(s)) {
			continue
		}
		value, isZero := valueOf(int(s))
		if isZero && !listing.Zeros {
			continue
		}
		if len(listing.Values) == mostListed {
			listing.Left++
			continue
		}
		valuation = e.space.State(valuation, int(s))
		listing.Values = append(listing.Values, result.StateValue{State: prismIndex, Valuation: e.valuationText(valuation), Value: value})
	}
	e.listings = append(e.listings, listing)
}

// listTruth lists the truth values of a filter print or printall in a set of states. If Checker.Values asked for the values, it stores
// them instead. The filter store has no effect.
func (e *evaluation) listTruth(formula *logic.Formula, set *sparse.Set, t truth) {
	switch {
	case e.wantsValues && set.Count() == e.space.Model().NumStates():
		e.values = t.values()
	case !e.wantsValues && formula.Op != "store":
		e.addListing(formula, set, func(s int) (result.Value, bool) {
			isKnown := t.yes.Has(s) || t.no.Has(s)
			if !isKnown {
				return result.Value{}, false
			}
			return result.Value{Kind: result.Boolean, Bool: t.yes.Has(s)}, t.no.Has(s)
		})
	}
}

// listNumbers lists the numbers of a filter print or printall in a set of states. If Checker.Values asked for the values, it stores
// them instead. The filter store has no effect.
func (e *evaluation) listNumbers(formula *logic.Formula, set *sparse.Set, values *numbers) {
	switch {
	case e.wantsValues && set.Count() == e.space.Model().NumStates():
		e.values = &StateValues{Lo: values.lo, Hi: values.hi}
	case !e.wantsValues && formula.Op != "store":
		e.addListing(formula, set, func(s int) (result.Value, bool) {
			n := values.at(s)
			isZero := n.Lo == 0 && n.Hi == 0 && (n.Exact == nil || n.Exact.Sign() == 0)
			return resultValue(n, formula.X.Type()), isZero
		})
	}
}

// valuationText returns the values of the variables as PRISM prints them, such as (0,true). A Boolean value is 0 for false.
func (e *evaluation) valuationText(valuation []int32) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, variable := range e.space.Program().Vars {
		if i > 0 {
			b.WriteByte(',')
		}
		if variable.Type == sema.Bool {
			b.WriteString(strconv.FormatBool(valuation[i] != 0))
		} else {
			b.WriteString(strconv.Itoa(int(valuation[i])))
		}
	}
	b.WriteByte(')')
	return b.String()
}
