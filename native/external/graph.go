package external

import (
	"fmt"

	"tilecheck/internal/progress"
	"tilecheck/native/space/disk"
	"tilecheck/native/space/sparse"
)

// graphSets is the greatest number of sets of states that the analysis of the graph has in memory, with one bit for each state.
const graphSets = 4

// analyseGraph finds the states whose value follows from the graph: the probability 0 or 1, or the reward 0 or infinity. It writes a file with the mark of
// each state: its value, or Unknown. If the sets of states would take more than a quarter of the memory, it does nothing for probabilities. For rewards it
// then returns an error, because the equations are valid only if the states with infinite rewards are known.
//
// Source: Baier and Katoen, Principles of Model Checking (2008), section 10.6.1; de Alfaro, Formal Verification of Probabilistic Systems (1997).
func (solver *solver) analyseGraph() error {
	const bitsPerByte = 8
	if available := solver.options.Memory / 4; solver.columns.States > available/graphSets*bitsPerByte {
		if solver.problem.Reward == nil {
			return nil
		}
		return fmt.Errorf("the search for the states with an infinite reward needs %d bytes, and %d are available for it: want more --memory", (solver.columns.States+7)/bitsPerByte*graphSets, available)
	}
	reader := &worker{solver: solver}
	reader.block.ShouldStop = func() bool { return solver.ctx.Err() != nil }
	reader.block.Backwards = solver.backwards()
	markOf, err := reader.knownValues()
	if err != nil {
		return err
	}
	marks, err := solver.space.Directory.WriteMarks(solver.columns.States, markOf)
	if err != nil {
		return err
	}
	solver.retireFile(solver.solution.Marks)
	solver.solution.Marks = marks
	return nil
}

// knownValues analyses the graph. It returns a function that gives the mark of a state: its value, if the graph decides it, or Unknown.
func (worker *worker) knownValues() (markOf func(state int64) disk.Mark, err error) {
	if reward := worker.problem.Reward; reward != nil {
		return worker.knownRewards(reward)
	}
	goal, err := worker.goalStates()
	if err != nil {
		return nil, err
	}
	positive, certain, err := worker.reachingStates(goal, worker.problem.Minimize)
	if err != nil {
		return nil, err
	}
	return markSets(certain, disk.One, positive.Complement(), disk.Zero), nil
}

// markSets returns a function that gives the mark of a state: firstMark in the first set, secondMark in the second, and Unknown elsewhere. The sets are
// disjoint.
func markSets(first *sparse.Set, firstMark disk.Mark, second *sparse.Set, secondMark disk.Mark) func(state int64) disk.Mark {
	return func(state int64) disk.Mark {
		switch {
		case first.Has(int(state)):
			return firstMark
		case second.Has(int(state)):
			return secondMark
		}
		return disk.Unknown
	}
}

// goalStates returns the states with the mark One.
func (solver *solver) goalStates() (*sparse.Set, error) {
	goal := sparse.NewSet(int(solver.columns.States))
	err := solver.readMarks(disk.Range{End: solver.columns.States}, func(state int64, mark disk.Mark) {
		if mark == disk.One {
			goal.Add(int(state))
		}
	})
	return goal, err
}

// reachingStates returns the states from which the goal is reached with positive probability, and the states from which it is reached with probability 1. If
// forAll is true, this must hold for every scheduler, otherwise for some scheduler.
func (worker *worker) reachingStates(goal *sparse.Set, forAll bool) (positive, certain *sparse.Set, err error) {
	positive = goal.Clone()
	if err := worker.addPredecessors(positive, nil, forAll); err != nil {
		return nil, nil, err
	}
	isChain := worker.columns.Choices == worker.columns.States
	if isChain || forAll {
		uncertain := positive.Complement() // becomes the states from which some scheduler can reach a state that cannot reach the goal
		err := worker.addPredecessors(uncertain, nil, someChoice)
		return positive, uncertain.Complement(), err
	}
	certain = positive
	for {
		next := goal.Clone() // becomes the states from which some scheduler reaches the goal and stays among the certain states until then
		if err := worker.addPredecessors(next, certain, someChoice); err != nil || next.Equal(certain) {
			return positive, next, err
		}
		certain = next
	}
}

// someChoice is the value of a parameter forAll with which one choice of a state is enough.
const someChoice = false

// addPredecessors adds to a set the states of all blocks that [solve.Block.AddPredecessors] adds, in passes over the blocks until none adds a state.
func (worker *worker) addPredecessors(set, within *sparse.Set, forAll bool) error {
	return worker.repeatSweeps(withoutRewards, func() bool { return worker.block.AddPredecessors(set, within, forAll) })
}

// withRewards and withoutRewards are values of a parameter needsRewards.
const withRewards, withoutRewards = true, false

// repeatSweeps loads each block and calls sweep for it, in passes over all blocks, until no call in a pass returns true. If needsRewards is true, it also loads
// the rewards of the blocks.
func (worker *worker) repeatSweeps(needsRewards bool, sweep func() (changed bool)) error {
	changed := true
	for pass := 1; changed; pass++ {
		changed = false
		for i := range worker.blocks {
			block := i
			if worker.block.Backwards {
				block = len(worker.blocks) - 1 - i
			}
			worker.reportGraph(pass, i)
			if err := worker.loadGraph(&worker.blocks[block], needsRewards); err != nil {
				return err
			}
			for repeats := 0; repeats < sweepsPerStep && sweep(); repeats++ {
				changed = true
			}
			if err := worker.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadGraph reads the rows of a block and, if needsRewards is true, the rewards of its choices.
func (worker *worker) loadGraph(extent *blockExtent, needsRewards bool) error {
	if err := worker.loadRows(extent); err != nil {
		return err
	}
	if needsRewards {
		if err := worker.loadRewards(extent); err != nil {
			return err
		}
	}
	return worker.removeMarked(extent.states)
}

// reportGraph reports the progress of a pass over the transitions. blocks is the number of blocks that the pass has visited.
func (worker *worker) reportGraph(pass, blocks int) {
	if worker.options.Progress == nil {
		return
	}
	worker.options.Progress(progress.Progress{
		Done: int64(blocks) * worker.columns.States / int64(len(worker.blocks)), Target: worker.columns.States, Unit: progress.States,
		Detail: fmt.Sprintf("states whose value is known by the graph, pass %d", pass),
	})
}
