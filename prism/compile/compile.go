package compile

import (
	"fmt"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Options changes how a model runs. The zero value is PRISM's default.
type Options struct {
	// NoFixDeadlocks ends a path at a deadlock with status Deadlocked. By
	// default a path stays in a deadlock forever.
	NoFixDeadlocks bool
	// MaxInitial limits how many initial states init…endinit may have; 0 means a million.
	MaxInitial int
	// memoCost replaces the constant of that name if it is not 0.
	memoCost int
}

// UnsupportedError says that a model, or a part of it, cannot be executed.
type UnsupportedError struct {
	File string
	Pos  syntax.Pos
	Msg  string
}

// Error returns "file:line:col: message".
func (e *UnsupportedError) Error() string {
	err := syntax.Error{File: e.File, Pos: e.Pos, Msg: e.Msg}
	return err.Error()
}

// Model is an executable model. It is immutable and safe for concurrent use.
type Model struct {
	program       *sema.Program
	options       Options
	floatAnalysis sema.FloatAnalysis // decides where float64 evaluation is exact enough
	// commands holds the commands of all modules, in module and command order.
	commands     []*command
	firstCommand []int // index in commands of the first command of each module
	// synchronisations are in the order of PRISM's explicit engine.
	synchronisations []synchronisation
	numParticipants  int // number of pairs of a module and an action that have commands
	guards           *guardIndex
}

// command is one command with its expressions compiled to closures.
type command struct {
	module, index     int
	commandIndex      int // index into Model.commands
	participantNumber int // index of its pair of module and action
	source            *sema.Command
	guard             boolClosure
	updates           []update
	assignedSlots     []int // of the variables that the updates assign, in increasing order
}

// update is one update of a command, compiled to closures.
type update struct {
	weight      floatClosure
	assignments []assign
	source      *sema.Update
}

// assign is one assignment of an update.
type assign struct {
	slot   int
	value  intClosure
	source *sema.Assign
}

// Compile prepares a program for execution. It returns an *UnsupportedError for a model with clocks. A POMDP is executed as an MDP: the observables have no
// effect. Interval models can list choices, but cannot draw sample paths.
func Compile(program *sema.Program, options Options) (*Model, error) {
	if options.MaxInitial == 0 {
		options.MaxInitial = 1_000_000
	}
	if err := checkSupported(program); err != nil {
		return nil, err
	}
	model := &Model{program: program, options: options, floatAnalysis: sema.NewFloatAnalysis(program)}
	for i := range program.Modules {
		if err := model.addCommands(i); err != nil {
			return nil, err
		}
	}
	model.numberParticipants()
	model.indexGuards()
	var err error
	model.synchronisations, err = model.composeModules()
	if err != nil {
		return nil, err
	}
	return model, nil
}

// indexGuards builds an index of the commands by the equality tests in their guards.
func (m *Model) indexGuards() {
	builder := m.newGraphBuilder()
	equalities := make(map[*command][]equalityTest)
	for _, command := range m.commands {
		equalities[command] = m.leadingEqualities(command.source.Guard, builder)
	}
	m.guards = newGuardIndex(m.commands, equalities, 0)
}

// numberParticipants gives each pair of a module and an action a number, from 0 on. All commands of the pair have this number.
func (m *Model) numberParticipants() {
	type moduleAction struct{ module, action int }
	numbers := make(map[moduleAction]int)
	for _, command := range m.commands {
		key := moduleAction{command.module, command.source.Action}
		if _, ok := numbers[key]; !ok {
			numbers[key] = len(numbers)
		}
		command.participantNumber = numbers[key]
	}
	m.numParticipants = len(numbers)
}

// Samples returns an *UnsupportedError for an interval model, because it has no sample paths.
func (m *Model) Samples() error {
	if m.program.Type == syntax.IDTMC || m.program.Type == syntax.IMDP {
		return &UnsupportedError{m.program.File, syntax.Pos{}, fmt.Sprintf("found %s, wanted a model whose probabilities are numbers: intervals have no sample paths", noun.WithArticle(m.program.Type.String()))}
	}
	return nil
}

// Program returns the program the model was compiled from.
func (m *Model) Program() *sema.Program { return m.program }

// command returns the command of a reference.
func (m *Model) command(reference CommandRef) *command {
	return m.commands[m.firstCommand[reference.Module]+reference.Command]
}

// checkSupported returns an *UnsupportedError for a program that cannot be executed.
func checkSupported(program *sema.Program) error {
	switch program.Type {
	case syntax.DTMC, syntax.MDP, syntax.CTMC, syntax.POMDP, syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.SMG:
	default:
		return &UnsupportedError{program.File, syntax.Pos{}, fmt.Sprintf("%ss cannot be executed, only DTMCs, MDPs, CTMCs, POMDPs, LTSs, IDTMCs, IMDPs and SMGs", program.Type)}
	}
	for _, variable := range program.Vars {
		if variable.Type == sema.Clock {
			return &UnsupportedError{program.File, variable.Pos, fmt.Sprintf("clock %q: timed models cannot be executed", variable.Name)}
		}
	}
	return nil
}

// addCommands compiles the commands of a module, given by its index, and appends them to the commands of the model.
func (m *Model) addCommands(module int) error {
	commands := m.program.Modules[module].Commands
	m.firstCommand = append(m.firstCommand, len(m.commands))
	for i := range commands {
		command, err := m.newCommand(&commands[i])
		if err != nil {
			return err
		}
		command.module, command.index, command.commandIndex = module, i, len(m.commands)
		m.commands = append(m.commands, command)
	}
	return nil
}

// newCommand compiles the guard and the updates of a command.
func (m *Model) newCommand(source *sema.Command) (*command, error) {
	guard, err := m.boolClosure(source.Guard)
	if err != nil {
		return nil, err
	}
	command := &command{source: source, guard: guard}
	for i := range source.Updates {
		compiledUpdate, err := m.newUpdate(&source.Updates[i])
		if err != nil {
			return nil, err
		}
		command.updates = append(command.updates, compiledUpdate)
		for _, assignment := range compiledUpdate.assignments {
			command.assignedSlots = append(command.assignedSlots, assignment.slot)
		}
	}
	slices.Sort(command.assignedSlots)
	command.assignedSlots = slices.Compact(command.assignedSlots)
	return command, nil
}

// newUpdate compiles the probability and the assignments of an update. The default probability is 1.
func (m *Model) newUpdate(source *sema.Update) (update, error) {
	compiledUpdate := update{source: source, weight: func(*env) float64 { return 1 }}
	if source.Prob != nil {
		weight, err := m.floatClosure(source.Prob)
		if err != nil {
			return update{}, err
		}
		compiledUpdate.weight = weight
	}
	for i := range source.Assigns {
		assignment := &source.Assigns[i]
		value, err := m.valueClosure(assignment.Value)
		if err != nil {
			return update{}, err
		}
		compiledUpdate.assignments = append(compiledUpdate.assignments, assign{slot: assignment.Slot, value: value, source: assignment})
	}
	return compiledUpdate, nil
}

// isContinuous reports whether the model is a CTMC.
func (m *Model) isContinuous() bool { return m.program.Type == syntax.CTMC }

// isNondeterministic reports whether a scheduler resolves the choices of a state.
func (m *Model) isNondeterministic() bool {
	return m.program.Type != syntax.CTMC && m.program.Type != syntax.DTMC && m.program.Type != syntax.IDTMC
}
