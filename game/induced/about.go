package induced

import (
	"context"
	"fmt"
	"strconv"

	"tilecheck/modelgen"
)

const (
	// exactStates is the largest number of states whose value is computed exactly, which takes a few seconds.
	exactStates = 100_000
	// longFraction is the length from which on a fraction is left out of comments.
	longFraction = 120
)

// ValueText returns the probability of winning: as a fraction if the chain is small
// enough, otherwise as an interval. The error is that of ctx.
func (c *Chain) ValueText(ctx context.Context) (string, error) {
	if c.Len() > exactStates || c.Rounded() {
		v, err := c.Bracket(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("in [%v, %v]", v.Win.Lo, v.Win.Hi), nil
	}
	v, err := c.Exact(ctx)
	if err != nil {
		return "", err
	}
	x, _ := v.Win.Float64()
	decimal := strconv.FormatFloat(x, 'g', -1, 64)
	if fraction := v.Win.RatString(); v.Win.IsInt() || len(fraction) > longFraction {
		return decimal, nil
	} else {
		return fmt.Sprintf("%s = %s", fraction, decimal), nil
	}
}

// PolicyComment returns the lines about the policy in the header of a model of the
// chain. value is its ValueText; spawn says how the model draws cells.
func (c *Chain) PolicyComment(spawn modelgen.Spawn, value string) []string {
	lines := []string{
		fmt.Sprintf("Policy: the strategy %s.", c.strategy),
		fmt.Sprintf("  %d boards are reached at the player's turn; a board counts once for each memory of the strategy.", len(c.order)),
	}
	if c.Rounded() {
		lines = append(lines, "  Its probabilities are rounded to 15 decimal places.")
	}
	if spawn == modelgen.SpawnCell {
		return append(lines, "  In the game, where new tiles are drawn, it wins with probability",
			"  "+value+",", "  which lies between Pmin and Pmax.")
	}
	return append(
		lines, "  Evaluated directly, without this model, it wins with probability", "  "+value+".",
		`  Both Pmin=? [ F "success" ] and Pmax=? [ F "success" ] must be that. Check with:`,
		"  tilecheck check FILE --exact --prop 'Pmin=? [ F \"success\" ]' --prop 'Pmax=? [ F \"success\" ]'",
		"  tilecheck crosscheck FILE --engine native,native:exact,prism,storm --prop 'Pmax=? [ F \"success\" ]'",
	)
}
