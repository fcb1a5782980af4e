package composition

import "context"

// maxEffort is the number of states, steps and rates that Reduce may compute. It was chosen by trial, so that the fault tree "cabinets" 3-2 of QComp is
// composed, which takes 14 s.
const maxEffort = 96 << 20

// effort limits the work of Reduce. It is exhausted if its number is used up, or if the context ends.
type effort struct {
	ctx       context.Context
	remaining int
	// sinceLastCheck counts since the context was last asked.
	sinceLastCheck int
}

// spend subtracts an amount of work from the work that is still allowed. It returns false if no work is allowed any more: the budget is used up,
// or the context has ended.
func (e *effort) spend(amount int) bool {
	const interval = 1 << 12
	e.remaining -= amount
	if e.sinceLastCheck += amount; e.sinceLastCheck > interval {
		e.sinceLastCheck = 0
		if e.ctx.Err() != nil {
			e.remaining = 0
		}
	}
	return !e.isExhausted()
}

// isExhausted reports whether nothing is left.
func (e *effort) isExhausted() bool { return e.remaining <= 0 }
