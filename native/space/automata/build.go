package automata

import "fmt"

// builder translates formulas to decision diagrams over atoms.
type builder struct {
	*decisionDiagram
	// explicitNext makes X wait for one more letter, even if its operand is already decided.
	explicitNext bool
}

// translate returns the decision diagram of a formula or, if isNegated is set, of its negation. It moves negations inwards until only propositions are
// negated.
func (builder *builder) translate(formula *Formula, isNegated bool) (formulaRef, error) {
	switch formula.Op {
	case True, False:
		return constantFormula((formula.Op == True) != isNegated), nil
	case Prop:
		if formula.Prop < 0 || formula.Prop > 63 {
			return falseFormula, fmt.Errorf("found proposition %d, wanted 0 to 63", formula.Prop)
		}
		if isNegated {
			return builder.ifThenElse(builder.propositionFormula(formula.Prop), falseFormula, trueFormula), nil
		}
		return builder.propositionFormula(formula.Prop), nil
	case Not:
		return builder.translate(formula.X, !isNegated)
	case Iff:
		return builder.translateEquivalence(formula, isNegated)
	case And, Or, Implies:
		return builder.translateConnective(formula, isNegated)
	}
	return builder.translateTemporal(formula, isNegated)
}

// constantFormula returns the formula true or false.
func constantFormula(value bool) formulaRef {
	if value {
		return trueFormula
	}
	return falseFormula
}

// translateEquivalence translates X <=> Y to (X & Y) | !(X | Y), or its negation to !(X & Y) & (X | Y) if isNegated is set. X and Y are the operands
// of the formula.
func (builder *builder) translateEquivalence(formula *Formula, isNegated bool) (formulaRef, error) {
	conjunction := &Formula{Op: And, X: formula.X, Y: formula.Y}
	disjunction := &Formula{Op: Or, X: formula.X, Y: formula.Y}
	first, err := builder.translateConnective(conjunction, isNegated)
	if err != nil {
		return falseFormula, err
	}
	second, err := builder.translateConnective(disjunction, !isNegated)
	if isNegated {
		return builder.and(first, second), err
	}
	return builder.or(first, second), err
}

// translateConnective translates x & y, x | y or x => y, or its negation if isNegated is set. It translates x => y as !x |
// y. De Morgan's laws give the negations.
func (builder *builder) translateConnective(formula *Formula, isNegated bool) (formulaRef, error) {
	isLeftNegated := isNegated
	if formula.Op == Implies {
		isLeftNegated = !isNegated
	}
	left, err := builder.translate(formula.X, isLeftNegated)
	if err != nil {
		return falseFormula, err
	}
	right, err := builder.translate(formula.Y, isNegated)
	isConjunction := (formula.Op == And) != isNegated
	if isConjunction {
		return builder.and(left, right), err
	}
	return builder.or(left, right), err
}

// translateTemporal translates a formula with a temporal operator, or its negation if isNegated is set. The negation is the
// dual operator with negated operands: !(left U right) is !left R !right.
func (builder *builder) translateTemporal(formula *Formula, isNegated bool) (formulaRef, error) {
	left, err := builder.translate(formula.X, isNegated)
	if err != nil {
		return falseFormula, err
	}
	right := left
	if formula.Y != nil {
		right, err = builder.translate(formula.Y, isNegated)
		if err != nil {
			return falseFormula, err
		}
	}
	switch formula.Op {
	case Next, WeakUntil:
		if formula.Bound != nil {
			return falseFormula, fmt.Errorf("found a bound of the operator %v, which cannot have one", formula.Op)
		}
		return builder.nextOrWeak(formula.Op, left, right, isNegated), nil
	case Finally: // F right is true U right
		return builder.untilOrRelease(!isNegated, constantFormula(!isNegated), right, formula.Bound)
	case Globally: // G right is false R right
		return builder.untilOrRelease(isNegated, constantFormula(isNegated), right, formula.Bound)
	case Until:
		return builder.untilOrRelease(!isNegated, left, right, formula.Bound)
	case Release:
		return builder.untilOrRelease(isNegated, left, right, formula.Bound)
	}
	return falseFormula, fmt.Errorf("found operator number %d, wanted a temporal operator", formula.Op)
}

// untilOrRelease returns left U right if isUntil is set, and left R right otherwise. bound is the bound of the
// operator, or nil.
func (builder *builder) untilOrRelease(isUntil bool, left, right formulaRef, bound *Bound) (formulaRef, error) {
	if bound != nil {
		return builder.boundedUntil(isUntil, left, right, *bound)
	}
	return builder.unboundedUntil(isUntil, left, right), nil
}

// nextOrWeak translates an operator X or W. If isNegated is set, it translates the negation of the operator, and the caller passes the negated operands as
// left and right.
func (builder *builder) nextOrWeak(op Op, left, right formulaRef, isNegated bool) formulaRef {
	switch {
	case op == Next:
		return builder.nextStep(left)
	case isNegated: // !(a W b) is !b U (!a & !b); left is !a and right is !b
		return builder.until(right, builder.and(left, right))
	}
	return builder.weakUntil(left, right)
}

// nextStep returns X x. With explicitNext it returns X (x & true), where true is an atom that is read like a proposition.
func (builder *builder) nextStep(x formulaRef) formulaRef {
	if builder.explicitNext {
		x = builder.and(x, builder.atomFormula(atom{op: True}))
	}
	return builder.next(x)
}

// unboundedUntil returns left U right if isUntil is set. Otherwise it returns left R right, as right W (left &
// right).
func (builder *builder) unboundedUntil(isUntil bool, left, right formulaRef) formulaRef {
	if isUntil {
		return builder.until(left, right)
	}
	return builder.weakUntil(right, builder.and(left, right))
}

// boundedUntil unfolds left U[low,high] right to one disjunction for each step: right | left & X(right | left & X(...)). In the first low steps, where right
// does not count yet, the part `right |` is missing. If isUntil is false, it unfolds left R[low,high] right in the same way, with | and & exchanged.
func (builder *builder) boundedUntil(isUntil bool, left, right formulaRef, bound Bound) (formulaRef, error) {
	if bound.Low < 0 || bound.High != Unbounded && bound.High < bound.Low {
		return falseFormula, fmt.Errorf("found bound [%d,%d] of an operator, wanted 0 <= lower <= upper", bound.Low, bound.High)
	}
	disjunction, conjunction := builder.or, builder.and
	if !isUntil { // a R b is the dual of a U b
		disjunction, conjunction = builder.and, builder.or
	}
	unfolded, steps := right, bound.High
	if bound.High == Unbounded {
		unfolded, steps = builder.unboundedUntil(isUntil, left, right), bound.Low
	}
	for step := steps; step > 0 && !builder.isTooLarge; step-- { // the innermost X, of the last step, is built first
		unfolded = conjunction(left, builder.nextStep(unfolded))
		if step > bound.Low {
			unfolded = disjunction(right, unfolded)
		}
	}
	return unfolded, builder.sizeError()
}
