package game_test

import (
	"math/big"
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
)

// state is a state of the thesis's model (sections 3.2 and 3.6): the cells and the phase.
type state struct {
	board  game.Board
	random bool // the random phase
}

// thesisModel is the game up to a tile of 2^maxExp, with the phases of the thesis.
type thesisModel struct {
	rules  *game.Rules
	maxExp int
}

// successors returns one group of successors for each choice when the cell of a new tile is chosen uniformly. Groups of the random phase
// hold a 2 and a 4 for each empty cell. A state that ends the game has one choice: to stay.
func (m thesisModel) successors(s state) [][]state {
	if s.board.AtLeast(m.maxExp) || !s.random && m.rules.Lost(s.board) {
		return [][]state{{s}}
	}
	if s.random {
		var group []state
		for n := range m.rules.NumEmptyCells(s.board) {
			for exp := 1; exp <= 2; exp++ {
				// The first tile, on the empty board, leaves the phase as it is: a second one follows.
				group = append(group, state{m.rules.Spawn(s.board, n, exp), s.board == 0})
			}
		}
		return [][]state{group}
	}
	var groups [][]state
	for _, d := range directions {
		if next, _, _ := m.rules.Move(s.board, d); next != s.board {
			groups = append(groups, []state{{next, true}})
		}
	}
	return groups
}

// TestStateSpace pins the sizes of the models of small boards. The expectations are counts by PRISM and Storm (2048-numbers.md).
func TestStateSpace(t *testing.T) {
	tests := []struct {
		size, maxExp                 int
		states, choices, transitions int
		choicesNondet                int // when the cell of a new tile is a choice, as in the thesis; 0 is not known
	}{
		{2, 3, 155, 287, 406, 322},
		{2, 4, 399, 707, 978, 770},
		{2, 5, 755, 1247, 1722, 1334},
		{3, 5, 1_598_448, 4_032_745, 5_171_248, 0},
	}
	for _, tt := range tests {
		if tt.size > 2 && !needs.IsFull() {
			continue
		}
		m := thesisModel{newRules(t, game.Shape{Rows: tt.size, Cols: tt.size}), tt.maxExp}
		states, choices, transitions, choicesNondet := m.count()
		if states != tt.states || choices != tt.choices || transitions != tt.transitions {
			t.Errorf("%dx%d to %d: %d states, %d choices, %d transitions, want %d, %d, %d", tt.size, tt.size, 1<<tt.maxExp,
				states, choices, transitions, tt.states, tt.choices, tt.transitions)
		}
		if tt.choicesNondet != 0 && choicesNondet != tt.choicesNondet {
			t.Errorf("%dx%d to %d: %d choices when the cell is one, want %d", tt.size, tt.size, 1<<tt.maxExp,
				choicesNondet, tt.choicesNondet)
		}
	}
}

// count explores the states reachable from the empty board.
func (m thesisModel) count() (states, choices, transitions, choicesNondet int) {
	initial := state{random: true}
	seen := map[state]bool{initial: true}
	for queue := []state{initial}; len(queue) > 0; {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, group := range m.successors(s) {
			choices++
			transitions += len(group)
			choicesNondet += (len(group) + 1) / 2 // a choice for each cell, 2 and 4 its transitions
			for _, next := range group {
				if !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return len(seen), choices, transitions, choicesNondet
}

// TestOptimalValue checks the probability of success under optimal play, as an exact fraction, against PRISM's and Storm's exact engines
// (2048-numbers.md, uniform cell).
func TestOptimalValue(t *testing.T) {
	tests := []struct {
		maxExp   int
		num, den int64
	}{
		{3, 1, 1},
		{4, 770009003, 800000000},
		{5, 663098312572433, 8000000000000000},
	}
	for _, tt := range tests {
		m := thesisModel{newRules(t, game.Shape{Rows: 2, Cols: 2}), tt.maxExp}
		got, want := m.value(state{random: true}, map[state]*big.Rat{}), big.NewRat(tt.num, tt.den)
		if got.Cmp(want) != 0 {
			t.Errorf("2x2 to %d: %s, want %s", 1<<tt.maxExp, got, want)
		}
	}
}

// value returns the greatest probability of success from s. Every new tile makes the sum of the tiles grow, so the recursion ends.
func (m thesisModel) value(s state, known map[state]*big.Rat) *big.Rat {
	if v, ok := known[s]; ok {
		return v
	}
	best := new(big.Rat)
	switch {
	case s.board.AtLeast(m.maxExp):
		best.SetInt64(1)
	case !s.random && m.rules.Lost(s.board):
	default:
		for _, group := range m.successors(s) {
			if v := m.mean(group, known); v.Cmp(best) > 0 {
				best = v
			}
		}
	}
	known[s] = best
	return best
}

// mean returns the expectation of value over a group of successors.
func (m thesisModel) mean(group []state, known map[state]*big.Rat) *big.Rat {
	if len(group) == 1 {
		return m.value(group[0], known)
	}
	sum := new(big.Rat)
	for i, s := range group {
		p := big.NewRat(9, 10)
		if i%2 == 1 {
			p = big.NewRat(1, 10)
		}
		sum.Add(sum, p.Mul(p, m.value(s, known)))
	}
	return sum.Mul(sum, big.NewRat(2, int64(len(group))))
}
