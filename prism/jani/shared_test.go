package jani_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/jani"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// writers are four automata that write the same variables, each in steps of its own. In a Markov automaton ("ma") each also has edges with
// rates. Idle edges, of which each automaton has so many for the step of all four, are never possible.
func writers(modelType string, seed uint64, idle int) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	listSteps := []string{"t,t,t,t:t", "a,a,-,-:a", "-,b,b,-:b", "-,-,c,c:c", "d,-,-,d:d"}
	wrote := make(map[string]int) // by action and variable: who may
	var automata []string
	for i := range 4 {
		var edges []string
		for _, v := range listSteps {
			action := strings.Split(v, ",")[i]
			if action == "-" {
				continue
			}
			action = action[:1]
			for range 1 + rng.IntN(2) {
				var dests []string
				for range 2 {
					sets := []string{set("x", fmt.Sprint(rng.IntN(3)))}
					for _, g := range []string{"g", "h"} {
						who, known := wrote[action+g]
						if !known {
							who = i
						}
						if rng.IntN(2) == 0 && who == i {
							wrote[action+g] = i
							read := []string{"g", "h", "x"}[rng.IntN(3)]
							index := []string{"", "", "", "@1"}[rng.IntN(4)]
							sets = append(sets, set(g+index, op("%", op("+", read, rng.IntN(3)), 3)))
						}
					}
					dests = append(dests, likely("0.5", "l", sets...))
				}
				guard := op("≤", []string{"x", "g", "h"}[rng.IntN(3)], rng.IntN(3))
				edges = append(edges, edge("l "+action, guard, dests...))
			}
		}
		if modelType == "ma" {
			for range 1 + rng.IntN(2) {
				guard := op("≤", []string{"x", "g", "h"}[rng.IntN(3)], rng.IntN(3))
				dest := to("l", set("x", fmt.Sprint(rng.IntN(3))), set("g", fmt.Sprint(rng.IntN(3))))
				edges = append(edges, rated(fmt.Sprint(1+rng.IntN(4)), edge("l", guard, dest)))
			}
		}
		for range idle {
			edges = append(edges, edge("l t", op(">", "x", 5), to("l")))
		}
		automata = append(automata, automaton(string(rune('A'+i)), bounded("x", 0, 2, "0"), []string{"l"}, edges...))
	}
	return document(modelType, variables(bounded("g", 0, 2, "0"), bounded("h", 0, 2, "1")), automata, system("A B C D", listSteps...))
}

func isShared(item syntax.Item) bool {
	g, ok := item.(*syntax.GlobalDecl)
	return ok && g.Var.Shared
}

// TestShared: automata whose edges combine to too many commands for one module have the
// states that those of few edges have.
func TestShared(t *testing.T) {
	for _, modelType := range []string{"mdp", "ma"} {
		t.Run(modelType, func(t *testing.T) { compareShared(t, modelType) })
	}
}

func compareShared(t *testing.T, modelType string) {
	shared := 0
	for seed := range uint64(needs.Some(60)) {
		var sides [2]crosscheck.NamedSpace
		for i, idle := range []int{0, 30} {
			text := []byte(writers(modelType, seed, idle))
			read, err := jani.Read("m.jani", text, nil)
			if i == 1 && err != nil { // one reads what another one wrote in the step before it
				break
			}
			if i == 1 && slices.ContainsFunc(read.Model.Items, isShared) {
				shared++
			}
			m, _, err := load.Model(t.Context(), runner.Job{File: "m.jani", Model: text})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			space, err := explicit.Build(t.Context(), m, explicit.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			sides[i] = crosscheck.NamedSpace{Name: []string{"few", "many"}[i], ToolSpace: explicit.ToolSpace{Space: space, AllLabelsAndRewards: true}}
		}
		if sides[1].Space == nil {
			continue
		}
		if d, err := crosscheck.Diff(t.Context(), sides[0], sides[1]); err != nil || d != nil {
			t.Errorf("%v %v\n%s", err, d, writers(modelType, seed, 0))
		}
	}
	if shared < needs.Some(60)/3 {
		t.Errorf("%d models with shared variables, want a third", shared)
	}
}
