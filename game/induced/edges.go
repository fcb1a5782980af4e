package induced

import (
	"math/big"
	"slices"
	"strconv"
)

// transition is a transition of the written files.
type transition struct {
	target int
	prob   *big.Rat
}

// transitions computes the transitions of states, numbered as in the files.
type transitions struct {
	*Chain
	twos, fours []*big.Rat          // probabilities of a 2 and of a 4 in one of n empty cells, by n
	fractions   bool                // probabilities are written as fractions
	texts       map[*big.Rat]string // texts of the probabilities in twos and fours
}

func newTransitions(c *Chain, fractions bool) *transitions {
	e := &transitions{Chain: c, fractions: fractions, texts: map[*big.Rat]string{}}
	p2 := c.opt.p2()
	p4 := new(big.Rat).Sub(big.NewRat(1, 1), p2)
	for n := range c.opt.Rules.Shape().Cells() + 1 {
		each := big.NewRat(1, int64(max(n, 1)))
		e.twos = append(e.twos, new(big.Rat).Mul(p2, each))
		e.fours = append(e.fours, each.Mul(p4, each))
	}
	for _, p := range slices.Concat(e.twos, e.fours) {
		e.texts[p] = e.format(p)
	}
	return e
}

// format returns the text of a probability.
func (e *transitions) format(p *big.Rat) string {
	if text, known := e.texts[p]; known {
		return text
	}
	if e.fractions {
		return p.RatString()
	}
	x, _ := p.Float64()
	return strconv.FormatFloat(x, 'g', 17, 64)
}

// ofState returns the transitions of state s of the files, sorted by target.
func (e *transitions) ofState(s int) []transition {
	one := big.NewRat(1, 1)
	if s == 0 {
		return mergeTargets(e.startTransitions())
	}
	if e.outcomes[s-1] != Playing {
		return []transition{{s, one}}
	}
	choices := roundedChoices(e.choices[s-1])
	var row []transition
	for _, ch := range choices {
		for _, t := range e.toTargets(ch.targets) {
			if len(choices) > 1 {
				t.prob = new(big.Rat).Mul(t.prob, ch.prob)
			}
			row = append(row, t)
		}
	}
	return mergeTargets(row)
}

// startTransitions returns the transitions of the empty board, which add two tiles.
func (e *transitions) startTransitions() []transition {
	second := e.opt.spawnKinds() * (e.opt.Rules.Shape().Cells() - 1)
	var row []transition
	for i := 0; i < len(e.starts); i += second {
		first := e.spawnProb(i/second, len(e.starts)/second)
		for _, t := range e.toTargets(e.starts[i : i+second]) {
			t.prob = new(big.Rat).Mul(t.prob, first)
			row = append(row, t)
		}
	}
	return row
}

// toTargets returns the transitions to targets, which are in the order of spawns; a single target has probability 1.
func (e *transitions) toTargets(targets []uint32) []transition {
	if len(targets) == 1 {
		return []transition{{int(targets[0]) + 1, big.NewRat(1, 1)}}
	}
	row := make([]transition, len(targets))
	for i, t := range targets {
		row[i] = transition{int(t) + 1, e.spawnProb(i, len(targets))}
	}
	return row
}

// spawnProb returns the probability of target i of a number of targets in the order of spawns.
func (e *transitions) spawnProb(i, targets int) *big.Rat {
	n := targets / e.opt.spawnKinds()
	if i < n {
		return e.twos[n]
	}
	return e.fours[n]
}

// mergeTargets sorts transitions by target and adds up those with the same target.
func mergeTargets(row []transition) []transition {
	slices.SortStableFunc(row, func(x, y transition) int { return x.target - y.target })
	var out []transition
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
