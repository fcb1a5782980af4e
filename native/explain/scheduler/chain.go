package scheduler

import (
	"cmp"
	"context"
	"fmt"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Chain returns the Markov chain of the states that a scheduler reaches, with their rewards.
func (x Scheduler) Chain(ctx context.Context, space *explicit.Space) (*explicit.Space, error) {
	in, err := x.Induce(ctx, space.Model(), InduceOptions{Reachable: true, Order: space.Order()})
	if err != nil {
		return nil, err
	}
	rewards := map[int]*sparse.Reward{}
	for i := range space.Program().Rewards {
		r, err := space.Reward(i)
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		rewards[i] = in.Reward(r)
	}
	return space.Quotient(in.State, in.Model, rewards), nil
}

// CheckResolved returns an error unless what resolves the choices of a model leaves every state a choice. Unless several
// of them are equally likely, it leaves exactly one.
func CheckResolved(before, after *sparse.Model, likely bool) error {
	if n := after.NumDeadlocks(); n > 0 && before.NumDeadlocks() == 0 {
		return fmt.Errorf("%d states have no choice any more: what chooses blocks them", n)
	}
	if open := after.NumDeciding(); open > 0 && !likely {
		return fmt.Errorf("%d states have several choices left: what chooses leaves them open", open)
	}
	return nil
}
