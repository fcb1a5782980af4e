package regress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/expect"
)

// checkItems checks the items with a runner.Engine. Items with terms of sampling are a job of their own.
func (u *unit) checkItems(ctx context.Context) ([]answer, error) {
	answers := make([]answer, len(u.items))
	if f := u.refused(); f != nil {
		for i := range answers {
			answers[i].Err = f
		}
		if len(answers) == 0 {
			u.addRunResult(u.failedRun(f), false, "")
		}
		return answers, nil
	}
	if u.noSpace != nil {
		return nil, u.noSpace
	}
	for _, b := range u.batches() {
		if err := u.checkBatch(ctx, b, answers); err != nil {
			return nil, err
		}
	}
	u.compareExports(ctx, answers)
	return answers, nil
}

// refused returns a failure if the engine does not support a switch of the test.
func (u *unit) refused() *result.Failure {
	o := &u.switches
	_, builds := u.builder()
	f, foreign := errors.AsType[*result.Failure](u.noSpace)
	switch {
	case o.Params != "" && !builds:
		return refusal("functions of parameters (-param)")
	case o.NoProbChecks:
		return refusal("probabilities that do not sum to one (-noprobchecks)")
	case foreign && f.Class == result.Unsupported:
		return f
	case u.space != nil && !builds:
		return refusal("imports (%s)", o.Imports[0][0])
	case len(o.Exports) > 0 && !builds:
		return refusal("exports (%s)", o.Exports[0][0])
	}
	return nil
}

// batch is a plan with its items, by index. If terms is not nil, the items are sampled on these terms.
type batch struct {
	plan  *runner.Plan
	terms *expect.Statistical
	items []int
	// selected are the numbers of their properties, in the order of the items.
	selected []string
}

// batches groups the items by their terms of sampling.
func (u *unit) batches() []*batch {
	var out []*batch
	for i, it := range u.items {
		if !it.keep {
			continue
		}
		var s *expect.Statistical
		if t := it.chosen.Terms; t != nil {
			s = t.Statistical
		}
		k := slices.IndexFunc(out, func(b *batch) bool { return sameTerms(b.terms, s) })
		if k < 0 {
			out = append(out, &batch{plan: u.planFor(s), terms: s})
			k = len(out) - 1
		}
		out[k].items = append(out[k].items, i)
	}
	for _, b := range out {
		b.selected = u.selection(b)
	}
	return out
}

// selection lists the properties of a batch in the order of the items.
func (u *unit) selection(b *batch) []string {
	wanted := make(map[int]bool)
	for _, i := range b.items {
		wanted[u.items[i].number] = true
	}
	var out []string
	for _, it := range u.items {
		if wanted[it.number] {
			delete(wanted, it.number)
			out = append(out, strconv.Itoa(it.number))
		}
	}
	return out
}

func sameTerms(a, b *expect.Statistical) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// planFor returns the plan for items with these terms.
func (u *unit) planFor(s *expect.Statistical) *runner.Plan {
	return u.plan.WithSettings(func(x *runner.Settings) {
		x.Numeric.Workers, x.Simulation.Workers = u.workers, u.workers
		if x.Numeric.Accuracy == result.Unknown {
			x.Numeric.Accuracy = u.entrant.Accuracy
		}
		if s == nil {
			return
		}
		x.Method = runner.CI
		x.Simulation = runner.Simulation{
			Samples: s.Samples, Confidence: u.level(s), MaxPath: s.MaxPath, MaxReward: s.MaxReward,
			Seed: u.opt.Seed, Workers: u.workers,
		}
		if s.Seed != nil {
			x.Simulation.Seed = *s.Seed
		}
		x.Numeric = runner.Numeric{}
	})
}

// batchPlan returns the plan for the selected properties of a batch.
func (u *unit) batchPlan(b *batch) (*runner.Plan, error) {
	var tasks []int
	for _, number := range b.selected {
		i := slices.IndexFunc(u.items, func(it *item) bool { return strconv.Itoa(it.number) == number })
		tasks = append(tasks, slices.Index(u.plan.Tasks, u.items[i].task))
	}
	return b.plan.Part(tasks, nil)
}

// attribute assigns the verdicts of a job to the items. The job has a verdict for every item of a selected property, in
// the order of the items.
func (u *unit) attribute(b *batch, verdicts []result.Verdict, answers []answer) error {
	k := 0
	for i, it := range u.items {
		if !slices.Contains(b.selected, strconv.Itoa(it.number)) {
			continue
		}
		if k == len(verdicts) || verdicts[k].Property != it.task.Text {
			return fmt.Errorf("engine %s returned no verdict about %s %s", u.entrant.Called(), it.task.Text, runner.Constants(it.model, it.property))
		}
		if _, ours := slices.BinarySearch(b.items, i); ours {
			answers[i].Verdict = verdicts[k]
		}
		k++
	}
	return nil
}
