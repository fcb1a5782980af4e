package external

// With a step bound k, a pass computes the bounds after one more step from those of the step before, for all blocks: x' = P x, from the marks on. k passes
// compute the lower bounds, rounded down, and k further passes the upper bounds, rounded up.

// filesOfPhase returns the files of the bounds that the passes of the phase compute.
func (solver *solver) filesOfPhase() []string {
	if solver.solution.Phase == upperPhase {
		return solver.solution.Upper
	}
	return solver.solution.Lower
}

// endStep ends a step of a step-bounded property: the bounds after the step replace the bounds before it. After the last step it begins with the upper
// bounds or, if these are done, ends the solution. A step that changes no bound counts as the last step, because later steps change no bound either.
func (solver *solver) endStep(initial int64) error {
	files := solver.filesOfPhase()
	for block, name := range solver.solution.Next {
		solver.retireFile(files[block])
		files[block], solver.solution.Next[block] = name, ""
	}
	if solver.solution.Raised && solver.solution.Pass < solver.problem.Steps {
		return nil
	}
	if solver.solution.Phase == lowerPhase {
		solver.solution.Phase, solver.solution.Pass = upperPhase, 0
		return nil
	}
	err := solver.readProvedBounds(initial)
	solver.endSolution()
	return err
}
