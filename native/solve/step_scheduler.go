package solve

import (
	"slices"

	"tilecheck/native/space/sparse"
)

// Limits of a step-counting scheduler: its steps, and its stored choices, which take 4 bytes each.
const (
	maxTraceSteps   = 1 << 20
	maxTraceChoices = 1 << 28
)

// stepScheduler records the choices of a step-counting scheduler, from the last step to the first. A nil
// stepScheduler records nothing.
type stepScheduler struct {
	pastSteps      [][]uint32 // of the steps so far; equal neighbours share a slice
	currentChoices []uint32   // of the current step
	storedChoices  int
	isTooLarge     bool
	numStates      int
}

// newStepScheduler returns a recorder of the choices in each step, or nil if no scheduler is requested or the model is no MDP.
func newStepScheduler(model *sparse.Model, opts Options) *stepScheduler {
	if !opts.Scheduler || model.Kind != sparse.MDP {
		return nil
	}
	return &stepScheduler{numStates: model.NumStates()}
}

// beginStep starts the recording of a step, in which no state has a choice yet.
func (scheduler *stepScheduler) beginStep() {
	if scheduler == nil || scheduler.isTooLarge {
		return
	}
	if scheduler.currentChoices == nil {
		scheduler.currentChoices = make([]uint32, scheduler.numStates)
	}
	for state := range scheduler.currentChoices {
		scheduler.currentChoices[state] = sparse.None
	}
}

// setChoice records the choice of a state in the current step. Calls for different states may be concurrent.
func (scheduler *stepScheduler) setChoice(state int, choice uint32) {
	if scheduler != nil && !scheduler.isTooLarge {
		scheduler.currentChoices[state] = choice
	}
}

// endStep ends the recording of a step, and stores its choices the given number of times. It discards the scheduler if it becomes too
// large.
func (scheduler *stepScheduler) endStep(times int) {
	if scheduler == nil || scheduler.isTooLarge {
		return
	}
	if times > maxTraceSteps-len(scheduler.pastSteps) {
		scheduler.discard()
		return
	}
	choices := scheduler.currentChoices
	numSteps := len(scheduler.pastSteps)
	if numSteps > 0 && slices.Equal(scheduler.pastSteps[numSteps-1], choices) {
		choices = scheduler.pastSteps[numSteps-1] // equal neighbours share a slice
	} else {
		scheduler.currentChoices = nil
		scheduler.storedChoices += scheduler.numStates
	}
	if scheduler.storedChoices > maxTraceChoices {
		scheduler.discard()
		return
	}
	for range times {
		scheduler.pastSteps = append(scheduler.pastSteps, choices)
	}
}

// discard gives up recording the scheduler.
func (scheduler *stepScheduler) discard() {
	scheduler.pastSteps, scheduler.currentChoices, scheduler.isTooLarge = nil, nil, true
}

// firstChoices returns the choices of the only step.
func (scheduler *stepScheduler) firstChoices() []uint32 {
	if scheduler == nil || len(scheduler.pastSteps) == 0 {
		return nil
	}
	return scheduler.pastSteps[0]
}

// stepChoices returns the choices of each step of a path, from the first step on. The last entry is finalChoices, which applies to all steps
// after the recorded ones. If finalChoices is nil, no state has a choice in these steps.
func (scheduler *stepScheduler) stepChoices(finalChoices []uint32) [][]uint32 {
	if scheduler == nil || scheduler.isTooLarge {
		return nil
	}
	if finalChoices == nil {
		scheduler.beginStep()
		finalChoices, scheduler.currentChoices = scheduler.currentChoices, nil
	}
	choices := slices.Clone(scheduler.pastSteps)
	slices.Reverse(choices)
	return append(choices, finalChoices)
}
