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
	targetValuations, badValuations []zone.Federation // by location
	firings                         [][]*firing       // by location
	incoming                        [][]arrival       // by location: the branches that lead to it
	entries                         [][]*entry        // by location
	entryByKey                      []map[string]*entry
	sureEntries                     [][]*entry // by location: the entries from which the target is reached surely
	exploredEntries                 [][]*entry // by location: the entries whose predecessors are known
	waitingEntries                  queue      // entries whose predecessors are missing
	dominations                     []domination
	keepsDominated                  bool // nothing is left out as dominated
	numEntries                      int  // of entries
	maxEntries                      int  // the greatest number of entries; 0 for no limit
}

// entry is a symbolic state: a location with a zone, in which it is entered. The scheduler chooses one of the ways to leave it, after some time
// or at once.
type entry struct {
	location    *location
	zone        zone.Zone
	exits       []*firingZone
	uses        []use
	isSure      bool    // the target is reached surely
	isExplored  bool    // its predecessors are known
	value       float64 // the probability of reaching the target, as far as it is known
	foundOrder  int     // the number of entries that were found before
	stateNumber int     // its state in the MDP; 0 if it has none yet
}

// use says that an entry is an option of a branch of a firing zone.
type use struct {
	firingZone *firingZone
	branch     int
}

// firing is a transition, or the part of it with a convex guard without bad states.
type firing struct {
	transition    *transition
	guard         zone.Zone
	branchOptions [][]option // by branch
	firingZones   []*firingZone
	zoneByKey     map[string]*firingZone
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
	firing      *firing
	zone        zone.Zone
	options     [][]*entry // by branch
	bestOptions []*entry   // by branch: the option with the greatest value, or nil
	value       float64    // the probability of reaching the target, as far as it is known
	// generators are sets of branches: the zone is the intersection of the zones of one option of each branch in the set.
	generators []branchSet
	entries    []*entry // the entries that have the zone as a way
	isSure     bool     // every branch has an option that is sure
}

// branchSet is a set of branches, as bits.
type branchSet []uint64

func (set branchSet) contains(i int) bool { return set[i/64]>>(i%64)&1 != 0 }

// with returns the set with one more branch.
func (set branchSet) with(i int) branchSet {
	result := slices.Clone(set)
	result[i/64] |= 1 << (i % 64)
	return result
}

// isSubsetOf reports whether the set is a subset of other.
func (set branchSet) isSubsetOf(other branchSet) bool {
	for i, word := range set {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

// newBackward prepares the backward search for paths that reach the target and avoid bad states before that. target and badZones have the valuations of each
// location. They must be disjoint.
func (automaton *automaton) newBackward(target, badZones []zone.Federation) *backward {
	search := &backward{automaton: automaton, targetValuations: target, badValuations: badZones}
	numLocations := len(automaton.locations)
	search.firings, search.incoming = make([][]*firing, numLocations), make([][]arrival, numLocations)
	search.entries, search.entryByKey = make([][]*entry, numLocations), make([]map[string]*entry, numLocations)
	search.sureEntries, search.exploredEntries = make([][]*entry, numLocations), make([][]*entry, numLocations)
	for _, location := range automaton.locations {
		search.entryByKey[location.number] = make(map[string]*entry)
		for _, transition := range location.transitions {
			if transition.branches == nil { // no reachable state satisfies the guard
				continue
			}
			for _, guard := range (zone.Federation{transition.guard}).Minus(badZones[location.number]) {
				search.addFiring(transition, guard)
			}
		}
	}
	return search
}

// addFiring adds a transition, with one convex part of its guard, to the search. It omits the part if no reachable state is in it, or if all its states
// belong to the target already.
func (search *backward) addFiring(transition *transition, guard zone.Zone) {
	from := transition.source.number
	if !transition.source.reachedZones.Intersects(guard) || search.targetValuations[from].Includes(guard) {
		return
	}
	firing := &firing{transition: transition, guard: guard, branchOptions: make([][]option, len(transition.branches)), zoneByKey: make(map[string]*firingZone)}
	search.firings[from] = append(search.firings[from], firing)
	for i, branch := range transition.branches {
		search.incoming[branch.target.number] = append(search.incoming[branch.target.number], arrival{firing, i})
	}
}

// findEntries finds all symbolic states from which the target can be reached, by searching backwards from the target. The error is an *explicit.LimitError
// if there are too many symbolic states, or the error of the context.
func (search *backward) findEntries(ctx context.Context) error {
	for _, location := range search.locations {
		for _, clockZone := range search.targetValuations[location.number] {
			for _, before := range location.beforeDelayAvoiding(clockZone, search.badValuations[location.number]) {
				search.enterZone(location, before, nil)
			}
		}
	}
	for { // until the predecessors of all entries are known, and no omitted entry must be added again
		if err := ctx.Err(); err != nil {
			return err
		}
		if search.maxEntries > 0 && search.numEntries > search.maxEntries {
			return &explicit.LimitError{Limit: int64(search.maxEntries), States: search.numEntries, Expanded: search.numEntries - len(search.waitingEntries)}
		}
		if search.memory.exceedsLimit(0) {
			return search.memory.limitError(search.numEntries, search.numEntries-len(search.waitingEntries))
		}
		next := search.nextUnexplored()
		switch {
		case next != nil:
			search.addPredecessors(next)
		case !search.retryDominated():
			return nil
		}
	}
}

// addPredecessors adds the predecessors of an entry.
func (search *backward) addPredecessors(entry *entry) {
	number := entry.location.number
	entry.isExplored = true
	search.exploredEntries[number] = append(search.exploredEntries[number], entry)
	for _, arrival := range search.incoming[number] {
		search.addArrival(arrival, entry)
	}
}

// nextUnexplored returns the entry with the greatest value among those whose predecessors are not known yet, or nil if there is none. It skips an entry if
// another entry includes and dominates it.
func (search *backward) nextUnexplored() *entry {
	for len(search.waitingEntries) > 0 {
		first := search.waitingEntries.pop()
		if first.isExplored || search.isIncludedInSure(first) {
			continue
		}
		if dominator := search.dominatorOf(first); dominator != nil {
			search.recordDomination(dominator, first, func() { search.waitingEntries.push(first) })
			continue
		}
		return first
	}
	return nil
}

// isIncludedInSure reports whether an entry is included in another entry that surely reaches the target.
func (search *backward) isIncludedInSure(included *entry) bool {
	return slices.ContainsFunc(search.sureEntries[included.location.number], func(other *entry) bool { return other != included && other.zone.Includes(included.zone) })
}

// enterZone records that a symbolic state (a location with a zone) leads to the target by an exit, or that it belongs to the target if exit is nil. It adds
// the entry of the symbolic state if it is new. It ignores an unreachable zone, and a zone within an entry from which the target is surely reached.
func (search *backward) enterZone(location *location, clockZone zone.Zone, exit *firingZone) {
	entered := search.entryByKey[location.number][clockZone.Key()]
	if entered == nil {
		includesZone := func(other *entry) bool { return other.zone.Includes(clockZone) }
		if !location.reachedZones.Intersects(clockZone) || slices.ContainsFunc(search.sureEntries[location.number], includesZone) {
			return
		}
		entered = search.newEntry(location, clockZone)
	}
	if exit != nil {
		entered.exits = append(entered.exits, exit)
		exit.entries = append(exit.entries, entered)
		search.increaseValue(entered, exit.value)
	}
	if exit == nil || exit.isSure {
		search.markSure(entered)
	}
}

// newEntry adds an entry for a location with a zone, without exits. It queues the entry, so that its predecessors are searched later.
func (search *backward) newEntry(location *location, clockZone zone.Zone) *entry {
	added := &entry{location: location, zone: clockZone, foundOrder: search.numEntries}
	search.entries[location.number] = append(search.entries[location.number], added)
	search.entryByKey[location.number][clockZone.Key()] = added
	search.waitingEntries.push(added)
	search.numEntries++
	search.memory.addUse(1, entryBytes, 2)
	return added
}

// markSure records that some scheduler surely reaches the target from an entry. Then it does the same for firing zones and entries for which this follows.
func (search *backward) markSure(entry *entry) {
	if entry.isSure {
		return
	}
	entry.isSure = true
	search.sureEntries[entry.location.number] = append(search.sureEntries[entry.location.number], entry)
	search.increaseValue(entry, 1)
	for _, used := range entry.uses {
		search.updateSure(used.firingZone)
	}
}

// updateSure marks a firing zone as sure if each branch has an option from which the target is surely reached. Then all entries that have this firing zone
// as an exit are sure, too.
func (search *backward) updateSure(firingZone *firingZone) {
	if firingZone.isSure {
		return
	}
	for branch := range firingZone.options {
		if !firingZone.hasSure(branch) {
			return
		}
	}
	firingZone.isSure = true
	for _, entry := range firingZone.entries {
		search.markSure(entry)
	}
}

// addArrival records that a branch leads from some valuations into an entry, as an option of the branch. It adds the firing zones that this makes possible:
// the zone of the option, and its intersections with the firing zones of other branches. It omits an option whose zone lies within that of an option with at
// least the same value.
func (search *backward) addArrival(arrival arrival, into *entry) {
	if search.memory.exceedsLimit(0) { // findEntries returns the error
		return
	}
	added, exists := arrival.optionOf(into)
	if !exists {
		return
	}
	firing, branch := arrival.firing, arrival.branch
	isBetter := func(other option) bool {
		return other.zone.Includes(added.zone) && (other.entry.isSure || search.dominates(other.entry, into))
	}
	if better := slices.IndexFunc(firing.branchOptions[branch], isBetter); better >= 0 {
		dominator := firing.branchOptions[branch][better].entry
		if !dominator.isSure {
			search.recordDomination(dominator, into, func() { search.addArrival(arrival, into) })
		}
		return
	}
	firing.branchOptions[branch] = append(firing.branchOptions[branch], added)
	search.memory.addUse(1, optionBytes, 1)
	for _, old := range firing.firingZones {
		if added.zone.Includes(old.zone) {
			search.addOption(old, branch, into)
		}
	}
	onlyBranch := make(branchSet, (len(firing.branchOptions)+63)/64).with(branch) // 64 branches in a word
	earlier := firing.firingZones
	search.addZone(firing, added.zone, onlyBranch)
	for _, old := range earlier {
		search.addIntersections(old, added, branch)
	}
}

// optionOf returns the valuations from which the branch leads into an entry, as an option of the branch. exists is false if none of them is reachable.
func (arrival arrival) optionOf(into *entry) (result option, exists bool) {
	transition := arrival.firing.transition
	before, exists := transition.branches[arrival.branch].zoneBefore(into.zone)
	if !exists {
		return option{}, false
	}
	enabled, exists := before.Intersect(arrival.firing.guard)
	if !exists || !transition.source.reachedZones.Intersects(enabled) {
		return option{}, false
	}
	return option{enabled, into}, true
}

// addIntersections adds a firing zone for the intersection of an existing firing zone with the zone of a new option of a branch. It adds nothing if the
// firing zone already has an option of this branch with at least the same value.
func (search *backward) addIntersections(old *firingZone, added option, branch int) {
	if old.hasSure(branch) {
		return
	}
	best := old.bestOptions[branch]
	isOther := best != nil && best != added.entry
	if isOther && search.dominates(best, added.entry) {
		search.recordDomination(best, added.entry, func() { search.addIntersections(old, added, branch) })
		return
	}
	intersection, intersects := added.zone.Intersect(old.zone)
	if !intersects || !old.firing.transition.source.reachedZones.Intersects(intersection) {
		return
	}
	for _, generator := range old.generators {
		if !generator.contains(branch) {
			search.addZone(old.firing, intersection, generator.with(branch))
		}
	}
}

// hasSure reports whether a branch has an option that is sure.
func (firingZone *firingZone) hasSure(branch int) bool {
	return slices.ContainsFunc(firingZone.options[branch], func(e *entry) bool { return e.isSure })
}

// addOption records that a branch can lead from a firing zone into an entry, and updates the value of the firing zone and whether it is sure.
func (search *backward) addOption(firingZone *firingZone, branch int, into *entry) {
	firingZone.options[branch] = append(firingZone.options[branch], into)
	into.uses = append(into.uses, use{firingZone, branch})
	search.memory.addUse(1, optionBytes, 0)
	search.updateFiringZone(firingZone, branch, into)
	if into.isSure {
		search.updateSure(firingZone)
	}
}

// addZone adds a firing zone with the options of all branches that apply in it. It also adds the entries from which time can pass until the firing zone is
// reached. The zone is the intersection of the zones of one option of each branch in generator.
func (search *backward) addZone(firing *firing, clockZone zone.Zone, generator branchSet) {
	key := clockZone.Key()
	if known := firing.zoneByKey[key]; known != nil {
		known.addGenerator(generator)
		return
	}
	if search.memory.exceedsLimit(0) { // findEntries returns the error
		return
	}
	search.memory.addUse(1, firingZoneBytes+64*int64(len(firing.branchOptions)), 2)
	added := &firingZone{
		firing: firing, zone: clockZone, generators: []branchSet{generator},
		options: make([][]*entry, len(firing.branchOptions)), bestOptions: make([]*entry, len(firing.branchOptions)),
	}
	for i, arrivals := range firing.branchOptions {
		for _, arrival := range arrivals {
			if arrival.zone.Includes(clockZone) {
				search.addOption(added, i, arrival.entry)
			}
		}
	}
	firing.firingZones = append(firing.firingZones, added)
	firing.zoneByKey[key] = added
	location := firing.transition.source
	for _, before := range location.beforeDelayAvoiding(clockZone, search.badValuations[location.number]) {
		search.enterZone(location, before, added)
	}
}

// addGenerator adds a set of branches to the generators of a firing zone, which keep only minimal sets: it adds nothing if a subset of the new set is there,
// and otherwise removes all supersets of the new set.
func (firingZone *firingZone) addGenerator(generator branchSet) {
	for _, old := range firingZone.generators {
		if old.isSubsetOf(generator) {
			return
		}
	}
	firingZone.generators = slices.DeleteFunc(firingZone.generators, generator.isSubsetOf)
	firingZone.generators = append(firingZone.generators, generator)
}
