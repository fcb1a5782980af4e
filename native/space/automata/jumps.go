package automata

import "slices"

// jumpTarget is a guess that a jump makes: the invariant must hold from now on, and each goal, an
// eventuality, must be met infinitely often.
type jumpTarget struct {
	invariant ref
	goals     []ref
}

// maxGuesses limits the guesses that are checked for one state.
const maxGuesses = 1 << 17

// jumpTargets returns the guesses that a jump from a state with the remaining formula f can make. It leaves
// out a guess that demands more than another one. The error is ErrTooLarge.
//
// Theorem: a sequence satisfies f if and only if, for the set X of the eventualities (U) in f that hold
// infinitely often and the set Y of the invariants (W) that hold from some letter on, at some time
//
//   - what remains of f holds if eventualities in X are weakened to W, and the others replaced by
//     false: an invariant;
//   - for each a U b of X: G F (a U b) holds, which is G F b, if invariants in Y are replaced by true
//     and the others strengthened to U;
//   - for each a W b of Y: G (a W b) holds with X treated as above: an invariant.
//
// Any guess of X and Y for which these conditions hold proves f. So guesses may be left out, as long as
// the right one is kept. Eventualities outside every W are decided sooner or later, so only stable ones
// must be guessed. Only the invariants inside X matter.
//
// Source: Esparza, Kretinsky and Sickert, One theorem to rule them all (LICS 2018), theorem 3.3 and
// section 5.
func (t *bdd) jumpTargets(f ref) ([]jumpTarget, error) {
	candidates := t.candidateEventualities(f)
	var out []jumpTarget
	if 1<<min(len(candidates), 20) > maxGuesses {
		return nil, ErrTooLarge
	}
	numGuesses := 0
	for mask := range 1 << len(candidates) {
		eventualities := subset(candidates, mask)
		weak := &weakening{diagram: t, eventualities: eventualities, results: map[ref]ref{}}
		remainder := weak.apply(f)
		if remainder == falseRef {
			continue
		}
		invariants := t.innerInvariants(eventualities)
		numGuesses += 1 << min(len(invariants), 20)
		if numGuesses > maxGuesses {
			return nil, ErrTooLarge
		}
		for mask := range 1 << len(invariants) {
			if target, ok := t.checkGuess(weak, remainder, subset(invariants, mask)); ok {
				out = insertMinimal(t, out, target)
			}
		}
		if t.exceeded {
			return nil, ErrTooLarge
		}
	}
	return out, nil
}

// subset returns elements[i] for each bit i that is set in mask.
func subset(elements []int32, mask int) []int32 {
	var out []int32
	for i, v := range elements {
		if mask>>i&1 == 1 {
			out = append(out, v)
		}
	}
	return out
}

// candidateEventualities returns the eventualities of f that a guess has to decide: the stable ones outside
// every temporal operator, and those nested in an invariant. They are the candidates for X in jumpTargets.
func (t *bdd) candidateEventualities(f ref) []int32 {
	found := map[int32]bool{}
	for _, v := range t.support(f) {
		if a := t.atoms[v]; a.op == Until && a.stable {
			found[v] = true
		}
	}
	for v := range t.nestedAtoms(f) {
		if a := t.atoms[v]; a.op == WeakUntil {
			for u := range t.nestedAtoms(a.x, a.y) {
				if t.atoms[u].op == Until {
					found[u] = true
				}
			}
		}
	}
	return sortedMembers(found)
}

// innerInvariants returns the invariants that are nested in the given eventualities.
func (t *bdd) innerInvariants(eventualities []int32) []int32 {
	found := map[int32]bool{}
	for _, u := range eventualities {
		for v := range t.nestedAtoms(t.atoms[u].x, t.atoms[u].y) {
			if t.atoms[v].op == WeakUntil {
				found[v] = true
			}
		}
	}
	return sortedMembers(found)
}

// nestedAtoms returns the atoms of the given formulas, and those of their operands, at any depth.
func (t *bdd) nestedAtoms(formulas ...ref) map[int32]bool {
	found := map[int32]bool{}
	pending := formulas
	for len(pending) > 0 {
		f := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, v := range t.support(f) {
			if !found[v] {
				found[v] = true
				pending = append(pending, t.atoms[v].x, t.atoms[v].y)
			}
		}
	}
	return found
}

// sortedMembers returns the members of a set in increasing order.
func sortedMembers(set map[int32]bool) []int32 {
	out := make([]int32, 0, len(set))
	for v := range set {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// checkGuess returns the jump target of a guess, and false if its conditions cannot hold. weak has the
// guessed eventualities; remainder is the formula that it has weakened.
func (t *bdd) checkGuess(weak *weakening, remainder ref, invariants []int32) (jumpTarget, bool) {
	out := jumpTarget{invariant: remainder}
	for _, v := range invariants {
		a := t.atoms[v]
		out.invariant = t.and(out.invariant, t.globally(t.or(weak.apply(a.x), weak.apply(a.y))))
	}
	strong := &strengthening{diagram: t, invariants: invariants, results: map[ref]ref{}}
	for _, u := range weak.eventualities {
		switch goal := t.until(trueRef, strong.apply(t.atoms[u].y)); goal {
		case trueRef:
		case falseRef:
			return out, false
		default:
			out.goals = append(out.goals, goal)
		}
	}
	slices.Sort(out.goals)
	out.goals = slices.Compact(out.goals)
	return out, out.invariant != falseRef
}

// insertMinimal adds a target to a list, unless another target demands less. It removes the targets that
// demand more than the new one.
func insertMinimal(t *bdd, targets []jumpTarget, target jumpTarget) []jumpTarget {
	if slices.ContainsFunc(targets, func(other jumpTarget) bool { return t.moreDemanding(target, other) }) {
		return targets
	}
	targets = slices.DeleteFunc(targets, func(other jumpTarget) bool { return t.moreDemanding(other, target) })
	return append(targets, target)
}

// moreDemanding reports whether target g demands at least what h demands.
func (t *bdd) moreDemanding(target, other jumpTarget) bool {
	for _, goal := range other.goals {
		if !slices.Contains(target.goals, goal) {
			return false
		}
	}
	return t.implies(target.invariant, other.invariant)
}

// weakening replaces U by W in the given eventualities, and all other eventualities by false.
type weakening struct {
	diagram       *bdd
	eventualities []int32
	results       map[ref]ref
}

// apply returns the weakened formula.
func (w *weakening) apply(f ref) ref {
	return w.diagram.substitute(f, w.results, func(v int32, a atom) ref {
		switch {
		case a.op == Next:
			return w.diagram.next(w.apply(a.x))
		case a.op == WeakUntil || slices.Contains(w.eventualities, v):
			return w.diagram.weak(w.apply(a.x), w.apply(a.y))
		}
		return falseRef
	})
}

// strengthening replaces the given invariants by true, and W by U in all others.
type strengthening struct {
	diagram    *bdd
	invariants []int32
	results    map[ref]ref
}

// apply returns the strengthened formula.
func (s *strengthening) apply(f ref) ref {
	return s.diagram.substitute(f, s.results, func(v int32, a atom) ref {
		switch {
		case a.op == Next:
			return s.diagram.next(s.apply(a.x))
		case a.op == Until || !slices.Contains(s.invariants, v):
			return s.diagram.until(s.apply(a.x), s.apply(a.y))
		}
		return trueRef
	})
}

// substitute replaces each temporal atom of a formula that contains U or W by the result of replacement.
func (t *bdd) substitute(f ref, memo map[ref]ref, replacement func(v int32, a atom) ref) ref {
	if t.nodes[f].operators == 0 { // no U or W: nothing to replace
		return f
	}
	if r, ok := memo[f]; ok {
		return r
	}
	n := t.nodes[f]
	replaced := t.literal(n.atom)
	if a := t.atoms[n.atom]; a.operators != 0 {
		replaced = replacement(n.atom, a)
	}
	r := t.ite(replaced, t.substitute(n.high, memo, replacement), t.substitute(n.low, memo, replacement))
	memo[f] = r
	return r
}
