package result

import "math/big"

// Witness is why a verdict is what it is: the likeliest paths on which the formula
// of its operator P holds, or on which it does not. It is as JSON has it.
type Witness struct {
	// Holds says which of the two the paths are.
	Holds bool `json:"holds"`
	// Scheduler says that the paths belong to a scheduler that attains the value.
	Scheduler bool `json:"scheduler,omitempty"`
	// Wanted is what the paths are to have together: ">1/2" or ">=1/2"; empty where
	// the likeliest ones were asked for, and no more.
	Wanted string `json:"wanted,omitempty"`
	// Enough says that they have it, and Shown that this decides the property: of a
	// bound that all schedulers keep, those of one show nothing.
	Enough bool `json:"enough,omitempty"`
	Shown  bool `json:"shown,omitempty"`
	// Count is the number of the paths, of which no smaller set has as much; Paths are
	// the first of them. All says that there are no others.
	Count int  `json:"count"`
	All   bool `json:"all,omitempty"`
	// Longest is the number of steps of the longest path, and Sum the probability of
	// all, in lowest terms unless that is long.
	Longest     int           `json:"longest"`
	Sum         JSONNumber    `json:"probability"`
	SumFraction string        `json:"fraction,omitempty"`
	Paths       []WitnessPath `json:"paths"`
	// Columns are those of the board of 2048 that the states have; 0 without one.
	Columns int `json:"columns,omitempty"`
	// Part is the part of the model that a bound is exceeded in; nil if it was not asked for.
	Part *WitnessPart `json:"part,omitempty"`
}

// WitnessPath is one path.
type WitnessPath struct {
	Probability JSONNumber `json:"probability"`
	Fraction    string     `json:"fraction,omitempty"`
	// Steps are the states, with the step that leads to each.
	Steps []WitnessStep `json:"steps"`
}

// WitnessStep is a state of a path. Action is that of the step that leads to it,
// empty for none; in the first state there is no step, and Probability is 1.
type WitnessStep struct {
	Action      string     `json:"action,omitempty"`
	Probability JSONNumber `json:"probability"`
	State       Valuation  `json:"variables"`
}

// WitnessPart is a part of a model that refutes a bound by itself, and without any
// of whose states, or commands, it would not.
type WitnessPart struct {
	// States is how many of the states that the paths could meet are needed.
	States int `json:"states"`
	Of     int `json:"of"`
	// Lower bounds the probability within these states from below.
	Lower JSONNumber `json:"lower"`
	// Minimal says that it was shown of every state that it is needed.
	Minimal bool `json:"minimal"`
	// Commands are those that are needed, in the order of the model.
	Commands []WitnessCommand `json:"commands,omitempty"`
	// OfCommands is how many the model has, LowerCommands what CommandsMinimal and
	// Lower are for the model of these commands alone.
	OfCommands      int        `json:"of_commands,omitempty"`
	LowerCommands   JSONNumber `json:"lower_commands,omitempty"`
	CommandsMinimal bool       `json:"commands_minimal,omitempty"`
}

// WitnessCommand is a command of a model.
type WitnessCommand struct {
	Module string `json:"module"`
	File   string `json:"file,omitempty"`
	Line   int32  `json:"line,omitempty"`
	Text   string `json:"text"`
}

// maxWitnessFraction is how long a fraction may be that is written out.
const maxWitnessFraction = 400

// WitnessNumber returns a probability as a witness has it.
func WitnessNumber(r *big.Rat) (x JSONNumber, fraction string) {
	f, _ := r.Float64()
	if text := r.RatString(); len(text) <= maxWitnessFraction {
		fraction = text
	}
	return JSONNumber(f), fraction
}
