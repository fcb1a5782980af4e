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

// addListing adds the values in a set of states to the output of a filter print or printall, in PRISM's order of the states. valueOf returns the
// value in a state; isZero says that the value is 0 or false. print omits such values; printall does not.
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

// listTruth lists the truth values of a filter print or printall in a set of states. If the caller of the evaluation wants the values of all
// states, listTruth stores them instead. For a filter store it lists nothing.
func (e *evaluation) listTruth(formula *logic.Formula, set *sparse.Set, truth truth) {
	switch {
	case e.wantsValues && set.Count() == e.space.Model().NumStates():
		e.values = truth.values()
	case !e.wantsValues && formula.Op != "store":
		e.addListing(formula, set, func(s int) (result.Value, bool) {
			isKnown := truth.trueStates.Has(s) || truth.falseStates.Has(s)
			if !isKnown {
				return result.Value{}, false
			}
			return result.Value{Kind: result.Boolean, Bool: truth.trueStates.Has(s)}, truth.falseStates.Has(s)
		})
	}
}

// listNumbers lists the numbers of a filter print or printall in a set of states. If the caller of the evaluation wants the values of all
// states, listNumbers stores them instead. For a filter store it lists nothing.
func (e *evaluation) listNumbers(formula *logic.Formula, set *sparse.Set, values *numbers) {
	switch {
	case e.wantsValues && set.Count() == e.space.Model().NumStates():
		e.values = &StateValues{Lo: values.lower, Hi: values.upper}
	case !e.wantsValues && formula.Op != "store":
		e.addListing(formula, set, func(s int) (result.Value, bool) {
			value := values.numberAt(s)
			isZero := value.Lo == 0 && value.Hi == 0 && (value.Exact == nil || value.Exact.Sign() == 0)
			return resultValue(value, formula.Expr.Type()), isZero
		})
	}
}

// valuationText returns the values of the variables as PRISM prints them, such as (0,true).
func (e *evaluation) valuationText(valuation []int32) string {
	var texts []string
	for i, variable := range e.space.Program().Vars {
		if variable.Type == sema.Bool {
			texts = append(texts, strconv.FormatBool(valuation[i] != 0))
		} else {
			texts = append(texts, strconv.Itoa(int(valuation[i])))
		}
	}
	return "(" + strings.Join(texts, ",") + ")"
}
