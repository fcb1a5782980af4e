package zones

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"tilecheck/internal/zone"
	"tilecheck/prism/compile"
	"tilecheck/prism/digital"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// automaton is a timed automaton whose modules are composed and whose discrete variables are explicit, as far as it is reachable.
type automaton struct {
	*digital.Zones
	expander         compile.Expander
	clockConstraints constraints
	timerClock       int // the number of the clock that measures the time bound of the property; 0 if there is none
	locations        []*location
	locationByKey    map[string]*location
	hasFractions     bool // all weights are known as fractions
	memory           memoryUse
}

// location is a valuation of the discrete variables.
type location struct {
	number int
	state  []int32 // of Zones.Locations
	// invariant are the clock valuations that satisfy the invariants; no zone if there are none.
	invariant zone.Federation
	// beforeDelay are the valuations in which time can pass. From live, time can pass for ever or until a command is enabled.
	beforeDelay, liveValuations zone.Federation
	transitions                 []*transition
	incoming                    []incoming
	// enteredZones are the reachable zones in which the location is entered, and reached those with the passage of time.
	enteredZones, reachedZones zone.Federation
}

// transition is a combination of commands with a convex guard.
type transition struct {
	source   *location
	guard    zone.Zone
	choice   *choice
	branches []branch // nil until the transition is found to be possible
}

// choice is a combination of commands, which may have several transitions.
type choice struct {
	action   int
	commands []compile.CommandRef
	branches []branch
}

// branch is a probabilistic alternative of a transition: it sets clocks and leads to a location. The weight is known as a fraction or as a float64.
type branch struct {
	exactWeight *big.Rat
	floatWeight float64
	settings    []setting
	target      *location
}

// setting sets a clock to a number.
type setting struct {
	clock  int
	number int64
}

// incoming is a branch that leads to a location.
type incoming struct {
	transition *transition
	branch     int
}

// TimelockError says that from a reachable state time cannot pass for ever, and no command is enabled before it stops.
type TimelockError struct{ State string }

// Error names the state.
func (e *TimelockError) Error() string {
	return fmt.Sprintf("found the state %s, in which time cannot pass and no command is enabled", e.State)
}

// newAutomaton compiles the model of a timed automaton. The automaton has no locations yet; they are added when they are found.
func newAutomaton(timed *digital.Zones) (*automaton, error) {
	compiled, err := compile.Compile(timed.Locations, compile.Options{})
	if err != nil {
		return nil, err
	}
	created := &automaton{Zones: timed, expander: compiled.NewExpander(), locationByKey: make(map[string]*location), hasFractions: true}
	created.clockConstraints = constraints{labels: timed.Source.Labels, clockOfSlot: make(map[int]int), numClocks: len(timed.Clocks)}
	for i, slot := range timed.Clocks {
		created.clockConstraints.clockOfSlot[slot] = i + 1
	}
	if timed.Deadline != nil {
		created.clockConstraints.numClocks++
		created.timerClock = created.clockConstraints.numClocks
	}
	return created, nil
}

// locationAt returns the location with the discrete variables of a state, and adds the location if it is new. The clocks of the state are
// ignored.
func (automaton *automaton) locationAt(state []int32) (*location, error) {
	state = slices.Clone(state)
	for _, slot := range automaton.Clocks {
		state[slot] = digital.NotSet
	}
	key := fmt.Sprint(state)
	if found := automaton.locationByKey[key]; found != nil {
		return found, nil
	}
	location := &location{number: len(automaton.locations), state: state}
	automaton.locations, automaton.locationByKey[key] = append(automaton.locations, location), location
	automaton.memory.addUse(1, locationBytes+8*int64(len(state)), 3)
	if err := automaton.addInvariant(location); err != nil {
		return nil, err
	}
	return location, automaton.addTransitions(location)
}

// constraintsIn returns the constraints of a location. They are valid until the next call.
func (automaton *automaton) constraintsIn(location *location) *constraints {
	automaton.clockConstraints.state = location.state
	return &automaton.clockConstraints
}

// satisfyingValuations returns the clock valuations that satisfy a condition in a location. A nil condition holds in all
// valuations.
func (automaton *automaton) satisfyingValuations(location *location, condition sema.Expr) (zone.Federation, error) {
	if condition == nil {
		return automaton.constraintsIn(location).allValuations(), nil
	}
	result, err := automaton.constraintsIn(location).valuations(condition, true)
	return result, automaton.errorInLocation(location, err)
}

// errorInLocation adds the description of a location to the error of an evaluation. It returns other errors unchanged.
func (automaton *automaton) errorInLocation(location *location, err error) error {
	if evaluation, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{
			File: automaton.Source.File, Pos: evaluation.Pos, State: automaton.locationText(location),
			Msg: evaluation.Msg, Undecided: evaluation.Undecided,
		}
	}
	if stateErr, ok := errors.AsType[*compile.StateError](err); ok {
		located := *stateErr
		located.State = automaton.locationText(location)
		return &located
	}
	return err
}

// locationText describes a location without its clocks.
func (automaton *automaton) locationText(location *location) string {
	return automaton.stateText(location, zone.All(automaton.clockConstraints.numClocks))
}

// addInvariant computes the clock valuations that satisfy all invariants of a location. They must be convex, otherwise the error is a
// *compile.UnsupportedError.
func (automaton *automaton) addInvariant(location *location) error {
	invariant := automaton.constraintsIn(location).allValuations()
	for i := range automaton.Source.Modules {
		condition := automaton.Source.Modules[i].Invariant
		if condition == nil {
			continue
		}
		valuations, err := automaton.satisfyingValuations(location, condition)
		if err != nil {
			return err
		}
		invariant = invariant.Intersect(valuations)
		if len(invariant) > 1 {
			return &compile.UnsupportedError{
				File: automaton.Source.File, Pos: condition.Pos(),
				Msg: fmt.Sprintf("found an invariant that is not convex in %s, want convex ones for zones of clocks", automaton.locationText(location)),
			}
		}
	}
	location.invariant = invariant
	if len(invariant) > 0 {
		if before, ok := invariant[0].BeforeDelay(); ok {
			location.beforeDelay = zone.Federation{before}
		}
	}
	return nil
}

// addTransitions adds the transitions of a location. Their branches are computed when a transition is first possible. It also computes liveValuations, from
// which a command can become enabled or time can pass forever; all other valuations are timelocks.
func (automaton *automaton) addTransitions(location *location) error {
	enabled, err := automaton.expander.Enabled(location.state)
	if err != nil {
		return automaton.errorInLocation(location, err)
	}
	for i := range enabled.List {
		combined := &choice{action: enabled.List[i].Action, commands: slices.Clone(enabled.List[i].Commands)}
		guard, err := automaton.guardValuations(location, combined.commands)
		if err != nil {
			return err
		}
		for _, convex := range guard {
			location.transitions = append(location.transitions, &transition{source: location, guard: convex, choice: combined})
			automaton.memory.addUse(1, transitionBytes, 2)
			location.liveValuations = location.liveValuations.Union(location.beforeDelayAvoiding(convex, nil))
		}
	}
	location.liveValuations = location.liveValuations.Union(location.waitingForever(nil))
	return nil
}

// guardValuations returns the clock valuations that a location allows and that satisfy the guards of all commands in the list.
func (automaton *automaton) guardValuations(location *location, commands []compile.CommandRef) (zone.Federation, error) {
	satisfying := automaton.constraintsIn(location).allValuations()
	for _, commandRef := range commands {
		valuations, err := automaton.satisfyingValuations(location, automaton.Source.Modules[commandRef.Module].Commands[commandRef.Command].Guard)
		if err != nil {
			return nil, err
		}
		satisfying = satisfying.Intersect(valuations)
	}
	return satisfying, nil
}

// setBranches sets the branches of a transition, and adds the locations that they lead to.
func (automaton *automaton) setBranches(transition *transition) error {
	if transition.choice.branches == nil {
		if err := automaton.combineUpdates(transition.source, transition.choice); err != nil {
			return automaton.errorInLocation(transition.source, err)
		}
	}
	transition.branches = transition.choice.branches
	for i, branch := range transition.branches {
		branch.target.incoming = append(branch.target.incoming, incoming{transition, i})
	}
	return nil
}

// combineUpdates computes the branches of a combination of commands. Each combination of one update per command is a branch; its weight is
// the product of the weights of the updates.
func (automaton *automaton) combineUpdates(location *location, combined *choice) error {
	if _, err := automaton.expander.Enabled(location.state); err != nil { // Apply uses the state of the last call of Enabled
		return err
	}
	var weights [][]weight
	for _, commandRef := range combined.commands {
		commandWeights, err := automaton.commandWeights(location, &automaton.Source.Modules[commandRef.Module].Commands[commandRef.Command])
		if err != nil {
			return err
		}
		weights = append(weights, commandWeights)
	}
	target := make([]int32, len(location.state))
	var branches []branch
	var targets [][]int32
	updates := make([]int, len(weights)) // the selected update of each command
	for hasNext := true; hasNext; hasNext = nextCombination(updates, weights) {
		product := multiplySelected(weights, updates)
		if product.float == 0 {
			continue
		}
		if err := automaton.expander.Apply(target, combined.commands, updates); err != nil {
			return err
		}
		branches = append(branches, branch{exactWeight: product.fraction, floatWeight: product.float, settings: automaton.clockSettings(target)})
		targets = append(targets, slices.Clone(target))
	}
	combined.branches = branches
	return automaton.setTargets(branches, targets)
}

// setTargets sets the location to which each branch leads; targets has the values of the discrete variables after each branch. Call it after the updates of
// all branches are applied, because it overwrites the values in automaton.expander.
func (automaton *automaton) setTargets(branches []branch, targets [][]int32) error {
	for i := range branches {
		to, err := automaton.locationAt(targets[i])
		if err != nil {
			return err
		}
		branches[i].target = to
	}
	automaton.memory.addUse(len(branches), branchBytes, 0)
	return nil
}

// multiplySelected returns the product of the weights of the selected updates. updates[i] is the selected update of command i.
func multiplySelected(weights [][]weight, updates []int) weight {
	product := weight{big.NewRat(1, 1), 1}
	for i, update := range updates {
		product = product.multiply(weights[i][update])
	}
	return product
}

// clockSettings returns the clocks that an update sets, with their new values. target is the state after the update.
func (automaton *automaton) clockSettings(target []int32) []setting {
	var sets []setting
	for i, slot := range automaton.Clocks {
		if target[slot] != digital.NotSet {
			sets = append(sets, setting{i + 1, int64(target[slot])})
		}
	}
	return sets
}

// nextCombination advances to the next combination of one update per command. updates[i] is the update of command i, which has
// len(weights[i]) updates. It returns false after the last combination.
func nextCombination(updates []int, weights [][]weight) bool {
	for i := range updates {
		updates[i]++
		if updates[i] < len(weights[i]) {
			return true
		}
		updates[i] = 0
	}
	return false
}

// weight is a probability; exact is nil if it is not known as a fraction.
type weight struct {
	fraction *big.Rat
	float    float64
}

// multiply returns the product of two weights.
func (left weight) multiply(other weight) weight {
	product := weight{float: left.float * other.float}
	if left.fraction != nil && other.fraction != nil {
		product.fraction = new(big.Rat).Mul(left.fraction, other.fraction)
	}
	return product
}

// commandWeights returns the probabilities of a command's updates in a location. If they are not fractions whose sum is exactly 1, they have float64 values
// only. It returns an error if a probability is not between 0 and 1, or if their sum is not close to 1.
func (automaton *automaton) commandWeights(location *location, command *sema.Command) ([]weight, error) {
	var weights []weight
	sum, exactSum := 0.0, new(big.Rat)
	for i := range command.Updates {
		value, isExact, err := sema.EvalExact(command.Updates[i].Prob, location.state)
		switch {
		case err != nil:
			return nil, err
		case !(value.Float >= 0 && value.Float <= 1+compile.SumTolerance):
			return nil, automaton.commandError(command.Updates[i].Prob.Pos(), "found probability %v, want a number between 0 and 1", value.Float)
		case isExact && exactSum != nil:
			exactSum.Add(exactSum, value.Rat)
		default:
			exactSum = nil
		}
		sum += value.Float
		weights = append(weights, weight{value.Rat, value.Float})
	}
	if !compile.SumsToOne(sum) {
		return nil, automaton.commandError(command.Pos, "probabilities sum to %v, not to 1", sum)
	}
	if exactSum == nil || exactSum.Cmp(big.NewRat(1, 1)) != 0 {
		automaton.hasFractions = false
		for i := range weights {
			weights[i].fraction = nil
		}
	}
	return weights, nil
}

// commandError returns the error that the probabilities of a command are wrong in a location, which errorInLocation adds.
func (automaton *automaton) commandError(pos syntax.Pos, format string, args ...any) error {
	return &compile.StateError{File: automaton.Source.File, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// initialLocation returns the initial location.
func (automaton *automaton) initialLocation() (*location, error) {
	state := make([]int32, len(automaton.Locations.Vars))
	for slot := range automaton.Locations.Vars {
		state[slot] = automaton.Locations.Vars[slot].Init
	}
	return automaton.locationAt(state)
}

// stateText returns a text for the states of a location whose clocks are in a zone, such as (l=1,x=2). The text has the bounds of each clock, but not the
// bounds of differences of clocks.
func (automaton *automaton) stateText(location *location, clockZone zone.Zone) string {
	var parts []string
	for slot, variable := range automaton.Source.Vars {
		switch clock := automaton.clockConstraints.clockOfSlot[slot]; {
		case clock > 0:
			if text := clockZone.ClockText(clock, variable.Name); text != "" {
				parts = append(parts, text)
			}
		case variable.Type == sema.Bool:
			parts = append(parts, fmt.Sprintf("%s=%t", variable.Name, location.state[slot] != 0))
		default:
			parts = append(parts, fmt.Sprintf("%s=%d", variable.Name, location.state[slot]))
		}
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// zoneAfter returns the valuations of a zone after the branch has set its clocks.
func (branch *branch) zoneAfter(clockZone zone.Zone) zone.Zone {
	for _, set := range branch.settings {
		clockZone = clockZone.Set(set.clock, set.number)
	}
	return clockZone
}

// zoneBefore returns the valuations that the branch changes to valuations in a zone. ok is false if there are none.
func (branch *branch) zoneBefore(clockZone zone.Zone) (result zone.Zone, ok bool) {
	result, ok = clockZone, true
	for i := 0; ok && i < len(branch.settings); i++ {
		result, ok = result.BeforeSet(branch.settings[i].clock, branch.settings[i].number)
	}
	return result, ok
}
