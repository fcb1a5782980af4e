package zones

import (
	"tilecheck/internal/memory"
	"tilecheck/native/space/explicit"
)

// memoryUse estimates the memory of an automaton and of its symbolic states. The estimates are the sizes of the structures and of what they point to.
type memoryUse struct {
	limitBytes, usedBytes int64 // in bytes; a limit of 0 means none
	zoneBytes             int64 // the size of a zone
}

// Sizes of structures in bytes, without their zones.
const (
	locationBytes   = 600 // with its entry in a map
	transitionBytes = 200
	branchBytes     = 150
	entryBytes      = 300 // with its entries in maps and queues
	firingZoneBytes = 350
	optionBytes     = 80 // with the use of the entry
	dominationBytes = 150
)

// newMemoryUse returns the memory of an automaton with some clocks before it is explored. A limit of 0 means three quarters of what the system says is
// available.
func newMemoryUse(limit int64, clocks int) memoryUse {
	if limit <= 0 {
		limit = memory.Available() / 4 * 3
	}
	size := int64(clocks+1) * int64(clocks+1)
	return memoryUse{limitBytes: limit, zoneBytes: 48 + 8*size}
}

// addUse adds a number of structures of a size, each with some zones.
func (m *memoryUse) addUse(count int, bytes int64, zones int64) {
	m.usedBytes += int64(count) * (bytes + zones*m.zoneBytes)
}

// exceedsLimit reports whether the memory in use is larger than the limit. notAdded is the size in bytes of structures that addUse has not counted.
func (m *memoryUse) exceedsLimit(notAdded int64) bool {
	return m.limitBytes > 0 && m.usedBytes+notAdded > m.limitBytes
}

// limitError returns the error for a number of symbolic states, some of which were expanded.
func (m *memoryUse) limitError(states, expanded int) error {
	return &explicit.LimitError{Memory: true, Limit: m.limitBytes, States: states, Expanded: max(expanded, 0)}
}
