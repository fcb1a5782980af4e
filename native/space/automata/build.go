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
func (b *builder) build(f *Formula, negated bool) (ref, error) {
	switch f.Op {
	case True, False:
		return constant((f.Op == True) != negated), nil
	case Prop:
		if f.Prop < 0 || f.Prop > 63 {
			return falseRef, fmt.Errorf("found proposition %d, wanted 0 to 63", f.Prop)
		}
		if negated {
			return b.ite(b.prop(f.Prop), falseRef, trueRef), nil
		}
		return b.prop(f.Prop), nil
	case Not:
		return b.build(f.X, !negated)
	case Iff:
		return b.iff(f, negated)
	case And, Or, Implies:
		return b.connective(f, negated)
	}
	return b.temporal(f, negated)
}

// constant returns the formula true or false.
func constant(value bool) ref {
	if value {
		return trueRef
	}
	return falseRef
}

// iff translates x <=> y, or its negation. `both` is x & y and `neither` is !(x | y); if negated is true,
// they are !(x & y) and x | y.
func (b *builder) iff(f *Formula, negated bool) (ref, error) {
	both, err := b.connective(&Formula{Op: And, X: f.X, Y: f.Y}, negated)
	if err != nil {
		return falseRef, err
	}
	neither, err := b.connective(&Formula{Op: Or, X: f.X, Y: f.Y}, !negated)
	if negated {
		return b.and(both, neither), err
	}
	return b.or(both, neither), err
}

// connective translates x & y, x | y or x => y, or its negation. x => y is !x | y.
func (b *builder) connective(f *Formula, negated bool) (ref, error) {
	x, err := b.build(f.X, negated != (f.Op == Implies))
	if err != nil {
		return falseRef, err
	}
	y, err := b.build(f.Y, negated)
	if (f.Op == And) != negated {
		return b.and(x, y), err
	}
	return b.or(x, y), err
}

// temporal translates a formula whose outermost operator is temporal, or its negation. The negation of an
// operator is its dual, applied to the negated operands: !(x U y) is !x R !y.
func (b *builder) temporal(f *Formula, negated bool) (ref, error) {
	x, err := b.build(f.X, negated)
	if err != nil {
		return falseRef, err
	}
	y := x
	if f.Y != nil {
		y, err = b.build(f.Y, negated)
		if err != nil {
			return falseRef, err
		}
	}
	until := f.Op == Finally || f.Op == Until
	switch f.Op {
	case Finally, Globally: // F y is true U y, G y is false R y
		x = constant((f.Op == Finally) != negated)
	case Until, Release:
	case Next, WeakUntil:
		if f.Bound != nil {
			return falseRef, fmt.Errorf("found a bound of the operator %v, which cannot have one", f.Op)
		}
		return b.nextOrWeak(f.Op, x, y, negated), nil
	default:
		return falseRef, fmt.Errorf("found operator number %d, wanted a temporal operator", f.Op)
	}
	if f.Bound != nil {
		return b.bounded(until != negated, x, y, *f.Bound)
	}
	return b.unbounded(until != negated, x, y), nil
}

// nextOrWeak translates an operator X or W, or its negation, for operands that are negated already.
func (b *builder) nextOrWeak(op Op, x, y ref, negated bool) ref {
	switch {
	case op == Next:
		return b.nextStep(x)
	case negated: // !(a W b) is !b U (!a & !b); x is !a and y is !b
		return b.until(y, b.and(x, y))
	}
	return b.weak(x, y)
}

// nextStep returns X x.
func (b *builder) nextStep(x ref) ref {
	if b.explicitNext {
		x = b.and(x, b.atom(atom{op: True}))
	}
	return b.next(x)
}

// unbounded returns x U y if until is true, and x R y, which is y W (x & y), otherwise.
func (b *builder) unbounded(until bool, x, y ref) ref {
	if until {
		return b.until(x, y)
	}
	return b.weak(y, b.and(x, y))
}

// bounded unfolds x U[l,h] y to y | x & X(y | x & X(…)), from the last step to the first. Before step l it
// leaves out `y |`. For x R[l,h] y it exchanges `|` and `&`.
func (b *builder) bounded(until bool, x, y ref, bound Bound) (ref, error) {
	if bound.Low < 0 || bound.High != Unbounded && bound.High < bound.Low {
		return falseRef, fmt.Errorf("found bound [%d,%d] of an operator, wanted 0 <= lower <= upper", bound.Low, bound.High)
	}
	disjunction, conjunction := b.or, b.and
	if !until {
		disjunction, conjunction = conjunction, disjunction
	}
	out, steps := y, bound.High
	if bound.High == Unbounded {
		out = b.unbounded(until, x, y)
		steps = bound.Low
	}
	for step := steps; step > 0 && !b.exceeded; step-- {
		out = conjunction(x, b.nextStep(out))
		if step > bound.Low {
			out = disjunction(y, out)
		}
	}
	return out, b.err()
}
