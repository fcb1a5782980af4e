package solve

import (
	"slices"

	"tilecheck/native/explicit/sparse"
)

// Limits of a scheduler that counts steps: of the steps, and of the choices
// that are stored, which take 4 bytes each.
const (
	maxTraceSteps   = 1 << 20
	maxTraceChoices = 1 << 28
)

// trace collects the choices of a scheduler that counts steps, the last step
// first. A nil trace collects nothing.
type trace struct {
	rows   [][]uint32 // of the steps so far; equal neighbours are one slice
	row    []uint32   // of the step under way
	stored int
	full   bool
	states int
}

func newTrace(m *sparse.Model, opts Options) *trace {
	if !opts.Scheduler || m.Kind != sparse.MDP {
		return nil
	}
	return &trace{states: m.NumStates()}
}

// begin starts a step, in which all choices are the same to every state.
func (t *trace) begin() {
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

// note notes the choice of a state in the step under way; of several states at the same time, too.
func (t *trace) note(s int, choice uint32) {
	if t != nil && !t.full {
		t.row[s] = choice
	}
}

// end ends a step, which happens so many times in a row.
func (t *trace) end(times int) {
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

func (t *trace) discard() { t.rows, t.row, t.full = nil, nil, true }

// first returns the choices of the only step.
func (t *trace) first() []uint32 {
	if t == nil || len(t.rows) == 0 {
		return nil
	}
	return t.rows[0]
}

// steps returns the choices of all steps, the first step first, and then those
// after the last step; nil stands for any.
func (t *trace) steps(then []uint32) [][]uint32 {
	if t == nil || t.full {
		return nil
	}
	if then == nil {
		t.begin()
		then, t.row = t.row, nil
	}
	out := slices.Clone(t.rows)
	slices.Reverse(out)
	return append(out, then)
}
