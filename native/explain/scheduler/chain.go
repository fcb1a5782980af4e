package scheduler

import (
	"cmp"
	"context"
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Chain returns the Markov chain that the scheduler induces on a space. The chain has the reachable states, and all reward structures of the
// space.
func (scheduler Scheduler) Chain(ctx context.Context, space *explicit.Space) (*explicit.Space, error) {
	induced, err := scheduler.Induce(ctx, space.Model(), InduceOptions{Reachable: true, Order: space.Order()})
	if err != nil {
		return nil, err
	}
	rewards := map[int]*sparse.Reward{}
	for i := range space.Program().Rewards {
		reward, err := space.Reward(i)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		rewards[i] = induced.InducedReward(reward)
	}
	return space.Quotient(induced.State, induced.Model, rewards), nil
}

// CheckResolved checks that a scheduler or a policy resolves the nondeterminism of a model. before is the model without it, and after is the model under
// it. It is an error if only after has deadlocks, or if a state of after has several choices and equallyLikely is false.
func CheckResolved(before, after *sparse.Model, equallyLikely bool) error {
	deadlocks := after.NumDeadlocks()
	if deadlocks > 0 && before.NumDeadlocks() == 0 {
		return fmt.Errorf("%s %s no choice any more: the scheduler or policy blocks them", noun.Count(deadlocks, "state"), noun.Verb(deadlocks, "has", "have"))
	}
	numDeciding := after.NumStatesWithChoices()
	if numDeciding > 0 && !equallyLikely {
		return fmt.Errorf("%s %s several choices left: the scheduler or policy leaves them open", noun.Count(numDeciding, "state"), noun.Verb(numDeciding, "has", "have"))
	}
	return nil
}
