package external

import (
	"fmt"

	"tilecheck/internal/progress"
	"tilecheck/native/space/disk"
	"tilecheck/native/space/sparse"
)

// graphSets is the greatest number of sets of states that the analysis of the graph has in memory, with one bit for each state.
const graphSets = 4

// analyseGraph finds the states whose value is known by the graph, and marks them: the probability 0 or 1, or the reward 0 or infinity. If the sets would
// take more than a quarter of the memory, it does nothing for probabilities; for rewards, which need the infinite values, it is an error.
//
// Source: Baier and Katoen, Principles of Model Checking (2008), section 10.6.1; de Alfaro, Formal Verification of Probabilistic Systems (1997).
func (solver *solver) analyseGraph() error {
	if available := solver.options.Memory / 4; solver.columns.States > available/graphSets*8 {
		if solver.problem.Reward == nil {
			return nil
		}
		return fmt.Errorf("the search for the states with an infinite reward needs %d bytes, and %d are available for it: want more --memory", (solver.columns.States+7)/8*graphSets, available)
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

// knownValues returns the mark of each state by the graph.
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

// markSets returns a function that gives the members of two disjoint sets of states their marks.
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

// reachingStates returns the states from which the goal is reached with a positive probability, and those from which it is reached with probability 1: by
// every scheduler if forAll is true, otherwise by some scheduler.
func (worker *worker) reachingStates(goal *sparse.Set, forAll bool) (positive, certain *sparse.Set, err error) {
	positive = goal.Clone()
	if err := worker.addPredecessors(positive, nil, forAll); err != nil {
		return nil, nil, err
	}
	isChain := worker.columns.Choices == worker.columns.States
	if isChain || forAll {
		uncertain := positive.Complement() // some scheduler reaches a state with the probability 0
		err := worker.addPredecessors(uncertain, nil, false)
		return positive, uncertain.Complement(), err
	}
	certain = positive
	for {
		next := goal.Clone() // some scheduler stays among the certain states until it reaches the goal
		if err := worker.addPredecessors(next, certain, false); err != nil || next.Equal(certain) {
			return positive, next, err
		}
		certain = next
	}
}

// addPredecessors adds to a set the states of all blocks that [solve.Block.AddPredecessors] adds, in passes over the blocks until none adds a state.
func (worker *worker) addPredecessors(set, within *sparse.Set, forAll bool) error {
	return worker.repeatSweeps(false, func() bool { return worker.block.AddPredecessors(set, within, forAll) })
}

// repeatSweeps calls sweep for all blocks, in passes over the blocks until no call returns true. The rewards are loaded if withRewards is true.
func (worker *worker) repeatSweeps(withRewards bool, sweep func() (changed bool)) error {
	changed := true
	for pass := 1; changed; pass++ {
		changed = false
		for i := range worker.blocks {
			block := i
			if worker.block.Backwards {
				block = len(worker.blocks) - 1 - i
			}
			worker.reportGraph(pass, i)
			if err := worker.loadGraph(&worker.blocks[block], withRewards); err != nil {
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

// loadGraph reads the rows of a block and, if withRewards is true, the rewards of its choices.
func (worker *worker) loadGraph(extent *blockExtent, withRewards bool) error {
	if err := worker.loadRows(extent); err != nil {
		return err
	}
	if withRewards {
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
