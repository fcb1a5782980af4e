package compile

import (
	"fmt"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Options changes how a model runs. The zero value is PRISM's default.
type Options struct {
	// NoFixDeadlocks ends a path at a deadlock with status Deadlocked. By
	// default a deadlock is absorbing: it keeps its state for ever.
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
	prog    *sema.Program
	opts    Options
	doubles sema.FloatAnalysis // decides where float64 evaluation is exact enough
	// commands holds the commands of all modules, in module and command order.
	commands []*command
	first    []int // of each module in commands
	// synchronisations are in the order of PRISM's explicit engine.
	synchronisations []synchronisation
	numParticipants  int // number of pairs of a module and an action that have commands
	guards           *guardIndex
}

// command is one command with its expressions compiled to closures.
type command struct {
	module, index int
	ord           int // index into Model.commands
	participant   int // index of its pair of module and action
	src           *sema.Command
	guard         boolFn
	updates       []update
}

type update struct {
	prob    numFn
	assigns []assign
	src     *sema.Update
}

type assign struct {
	slot  int
	value intFn
	src   *sema.Assign
}

// Compile prepares a program for execution. It refuses timed models with an *UnsupportedError. A partially observable MDP
// is executed as an MDP. An interval model has no sample paths, but its choices can be listed.
func Compile(prog *sema.Program, opts Options) (*Model, error) {
	if opts.MaxInitial == 0 {
		opts.MaxInitial = 1_000_000
	}
	if err := supported(prog); err != nil {
		return nil, err
	}
	m := &Model{prog: prog, opts: opts, doubles: sema.NewFloatAnalysis(prog)}
	for i := range prog.Modules {
		if err := m.addCommands(i); err != nil {
			return nil, err
		}
	}
	first, leaves, b := make(map[*command][]equalityTest), make(map[[2]int]int), m.newBuilder()
	for _, c := range m.commands {
		first[c] = m.leadingEqualities(c.src.Guard, b)
		pair := [2]int{c.module, c.src.Action}
		if _, ok := leaves[pair]; !ok {
			leaves[pair] = len(leaves)
		}
		c.participant = leaves[pair]
	}
	m.numParticipants, m.guards = len(leaves), newGuardIndex(m.commands, first, 0)
	groups, err := m.compose()
	if err != nil {
		return nil, err
	}
	m.synchronisations = groups
	return m, nil
}

// Samples returns an *UnsupportedError if the model has no sample paths because its probabilities are intervals.
func (m *Model) Samples() error {
	if m.prog.Type == syntax.IDTMC || m.prog.Type == syntax.IMDP {
		return &UnsupportedError{m.prog.File, syntax.Pos{}, fmt.Sprintf("found an %s, of whose probabilities only intervals are known: it has no sample paths", m.prog.Type)}
	}
	return nil
}

// Program returns the program the model was compiled from.
func (m *Model) Program() *sema.Program { return m.prog }

// command returns the command that a reference names.
func (m *Model) command(ref CommandRef) *command { return m.commands[m.first[ref.Module]+ref.Command] }

func supported(prog *sema.Program) error {
	switch prog.Type {
	case syntax.DTMC, syntax.MDP, syntax.CTMC, syntax.POMDP, syntax.LTS, syntax.IDTMC, syntax.IMDP, syntax.SMG:
	default:
		return &UnsupportedError{prog.File, syntax.Pos{}, fmt.Sprintf("%ss cannot be executed, only DTMCs, MDPs, CTMCs, POMDPs, LTSs, IDTMCs, IMDPs and SMGs", prog.Type)}
	}
	for _, v := range prog.Vars {
		if v.Type == sema.Clock {
			return &UnsupportedError{prog.File, v.Pos, fmt.Sprintf("clock %q: timed models cannot be executed", v.Name)}
		}
	}
	return nil
}

func (m *Model) addCommands(module int) error {
	commands := m.prog.Modules[module].Commands
	m.first = append(m.first, len(m.commands))
	for i := range commands {
		c, err := m.newCommand(&commands[i])
		if err != nil {
			return err
		}
		c.module, c.index, c.ord = module, i, len(m.commands)
		m.commands = append(m.commands, c)
	}
	return nil
}

func (m *Model) newCommand(src *sema.Command) (*command, error) {
	guard, err := m.boolean(src.Guard)
	if err != nil {
		return nil, err
	}
	c := &command{src: src, guard: guard}
	for i := range src.Updates {
		u, err := m.newUpdate(&src.Updates[i])
		if err != nil {
			return nil, err
		}
		c.updates = append(c.updates, u)
	}
	return c, nil
}

func (m *Model) newUpdate(src *sema.Update) (update, error) {
	u := update{src: src, prob: func(*env) float64 { return 1 }}
	if src.Prob != nil {
		prob, err := m.number(src.Prob)
		if err != nil {
			return u, err
		}
		u.prob = prob
	}
	for i := range src.Assigns {
		a := assign{slot: src.Assigns[i].Slot, src: &src.Assigns[i]}
		value, err := m.value(a.src.Value)
		if err != nil {
			return u, err
		}
		a.value = value
		u.assigns = append(u.assigns, a)
	}
	return u, nil
}

// continuous reports whether the model's updates carry rates.
func (m *Model) continuous() bool { return m.prog.Type == syntax.CTMC }

// nondeterministic reports whether a scheduler resolves the choices of a state.
func (m *Model) nondeterministic() bool {
	return m.prog.Type != syntax.CTMC && m.prog.Type != syntax.DTMC && m.prog.Type != syntax.IDTMC
}
