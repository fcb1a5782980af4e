package scheduler

import (
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/native/space/sparse"
)

// Scheduler is a deterministic scheduler of an MDP: [i][s] is the choice of state s after i steps, as
// numbered in the model, or sparse.None for any choice. The last row holds for all later steps; a
// memoryless scheduler has one row. Rows may share memory.
type Scheduler [][]uint32

// Memoryless reports whether the scheduler does not depend on the number of steps.
func (scheduler Scheduler) Memoryless() bool { return len(scheduler) == 1 }

// Row returns the choices after some steps.
func (scheduler Scheduler) Row(steps int) []uint32 { return scheduler[min(steps, len(scheduler)-1)] }

// choiceOrFirst returns the scheduler's choice in state s, or the first choice if the scheduler allows any choice.
func choiceOrFirst(model *sparse.Model, row []uint32, s int) int {
	if row[s] != sparse.None {
		return int(row[s])
	}
	first, _ := model.Choices(s)
	return first
}

// validate returns an error unless the scheduler is a scheduler of the model, which must be an MDP.
func (scheduler Scheduler) validate(model *sparse.Model) error {
	switch {
	case model.Kind != sparse.MDP:
		return fmt.Errorf("scheduler of a %v, want an MDP", model.Kind)
	case len(scheduler) == 0:
		return fmt.Errorf("scheduler without choices")
	}
	for step, row := range scheduler {
		sameAsBefore := step > 0 && len(row) > 0 && len(scheduler[step-1]) == len(row) && &row[0] == &scheduler[step-1][0]
		if sameAsBefore { // the rows share memory
			continue
		}
		if err := validateRow(model, row); err != nil {
			return err
		}
	}
	return nil
}

// validateRow returns an error unless row[s] is a choice of state s, or sparse.None, for every state.
func validateRow(model *sparse.Model, row []uint32) error {
	if len(row) != model.NumStates() {
		return fmt.Errorf("found a scheduler of %s, wanted %d as in the model", noun.Count(len(row), "state"), model.NumStates())
	}
	for s, c := range row {
		if first, end := model.Choices(s); c != sparse.None && (int(c) < first || int(c) >= end) {
			return fmt.Errorf("found choice %d for state %d, wanted one of %d to %d", c, s, first, end-1)
		}
	}
	return nil
}
