package automata

import "slices"

// target is where a jump leads: the invariant safe must hold from now on, and
// each goal, an eventuality, be met again and again.
type target struct {
	safe  ref
	goals []ref
}

// maxGuesses limits the guesses that are looked at for one state.
const maxGuesses = 1 << 17

// targets returns the jumps from a formula.
//
// By the theorem, a sequence satisfies f if and only if, for the set X of the
// eventualities (U) in f that hold infinitely often and the set Y of the
// invariants (W) that hold from some letter on, at some time
//
//   - what is left of f holds, with the eventualities of X taken to hold weakly
//     and the others not at all: an invariant;
//   - for each a U b of X: G F (a U b), which is G F b, with the invariants of
//     Y taken to hold and the others to be eventualities;
//   - for each a W b of Y: G (a W b), with X taken as above: an invariant.
//
// Each guess of X and Y that these conditions confirm proves f, so that guesses
// may be left out as long as the right one stays. Eventualities outside any W
// need not be guessed: sooner or later they are met or given up, and are gone.
// Only the stable ones stay. Of the invariants, only those inside X matter.
//
// Source: Esparza, Kretinsky and Sickert, One theorem to rule them all (LICS
// 2018), theorem 3.3 and section 5.
func (t *table) targets(f ref) ([]target, error) {
	candidates := t.recurring(f)
	var out []target
	if len(candidates) > 17 {
		return nil, ErrTooLarge
	}
	guesses := 0
	for mask := range 1 << len(candidates) {
		x := subset(candidates, mask)
		w := &weakening{t: t, x: x, memo: map[ref]ref{}}
		rest := w.of(f)
		if rest == no {
			continue
		}
		invariants := t.invariants(x)
		if guesses += 1 << min(len(invariants), 20); guesses > maxGuesses {
			return nil, ErrTooLarge
		}
		for mask := range 1 << len(invariants) {
			if g, ok := t.confirm(w, rest, subset(invariants, mask)); ok {
				out = insert(t, out, g)
			}
		}
		if t.full {
			return nil, ErrTooLarge
		}
	}
	return out, nil
}

func subset(list []int32, mask int) []int32 {
	var out []int32
	for i, v := range list {
		if mask>>i&1 == 1 {
			out = append(out, v)
		}
	}
	return out
}

// recurring returns the eventualities that X may have.
func (t *table) recurring(f ref) []int32 {
	found := map[int32]bool{}
	for _, v := range t.support(f) {
		if a := t.atoms[v]; a.op == Until && a.stable {
			found[v] = true
		}
	}
	for v := range t.inside(f) {
		if a := t.atoms[v]; a.op == WeakUntil {
			for u := range t.inside(a.x, a.y) {
				if t.atoms[u].op == Until {
					found[u] = true
				}
			}
		}
	}
	return sorted(found)
}

// invariants returns the invariants inside some eventualities.
func (t *table) invariants(x []int32) []int32 {
	found := map[int32]bool{}
	for _, u := range x {
		for v := range t.inside(t.atoms[u].x, t.atoms[u].y) {
			if t.atoms[v].op == WeakUntil {
				found[v] = true
			}
		}
	}
	return sorted(found)
}

// inside returns the atoms of some combinations, at any depth.
func (t *table) inside(fs ...ref) map[int32]bool {
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

// confirm returns the conditions that confirm a guess; it reports false if they
// cannot hold.
func (t *table) confirm(w *weakening, rest ref, y []int32) (target, bool) {
	out := target{safe: rest}
	for _, v := range y {
		a := t.atoms[v]
		out.safe = t.and(out.safe, t.globally(t.or(w.of(a.x), w.of(a.y))))
	}
	s := &strengthening{t: t, y: y, memo: map[ref]ref{}}
	for _, u := range w.x {
		switch g := t.until(yes, s.of(t.atoms[u].y)); g {
		case yes:
		case no:
			return out, false
		default:
			out.goals = append(out.goals, g)
		}
	}
	slices.Sort(out.goals)
	out.goals = slices.Compact(out.goals)
	return out, out.safe != no
}

// insert adds a target to a list in which none is more demanding than another.
func insert(t *table, list []target, g target) []target {
	if slices.ContainsFunc(list, func(h target) bool { return t.demands(g, h) }) {
		return list
	}
	list = slices.DeleteFunc(list, func(h target) bool { return t.demands(h, g) })
	return append(list, g)
}

// demands reports whether what g asks for includes what h asks for.
func (t *table) demands(g, h target) bool {
	for _, goal := range h.goals {
		if !slices.Contains(g.goals, goal) {
			return false
		}
	}
	return t.implies(g.safe, h.safe)
}

// weakening replaces eventualities: those of x by the weak operator, others by
// false.
type weakening struct {
	t    *table
	x    []int32
	memo map[ref]ref
}

func (w *weakening) of(f ref) ref {
	return w.t.replace(f, w.memo, func(v int32, a atom) ref {
		switch {
		case a.op == Next:
			return w.t.next(w.of(a.x))
		case a.op == WeakUntil || slices.Contains(w.x, v):
			return w.t.weak(w.of(a.x), w.of(a.y))
		}
		return no
	})
}

// strengthening replaces invariants: those of y by true, others by the strong
// operator.
type strengthening struct {
	t    *table
	y    []int32
	memo map[ref]ref
}

func (s *strengthening) of(f ref) ref {
	return s.t.replace(f, s.memo, func(v int32, a atom) ref {
		switch {
		case a.op == Next:
			return s.t.next(s.of(a.x))
		case a.op == Until || !slices.Contains(s.y, v):
			return s.t.until(s.of(a.x), s.of(a.y))
		}
		return yes
	})
}

// replace replaces the temporal operators of a combination.
func (t *table) replace(f ref, memo map[ref]ref, by func(v int32, a atom) ref) ref {
	if t.nodes[f].ops == 0 { // and the same for what is decided in finitely many steps
		return f
	}
	if r, ok := memo[f]; ok {
		return r
	}
	n := t.nodes[f]
	with := t.variable(n.v)
	if a := t.atoms[n.v]; a.ops != 0 {
		with = by(n.v, a)
	}
	r := t.ite(with, t.replace(n.hi, memo, by), t.replace(n.lo, memo, by))
	memo[f] = r
	return r
}
