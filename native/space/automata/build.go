package automata

import "fmt"

// builder translates formulas to decision diagrams over atoms.
type builder struct {
	*bdd
	// explicitNext makes X wait for one more letter, even if its operand is already decided.
	explicitNext bool
}

// build translates a formula, or its negation, in negation normal form.
func (b *builder) build(f *Formula, negated bool) (ref, error) {
	switch f.Op {
	case True, False:
		return constant((f.Op == True) != negated), nil
	case Prop:
		if f.Prop < 0 || f.Prop > 63 {
			return falseRef, fmt.Errorf("proposition %d, want 0 to 63", f.Prop)
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

func constant(value bool) ref {
	if value {
		return trueRef
	}
	return falseRef
}

func (b *builder) iff(f *Formula, negated bool) (ref, error) {
	both, err := b.connective(&Formula{Op: And, X: f.X, Y: f.Y}, negated)
	if err != nil {
		return falseRef, err
	}
	neither, err := b.connective(&Formula{Op: Or, X: f.X, Y: f.Y}, !negated)
	if negated { // not both, and not neither
		return b.and(both, neither), err
	}
	return b.or(both, neither), err
}

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

func (b *builder) temporal(f *Formula, negated bool) (ref, error) {
	x, err := b.build(f.X, negated)
	if err != nil {
		return falseRef, err
	}
	y := x
	if f.Y != nil {
		if y, err = b.build(f.Y, negated); err != nil {
			return falseRef, err
		}
	}
	until := f.Op == Finally || f.Op == Until
	switch f.Op {
	case Finally, Globally: // true U x, false R x
		x = constant((f.Op == Finally) != negated)
	case Until, Release:
	case Next, WeakUntil:
		if f.Bound != nil {
			return falseRef, fmt.Errorf("the operator %v has a bound", f.Op)
		}
		return b.nextOrWeak(f.Op, x, y, negated), nil
	default:
		return falseRef, fmt.Errorf("%d is not an operator", f.Op)
	}
	if f.Bound != nil {
		return b.bounded(until != negated, x, y, *f.Bound)
	}
	return b.unbounded(until != negated, x, y), nil
}

func (b *builder) nextOrWeak(op Op, x, y ref, negated bool) ref {
	switch {
	case op == Next:
		return b.nextStep(x)
	case negated: // !(a W b) is !b U (!a & !b)
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

// unbounded returns x U y or x R y.
func (b *builder) unbounded(until bool, x, y ref) ref {
	if until {
		return b.until(x, y)
	}
	return b.weak(y, b.and(x, y))
}

// bounded unfolds x U[l,h] y with X, from the last step to the first: y | x & X(y | x & X(…)),
// without `y |` before step l. x R[l,h] y is dual.
func (b *builder) bounded(until bool, x, y ref, bound Bound) (ref, error) {
	if bound.Low < 0 || bound.High != Unbounded && bound.High < bound.Low {
		return falseRef, fmt.Errorf("bound [%d,%d] of an operator", bound.Low, bound.High)
	}
	disjunction, conjunction := b.or, b.and
	if !until {
		disjunction, conjunction = conjunction, disjunction
	}
	out, i := y, bound.High
	if bound.High == Unbounded {
		out, i = b.unbounded(until, x, y), bound.Low
	}
	for ; i > 0 && !b.exceeded; i-- {
		out = conjunction(x, b.nextStep(out))
		if i <= bound.Low {
			continue
		}
		out = disjunction(y, out)
	}
	return out, b.err()
}
