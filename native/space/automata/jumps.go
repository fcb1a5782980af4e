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

// jumpTargets returns the jumps from a formula.
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
	if len(candidates) > 17 {
		return nil, ErrTooLarge
	}
	numGuesses := 0
	for mask := range 1 << len(candidates) {
		eventualities := subset(candidates, mask)
		weak := &weakening{bdd: t, eventualities: eventualities, memo: map[ref]ref{}}
		remainder := weak.apply(f)
		if remainder == falseRef {
			continue
		}
		invariants := t.innerInvariants(eventualities)
		if numGuesses += 1 << min(len(invariants), 20); numGuesses > maxGuesses {
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

// subset returns the elements of the list whose bit is set in mask.
func subset(list []int32, mask int) []int32 {
	var out []int32
	for i, v := range list {
		if mask>>i&1 == 1 {
			out = append(out, v)
		}
	}
	return out
}

// candidateEventualities returns the eventualities that X may contain.
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
	return sorted(found)
}

// innerInvariants returns the invariants nested in some eventualities.
func (t *bdd) innerInvariants(x []int32) []int32 {
	found := map[int32]bool{}
	for _, u := range x {
		for v := range t.nestedAtoms(t.atoms[u].x, t.atoms[u].y) {
			if t.atoms[v].op == WeakUntil {
				found[v] = true
			}
		}
	}
	return sorted(found)
}

// nestedAtoms returns the atoms of some formulas, at any depth.
func (t *bdd) nestedAtoms(fs ...ref) map[int32]bool {
	found := map[int32]bool{}
	for len(fs) > 0 {
		f := fs[len(fs)-1]
		fs = fs[:len(fs)-1]
		for _, v := range t.support(f) {
			if !found[v] {
				found[v] = true
				fs = append(fs, t.atoms[v].x, t.atoms[v].y)
			}
		}
	}
	return found
}

func sorted(set map[int32]bool) []int32 {
	out := make([]int32, 0, len(set))
	for v := range set {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// checkGuess returns the jump target of a guess; ok is false if its conditions cannot hold.
func (t *bdd) checkGuess(weak *weakening, remainder ref, invariants []int32) (jumpTarget, bool) {
	out := jumpTarget{invariant: remainder}
	for _, v := range invariants {
		a := t.atoms[v]
		out.invariant = t.and(out.invariant, t.globally(t.or(weak.apply(a.x), weak.apply(a.y))))
	}
	strong := &strengthening{bdd: t, invariants: invariants, memo: map[ref]ref{}}
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

// insertMinimal adds a target to a list, unless it demands more than another one. It removes targets
// that demand more than the new one.
func insertMinimal(t *bdd, list []jumpTarget, target jumpTarget) []jumpTarget {
	if slices.ContainsFunc(list, func(h jumpTarget) bool { return t.moreDemanding(target, h) }) {
		return list
	}
	list = slices.DeleteFunc(list, func(h jumpTarget) bool { return t.moreDemanding(h, target) })
	return append(list, target)
}

// moreDemanding reports whether target g demands at least what h demands.
func (t *bdd) moreDemanding(g, h jumpTarget) bool {
	for _, goal := range h.goals {
		if !slices.Contains(g.goals, goal) {
			return false
		}
	}
	return t.implies(g.invariant, h.invariant)
}

// weakening replaces U by W in the given eventualities, and all other eventualities by false.
type weakening struct {
	bdd           *bdd
	eventualities []int32
	memo          map[ref]ref
}

func (w *weakening) apply(f ref) ref {
	return w.bdd.substitute(f, w.memo, func(v int32, a atom) ref {
		switch {
		case a.op == Next:
			return w.bdd.next(w.apply(a.x))
		case a.op == WeakUntil || slices.Contains(w.eventualities, v):
			return w.bdd.weak(w.apply(a.x), w.apply(a.y))
		}
		return falseRef
	})
}

// strengthening replaces the given invariants by true, and W by U in all others.
type strengthening struct {
	bdd        *bdd
	invariants []int32
	memo       map[ref]ref
}

func (s *strengthening) apply(f ref) ref {
	return s.bdd.substitute(f, s.memo, func(v int32, a atom) ref {
		switch {
		case a.op == Next:
			return s.bdd.next(s.apply(a.x))
		case a.op == Until || !slices.Contains(s.invariants, v):
			return s.bdd.until(s.apply(a.x), s.apply(a.y))
		}
		return trueRef
	})
}

// substitute replaces the temporal operators of a formula.
func (t *bdd) substitute(f ref, memo map[ref]ref, by func(v int32, a atom) ref) ref {
	if t.nodes[f].operators == 0 { // no U or W: nothing to replace
		return f
	}
	if r, ok := memo[f]; ok {
		return r
	}
	n := t.nodes[f]
	with := t.literal(n.atom)
	if a := t.atoms[n.atom]; a.operators != 0 {
		with = by(n.atom, a)
	}
	r := t.ite(with, t.substitute(n.high, memo, by), t.substitute(n.low, memo, by))
	memo[f] = r
	return r
}
