package zones

import "container/heap"

// domination says that an entry, or a way into it, was left out because another entry includes its states and has at least its value. The
// values are approximate, so the answer has to be checked: see Built.
type domination struct {
	dominator, entry *entry
	retry            func() // adds what was left out
}

// tolerance is the relative difference up to which values count as equal.
const tolerance = 1e-9

// dominates reports whether dominator has at least the value of other.
func (search *backward) dominates(dominator, other *entry) bool {
	return !search.keepAll && dominator.value >= other.value*(1-tolerance)
}

// dominating returns an entry that includes another entry and dominates it. It returns nil if there is none.
func (search *backward) dominating(entry *entry) *entry {
	for _, other := range search.explored[entry.location.number] {
		if other != entry && search.dominates(other, entry) && other.zone.Includes(entry.zone) {
			return other
		}
	}
	return nil
}

// leaveOut records that an entry, or a way into it, was left out because of the dominator. retry adds it again.
func (search *backward) leaveOut(dominator, entry *entry, retry func()) {
	search.dominations = append(search.dominations, domination{dominator, entry, retry})
	search.memory.add(1, dominationBytes, 1)
}

// retry adds the entries that were left out and are no longer dominated. It reports whether there were any.
func (search *backward) retry() bool {
	old := search.dominations
	search.dominations = nil
	hasAdded := false
	for _, recorded := range old {
		if recorded.entry.value*(1-tolerance) <= recorded.dominator.value {
			search.dominations = append(search.dominations, recorded)
			continue
		}
		hasAdded = true
		search.memory.add(-1, dominationBytes, 1)
		recorded.retry()
	}
	return hasAdded
}

// increaseValue increases the value of an entry, and all values that depend on it. It ignores tiny increases, so it
// terminates.
func (search *backward) increaseValue(e *entry, value float64) {
	if value <= e.value*(1+tolerance/10) {
		return
	}
	e.value = value
	raised := []*entry{e}
	for len(raised) > 0 {
		last := raised[len(raised)-1]
		raised = raised[:len(raised)-1]
		if !last.explored {
			search.waiting.push(last)
		}
		for _, used := range last.usedBy {
			if used.zone.improve(used.branch, last) {
				raised = append(raised, used.zone.raiseEntries()...)
			}
		}
	}
}

// raiseEntries sets the value of each entry with a lower value to the value of the zone. It returns these entries.
func (z *firingZone) raiseEntries() (raised []*entry) {
	for _, entry := range z.entries {
		if z.value > entry.value*(1+tolerance/10) {
			entry.value = z.value
			raised = append(raised, entry)
		}
	}
	return raised
}

// improve updates the value of a firing zone for an option of a branch. It raises the entries that have the zone
// as a way.
func (search *backward) improve(z *firingZone, branch int, option *entry) {
	if z.improve(branch, option) {
		for _, entry := range z.entries {
			search.increaseValue(entry, z.value)
		}
	}
}

// improve updates the value of a firing zone for an option of a branch. It returns true if the option is now the
// best of the branch.
func (z *firingZone) improve(branch int, option *entry) bool {
	best := z.best[branch]
	isOther := best != nil && best != option
	if isOther && best.value >= option.value {
		return false
	}
	z.best[branch] = option
	z.value = 0
	for i, best := range z.best {
		if best != nil {
			z.value += z.firing.transition.branches[i].float * best.value
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
func (queue *queue) push(entry *entry) { heap.Push(queue, queued{entry, entry.value, entry.order}) }

// pop removes the entry with the greatest value.
func (queue *queue) pop() *entry { return heap.Pop(queue).(queued).entry }
