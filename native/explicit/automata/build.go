package automata

import "fmt"

// builder turns formulas into combinations of atoms.
type builder struct {
	*table
	// strict makes X wait for a step of its own, even where what follows holds
	// anyhow.
	strict bool
}

// build returns a formula, or its negation, with negations moved inwards.
func (b *builder) build(f *Formula, negated bool) (ref, error) {
	switch f.Op {
	case True, False:
		return constant((f.Op == True) != negated), nil
	case Prop:
		if f.Prop < 0 || f.Prop > 63 {
			return no, fmt.Errorf("proposition %d, want 0 to 63", f.Prop)
		}
		if negated {
			return b.ite(b.prop(f.Prop), no, yes), nil
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
		return yes
	}
	return no
}

func (b *builder) iff(f *Formula, negated bool) (ref, error) {
	both, err := b.connective(&Formula{Op: And, X: f.X, Y: f.Y}, negated)
	if err != nil {
		return no, err
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
		return no, err
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
		return no, err
	}
	y := x
	if f.Y != nil {
		if y, err = b.build(f.Y, negated); err != nil {
			return no, err
		}
	}
	until := f.Op == Finally || f.Op == Until
	switch f.Op {
	case Finally, Globally: // true U x, false R x
		x = constant((f.Op == Finally) != negated)
	case Until, Release:
	case Next, WeakUntil:
		if f.Bound != nil {
			return no, fmt.Errorf("the operator %v has a bound", f.Op)
		}
		return b.nextOrWeak(f.Op, x, y, negated), nil
	default:
		return no, fmt.Errorf("%d is no operator", f.Op)
	}
	if f.Bound != nil {
		return b.bounded(until != negated, x, y, *f.Bound)
	}
	return b.unbounded(until != negated, x, y), nil
}

func (b *builder) nextOrWeak(op Op, x, y ref, negated bool) ref {
	switch {
	case op == Next:
		return b.step(x)
	case negated: // !(a W b) is !b U (!a & !b)
		return b.until(y, b.and(x, y))
	}
	return b.weak(x, y)
}

// step returns X x.
func (b *builder) step(x ref) ref {
	if b.strict {
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

// bounded writes x U[l,h] y with X, from the last step to the first:
// y | x & X(y | x & X(…)), and without `y |` before step l. x R[l,h] y is dual.
func (b *builder) bounded(until bool, x, y ref, k Bound) (ref, error) {
	if k.Low < 0 || k.High != Unbounded && k.High < k.Low {
		return no, fmt.Errorf("bound [%d,%d] of an operator", k.Low, k.High)
	}
	either, both := b.or, b.and
	if !until {
		either, both = both, either
	}
	out, i := y, k.High
	if k.High == Unbounded {
		out, i = b.unbounded(until, x, y), k.Low
	}
	for ; i > 0 && !b.full; i-- {
		out = both(x, b.step(out))
		if i <= k.Low {
			continue
		}
		out = either(y, out)
	}
	return out, b.err()
}
