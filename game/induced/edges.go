package induced

import (
	"math/big"
	"slices"
	"strconv"
)

// edge is a transition of a file.
type edge struct {
	target int
	prob   *big.Rat
}

// edges computes the transitions of states, numbered as in files.
type edges struct {
	*Chain
	twos, fours []*big.Rat // the probability of a tile in one of n empty cells
	fractions   bool
	texts       map[*big.Rat]string // of the probabilities above
}

func newEdges(c *Chain, fractions bool) *edges {
	e := &edges{Chain: c, fractions: fractions, texts: map[*big.Rat]string{}}
	p2 := c.opt.p2()
	p4 := new(big.Rat).Sub(big.NewRat(1, 1), p2)
	for n := range c.opt.Rules.Shape().Cells() + 1 {
		each := big.NewRat(1, int64(max(n, 1)))
		e.twos = append(e.twos, new(big.Rat).Mul(p2, each))
		e.fours = append(e.fours, each.Mul(p4, each))
	}
	for _, p := range slices.Concat(e.twos, e.fours) {
		e.texts[p] = e.text(p)
	}
	return e
}

// text writes a probability.
func (e *edges) text(p *big.Rat) string {
	if text, known := e.texts[p]; known {
		return text
	}
	if e.fractions {
		return p.RatString()
	}
	x, _ := p.Float64()
	return strconv.FormatFloat(x, 'g', 17, 64)
}

// row returns the transitions of a state, by target.
func (e *edges) row(s int) []edge {
	one := big.NewRat(1, 1)
	if s == 0 {
		return merge(e.start())
	}
	if e.outcomes[s-1] != Playing {
		return []edge{{s, one}}
	}
	choices := short(e.choices[s-1])
	var row []edge
	for _, ch := range choices {
		for _, t := range e.spawned(ch.targets) {
			if len(choices) > 1 {
				t.prob = new(big.Rat).Mul(t.prob, ch.prob)
			}
			row = append(row, t)
		}
	}
	return merge(row)
}

// start returns the transitions of the empty board: two new tiles.
func (e *edges) start() []edge {
	second := e.opt.kinds() * (e.opt.Rules.Shape().Cells() - 1)
	var row []edge
	for i := 0; i < len(e.starts); i += second {
		first := e.spawnProb(i/second, len(e.starts)/second)
		for _, t := range e.spawned(e.starts[i : i+second]) {
			t.prob = new(big.Rat).Mul(t.prob, first)
			row = append(row, t)
		}
	}
	return row
}

// spawned returns the transitions to targets in the order of spawns, or to the one that needs none.
func (e *edges) spawned(targets []uint32) []edge {
	if len(targets) == 1 {
		return []edge{{int(targets[0]) + 1, big.NewRat(1, 1)}}
	}
	row := make([]edge, len(targets))
	for i, t := range targets {
		row[i] = edge{int(t) + 1, e.spawnProb(i, len(targets))}
	}
	return row
}

// spawnProb is the probability of the i-th of so many new tiles, in the order of spawns.
func (e *edges) spawnProb(i, targets int) *big.Rat {
	n := targets / e.opt.kinds()
	if i < n {
		return e.twos[n]
	}
	return e.fours[n]
}

// merge sorts transitions and adds up those with the same target.
func merge(row []edge) []edge {
	slices.SortStableFunc(row, func(x, y edge) int { return x.target - y.target })
	var out []edge
	for _, t := range row {
		switch last := len(out) - 1; {
		case last >= 0 && out[last].target == t.target:
			out[last].prob = new(big.Rat).Add(out[last].prob, t.prob)
		default:
			out = append(out, t)
		}
	}
	return out
}
