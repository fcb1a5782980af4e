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

// validate returns an error unless the model is an MDP and each row of the scheduler has, for each state, a choice of this state or sparse.None.
func (scheduler Scheduler) validate(model *sparse.Model) error {
	switch {
	case model.Kind != sparse.MDP:
		return fmt.Errorf("scheduler of %s, want an MDP", noun.WithArticle(model.Kind.String()))
	case len(scheduler) == 0:
		return fmt.Errorf("scheduler without choices")
	}
	for step, row := range scheduler {
		isValidated := step > 0 && areSame(row, scheduler[step-1])
		if isValidated {
			continue
		}
		if err := validateRow(model, row); err != nil {
			return err
		}
	}
	return nil
}

// areSame reports whether two rows are the same slice. It does not compare their entries, which would take as long as to validate them.
func areSame(left, right []uint32) bool {
	return len(left) == len(right) && len(left) > 0 && &left[0] == &right[0]
}

// validateRow returns an error unless choices has an entry for each state s of the model: a choice of s, or sparse.None.
func validateRow(model *sparse.Model, choices []uint32) error {
	if len(choices) != model.NumStates() {
		return fmt.Errorf("found a scheduler of %s, wanted %d as in the model", noun.Count(len(choices), "state"), model.NumStates())
	}
	for s, c := range choices {
		first, end := model.Choices(s)
		isChoice := int(c) >= first && int(c) < end
		if c != sparse.None && !isChoice {
			return fmt.Errorf("found choice %d for state %d, wanted one of %d to %d", c, s, first, end-1)
		}
	}
	return nil
}
