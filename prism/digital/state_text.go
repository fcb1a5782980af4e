package digital

import (
	"fmt"
	"strings"

	"tilecheck/prism/sema"
)

// StateText describes a state of the MDP as a state of the automaton, such as (l=1,1<x<2,y>3). It omits the order of the fractional parts of
// the clocks.
func (m *Model) StateText(state []int32) string {
	var valueTexts []string
	for slot := range m.translation.source.Vars {
		valueTexts = append(valueTexts, m.valueText(slot, state[slot]))
	}
	return "(" + strings.Join(valueTexts, ",") + ")"
}

// valueText returns the value of a variable of the automaton as text, such as x=1 or 1<x<2 for a clock x.
func (m *Model) valueText(slot int, value int32) string {
	translation := m.translation
	variable := translation.source.Vars[slot]
	switch {
	case variable.Type == sema.Bool:
		return fmt.Sprintf("%s=%t", variable.Name, value != 0)
	case variable.Type != sema.Clock:
		return fmt.Sprintf("%s=%d", variable.Name, value)
	}
	stepsPerUnit := translation.inSteps(translation.timeUnit)
	time := int64(value/stepsPerUnit) * translation.timeUnit
	switch {
	case value == translation.clockLimit(slot):
		return fmt.Sprintf("%s>%d", variable.Name, translation.clocks[slot].maxCompared)
	case value%stepsPerUnit == 0:
		return fmt.Sprintf("%s=%d", variable.Name, time)
	}
	return fmt.Sprintf("%d<%s<%d", time, variable.Name, time+translation.timeUnit)
}
