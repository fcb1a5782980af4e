package explicit

import "tilecheck/prism/confluence"

// executeSteps executes confluent steps in a packed state until none is enabled. It leaves out steps that would leave the range of a variable; the
// exploration then finds the error.
func (canonical *canonicaliser) executeSteps(state []uint64) {
	for hasChanged := true; hasChanged; {
		hasChanged = false
		for i := range canonical.steps {
			for canonical.executeStep(state, &canonical.steps[i]) {
				hasChanged = true
			}
		}
	}
}

// executeStep executes a step in a packed state. It returns false if the step is not enabled, or would leave the range of a variable.
func (canonical *canonicaliser) executeStep(state []uint64, step *confluence.Step) bool {
	for _, bound := range step.Guard {
		if value := canonical.value(state, bound.Slot); value < int64(bound.Low) || value > int64(bound.High) {
			return false
		}
	}
	for _, change := range step.Changes {
		variable := &canonical.variables[change.Slot]
		value := canonical.value(state, change.Slot) + int64(change.By)
		if value < int64(variable.Low) || value > int64(variable.High) {
			return false
		}
	}
	for _, change := range step.Changes {
		field := &canonical.codec.fields[change.Slot]
		value := uint64(canonical.value(state, change.Slot) + int64(change.By) - field.Low)
		state[field.Word] = state[field.Word]&^(field.Mask<<field.Shift) | value<<field.Shift
	}
	return len(step.Changes) > 0
}

// value returns the value of a variable in a packed state.
func (canonical *canonicaliser) value(state []uint64, slot int) int64 {
	field := &canonical.codec.fields[slot]
	return int64(state[field.Word]>>field.Shift&field.Mask) + field.Low
}
