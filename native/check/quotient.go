package check

import (
	"context"
	"fmt"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// ReduceAll returns the quotient of an exact space by the coarsest strong bisimulation that preserves the properties, the initial states, the deadlocks,
// the labels and the reward structures. program is the program of the space, possibly with the labels of a properties file added. It is an error if the
// type of the model or an operator of a property is not supported.
func ReduceAll(ctx context.Context, space *explicit.Space, program *sema.Program, properties []*Property) (*Reduced, error) {
	builder, err := newQuotientBuilder(ctx, space.Compiled(), space, properties)
	if err != nil {
		return nil, err
	}
	model := space.Model()
	initial := sparse.NewSet(model.NumStates())
	for _, s := range model.Initial {
		initial.Add(int(s))
	}
	builder.splitBySet(initial)
	if model.Deadlocks != nil {
		builder.splitBySet(model.Deadlocks)
	}
	for _, label := range program.Labels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, err := space.States(label.Expr)
		if err != nil {
			return nil, fmt.Errorf("label %q: %w", label.Name, err)
		}
		builder.splitBySet(set)
	}
	for i := range program.Rewards {
		builder.rewards[i], err = space.Reward(i)
		if err != nil {
			return nil, err
		}
	}
	return builder.build(ctx, nil)
}
