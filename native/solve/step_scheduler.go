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
	completed     [][]uint32 // of the steps so far; equal neighbours share a slice
	current       []uint32   // of the current step
	storedChoices int
	tooLarge      bool
	numStates     int
}

func newStepScheduler(model *sparse.Model, opts Options) *stepScheduler {
	if !opts.Scheduler || model.Kind != sparse.MDP {
		return nil
	}
	return &stepScheduler{numStates: model.NumStates()}
}

// beginStep starts a step, in which no state has a choice yet.
func (t *stepScheduler) beginStep() {
	if t == nil || t.tooLarge {
		return
	}
	if t.current == nil {
		t.current = make([]uint32, t.numStates)
	}
	for s := range t.current {
		t.current[s] = sparse.None
	}
}

// setChoice records the choice of a state in the current step. Calls for different states may be concurrent.
func (t *stepScheduler) setChoice(s int, choice uint32) {
	if t != nil && !t.tooLarge {
		t.current[s] = choice
	}
}

// endStep records the choices of the current step, which is repeated the given number of times. If too many
// choices are stored, the scheduler is given up.
func (t *stepScheduler) endStep(times int) {
	if t == nil || t.tooLarge {
		return
	}
	if times > maxTraceSteps-len(t.completed) {
		t.discard()
		return
	}
	row := t.current
	n := len(t.completed)
	if n > 0 && slices.Equal(t.completed[n-1], row) {
		row = t.completed[n-1] // equal neighbours share a slice
	} else {
		t.current = nil
		t.storedChoices += t.numStates
	}
	if t.storedChoices > maxTraceChoices {
		t.discard()
		return
	}
	for range times {
		t.completed = append(t.completed, row)
	}
}

func (t *stepScheduler) discard() { t.completed, t.current, t.tooLarge = nil, nil, true }

// first returns the choices of the only step.
func (t *stepScheduler) first() []uint32 {
	if t == nil || len(t.completed) == 0 {
		return nil
	}
	return t.completed[0]
}

// steps returns the choices of all recorded steps, from the first step of a path on, followed by finalChoices
// for all later steps. If finalChoices is nil, no state has a choice in the later steps.
func (t *stepScheduler) steps(finalChoices []uint32) [][]uint32 {
	if t == nil || t.tooLarge {
		return nil
	}
	if finalChoices == nil {
		t.beginStep()
		finalChoices, t.current = t.current, nil
	}
	choices := slices.Clone(t.completed)
	slices.Reverse(choices)
	return append(choices, finalChoices)
}
