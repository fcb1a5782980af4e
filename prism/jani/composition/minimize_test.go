package composition

import (
	"slices"
	"testing"
)

// TestMinimize has quotients by hand. The action is 1.
func TestMinimize(t *testing.T) {
	const action = 1
	for name, test := range map[string]struct {
		states []State
		want   []State
	}{
		"an internal step before a rate": {
			[]State{{Steps: []Step{{Internal, 1}}}, {Rates: []Rate{{2, 5}}}, {Steps: []Step{{action, 2}}}},
			[]State{{Rates: []Rate{{1, 5}}}, {Steps: []Step{{action, 1}}}},
		},
		"equal states, whose rates add up": {
			[]State{{Rates: []Rate{{1, 2}, {2, 3}}}, {Steps: []Step{{action, 1}}}, {Steps: []Step{{action, 2}}}},
			[]State{{Rates: []Rate{{1, 5}}}, {Steps: []Step{{action, 1}}}},
		},
		"no time passes beside an internal step": {
			[]State{{Steps: []Step{{Internal, 1}}, Rates: []Rate{{2, 7}}}, {}, {Steps: []Step{{action, 2}}}},
			[]State{{}},
		},
		"a choice between two outcomes": {
			[]State{{Steps: []Step{{Internal, 1}, {Internal, 2}}}, {Rates: []Rate{{2, 1}}}, {Steps: []Step{{action, 2}}}},
			[]State{{Steps: []Step{{Internal, 1}, {Internal, 2}}}, {Rates: []Rate{{2, 1}}}, {Steps: []Step{{action, 2}}}},
		},
		"divergence is no deadlock": {
			[]State{{Steps: []Step{{action, 1}, {action, 3}}}, {Steps: []Step{{Internal, 2}}}, {Steps: []Step{{Internal, 1}}}, {}},
			[]State{{Steps: []Step{{action, 1}, {action, 2}}}, {Steps: []Step{{Internal, 1}}}, {}},
		},
		"a rate within a class is no change": {
			[]State{{Rates: []Rate{{1, 4}}}, {Rates: []Rate{{0, 9}}}},
			[]State{{}},
		},
		"a visible step that an internal one disables": {
			[]State{{Steps: []Step{{Internal, 1}, {action, 0}}}, {}},
			[]State{{Steps: []Step{{Internal, 1}, {action, 0}}}, {}},
		},
	} {
		got := minimize(&Automaton{States: test.states}, &effort{ctx: t.Context(), remaining: maxEffort})
		equal := func(left, right State) bool {
			return slices.Equal(left.Steps, right.Steps) && slices.Equal(left.Rates, right.Rates)
		}
		if got.Initial != 0 || !slices.EqualFunc(got.States, test.want, equal) {
			t.Errorf("%s: got %v, want %v", name, got.States, test.want)
		}
	}
}
