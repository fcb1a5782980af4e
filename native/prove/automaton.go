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

// pathAutomaton translates Pmin or Pmax of a path formula to a vector with an automaton.
func (t *translation) pathAutomaton(expr sema.Expr, dir solve.Direction) (vectorValue, error) {
	automaton := &certificate.Automaton{}
	formula, err := t.pathFormula(automaton, expr)
	if err != nil {
		return vectorValue{}, err
	}
	vector := certificate.Vector{Kind: certificate.PathFormula, Reward: -1, Automaton: automaton, Max: t.isMaximum(solve.Max)}
	automaton.Formula = formula
	isComplement := vector.Max && dir == solve.Min
	if isComplement { // Pmin of a formula is 1 minus Pmax of its negation
		automaton.Formula = negation(formula)
	}
	return vectorValue{t.vectorIndex(vector), isComplement}, nil
}

// quantifyAutomaton translates E [f] or A [f] to a set of states, by an automaton. A [f] is !E [!f].
func (t *translation) quantifyAutomaton(forall bool, expr sema.Expr) (int, error) {
	automaton := &certificate.Automaton{}
	formula, err := t.pathFormula(automaton, expr)
	if err != nil {
		return 0, err
	}
	automaton.Formula = formula
	if forall {
		automaton.Formula = negation(formula)
	}
	vector := t.vectorIndex(certificate.Vector{Kind: certificate.PathFormula, Reward: -1, Automaton: automaton, Max: true, Paths: true})
	existsPath := t.setIndex(certificate.Set{Kind: certificate.Bound, Vector: vector, Relation: ">=", Threshold: big.NewRat(1, 1)})
	if forall {
		return t.not(existsPath), nil
	}
	return existsPath, nil
}

// pathFormula translates a path formula. Its state formulas become propositions of the automaton.
func (t *translation) pathFormula(automaton *certificate.Automaton, expr sema.Expr) (*certificate.Formula, error) {
	path := logic.PathOf(expr)
	formula, err := t.positiveFormula(automaton, path)
	if path.Negated {
		formula = negation(formula)
	}
	return formula, err
}

// positiveFormula translates a path formula without its outer negation. Its state formulas become propositions of the automaton.
func (t *translation) positiveFormula(automaton *certificate.Automaton, path *logic.Path) (*certificate.Formula, error) {
	if path.Form == logic.InitialState {
		set, err := t.stateFormula(path.Right)
		return propositionOf(automaton, set), err
	}
	if path.Operator {
		return t.temporalFormula(automaton, path)
	}
	binary, ok := path.X.(*sema.Binary)
	if !ok {
		return nil, t.unsupported(path.X, "%s", logic.Describe(path.X))
	}
	left, err := t.pathFormula(automaton, binary.X)
	if err != nil {
		return nil, err
	}
	right, err := t.pathFormula(automaton, binary.Y)
	return &certificate.Formula{Op: booleanOp(binary.Op), X: left, Y: right}, err
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

// propositionOf returns the proposition for a set of states. It adds a new set to the automaton.
func propositionOf(automaton *certificate.Automaton, set int) *certificate.Formula {
	if set == allStates {
		return &certificate.Formula{Op: "true"}
	}
	i := slices.Index(automaton.Sets, set)
	if i < 0 {
		i = len(automaton.Sets)
		automaton.Sets = append(automaton.Sets, set)
	}
	return &certificate.Formula{Op: "p", Prop: i}
}

// temporalFormula translates a temporal operator with its operands and its step bound.
func (t *translation) temporalFormula(automaton *certificate.Automaton, path *logic.Path) (*certificate.Formula, error) {
	var left *certificate.Formula
	if path.Left != nil {
		var err error
		if left, err = t.pathFormula(automaton, path.Left); err != nil {
			return nil, err
		}
	}
	right, err := t.pathFormula(automaton, path.Right)
	if err != nil {
		return nil, err
	}
	if len(automaton.Sets) > maxPropositions {
		return nil, t.unsupported(path.X, "a path formula with more than %d state formulas", maxPropositions)
	}
	result := &certificate.Formula{Op: path.Op.String(), X: left, Y: right}
	if left == nil {
		result.X, result.Y = right, nil
	}
	if path.Bound == nil {
		return result, nil
	}
	return t.withStepBound(result, path)
}

// withStepBound adds the step bound of a path formula to the translated formula.
func (t *translation) withStepBound(formula *certificate.Formula, path *logic.Path) (*certificate.Formula, error) {
	if t.property.Program.Type == syntax.CTMC {
		return nil, t.unsupported(path.X, "a time bound among several temporal operators")
	}
	if path.Op == syntax.WeakUntil && path.Bound.Low != nil {
		return nil, t.unsupported(path.X, "a weak until (W) with a lower bound")
	}
	bounded := formula               // the operator that gets the bound
	if path.Op == syntax.WeakUntil { // f W g is !((f & !g) U (!f & !g))
		left, right := formula.X, formula.Y
		onlyLeft := &certificate.Formula{Op: "&", X: left, Y: negation(right)}
		neither := &certificate.Formula{Op: "&", X: negation(left), Y: negation(right)}
		bounded = &certificate.Formula{Op: "U", X: onlyLeft, Y: neither}
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
	return &certificate.Formula{Op: "!", X: formula}
}

// maxAutomaton is the greatest number of entries of an automaton's transition table.
const maxAutomaton = 200_000

// buildAutomaton builds the transitions, jumps and accepting states of an automaton from its formula and its letters. A co-safe automaton
// accepts finite prefixes, and has no jumps.
func buildAutomaton(automaton *certificate.Automaton, coSafe bool) error {
	if automaton.Condition != nil {
		return buildConditionalAutomaton(automaton)
	}
	create := automata.New
	if coSafe {
		create = automata.NewPrefixes
	}
	source, err := create(automatonFormula(automaton.Formula), automata.Limits{States: maxAutomaton/len(automaton.Letters) + 1})
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
		accepting := source.Accepting(state)
		if coSafe {
			jumps = nil
			accepting = accepting && source.Class(state) == automata.Accepted
		}
		automaton.Next = append(automaton.Next, next)
		automaton.Jumps = append(automaton.Jumps, jumps)
		automaton.Accepting = append(automaton.Accepting, accepting)
	}
	removeTransientJumps(automaton)
	return nil
}

// successorsOf returns the successor of an automaton state for each letter.
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

// jumpsOf returns the targets of the jumps of an automaton state, in increasing order. A state that accepts every continuation jumps
// to itself.
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

// removeTransientJumps deletes the jumps of automaton states that are on no cycle. The language of the automaton stays the same.
func removeTransientJumps(automaton *certificate.Automaton) {
	// An accepting run visits some state infinitely often, and can jump there.
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

// automatonFormula converts a formula of a certificate to a formula of package automata.
func automatonFormula(formula *certificate.Formula) *automata.Formula {
	if formula == nil {
		return nil
	}
	operators := map[string]automata.Op{
		"true": automata.True, "p": automata.Prop, "!": automata.Not, "&": automata.And, "|": automata.Or, "=>": automata.Implies, "<=>": automata.Iff,
		"X": automata.Next, "F": automata.Finally, "G": automata.Globally, "U": automata.Until, "W": automata.WeakUntil, "R": automata.Release,
	}
	result := &automata.Formula{Op: operators[formula.Op], Prop: formula.Prop, X: automatonFormula(formula.X), Y: automatonFormula(formula.Y)}
	if formula.Low > 0 || formula.High != nil {
		result.Bound = &automata.Bound{Low: formula.Low, High: automata.Unbounded}
		if formula.High != nil {
			result.Bound.High = *formula.High
		}
	}
	return result
}
