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
	expander   compile.Expander
	constraint constraints
	timer      int // the number of the clock that measures the time bound of the property; 0 if there is none
	locations  []*location
	locationOf map[string]*location
	exact      bool // all weights are known as fractions
	memory     memoryUse
}

// location is a valuation of the discrete variables.
type location struct {
	number int
	state  []int32 // of Zones.Locations
	// invariant are the clock valuations that satisfy the invariants; no zone if there are none.
	invariant zone.Federation
	// beforeDelay are the valuations in which time can pass. From live, time can pass for ever or until a command is enabled.
	beforeDelay, live zone.Federation
	transitions       []*transition
	incoming          []incoming
	// entered are the reachable zones in which the location is entered, and reached those with the passage of time.
	entered, reached zone.Federation
}

// transition is a combination of commands with a convex guard.
type transition struct {
	from     *location
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
	weight *big.Rat
	float  float64
	sets   []setting
	to     *location
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

// newAutomaton returns an automaton without locations.
func newAutomaton(timed *digital.Zones) (*automaton, error) {
	compiled, err := compile.Compile(timed.Locations, compile.Options{})
	if err != nil {
		return nil, err
	}
	a := &automaton{Zones: timed, expander: compiled.NewExpander(), locationOf: make(map[string]*location), exact: true}
	a.constraint = constraints{labels: timed.Source.Labels, clockOf: make(map[int]int), clocks: len(timed.Clocks)}
	for i, slot := range timed.Clocks {
		a.constraint.clockOf[slot] = i + 1
	}
	if timed.Deadline != nil {
		a.constraint.clocks++
		a.timer = a.constraint.clocks
	}
	return a, nil
}

// at returns the location with the discrete variables of a state, and adds it if it is new.
func (a *automaton) at(state []int32) (*location, error) {
	state = slices.Clone(state)
	for _, slot := range a.Clocks {
		state[slot] = digital.NotSet
	}
	key := fmt.Sprint(state)
	if found := a.locationOf[key]; found != nil {
		return found, nil
	}
	l := &location{number: len(a.locations), state: state}
	a.locations, a.locationOf[key] = append(a.locations, l), l
	a.memory.add(1, locationBytes+8*int64(len(state)), 3)
	if err := a.addInvariant(l); err != nil {
		return nil, err
	}
	return l, a.addTransitions(l)
}

// in returns the constraints of a location.
func (a *automaton) in(l *location) *constraints {
	a.constraint.state = l.state
	return &a.constraint
}

// valuations returns the clock valuations that satisfy a condition in a location; all for no condition.
func (a *automaton) valuations(l *location, condition sema.Expr) (zone.Federation, error) {
	if condition == nil {
		return a.in(l).all(), nil
	}
	result, err := a.in(l).of(condition, true)
	return result, a.modelError(l, err)
}

// modelError adds the location to an error of an evaluation there.
func (a *automaton) modelError(l *location, err error) error {
	if evaluation, ok := errors.AsType[*sema.EvalError](err); ok {
		return &compile.StateError{File: a.Source.File, Pos: evaluation.Pos, State: a.text(l, zone.All(a.constraint.clocks)), Msg: evaluation.Msg, Undecided: evaluation.Undecided}
	}
	if stateErr, ok := errors.AsType[*compile.StateError](err); ok {
		located := *stateErr
		located.State = a.text(l, zone.All(a.constraint.clocks))
		return &located
	}
	return err
}

// addInvariant computes the invariant of a location.
func (a *automaton) addInvariant(l *location) error {
	invariant := a.in(l).all()
	for i := range a.Source.Modules {
		of := a.Source.Modules[i].Invariant
		if of == nil {
			continue
		}
		valuations, err := a.valuations(l, of)
		if err != nil {
			return err
		}
		invariant = invariant.Intersect(valuations)
		if len(invariant) > 1 {
			return &compile.UnsupportedError{File: a.Source.File, Pos: of.Pos(), Msg: fmt.Sprintf("found an invariant that is not convex in %s, want convex ones for zones of clocks", a.text(l, zone.All(a.constraint.clocks)))}
		}
	}
	l.invariant = invariant
	if len(invariant) > 0 {
		if before, ok := invariant[0].BeforeDelay(); ok {
			l.beforeDelay = zone.Federation{before}
		}
	}
	return nil
}

// addTransitions lists the transitions of a location. Their branches are still missing.
func (a *automaton) addTransitions(l *location) error {
	enabled, err := a.expander.Enabled(l.state)
	if err != nil {
		return a.modelError(l, err)
	}
	for i := range enabled.List {
		combined := &choice{action: enabled.List[i].Action, commands: slices.Clone(enabled.List[i].Commands)}
		guard := a.in(l).all()
		for _, ref := range combined.commands {
			valuations, err := a.valuations(l, a.Source.Modules[ref.Module].Commands[ref.Command].Guard)
			if err != nil {
				return err
			}
			guard = guard.Intersect(valuations)
		}
		for _, convex := range guard {
			l.transitions = append(l.transitions, &transition{from: l, guard: convex, choice: combined})
			a.memory.add(1, transitionBytes, 2)
			l.live = l.live.Union(l.beforeDelayAvoiding(convex, nil))
		}
	}
	l.live = l.live.Union(l.waitingForever(nil))
	return nil
}

// addBranches computes the branches of a transition and adds the locations that they lead to.
func (a *automaton) addBranches(t *transition) error {
	if t.choice.branches == nil {
		if err := a.combineUpdates(t.from, t.choice); err != nil {
			return a.modelError(t.from, err)
		}
	}
	t.branches = t.choice.branches
	for i, branch := range t.branches {
		branch.to.incoming = append(branch.to.incoming, incoming{t, i})
	}
	return nil
}

// combineUpdates computes the branches of a combination of commands: each combination of one update per command gives one.
func (a *automaton) combineUpdates(l *location, combined *choice) error {
	if _, err := a.expander.Enabled(l.state); err != nil { // Apply is about the last state
		return err
	}
	var weights [][]weight
	for _, ref := range combined.commands {
		ofCommand, err := a.weights(l, &a.Source.Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return err
		}
		weights = append(weights, ofCommand)
	}
	target := make([]int32, len(l.state))
	var found []branch
	var targets [][]int32
	updates := make([]int, len(weights))
	for more := true; more; more = next(updates, weights) {
		product := weight{big.NewRat(1, 1), 1}
		for i, update := range updates {
			product = product.times(weights[i][update])
		}
		if product.float == 0 {
			continue
		}
		if err := a.expander.Apply(target, combined.commands, updates); err != nil {
			return err
		}
		found = append(found, branch{weight: product.exact, float: product.float, sets: a.settings(target)})
		targets = append(targets, slices.Clone(target))
	}
	for i := range found { // at changes the state that Apply is about
		to, err := a.at(targets[i])
		if err != nil {
			return err
		}
		found[i].to = to
	}
	combined.branches = found
	a.memory.add(len(found), branchBytes, 0)
	return nil
}

// settings returns the clocks that an update has set.
func (a *automaton) settings(target []int32) []setting {
	var sets []setting
	for i, slot := range a.Clocks {
		if target[slot] != digital.NotSet {
			sets = append(sets, setting{i + 1, int64(target[slot])})
		}
	}
	return sets
}

// next advances updates, one per command, to the next combination. It returns false after the last one.
func next(updates []int, weights [][]weight) bool {
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
	exact *big.Rat
	float float64
}

// times returns the product of two weights.
func (w weight) times(other weight) weight {
	product := weight{float: w.float * other.float}
	if w.exact != nil && other.exact != nil {
		product.exact = new(big.Rat).Mul(w.exact, other.exact)
	}
	return product
}

// weights returns the probabilities of the updates of a command, as fractions only if their sum is exactly one.
func (a *automaton) weights(l *location, command *sema.Command) ([]weight, error) {
	var weights []weight
	sum, exactSum := 0.0, new(big.Rat)
	for i := range command.Updates {
		value, isExact, err := sema.EvalExact(command.Updates[i].Prob, l.state)
		switch {
		case err != nil:
			return nil, err
		case !(value.Float >= 0 && value.Float <= 1+compile.SumTolerance):
			return nil, a.wrongCommand(command.Updates[i].Prob.Pos(), "found probability %v, want a number between 0 and 1", value.Float)
		case isExact && exactSum != nil:
			exactSum.Add(exactSum, value.Rat)
		default:
			exactSum = nil
		}
		sum += value.Float
		weights = append(weights, weight{value.Rat, value.Float})
	}
	if sum < 1-compile.SumTolerance || sum > 1+compile.SumTolerance {
		return nil, a.wrongCommand(command.Pos, "probabilities sum to %v, not to 1", sum)
	}
	if exactSum == nil || exactSum.Cmp(big.NewRat(1, 1)) != 0 {
		a.exact = false
		for i := range weights {
			weights[i].exact = nil
		}
	}
	return weights, nil
}

// wrongCommand returns the error that the probabilities of a command are wrong in a location, which modelError adds.
func (a *automaton) wrongCommand(pos syntax.Pos, format string, args ...any) error {
	return &compile.StateError{File: a.Source.File, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// initial returns the initial location.
func (a *automaton) initial() (*location, error) {
	state := make([]int32, len(a.Locations.Vars))
	for slot := range a.Locations.Vars {
		state[slot] = a.Locations.Vars[slot].Init
	}
	return a.at(state)
}

// text describes the states of a location with a zone of clock valuations, such as (l=1,x=2). It leaves out how the clocks are related.
func (a *automaton) text(l *location, z zone.Zone) string {
	var parts []string
	for slot, variable := range a.Source.Vars {
		switch clock := a.constraint.clockOf[slot]; {
		case clock > 0:
			if text := z.ClockText(clock, variable.Name); text != "" {
				parts = append(parts, text)
			}
		case variable.Type == sema.Bool:
			parts = append(parts, fmt.Sprintf("%s=%t", variable.Name, l.state[slot] != 0))
		default:
			parts = append(parts, fmt.Sprintf("%s=%d", variable.Name, l.state[slot]))
		}
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// after returns the valuations of a zone after a branch.
func (b *branch) after(z zone.Zone) zone.Zone {
	for _, set := range b.sets {
		z = z.Set(set.clock, set.number)
	}
	return z
}

// before returns the valuations that are in a zone after a branch. ok is false if there are none.
func (b *branch) before(z zone.Zone) (result zone.Zone, ok bool) {
	result, ok = z, true
	for i := 0; ok && i < len(b.sets); i++ {
		result, ok = result.BeforeSet(b.sets[i].clock, b.sets[i].number)
	}
	return result, ok
}
