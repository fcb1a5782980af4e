//go:build !js

package native

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"tilecheck/native/check/parametric"
	"tilecheck/native/solve/ratfunc"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

const (
	// undecidedPart is the part of the region that may stay undecided if the property fails elsewhere. PRISM has the same one.
	undecidedPart = 1. / 20
	// smallestPart is the least part of the region that is halved.
	smallestPart = 1e-6
	// maxRegions limits the regions that are looked at.
	maxRegions = 4000
)

// regionCheck decides in which regions of the parameters a property P or R with a threshold holds. The value is a rational function
// of the parameters, or the extremum of some, so it is enough to know where the sign of their differences to the threshold is the
// same. Bernstein coefficients prove signs.
//
// Source: PRISM's parametric engine, for the partition; Farouki (2012), for the signs.
type regionCheck struct {
	open  *openModel
	least bool // the value is the least of the functions
	rel   syntax.Op
	// differences are the functions minus the threshold.
	differences []*ratfunc.Func
}

// box is a region of the parameters, with its part of the whole one. holds is nil if it is undecided.
type box struct {
	low, high []*big.Rat
	part      float64
	holds     *bool
}

// checkThreshold returns the verdict of a property with a threshold: true if it holds for all values of the parameters, false if it
// fails for some, and an error if neither is proven; and the regions that were decided.
func (o *openProperty) checkThreshold(formula *logic.Formula) result.Verdict {
	start := time.Now()
	check, err := o.newRegionCheck(formula)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Unsupported, o.property.File, o.property.Pos)}
	}
	verdict := o.pointModel.check(o.ctx, o.property)
	if verdict.Err != nil {
		return verdict
	}
	if check == nil { // the value is infinite everywhere
		verdict.Seconds = time.Since(start).Seconds()
		return verdict
	}
	if holds := check.holdsAt(pointOf(o.params)); holds != verdict.Value.Bool {
		err := fmt.Errorf("the function says %t at %s, and the model %t; this is a bug: please report it", holds, pointText(o.params), verdict.Value.Bool)
		return result.Verdict{Err: failure(err, result.Other, o.property.File, o.property.Pos)}
	}
	if err := check.partition(o, &verdict); err != nil {
		return result.Verdict{Err: failure(err, result.Other, o.property.File, o.property.Pos)}
	}
	verdict.Seconds = time.Since(start).Seconds()
	return verdict
}

// pointOf returns the values of parameters.
func pointOf(params []parametric.Param) (point []*big.Rat) {
	for _, param := range params {
		point = append(point, param.At)
	}
	return point
}

// newRegionCheck computes the functions of a property; nil if the value is infinite everywhere.
func (o *openProperty) newRegionCheck(formula *logic.Formula) (*regionCheck, error) {
	value, err := o.measure(formula)
	if err != nil {
		return nil, err
	}
	bound, exact, err := sema.EvalExact(formula.Bound, nil)
	switch {
	case err != nil:
		return nil, err
	case !exact:
		return nil, o.refuse(formula.X, "a threshold that is no fraction")
	case bound.Type == sema.Int:
		bound.Rat = big.NewRat(int64(bound.Int), 1)
	}
	var rewards []*ratfunc.Func
	if formula.Kind == logic.Reward {
		if rewards, err = o.chain.Rewards(formula.Objective.Struct); err != nil {
			return nil, err
		}
	}
	if err := o.chain.CheckPositive(o.ctx, o.low, o.high, rewards); err != nil || value == nil {
		return nil, err
	}
	check := &regionCheck{open: o.openModel, least: value.least, rel: formula.Rel}
	threshold := o.chain.One().Scale(bound.Rat)
	for _, function := range value.functions() {
		check.differences = append(check.differences, function.Sub(threshold))
	}
	return check, nil
}

// partition halves regions until they are decided, and writes the verdict.
func (check *regionCheck) partition(o *openProperty, verdict *result.Verdict) error {
	undecided := []box{{low: check.open.low, high: check.open.high, part: 1}}
	var done []box
	open, looked := 1., 0
	var holds, fails []*big.Rat // points
	for len(undecided) > 0 && looked < maxRegions && !(fails != nil && open <= undecidedPart) {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		looked++
		region := undecided[0]
		undecided = undecided[1:]
		isTrue, decided := check.decide(region.low, region.high)
		if !decided && region.part < smallestPart {
			done = append(done, region)
			continue
		}
		if !decided {
			first, second := region.halves(check.open)
			undecided = append(undecided, first, second)
			continue
		}
		open -= region.part
		region.holds = &isTrue
		done = append(done, region)
		if isTrue && holds == nil {
			holds = region.middle()
		} else if !isTrue && fails == nil {
			fails = region.middle()
		}
	}
	done = append(done, undecided...)
	slices.SortFunc(done, func(a, b box) int { return slices.CompareFunc(a.low, b.low, (*big.Rat).Cmp) })
	isOpen := false
	for _, region := range done {
		verdict.Regions = append(verdict.Regions, result.Region{Parameters: check.text(region), Holds: region.holds})
		if region.holds != nil {
			continue
		}
		isOpen = true
		if middle := region.middle(); check.holdsAt(middle) && holds == nil {
			holds = middle
		} else if !check.holdsAt(middle) && fails == nil {
			fails = middle
		}
	}
	check.write(verdict, holds, fails, isOpen, open, o.property)
	return nil
}

// write writes the value, and points at which the property holds and fails.
func (check *regionCheck) write(verdict *result.Verdict, holds, fails []*big.Rat, isOpen bool, part float64, property *checkedProperty) {
	verdict.Value = result.Value{Kind: result.Boolean, Bool: fails == nil}
	if isOpen && fails == nil {
		verdict.Value = result.Value{}
		verdict.Err = &result.Failure{Class: result.Unsupported, File: property.File, Pos: property.Pos, Message: fmt.Sprintf("undecided in %.2g%% of the region which is proven neither to satisfy the property nor to violate it: smaller bounds of the parameters can help", 100*part)}
	}
	for _, point := range []struct {
		verb string
		at   []*big.Rat
	}{{"holds", holds}, {"fails", fails}} {
		if point.at != nil {
			verdict.Warnings = append(verdict.Warnings, "the property "+point.verb+" at "+check.pointText(point.at)+", by the fraction of its value there")
		}
	}
	if isOpen && fails != nil {
		verdict.Warnings = append(verdict.Warnings, fmt.Sprintf("%.2g%% of the region are undecided", 100*part))
	}
}

// decide returns whether the property holds in a region: in all of it, or, if not, at no point strictly between its bounds. decided is
// false if neither is proven.
func (check *regionCheck) decide(low, high []*big.Rat) (holds, decided bool) {
	isUpper := check.rel == syntax.OpLt || check.rel == syntax.OpLe
	all := isUpper != check.least // every function must be on the right side
	allDecided := true
	for _, difference := range check.differences {
		one, known := check.decideFunction(difference, low, high)
		if known && one != all {
			return one, true
		}
		allDecided = allDecided && known
	}
	return all, allDecided
}

// decideFunction is decide for one function.
func (check *regionCheck) decideFunction(difference *ratfunc.Func, low, high []*big.Rat) (holds, decided bool) {
	wanted, isStrict := 1, check.rel == syntax.OpGt || check.rel == syntax.OpLt
	if check.rel == syntax.OpLt || check.rel == syntax.OpLe {
		wanted = -1
	}
	if difference.IsZero() {
		return !isStrict, true
	}
	sign, alsoOnBorder := difference.Sign(low, high)
	switch {
	case sign == wanted && (!isStrict || alsoOnBorder):
		return true, true
	case sign == -wanted:
		return false, true
	}
	return false, false
}

// holdsAt reports whether the property holds at a point, by fractions.
func (check *regionCheck) holdsAt(point []*big.Rat) bool {
	var best *big.Rat
	for _, difference := range check.differences {
		value, ok := difference.At(point)
		if ok && (best == nil || (value.Cmp(best) < 0) == check.least) {
			best = value
		}
	}
	if best == nil {
		return false
	}
	switch sign := best.Sign(); check.rel {
	case syntax.OpLt:
		return sign < 0
	case syntax.OpLe:
		return sign <= 0
	case syntax.OpGe:
		return sign >= 0
	default:
		return sign > 0
	}
}

// halves cuts a region in two, across the parameter whose bounds have the greatest part of their distance in the whole region.
func (region box) halves(open *openModel) (first, second box) {
	widest, most := 0, new(big.Rat)
	for i := range region.low {
		width := new(big.Rat).Sub(region.high[i], region.low[i])
		width.Quo(width, new(big.Rat).Sub(open.high[i], open.low[i]))
		if width.Cmp(most) > 0 {
			widest, most = i, width
		}
	}
	first = box{low: region.low, high: slices.Clone(region.high), part: region.part / 2}
	second = box{low: slices.Clone(region.low), high: region.high, part: region.part / 2}
	first.high[widest] = region.middle()[widest]
	second.low[widest] = first.high[widest]
	return first, second
}

// middle returns the point in the middle of a region.
func (region box) middle() (point []*big.Rat) {
	for i, low := range region.low {
		sum := new(big.Rat).Add(low, region.high[i])
		point = append(point, sum.Mul(sum, big.NewRat(1, 2)))
	}
	return point
}

// text returns a region as --param reads it: p=0:1/2,q=1/4:1.
func (check *regionCheck) text(region box) string {
	var parts []string
	for i, param := range check.open.params {
		parts = append(parts, param.Name+"="+region.low[i].RatString()+":"+region.high[i].RatString())
	}
	return strings.Join(parts, ",")
}

// pointText returns a point as text.
func (check *regionCheck) pointText(point []*big.Rat) string {
	params := slices.Clone(check.open.params)
	for i := range params {
		params[i].At = point[i]
	}
	return pointText(params)
}
