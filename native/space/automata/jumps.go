package automata

import "slices"

// jumpTarget is what a jump of the automaton guesses: the rest of the word satisfies the invariant, and it satisfies each goal, which is
// an eventuality, infinitely often.
type jumpTarget struct {
	invariant formulaRef
	goals     []formulaRef
}

// maxGuesses is the largest number of guesses that are checked for one state.
const maxGuesses = 1 << 17

// jumpTargets returns the guesses of a jump from a state where a formula remains to be satisfied. It omits a guess
// that implies another guess. The error is ErrTooLarge.
//
// Theorem: let X be the eventualities (U) of the formula that hold infinitely often, and Y the invariants (W) that
// hold from some letter on. A sequence satisfies the formula if and only if at some time the following hold.
//
//   - The remaining formula holds, with U weakened to W in X and replaced by false elsewhere. It is an invariant.
//   - For each a U b of X: G F b holds, with the invariants of Y replaced by true and other W strengthened to U.
//   - For each a W b of Y: G (a W b) holds, with X treated as in the first condition. It is an invariant.
//
// Every guess of X and Y that satisfies these conditions proves the formula. So guesses may be omitted if the
// right guess stays. Eventualities outside every W are decided at some time, so only stable ones are guessed. Only
// the invariants inside X matter.
//
// Source: Esparza, Kretinsky and Sickert, One theorem to rule them all (LICS 2018), theorem 3.3 and section 5.
func (diagram *decisionDiagram) jumpTargets(formula formulaRef) ([]jumpTarget, error) {
	candidates := diagram.candidateEventualities(formula)
	if numSubsets(candidates) > maxGuesses {
		return nil, ErrTooLarge
	}
	var targets []jumpTarget
	numGuesses := 0
	for mask := range 1 << len(candidates) {
		eventualities := subset(candidates, mask) // the set X
		weaken := &weakening{diagram: diagram, eventualities: eventualities, results: map[formulaRef]formulaRef{}}
		weakenedFormula := weaken.weakenFormula(formula)
		if weakenedFormula == falseFormula {
			continue
		}
		invariants := diagram.innerInvariants(eventualities)
		numGuesses += numSubsets(invariants)
		if numGuesses > maxGuesses {
			return nil, ErrTooLarge
		}
		for mask := range 1 << len(invariants) { // all sets Y
			if target, ok := diagram.checkGuess(weaken, weakenedFormula, subset(invariants, mask)); ok {
				targets = diagram.insertTarget(targets, target)
			}
		}
		if diagram.isTooLarge {
			return nil, ErrTooLarge
		}
	}
	return targets, nil
}

// numSubsets returns the number of subsets of a set, or 2^20 if there are more.
func numSubsets(set []int32) int { return 1 << min(len(set), 20) }

// subset returns the elements that a bit mask selects: elements[i] if bit i of mask is 1.
func subset(elements []int32, mask int) []int32 {
	var selected []int32
	for i, element := range elements {
		if mask>>i&1 == 1 {
			selected = append(selected, element)
		}
	}
	return selected
}

// candidateEventualities returns the eventualities (formulas with U) for which a guess must say whether they hold infinitely often. These are the stable
// ones outside of all temporal operators, and those within an invariant (W).
func (diagram *decisionDiagram) candidateEventualities(formula formulaRef) []int32 {
	candidates := map[int32]bool{}
	for _, number := range diagram.atomsOf(formula) {
		if operator := diagram.atoms[number]; operator.op == Until && operator.isStable {
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

// addNested adds the atoms with operator op in the operands of outer, at any depth, to a set of numbers.
func (diagram *decisionDiagram) addNested(numbers map[int32]bool, op Op, outer atom) {
	for number := range diagram.nestedAtoms(outer.left, outer.right) {
		if diagram.atoms[number].op == op {
			numbers[number] = true
		}
	}
}

// innerInvariants returns the invariants (W) in the operands of eventualities, at any depth.
func (diagram *decisionDiagram) innerInvariants(eventualities []int32) []int32 {
	invariants := map[int32]bool{}
	for _, eventuality := range eventualities {
		diagram.addNested(invariants, WeakUntil, diagram.atoms[eventuality])
	}
	return sortedMembers(invariants)
}

// nestedAtoms returns the set of the numbers of all atoms in the formulas, including the atoms within the operands of other atoms.
func (diagram *decisionDiagram) nestedAtoms(formulas ...formulaRef) map[int32]bool {
	found := map[int32]bool{}
	pending := formulas
	for len(pending) > 0 {
		formula := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, number := range diagram.atomsOf(formula) {
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

// checkGuess returns what the rest of a word must satisfy if a guess is right. The guess is that exactly the eventualities in weaken hold infinitely often,
// and that the given invariants hold from some letter on. weakenedFormula is the remaining formula after weaken is applied. ok is false if no word can
// satisfy this.
//
// Source: Esparza, Kretinsky and Sickert (LICS 2018), section 5.
func (diagram *decisionDiagram) checkGuess(weaken *weakening, weakenedFormula formulaRef, invariants []int32) (target jumpTarget, ok bool) {
	target = jumpTarget{invariant: weakenedFormula}
	for _, invariant := range invariants {
		operator := diagram.atoms[invariant] // the atom is left W right, and G (left W right) is equivalent to G (left | right)
		operands := diagram.or(weaken.weakenFormula(operator.left), weaken.weakenFormula(operator.right))
		target.invariant = diagram.and(target.invariant, diagram.globally(operands))
	}
	strengthen := &strengthening{diagram: diagram, invariants: invariants, results: map[formulaRef]formulaRef{}}
	for _, eventuality := range weaken.eventualities {
		goal := diagram.until(trueFormula, strengthen.strengthenFormula(diagram.atoms[eventuality].right))
		if goal == falseFormula {
			return target, false
		}
		if goal != trueFormula {
			target.goals = append(target.goals, goal)
		}
	}
	slices.Sort(target.goals)
	target.goals = slices.Compact(target.goals)
	return target, target.invariant != falseFormula
}

// insertTarget adds a target to a list, unless the target implies another target of the list. It removes the targets that imply the new
// one.
func (diagram *decisionDiagram) insertTarget(targets []jumpTarget, target jumpTarget) []jumpTarget {
	if slices.ContainsFunc(targets, func(other jumpTarget) bool { return diagram.targetImplies(target, other) }) {
		return targets
	}
	targets = slices.DeleteFunc(targets, func(other jumpTarget) bool { return diagram.targetImplies(other, target) })
	return append(targets, target)
}

// targetImplies reports whether every word that satisfies target also satisfies other. It compares goals only by equality, so it may return false although
// the implication holds.
func (diagram *decisionDiagram) targetImplies(target, other jumpTarget) bool {
	for _, goal := range other.goals {
		if !slices.Contains(target.goals, goal) {
			return false
		}
	}
	return diagram.implies(target.invariant, other.invariant)
}

// weakening replaces U by W in the given eventualities, and all other eventualities by false. results caches the replaced formulas.
type weakening struct {
	diagram       *decisionDiagram
	eventualities []int32
	results       map[formulaRef]formulaRef
}

// weakenFormula returns the formula under the guess that exactly the eventualities in weaken.eventualities hold infinitely often: in these, W replaces U,
// and all other eventualities become false.
func (weaken *weakening) weakenFormula(formula formulaRef) formulaRef {
	return weaken.diagram.substitute(formula, weaken.results, func(number int32, operator atom) formulaRef {
		switch {
		case operator.op == Next:
			return weaken.diagram.next(weaken.weakenFormula(operator.left))
		case operator.op == WeakUntil || slices.Contains(weaken.eventualities, number):
			return weaken.diagram.weakUntil(weaken.weakenFormula(operator.left), weaken.weakenFormula(operator.right))
		}
		return falseFormula
	})
}

// strengthening replaces the given invariants by true, and W by U in all others. results caches the replaced formulas.
type strengthening struct {
	diagram    *decisionDiagram
	invariants []int32
	results    map[formulaRef]formulaRef
}

// strengthenFormula returns the formula under the guess that the invariants in strengthen.invariants hold from now on: these become true, and in all other
// invariants U replaces W.
func (strengthen *strengthening) strengthenFormula(formula formulaRef) formulaRef {
	return strengthen.diagram.substitute(formula, strengthen.results, func(number int32, operator atom) formulaRef {
		switch {
		case operator.op == Next:
			return strengthen.diagram.next(strengthen.strengthenFormula(operator.left))
		case operator.op == Until || !slices.Contains(strengthen.invariants, number):
			return strengthen.diagram.until(strengthen.strengthenFormula(operator.left), strengthen.strengthenFormula(operator.right))
		}
		return trueFormula
	})
}

// substitute returns a formula in which each atom with U or W, at any depth, is replaced by the result of replacement for this atom.
// results caches the new formulas.
func (diagram *decisionDiagram) substitute(formula formulaRef, results map[formulaRef]formulaRef, replacement func(number int32, operator atom) formulaRef) formulaRef {
	node := diagram.nodes[formula]
	if node.operators == 0 { // no U or W: nothing to replace
		return formula
	}
	if result, isCached := results[formula]; isCached {
		return result
	}
	replaced := diagram.literal(node.atom)
	if operator := diagram.atoms[node.atom]; operator.operators != 0 {
		replaced = replacement(node.atom, operator)
	}
	high := diagram.substitute(node.high, results, replacement)
	low := diagram.substitute(node.low, results, replacement)
	result := diagram.ifThenElse(replaced, high, low)
	results[formula] = result
	return result
}
