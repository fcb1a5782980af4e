package sema

import (
	"slices"

	"tilecheck/prism/syntax"
)

// Model is a model file that passed all checks that PRISM makes before constants have values. It is immutable and safe for concurrent use.
type Model struct {
	file      string
	modelType syntax.ModelType
	// hasImplicitType says that the file has no keyword of a model type.
	hasImplicitType bool
	dialect         syntax.Dialect
	// truncates is syntax.Model.Truncates.
	truncates bool
	// unread is syntax.Model.Unread.
	unread syntax.UnreadFiles
	names  table // constants, formulas and variables
	quoted table // labels and observables

	constants []*constant
	formulas  []*formula
	vars      []*variable
	labels    []LabelDef
	// The contents of the Program, with unevaluated constants:
	modules       []Module
	actions       []string
	rewards       []RewardStruct
	init          Expr
	system        System
	observables   []Observable
	players       []Player
	warnings      []error
	isEmbeddedMDP bool // the embedded MDP of a Markov automaton
	rate          Expr // of its Program
}

// Constant describes a constant of a model or properties file.
type Constant struct {
	Name    string
	Type    Type // Bool, Int or Double
	Defined bool // has a definition in the file
	Pos     syntax.Pos
}

// File returns the name of the model file as the user gave it.
func (m *Model) File() string { return m.file }

// Model returns the model that was instantiated, which properties of the
// program are checked against.
func (p *Program) Model() *Model { return p.model }

// ModelType returns the type of the model; it is never TypeNone.
func (m *Model) ModelType() syntax.ModelType { return m.modelType }

// HasImplicitType reports whether the file has no keyword of a model type, so that the type follows from its contents.
func (m *Model) HasImplicitType() bool { return m.hasImplicitType }

// IsMarkovAutomaton reports whether the model is the embedded MDP of a Markov automaton.
func (m *Model) IsMarkovAutomaton() bool { return m.isEmbeddedMDP }

// Timed reports whether the model has continuous time: it is a CTMC or a Markov automaton.
func (p *Program) Timed() bool { return p.Type == syntax.CTMC || p.model.IsMarkovAutomaton() }

// IsDTMCOrMDP reports whether the model is a DTMC or an MDP. It is false for a Markov automaton, although its type is that of its embedded MDP.
func (p *Program) IsDTMCOrMDP() bool {
	return (p.Type == syntax.DTMC || p.Type == syntax.MDP) && !p.model.IsMarkovAutomaton()
}

// declaredRewards returns the reward structures that are written in the model. The structure of Storm's operator T, which is not, comes last.
func (m *Model) declaredRewards() []RewardStruct {
	last := len(m.rewards) - 1
	if last >= 0 && m.rewards[last].Name == syntax.TimeRewards {
		return m.rewards[:last]
	}
	return m.rewards
}

// RewardName returns the name under which outputs show reward structure i; "" if it has none. The structure of Storm's operator T, which the text of
// the model does not contain, is "time", with underscores behind it if another structure has this name.
func (p *Program) RewardName(i int) string {
	name := p.Rewards[i].Name
	if name != syntax.TimeRewards {
		return name
	}
	name = "time"
	for slices.ContainsFunc(p.Rewards, func(structure RewardStruct) bool { return structure.Name == name }) {
		name += "_"
	}
	return name
}

// Unbounded reports whether an integer variable has no bounds. The model may then have infinitely many states.
func (m *Model) Unbounded() bool {
	return slices.ContainsFunc(m.vars, func(v *variable) bool { return v.declaration.Type == syntax.IntVar })
}

// Constants returns the constants in file order.
func (m *Model) Constants() []Constant { return describeConstants(m.constants) }

// describeConstants returns the public description of each constant.
func describeConstants(constants []*constant) []Constant {
	out := make([]Constant, len(constants))
	for i, constant := range constants {
		out[i] = Constant{constant.name, constant.valueType, constant.declaration.Value != nil, constant.declaration.Name.Pos()}
	}
	return out
}

// Undefined returns the names of the constants without a definition, in file
// order. Instantiate needs a value for each.
func (m *Model) Undefined() []string { return undefinedNames(m.constants) }

// undefinedNames returns the names of the constants without a definition.
func undefinedNames(constants []*constant) []string {
	var names []string
	for _, constant := range constants {
		if constant.declaration.Value == nil {
			names = append(names, constant.name)
		}
	}
	return names
}

// Formulas lists the names of the formulas in file order.
func (m *Model) Formulas() []string {
	return namesOf(m.formulas, func(formula *formula) string { return formula.name })
}

// Variables returns the names of the variables in the order of their slots.
func (m *Model) Variables() []string {
	return namesOf(m.vars, func(variable *variable) string { return variable.name })
}

// Modules returns the names of the modules in file order.
func (m *Model) Modules() []string {
	return namesOf(m.modules, func(module Module) string { return module.Name })
}

// Labels returns the names of the labels in file order, without the built-in
// ones "init" and "deadlock".
func (m *Model) Labels() []string {
	return namesOf(m.labels, func(label LabelDef) string { return label.Name })
}

// RewardStructs returns the names of the reward structures in file order; a
// name is empty if the structure has none.
func (m *Model) RewardStructs() []string {
	return namesOf(m.rewards, func(rewards RewardStruct) string { return rewards.Name })
}

// Observables returns the names of the observables, those of the variable
// lists first.
func (m *Model) Observables() []string {
	return namesOf(m.observables, func(observable Observable) string { return observable.Name })
}

// Actions returns the names of the actions as in Program.Actions.
func (m *Model) Actions() []string { return slices.Clone(m.actions) }

// Unlabelled reports whether some command has no action.
func (m *Model) Unlabelled() bool {
	return slices.ContainsFunc(m.modules, func(module Module) bool {
		return slices.ContainsFunc(module.Commands, func(command Command) bool { return command.Action == Unlabelled })
	})
}

// namesOf returns the name of each element of a list.
func namesOf[T any](list []T, name func(T) string) []string {
	names := make([]string, len(list))
	for i, element := range list {
		names[i] = name(element)
	}
	return names
}
