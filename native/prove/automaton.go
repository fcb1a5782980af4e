package prove

import (
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/native/solve"
	"tilecheck/native/space/automata"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// pathAutomaton translates Pmin or Pmax of a path formula to a vector of the certificate: the probability from each state, with an automaton of the
// formula. If isComplement of the result is true, the probability is 1 minus the value in the vector.
func (translation *translation) pathAutomaton(expr sema.Expr, direction solve.Direction) (vectorValue, error) {
	automaton := &certificate.Automaton{}
	formula, err := translation.pathFormula(automaton, expr)
	if err != nil {
		return vectorValue{}, err
	}
	vector := certificate.Vector{Kind: certificate.PathFormula, Reward: -1, Automaton: automaton, IsMaximum: translation.isMaximum(solve.Max)}
	automaton.Formula = formula
	isComplement := vector.IsMaximum && direction == solve.Min
	if isComplement { // Pmin of a formula is 1 minus Pmax of its negation
		automaton.Formula = negation(formula)
	}
	return vectorValue{translation.vectorIndex(vector), isComplement}, nil
}

// quantifyAutomaton translates E [f], or A [f] if forall is true, to a set of states of the certificate, and returns the index of the set. It uses an
// automaton of f. A [f] is translated as !E [!f].
func (translation *translation) quantifyAutomaton(forall bool, expr sema.Expr) (int, error) {
	automaton := &certificate.Automaton{}
	formula, err := translation.pathFormula(automaton, expr)
	if err != nil {
		return 0, err
	}
	automaton.Formula = formula
	if forall {
		automaton.Formula = negation(formula)
	}
	vector := translation.vectorIndex(certificate.Vector{Kind: certificate.PathFormula, Reward: -1, Automaton: automaton, IsMaximum: true, ExistsPath: true})
	statesWithPath := translation.setIndex(certificate.Set{Kind: certificate.Bound, Vector: vector, Relation: ">=", Threshold: big.NewRat(1, 1)})
	if forall {
		return translation.complementIndex(statesWithPath), nil
	}
	return statesWithPath, nil
}

// pathFormula translates a path formula to a formula of the certificate. The state formulas in it become propositions of the automaton.
func (translation *translation) pathFormula(automaton *certificate.Automaton, expr sema.Expr) (*certificate.Formula, error) {
	path := logic.PathOf(expr)
	formula, err := translation.formulaWithoutNegation(automaton, path)
	if path.IsNegated {
		formula = negation(formula)
	}
	return formula, err
}

// formulaWithoutNegation translates a path formula to a formula of the certificate. It ignores path.IsNegated, the negation in front of the
// formula. The state formulas in it become propositions of the automaton.
func (translation *translation) formulaWithoutNegation(automaton *certificate.Automaton, path *logic.Path) (*certificate.Formula, error) {
	if path.Form == logic.InitialState {
		set, err := translation.stateFormula(path.Right)
		return propositionOf(automaton, set), err
	}
	if path.IsTemporal {
		return translation.temporalFormula(automaton, path)
	}
	binary, ok := path.Expr.(*sema.Binary)
	if !ok {
		return nil, translation.unsupported(path.Expr, "%s", logic.Describe(path.Expr))
	}
	left, err := translation.pathFormula(automaton, binary.X)
	if err != nil {
		return nil, err
	}
	right, err := translation.pathFormula(automaton, binary.Y)
	return &certificate.Formula{Op: booleanOp(binary.Op), Operand: left, SecondOperand: right}, err
}

// booleanOp returns the name of a Boolean operator in certificates. The operators <=> and = of Booleans have the same name.
func booleanOp(op syntax.Op) string {
	switch op {
	case syntax.OpAnd:
		return "&"
	case syntax.OpOr:
		return "|"
	case syntax.OpImplies:
		return "=>"
	}
	return "<=>"
}

// maxPropositions is the number of propositions that a letter has bits for.
const maxPropositions = 64

// propositionOf returns the atomic proposition that is true exactly in the states of a set of the certificate, given by its index. If the automaton has
// no proposition with this set, propositionOf adds one.
func propositionOf(automaton *certificate.Automaton, set int) *certificate.Formula {
	if set == allStates {
		return &certificate.Formula{Op: "true"}
	}
	proposition := slices.Index(automaton.Sets, set)
	if proposition < 0 {
		proposition = len(automaton.Sets)
		automaton.Sets = append(automaton.Sets, set)
	}
	return &certificate.Formula{Op: "p", Prop: proposition}
}

// temporalFormula translates a formula whose outermost operator is temporal, such as `a U<=5 b`, to a formula of the certificate.
func (translation *translation) temporalFormula(automaton *certificate.Automaton, path *logic.Path) (*certificate.Formula, error) {
	var left *certificate.Formula
	if path.Left != nil {
		var err error
		if left, err = translation.pathFormula(automaton, path.Left); err != nil {
			return nil, err
		}
	}
	right, err := translation.pathFormula(automaton, path.Right)
	if err != nil {
		return nil, err
	}
	if len(automaton.Sets) > maxPropositions {
		return nil, translation.unsupported(path.Expr, "a path formula with more than %d state formulas", maxPropositions)
	}
	result := &certificate.Formula{Op: path.Op.String(), Operand: left, SecondOperand: right}
	if left == nil {
		result.Operand, result.SecondOperand = right, nil
	}
	if path.Bound == nil {
		return result, nil
	}
	return translation.withStepBound(result, path)
}

// withStepBound returns formula with the step bound of path. formula is the translation of path without its bound. It is an error for a CTMC, where the
// bound is a time.
func (translation *translation) withStepBound(formula *certificate.Formula, path *logic.Path) (*certificate.Formula, error) {
	if translation.property.Program.Type == syntax.CTMC {
		return nil, translation.unsupported(path.Expr, "a time bound among several temporal operators")
	}
	if path.Op == syntax.WeakUntil && path.Bound.Low != nil {
		return nil, translation.unsupported(path.Expr, "a weak until (W) with a lower bound")
	}
	bounded := formula               // the operator that gets the step bound
	if path.Op == syntax.WeakUntil { // f W g is !((f & !g) U (!f & !g)), so that only U needs a bound
		left, right := formula.Operand, formula.SecondOperand
		onlyLeft := &certificate.Formula{Op: "&", Operand: left, SecondOperand: negation(right)}
		neither := &certificate.Formula{Op: "&", Operand: negation(left), SecondOperand: negation(right)}
		bounded = &certificate.Formula{Op: "U", Operand: onlyLeft, SecondOperand: neither}
		formula = negation(bounded)
	}
	low, high, err := logic.Steps(path.Bound)
	bounded.Low = low
	if high != logic.Unbounded {
		bounded.High = &high
	}
	return formula, err
}

// negation returns the negation of a formula.
func negation(formula *certificate.Formula) *certificate.Formula {
	return &certificate.Formula{Op: "!", Operand: formula}
}

// maxAutomaton is the greatest number of entries of an automaton's transition table.
const maxAutomaton = 200_000

// buildAutomaton computes the transitions, jumps and accepting states of an automaton from its formula and its letters. If coSafe is true, the automaton
// accepts a word as soon as a finite prefix decides it, and has no jumps.
func buildAutomaton(automaton *certificate.Automaton, coSafe bool) error {
	if automaton.Condition != nil {
		return buildConditionalAutomaton(automaton)
	}
	newAutomaton := automata.New
	if coSafe {
		newAutomaton = automata.NewPrefixes
	}
	source, err := newAutomaton(automatonFormula(automaton.Formula), automata.Limits{States: maxAutomaton/len(automaton.Letters) + 1})
	if err != nil {
		return err
	}
	automaton.Next, automaton.Jumps, automaton.Accepting = nil, nil, nil
	for state := 0; state < source.NumStates(); state++ { // Step and Jumps add states
		next, err := successorsOf(source, state, automaton.Letters)
		if err != nil {
			return err
		}
		jumps, err := jumpsOf(source, state)
		if err != nil {
			return err
		}
		isAccepting := source.Accepting(state)
		if coSafe {
			jumps = nil
			isAccepting = isAccepting && source.Class(state) == automata.Accepted
		}
		automaton.Next = append(automaton.Next, next)
		automaton.Jumps = append(automaton.Jumps, jumps)
		automaton.Accepting = append(automaton.Accepting, isAccepting)
	}
	removeTransientJumps(automaton)
	return nil
}

// successorsOf returns the successors of an automaton state: one for each letter, in the order of letters.
func successorsOf(source *automata.Automaton, state int, letters []uint64) ([]uint32, error) {
	var successors []uint32
	for _, letter := range letters {
		target, err := source.Step(state, letter)
		if err != nil {
			return nil, err
		}
		successors = append(successors, uint32(target))
	}
	return successors, nil
}

// jumpsOf returns the states of the accepting component to which an automaton state can jump, in increasing order. A state of the accepting component
// jumps to itself. A state from which no word is accepted has no jumps.
func jumpsOf(source *automata.Automaton, state int) ([]uint32, error) {
	switch source.Class(state) {
	case automata.Open:
		targets, err := source.Jumps(state)
		if err != nil {
			return nil, err
		}
		var jumps []uint32
		for _, target := range targets {
			jumps = append(jumps, uint32(target))
		}
		slices.Sort(jumps)
		return slices.Compact(jumps), nil
	case automata.Accepted, automata.Safe:
		return []uint32{uint32(state)}, nil
	}
	return nil, nil
}

// removeTransientJumps deletes the jumps of automaton states that are on no cycle. The automaton accepts the same words without them: an
// accepting run visits some state infinitely often, and can jump there.
func removeTransientJumps(automaton *certificate.Automaton) {
	for state := range automaton.Next {
		if len(automaton.Jumps[state]) > 0 && !isOnCycle(automaton, state) {
			automaton.Jumps[state] = nil
		}
	}
}

// isOnCycle reports whether an automaton state can reach itself in at least one step.
func isOnCycle(automaton *certificate.Automaton, state int) bool {
	reachable := make([]bool, len(automaton.Next))
	queue := []uint32{uint32(state)}
	for ; len(queue) > 0 && !reachable[state]; queue = queue[1:] {
		for _, next := range automaton.Next[queue[0]] {
			if !reachable[next] {
				reachable[next] = true
				queue = append(queue, next)
			}
		}
	}
	return reachable[state]
}

// automatonFormula converts a formula of a certificate to the same formula of package automata.
func automatonFormula(formula *certificate.Formula) *automata.Formula {
	if formula == nil {
		return nil
	}
	operators := map[string]automata.Op{
		"true": automata.True, "p": automata.Prop, "!": automata.Not, "&": automata.And, "|": automata.Or, "=>": automata.Implies, "<=>": automata.Iff,
		"X": automata.Next, "F": automata.Finally, "G": automata.Globally, "U": automata.Until, "W": automata.WeakUntil, "R": automata.Release,
	}
	result := &automata.Formula{Op: operators[formula.Op], Prop: formula.Prop, X: automatonFormula(formula.Operand), Y: automatonFormula(formula.SecondOperand)}
	if formula.Low > 0 || formula.High != nil {
		result.Bound = &automata.Bound{Low: formula.Low, High: automata.Unbounded}
		if formula.High != nil {
			result.Bound.High = *formula.High
		}
	}
	return result
}
