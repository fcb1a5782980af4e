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

// ShieldQuestion returns the probability that a shield keeps: that of the property, which must be Pmax=? or Pmin=? of a formula
// without a step bound. The states have exact weights.
func ShieldQuestion(ctx context.Context, space *explicit.Space, p *runner.Instance) (*shield.Question, error) {
	checker := check.New(space.Compiled(), space, check.Options{Accuracy: result.Exact})
	op := logic.Of(p.X)
	if op.Kind != logic.Probability || op.Extremum != syntax.Max && op.Extremum != syntax.Min {
		return nil, usage.Errorf("the property is %s, want Pmax=? or Pmin=? for a shield", p.Text)
	}
	r, _, err := checker.Reach(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case r.Steps.Low != 0 || r.Steps.High != solve.Unbounded:
		return nil, usage.Errorf("the property is %s, which counts steps: the best choice depends on them, want one without a bound for a shield", p.Text)
	}
	return &shield.Question{Space: r.Space, Left: r.Left, Right: r.Right, Negated: r.Negated, Max: op.Extremum == syntax.Max}, nil
}
