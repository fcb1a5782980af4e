package induced_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"tilecheck/certify/tiles"
	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/internal/needs"
)

// stagesOf proves a bound by stages.
func stagesOf(t *testing.T, g setting, unit, states, rounds int) (*induced.StageProof, []byte) {
	t.Helper()
	proof, err := induced.StageBound(t.Context(), induced.StageOptions{Rules: g.options(t).Rules, Max: g.exp, Unit: unit, States: states, Rounds: rounds})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := proof.WriteCertificate(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	return proof, text.Bytes()
}

// TestStageBound: bounds by stages are at most the value of optimal play, come near it where that is written down, and their certificates are accepted: with one stage
// and with all that a row has room for, with few boards and with many.
func TestStageBound(t *testing.T) {
	needs.Full(t)
	for _, x := range []struct {
		g            setting
		unit, states int
		least        float64
	}{
		{setting{2, 2, 4}, 3, 0, 0.94},
		{setting{2, 2, 4}, 2, 0, 0.4},
		{setting{2, 2, 5}, 4, 0, 0.01},
		{setting{2, 3, 4}, 3, 2000, 0.9},
		{setting{2, 3, 5}, 4, 2000, 0.9},
		{setting{2, 3, 5}, 3, 2000, 0.8},
		{setting{2, 3, 5}, 2, 2000, 0.2},
		{setting{2, 3, 5}, 4, 300, 0},
		{setting{3, 2, 5}, 4, 2000, 0.6},
	} {
		best := optimum(t, x.g)
		proof, text := stagesOf(t, x.g, x.unit, x.states, 2)
		if proof.Bound.Rat().Cmp(best) > 0 || proof.Bound.Float64() < x.least {
			value, _ := best.Float64()
			t.Errorf("%s, unit %d: bound %v, the optimum is %v, want at least %v", x.g, 1<<x.unit, proof.Bound, value, x.least)
		}
		checked, err := tiles.CheckBound(t.Context(), bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s, unit %d: %v", x.g, 1<<x.unit, err)
		}
		if checked.Lower != uint64(proof.Bound) || checked.Max != 1<<x.g.exp {
			t.Errorf("%s, unit %d: proved %v, the certificate says %+v", x.g, 1<<x.unit, proof.Bound, *checked)
		}
	}
}

// TestStageBoundRepeats: the same options make the same certificate.
func TestStageBoundRepeats(t *testing.T) {
	_, first := stagesOf(t, setting{2, 3, 5}, 3, 500, 2)
	_, second := stagesOf(t, setting{2, 3, 5}, 3, 500, 2)
	if !bytes.Equal(first, second) {
		t.Error("two certificates of one game differ")
	}
}

func TestStageBoundErrors(t *testing.T) {
	rules := setting{3, 3, 6}.options(t).Rules
	line, err := game.New(game.Shape{Rows: 1, Cols: 4})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]induced.StageOptions{
		"no rules":       {Max: 6, Unit: 5},
		"unit too great": {Rules: rules, Max: 6, Unit: 6},
		"unit too small": {Rules: rules, Max: 6, Unit: 2},
		"one row":        {Rules: line, Max: 4, Unit: 3},
		"states":         {Rules: rules, Max: 6, Unit: 5, States: -1},
	} {
		if _, err := induced.StageBound(t.Context(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := induced.StageBound(ctx, induced.StageOptions{Rules: rules, Max: 6, Unit: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
