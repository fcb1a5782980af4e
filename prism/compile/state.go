package compile

import (
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// StateText returns a state as PRISM's messages show it: "(x=8,turn=true)".
func (m *Model) StateText(state []int32) string { return StateText(m.program, state) }

// StateText returns a state of a program as Model.StateText does.
func StateText(program *sema.Program, state []int32) string {
	assignments := make([]string, len(program.Vars))
	for i, variable := range program.Vars {
		assignments[i] = variable.Name + "=" + valueText(variable.Type, state[i])
	}
	return "(" + strings.Join(assignments, ",") + ")"
}

// valueText returns the value of a variable as PRISM writes it.
func valueText(valueType sema.Type, value int32) string {
	if valueType == sema.Bool {
		return strconv.FormatBool(value != 0)
	}
	return strconv.Itoa(int(value))
}

// stateError returns an error of the model in a state.
func (m *Model) stateError(state []int32, pos syntax.Pos, message string) *StateError {
	return &StateError{File: m.program.File, Pos: pos, State: m.StateText(state), Msg: message}
}

// takeError returns the recorded evaluation error as a *StateError and clears it; nil if there is none.
func (m *Model) takeError(env *env) *StateError {
	if env.err == nil {
		return nil
	}
	err := m.stateError(env.state, env.err.pos, env.err.msg)
	err.Undecided = env.err.undecided
	env.err = nil
	return err
}
