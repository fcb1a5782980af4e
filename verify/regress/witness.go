package regress

import (
	"context"
	"slices"

	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
)

// Witnesser is an engine that finds witnesses for bounds that do not hold.
type Witnesser interface {
	// Witness checks as Check does, and adds the likeliest path to the verdicts.
	Witness(ctx context.Context, plan *runner.Plan) ([]result.Verdict, error)
}

// maxWitnesses is the number of failures of one run that get a witness.
const maxWitnesses = 10

// addWitnesses adds the likeliest path to results of bounds that should hold and do not. A result stays as it is if
// there is no path, or no time is left.
func (u *unit) addWitnesses(ctx context.Context) {
	w, ok := runner.As[Witnesser](u.entrant.Engine)
	if !ok || u.plan == nil {
		return
	}
	left := maxWitnesses
	for i := range u.results {
		r := &u.results[i]
		if left == 0 || ctx.Err() != nil {
			return
		}
		if r.Outcome != report.TestFailed || r.Verdict == nil || r.Verdict.Value.Kind != result.Boolean || r.Verdict.Value.Bool || r.Verdict.Samples > 0 {
			continue
		}
		left--
		it := u.items[i]
		task := slices.Index(u.plan.Tasks, it.task)
		if task < 0 {
			continue
		}
		var consts []string
		for _, c := range runner.Constants(it.model, it.property) {
			consts = append(consts, c.Name+"="+c.Value)
		}
		plan, err := u.planFor(nil).Part([]int{task}, consts)
		if err != nil {
			continue
		}
		if verdicts, err := w.Witness(ctx, plan); err == nil && len(verdicts) == 1 && verdicts[0].Err == nil {
			r.Verdict.Witnesses = verdicts[0].Witnesses
		}
	}
}
