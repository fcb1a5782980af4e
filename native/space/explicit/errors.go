package explicit

import (
	"fmt"

	"tilecheck/prism/syntax"
)

// LimitError says that a state space is larger than allowed. The states that were found are
// dropped.
type LimitError struct {
	Memory   bool // Limit is a number of bytes, otherwise of states
	Limit    int64
	States   int // found so far
	Expanded int // those of them whose choices were computed
}

// Error says what the limit is and how far exploration came.
func (e *LimitError) Error() string {
	limit := fmt.Sprintf("%d states", e.Limit)
	if e.Memory {
		limit = fmt.Sprintf("%d MB of memory", e.Limit>>20)
	}
	return fmt.Sprintf("the state space needs more than %s: %d states were found, and %d of them explored", limit, e.States, e.Expanded)
}

// DeadlockError says that states have no choice.
type DeadlockError struct {
	Count int
	State string // the first of them, "(s=2)"
}

// Error names the first state and counts the others.
func (e *DeadlockError) Error() string {
	if e.Count == 1 {
		return "deadlock in state " + e.State
	}
	return fmt.Sprintf("deadlocks in %d states, the first is %s", e.Count, e.State)
}

// RangeError says that a weight or reward is too small or too large for float64 arithmetic: see
// sparse.MinNumber. Rational arithmetic still works.
type RangeError struct {
	File  string
	Pos   syntax.Pos
	What  string // "probability 1/10^400"
	State string // "(s=2)"; "" in an imported space
}

// Error returns the message without the position.
func (e *RangeError) Error() string {
	msg := e.What + " is too small or too large to compute with doubles"
	if e.State != "" {
		msg += ", in state " + e.State
	}
	return msg
}
