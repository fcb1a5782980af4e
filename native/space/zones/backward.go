package zones

import (
	"context"
	"slices"

	"tilecheck/internal/zone"
	"tilecheck/native/space/explicit"
)

// backward finds the symbolic states from which the target can be reached without bad states before.
type backward struct {
	*automaton
	target, bad []zone.Federation // by location
	firings     [][]*firing       // by location
	incoming    [][]arrival       // by location: the branches that lead to it
	entries     [][]*entry        // by location
	entryOf     []map[string]*entry
	sure        [][]*entry // by location: the entries from which the target is reached surely
	explored    [][]*entry // by location: the entries whose predecessors are known
	waiting     queue      // entries whose predecessors are missing
	dominations []domination
	keepAll     bool // nothing is left out as dominated
	count       int  // of entries
	maxEntries  int  // the greatest number of entries; 0 for no limit
}

// entry is a symbolic state: a location with a zone, in which it is entered. The scheduler chooses one of the ways to leave it, after some time
// or at once.
type entry struct {
	location *location
	zone     zone.Zone
	ways     []*firingZone
	usedBy   []use
	isSure   bool    // the target is reached surely
	explored bool    // its predecessors are known
	value    float64 // the probability of reaching the target, as far as it is known
	order    int     // the number of entries that were found before
	number   int     // its state in the MDP; 0 if it has none yet
}

// use says that an entry is an option of a branch of a firing zone.
type use struct {
	zone   *firingZone
	branch int
}

// firing is a transition, or the part of it with a convex guard without bad states.
type firing struct {
	transition *transition
	guard      zone.Zone
	arrivals   [][]option // by branch
	zones      []*firingZone
	zoneOf     map[string]*firingZone
}

// arrival is a branch of a firing that leads to a location.
type arrival struct {
	firing *firing
	branch int
}

// option says that from the valuations of zone a branch leads into an entry.
type option struct {
	zone  zone.Zone
	entry *entry
}

// firingZone is a set of valuations in which a transition can be taken, such that each branch can lead into any of some entries. A branch without
// entries does not lead to the target.
type firingZone struct {
	firing  *firing
	zone    zone.Zone
	options [][]*entry // by branch
	best    []*entry   // by branch: the option with the greatest value, or nil
	value   float64    // the probability of reaching the target, as far as it is known
	// generators are sets of branches: the zone is the intersection of the zones of one option of each branch in the set.
	generators []branches
	entries    []*entry // the entries that have the zone as a way
	isSure     bool     // every branch has an option that is sure
}

// branches is a set of branches, as bits.
type branches []uint64

func (b branches) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// with returns the set with one more branch.
func (b branches) with(i int) branches {
	result := slices.Clone(b)
	result[i/64] |= 1 << (i % 64)
	return result
}

// within reports whether b is a subset of other.
func (b branches) within(other branches) bool {
	for i, word := range b {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

// newBackward prepares the search for a target that avoids bad states. Both have the valuations of each location, and are disjoint.
func (a *automaton) newBackward(target, bad []zone.Federation) *backward {
	b := &backward{automaton: a, target: target, bad: bad}
	n := len(a.locations)
	b.firings, b.incoming, b.sure = make([][]*firing, n), make([][]arrival, n), make([][]*entry, n)
	b.entries, b.explored, b.entryOf = make([][]*entry, n), make([][]*entry, n), make([]map[string]*entry, n)
	for _, l := range a.locations {
		b.entryOf[l.number] = make(map[string]*entry)
		for _, t := range l.transitions {
			if t.branches == nil { // never possible
				continue
			}
			for _, guard := range (zone.Federation{t.guard}).Minus(bad[l.number]) {
				b.addFiring(t, guard)
			}
		}
	}
	return b
}

// addFiring adds a part of a transition, unless the target was reached before it.
func (b *backward) addFiring(t *transition, guard zone.Zone) {
	from := t.from.number
	if !t.from.reached.Intersects(guard) || b.target[from].Includes(guard) {
		return
	}
	f := &firing{transition: t, guard: guard, arrivals: make([][]option, len(t.branches)), zoneOf: make(map[string]*firingZone)}
	b.firings[from] = append(b.firings[from], f)
	for i, branch := range t.branches {
		b.incoming[branch.to.number] = append(b.incoming[branch.to.number], arrival{f, i})
	}
}

// search finds all symbolic states.
func (b *backward) search(ctx context.Context) error {
	for _, l := range b.locations {
		for _, z := range b.target[l.number] {
			for _, before := range l.beforeDelayAvoiding(z, b.bad[l.number]) {
				b.enter(l, before, nil)
			}
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if b.maxEntries > 0 && b.count > b.maxEntries {
			return &explicit.LimitError{Limit: int64(b.maxEntries), States: b.count, Expanded: b.count - len(b.waiting)}
		}
		if b.memory.exceeded(0) {
			return b.memory.limitError(b.count, b.count-len(b.waiting))
		}
		next := b.next()
		if next == nil {
			if b.retry() {
				continue
			}
			return nil
		}
		next.explored = true
		b.explored[next.location.number] = append(b.explored[next.location.number], next)
		for _, a := range b.incoming[next.location.number] {
			b.arrive(a, next)
		}
	}
}

// next returns the entry with the greatest value whose predecessors are missing; nil if there is none.
func (b *backward) next() *entry {
	for len(b.waiting) > 0 {
		first := b.waiting.pop()
		if first.explored || b.isWithinSure(first) {
			continue
		}
		if by := b.dominating(first); by != nil {
			b.leaveOut(by, first, func() { b.waiting.push(first) })
			continue
		}
		return first
	}
	return nil
}

// isWithinSure reports whether another entry, from which the target is reached surely, includes an entry.
func (b *backward) isWithinSure(e *entry) bool {
	return slices.ContainsFunc(b.sure[e.location.number], func(other *entry) bool { return other != e && other.zone.Includes(e.zone) })
}

// enter adds the entry of a location with a zone, and a way to leave it; the target has none. It adds no entry that is not reachable, and
// none whose states are all states of another entry from which the target is reached surely.
func (b *backward) enter(l *location, z zone.Zone, way *firingZone) {
	key := z.Key()
	e := b.entryOf[l.number][key]
	if e == nil {
		covers := func(other *entry) bool { return other.zone.Includes(z) }
		if !l.reached.Intersects(z) || slices.ContainsFunc(b.sure[l.number], covers) {
			return
		}
		e = &entry{location: l, zone: z, order: b.count}
		b.entries[l.number] = append(b.entries[l.number], e)
		b.entryOf[l.number][key] = e
		b.waiting.push(e)
		b.count++
		b.memory.add(1, entryBytes, 2)
	}
	if way != nil {
		e.ways = append(e.ways, way)
		way.entries = append(way.entries, e)
		b.raise(e, way.value)
	}
	if way == nil || way.isSure {
		b.makeSure(e)
	}
}

// makeSure records that the target is reached surely from an entry, and what follows for the firing zones that lead to it.
func (b *backward) makeSure(e *entry) {
	if e.isSure {
		return
	}
	e.isSure = true
	b.sure[e.location.number] = append(b.sure[e.location.number], e)
	b.raise(e, 1)
	for _, used := range e.usedBy {
		b.updateSure(used.zone)
	}
}

// updateSure records that the target is reached surely from a firing zone if every branch has an option that is sure.
func (b *backward) updateSure(z *firingZone) {
	for i := range z.options {
		if z.isSure || !z.hasSure(i) {
			return
		}
	}
	z.isSure = true
	for _, e := range z.entries {
		b.makeSure(e)
	}
}

// arrive adds the valuations from which a branch leads into an entry.
func (b *backward) arrive(a arrival, into *entry) {
	if b.memory.exceeded(0) { // search returns the error
		return
	}
	f, i := a.firing, a.branch
	z, ok := f.transition.branches[i].before(into.zone)
	if ok {
		z, ok = z.Intersect(f.guard)
	}
	if !ok || !f.transition.from.reached.Intersects(z) {
		return
	}
	for _, other := range f.arrivals[i] {
		if !other.zone.Includes(z) {
			continue
		}
		if other.entry.isSure {
			return
		}
		if b.dominates(other.entry, into) {
			b.leaveOut(other.entry, into, func() { b.arrive(a, into) })
			return
		}
	}
	f.arrivals[i] = append(f.arrivals[i], option{z, into})
	b.memory.add(1, optionBytes, 1)
	for _, old := range f.zones {
		if z.Includes(old.zone) {
			b.addOption(old, i, into)
		}
	}
	single := make(branches, (len(f.arrivals)+63)/64).with(i)
	known := f.zones
	b.addZone(f, z, single)
	for _, old := range known {
		b.intersect(old, option{z, into}, i)
	}
}

// intersect adds the intersections of a firing zone with the zone of an option of a branch, unless the firing zone has a better option of that branch.
func (b *backward) intersect(old *firingZone, with option, branch int) {
	if old.hasSure(branch) {
		return
	}
	if best := old.best[branch]; best != nil && best != with.entry && b.dominates(best, with.entry) {
		b.leaveOut(best, with.entry, func() { b.intersect(old, with, branch) })
		return
	}
	both, ok := with.zone.Intersect(old.zone)
	if !ok || !old.firing.transition.from.reached.Intersects(both) {
		return
	}
	for _, generator := range old.generators {
		if !generator.has(branch) {
			b.addZone(old.firing, both, generator.with(branch))
		}
	}
}

// hasSure reports whether a branch has an option that is sure.
func (z *firingZone) hasSure(branch int) bool {
	return slices.ContainsFunc(z.options[branch], func(e *entry) bool { return e.isSure })
}

// addOption adds an entry that a branch can lead into.
func (b *backward) addOption(z *firingZone, branch int, into *entry) {
	z.options[branch] = append(z.options[branch], into)
	into.usedBy = append(into.usedBy, use{z, branch})
	b.memory.add(1, optionBytes, 0)
	b.improve(z, branch, into)
	if into.isSure {
		b.updateSure(z)
	}
}

// addZone adds a firing zone with a set of branches that generate it, and the entries from which time leads to it.
func (b *backward) addZone(f *firing, z zone.Zone, generator branches) {
	key := z.Key()
	if known := f.zoneOf[key]; known != nil {
		known.addGenerator(generator)
		return
	}
	if b.memory.exceeded(0) { // search returns the error
		return
	}
	b.memory.add(1, firingZoneBytes+64*int64(len(f.arrivals)), 2)
	added := &firingZone{firing: f, zone: z, options: make([][]*entry, len(f.arrivals)), best: make([]*entry, len(f.arrivals)), generators: []branches{generator}}
	for i, arrivals := range f.arrivals {
		for _, arrival := range arrivals {
			if arrival.zone.Includes(z) {
				b.addOption(added, i, arrival.entry)
			}
		}
	}
	f.zones = append(f.zones, added)
	f.zoneOf[key] = added
	l := f.transition.from
	for _, before := range l.beforeDelayAvoiding(z, b.bad[l.number]) {
		b.enter(l, before, added)
	}
}

// addGenerator adds a set of branches, unless a smaller one is there.
func (z *firingZone) addGenerator(generator branches) {
	for _, old := range z.generators {
		if old.within(generator) {
			return
		}
	}
	z.generators = slices.DeleteFunc(z.generators, generator.within)
	z.generators = append(z.generators, generator)
}
