package result

import "math/big"

// Witness shows why an operator P has its value: by the most probable paths that satisfy its formula, or that violate it. Its fields are
// those in JSON.
type Witness struct {
	// Holds says that the paths satisfy the formula; otherwise they violate it.
	Holds bool `json:"holds"`
	// Scheduler says that the paths belong to a scheduler that attains the value.
	Scheduler bool `json:"scheduler,omitempty"`
	// Wanted is the probability that the paths must have together, such as >1/2 or >=1/2. It is empty if only the most probable paths
	// were asked for.
	Wanted string `json:"wanted,omitempty"`
	// Enough says that the paths have the wanted probability, and Shown that this decides the property. The paths of one scheduler do not
	// decide a bound that holds for all schedulers.
	Enough bool `json:"enough,omitempty"`
	Shown  bool `json:"shown,omitempty"`
	// Count is the number of paths. No smaller set of paths has their probability. Paths has the first of them, and All says that there are
	// no other paths.
	Count int  `json:"count"`
	All   bool `json:"all,omitempty"`
	// Longest is the number of steps of the longest path.
	Longest int `json:"longest"`
	// Sum is the probability of all Count paths. SumFraction is the same number as a fraction; it is empty if the fraction is long.
	Sum         JSONNumber    `json:"probability"`
	SumFraction string        `json:"fraction,omitempty"`
	Paths       []WitnessPath `json:"paths"`
	// Choices are the choices of a scheduler that satisfies the formula on no path, which the path of 0 steps does not show; nil for other
	// witnesses.
	Choices *WitnessChoices `json:"choices,omitempty"`
	// Columns is the number of columns of the 2048 board in the states; 0 for other models.
	Columns int `json:"columns,omitempty"`
	// Part is a part of the model that exceeds the bound; nil if it was not asked for.
	Part *WitnessPart `json:"part,omitempty"`
}

// WitnessPath is a path with its probability.
type WitnessPath struct {
	Probability JSONNumber `json:"probability"`
	Fraction    string     `json:"fraction,omitempty"`
	// Steps has the states of the path, each with the step that leads to it.
	Steps []WitnessStep `json:"steps"`
}

// WitnessStep is a state of a path, with the action and the probability of the step that leads to it. The action is empty if the step has
// none. The first state has no step; its probability is 1.
type WitnessStep struct {
	Action      string     `json:"action,omitempty"`
	Probability JSONNumber `json:"probability"`
	State       Valuation  `json:"variables"`
}

// WitnessChoices are the choices of a scheduler in the states that it can reach and that have several choices.
type WitnessChoices struct {
	// Count is the number of these states, and First has the choices in the first of them.
	Count int             `json:"count"`
	First []WitnessChoice `json:"first"`
}

// WitnessChoice is the choice of a scheduler in a state. The action is empty if the choice has none.
type WitnessChoice struct {
	State  Valuation `json:"variables"`
	Action string    `json:"action,omitempty"`
}

// WitnessPart is a part of a model that exceeds a bound by itself: first a set of states, and then a set of commands.
type WitnessPart struct {
	// States is the number of states in the part. Of is the number of states that the model, in an MDP under the scheduler, can reach until the formula is decided.
	States int `json:"states"`
	Of     int `json:"of"`
	// Lower is a lower bound of the probability within these states.
	Lower JSONNumber `json:"lower"`
	// Minimal says that every state is proved necessary.
	Minimal bool `json:"minimal"`
	// Commands has the commands in the part, in the order of the model; nil if the model has no commands. OfCommands is the number of commands in the model.
	Commands   []WitnessCommand `json:"commands,omitzero"`
	OfCommands int              `json:"of_commands,omitempty"`
	// LowerCommands is a lower bound of the probability in the model with these commands only.
	LowerCommands JSONNumber `json:"lower_commands,omitempty"`
	// CommandsMinimal says that every command is proved necessary.
	CommandsMinimal bool `json:"commands_minimal,omitempty"`
}

// WitnessCommand is a command of a model with its place in the text.
type WitnessCommand struct {
	Module string `json:"module"`
	File   string `json:"file,omitempty"`
	Line   int32  `json:"line,omitempty"`
	Text   string `json:"text"`
}

// maxWitnessFraction is the greatest length of a fraction that is written.
const maxWitnessFraction = 400

// WitnessNumber returns the float64 nearest to a probability, and the probability as a fraction. The fraction is empty if it is too long.
func WitnessNumber(r *big.Rat) (nearest JSONNumber, fraction string) {
	f, _ := r.Float64()
	if text := r.RatString(); len(text) <= maxWitnessFraction {
		fraction = text
	}
	return JSONNumber(f), fraction
}
