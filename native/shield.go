//go:build !js

package native

import (
	"context"

	"tilecheck/internal/usage"
	"tilecheck/native/check"
	"tilecheck/native/explain/shield"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// ShieldQuestion returns the question that package shield answers for a property: which choices keep the probability close to its optimum. The
// property must be Pmax=? or Pmin=? of a formula without a step bound. The weights of the space must be fractions.
func ShieldQuestion(ctx context.Context, space *explicit.Space, property *runner.Instance) (*shield.Question, error) {
	checker := check.New(space.Compiled(), space, check.Options{Accuracy: result.Exact})
	operator := logic.FormulaOf(property.Expr)
	hasExtremum := operator.Extremum == syntax.Max || operator.Extremum == syntax.Min
	if operator.Kind != logic.Probability || !hasExtremum {
		return nil, usage.Errorf("the property is %s, want Pmax=? or Pmin=? for a shield", property.Text)
	}
	reach, _, err := checker.Reach(ctx, property)
	switch {
	case err != nil:
		return nil, err
	case reach.Steps.Low != 0 || reach.Steps.High != solve.Unbounded:
		return nil, usage.Errorf("the property is %s, whose best choices depend on the number of steps, want a property without a bound for a shield", property.Text)
	}
	return &shield.Question{
		Space: reach.Space, Left: reach.Left, Right: reach.Right, Negated: reach.Negated, Max: operator.Extremum == syntax.Max,
	}, nil
}
