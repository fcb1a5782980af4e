package explicit

import (
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
)

// LimitError says that a state space is larger than Options allow. Build then returns no states.
type LimitError struct {
	Memory   bool // Limit is a number of bytes, otherwise of states
	Limit    int64
	States   int // number of states found so far
	Expanded int // number of found states with known choices
}

// Error names the limit, and the numbers of found and of expanded states.
func (e *LimitError) Error() string {
	limit := noun.Count(e.Limit, "state")
	if e.Memory {
		limit = fmt.Sprintf("%d MB of memory", e.Limit>>20)
	}
	found, verb := noun.Count(e.States, "state"), noun.Verb(e.States, "was", "were")
	return fmt.Sprintf("the state space needs more than %s: %s %s found, and %d of them explored", limit, found, verb, e.Expanded)
}

// DeadlockError says that states have no choice.
type DeadlockError struct {
	Count int
	State string // the first deadlock, "(s=2)"
	// Values are the values of the variables in the first deadlock; nil for a state that was read from a file.
	Values []int32
}

// Error names the first deadlock and the number of deadlocks.
func (e *DeadlockError) Error() string {
	if e.Count == 1 {
		return "deadlock in state " + e.State
	}
	return fmt.Sprintf("deadlocks in %s, the first is %s", noun.Count(e.Count, "state"), e.State)
}

// RangeError says that a weight or reward is too small or too large for float64 arithmetic; see
// sparse.MinNumber. Exact arithmetic still works.
type RangeError struct {
	File  string
	Pos   syntax.Pos
	What  string // "probability 1/10^400"
	State string // "(s=2)"; "" in an imported space
}

// Error returns the message without file and position.
func (e *RangeError) Error() string {
	msg := e.What + " is outside the range of float64 arithmetic"
	if e.State != "" {
		msg += ", in state " + e.State
	}
	return msg
}
