package check

import (
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// maxPropositions limits the number of different state formulas in a path formula: a letter has 64 bits.
const maxPropositions = 64

// abstraction translates a path formula to one over propositions, which are sets of states.
type abstraction struct {
	*evaluation
	root    sema.Expr     // the path formula
	sets    []*sparse.Set // the states in which each proposition holds
	letters *letters      // the letter of each state; nil until all propositions are known
}

// formula translates a path formula. Its maximal state formulas become propositions.
func (a *abstraction) formula(expr sema.Expr) (*automata.Formula, error) {
	path := logic.PathOf(expr)
	formula, err := a.positiveFormula(path)
	if err == nil && path.Negated {
		formula = automata.Unary(automata.Not, formula)
	}
	return formula, err
}

// positiveFormula translates a path formula that is not a negation.
func (a *abstraction) positiveFormula(path *logic.Path) (*automata.Formula, error) {
	if path.Form == logic.InitialState {
		set, err := a.nested(path.Right)
		if err != nil {
			return nil, err
		}
		return a.proposition(path.Right, set)
	}
	if path.Operator {
		return a.temporalFormula(path)
	}
	if binary, ok := path.X.(*sema.Binary); ok {
		return a.binaryFormula(binary)
	}
	return nil, a.unsupported(path.X, "found %s, want a path formula", logic.Describe(path.X))
}

// proposition returns a formula that holds in the states of a set and in no others. It reuses a proposition whose set is
// equal, or negates one whose set is the complement; otherwise it adds a proposition.
func (a *abstraction) proposition(expr sema.Expr, set *sparse.Set) (*automata.Formula, error) {
	complement := set.Complement()
	if complement.Empty() || set.Empty() {
		return automata.Constant(complement.Empty()), nil
	}
	if i := slices.IndexFunc(a.sets, set.Equal); i >= 0 {
		return automata.Atom(i), nil
	}
	if i := slices.IndexFunc(a.sets, complement.Equal); i >= 0 {
		return automata.Unary(automata.Not, automata.Atom(i)), nil
	}
	if len(a.sets) == maxPropositions {
		return nil, a.unsupported(expr, "found a path formula with more than %d different state formulas", maxPropositions)
	}
	a.sets = append(a.sets, set)
	return automata.Atom(len(a.sets) - 1), nil
}

// binaryFormula translates a Boolean operator with two operands to a formula of package automata.
func (a *abstraction) binaryFormula(binary *sema.Binary) (*automata.Formula, error) {
	left, err := a.formula(binary.X)
	if err != nil {
		return nil, err
	}
	right, err := a.formula(binary.Y)
	switch binary.Op {
	case syntax.OpAnd:
		return automata.Binary(automata.And, left, right), err
	case syntax.OpOr:
		return automata.Binary(automata.Or, left, right), err
	case syntax.OpImplies:
		return automata.Binary(automata.Implies, left, right), err
	}
	return automata.Binary(automata.Iff, left, right), err
}

// temporalFormula translates a path formula whose outermost operator is temporal.
func (a *abstraction) temporalFormula(path *logic.Path) (*automata.Formula, error) {
	right, err := a.formula(path.Right)
	if err != nil {
		return nil, err
	}
	out := automata.Unary(automata.Next, right)
	switch path.Op {
	case syntax.Next:
		return out, nil
	case syntax.Future:
		out.Op = automata.Finally
	case syntax.Globally:
		out.Op = automata.Globally
	default:
		left, err := a.formula(path.Left)
		if err != nil {
			return nil, err
		}
		out = automata.Binary(automatonOperator(path.Op), left, right)
	}
	if path.Bound == nil {
		return out, nil
	}
	steps, err := a.stepBound(path)
	if err != nil {
		return nil, err
	}
	switch {
	case path.Op == syntax.WeakUntil && path.Bound.Low != nil: // f W[l,h] g is f U[l,h] g | G<=h f
		always := automata.Unary(automata.Globally, out.X)
		if steps.High != automata.Unbounded {
			always.Bound = &automata.Bound{High: steps.High}
		}
		out.Op = automata.Until
		out.Bound = steps
		return automata.Binary(automata.Or, out, always), nil
	case path.Op == syntax.WeakUntil:
		out = strongDual(out.X, out.Y)
		out.X.Bound = steps
		return out, nil
	}
	out.Bound = steps
	return out, nil
}

// automatonOperator returns the operator of package automata for a weak until (W), a release (R) or an until (U).
func automatonOperator(op syntax.TemporalOp) automata.Op {
	switch op {
	case syntax.WeakUntil:
		return automata.WeakUntil
	case syntax.Release:
		return automata.Release
	}
	return automata.Until
}

// strongDual returns formula W g as !((formula & !g) U (!formula & !g)). The caller bounds the until: this is how PRISM reads a
// weak until with an upper bound.
func strongDual(formula, g *automata.Formula) *automata.Formula {
	notG := automata.Unary(automata.Not, g)
	left := automata.Binary(automata.And, formula, notG)
	right := automata.Binary(automata.And, automata.Unary(automata.Not, formula), notG)
	return automata.Unary(automata.Not, automata.Binary(automata.Until, left, right))
}

// stepBound evaluates the bound of an operator in an LTL formula. Time bounds of a CTMC are unsupported.
func (a *abstraction) stepBound(path *logic.Path) (*automata.Bound, error) {
	if a.kind() == sparse.CTMC {
		if path.Form == logic.LateWeakUntil && path.X == a.root {
			return nil, a.unsupported(path.X, "found a weak until (W) with a lower bound for a CTMC")
		}
		return nil, a.unsupported(path.X, "found a time bound in a path formula with several temporal operators (LTL) for a CTMC")
	}
	steps, err := a.steps(path)
	if err != nil {
		return nil, err
	}
	if steps.High == solve.Unbounded {
		steps.High = automata.Unbounded
	}
	return &automata.Bound{Low: steps.Low, High: steps.High}, nil
}
