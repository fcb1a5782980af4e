package automata

import "fmt"

// builder translates formulas to decision diagrams over atoms.
type builder struct {
	*bdd
	// explicitNext makes X wait for one more letter, even if its operand is already decided.
	explicitNext bool
}

// build translates a formula, or its negation if negated is true. It moves negations inwards to the
// propositions.
func (b *builder) build(formula *Formula, negated bool) (ref, error) {
	switch formula.Op {
	case True, False:
		return constant((formula.Op == True) != negated), nil
	case Prop:
		if formula.Prop < 0 || formula.Prop > 63 {
			return falseRef, fmt.Errorf("found proposition %d, wanted 0 to 63", formula.Prop)
		}
		if negated {
			return b.ite(b.prop(formula.Prop), falseRef, trueRef), nil
		}
		return b.prop(formula.Prop), nil
	case Not:
		return b.build(formula.X, !negated)
	case Iff:
		return b.iff(formula, negated)
	case And, Or, Implies:
		return b.connective(formula, negated)
	}
	return b.temporal(formula, negated)
}

// constant returns the formula true or false.
func constant(value bool) ref {
	if value {
		return trueRef
	}
	return falseRef
}

// iff translates x <=> y to (x & y) | !(x | y), or its negation to !(x & y) & (x | y).
func (b *builder) iff(formula *Formula, negated bool) (ref, error) {
	conjunction := &Formula{Op: And, X: formula.X, Y: formula.Y}
	disjunction := &Formula{Op: Or, X: formula.X, Y: formula.Y}
	first, err := b.connective(conjunction, negated)
	if err != nil {
		return falseRef, err
	}
	second, err := b.connective(disjunction, !negated)
	if negated {
		return b.and(first, second), err
	}
	return b.or(first, second), err
}

// connective translates x & y, x | y or x => y, or its negation. It translates x => y as !x | y. The negation of a conjunction is the
// disjunction of the negated operands, and vice versa.
func (b *builder) connective(formula *Formula, negated bool) (ref, error) {
	negatesLeft := negated
	if formula.Op == Implies {
		negatesLeft = !negated
	}
	left, err := b.build(formula.X, negatesLeft)
	if err != nil {
		return falseRef, err
	}
	right, err := b.build(formula.Y, negated)
	isConjunction := (formula.Op == And) != negated
	if isConjunction {
		return b.and(left, right), err
	}
	return b.or(left, right), err
}

// temporal translates a formula whose outermost operator is temporal, or its negation. The negation of an
// operator is its dual, applied to the negated operands: !(left U right) is !left R !right.
func (b *builder) temporal(formula *Formula, negated bool) (ref, error) {
	left, err := b.build(formula.X, negated)
	if err != nil {
		return falseRef, err
	}
	right := left
	if formula.Y != nil {
		right, err = b.build(formula.Y, negated)
		if err != nil {
			return falseRef, err
		}
	}
	switch formula.Op {
	case Next, WeakUntil:
		if formula.Bound != nil {
			return falseRef, fmt.Errorf("found a bound of the operator %v, which cannot have one", formula.Op)
		}
		return b.nextOrWeak(formula.Op, left, right, negated), nil
	case Finally: // F right is true U right
		return b.untilOrRelease(!negated, constant(!negated), right, formula.Bound)
	case Globally: // G right is false R right
		return b.untilOrRelease(negated, constant(negated), right, formula.Bound)
	case Until:
		return b.untilOrRelease(!negated, left, right, formula.Bound)
	case Release:
		return b.untilOrRelease(negated, left, right, formula.Bound)
	}
	return falseRef, fmt.Errorf("found operator number %d, wanted a temporal operator", formula.Op)
}

// untilOrRelease returns left U right if until is true, otherwise left R right. The operator has the given bound unless it is nil.
func (b *builder) untilOrRelease(until bool, left, right ref, bound *Bound) (ref, error) {
	if bound != nil {
		return b.boundedUntil(until, left, right, *bound)
	}
	return b.unboundedUntil(until, left, right), nil
}

// nextOrWeak translates an operator X or W, or its negation. If negated is true, left and right are the negations of the operands.
func (b *builder) nextOrWeak(op Op, left, right ref, negated bool) ref {
	switch {
	case op == Next:
		return b.nextStep(left)
	case negated: // !(a W b) is !b U (!a & !b); left is !a and right is !b
		return b.until(right, b.and(left, right))
	}
	return b.weakUntil(left, right)
}

// nextStep returns X x. With explicitNext it returns X (x & true), where true is an atom that is read like a proposition.
func (b *builder) nextStep(x ref) ref {
	if b.explicitNext {
		x = b.and(x, b.atom(atom{op: True}))
	}
	return b.next(x)
}

// unboundedUntil returns left U right if until is true, and left R right, which is right W (left & right), otherwise.
func (b *builder) unboundedUntil(until bool, left, right ref) ref {
	if until {
		return b.until(left, right)
	}
	return b.weakUntil(right, b.and(left, right))
}

// boundedUntil unfolds left U[low,high] right to right | left & X(right | left & X(…)), from the last step to the first. In the first low
// steps it leaves out `right |`, because right does not count there. If until is false, it unfolds left R[low,high] right: this
// exchanges `|` and `&`.
func (b *builder) boundedUntil(until bool, left, right ref, bound Bound) (ref, error) {
	if bound.Low < 0 || bound.High != Unbounded && bound.High < bound.Low {
		return falseRef, fmt.Errorf("found bound [%d,%d] of an operator, wanted 0 <= lower <= upper", bound.Low, bound.High)
	}
	disjunction, conjunction := b.or, b.and
	if !until { // a R b is the dual of a U b
		disjunction, conjunction = b.and, b.or
	}
	unfolded, steps := right, bound.High
	if bound.High == Unbounded {
		unfolded, steps = b.unboundedUntil(until, left, right), bound.Low
	}
	for step := steps; step > 0 && !b.exceeded; step-- {
		unfolded = conjunction(left, b.nextStep(unfolded))
		if step > bound.Low {
			unfolded = disjunction(right, unfolded)
		}
	}
	return unfolded, b.err()
}
