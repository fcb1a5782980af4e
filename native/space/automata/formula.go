package automata

import (
	"fmt"
)

// Op is the outermost operator of a formula.
type Op uint8

// The operators. `a W b` is `(a U b) | G a`; `a R b` is `!(!a U !b)`.
const (
	True Op = iota
	False
	Prop
	Not
	Next
	Finally
	Globally
	And
	Or
	Implies
	Iff
	Until
	WeakUntil
	Release
)

// String returns the operator as PRISM writes it.
func (op Op) String() string {
	return [...]string{"true", "false", "p", "!", "X", "F", "G", "&", "|", "=>", "<=>", "U", "W", "R"}[op]
}

// Formula is a formula of linear temporal logic over infinite sequences of letters. A letter is a set
// of propositions.
type Formula struct {
	Op   Op
	Prop int // the number of a proposition, from 0 to 63
	// X is the operand of a unary operator; X and Y are the operands of a binary one.
	X, Y *Formula
	// Bound is the step bound of Finally, Globally, Until or Release; nil for none.
	Bound *Bound
}

// Bound restricts the step in which the second operand of Until, or the operand of Finally, holds: Low
// <= step <= High. Globally and Release are dual: `G[l,h] a` is `!(F[l,h] !a)`.
type Bound struct{ Low, High int }

// Unbounded is the High of a Bound without upper bound.
const Unbounded = -1

// Unary returns a formula with one operand.
func Unary(op Op, formula *Formula) *Formula { return &Formula{Op: op, X: formula} }

// Binary returns a formula with two operands.
func Binary(op Op, left, right *Formula) *Formula { return &Formula{Op: op, X: left, Y: right} }

// Atom returns the formula that proposition prop holds now.
func Atom(prop int) *Formula { return &Formula{Op: Prop, Prop: prop} }

// Constant returns true or false.
func Constant(value bool) *Formula {
	if value {
		return &Formula{Op: True}
	}
	return &Formula{Op: False}
}

// String returns the formula in PRISM's syntax, with propositions p0, p1, and so on.
func (formula *Formula) String() string {
	switch {
	case formula.Op == Prop:
		return fmt.Sprintf("p%d", formula.Prop)
	case formula.Op < Prop: // true and false
		return formula.Op.String()
	case formula.Op == Not:
		return "!" + formula.X.String()
	case formula.Op < And: // X, F and G
		return fmt.Sprintf("(%v%v %v)", formula.Op, formula.Bound, formula.X)
	}
	return fmt.Sprintf("(%v %v%v %v)", formula.X, formula.Op, formula.Bound, formula.Y)
}

// String returns the bound in PRISM's syntax. It returns "" for a nil Bound.
func (bound *Bound) String() string {
	switch {
	case bound == nil:
		return ""
	case bound.High == Unbounded:
		return fmt.Sprintf(">=%d", bound.Low)
	}
	return fmt.Sprintf("[%d,%d]", bound.Low, bound.High)
}

// CoSafe reports whether a formula is syntactically co-safe: its negation normal form has no G, W and
// R. Operators with an upper bound are both safe and co-safe.
func CoSafe(formula *Formula) bool { return coSafe(formula, false) }

// coSafe reports whether a formula, or its negation if isNegated is set, is syntactically co-safe: after negations are moved inwards, it has no unbounded G,
// W or R.
func coSafe(formula *Formula, isNegated bool) bool {
	switch formula.Op {
	case True, False, Prop:
		return true
	case Not:
		return coSafe(formula.X, !isNegated)
	case Implies:
		return coSafe(formula.X, !isNegated) && coSafe(formula.Y, isNegated)
	case Iff:
		return coSafe(formula.X, true) && coSafe(formula.X, false) && coSafe(formula.Y, true) && coSafe(formula.Y, false)
	}
	// The negation of an eventuality (F, U) is an invariant (G, W, R), and vice versa. An invariant without a bound is not co-safe.
	isInvariant := formula.Op == Globally || formula.Op == WeakUntil || formula.Op == Release
	if isNegated {
		isInvariant = formula.Op == Finally || formula.Op == Until
	}
	if isInvariant && !formula.bounded() {
		return false
	}
	return coSafe(formula.X, isNegated) && (formula.Y == nil || coSafe(formula.Y, isNegated))
}

// bounded reports whether the operator has an upper bound, so that finitely many steps decide it.
func (formula *Formula) bounded() bool {
	return formula.Bound != nil && formula.Bound.High != Unbounded
}
