package scheduler

import (
	"fmt"

	"tilecheck/native/space/sparse"
)

// Scheduler is a deterministic scheduler of an MDP: [i][s] is the choice of state s after i steps, as
// numbered in the model, or sparse.None for any choice. The last row holds for all later steps; a
// memoryless scheduler has one row. Rows may share memory.
type Scheduler [][]uint32

// Memoryless reports whether the scheduler does not depend on the number of steps.
func (x Scheduler) Memoryless() bool { return len(x) == 1 }

// Row returns the choices after some steps.
func (x Scheduler) Row(steps int) []uint32 { return x[min(steps, len(x)-1)] }

// choiceOrFirst returns the choice of a state: the first one if any will do, as in PRISM.
func choiceOrFirst(m *sparse.Model, row []uint32, s int) int {
	if row[s] != sparse.None {
		return int(row[s])
	}
	first, _ := m.Choices(s)
	return first
}

// validate checks that the scheduler fits a model.
func (x Scheduler) validate(m *sparse.Model) error {
	switch {
	case m.Kind != sparse.MDP:
		return fmt.Errorf("scheduler of a %v, want an MDP", m.Kind)
	case len(x) == 0:
		return fmt.Errorf("scheduler without choices")
	}
	for i, row := range x {
		if i > 0 && len(row) > 0 && len(x[i-1]) == len(row) && &row[0] == &x[i-1][0] {
			continue // the row before
		}
		if err := validateRow(m, row); err != nil {
			return err
		}
	}
	return nil
}

func validateRow(m *sparse.Model, row []uint32) error {
	if len(row) != m.NumStates() {
		return fmt.Errorf("scheduler of %d states, the model has %d", len(row), m.NumStates())
	}
	for s, c := range row {
		if first, end := m.Choices(s); c != sparse.None && (int(c) < first || int(c) >= end) {
			return fmt.Errorf("choice %d of state %d, which has %d to %d", c, s, first, end-1)
		}
	}
	return nil
}
