package check

import (
	"context"
	"fmt"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
)

// ReduceAll returns the quotient of an exact space by the coarsest strong bisimulation that respects everything in files of
// states: initial states, deadlocks, labels of the program and reward structures. It also respects the properties. program
// is the program of the space, possibly with the labels of a properties file added. The errors are the same as for Reduce.
func ReduceAll(ctx context.Context, space *explicit.Space, program *sema.Program, properties []*Property) (*Reduced, error) {
	o, err := observeProperties(ctx, space.Compiled(), space, properties)
	if err != nil {
		return nil, err
	}
	model := space.Model()
	// Block b becomes block 2b and, for its initial states, block 2b+1.
	for s := range o.block {
		o.block[s] *= 2
	}
	for _, s := range model.Initial {
		o.block[s]++
	}
	if model.Deadlocks != nil {
		o.splitBySet(model.Deadlocks)
	}
	for _, label := range program.Labels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, err := space.States(label.X)
		if err != nil {
			return nil, fmt.Errorf("label %q: %w", label.Name, err)
		}
		o.splitBySet(set)
	}
	for i := range program.Rewards {
		if o.rewards[i], err = space.Reward(i); err != nil {
			return nil, err
		}
	}
	return o.build(ctx, nil)
}
