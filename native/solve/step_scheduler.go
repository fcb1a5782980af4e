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

// stepScheduler records the choices of a step-counting scheduler, from the last step to the first. A nil trace
// records nothing.
type stepScheduler struct {
	rows   [][]uint32 // of the steps so far; equal neighbours share a slice
	row    []uint32   // of the current step
	stored int
	full   bool
	states int
}

func newStepScheduler(m *sparse.Model, opts Options) *stepScheduler {
	if !opts.Scheduler || m.Kind != sparse.MDP {
		return nil
	}
	return &stepScheduler{states: m.NumStates()}
}

// beginStep starts a step, in which no state has a choice yet.
func (t *stepScheduler) beginStep() {
	if t == nil || t.full {
		return
	}
	if t.row == nil {
		t.row = make([]uint32, t.states)
	}
	for s := range t.row {
		t.row[s] = sparse.None
	}
}

// setChoice records the choice of a state in the current step. Calls for different states may be concurrent.
func (t *stepScheduler) setChoice(s int, choice uint32) {
	if t != nil && !t.full {
		t.row[s] = choice
	}
}

// endStep records the current step, which is repeated the given number of times.
func (t *stepScheduler) endStep(times int) {
	if t == nil || t.full {
		return
	}
	if times > maxTraceSteps-len(t.rows) {
		t.discard()
		return
	}
	row := t.row
	if n := len(t.rows); n > 0 && slices.Equal(t.rows[n-1], row) {
		row = t.rows[n-1]
	} else {
		t.row = nil
		if t.stored += t.states; t.stored > maxTraceChoices {
			t.discard()
			return
		}
	}
	for range times {
		t.rows = append(t.rows, row)
	}
}

func (t *stepScheduler) discard() { t.rows, t.row, t.full = nil, nil, true }

// first returns the choices of the only step.
func (t *stepScheduler) first() []uint32 {
	if t == nil || len(t.rows) == 0 {
		return nil
	}
	return t.rows[0]
}

// steps returns the choices of all steps, from the first one on, and then the choices for all later
// steps; nil stands for any.
func (t *stepScheduler) steps(then []uint32) [][]uint32 {
	if t == nil || t.full {
		return nil
	}
	if then == nil {
		t.beginStep()
		then, t.row = t.row, nil
	}
	out := slices.Clone(t.rows)
	slices.Reverse(out)
	return append(out, then)
}
