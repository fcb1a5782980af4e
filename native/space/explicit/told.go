package explicit

// Told is a state space that a tool built, as far as the tool tells of it.
type Told struct {
	Space *Space
	// Whole says that all labels and rewards are told, and Actions that actions are:
	// one that the space lacks the tool does not have.
	Whole, Actions bool
	// Means says that what transitions earn is told as the mean of a choice, and that
	// a deadlock earns nothing.
	Means bool
	// Notes say how the tool's space differs from that of the model on purpose, and
	// with which switch it was asked not to.
	Notes []string
}
