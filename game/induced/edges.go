package induced

import (
	"math/big"
	"slices"
	"strconv"
)

// transition is a transition of the written files.
type transition struct {
	target      int
	probability *big.Rat
}

// transitions computes the transitions of states, numbered as in the files.
type transitions struct {
	*Chain
	twos, fours []*big.Rat          // probabilities of a 2 and of a 4 in one of n empty cells, by n
	fractions   bool                // probabilities are written as fractions
	textOf      map[*big.Rat]string // texts of the probabilities in twos and fours
}

// newTransitions returns the transitions of a chain. It computes the probabilities of a 2 or a 4 in one of n empty cells in advance.
func newTransitions(c *Chain, fractions bool) *transitions {
	result := &transitions{Chain: c, fractions: fractions, textOf: map[*big.Rat]string{}}
	probability2 := c.opt.probabilityOf2()
	probability4 := new(big.Rat).Sub(big.NewRat(1, 1), probability2)
	for empties := range c.opt.Rules.Shape().Cells() + 1 {
		perCell := big.NewRat(1, int64(max(empties, 1)))
		result.twos = append(result.twos, new(big.Rat).Mul(probability2, perCell))
		result.fours = append(result.fours, perCell.Mul(probability4, perCell))
	}
	for _, probability := range slices.Concat(result.twos, result.fours) {
		result.textOf[probability] = result.format(probability)
	}
	return result
}

// format returns a probability as text: a fraction, or a decimal number with 17 digits.
func (e *transitions) format(probability *big.Rat) string {
	if text, isKnown := e.textOf[probability]; isKnown {
		return text
	}
	if e.fractions {
		return probability.RatString()
	}
	nearest, _ := probability.Float64()
	return strconv.FormatFloat(nearest, 'g', 17, 64)
}

// transitionsOf returns the transitions of a state, sorted by target. State 0 is the empty board, and state s+1 is state s of the chain.
func (e *transitions) transitionsOf(state int) []transition {
	one := big.NewRat(1, 1)
	if state == 0 {
		return mergeTargets(e.startTransitions())
	}
	if e.outcomes[state-1] != Playing {
		return []transition{{state, one}}
	}
	choices := roundedChoices(e.choices[state-1])
	var row []transition
	for _, choice := range choices {
		for _, edge := range e.toTargets(choice.targets) {
			if len(choices) > 1 {
				edge.probability = new(big.Rat).Mul(edge.probability, choice.probability)
			}
			row = append(row, edge)
		}
	}
	return mergeTargets(row)
}

// startTransitions returns the transitions of the empty board, which add two tiles.
func (e *transitions) startTransitions() []transition {
	perFirst := e.opt.spawnKinds() * (e.opt.Rules.Shape().Cells() - 1)
	var row []transition
	for i := 0; i < len(e.starts); i += perFirst {
		firstProbability := e.spawnProb(i/perFirst, len(e.starts)/perFirst)
		for _, edge := range e.toTargets(e.starts[i : i+perFirst]) {
			edge.probability = new(big.Rat).Mul(edge.probability, firstProbability)
			row = append(row, edge)
		}
	}
	return row
}

// toTargets returns the transitions to the states after a new tile. targets are in the order of explorer.spawns. A single target has probability 1.
func (e *transitions) toTargets(targets []uint32) []transition {
	if len(targets) == 1 {
		return []transition{{int(targets[0]) + 1, big.NewRat(1, 1)}}
	}
	row := make([]transition, len(targets))
	for i, target := range targets {
		row[i] = transition{int(target) + 1, e.spawnProb(i, len(targets))}
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

// mergeTargets sorts transitions by target, and replaces transitions to the same target by one with the sum of their probabilities.
func mergeTargets(row []transition) []transition {
	slices.SortStableFunc(row, func(a, b transition) int { return a.target - b.target })
	var merged []transition
	for _, current := range row {
		switch lastIndex := len(merged) - 1; {
		case lastIndex >= 0 && merged[lastIndex].target == current.target:
			merged[lastIndex].probability = new(big.Rat).Add(merged[lastIndex].probability, current.probability)
		default:
			merged = append(merged, current)
		}
	}
	return merged
}
