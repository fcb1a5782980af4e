package check_test

import (
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native/check"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// board returns the text of a generated model.
func board(t *testing.T, cfg modelgen.Config) string {
	t.Helper()
	model, err := modelgen.Build(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := syntax.Fprint(&text, model, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestChainOfAPolicy wants the Markov chain of a policy to have the fraction of the MDP of
// the thesis, in which a second module is the policy.
func TestChainOfAPolicy(t *testing.T) {
	boards := []modelgen.Config{{Rows: 2, Cols: 2, Max: 8}, {Rows: 2, Cols: 2, Max: 16}, {Rows: 1, Cols: 3, Max: 8}}
	if needs.IsFull() {
		boards = append(boards, modelgen.Config{Rows: 2, Cols: 2, Max: 32}, modelgen.Config{Rows: 2, Cols: 3, Max: 16})
	}
	for _, cfg := range boards {
		cfg.Spawn = modelgen.SpawnUniform
		for _, named := range modelgen.ThesisPolicies() {
			cfg.Kind, cfg.Policy = modelgen.Final, named.Policy
			mdp := ask(t, t.Context(), board(t, cfg), `Pmax=? [ F "success" ]`, check.Options{Accuracy: result.Exact})[0]
			cfg.Kind = modelgen.DTMC
			dtmc := ask(t, t.Context(), board(t, cfg), `P=? [ F "success" ]`, check.Options{Accuracy: result.Exact})[0]
			if mdp.Err != nil || dtmc.Err != nil || mdp.Value.Rat.Cmp(dtmc.Value.Rat) != 0 || dtmc.States > mdp.States || len(dtmc.Warnings) > 0 {
				t.Errorf("%dx%d %d %s: %v, and %v as a chain (%v, %v, %v)", cfg.Rows, cfg.Cols, cfg.Max, named.Name, mdp.Value.Rat, dtmc.Value.Rat, mdp.Err, dtmc.Err, dtmc.Warnings)
			}
		}
	}
}

// TestBoardsInTheDark wants who sees everything to have the value of the MDP, whoever sees
// less not to have more, and the thesis's value of 2x2 to 16.
func TestBoardsInTheDark(t *testing.T) {
	value := map[string]result.Interval{}
	for _, observe := range []string{"all", "row:0", "mask:10/01", "max"}[:needs.OrFull(2, 4)] {
		cfg := modelgen.Config{Kind: modelgen.POMDP, Rows: 2, Cols: 2, Max: 16, Spawn: modelgen.SpawnUniform}
		var err error
		if cfg.Observe, err = modelgen.ParseObserve(observe); err != nil {
			t.Fatal(err)
		}
		v := ask(t, t.Context(), board(t, cfg), `Pmax=? [ F "success" ]`, check.Options{Beliefs: 1000})[0]
		if v.Err != nil {
			t.Fatal(v.Err)
		}
		value[observe] = *v.Bound
	}
	const optimum = 1 - 29990997.0/800000000 // docs/models.md
	if all := value["all"]; all.Lo > optimum || all.Hi < optimum || all.Hi-all.Lo > 1e-7 {
		t.Errorf("all: %v, want %v", all, optimum)
	}
	for observe, v := range value {
		if v.Lo > value["all"].Hi || v.Lo > v.Hi {
			t.Errorf("%s: %v, more than %v", observe, v, value["all"])
		}
	}
}
