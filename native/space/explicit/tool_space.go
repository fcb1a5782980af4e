package explicit

// ToolSpace is a state space that another tool exported, and says which parts the export has.
type ToolSpace struct {
	Space *Space
	// AllLabelsAndRewards says that a label or reward structure that is missing in Space is also
	// missing in the tool's model. AllActions says the same of actions.
	AllLabelsAndRewards, AllActions bool
	// MeanRewards says that the export gives the mean transition reward of each choice, and no
	// reward to the self-loop of a deadlock.
	MeanRewards bool
	// Notes explain intended differences between the tool's space and the model, and the
	// switches with which the tool was called to avoid more of them.
	Notes []string
}
