package external

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tilecheck/internal/parallel"
	"tilecheck/internal/shard"
	"tilecheck/native/space/disk"
)

// stepTask is a step of a pass, which several processes take together. Each solves a range of the blocks, and writes their values to files.
type stepTask struct {
	Solution *solution
	Blocks   []int
	Names    []string // the file for the values of each block
}

// outcome says how some blocks have changed in a step.
type outcome struct {
	Change float64 // the greatest relative change of a lower bound
	Raised bool    // a sweep raised an upper bound, or a step changed a bound
}

// divideStep solves the blocks of a step in all processes, and returns their outcomes.
func (solver *solver) divideStep(step *stepTask) (outcomes []outcome, err error) {
	directory := solver.space.Directory
	solveOwn := func() error {
		own, err := solver.solvePart(step)
		outcomes = append(outcomes, own)
		return err
	}
	err = solver.space.Divide(solver.ctx, solver.problem.Key, step, solveOwn, func(process shard.Part, text json.RawMessage) error {
		first, end := process.Range(int64(len(step.Blocks)))
		for _, name := range step.Names[first:end] {
			directory.CountFile(name)
		}
		var result outcome
		if err := json.Unmarshal(text, &result); err != nil {
			return fmt.Errorf("read the result of process %v: %w", process, err)
		}
		outcomes = append(outcomes, result)
		return nil
	})
	return outcomes, err
}

// solvePart solves the blocks of this process in a step.
func (solver *solver) solvePart(step *stepTask) (outcome, error) {
	first, end := solver.space.Directory.Process().Range(int64(len(step.Blocks)))
	for _, worker := range solver.workers {
		worker.outcome = outcome{}
	}
	err := parallel.ForEach(solver.ctx, len(solver.workers), int(end-first), func(worker, part int) error {
		i := int(first) + part
		return solver.workers[worker].solveBlock(step.Blocks[i], step.Names[i])
	})
	var total outcome
	for _, worker := range solver.workers {
		total.Change = max(total.Change, worker.outcome.Change)
		total.Raised = total.Raised || worker.outcome.Raised
	}
	return total, err
}

// help takes the part of this process in each step, until process 1 has recorded that the solution is done. It returns the recorded bounds.
func (solver *solver) help() (Bounds, error) {
	key := solver.problem.Key
	isDone := func(manifest *disk.Manifest) (bool, error) {
		recorded := manifest.Solutions[key]
		if recorded == nil {
			return false, nil
		}
		var found solution
		err := json.Unmarshal(recorded, &found)
		solver.solution.Bounds = found.Bounds
		return found.Phase == donePhase, err
	}
	err := solver.space.Help(solver.ctx, key, isDone, func(data json.RawMessage) (any, error) {
		step := stepTask{Solution: &solution{}}
		if err := json.Unmarshal(data, &step); err != nil {
			return nil, err
		}
		solver.solution = *step.Solution
		solver.closeUnlisted()
		if solver.workers == nil {
			solver.blocks = blockExtents(solver.columns.Chunks, solver.solution.FirstChunks)
			if err := solver.createWorkers(); err != nil {
				return nil, err
			}
		}
		result, err := solver.solvePart(&step)
		return &result, err
	})
	if failure, ok := errors.AsType[*disk.FailureError](err); ok && failure.Text == ErrRestingForever.Error() {
		err = ErrRestingForever
	}
	return solver.solution.Bounds, err
}

// closeUnlisted closes the files that process 1 has replaced.
func (solver *solver) closeUnlisted() {
	current := map[string]bool{solver.solution.Marks: true, solver.solution.Rewards: true}
	for _, name := range slices.Concat(solver.solution.Lower, solver.solution.Upper) {
		current[name] = true
	}
	for name, file := range solver.files {
		if !current[name] {
			_ = file.Close() // only read
			delete(solver.files, name)
		}
	}
}
