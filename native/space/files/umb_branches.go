package files

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// umbBranch is a branch of a row.
type umbBranch struct {
	edge
	branchIndex int
	weight      number
	upperBound  number // the upper bound of an interval
}

// addChoice adds a choice of a state with its transitions. Branches with the same target become one transition. In a Markov chain, they
// must also have the same action.
func (builder *umbBuilder) addChoice(state, choice int) error {
	if err := builder.readBranches(state, choice); err != nil {
		return err
	}
	action := sparse.NoAction
	if builder.hasChoices() {
		action = builder.modelAction(choice)
	}
	builder.assembly.startChoice(action, syntax.Pos{})
	for position := range builder.branches {
		branch := &builder.branches[position]
		builder.recordFirstBranch(branch.branchIndex)
		numErrors := len(builder.Errs)
		builder.nextUpperBound = branch.upperBound
		builder.addTransition(branch.target, branch.weight, branch.action, 0, 0)
		if len(builder.Errs) > numErrors {
			builder.addLocation(state, choice)
		}
	}
	builder.endRow()
	builder.addLocation(state, choice)
	return nil
}

// readBranches sets builder.branches to the branches of a choice with a positive weight. It merges branches that become one transition. In
// an interval model it does not merge them, and they are an error later.
func (builder *umbBuilder) readBranches(state, choice int) error {
	first, end := builder.branchRange(choice)
	if first == end {
		return errors.New("found no branch, wanted one")
	}
	if builder.modelType == syntax.LTS && first+1 < end {
		return fmt.Errorf("found %d branches, wanted one in a choice of an LTS", end-first)
	}
	builder.branches = builder.branches[:0]
	builder.edgesOfRow.clear()
	isChain := !builder.hasChoices()
	for branch := first; branch < end; branch++ {
		weight, high, err := builder.branchWeight(state, branch)
		if err != nil {
			return fmt.Errorf("branch %d: %w", branch-first, err)
		}
		if weight.isZero() && high.isZero() {
			continue
		}
		edge := edge{target: int(builder.umbFile.targets[branch])}
		if isChain {
			edge.action = builder.modelAction(branch)
		}
		index, isNew := builder.edgesOfRow.addEdge(edge)
		if isNew || builder.hasIntervals {
			builder.branches = append(builder.branches, umbBranch{edge, branch, weight, high})
		} else {
			builder.mergeBranch(&builder.branches[index], branch, weight)
		}
	}
	return nil
}

// mergeBranch adds the weight of a branch to that of an earlier branch with the same target. It records the numbers of the two, because
// their rewards may differ.
func (builder *umbBuilder) mergeBranch(earlier *umbBranch, branch int, weight number) {
	if earlier.weight.fraction != nil {
		earlier.weight.fraction = new(big.Rat).Add(earlier.weight.fraction, weight.fraction)
	}
	earlier.weight.float += weight.float
	if builder.mergedBranches == nil {
		builder.mergedBranches = make(map[uint32][]uint32)
	}
	builder.mergedBranches[uint32(earlier.branchIndex)] = append(builder.mergedBranches[uint32(earlier.branchIndex)], uint32(branch))
}

// addLocation adds the state and the choice to the error messages that do not have them yet. A binary file has no lines, so it also removes
// positions.
func (builder *umbBuilder) addLocation(state, choice int) {
	for _, diagnostic := range builder.Errs {
		hasLocation := !diagnostic.Pos.IsValid() && strings.HasPrefix(diagnostic.Msg, "state ")
		if !hasLocation {
			diagnostic.Pos = syntax.Pos{}
			diagnostic.Msg = fmt.Sprintf("state %d, choice number %d: %s", state, choice, diagnostic.Msg)
		}
	}
}

// branchWeight returns the weight of a branch, which is a transition from the given state. It is a probability, or in a CTMC the
// probability times the exit rate. In an interval model, weight and high are the bounds. In other models high is zero.
func (builder *umbBuilder) branchWeight(state, branch int) (weight, high number, err error) {
	switch {
	case builder.modelType == syntax.LTS:
		return builder.one, number{}, nil
	case builder.hasIntervals:
		return builder.branchInterval(branch)
	}
	weight, err = builder.probabilityColumn.numberAt(branch, builder.opts.Exact)
	if err != nil || builder.modelType != syntax.CTMC {
		return weight, number{}, err
	}
	rate, err := builder.exitRateColumn.numberAt(state, builder.opts.Exact)
	if weight.fraction != nil && rate.fraction != nil {
		weight.fraction = new(big.Rat).Mul(weight.fraction, rate.fraction)
	}
	weight.float *= rate.float
	return weight, number{}, err
}

// branchInterval returns the bounds of a branch's probability. If both are zero, the branch does not exist.
func (builder *umbBuilder) branchInterval(branch int) (low, high number, err error) {
	if low, err = builder.probabilityColumn.numberAt(2*branch, true); err != nil {
		return low, high, err
	}
	if high, err = builder.probabilityColumn.numberAt(2*branch+1, true); err != nil {
		return low, high, err
	}
	isZero := low.isZero() && high.isZero()
	if !isZero && !isInterval(low, high) {
		err = fmt.Errorf("found the interval [%s,%s], wanted one of probabilities from 0 to 1", low.fraction.RatString(), high.fraction.RatString())
	}
	return low, high, err
}

// recordFirstBranch records that branch is the first branch of the next transition. As long as all transitions have the index of their
// first branch, firstBranches is nil, to save memory.
func (builder *umbBuilder) recordFirstBranch(branch int) {
	nextTransition := builder.numTransitions
	if builder.firstBranches == nil {
		if branch == nextTransition {
			return
		}
		for transition := range nextTransition {
			builder.firstBranches = append(builder.firstBranches, uint32(transition))
		}
	}
	builder.firstBranches = append(builder.firstBranches, uint32(branch))
}
