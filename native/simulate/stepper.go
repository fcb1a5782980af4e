package simulate

import (
	"context"
	"math/big"
	"math/rand/v2"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
)

// Stepper is a path that its user extends step by step, and shortens again.
type Stepper struct {
	drawer *pathDrawer
	rng    *rand.Rand
	visits []Visit // from the initial state to the current one
}

// Option is a transition from the current state of a Stepper.
type Option struct {
	Action string // as ActionText writes it
	// Modules are the modules whose commands make the transition; empty for files of states.
	Modules     []string
	Probability float64 // as in Step: in a CTMC it is a rate
	Target      []int32

	step       Step
	transition int
}

// NewStepper returns a path with only the initial state. With the same seed, Random takes the same steps as Walk.
// No other user may call the source while the Stepper is in use.
func NewStepper(ctx context.Context, source Source, seed uint64) (*Stepper, error) {
	drawer, err := newPathDrawer(ctx, source, PathOptions{Seed: seed})
	if err != nil {
		return nil, Failure(err, source.Program().File, syntax.Pos{})
	}
	return &Stepper{drawer: drawer, rng: drawer.newRandom(), visits: []Visit{{State: slices.Clone(drawer.initialState)}}}, nil
}

// Current returns the last state of the path and the step that led to it.
func (stepper *Stepper) Current() *Visit { return &stepper.visits[len(stepper.visits)-1] }

// maxOptions is the largest number of transitions of an unlisted choice that Options returns.
const maxOptions = 100

// Options returns the transitions that are possible in the current state, but only the first 100 of a choice with more than 256 combinations of
// updates. total is the number of all transitions; in a deadlock it is 0. The error is a *result.Failure.
func (stepper *Stepper) Options() (options []Option, total *big.Int, err error) {
	choices, err := stepper.currentChoices()
	if err != nil {
		return nil, nil, err
	}
	total = new(big.Int)
	for i := range choices.List {
		numTransitions, err := choices.List[i].ListFirst(maxOptions)
		if err != nil {
			return nil, nil, Failure(err, stepper.drawer.source.Program().File, syntax.Pos{})
		}
		total.Add(total, numTransitions)
		modules := stepper.moduleNames(&choices.List[i])
		for j := range choices.List[i].Transitions {
			option := stepper.newOption(choices, i, j)
			option.Modules = modules
			options = append(options, option)
		}
	}
	return options, total, nil
}

// moduleNames returns the names of the modules whose commands make a choice.
func (stepper *Stepper) moduleNames(choice *compile.Choice) []string {
	var names []string
	for _, command := range choice.Commands {
		names = append(names, stepper.drawer.source.Program().Modules[command.Module].Name)
	}
	return names
}

// newOption describes a transition of the current state for the user. choice is the index of a choice, and transition the index of the transition within it.
// The caller sets the modules of the option.
func (stepper *Stepper) newOption(choices *compile.Choices, choice, transition int) Option {
	selected := &choices.List[choice].Transitions[transition]
	step := Step{Choice: choice, Choices: len(choices.List), Probability: stepper.drawer.normalisedWeight(choices, selected.Weight)}
	step.Action, step.Module = stepper.drawer.source.Action(choice, transition)
	return Option{
		Action: ActionText(stepper.drawer.source.Program(), &step), Probability: step.Probability,
		Target: slices.Clone(selected.Target), step: step, transition: transition,
	}
}

// Take appends the step of an option to the path. The option must be one of the current state. In a model with continuous time, Take draws how long
// the path stays in the current state.
func (stepper *Stepper) Take(option *Option) error {
	step := option.step
	if stepper.drawer.source.Program().Timed() {
		choices, err := stepper.currentChoices()
		if err != nil {
			return err
		}
		mean, err := stepper.drawer.meanSojourn(stepper.Current().State, choices)
		if err != nil {
			return err
		}
		step.Time = stepper.rng.ExpFloat64() * mean
	}
	stepper.appendStep(&step, option.Target)
	return nil
}

// Random draws a step and appends it to the path. ok is false in a deadlock.
func (stepper *Stepper) Random() (ok bool, err error) {
	choices, err := stepper.currentChoices()
	if err != nil || choices.Deadlock() {
		return false, err
	}
	step, transition, err := stepper.drawer.randomStep(stepper.Current().State, choices, stepper.rng)
	if err != nil {
		return false, err
	}
	stepper.appendStep(step, choices.List[step.Choice].Transitions[transition].Target)
	return true, nil
}

// JumpTo makes the state with the given number the last state of the path. It removes later states, or appends random steps. In a deadlock it
// stops before that number.
func (stepper *Stepper) JumpTo(number int) error {
	if number < len(stepper.visits) {
		stepper.visits = stepper.visits[:number+1]
		return nil
	}
	for len(stepper.visits) <= number {
		if err := stepper.drawer.ctx.Err(); err != nil {
			return err
		}
		if more, err := stepper.Random(); err != nil || !more {
			return err
		}
	}
	return nil
}

// Record returns the path up to the current state as a record, so that another path can repeat its steps.
func (stepper *Stepper) Record() *Record {
	record := &Record{File: "the path"}
	for i := range stepper.visits {
		visit := &stepper.visits[i]
		row := recordRow{line: int32(i + 1), column: 1, time: visit.Time, state: visit.State}
		if visit.Incoming != nil {
			row.action, row.probability = ActionText(stepper.drawer.source.Program(), visit.Incoming), visit.Incoming.Probability
		}
		record.rows = append(record.rows, row)
	}
	return record
}

// currentChoices returns the choices of the current state.
func (stepper *Stepper) currentChoices() (*compile.Choices, error) {
	choices, err := stepper.drawer.source.Expand(stepper.Current().State)
	if err != nil {
		return nil, Failure(err, stepper.drawer.source.Program().File, syntax.Pos{})
	}
	return choices, nil
}

// appendStep adds a step and the state that it leads to.
func (stepper *Stepper) appendStep(step *Step, target []int32) {
	current := stepper.Current()
	stepper.visits = append(stepper.visits, Visit{Number: current.Number + 1, Time: current.Time + step.Time, State: slices.Clone(target), Incoming: step})
}
