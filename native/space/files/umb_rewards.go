package files

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"tilecheck/internal/umb"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// addRewards adds the reward structures of the file to the imported model.
func (builder *umbBuilder) addRewards(imported *explicit.Imported) error {
	for index, annotation := range builder.index.Annotations.Get("rewards") {
		reward, transitionRewards, err := builder.readReward(imported.Model, index, annotation)
		if err != nil {
			return fmt.Errorf("rewards/%s: %w", annotation.Name, err)
		}
		imported.Model.Rewards = append(imported.Model.Rewards, reward)
		imported.TransitionRewards = append(imported.TransitionRewards, transitionRewards)
	}
	return nil
}

// readReward reads the reward structure with the given index. Its name is the alias of the annotation, or else the identifier. The
// identifiers index+1 and Storm's "default", without an alias, stand for no name.
func (builder *umbBuilder) readReward(model *sparse.Model, index int, annotation umb.Named[umb.Annotation]) (reward sparse.Reward, perTransition explicit.TransitionReward, err error) {
	name := annotation.Name
	if annotation.Value.Alias != nil {
		name = *annotation.Value.Alias
	} else if name == strconv.Itoa(index+1) || name == "default" {
		name = ""
	}
	if name != "" && !syntax.IsIdent(name) {
		return reward, perTransition, fmt.Errorf("found the name %s, wanted a word", textlines.Quote([]byte(name)))
	}
	stateRewards, err := builder.readStateRewards(builder.rewards[annotation.Name+"/states"])
	if err != nil {
		return reward, perTransition, err
	}
	columns := &umbTransitionRewards{
		umbBuilder: builder,
		choices:    builder.rewards[annotation.Name+"/choices"], branches: builder.rewards[annotation.Name+"/branches"],
	}
	transitionRewards, err := columns.readAll(model)
	if err != nil {
		return reward, perTransition, err
	}
	reward, perTransition = rewardStructure(model, name, stateRewards, transitionRewards)
	return reward, perTransition, nil
}

// readStateRewards returns the rewards of states that a column of the file has. It returns nil if the file does not have the column.
func (builder *umbBuilder) readStateRewards(column umbColumn) (*rewardColumn, error) {
	if !column.Present() {
		return nil, nil
	}
	rewards := newColumn(builder.umbFile.numStates, builder.opts.Exact)
	for state := range builder.umbFile.numStates {
		reward, err := column.numberAt(state, builder.opts.Exact)
		if err != nil {
			return nil, fmt.Errorf("state %d: %w", state, err)
		}
		rewards.setEntry(state, reward)
	}
	return rewards, nil
}

// umbTransitionRewards has the columns of the file from which the transition rewards of a structure are computed: the rewards of choices and of
// branches. The file may lack each of them.
type umbTransitionRewards struct {
	*umbBuilder
	choices, branches umbColumn
}

// readAll returns the rewards of the transitions: for each, the reward of its choice plus the reward of its branch. It returns nil if the file
// has neither.
func (columns *umbTransitionRewards) readAll(model *sparse.Model) (*rewardColumn, error) {
	if !columns.choices.Present() && !columns.branches.Present() {
		return nil, nil
	}
	rewards := newColumn(model.NumTransitions(), columns.opts.Exact)
	numSelfLoops := 0 // of deadlocks, which are not in the file
	for state := range columns.umbFile.numStates {
		if columns.assembly.deadlocks.Has(state) {
			numSelfLoops++
			continue
		}
		first, end := model.Choices(state)
		for choice := first; choice < end; choice++ {
			if err := columns.readChoice(rewards, model, state, choice, numSelfLoops); err != nil {
				return nil, err
			}
		}
	}
	return rewards, nil
}

// readChoice sets the rewards of the transitions of a choice. numSelfLoops is the number of earlier transitions that are not in the file,
// because they are self-loops of deadlocks.
func (columns *umbTransitionRewards) readChoice(rewards *rewardColumn, model *sparse.Model, state, choice, numSelfLoops int) error {
	firstChoice, _ := model.Choices(state)
	choiceReward, err := columns.choiceReward(state, choice-firstChoice)
	if err != nil {
		return fmt.Errorf("state %d, choice %d: %w", state, choice-firstChoice, err)
	}
	first, end := model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		reward, err := columns.addBranchReward(choiceReward, transition-numSelfLoops, state)
		if err != nil {
			return fmt.Errorf("state %d: %w", state, err)
		}
		rewards.setEntry(transition, reward)
	}
	return nil
}

// choiceReward returns the reward of the choice at a position among those of a state. It is 0 if the file has no rewards of choices.
func (columns *umbTransitionRewards) choiceReward(state, position int) (number, error) {
	if columns.choices.Present() {
		return columns.choices.numberAt(columns.choiceInFile(state, position), columns.opts.Exact)
	}
	if columns.opts.Exact {
		return number{fraction: new(big.Rat)}, nil
	}
	return number{}, nil
}

// addBranchReward returns the sum of the rewards of a choice and of one of its transitions. transition is the
// number of the transition in the file, without the self-loops of deadlocks.
func (columns *umbTransitionRewards) addBranchReward(choiceReward number, transition, state int) (number, error) {
	if !columns.branches.Present() {
		return choiceReward, nil
	}
	branchReward, err := columns.branchReward(transition, state)
	return addNumbers(choiceReward, branchReward), err
}

// branchReward returns the reward of a transition's branch. If several branches were merged into the transition, it is their mean reward.
func (columns *umbTransitionRewards) branchReward(transition, state int) (number, error) {
	first := transition
	if columns.firstBranches != nil {
		first = int(columns.firstBranches[transition])
	}
	merged := columns.mergedBranches[uint32(first)]
	reward, err := columns.branches.numberAt(first, columns.opts.Exact)
	if err != nil || len(merged) == 0 {
		return reward, err
	}
	return columns.meanReward(append([]uint32{uint32(first)}, merged...), reward, state)
}

// meanReward returns the mean reward of some branches, weighted with their probabilities or rates. firstReward is the reward of the first
// one. If all rewards are equal, it returns firstReward, because the computed mean would have rounding errors.
func (columns *umbTransitionRewards) meanReward(branches []uint32, firstReward number, state int) (number, error) {
	sum, totalWeight := number{}, number{}
	areEqual := true
	for _, branch := range branches {
		reward, rewardErr := columns.branches.numberAt(int(branch), columns.opts.Exact)
		weight, _, weightErr := columns.branchWeight(state, int(branch))
		if err := errors.Join(rewardErr, weightErr); err != nil {
			return number{}, err
		}
		areEqual = areEqual && reward.float == firstReward.float && compareFractions(firstReward.fraction, reward.fraction) == 0
		totalWeight = addNumbers(totalWeight, weight)
		sum = addNumbers(sum, multiplyNumbers(weight, reward))
	}
	if areEqual {
		return firstReward, nil
	}
	mean := number{float: sum.float / totalWeight.float}
	if totalWeight.fraction != nil {
		mean.fraction = new(big.Rat).Quo(sum.fraction, totalWeight.fraction)
	}
	return mean, nil
}

// choiceInFile returns the index in the file of the choice at a position among those of a state.
func (builder *umbBuilder) choiceInFile(state, position int) int {
	if builder.choiceOffsets == nil {
		return state
	}
	return int(builder.choiceOffsets[state]) + position
}
