package strategy_test

import (
	"math/big"
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// This file has a slow and obvious account of the strategies that draw: their algorithms, written from the document, with every draw
// made by a lottery that goes through all sequences of draws.

// lottery replays a program with every sequence of draws it can make, and the probability of each.
type lottery struct {
	path    []int // what the draws of this run return
	weights [][]int64
	at      int
}

// draw returns an index of weights, i with probability weights[i] over their sum.
func (l *lottery) draw(weights ...int64) int {
	if l.at == len(l.path) {
		l.path, l.weights = append(l.path, 0), append(l.weights, weights)
	}
	l.at++
	return l.path[l.at-1]
}

// prob returns the probability of the run.
func (l *lottery) prob() *big.Rat {
	p := big.NewRat(1, 1)
	for i, chosen := range l.path {
		sum := int64(0)
		for _, w := range l.weights[i] {
			sum += w
		}
		p.Mul(p, big.NewRat(l.weights[i][chosen], sum))
	}
	return p
}

// next goes to the next sequence and reports whether there is one.
func (l *lottery) next() bool {
	l.at = 0
	for last := len(l.path) - 1; last >= 0; last-- {
		if l.path[last]++; l.path[last] < len(l.weights[last]) {
			return true
		}
		l.path, l.weights = l.path[:last], l.weights[:last]
	}
	return false
}

// distribute returns the probability of each outcome of a program; ok is false when it has too many runs.
func distribute(program func(l *lottery) game.Dir) (probs map[game.Dir]*big.Rat, ok bool) {
	const many = 1000
	probs = map[game.Dir]*big.Rat{}
	l := &lottery{}
	for range many {
		d := program(l)
		if probs[d] == nil {
			probs[d] = new(big.Rat)
		}
		probs[d].Add(probs[d], l.prob())
		if !l.next() {
			return probs, true
		}
	}
	return nil, false
}

// slow plays by the rules as package game's Slide has them.
type slow struct {
	game.Shape
	*lottery
	randomTies bool
}

// move returns the board after a move, before the new tile, and the sum of the merged tiles.
func (s slow) move(values []int, d game.Dir) (next []int, score int) {
	next = make([]int, len(values))
	for line := range s.Rows * s.Cols {
		var cells []int
		switch {
		case (d == game.Left || d == game.Right) && line < s.Rows:
			for c := range s.Cols {
				cells = append(cells, line*s.Cols+c)
			}
		case (d == game.Up || d == game.Down) && line < s.Cols:
			for r := range s.Rows {
				cells = append(cells, r*s.Cols+line)
			}
		}
		if d == game.Right || d == game.Down {
			for i, j := 0, len(cells)-1; i < j; i, j = i+1, j-1 {
				cells[i], cells[j] = cells[j], cells[i]
			}
		}
		var tiles []int
		for _, i := range cells {
			tiles = append(tiles, values[i])
		}
		slid, gained := game.Slide(tiles)
		score += gained
		for k, i := range cells {
			next[i] = slid[k]
		}
	}
	return next, score
}

// moves is A(s).
func (s slow) moves(values []int) []game.Dir {
	var out []game.Dir
	for d := game.Left; d <= game.Down; d++ {
		next, _ := s.move(values, d)
		for i, v := range next {
			if v != values[i] {
				out = append(out, d)
				break
			}
		}
	}
	return out
}

// generate is G(a, s).
func (s slow) generate(values []int, d game.Dir) (next []int, score int) {
	next, score = s.move(values, d)
	var weights []int64
	var empty []int
	for i, v := range next {
		if v == 0 {
			empty = append(empty, i)
			weights = append(weights, 9, 1)
		}
	}
	drawn := s.draw(weights...)
	next[empty[drawn/2]] = 2 + 2*(drawn%2)
	return next, score
}

// best returns the move with the largest value.
func (s slow) best(moves []game.Dir, values []*big.Rat) (game.Dir, *big.Rat) {
	var best []int
	for i, v := range values {
		if len(best) == 0 || v.Cmp(values[best[0]]) > 0 {
			best = []int{i}
		} else if v.Cmp(values[best[0]]) == 0 {
			best = append(best, i)
		}
	}
	chosen := best[0]
	if s.randomTies {
		weights := make([]int64, len(best))
		for i := range weights {
			weights[i] = 1
		}
		chosen = best[s.draw(weights...)]
	}
	return moves[chosen], values[chosen]
}

// sparse is SelectAction of Algorithm 1.
func (s slow) sparse(board []int, depth, n int) (game.Dir, *big.Rat) {
	moves := s.moves(board)
	if depth == 0 || len(moves) == 0 {
		return 0, new(big.Rat)
	}
	values := make([]*big.Rat, len(moves))
	for i, d := range moves {
		values[i] = new(big.Rat)
		for range n {
			next, r := s.generate(board, d)
			inner := s
			inner.randomTies = false // a tie ahead does not change the value
			_, v := inner.sparse(next, depth-1, n)
			v = new(big.Rat).Add(v, big.NewRat(int64(r), 1))
			values[i].Add(values[i], v.Mul(v, big.NewRat(1, int64(n))))
		}
	}
	return s.best(moves, values)
}

// monteCarlo is SelectAction of Algorithm 2.
func (s slow) monteCarlo(board []int, runs int, value string) game.Dir {
	moves := s.moves(board)
	values := make([]*big.Rat, len(moves))
	for i, d := range moves {
		values[i] = new(big.Rat)
		for range runs {
			v := big.NewRat(int64(s.rollOut(board, d, value)), int64(runs))
			values[i].Add(values[i], v)
		}
	}
	d, _ := s.best(moves, values)
	return d
}

// rollOut makes a move, plays on at random and returns the value of the end.
func (s slow) rollOut(board []int, d game.Dir, value string) int {
	board, score := s.generate(board, d)
	for moves := s.moves(board); len(moves) > 0; moves = s.moves(board) {
		weights := make([]int64, len(moves))
		for i := range weights {
			weights[i] = 1
		}
		next, r := s.generate(board, moves[s.draw(weights...)])
		board, score = next, score+r
	}
	largest, sum := 0, 0
	for _, v := range board {
		largest, sum = max(largest, v), sum+v
	}
	return map[string]int{"score": score, "max": largest, "sum": sum}[value]
}

// reachable returns the boards of a game with the player to move and more than one legal move.
func reachable(r *game.Rules) []game.Board {
	seen := map[game.Board]bool{}
	var out []game.Board
	var add func(b game.Board)
	spawn := func(b game.Board, each func(game.Board)) {
		for i := range r.NumEmptyCells(b) {
			each(r.Spawn(b, i, 1))
			each(r.Spawn(b, i, 2))
		}
	}
	add = func(b game.Board) {
		if seen[b] {
			return
		}
		seen[b] = true
		legal := r.Legal(b)
		if legal.Len() > 1 {
			out = append(out, b)
		}
		for i := range legal.Len() {
			next, _, _ := r.Move(b, legal.At(i))
			spawn(next, add)
		}
	}
	spawn(0, func(b game.Board) { spawn(b, add) })
	return out
}

// sameChoices fails unless the choices have exactly these probabilities.
func sameChoices(t *testing.T, board game.Board, got []strategy.Choice, want map[game.Dir]*big.Rat) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%v: %d choices %v, want %v", board, len(got), got, want)
	}
	for _, c := range got {
		if want[c.Dir] == nil || want[c.Dir].Cmp(c.Prob) != 0 || c.Memory != 0 {
			t.Fatalf("%v: %v has probability %v, want %v", board, c.Dir, c.Prob, want[c.Dir])
		}
	}
}

// agreeWithSlow compares Decide with a slow program, for both rules on ties, on all boards of the shape that have few enough runs and
// whose tiles add up to late or more. It returns how many they are.
func agreeWithSlow(t *testing.T, shape game.Shape, spec string, late int, program func(s slow, values []int) game.Dir) int {
	t.Helper()
	rules := newRules(t, shape)
	compared := 0
	for _, ties := range []string{"first", "random"} {
		chooser := parse(t, rules, spec+",ties="+ties).Chooser()
		for _, b := range reachable(rules) {
			values, sum := shape.Values(b), 0
			for _, v := range values {
				sum += v
			}
			if sum < late {
				continue
			}
			want, ok := distribute(func(l *lottery) game.Dir { return program(slow{shape, l, ties == "random"}, values) })
			if !ok {
				continue
			}
			got, err := chooser.Decide(b, rules.Legal(b), 0)
			if err != nil {
				t.Fatalf("%v: %v", b, err)
			}
			sameChoices(t, b, got, want)
			compared++
		}
	}
	return compared
}

func newRules(t testing.TB, shape game.Shape) *game.Rules {
	t.Helper()
	rules, err := game.New(shape)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func parse(t testing.TB, rules *game.Rules, spec string) strategy.Strategy {
	t.Helper()
	s, err := strategy.Parse(spec, strategy.Setting{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
