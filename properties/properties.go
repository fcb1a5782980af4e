package properties

import "slices"

// Extremum says which schedulers a property ranges over.
type Extremum uint8

// The extrema. None is for a property that has the same value under every scheduler.
const (
	None Extremum = iota
	Minimum
	Maximum
)

// String returns "none", "min" or "max".
func (e Extremum) String() string { return [...]string{"none", "min", "max"}[e] }

// Property is one entry of the catalogue.
type Property struct {
	Name string
	// Text is the property in the language of PRISM, which Storm reads as well.
	Text string
	Unit string // "probability", 0 to 1, or "states"
	// Meaning is one sentence about a model without a policy, whose moves the scheduler chooses.
	Meaning  string
	Extremum Extremum
	// Advice warns of cases in which the extremum is not the value that the user probably wants.
	Advice string
	// Expected has the known values, at most one for each Instance.
	Expected []Expected
}

// Instance is a model of package modelgen as far as values depend on it. New tiles are a 2 with probability 0.9, and the model is
// the combined or the final one, which agree.
type Instance struct {
	Rows, Cols, Max int
	Spawn           string // "cell", "module" or "uniform"
	Policy          string // as modelgen.Policy.String writes it
}

// Expected is the known value of a property.
type Expected struct {
	Instance
	// Value is exact: an integer or a fraction of two.
	Value  string
	Source string
}

const (
	cellAdvice = "With spawn cell the scheduler chooses the cells of new tiles too, so the value is not that of a player. " +
		"Simulation chooses every cell with the same probability."
	simAdvice = "Without a policy, simulation estimates the value for random moves instead."
)

// All returns the catalogue, in a fixed order: the most frequent properties come first.
func All() []Property {
	return []Property{
		{
			Name: "loss", Text: `Pmin=? [ F "fail" ]`, Unit: "probability", Extremum: Minimum,
			Meaning:  "The probability that the best player loses before there is a tile of MAX; with a policy, that the policy does.",
			Advice:   cellAdvice + " " + simAdvice,
			Expected: lossValues(),
		},
		{
			Name: "success", Text: `Pmax=? [ F "success" ]`, Unit: "probability", Extremum: Maximum,
			Meaning:  "The probability that the best player makes a tile of MAX; with a policy, that the policy does.",
			Advice:   cellAdvice + " " + simAdvice,
			Expected: successValues(),
		},
		{
			Name: "worst-loss", Text: `Pmax=? [ F "fail" ]`, Unit: "probability", Extremum: Maximum,
			Meaning: "The probability that the worst player loses before there is a tile of MAX.",
			Advice:  cellAdvice + " " + simAdvice,
		},
		{
			Name: "worst-success", Text: `Pmin=? [ F "success" ]`, Unit: "probability", Extremum: Minimum,
			Meaning: "The probability that the worst player makes a tile of MAX.",
			Advice:  cellAdvice + " " + simAdvice,
		},
		{
			Name: "ends", Text: `Pmin=? [ F ("fail"|"success") ]`, Unit: "probability", Extremum: Minimum,
			Meaning:  "The probability that the game ends, however it is played. It is 1: the model has no loose ends.",
			Expected: always("1", "thesis section 2.2.2"),
		},
		{
			Name: "stuck", Text: `Pmax=? [ F "deadlock" ]`, Unit: "probability", Extremum: Maximum,
			Meaning:  "The probability that the model deadlocks. It is 0: the ends of the game are self-loops.",
			Expected: always("0", "thesis section 3.3, Fail and Win states"),
		},
		{
			Name: "lost-states", Text: `filter(count, "fail", true)`, Unit: "states", Extremum: None,
			Meaning: "The number of reachable states in which the game is lost.",
			Advice:  "A policy's own variables make several states of one board.",
		},
	}
}

// Find returns the property with a name, and false if there is none.
func Find(name string) (Property, bool) {
	all := All()
	index := slices.IndexFunc(all, func(property Property) bool { return property.Name == name })
	if index < 0 {
		return Property{}, false
	}
	return all[index], true
}

// Expect returns the known value of the property for a model, and false if there is none.
func (p Property) Expect(instance Instance) (Expected, bool) {
	index := slices.IndexFunc(p.Expected, func(expected Expected) bool { return expected.Instance == instance })
	if index < 0 {
		return Expected{}, false
	}
	return p.Expected[index], true
}
