package external

import (
	"fmt"

	"tilecheck/internal/progress"
	"tilecheck/native/space/disk"
	"tilecheck/native/space/sparse"
)

// graphSets is the greatest number of sets of states that the analysis of the graph has in memory, with one bit for each state.
const graphSets = 4

// analyseGraph finds the states with the probability 0 or 1, for some or for all schedulers as the problem asks, and marks them. It does nothing if the
// sets would take more than a quarter of the memory.
//
// Source: Baier and Katoen, Principles of Model Checking (2008), section 10.6.1; de Alfaro, Formal Verification of Probabilistic Systems (1997).
func (solver *solver) analyseGraph() error {
	if solver.columns.States > solver.options.Memory/4/graphSets*8 {
		return nil
	}
	reader := &worker{solver: solver}
	reader.block.ShouldStop = func() bool { return solver.ctx.Err() != nil }
	reader.block.Backwards = solver.backwards()
	goal, err := solver.goalStates()
	if err != nil {
		return err
	}
	positiveStates := goal.Clone() // a positive probability of reaching the goal
	if err := reader.addPredecessors(positiveStates, nil, solver.problem.Minimize); err != nil {
		return err
	}
	certainStates, err := reader.certainStates(goal, positiveStates)
	if err != nil {
		return err
	}
	marks, err := solver.space.Directory.WriteMarks(solver.columns.States, func(state int64) disk.Mark {
		switch {
		case certainStates.Has(int(state)):
			return disk.One
		case !positiveStates.Has(int(state)):
			return disk.Zero
		}
		return disk.Unknown
	})
	if err != nil {
		return err
	}
	solver.retireFile(solver.solution.Marks)
	solver.solution.Marks = marks
	return nil
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

// certainStates returns the states from which the goal is reached with probability 1. positive has the states with a positive probability.
func (worker *worker) certainStates(goal, positive *sparse.Set) (*sparse.Set, error) {
	isChain := worker.columns.Choices == worker.columns.States
	if isChain || worker.problem.Minimize {
		uncertain := positive.Complement() // some scheduler reaches a state with the probability 0
		err := worker.addPredecessors(uncertain, nil, false)
		return uncertain.Complement(), err
	}
	certain := positive
	for {
		next := goal.Clone() // some scheduler stays among the certain states until it reaches the goal
		if err := worker.addPredecessors(next, certain, false); err != nil || next.Equal(certain) {
			return next, err
		}
		certain = next
	}
}

// addPredecessors adds to a set the states of all blocks that [solve.Block.AddPredecessors] adds, in passes over the blocks until none adds a state.
func (worker *worker) addPredecessors(set, within *sparse.Set, forAll bool) error {
	added := true
	for pass := 1; added; pass++ {
		added = false
		for i := range worker.blocks {
			block := i
			if worker.block.Backwards {
				block = len(worker.blocks) - 1 - i
			}
			worker.reportGraph(pass, i)
			if err := worker.loadRows(&worker.blocks[block]); err != nil {
				return err
			}
			if err := worker.removeMarked(worker.blocks[block].states); err != nil {
				return err
			}
			for sweep := 0; sweep < sweepsPerStep && worker.block.AddPredecessors(set, within, forAll); sweep++ {
				added = true
			}
			if err := worker.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// reportGraph reports the progress of a pass over the transitions. blocks is the number of blocks that the pass has visited.
func (worker *worker) reportGraph(pass, blocks int) {
	if worker.options.Progress == nil {
		return
	}
	worker.options.Progress(progress.Progress{
		Done: int64(blocks) * worker.columns.States / int64(len(worker.blocks)), Target: worker.columns.States, Unit: progress.States,
		Detail: fmt.Sprintf("states with the probability 0 or 1, pass %d", pass),
	})
}
