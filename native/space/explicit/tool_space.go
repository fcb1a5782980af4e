package explicit

// ToolSpace is a state space that a tool exported, and what the export leaves out.
type ToolSpace struct {
	Space *Space
	// Whole says that the export contains all labels and rewards, Actions that it contains
	// all actions: then one that is missing in Space is missing in the tool's model.
	Whole, Actions bool
	// Means says that the export gives the mean transition reward of each choice, and no
	// reward to the self-loop of a deadlock.
	Means bool
	// Notes explain intended differences between the tool's space and the model, and the
	// switches with which the tool was called to avoid more of them.
	Notes []string
}
