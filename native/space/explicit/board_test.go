package explicit_test

import (
	"math/big"
	"strings"
	"testing"

	"tilecheck/modelgen"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// board prints a model of the game.
func board(t testing.TB, cfg modelgen.Config) string {
	t.Helper()
	m, err := modelgen.Build(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := syntax.Fprint(&text, m, syntax.Options{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// label returns the expression of a label.
func label(t testing.TB, p *sema.Program, name string) sema.Expr {
	t.Helper()
	for _, l := range p.Labels {
		if l.Name == name {
			return l.Expr
		}
	}
	t.Fatalf("no label %q", name)
	return nil
}

// TestBoards compares with the table of small boards of 2048-numbers.md, on
// whose rows PRISM's exact engine and Storm agree.
func TestBoards(t *testing.T) {
	tests := []struct {
		name                         string
		cfg                          modelgen.Config
		states, choices, transitions int
		fail, success                string // Pmin[F fail], Pmax[F success]
	}{
		{"2x2 to 8, nondeterministic", modelgen.Config{Rows: 2, Cols: 2, Max: 8}, 155, 322, 406, "0", "1"},
		{"2x2 to 16, nondeterministic", modelgen.Config{Rows: 2, Cols: 2, Max: 16}, 399, 770, 978, "", ""},
		{"2x2 to 32, nondeterministic", modelgen.Config{Rows: 2, Cols: 2, Max: 32}, 755, 1334, 1722, "", ""},
		{"2x2 to 8", modelgen.Config{Rows: 2, Cols: 2, Max: 8, Spawn: modelgen.SpawnUniform}, 155, 287, 406, "0", "1"},
		{"2x2 to 16", modelgen.Config{Rows: 2, Cols: 2, Max: 16, Spawn: modelgen.SpawnUniform}, 399, 707, 978, "29990997/800000000", "770009003/800000000"},
		{"2x2 to 32", modelgen.Config{Rows: 2, Cols: 2, Max: 32, Spawn: modelgen.SpawnUniform}, 755, 1247, 1722, "7336901687427567/8000000000000000", "663098312572433/8000000000000000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := build(t, board(t, tt.cfg), explicit.Options{Exact: true})
			m := s.Model()
			if m.NumStates() != tt.states || m.NumChoices() != tt.choices || m.NumTransitions() != tt.transitions {
				t.Errorf("%d states, %d choices, %d transitions, want %d, %d, %d", m.NumStates(), m.NumChoices(), m.NumTransitions(), tt.states, tt.choices, tt.transitions)
			}
			if tt.fail != "" {
				boardValue(t, s, "fail", solve.Min, tt.fail)
				boardValue(t, s, "success", solve.Max, tt.success)
			}
		})
	}
}

// boardValue checks the exact value and that bounds computed with the weights
// of a model of doubles contain it.
func boardValue(t *testing.T, s *explicit.Space, name string, dir solve.Direction, want string) {
	t.Helper()
	goal, err := s.States(label(t, s.Program(), name))
	if err != nil {
		t.Fatal(err)
	}
	g := sparse.NewGraph(s.Model())
	all := sparse.FullSet(goal.Len())
	x, err := solve.Until(t.Context(), g, all, goal, dir, solve.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := x.Exact[0].RatString(); got != want {
		t.Errorf("%s: %s, want %s", name, got, want)
	}
	v, err := solve.Until(t.Context(), g, all, goal, dir, solve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth, _ := new(big.Rat).SetString(want)
	if lo, hi := new(big.Rat).SetFloat64(v.Lower[0]), new(big.Rat).SetFloat64(v.Upper[0]); lo.Cmp(truth) > 0 || hi.Cmp(truth) < 0 || v.Upper[0]-v.Lower[0] > 1e-10 {
		t.Errorf("%s: [%v, %v], want %s", name, v.Lower[0], v.Upper[0], want)
	}
}
