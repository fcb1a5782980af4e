package check

import (
	"context"
	"fmt"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
)

// ReduceAll returns the quotient of an exact space by the coarsest strong bisimulation that respects everything that files of states
// contain: the initial states, the deadlocks, the labels of the program and its reward structures. It also respects the properties. The
// program is that of the space, perhaps with the labels of a properties file added. The errors are those of Reduce.
func ReduceAll(ctx context.Context, space *explicit.Space, program *sema.Program, properties []*Property) (*Reduced, error) {
	o, err := observe(ctx, space.Compiled(), space, properties)
	if err != nil {
		return nil, err
	}
	m := space.Model()
	for s := range o.block {
		o.block[s] *= 2
	}
	for _, s := range m.Initial {
		o.block[s]++
	}
	if m.Deadlocks != nil {
		o.splitBy(m.Deadlocks)
	}
	for _, l := range program.Labels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, err := space.States(l.X)
		if err != nil {
			return nil, fmt.Errorf("label %q: %w", l.Name, err)
		}
		o.splitBy(set)
	}
	for i := range program.Rewards {
		if o.rewards[i], err = space.Reward(i); err != nil {
			return nil, err
		}
	}
	return o.reduce(ctx, nil)
}
