package automata

import "slices"

// jumpTarget is what a jump of the automaton guesses: the rest of the word satisfies the invariant, and it satisfies each goal, which is
// an eventuality, infinitely often.
type jumpTarget struct {
	invariant ref
	goals     []ref
}

// maxGuesses is the largest number of guesses that are checked for one state.
const maxGuesses = 1 << 17

// jumpTargets returns the guesses that a jump can make from a state in which formula remains to be satisfied. It leaves
// out a guess that implies another one. The error is ErrTooLarge.
//
// Theorem: a sequence satisfies formula if and only if, for the set X of the eventualities (U) in formula that hold
// infinitely often and the set Y of the invariants (W) that hold from some letter on, at some time
//
//   - what remains of formula holds if eventualities in X are weakened to W, and the others replaced by
//     false: an invariant;
//   - for each a U b of X: G F (a U b) holds, which is G F b, if invariants in Y are replaced by true
//     and the others strengthened to U;
//   - for each a W b of Y: G (a W b) holds with X treated as above: an invariant.
//
// Any guess of X and Y for which these conditions hold proves formula. So guesses may be left out, as long as
// the right one is kept. Eventualities outside every W are decided sooner or later, so only stable ones
// must be guessed. Only the invariants inside X matter.
//
// Source: Esparza, Kretinsky and Sickert, One theorem to rule them all (LICS 2018), theorem 3.3 and
// section 5.
func (diagram *bdd) jumpTargets(formula ref) ([]jumpTarget, error) {
	candidates := diagram.candidateEventualities(formula)
	if numSubsets(candidates) > maxGuesses {
		return nil, ErrTooLarge
	}
	var targets []jumpTarget
	numGuesses := 0
	for mask := range 1 << len(candidates) {
		eventualities := subset(candidates, mask)
		weaken := &weakening{diagram: diagram, eventualities: eventualities, results: map[ref]ref{}}
		weakenedFormula := weaken.apply(formula)
		if weakenedFormula == falseRef {
			continue
		}
		invariants := diagram.innerInvariants(eventualities)
		numGuesses += numSubsets(invariants)
		if numGuesses > maxGuesses {
			return nil, ErrTooLarge
		}
		for mask := range 1 << len(invariants) {
			if target, ok := diagram.checkGuess(weaken, weakenedFormula, subset(invariants, mask)); ok {
				targets = diagram.insertMinimal(targets, target)
			}
		}
		if diagram.exceeded {
			return nil, ErrTooLarge
		}
	}
	return targets, nil
}

// numSubsets returns the number of subsets of a set, or 2^20 if there are more.
func numSubsets(set []int32) int { return 1 << min(len(set), 20) }

// subset returns elements[i] for each bit i that is set in mask.
func subset(elements []int32, mask int) []int32 {
	var selected []int32
	for i, element := range elements {
		if mask>>i&1 == 1 {
			selected = append(selected, element)
		}
	}
	return selected
}

// candidateEventualities returns the eventualities of a formula that a guess has to decide: stable ones outside every
// temporal operator, and eventualities nested in an invariant. They are the candidates for X in jumpTargets.
func (diagram *bdd) candidateEventualities(formula ref) []int32 {
	candidates := map[int32]bool{}
	for _, number := range diagram.support(formula) {
		if operator := diagram.atoms[number]; operator.op == Until && operator.stable {
			candidates[number] = true
		}
	}
	for number := range diagram.nestedAtoms(formula) {
		if operator := diagram.atoms[number]; operator.op == WeakUntil {
			diagram.addNested(candidates, Until, operator)
		}
	}
	return sortedMembers(candidates)
}

// addNested adds to a set the numbers of the atoms with operator op that occur in the operands of outer, at any depth.
func (diagram *bdd) addNested(numbers map[int32]bool, op Op, outer atom) {
	for number := range diagram.nestedAtoms(outer.left, outer.right) {
		if diagram.atoms[number].op == op {
			numbers[number] = true
		}
	}
}

// innerInvariants returns the invariants (W) that occur in the operands of the given eventualities, at any depth.
func (diagram *bdd) innerInvariants(eventualities []int32) []int32 {
	invariants := map[int32]bool{}
	for _, eventuality := range eventualities {
		diagram.addNested(invariants, WeakUntil, diagram.atoms[eventuality])
	}
	return sortedMembers(invariants)
}

// nestedAtoms returns the numbers of the atoms of the given formulas and of the operands of these atoms, at any depth.
func (diagram *bdd) nestedAtoms(formulas ...ref) map[int32]bool {
	found := map[int32]bool{}
	pending := formulas
	for len(pending) > 0 {
		formula := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, number := range diagram.support(formula) {
			if !found[number] {
				found[number] = true
				pending = append(pending, diagram.atoms[number].left, diagram.atoms[number].right)
			}
		}
	}
	return found
}

// sortedMembers returns the members of a set in increasing order.
func sortedMembers(set map[int32]bool) []int32 {
	members := make([]int32, 0, len(set))
	for member := range set {
		members = append(members, member)
	}
	slices.Sort(members)
	return members
}

// checkGuess returns the jump target of a guess. The guess is that exactly the eventualities in weaken hold infinitely often, and that the
// given invariants hold from some letter on. weakenedFormula is the result of weaken for the formula that remains to be satisfied. ok is
// false if no word fits the guess.
//
// Source: Esparza, Kretinsky and Sickert (LICS 2018), section 5, the limit-deterministic automaton.
func (diagram *bdd) checkGuess(weaken *weakening, weakenedFormula ref, invariants []int32) (target jumpTarget, ok bool) {
	target = jumpTarget{invariant: weakenedFormula}
	for _, invariant := range invariants {
		operator := diagram.atoms[invariant] // left W right, and G (left W right) is G (left | right)
		operands := diagram.or(weaken.apply(operator.left), weaken.apply(operator.right))
		target.invariant = diagram.and(target.invariant, diagram.globally(operands))
	}
	strengthen := &strengthening{diagram: diagram, invariants: invariants, results: map[ref]ref{}}
	for _, eventuality := range weaken.eventualities {
		goal := diagram.until(trueRef, strengthen.apply(diagram.atoms[eventuality].right))
		if goal == falseRef {
			return target, false
		}
		if goal != trueRef {
			target.goals = append(target.goals, goal)
		}
	}
	slices.Sort(target.goals)
	target.goals = slices.Compact(target.goals)
	return target, target.invariant != falseRef
}

// insertMinimal adds a target to a list, unless the target implies one in the list. It removes the targets that imply the new one.
func (diagram *bdd) insertMinimal(targets []jumpTarget, target jumpTarget) []jumpTarget {
	if slices.ContainsFunc(targets, func(other jumpTarget) bool { return diagram.targetImplies(target, other) }) {
		return targets
	}
	targets = slices.DeleteFunc(targets, func(other jumpTarget) bool { return diagram.targetImplies(other, target) })
	return append(targets, target)
}

// targetImplies reports whether every word that fits target also fits other. It may miss some such pairs.
func (diagram *bdd) targetImplies(target, other jumpTarget) bool {
	for _, goal := range other.goals {
		if !slices.Contains(target.goals, goal) {
			return false
		}
	}
	return diagram.implies(target.invariant, other.invariant)
}

// weakening replaces U by W in the given eventualities, and all other eventualities by false. results caches the replaced formulas.
type weakening struct {
	diagram       *bdd
	eventualities []int32
	results       map[ref]ref
}

// apply returns the weakened formula.
func (w *weakening) apply(formula ref) ref {
	return w.diagram.substitute(formula, w.results, func(number int32, operator atom) ref {
		switch {
		case operator.op == Next:
			return w.diagram.next(w.apply(operator.left))
		case operator.op == WeakUntil || slices.Contains(w.eventualities, number):
			return w.diagram.weakUntil(w.apply(operator.left), w.apply(operator.right))
		}
		return falseRef
	})
}

// strengthening replaces the given invariants by true, and W by U in all others. results caches the replaced formulas.
type strengthening struct {
	diagram    *bdd
	invariants []int32
	results    map[ref]ref
}

// apply returns the formula in which the operators U and W are replaced: U stays, a W among the invariants becomes true, and any other W
// becomes U.
func (s *strengthening) apply(formula ref) ref {
	return s.diagram.substitute(formula, s.results, func(number int32, operator atom) ref {
		switch {
		case operator.op == Next:
			return s.diagram.next(s.apply(operator.left))
		case operator.op == Until || !slices.Contains(s.invariants, number):
			return s.diagram.until(s.apply(operator.left), s.apply(operator.right))
		}
		return trueRef
	})
}

// substitute returns a formula in which each atom with U or W, at any depth, is replaced by the result of replacement for it. results
// caches the results.
func (diagram *bdd) substitute(formula ref, results map[ref]ref, replacement func(number int32, operator atom) ref) ref {
	node := diagram.nodes[formula]
	if node.operators == 0 { // no U or W: nothing to replace
		return formula
	}
	if result, ok := results[formula]; ok {
		return result
	}
	replaced := diagram.literal(node.atom)
	if operator := diagram.atoms[node.atom]; operator.operators != 0 {
		replaced = replacement(node.atom, operator)
	}
	high := diagram.substitute(node.high, results, replacement)
	low := diagram.substitute(node.low, results, replacement)
	result := diagram.ite(replaced, high, low)
	results[formula] = result
	return result
}
