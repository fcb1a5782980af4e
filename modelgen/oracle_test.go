package modelgen

import (
	"math/big"
	"slices"
)

// An independent account of the game that the models describe, for small boards: the size of the state space by exploring it, and the
// probabilities by backward recursion over boards with rational numbers. It shares slide, and so package game, with the other tests, and
// nothing with the models.

type position struct {
	board [9]int16
	moves bool // the move-merge phase
	// The variables of the other modules.
	switched   bool
	move, cell int8 // drawn; none is -1
}

const none = -1

// chance is a probability and what happens.
type chance struct {
	p    *big.Rat
	next position
}

type oracle struct {
	cfg Config
	p2  *big.Rat
}

func newOracle(cfg Config) *oracle {
	p, err := parseP2(cfg.p2())
	if err != nil {
		panic(err)
	}
	return &oracle{cfg, p}
}

func (o *oracle) cells() int { return o.cfg.Rows * o.cfg.Cols }

func (o *oracle) start() position { return position{move: none, cell: none} }

func (o *oracle) won(s position) bool { return slices.Contains(s.board[:], int16(o.cfg.Max)) }

func (o *oracle) lost(s position) bool {
	return !o.won(s) && len(o.empty(s)) == 0 && len(o.legal(s)) == 0
}

func (o *oracle) empty(s position) []int {
	var cells []int
	for i := range o.cells() {
		if s.board[i] == 0 {
			cells = append(cells, i)
		}
	}
	return cells
}

func (o *oracle) legal(s position) []Move {
	return slices.DeleteFunc(allMoves(), func(m Move) bool { return o.after(s, m).board == s.board })
}

// after is the position after a move, in the random phase.
func (o *oracle) after(s position, m Move) position {
	board := make([]int, o.cells())
	for i := range board {
		board[i] = int(s.board[i])
	}
	for i, v := range slide(o.cfg.Rows, o.cfg.Cols, board, m) {
		s.board[i] = int16(v)
	}
	s.moves = false
	return s
}

// put is the chances of a new tile in a cell.
func (o *oracle) put(s position, cell int) []chance {
	first := len(o.empty(s)) == o.cells()
	tile := func(p *big.Rat, value int16) chance {
		next := s
		next.board[cell] = value
		next.moves = !first
		next.cell = none
		return chance{p, next}
	}
	cs := []chance{tile(o.p2, 2)}
	if rest := new(big.Rat).Sub(big.NewRat(1, 1), o.p2); rest.Sign() > 0 {
		cs = append(cs, tile(rest, 4))
	}
	return cs
}

// choices are what a scheduler chooses from.
func (o *oracle) choices(s position) [][]chance {
	switch {
	case o.won(s), o.lost(s):
		return [][]chance{{{big.NewRat(1, 1), s}}}
	case !s.moves:
		return o.randomChoices(s)
	default:
		return o.moveChoices(s)
	}
}

func (o *oracle) randomChoices(s position) [][]chance {
	if o.cfg.Kind == Prototype && len(o.empty(s)) == o.cells() {
		return o.firstTwo(s)
	}
	var cs [][]chance
	switch o.cfg.Spawn {
	case SpawnModule:
		if s.cell == none || s.board[s.cell] != 0 {
			return [][]chance{o.draw(o.cells(), func(i int8) position { s.cell = i; return s })}
		}
		return [][]chance{o.put(s, int(s.cell))}
	case SpawnUniform:
		cs = [][]chance{nil}
		for _, cell := range o.empty(s) {
			cs[0] = append(cs[0], scaled(o.put(s, cell), len(o.empty(s)))...)
		}
	default:
		for _, cell := range o.empty(s) {
			cs = append(cs, o.put(s, cell))
		}
	}
	return cs
}

// firstTwo is the prototype's start: a pair of cells, both filled at once.
func (o *oracle) firstTwo(s position) [][]chance {
	var cs [][]chance
	for a := range o.cells() {
		for b := range a {
			var both []chance
			for _, c := range o.put(s, a) {
				for _, d := range o.put(c.next, b) {
					both = append(both, chance{new(big.Rat).Mul(c.p, d.p), d.next})
				}
			}
			cs = append(cs, both)
		}
	}
	return cs
}

func (o *oracle) moveChoices(s position) [][]chance {
	one := big.NewRat(1, 1)
	take := func(m Move) []chance {
		next := o.after(s, m)
		next.move = none
		return []chance{{one, next}}
	}
	legal := o.legal(s)
	switch p := o.cfg.Policy; p.Kind {
	case RandomMoves:
		if s.move == none || !slices.Contains(legal, Move(s.move)) {
			return [][]chance{o.draw(4, func(i int8) position { s.move = i; return s })}
		}
		return [][]chance{take(Move(s.move))}
	case PreferMoves, AlternateMoves:
		order := p.First
		if s.switched {
			order = p.Second
		}
		m := order[slices.IndexFunc(order[:], func(m Move) bool { return slices.Contains(legal, m) })]
		cs := take(m)
		if p.Kind == AlternateMoves && m == order[0] {
			cs[0].next.switched = !s.switched
		}
		return [][]chance{cs}
	}
	var cs [][]chance
	for _, m := range legal {
		cs = append(cs, take(m))
	}
	return cs
}

func (o *oracle) draw(n int, to func(i int8) position) []chance {
	var cs []chance
	for i := range n {
		cs = append(cs, chance{big.NewRat(1, int64(n)), to(int8(i))})
	}
	return cs
}

func scaled(cs []chance, n int) []chance {
	for i := range cs {
		cs[i].p = new(big.Rat).Quo(cs[i].p, big.NewRat(int64(n), 1))
	}
	return cs
}

// size is the size of a state space; lost is the number of states in which the game is lost.
type size struct{ states, choices, transitions, lost int }

func (o *oracle) explore() size {
	seen := map[position]bool{o.start(): true}
	todo := []position{o.start()}
	var n size
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n.states++
		n.lost += truth(o.lost(s))
		for _, cs := range o.choices(s) {
			n.choices++
			n.transitions += len(cs)
			for _, c := range cs {
				if !seen[c.next] {
					seen[c.next] = true
					todo = append(todo, c.next)
				}
			}
		}
	}
	return n
}

// probability returns the extremal probability that goal holds at the end of the game.
func (o *oracle) probability(goal func(position) bool, maximise bool) *big.Rat {
	known := map[position]*big.Rat{}
	var from func(s position) *big.Rat
	expected := func(cs []chance, scale *big.Rat) *big.Rat {
		sum := new(big.Rat)
		for _, c := range cs {
			sum.Add(sum, new(big.Rat).Mul(c.p, from(c.next)))
		}
		return sum.Mul(sum, scale)
	}
	from = func(s position) *big.Rat {
		switch {
		case goal(s):
			return big.NewRat(1, 1)
		case o.won(s), o.lost(s):
			return new(big.Rat)
		case known[s] != nil:
			return known[s]
		}
		var best *big.Rat
		if redraw, ok := o.drawn(s); ok {
			// Drawing until the draw will do gives every draw that does the same probability.
			best = expected(redraw, big.NewRat(1, int64(len(redraw))))
		} else {
			for _, cs := range o.choices(s) {
				if x := expected(cs, big.NewRat(1, 1)); best == nil || (x.Cmp(best) > 0) == maximise {
					best = x
				}
			}
		}
		known[s] = best
		return best
	}
	return from(o.start())
}

// drawn returns the positions after the draws that will do, each with probability 1, when a module draws in s.
func (o *oracle) drawn(s position) ([]chance, bool) {
	var cs []chance
	one := big.NewRat(1, 1)
	switch {
	case !s.moves && o.cfg.Spawn == SpawnModule && s.cell == none:
		for _, cell := range o.empty(s) {
			s.cell = int8(cell)
			cs = append(cs, chance{one, s})
		}
	case s.moves && o.cfg.Policy.Kind == RandomMoves && s.move == none:
		for _, m := range o.legal(s) {
			s.move = int8(m)
			cs = append(cs, chance{one, s})
		}
	}
	return cs, len(cs) > 0
}
