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

// ValueText returns the probability of winning as text: a fraction with its decimal value if the chain is small enough, otherwise an interval. It
// returns an error only if ctx ends.
func (c *Chain) ValueText(ctx context.Context) (string, error) {
	if c.Len() > exactStates || c.Rounded() {
		value, err := c.Bracket(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("in [%v, %v]", value.Win.Lo, value.Win.Hi), nil
	}
	value, err := c.Exact(ctx)
	if err != nil {
		return "", err
	}
	nearest, _ := value.Win.Float64()
	decimal := strconv.FormatFloat(nearest, 'g', -1, 64)
	fraction := value.Win.RatString()
	if value.Win.IsInt() || len(fraction) > longFraction {
		return decimal, nil
	}
	return fmt.Sprintf("%s = %s", fraction, decimal), nil
}

// PolicyComment returns the comment lines about the policy, for the header of a model of the chain. value is the text of ValueText. spawn says how
// the model places new tiles.
func (c *Chain) PolicyComment(spawn modelgen.Spawn, value string) []string {
	lines := []string{
		fmt.Sprintf("Policy: the strategy %s.", c.strategy),
		fmt.Sprintf("  %d boards are reached at the player's turn. If the strategy has a memory, a board counts once for each value of the memory.", len(c.order)),
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
		"  tilecheck crosscheck FILE --prop 'Pmax=? [ F \"success\" ]'",
	)
}
