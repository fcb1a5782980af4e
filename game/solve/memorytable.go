package solve

import (
	"fmt"
	"slices"
)

// memoryTable keeps the layers of a table in a store: all of them, or only those that the solver still needs.
type memoryTable struct {
	records store
	all     bool
}

func (t *memoryTable) name(sum int) string { return fmt.Sprintf("%s-%d", valuesName, sum) }

func (t *memoryTable) create(sum int) (sink, error) { return t.records.create(t.name(sum)) }

func (t *memoryTable) open(sum int) (*record, error) { return t.records.open(t.name(sum)) }

func (t *memoryTable) forget(sum int) error {
	if t.all {
		return nil
	}
	return t.records.remove(t.name(sum))
}

// table returns the table of a completed solver.
func (t *memoryTable) table(completed *solver) (*Table, error) {
	result := &Table{expander: completed.expander, index: make(map[int]*record)}
	result.initial, result.positions, result.afterstates = completed.stats.Initial, uint64(completed.stats.Positions), uint64(completed.stats.Afterstates)
	for _, current := range slices.Backward(completed.stats.Layers) {
		opened, err := t.open(current.Sum)
		if err != nil {
			return nil, err
		}
		opened.order = completed.order()
		result.records = append(result.records, opened)
		result.index[current.Sum] = opened
		result.layers = append(result.layers, layerEntry{sum: uint32(current.Sum), positions: uint64(current.Positions), afterstates: uint64(current.Afterstates)})
	}
	return result, nil
}
