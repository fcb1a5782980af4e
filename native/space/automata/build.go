package automata

import "fmt"

// builder translates formulas to decision diagrams over atoms.
type builder struct {
	*bdd
	// explicitNext makes X wait for one more letter, even if its operand is already decided.
	explicitNext bool
}

// build translates a formula to a decision diagram, or its negation if isNegated is set. It moves negations inwards to the propositions.
func (builder *builder) build(formula *Formula, negated bool) (ref, error) {
	switch formula.Op {
	case True, False:
		return constant((formula.Op == True) != negated), nil
	case Prop:
		if formula.Prop < 0 || formula.Prop > 63 {
			return falseRef, fmt.Errorf("found proposition %d, wanted 0 to 63", formula.Prop)
		}
		if negated {
			return builder.ite(builder.prop(formula.Prop), falseRef, trueRef), nil
		}
		return builder.prop(formula.Prop), nil
	case Not:
		return builder.build(formula.X, !negated)
	case Iff:
		return builder.equivalence(formula, negated)
	case And, Or, Implies:
		return builder.connective(formula, negated)
	}
	return builder.temporal(formula, negated)
}

// constant returns the formula true or false.
func constant(value bool) ref {
	if value {
		return trueRef
	}
	return falseRef
}

// equivalence translates X <=> Y to (X & Y) | !(X | Y), or its negation to !(X & Y) & (X | Y) if isNegated is set. X and Y are the operands
// of the formula.
func (builder *builder) equivalence(formula *Formula, isNegated bool) (ref, error) {
	conjunction := &Formula{Op: And, X: formula.X, Y: formula.Y}
	disjunction := &Formula{Op: Or, X: formula.X, Y: formula.Y}
	first, err := builder.connective(conjunction, isNegated)
	if err != nil {
		return falseRef, err
	}
	second, err := builder.connective(disjunction, !isNegated)
	if isNegated {
		return builder.and(first, second), err
	}
	return builder.or(first, second), err
}

// connective translates x & y, x | y or x => y, or its negation if isNegated is set. It translates x => y as !x |
// y. De Morgan's laws give the negations.
func (builder *builder) connective(formula *Formula, isNegated bool) (ref, error) {
	isLeftNegated := isNegated
	if formula.Op == Implies {
		isLeftNegated = !isNegated
	}
	left, err := builder.build(formula.X, isLeftNegated)
	if err != nil {
		return falseRef, err
	}
	right, err := builder.build(formula.Y, isNegated)
	isConjunction := (formula.Op == And) != isNegated
	if isConjunction {
		return builder.and(left, right), err
	}
	return builder.or(left, right), err
}

// temporal translates a formula with a temporal operator, or its negation if isNegated is set. The negation is the
// dual operator with negated operands: !(left U right) is !left R !right.
func (builder *builder) temporal(formula *Formula, isNegated bool) (ref, error) {
	left, err := builder.build(formula.X, isNegated)
	if err != nil {
		return falseRef, err
	}
	right := left
	if formula.Y != nil {
		right, err = builder.build(formula.Y, isNegated)
		if err != nil {
			return falseRef, err
		}
	}
	switch formula.Op {
	case Next, WeakUntil:
		if formula.Bound != nil {
			return falseRef, fmt.Errorf("found a bound of the operator %v, which cannot have one", formula.Op)
		}
		return builder.nextOrWeak(formula.Op, left, right, isNegated), nil
	case Finally: // F right is true U right
		return builder.untilOrRelease(!isNegated, constant(!isNegated), right, formula.Bound)
	case Globally: // G right is false R right
		return builder.untilOrRelease(isNegated, constant(isNegated), right, formula.Bound)
	case Until:
		return builder.untilOrRelease(!isNegated, left, right, formula.Bound)
	case Release:
		return builder.untilOrRelease(isNegated, left, right, formula.Bound)
	}
	return falseRef, fmt.Errorf("found operator number %d, wanted a temporal operator", formula.Op)
}

// untilOrRelease returns left U right if isUntil is set, and left R right otherwise. bound is the bound of the
// operator, or nil.
func (builder *builder) untilOrRelease(isUntil bool, left, right ref, bound *Bound) (ref, error) {
	if bound != nil {
		return builder.boundedUntil(isUntil, left, right, *bound)
	}
	return builder.unboundedUntil(isUntil, left, right), nil
}

// nextOrWeak translates an operator X or W, or its negation. If isNegated is set, left and right are the negated
// operands.
func (builder *builder) nextOrWeak(op Op, left, right ref, isNegated bool) ref {
	switch {
	case op == Next:
		return builder.nextStep(left)
	case isNegated: // !(a W b) is !b U (!a & !b); left is !a and right is !b
		return builder.until(right, builder.and(left, right))
	}
	return builder.weakUntil(left, right)
}

// nextStep returns X x. With explicitNext it returns X (x & true), where true is an atom that is read like a proposition.
func (builder *builder) nextStep(x ref) ref {
	if builder.explicitNext {
		x = builder.and(x, builder.atom(atom{op: True}))
	}
	return builder.next(x)
}

// unboundedUntil returns left U right if isUntil is set. Otherwise it returns left R right, as right W (left &
// right).
func (builder *builder) unboundedUntil(isUntil bool, left, right ref) ref {
	if isUntil {
		return builder.until(left, right)
	}
	return builder.weakUntil(right, builder.and(left, right))
}

// boundedUntil unfolds left U[low,high] right, for low = 0, to right | left & X(right | left & X(...)). In the first low steps `right |` is
// missing. If isUntil is false, it unfolds left R[low,high] right, with | and & exchanged.
func (builder *builder) boundedUntil(isUntil bool, left, right ref, bound Bound) (ref, error) {
	if bound.Low < 0 || bound.High != Unbounded && bound.High < bound.Low {
		return falseRef, fmt.Errorf("found bound [%d,%d] of an operator, wanted 0 <= lower <= upper", bound.Low, bound.High)
	}
	disjunction, conjunction := builder.or, builder.and
	if !isUntil { // a R b is the dual of a U b
		disjunction, conjunction = builder.and, builder.or
	}
	unfolded, steps := right, bound.High
	if bound.High == Unbounded {
		unfolded, steps = builder.unboundedUntil(isUntil, left, right), bound.Low
	}
	for step := steps; step > 0 && !builder.exceeded; step-- { // from the last step to the first
		unfolded = conjunction(left, builder.nextStep(unfolded))
		if step > bound.Low {
			unfolded = disjunction(right, unfolded)
		}
	}
	return unfolded, builder.err()
}
