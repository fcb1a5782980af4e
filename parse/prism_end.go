package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/result"
)

// finish closes everything that is open, determines why the run ended early, and adds the properties that were listed but never started.
func (m *prismParser) finish(end End, tail string, facts *stderrFacts) {
	if rest, ok := strings.CutPrefix(tail, "Error: "); ok && m.message == nil && m.typed {
		m.endResults()
		m.recordFailure(strings.TrimSuffix(rest, "."))
		tail = ""
	}
	m.endMessage()
	listed := m.results
	m.endResults()
	if listed != nil && m.open < 0 { // no blank line after it: valuations may be missing
		m.log.Properties = append(m.log.Properties, listed.head)
		m.open = len(m.log.Properties) - 1
	}
	facts.heap = facts.heap || m.heap
	facts.stack = facts.stack || m.stack
	m.conclude(end, tail, facts)
	if p := m.current(); p != nil {
		p.Err = m.cut()
		m.open = -1
	}
	if !m.full {
		m.absent()
	}
}

// conclude sets Log.Err.
func (m *prismParser) conclude(end End, tail string, facts *stderrFacts) {
	switch cause := ending(end, facts); {
	case m.log.Err != nil:
	case cause != nil:
		m.log.Err = cause
	case tail != "", !end.Known && m.open >= 0:
		m.log.Err = &result.Failure{Class: result.Truncated, Message: "the output ends in the middle"}
	case end.Known && end.Code != 0 && len(m.log.Failures) > 0:
		m.log.Err = m.log.Failures[len(m.log.Failures)-1]
	case end.Known && end.Code != 0:
		m.log.Err = &result.Failure{Class: result.Other, Message: fmt.Sprintf("exit code %d without a message", end.Code)}
		if facts.last != "" {
			m.log.Err.Message += ": " + facts.last
		}
	case m.open >= 0:
		m.log.Err = &result.Failure{Class: result.Truncated, Message: "the output ends before the result, although the exit code is 0"}
	}
}

// cut returns the failure of a property that was being checked at the end.
func (m *prismParser) cut() *result.Failure {
	if m.log.Err == nil {
		return &result.Failure{Class: result.Truncated, Message: "the output ends before the result"}
	}
	f := *m.log.Err
	return &f
}

// absent adds a property for every property that was listed and selected, but not started under a valuation of the model's constants
// that the log names.
func (m *prismParser) absent() {
	begun, valuations := m.begunUnder()
	if len(valuations)*len(m.log.Listed) > maxAbsent {
		m.warn(&m.log.Warnings, "too many properties and valuations to say which were not begun")
		return
	}
	asked := m.asked()
	for _, v := range valuations {
		listed := make(map[string]int) // by text
		for i, l := range m.log.Listed {
			listed[l.Text]++
			if listed[l.Text] <= begun[[2]string{v.modelText, l.Text}] || !asked(i) {
				continue
			}
			if !m.reserve(recordCost + len(l.Text)) {
				return
			}
			m.log.Properties = append(m.log.Properties, Property{
				Name: l.Name, Text: l.Text, Build: -1,
				Model: slices.Clone(v.Model), modelText: v.modelText, Err: m.notBegun(v.modelText), Absent: true,
			})
		}
	}
}

// begunUnder returns how often a text was started under each valuation of the model's constants, and one property for each such
// valuation. If the property has constants of its own, the most frequent of their valuations counts.
func (m *prismParser) begunUnder() (begun map[[2]string]int, valuations []Property) {
	begun = make(map[[2]string]int)
	each := make(map[[3]string]int)
	known := make(map[string]bool)
	for i := range m.log.Properties {
		p := &m.log.Properties[i]
		if !known[p.modelText] {
			known[p.modelText] = true
			valuations = append(valuations, *p)
		}
		one, all := [3]string{p.modelText, p.constantsText, p.Text}, [2]string{p.modelText, p.Text}
		each[one]++
		begun[all] = max(begun[all], each[one])
	}
	if len(valuations) == 0 {
		valuations = []Property{{}}
	}
	return begun, valuations
}

// notBegun returns the reason why a listed property has no heading.
func (m *prismParser) notBegun(constants string) *result.Failure {
	if f := m.broken[constants]; f != nil {
		g := *f
		g.Message = "not begun: the state space could not be built: " + f.Message
		return &g
	}
	if m.log.Err != nil {
		g := *m.log.Err
		g.Message = "not begun: " + g.Message
		return &g
	}
	if len(m.log.Failures) > 0 {
		return m.unnamed()
	}
	return &result.Failure{Class: result.Truncated, Message: "not begun: the output ends before this property"}
}

// unnamed returns the failure of a property whose options PRISM refused before it named the property. It combines all errors that
// belong to no property, because PRISM does not say which one is about this property.
func (m *prismParser) unnamed() *result.Failure {
	var messages []string
	f := &result.Failure{Class: m.log.Failures[0].Class}
	for _, g := range m.log.Failures {
		if g.Class != f.Class {
			f.Class = result.Other
		}
		if !slices.Contains(messages, g.Message) && len(messages) < 4 {
			messages = append(messages, g.Message)
		}
	}
	f.Message = "not begun: " + strings.Join(messages, "; or: ")
	return f
}

// asked returns which of the listed properties the command line selects with -property (-prop), a list of names and numbers from 1.
// A selection that cannot be parsed selects all.
func (m *prismParser) asked() func(i int) bool {
	args := words(m.log.Command)
	all := func(int) bool { return true }
	for i, a := range args {
		if a = "-" + strings.TrimLeft(a, "-"); (a != "-prop" && a != "-property") || i+1 == len(args) {
			continue
		}
		chosen := make(map[int]bool)
		for item := range strings.SplitSeq(args[i+1], ",") {
			item = strings.TrimSpace(item)
			k := slices.IndexFunc(m.log.Listed, func(l Listed) bool { return l.Name == item && item != "" })
			if n, err := strconv.Atoi(item); k < 0 && err == nil {
				k = n - 1
			}
			if k < 0 || k >= len(m.log.Listed) {
				return all
			}
			chosen[k] = true
		}
		return func(i int) bool { return chosen[i] }
	}
	return all
}
