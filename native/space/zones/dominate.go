package zones

import "container/heap"

// domination says that an entry, or a way into it, was left out because another entry includes its states and has at least its value. The
// values are approximate, so the answer has to be checked: see Built.
type domination struct {
	dominator, entry *entry
	addAgain         func() // adds what was left out
}

// tolerance is the relative difference up to which values count as equal.
const tolerance = 1e-9

// tinyIncrease is the relative increase up to which a value is not passed on.
const tinyIncrease = tolerance / 10

// dominates reports whether dominator has at least the value of other.
func (search *backward) dominates(dominator, other *entry) bool {
	return !search.keepsDominated && dominator.value >= other.value*(1-tolerance)
}

// dominatorOf returns an entry whose zone includes the zone of the given entry and whose value is at least as great, or nil if there is none. It considers
// only entries whose predecessors are known.
func (search *backward) dominatorOf(entry *entry) *entry {
	for _, other := range search.exploredEntries[entry.location.number] {
		if other != entry && search.dominates(other, entry) && other.zone.Includes(entry.zone) {
			return other
		}
	}
	return nil
}

// recordDomination records that an entry, or an arrival at it, was left out because the dominator is at least as good. addAgain adds it
// later if this changes.
func (search *backward) recordDomination(dominator, entry *entry, retry func()) {
	search.dominations = append(search.dominations, domination{dominator, entry, retry})
	search.memory.addUse(1, dominationBytes, 1)
}

// retryDominated adds the entries that were left out but are not dominated any more, because their values have increased in the meantime. It reports whether
// it added any.
func (search *backward) retryDominated() bool {
	old := search.dominations
	search.dominations = nil
	hasAdded := false
	for _, recorded := range old {
		if recorded.entry.value*(1-tolerance) <= recorded.dominator.value {
			search.dominations = append(search.dominations, recorded)
			continue
		}
		hasAdded = true
		search.memory.addUse(-1, dominationBytes, 1)
		recorded.addAgain()
	}
	return hasAdded
}

// increaseValue increases the value of an entry to value, and then all values that depend on it. It ignores tiny increases; otherwise the values on a cycle
// could increase without end.
func (search *backward) increaseValue(increased *entry, value float64) {
	if value <= increased.value*(1+tinyIncrease) {
		return
	}
	increased.value = value
	raised := []*entry{increased}
	for len(raised) > 0 {
		last := raised[len(raised)-1]
		raised = raised[:len(raised)-1]
		if !last.isExplored {
			search.waitingEntries.push(last)
		}
		for _, used := range last.uses {
			if used.firingZone.updateValue(used.branch, last) {
				raised = append(raised, used.firingZone.raiseEntries()...)
			}
		}
	}
}

// raiseEntries raises the value of each entry that has this firing zone as an exit to the value of the firing zone, unless it is nearly as great already. It
// returns the raised entries.
func (firingZone *firingZone) raiseEntries() (raised []*entry) {
	for _, entry := range firingZone.entries {
		if firingZone.value > entry.value*(1+tinyIncrease) {
			entry.value = firingZone.value
			raised = append(raised, entry)
		}
	}
	return raised
}

// updateFiringZone updates the value of a firing zone after the value of an option of a branch has changed. It increases the values of the
// entries with this exit.
func (search *backward) updateFiringZone(firingZone *firingZone, branch int, option *entry) {
	if firingZone.updateValue(branch, option) {
		for _, entry := range firingZone.entries {
			search.increaseValue(entry, firingZone.value)
		}
	}
}

// updateValue updates the value of a firing zone after the value of an option of a branch has changed. The value is the sum over all branches of their
// probability times the value of their best option. It returns false if another option of the branch is better, so that nothing changes.
func (firingZone *firingZone) updateValue(branch int, option *entry) bool {
	best := firingZone.bestOptions[branch]
	isOther := best != nil && best != option
	if isOther && best.value >= option.value {
		return false
	}
	firingZone.bestOptions[branch] = option
	firingZone.value = 0
	for i, best := range firingZone.bestOptions {
		if best != nil {
			firingZone.value += firingZone.firing.transition.branches[i].floatWeight * best.value
		}
	}
	return true
}

// queue is a heap of entries, the greatest value first; the one that was found first among equals. An entry can be in it several times.
type queue []queued

// queued is an entry with the value that it had when it was added.
type queued struct {
	entry *entry
	value float64
	order int
}

func (queue queue) Len() int { return len(queue) }
func (queue queue) Less(i, j int) bool {
	if queue[i].value != queue[j].value {
		return queue[i].value > queue[j].value
	}
	return queue[i].order < queue[j].order
}
func (queue queue) Swap(i, j int) { queue[i], queue[j] = queue[j], queue[i] }
func (queue *queue) Push(x any)   { *queue = append(*queue, x.(queued)) }

// Pop implements heap.Interface.
func (queue *queue) Pop() any {
	last := (*queue)[len(*queue)-1]
	*queue = (*queue)[:len(*queue)-1]
	return last
}

// push adds an entry.
func (queue *queue) push(entry *entry) {
	heap.Push(queue, queued{entry, entry.value, entry.foundOrder})
}

// pop removes the entry with the greatest value.
func (queue *queue) pop() *entry { return heap.Pop(queue).(queued).entry }
