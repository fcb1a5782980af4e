package play

import (
	"context"
	"slices"

	"tilecheck/game"
)

// Census counts the states and transitions of the match as a Markov decision process in the way of the article's first diagram: a state is a
// board on which the player moves, whatever it is a rotation of, and one more stands for all lost boards and one for all won ones. A
// transition is a state, an action and a possible next state; the two ends have one each to themselves. It is for small boards: every
// state is held in memory. The match must have a goal and stop there.
//
// Source: Lees-Miller 2018, "States, Actions and Transition Probabilities".
func Census(ctx context.Context, m Match) (states, transitions int64, err error) {
	if err := m.Validate(); err != nil {
		return 0, 0, err
	}
	rules, err := game.New(m.Shape)
	if err != nil {
		return 0, 0, err
	}
	c := census{match: m, rules: rules, seen: make(map[game.Board]bool), ends: make(map[fate]bool)}
	if err := c.run(ctx); err != nil {
		return 0, 0, err
	}
	ends := int64(len(c.ends))
	return int64(len(c.seen)) + ends, c.transitions + ends, nil
}

// census is the state of one Census.
type census struct {
	match       Match
	rules       *game.Rules
	seen        map[game.Board]bool // boards on which the player moves
	todo        []game.Board        // those whose transitions are not counted
	ends        map[fate]bool       // that are reached
	transitions int64
}

// fate says whether a game goes on.
type fate uint8

const (
	alive fate = iota
	lost
	won
)

func (c *census) run(ctx context.Context) error {
	for _, first := range c.spawns(0) {
		for _, b := range c.spawns(first) {
			c.reach(b)
		}
	}
	for len(c.todo) > 0 && ctx.Err() == nil {
		b := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		if err := c.leave(b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// reach notes a board that can follow, and returns what becomes of the game there.
func (c *census) reach(b game.Board) fate {
	f := alive
	switch {
	case c.match.won(b):
		f = won
	case c.rules.Legal(b) == 0:
		f = lost
	}
	if f != alive {
		c.ends[f] = true
	} else if !c.seen[b] {
		c.seen[b] = true
		c.todo = append(c.todo, b)
	}
	return f
}

// leave counts the transitions from a board.
func (c *census) leave(b game.Board) error {
	legal := c.rules.Legal(b)
	for i := range legal.Len() {
		next, _, err := c.rules.Move(b, legal.At(i))
		if err != nil {
			return err
		}
		if c.match.won(next) {
			c.ends[won] = true
			c.transitions++
			continue
		}
		ends := make(map[fate]bool) // all boards with the same end are one next state
		for _, spawned := range c.spawns(next) {
			if f := c.reach(spawned); f == alive {
				c.transitions++
			} else {
				ends[f] = true
			}
		}
		c.transitions += int64(len(ends))
	}
	return nil
}

// spawns returns the boards with one more tile; they are all different.
func (c *census) spawns(b game.Board) []game.Board {
	var out []game.Board
	for n := range c.rules.Empties(b) {
		out = append(out, c.rules.Spawn(b, n, 1), c.rules.Spawn(b, n, 2))
	}
	return out
}

// Classes counts the states of the match as [Census] does, but takes boards that are rotations or reflections of each other for one.
//
// The sum of the tiles grows with every move, so that boards are gone through sum by sum, and only three sums are held in memory.
//
// Source: Lees-Miller 2018, appendix A.
func Classes(ctx context.Context, m Match) (states int64, err error) {
	if err := m.Validate(); err != nil {
		return 0, err
	}
	rules, err := game.New(m.Shape)
	if err != nil {
		return 0, err
	}
	c := classes{match: m, rules: rules, layers: make(map[int64][]game.Board), ends: make(map[fate]bool)}
	for exp := 1; exp <= 2; exp++ { // of the first tile of the start
		first := c.spread([]game.Board{0}, exp)
		c.add(int64(game.Value(exp))+2, c.spread(first, 1))
		c.add(int64(game.Value(exp))+4, c.spread(first, 2))
	}
	for sum := int64(4); sum <= m.maxSum(); sum += 2 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		after, err := c.leave(c.take(sum))
		if err != nil {
			return 0, err
		}
		c.add(sum+2, c.spread(after, 1))
		c.add(sum+4, c.spread(after, 2))
	}
	return c.states + int64(len(c.ends)), nil
}

// classes is the state of one Classes.
type classes struct {
	match  Match
	rules  *game.Rules
	layers map[int64][]game.Board // canonical boards to be gone through, by the sum of their tiles
	ends   map[fate]bool          // that are reached
	states int64
}

func (c *classes) add(sum int64, boards []game.Board) {
	c.layers[sum] = append(c.layers[sum], boards...)
}

// take removes the boards of a sum and returns each once.
func (c *classes) take(sum int64) []game.Board {
	boards := c.layers[sum]
	delete(c.layers, sum)
	slices.Sort(boards)
	return slices.Compact(boards)
}

// leave counts boards, and returns what moves make of them, each canonical board once.
func (c *classes) leave(boards []game.Board) (after []game.Board, err error) {
	for _, b := range boards {
		legal := c.rules.Legal(b)
		switch {
		case c.match.won(b):
			c.ends[won] = true
			continue
		case legal == 0:
			c.ends[lost] = true
			continue
		}
		c.states++
		for i := range legal.Len() {
			next, _, err := c.rules.Move(b, legal.At(i))
			if err != nil {
				return nil, err
			}
			if c.match.won(next) {
				c.ends[won] = true
				continue
			}
			least, _ := c.rules.Canonical(next)
			after = append(after, least)
		}
	}
	slices.Sort(after)
	return slices.Compact(after), nil
}

// spread returns the canonical boards with one more tile of an exponent, each once.
func (c *classes) spread(boards []game.Board, exp int) []game.Board {
	var out []game.Board
	for _, b := range boards {
		for n := range c.rules.Empties(b) {
			least, _ := c.rules.Canonical(c.rules.Spawn(b, n, exp))
			out = append(out, least)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
