package induced

import (
	"math/big"
	"slices"

	"tilecheck/game"
	"tilecheck/modelgen"
)

// Table returns the strategy on the boards of the chain as a policy for modelgen.Build. Its Command and About are empty. Long
// probabilities are rounded: see Rounded.
func (c *Chain) Table() *modelgen.Table {
	t := &modelgen.Table{Memory: c.strategy.Memory()}
	shape := c.opt.Rules.Shape()
	for _, s := range c.order {
		row := modelgen.TableRow{Cells: shape.Values(c.states[s].Board), Memory: c.states[s].Memory}
		for _, ch := range short(c.choices[s]) {
			row.Choices = append(row.Choices, modelgen.TableChoice{Move: moveOf(ch.dir), Prob: ch.prob, Memory: ch.memory})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Rounded reports whether some probability of a move is a fraction of numbers above 2^53, which not every engine reads. Such probabilities
// are rounded to 15 decimal places in models and files, so that the value of a model is not exactly that of the chain.
func (c *Chain) Rounded() bool { return slices.ContainsFunc(c.choices, isLong) }

// isLong reports whether the choices of a state are to be rounded.
func isLong(choices []choice) bool {
	return slices.ContainsFunc(choices, func(ch choice) bool { return ch.prob.Denom().BitLen() > 53 })
}

// short returns choices whose probabilities are written with few digits: those that there are, or rounded ones without any that are
// rounded to 0. The last choice gets what the others leave.
func short(choices []choice) []choice {
	if !isLong(choices) {
		return choices
	}
	var out []choice
	left := big.NewRat(1, 1)
	for i, ch := range choices {
		if i < len(choices)-1 {
			ch.prob = fixedOf(ch.prob, false).Rat()
		} else {
			ch.prob = new(big.Rat).Set(left)
		}
		if ch.prob.Sign() > 0 {
			left.Sub(left, ch.prob)
			out = append(out, ch)
		}
	}
	return out
}

// moveOf is the model's name for a direction.
func moveOf(d game.Dir) modelgen.Move {
	return [...]modelgen.Move{game.Left: modelgen.Left, game.Right: modelgen.Right, game.Up: modelgen.Up, game.Down: modelgen.Down}[d]
}
