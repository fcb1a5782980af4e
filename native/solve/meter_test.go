package solve

import (
	"context"
	"strings"
	"testing"

	"tilecheck/internal/progress"
)

// Progress counts states where states are solved, and steps where steps are taken.
func TestMeterUnit(t *testing.T) {
	var last progress.Progress
	opts := Options{Progress: func(p progress.Progress) { last = p }, MaxWork: 2 * workPerPoll}
	for unit, m := range map[progress.Unit]*meter{progress.States: newMeter(t.Context(), opts, 7), progress.Steps: newStepMeter(t.Context(), opts, 7)} {
		if err := m.addWork(workPerPoll); err != nil || last.Unit != unit || last.Target != 7 {
			t.Errorf("found %+v, %v, want 7 %s", last, err, unit)
		}
	}
}

// An error of the context says how far the work is, in its unit.
func TestMeterCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newStepMeter(ctx, Options{}, 9).addWork(workPerPoll); err == nil || !strings.Contains(err.Error(), "with 0 of 9 steps done") {
		t.Errorf("error %v", err)
	}
}
