package files

import (
	"bytes"
	"context"

	"tilecheck/native/space/sparse"
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
		labels.errorAtEnd(`found the end of the file, wanted the names of the labels, such as 0="init" 1="deadlock"`)
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
	if len(labels.errs) == 0 && !hasInitial {
		labels.errorAtEnd(`found no state with the label "init", wanted at least one`)
	}
	return labels, nil
}

// readNames reads the numbers and names of all labels, such as 0="init" 1="deadlock", from the current line. It stops at the first error.
func (file *labFile) readNames(numStates int) {
	column := 0
	for len(file.errs) == 0 {
		trimmed := bytes.TrimLeft(file.lineText[column:], " \t")
		if len(trimmed) == 0 {
			return
		}
		column = len(file.lineText) - len(trimmed)
		length := file.readName(column, numStates)
		column += length
	}
}

// readName reads the number and the name of a label, such as 0="init", at a column of the current line. It returns the length of this text.
func (file *labFile) readName(column, numStates int) int {
	text := file.lineText[column:]
	numberText, quotedName, ok := bytes.Cut(text, []byte(`="`))
	length := bytes.IndexByte(quotedName, '"')
	if !ok || length <= 0 {
		file.errorAt(column, `found %s, wanted a label such as %d="name"`, quote(text), len(file.names))
		return len(text)
	}
	name := string(quotedName[:length])
	index, ok := file.parseCount(field{numberText, column}, "number of a label")
	switch {
	case !ok: // parseCount recorded the error
	case index != len(file.names):
		file.errorAt(column, "found label %d, wanted %d: labels in order", index, len(file.names))
	case file.labelStates(name) != nil:
		file.errorAt(column, "found label %q again, wanted each once", name)
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
	colon := bytes.IndexByte(file.lineText, ':')
	if colon < 0 {
		file.errorAt(0, "found %s, wanted a state and its labels, such as 3: 0 2", quote(file.lineText))
		return previous
	}
	column := file.fields[0].column
	state, ok := file.parseIndex(field{bytes.TrimSpace(file.lineText[:colon]), column}, "state", numStates)
	if !ok {
		return previous
	}
	if state <= previous {
		file.errorAt(column, "found state %d after state %d, wanted states in order and each once", state, previous)
		return previous
	}
	for _, field := range file.splitFieldsFrom(colon + 1) {
		label, ok := file.parseIndex(field, "label", len(file.stateSets))
		switch {
		case !ok: // parseIndex recorded the error
		case file.stateSets[label].Has(state):
			file.errorAt(field.column, "found label %d again for state %d, wanted each once", label, state)
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
