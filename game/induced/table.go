package induced

import (
	"math/big"
	"slices"

	"tilecheck/game"
	"tilecheck/modelgen"
)

// Table returns the strategy on the boards of the chain as a policy for modelgen.Build, with empty Command and About. It rounds long
// probabilities: see Rounded.
func (c *Chain) Table() *modelgen.Table {
	policy := &modelgen.Table{Memory: c.strategy.Memory()}
	shape := c.opt.Rules.Shape()
	for _, state := range c.order {
		row := modelgen.TableRow{Cells: shape.Values(c.states[state].Board), Memory: c.states[state].Memory}
		for _, rounded := range roundedChoices(c.choices[state]) {
			row.Choices = append(row.Choices, modelgen.TableChoice{Move: moveOf(rounded.dir), Prob: rounded.probability, Memory: rounded.memory})
		}
		policy.Rows = append(policy.Rows, row)
	}
	return policy
}

// Rounded reports whether a probability of a move has a denominator above 2^53, which not every engine can read. Models and files round such
// probabilities to 15 decimal places, so the value of a model differs slightly from that of the chain.
func (c *Chain) Rounded() bool { return slices.ContainsFunc(c.choices, needsRounding) }

// needsRounding reports whether a probability of a state's choices has a denominator above 2^53.
func needsRounding(choices []choice) bool {
	return slices.ContainsFunc(choices, func(ch choice) bool { return ch.probability.Denom().BitLen() > 53 })
}

// roundedChoices returns choices unchanged, or with rounded probabilities if they need it. It drops choices that are rounded to 0, and gives
// the last choice the rest of the probability.
func roundedChoices(choices []choice) []choice {
	if !needsRounding(choices) {
		return choices
	}
	var rounded []choice
	remaining := big.NewRat(1, 1)
	for i, current := range choices {
		if i < len(choices)-1 {
			current.probability = fixedOf(current.probability, false).Rat()
		} else {
			current.probability = new(big.Rat).Set(remaining)
		}
		if current.probability.Sign() > 0 {
			remaining.Sub(remaining, current.probability)
			rounded = append(rounded, current)
		}
	}
	return rounded
}

// moveOf returns the move of package modelgen for a direction.
func moveOf(d game.Dir) modelgen.Move {
	return [...]modelgen.Move{game.Left: modelgen.Left, game.Right: modelgen.Right, game.Up: modelgen.Up, game.Down: modelgen.Down}[d]
}
