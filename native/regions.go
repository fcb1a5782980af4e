//go:build !js

package native

import (
	"cmp"
	"context"
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
	// defaultUndecided is the share of the region that may stay undecided if the property fails elsewhere, unless --epsilon sets it. PRISM tolerates
	// the same share.
	defaultUndecided = 1. / 20
	// minHalvedShare is the least share of the region that is halved. minHalvedOfTolerance is the same, as a part of a smaller tolerated share.
	minHalvedShare       = 1e-6
	minHalvedOfTolerance = 1e-2
	// maxBoxes limits the number of boxes that are examined.
	maxBoxes = 4000
)

// regionCheck decides in which boxes of the region of the parameters a property P or R with a threshold holds. The value of the property
// is a rational function of the parameters, or the minimum or maximum of several functions. A box is decided if each difference of a
// function and the threshold has one sign in it. Bernstein coefficients prove the sign.
//
// Source: PRISM's parametric engine, for the partition; Farouki (2012), for the signs.
type regionCheck struct {
	model     *parametricModel
	isMinimum bool // the value is the minimum of the functions, not their maximum
	relation  syntax.Op
	// rewards are those of the property; none for a probability.
	rewards []*ratfunc.Func
	// differences are the functions minus the threshold.
	differences []*ratfunc.Func
	// toleratedShare is the share of the region that may stay undecided if the property fails elsewhere.
	toleratedShare float64
}

// box is a part of the region. holds is nil if it is undecided whether the property holds in the box.
type box struct {
	lowCorner, highCorner []*big.Rat
	share                 float64 // the volume of the box divided by the volume of the whole region
	holds                 *bool
}

// checkThreshold checks a property with a threshold, such as P>0.5, for all values of the parameters in a region. The verdict is true if the property is
// proven for all values, and false if it fails for some values; otherwise it has an error. The verdict also has the boxes into which the region was
// divided, each with the answer there.
func (property *parametricProperty) checkThreshold(formula *logic.Formula) result.Verdict {
	start := time.Now()
	check, err := property.newRegionCheck(formula)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Unsupported, property.property.File, property.property.Pos)}
	}
	verdict := property.pointModel.check(property.ctx, property.property)
	if verdict.Err != nil {
		return verdict
	}
	if check == nil { // the value is infinite everywhere, so the verdict at one point holds for the whole region
		verdict.Seconds = time.Since(start).Seconds()
		return verdict
	}
	if holds := check.holdsAt(pointOf(property.params)); holds != verdict.Value.Bool {
		err := fmt.Errorf("the function says %t at %s, and the model %t; this is a bug: please report it", holds, pointText(property.params), verdict.Value.Bool)
		return result.Verdict{Err: failure(err, result.Other, property.property.File, property.property.Pos)}
	}
	partition, err := check.partition(property.ctx)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Other, property.property.File, property.property.Pos)}
	}
	check.writeAnswer(&verdict, partition, property.property)
	verdict.Warnings = append(verdict.Warnings, check.partitionWarnings(partition)...)
	verdict.Seconds = time.Since(start).Seconds()
	return verdict
}

// pointOf returns the values of parameters as a point.
func pointOf(params []parametric.Param) (point []*big.Rat) {
	for _, param := range params {
		point = append(point, param.Value)
	}
	return point
}

// newRegionCheck prepares the check of a property with a threshold. It computes the value of the operator as functions of the parameters, and subtracts
// the threshold from each of them. It returns nil if the value is infinite for all parameters.
func (property *parametricProperty) newRegionCheck(formula *logic.Formula) (*regionCheck, error) {
	value, err := property.measure(formula)
	if err != nil {
		return nil, err
	}
	bound, isExact, err := sema.EvalExact(formula.Bound, nil)
	switch {
	case err != nil:
		return nil, err
	case !isExact:
		return nil, property.unsupported(formula.Expr, "a threshold that is no fraction")
	}
	var rewards []*ratfunc.Func
	if formula.Kind == logic.Reward {
		if rewards, err = property.chain.Rewards(formula.Objective.Struct); err != nil {
			return nil, err
		}
	}
	// The functions are valid only where all weights are positive.
	if err := property.chain.CheckPositive(property.ctx, property.lowerBounds, property.upperBounds, rewards); err != nil {
		return nil, err
	}
	isInfinite := value == nil
	if isInfinite {
		return nil, nil
	}
	check := &regionCheck{model: property.parametricModel, isMinimum: value.isMinimum, relation: formula.Rel, rewards: rewards}
	check.toleratedShare = cmp.Or(property.pointModel.opt.Epsilon, defaultUndecided)
	threshold := property.chain.One().Scale(fractionOf(bound))
	for _, function := range value.functions() {
		check.differences = append(check.differences, function.Sub(threshold))
	}
	return check, nil
}

// partition is a set of boxes that together are the whole region.
type partition struct {
	boxes []box
	// undecidedShare is the share of the region whose boxes are undecided.
	undecidedShare float64
	// satisfyingPoint and violatingPoint are points at which the property holds and fails, or nil if none was found.
	satisfyingPoint, violatingPoint []*big.Rat
}

// partition divides the region into boxes, and halves each box in which it is undecided whether the property holds. It stops after maxBoxes boxes, or
// if the property fails at some point and the undecided boxes are a small enough share of the region.
func (check *regionCheck) partition(ctx context.Context) (*partition, error) {
	result := &partition{undecidedShare: 1}
	queue := []box{{lowCorner: check.model.lowerBounds, highCorner: check.model.upperBounds, share: 1}}
	for examined := 0; len(queue) > 0 && examined < maxBoxes; examined++ {
		hasAnswer := result.violatingPoint != nil && result.undecidedShare <= check.toleratedShare
		if hasAnswer {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		currentBox := queue[0]
		queue = queue[1:]
		holds, isDecided := check.decide(currentBox.lowCorner, currentBox.highCorner)
		switch {
		case isDecided:
			currentBox.holds = &holds
			result.undecidedShare -= currentBox.share
			result.boxes = append(result.boxes, currentBox)
			result.keepFirstPoint(currentBox.middle(), holds)
		// The box is too small to be divided further, and stays undecided.
		case currentBox.share < min(minHalvedShare, minHalvedOfTolerance*check.toleratedShare):
			result.boxes = append(result.boxes, currentBox)
		default:
			lower, upper := currentBox.halves(check.model)
			queue = append(queue, lower, upper)
		}
	}
	result.boxes = append(result.boxes, queue...)
	slices.SortFunc(result.boxes, func(left, right box) int { return slices.CompareFunc(left.lowCorner, right.lowCorner, (*big.Rat).Cmp) })
	check.addUndecidedPoints(result)
	return result, nil
}

// addUndecidedPoints evaluates the property in the middle of each undecided box. It records the first point where the property holds, and the first
// point where it fails.
func (check *regionCheck) addUndecidedPoints(partition *partition) {
	for _, candidate := range partition.boxes {
		if candidate.holds == nil {
			middle := candidate.middle()
			partition.keepFirstPoint(middle, check.holdsAt(middle))
		}
	}
}

// keepFirstPoint records a point at which the property holds or fails, unless an earlier point with the same answer is recorded.
func (partition *partition) keepFirstPoint(point []*big.Rat, holds bool) {
	if holds && partition.satisfyingPoint == nil {
		partition.satisfyingPoint = point
	}
	if !holds && partition.violatingPoint == nil {
		partition.violatingPoint = point
	}
}

// hasUndecided reports whether it is undecided in some box whether the property holds.
func (partition *partition) hasUndecided() bool {
	return slices.ContainsFunc(partition.boxes, func(candidate box) bool { return candidate.holds == nil })
}

// writeAnswer writes the boxes and the truth value to a verdict: false if the property fails at some point, true if it holds in all boxes. Otherwise
// the verdict gets an error.
func (check *regionCheck) writeAnswer(verdict *result.Verdict, partition *partition, property *checkedProperty) {
	verdict.Regions = check.regions(check.mergeIntervals(partition.boxes))
	hasViolation := partition.violatingPoint != nil
	if partition.hasUndecided() && !hasViolation {
		verdict.Value = result.Value{}
		message := fmt.Sprintf("undecided: in %.2g%% of the region the property is neither proven nor refuted; a smaller region of the parameters can help", 100*partition.undecidedShare)
		verdict.Err = &result.Failure{Class: result.Unsupported, File: property.File, Pos: property.Pos, Message: message}
		return
	}
	verdict.Value = result.Value{Kind: result.Boolean, Bool: !hasViolation}
}

// partitionWarnings returns warnings that name a point at which the property holds and a point at which it fails, and the undecided share of the
// region.
func (check *regionCheck) partitionWarnings(partition *partition) []string {
	var warnings []string
	hasViolation, hasUndecided := partition.violatingPoint != nil, partition.hasUndecided()
	switch {
	case hasViolation && partition.satisfyingPoint != nil:
		warnings = append(warnings, fmt.Sprintf("the property holds for some values of the parameters, such as %s, and fails for others, such as %s (computed with fractions), so it is false",
			check.pointText(partition.satisfyingPoint), check.pointText(partition.violatingPoint)))
	case hasViolation && !hasUndecided:
		warnings = append(warnings, "the property fails in every region of the parameters")
	case hasViolation: // a region is undecided
		warnings = append(warnings, "the property is false: it fails at "+check.pointText(partition.violatingPoint)+" (computed with fractions)")
	case hasUndecided && partition.satisfyingPoint != nil:
		warnings = append(warnings, "the property holds at "+check.pointText(partition.satisfyingPoint)+" (computed with fractions)")
	}
	if hasUndecided && hasViolation {
		warnings = append(warnings, fmt.Sprintf("%.2g%% of the range of the parameters is undecided; --epsilon limits this share: try --epsilon %.1g", 100*partition.undecidedShare, partition.undecidedShare/check.narrowing()))
	}
	return warnings
}

// narrowing returns the factor between the undecided share and the share that a warning recommends. In the range of one parameter the border is
// a few points, so a factor of 10,000 takes few more boxes. With several parameters each digit takes many more.
func (check *regionCheck) narrowing() float64 {
	if len(check.model.lowerBounds) == 1 {
		return 1e4
	}
	return 10
}

// decide tries to prove that the property holds at all points of the box from lowCorner to highCorner, or that it fails at all its interior points.
// isDecided is false if it proves neither.
func (check *regionCheck) decide(lowCorner, highCorner []*big.Rat) (holds, isDecided bool) {
	isUpperBound := check.relation == syntax.OpLt || check.relation == syntax.OpLe
	// A maximum is below the threshold if all functions are, and a minimum above it if all functions are. For a maximum
	// above or a minimum below the threshold, one function suffices.
	needsAll := isUpperBound != check.isMinimum
	isDecided = true
	for _, difference := range check.differences {
		functionHolds, isFunctionDecided := check.decideFunction(difference, lowCorner, highCorner)
		if isFunctionDecided && functionHolds != needsAll {
			return functionHolds, true
		}
		isDecided = isDecided && isFunctionDecided
	}
	return needsAll, isDecided
}

// decideFunction tries to prove that a function satisfies the threshold in the box from lowCorner to highCorner, or that it violates it. difference is
// the function minus the threshold. isDecided is false if it proves neither.
func (check *regionCheck) decideFunction(difference *ratfunc.Func, lowCorner, highCorner []*big.Rat) (holds, isDecided bool) {
	isStrict := check.relation == syntax.OpGt || check.relation == syntax.OpLt
	satisfyingSign := 1
	if check.relation == syntax.OpLt || check.relation == syntax.OpLe {
		satisfyingSign = -1
	}
	if difference.IsZero() {
		return !isStrict, true
	}
	sign, hasSignOnBorder := difference.Sign(lowCorner, highCorner)
	switch {
	case sign == satisfyingSign && (!isStrict || hasSignOnBorder):
		return true, true
	case sign == -satisfyingSign:
		return false, true
	}
	return false, false
}

// holdsAt reports whether the property holds at a point. It evaluates the functions in rational arithmetic, and takes their minimum or maximum.
func (check *regionCheck) holdsAt(point []*big.Rat) bool {
	var extremum *big.Rat // of the differences between the functions and the threshold; nil if none of them is defined
	for _, difference := range check.differences {
		value, isDefined := difference.ValueAt(point)
		if !isDefined {
			continue
		}
		isNewExtremum := extremum == nil || (value.Cmp(extremum) < 0) == check.isMinimum
		if isNewExtremum {
			extremum = value
		}
	}
	return extremum != nil && sema.Holds(check.relation, extremum.Sign())
}

// halves divides a box into two halves. It halves the interval of one parameter: the widest interval relative to the region.
func (whole box) halves(model *parametricModel) (lower, upper box) {
	widestParameter, greatestWidth := 0, new(big.Rat)
	for i := range whole.lowCorner {
		width := new(big.Rat).Sub(whole.highCorner[i], whole.lowCorner[i])
		width.Quo(width, new(big.Rat).Sub(model.upperBounds[i], model.lowerBounds[i]))
		if width.Cmp(greatestWidth) > 0 {
			widestParameter, greatestWidth = i, width
		}
	}
	lower = box{lowCorner: whole.lowCorner, highCorner: slices.Clone(whole.highCorner), share: whole.share / 2}
	upper = box{lowCorner: slices.Clone(whole.lowCorner), highCorner: whole.highCorner, share: whole.share / 2}
	lower.highCorner[widestParameter] = whole.middle()[widestParameter]
	upper.lowCorner[widestParameter] = lower.highCorner[widestParameter]
	return lower, upper
}

// middle returns the middle point of a box.
func (region box) middle() (point []*big.Rat) {
	for i, low := range region.lowCorner {
		sum := new(big.Rat).Add(low, region.highCorner[i])
		point = append(point, sum.Mul(sum, big.NewRat(1, 2)))
	}
	return point
}

// mergeIntervals merges adjacent boxes with the same answer if there is one parameter, so that boxes are intervals; otherwise it returns all boxes. Two
// intervals stay apart if the answer at the value between them is another one. boxes are sorted.
func (check *regionCheck) mergeIntervals(boxes []box) []box {
	if len(check.model.params) != 1 {
		return boxes
	}
	merged := slices.Clone(boxes[:1])
	for _, next := range boxes[1:] {
		last := &merged[len(merged)-1]
		hasSameAnswer := last.holds == nil && next.holds == nil // both are undecided
		if last.holds != nil && next.holds != nil {
			hasSameAnswer = *last.holds == *next.holds && check.holdsAt(next.lowCorner) == *next.holds
		}
		if !hasSameAnswer {
			merged = append(merged, next)
			continue
		}
		last.highCorner = next.highCorner
		last.share += next.share
	}
	return merged
}

// regions converts boxes to the regions of a verdict: the bounds of the parameters, whether they belong to the region, and the answer there.
func (check *regionCheck) regions(boxes []box) []result.Region {
	arePositive := check.model.chain.PositiveOn(check.model.lowerBounds, check.model.upperBounds, check.rewards)
	var regions []result.Region
	for i, part := range boxes {
		region := result.Region{Parameters: check.text(part), Holds: part.holds}
		for j, param := range check.model.params {
			bounds := result.ParameterBounds{Parameter: param.Name, Lower: part.lowCorner[j].RatString(), Upper: part.highCorner[j].RatString()}
			if len(check.model.params) == 1 {
				bounds.LowerIncluded = check.includesEnd(boxes, i, part.lowCorner)
				bounds.UpperIncluded = check.includesEnd(boxes, i, part.highCorner)
			} else {
				bounds.LowerIncluded = part.includesFace(arePositive || part.lowCorner[j].Cmp(check.model.lowerBounds[j]) != 0)
				bounds.UpperIncluded = part.includesFace(arePositive || part.highCorner[j].Cmp(check.model.upperBounds[j]) != 0)
			}
			region.Bounds = append(region.Bounds, bounds)
		}
		regions = append(regions, region)
	}
	return regions
}

// includesEnd reports whether the interval boxes[i] of the only parameter includes one of its ends. An end belongs to the intervals whose answer is the
// answer at this point. If no neighbour has this answer, the end belongs to the undecided interval. It belongs to no interval if a weight is not
// positive there, because the functions are not valid at this point.
func (check *regionCheck) includesEnd(boxes []box, i int, end []*big.Rat) bool {
	if !check.model.chain.PositiveOn(end, end, check.rewards) {
		return false
	}
	holds := check.holdsAt(end)
	hasAnswer := func(part box) bool { return part.holds != nil && *part.holds == holds }
	if boxes[i].holds != nil {
		return hasAnswer(boxes[i])
	}
	return !slices.ContainsFunc(boxes[max(i-1, 0):min(i+2, len(boxes))], func(part box) bool {
		isNeighbour := part.lowCorner[0].Cmp(end[0]) == 0 || part.highCorner[0].Cmp(end[0]) == 0
		return isNeighbour && hasAnswer(part)
	})
}

// includesFace reports whether a box of several parameters includes one of its faces. isValid says that the functions are valid on this face. A box in
// which the property fails may have points on its faces at which it holds.
func (region box) includesFace(isValid bool) bool {
	return isValid && (region.holds == nil || *region.holds)
}

// text returns a box in the syntax of --param, such as p=0:1/2,q=1/4:1.
func (check *regionCheck) text(region box) string {
	var parts []string
	for i, param := range check.model.params {
		parts = append(parts, param.Name+"="+region.lowCorner[i].RatString()+":"+region.highCorner[i].RatString())
	}
	return strings.Join(parts, ",")
}

// pointText returns the values of the parameters at a point, for a message.
func (check *regionCheck) pointText(point []*big.Rat) string {
	params := slices.Clone(check.model.params)
	for i := range params {
		params[i].Value = point[i]
	}
	return pointText(params)
}
