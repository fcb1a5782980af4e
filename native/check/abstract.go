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

// linearEvaluation translates a path formula to one over propositions, which are sets of states.
type linearEvaluation struct {
	evaluation        *evaluation
	rootFormula       sema.Expr     // the path formula
	propositionStates []*sparse.Set // the states in which each proposition holds
	letters           *letters      // the letter of each state; nil until all propositions are known
}

// translate converts a path formula to an LTL formula of package automata. The state formulas in it become atomic propositions.
func (linear *linearEvaluation) translate(expr sema.Expr) (*automata.Formula, error) {
	path := logic.PathOf(expr)
	formula, err := linear.translatePositive(path)
	if err != nil {
		return nil, err
	}
	if path.IsNegated {
		return automata.Unary(automata.Not, formula), nil
	}
	return formula, nil
}

// translatePositive converts a path formula to an LTL formula of package automata. It ignores path.IsNegated, the negation in front of the
// formula.
func (linear *linearEvaluation) translatePositive(path *logic.Path) (*automata.Formula, error) {
	if path.Form == logic.InitialState {
		set, err := linear.evaluation.satisfyingStates(path.Right)
		if err != nil {
			return nil, err
		}
		return linear.proposition(path.Right, set)
	}
	if path.IsTemporal {
		return linear.translateTemporal(path)
	}
	if binary, isBinary := path.Expr.(*sema.Binary); isBinary {
		return linear.translateBinary(binary)
	}
	return nil, linear.evaluation.unsupportedError(path.Expr, "found %s, want a path formula", logic.Describe(path.Expr))
}

// proposition returns an LTL formula that is true exactly in the states of set: an atomic proposition, its negation, or a constant. It adds an
// atomic proposition if set and its complement are new. expr is the state formula that set satisfies; errors have its position.
func (linear *linearEvaluation) proposition(expr sema.Expr, set *sparse.Set) (*automata.Formula, error) {
	complement := set.Complement()
	if complement.Empty() || set.Empty() {
		return automata.Constant(complement.Empty()), nil
	}
	if i := slices.IndexFunc(linear.propositionStates, set.Equal); i >= 0 {
		return automata.Atom(i), nil
	}
	if i := slices.IndexFunc(linear.propositionStates, complement.Equal); i >= 0 {
		return automata.Unary(automata.Not, automata.Atom(i)), nil
	}
	if len(linear.propositionStates) == maxPropositions {
		return nil, linear.evaluation.unsupportedError(expr, "found a path formula with more than %d different state formulas", maxPropositions)
	}
	linear.propositionStates = append(linear.propositionStates, set)
	return automata.Atom(len(linear.propositionStates) - 1), nil
}

// translateBinary converts `X & Y`, `X | Y`, `X => Y` or `X <=> Y` to an LTL formula of package automata.
func (linear *linearEvaluation) translateBinary(binary *sema.Binary) (*automata.Formula, error) {
	left, err := linear.translate(binary.X)
	if err != nil {
		return nil, err
	}
	right, err := linear.translate(binary.Y)
	if err != nil {
		return nil, err
	}
	switch binary.Op {
	case syntax.OpAnd:
		return automata.Binary(automata.And, left, right), nil
	case syntax.OpOr:
		return automata.Binary(automata.Or, left, right), nil
	case syntax.OpImplies:
		return automata.Binary(automata.Implies, left, right), nil
	}
	return automata.Binary(automata.Iff, left, right), nil
}

// translateTemporal converts a formula whose outermost operator is temporal, such as `a U<=5 b`, to an LTL formula of package automata.
func (linear *linearEvaluation) translateTemporal(path *logic.Path) (*automata.Formula, error) {
	formula, err := linear.translateUnbounded(path)
	if err != nil {
		return nil, err
	}
	if path.Op == syntax.Next || path.Bound == nil {
		return formula, nil
	}
	steps, err := linear.stepBound(path)
	if err != nil {
		return nil, err
	}
	if path.Op == syntax.WeakUntil { // package automata has no weak until with a bound
		return boundedWeakUntil(formula.X, formula.Y, steps, path.Bound.Low != nil), nil
	}
	formula.Bound = steps
	return formula, nil
}

// translateUnbounded converts a formula whose outermost operator is temporal to an LTL formula of package automata. It ignores the bound of the
// operator.
func (linear *linearEvaluation) translateUnbounded(path *logic.Path) (*automata.Formula, error) {
	right, err := linear.translate(path.Right)
	if err != nil {
		return nil, err
	}
	switch path.Op {
	case syntax.Next:
		return automata.Unary(automata.Next, right), nil
	case syntax.Future:
		return automata.Unary(automata.Finally, right), nil
	case syntax.Globally:
		return automata.Unary(automata.Globally, right), nil
	}
	left, err := linear.translate(path.Left)
	if err != nil {
		return nil, err
	}
	return automata.Binary(automatonOperator(path.Op), left, right), nil
}

// boundedWeakUntil returns the LTL formula for the bounded weak until `left W[l,h] right`, as PRISM defines it. With a lower bound l it is
// `(left U[l,h] right) | (G<=h left)`. Without a lower bound it is the negation of a bounded until formula.
func boundedWeakUntil(left, right *automata.Formula, steps *automata.Bound, hasLowerBound bool) *automata.Formula {
	if !hasLowerBound {
		negation := negatedWeakUntil(left, right)
		negation.Bound = steps
		return automata.Unary(automata.Not, negation)
	}
	until := automata.Binary(automata.Until, left, right)
	until.Bound = steps
	always := automata.Unary(automata.Globally, left)
	if steps.High != automata.Unbounded {
		always.Bound = &automata.Bound{High: steps.High}
	}
	return automata.Binary(automata.Or, until, always)
}

// automatonOperator returns the operator of package automata for W (weak until), R (release) or U (until).
func automatonOperator(op syntax.TemporalOp) automata.Op {
	switch op {
	case syntax.WeakUntil:
		return automata.WeakUntil
	case syntax.Release:
		return automata.Release
	}
	return automata.Until
}

// negatedWeakUntil returns the negation of the weak until formula "left W right", which is (left & !right) U (!left & !right).
func negatedWeakUntil(left, right *automata.Formula) *automata.Formula {
	notRight := automata.Unary(automata.Not, right)
	onlyLeft := automata.Binary(automata.And, left, notRight)
	neither := automata.Binary(automata.And, automata.Unary(automata.Not, left), notRight)
	return automata.Binary(automata.Until, onlyLeft, neither)
}

// stepBound evaluates the step bound of a temporal operator. It returns an error for a CTMC, where the bound is a time.
func (linear *linearEvaluation) stepBound(path *logic.Path) (*automata.Bound, error) {
	if linear.evaluation.modelKind() == sparse.CTMC {
		if path.Form == logic.LateWeakUntil && path.Expr == linear.rootFormula {
			return nil, linear.evaluation.unsupportedError(path.Expr, "found a weak until (W) with a lower bound for a CTMC")
		}
		return nil, linear.evaluation.unsupportedError(path.Expr, "found a time bound in a path formula with several temporal operators (LTL) for a CTMC")
	}
	steps, err := linear.evaluation.stepInterval(path)
	if err != nil {
		return nil, err
	}
	if steps.High == solve.Unbounded {
		steps.High = automata.Unbounded
	}
	return &automata.Bound{Low: steps.Low, High: steps.High}, nil
}
