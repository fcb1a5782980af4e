package files

import (
	"bytes"
	"context"

	"tilecheck/native/space/sparse"
)

// labFile reads a .lab file.
type labFile struct {
	*lines
	names []string
	sets  []*sparse.Set
}

// readLabels reads a .lab file for a model with numStates states. The result also has the errors of the file. The
// error is the error of the context.
func readLabels(ctx context.Context, src Source, numStates int) (*labFile, error) {
	labels := &labFile{lines: newLines(src)}
	if !labels.nextData("labels", nil) {
		labels.errorAtEnd(`found the end of the file, wanted the names of the labels, such as 0="init" 1="deadlock"`)
		return labels, nil
	}
	labels.readNames(numStates)
	last := -1
	for line := 0; labels.nextData("labels", nil); line++ {
		if line&0xfff == 0 && ctx.Err() != nil {
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

// readNames reads the names of the labels, such as 0="init" 1="deadlock", from the current line.
func (file *labFile) readNames(numStates int) {
	column := 0
	for len(file.errs) == 0 {
		trimmed := bytes.TrimLeft(file.text[column:], " \t")
		if len(trimmed) == 0 {
			return
		}
		column = len(file.text) - len(trimmed)
		length := file.readName(column, numStates)
		column += length
	}
}

// readName reads a label such as 0="init" that begins at a column. It returns the length of its text.
func (file *labFile) readName(column, numStates int) int {
	text := file.text[column:]
	number, rest, ok := bytes.Cut(text, []byte(`="`))
	length := bytes.IndexByte(rest, '"')
	if !ok || length <= 0 {
		file.errorAt(column, `found %s, wanted a label such as %d="name"`, quote(text), len(file.names))
		return len(text)
	}
	name := string(rest[:length])
	index, ok := file.parseCount(field{number, column}, "number of a label")
	switch {
	case !ok: // parseCount recorded the error
	case index != len(file.names):
		file.errorAt(column, "found label %d, wanted %d: labels in order", index, len(file.names))
	case file.labelStates(name) != nil:
		file.errorAt(column, "found label %q again, wanted each once", name)
	}
	file.names, file.sets = append(file.names, name), append(file.sets, sparse.NewSet(numStates))
	return len(number) + len(`="`) + length + len(`"`)
}

// labelStates returns the states with a label; nil if there is no such label.
func (file *labFile) labelStates(name string) *sparse.Set {
	for i, text := range file.names {
		if text == name {
			return file.sets[i]
		}
	}
	return nil
}

// readState reads a line with the labels of a state, such as 3: 0 2. It returns the state. If there is an error in
// the state, it returns previous, the state of the line before.
func (file *labFile) readState(previous, numStates int) int {
	colon := bytes.IndexByte(file.text, ':')
	if colon < 0 {
		file.errorAt(0, "found %s, wanted a state and its labels, such as 3: 0 2", quote(file.text))
		return previous
	}
	column := file.fields[0].column
	state, ok := file.parseIndex(field{bytes.TrimSpace(file.text[:colon]), column}, "state", numStates)
	if !ok {
		return previous
	}
	if state <= previous {
		file.errorAt(column, "found state %d after state %d, wanted states in order and each once", state, previous)
		return previous
	}
	for _, field := range file.splitFieldsFrom(colon + 1) {
		label, ok := file.parseIndex(field, "label", len(file.sets))
		switch {
		case !ok: // parseIndex recorded the error
		case file.sets[label].Has(state):
			file.errorAt(field.column, "found label %d again for state %d, wanted each once", label, state)
		default:
			file.sets[label].Add(state)
		}
	}
	return state
}

// declaredSets returns the sets of states. The predefined labels init and deadlock are separate from the other
// labels.
func (file *labFile) declaredSets() declaredSets {
	var declared declaredSets
	for i, name := range file.names {
		switch name {
		case "init":
			declared.init = file.sets[i]
		case "deadlock":
			declared.deadlock = file.sets[i]
		default:
			declared.labels = append(declared.labels, sparse.Label{Name: name, States: file.sets[i]})
		}
	}
	return declared
}
