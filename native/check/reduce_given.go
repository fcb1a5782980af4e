package check

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/quotient"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// GivenQuotient is the quotient by a given partition, with what files of states can contain.
type GivenQuotient struct {
	*Reduced
	// Program has the labels and the reward structures that the partition respects.
	Program *sema.Program
	// Omitted describes the other labels and reward structures, such as `label "done"`.
	Omitted []string
}

// ReduceBy returns the quotient of an exact space by a given partition. The partition must be a bisimulation that preserves the properties, the
// initial states and the deadlocks. A label or a reward structure that distinguishes two states of a block is omitted. program is the program of
// the space, possibly with the labels of a properties file added.
func ReduceBy(ctx context.Context, space *explicit.Space, program *sema.Program, properties []*Property, partition *quotient.Partition) (*GivenQuotient, error) {
	builder, err := newQuotientBuilder(ctx, space.Compiled(), space, properties)
	if err != nil {
		return nil, err
	}
	if err := builder.checkPartition(ctx, partition, builder.rewardList()); err != nil {
		return nil, err
	}
	if err := builder.checkBuiltinSets(partition); err != nil {
		return nil, err
	}
	result := &GivenQuotient{}
	reducedProgram := *program
	if reducedProgram.Labels, err = builder.preservedLabels(ctx, result, program.Labels, partition); err != nil {
		return nil, err
	}
	preservedStructures, err := builder.preservedRewards(ctx, result, program, partition)
	if err != nil {
		return nil, err
	}
	if result.Reduced, err = builder.build(ctx, partition); err != nil {
		return nil, err
	}
	// The preserved reward structures get new numbers, from 0 on.
	reducedProgram.Rewards = nil
	rewards := map[int]*sparse.Reward{}
	for newIndex, oldIndex := range preservedStructures {
		reducedProgram.Rewards = append(reducedProgram.Rewards, program.Rewards[oldIndex])
		if rewards[newIndex], err = result.Space.Reward(oldIndex); err != nil {
			return nil, err
		}
	}
	result.Program, result.Space = &reducedProgram, space.Quotient(partition.First, result.Space.Model(), rewards)
	return result, nil
}

// checkBuiltinSets returns an error if a block mixes initial states with other states, or deadlocks with other states. A quotient must distinguish them,
// because every file of a state space has the labels init and deadlock.
func (builder *quotientBuilder) checkBuiltinSets(partition *quotient.Partition) error {
	model := builder.space.Model()
	initial := sparse.NewSet(model.NumStates())
	for _, s := range model.Initial {
		initial.Add(int(s))
	}
	if first, second, isSplit := splitBlock(partition, initial); isSplit {
		return builder.errorInBlock(first, second, "only one of them is an initial state")
	}
	if model.Deadlocks == nil {
		return nil
	}
	if first, second, isSplit := splitBlock(partition, model.Deadlocks); isSplit {
		return builder.errorInBlock(first, second, "only one of them is a deadlock")
	}
	return nil
}

// splitBlock returns two states of the same block, one of them in the set and the other one outside the set. isSplit is false if there are no such
// states.
func splitBlock(partition *quotient.Partition, set *sparse.Set) (first, second int, isSplit bool) {
	for s, block := range partition.Block {
		if first := int(partition.First[block]); set.Has(first) != set.Has(s) {
			return first, s, true
		}
	}
	return 0, 0, false
}

// preservedLabels returns the labels that have the same truth value in all states of each block. It adds the names of the other labels to
// result.Omitted.
func (builder *quotientBuilder) preservedLabels(ctx context.Context, result *GivenQuotient, labels []sema.LabelDef, partition *quotient.Partition) ([]sema.LabelDef, error) {
	var preserved []sema.LabelDef
	for _, label := range labels {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, err := builder.space.States(label.Expr)
		if err != nil {
			return nil, fmt.Errorf("label %q: %w", label.Name, err)
		}
		if _, _, isSplit := splitBlock(partition, set); isSplit {
			result.Omitted = append(result.Omitted, fmt.Sprintf("label %q", label.Name))
			continue
		}
		preserved = append(preserved, label)
	}
	return preserved, nil
}

// preservedRewards returns the indices of the reward structures that the partition preserves, and adds these structures to the builder. It adds
// the names of the other structures to result.Omitted. In a Markov automaton, whose sojourn times are rewards, a structure that is not preserved
// is an error.
func (builder *quotientBuilder) preservedRewards(ctx context.Context, result *GivenQuotient, program *sema.Program, partition *quotient.Partition) ([]int, error) {
	var preserved []int
	for i, structure := range program.Rewards {
		isPreserved := builder.rewards[i] != nil // a property has this structure
		if !isPreserved {
			mistake, err := builder.tryReward(ctx, i, partition)
			switch {
			case err != nil:
				return nil, err
			case mistake != nil && program.Model().IsMarkovAutomaton():
				return nil, builder.errorInBlock(mistake.States[0], mistake.States[1], mistake.Reason)
			}
			isPreserved = mistake == nil
		}
		if isPreserved {
			preserved = append(preserved, i)
		} else {
			result.Omitted = append(result.Omitted, rewardText(structure.Name))
		}
	}
	return preserved, nil
}

// tryReward adds the reward structure with index i to the builder if the partition preserves its rewards. If not, it returns two states of a
// block that the structure distinguishes.
func (builder *quotientBuilder) tryReward(ctx context.Context, i int, partition *quotient.Partition) (*quotient.MistakeError, error) {
	reward, err := builder.space.Reward(i)
	if err != nil {
		return nil, err
	}
	builder.rewards[i] = reward
	err = partition.Check(ctx, builder.space.Model(), builder.blockOf, builder.rewardList())
	if mistake, isMistake := errors.AsType[*quotient.MistakeError](err); isMistake {
		delete(builder.rewards, i)
		return mistake, nil
	}
	return nil, err
}

// rewardText returns words for a reward structure, which may have no name.
func rewardText(name string) string {
	if name == "" {
		return "rewards without a name"
	}
	return fmt.Sprintf("reward structure %q", name)
}
