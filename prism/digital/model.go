package digital

import (
	"fmt"
	"slices"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// TranslateModel translates a timed automaton to an MDP without a property. The MDP has the labels of the program. Its clocks stop at the
// greatest number that the model or a label compares them with. A label that the method does not support is omitted, and omitted has the error
// for it. The error err is an *Error.
func TranslateModel(program *sema.Program, method Method) (model *Model, omitted []*Error, err error) {
	property := &sema.Property{Expr: trueAt(syntax.Pos{})}
	translation := survey(program, property)
	translation.forRegions = method == Regions
	translation.checkMethod()
	if translation.err != nil {
		return nil, nil, translation.err
	}
	supported := *program
	supported.Labels = nil
	for i := range program.Labels {
		label := &program.Labels[i]
		if err := translation.labelError(property, label); err != nil {
			omitted = append(omitted, err)
			continue
		}
		translation.surveyCondition(label.Expr, true)
		supported.Labels = append(supported.Labels, *label)
	}
	if len(omitted) > 0 && slices.ContainsFunc(supported.Labels, readsLabel) {
		return nil, nil, omitted[0] // the labels have other numbers in the MDP
	}
	translation.source = &supported
	model, err = translation.buildModel(property)
	return model, omitted, err
}

// labelError returns an error if the method does not support a label of the automaton.
func (t *translation) labelError(property *sema.Property, label *sema.LabelDef) *Error {
	trial := survey(t.source, property)
	trial.forRegions = t.forRegions
	trial.surveyCondition(label.Expr, true)
	trial.checkMethod()
	if trial.err != nil {
		trial.err.Msg = fmt.Sprintf("label %q: %s", label.Name, trial.err.Msg)
	}
	return trial.err
}

// readsLabel reports whether a label reads another label of the model.
func readsLabel(label sema.LabelDef) bool {
	reads := false
	sema.Inspect(label.Expr, func(operand sema.Expr) bool {
		if readLabel, ok := operand.(*sema.Label); ok && readLabel.Index >= 0 {
			reads = true
		}
		return !reads
	})
	return reads
}

// TimeStep describes the time step of the MDP: the name of its action, and the time that passes. For regions the time is 0, because it is not fixed.
func (m *Model) TimeStep() (action string, time int64) {
	action = m.Program.Actions[m.translation.timeStep]
	if m.translation.forRegions {
		return action, 0
	}
	return action, m.translation.timeUnit
}

// HasDeadline reports whether the MDP has a clock that measures the time bound of the property.
func (m *Model) HasDeadline() bool { return m.translation.deadline != nil }
