package files

import (
	"bytes"
	"context"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/textlines"
)

// labFile reads a .lab file.
type labFile struct {
	*lines
	names     []string
	stateSets []*sparse.Set
}

// readLabels reads a .lab file for a model with numStates states. The first line has the names of the labels, and each other line the
// labels of a state. The result also has the errors of the file. The returned error is that of the context.
func readLabels(ctx context.Context, source Source, numStates int) (*labFile, error) {
	labels := &labFile{lines: newLines(source)}
	if !labels.nextData("labels", nil) {
		labels.ErrorAtEnd(`found the end of the file, wanted the names of the labels, such as 0="init" 1="deadlock"`)
		return labels, nil
	}
	labels.readNames(numStates)
	last := -1
	for line := 0; labels.nextData("labels", nil); line++ {
		if line%pollInterval == 0 && ctx.Err() != nil {
			return labels, ctx.Err()
		}
		last = labels.readState(last, numStates)
	}
	initial := labels.labelStates("init")
	hasInitial := initial != nil && !initial.Empty()
	if len(labels.Errs) == 0 && !hasInitial {
		labels.ErrorAtEnd(`found no state with the label "init", wanted at least one`)
	}
	return labels, nil
}

// readNames reads the numbers and names of all labels, such as 0="init" 1="deadlock", from the current line. It stops at the first error.
func (file *labFile) readNames(numStates int) {
	column := 0
	for len(file.Errs) == 0 {
		trimmed := bytes.TrimLeft(file.LineText[column:], " \t")
		if len(trimmed) == 0 {
			return
		}
		column = len(file.LineText) - len(trimmed)
		length := file.readName(column, numStates)
		column += length
	}
}

// readName reads the number and the name of a label, such as 0="init", at a column of the current line. It returns the length of this text.
func (file *labFile) readName(column, numStates int) int {
	text := file.LineText[column:]
	numberText, quotedName, ok := bytes.Cut(text, []byte(`="`))
	length := bytes.IndexByte(quotedName, '"')
	if !ok || length <= 0 {
		file.ErrorAt(column, `found %s, wanted a label such as %d="name"`, textlines.Quote(text), len(file.names))
		return len(text)
	}
	name := string(quotedName[:length])
	index, ok := file.ParseCount(field{Text: numberText, Column: column}, "number of a label")
	switch {
	case !ok: // parseCount recorded the error
	case index != len(file.names):
		file.ErrorAt(column, "found label %d, wanted %d: labels in order", index, len(file.names))
	case file.labelStates(name) != nil:
		file.ErrorAt(column, "found label %q again, wanted each once", name)
	}
	file.names, file.stateSets = append(file.names, name), append(file.stateSets, sparse.NewSet(numStates))
	return len(numberText) + len(`="`) + length + len(`"`)
}

// labelStates returns the states with a label; nil if there is no such label.
func (file *labFile) labelStates(name string) *sparse.Set {
	for index, other := range file.names {
		if other == name {
			return file.stateSets[index]
		}
	}
	return nil
}

// readState reads a line such as 3: 0 2, which has a state and the numbers of its labels. It returns the state. previous is the state of
// the line before. If the state is invalid or not greater than previous, it records an error and returns previous.
func (file *labFile) readState(previous, numStates int) int {
	colon := bytes.IndexByte(file.LineText, ':')
	if colon < 0 {
		file.ErrorAt(0, "found %s, wanted a state and its labels, such as 3: 0 2", textlines.Quote(file.LineText))
		return previous
	}
	column := file.Fields[0].Column
	state, ok := file.ParseIndex(field{Text: bytes.TrimSpace(file.LineText[:colon]), Column: column}, "state", numStates)
	if !ok {
		return previous
	}
	if state <= previous {
		file.ErrorAt(column, "found state %d after state %d, wanted states in order and each once", state, previous)
		return previous
	}
	for _, field := range file.SplitFieldsFrom(colon + 1) {
		label, ok := file.ParseIndex(field, "label", len(file.stateSets))
		switch {
		case !ok: // parseIndex recorded the error
		case file.stateSets[label].Has(state):
			file.ErrorAt(field.Column, "found label %d again for state %d, wanted each once", label, state)
		default:
			file.stateSets[label].Add(state)
		}
	}
	return state
}

// declaredSets returns the labels of the file with their sets of states. The sets of the predefined labels init and deadlock are separate
// from the others.
func (file *labFile) declaredSets() declaredSets {
	var declared declaredSets
	for index, name := range file.names {
		switch name {
		case "init":
			declared.init = file.stateSets[index]
		case "deadlock":
			declared.deadlock = file.stateSets[index]
		default:
			declared.labels = append(declared.labels, sparse.Label{Name: name, States: file.stateSets[index]})
		}
	}
	return declared
}
