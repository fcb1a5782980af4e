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

// readLabels reads a .lab file for the given number of states. The result has the diagnostics.
func readLabels(ctx context.Context, src Source, numStates int) (*labFile, error) {
	labels := &labFile{lines: newLines(src)}
	if !labels.nextData("labels", nil) {
		labels.errorAtEnd(`found the end of the file, wanted the names of the labels, such as 0="init" 1="deadlock"`)
		return labels, nil
	}
	labels.readNames(numStates)
	last := -1
	for k := 0; labels.nextData("labels", nil); k++ {
		if k&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return labels, err
			}
		}
		last = labels.readState(last, numStates)
	}
	if len(labels.errs) == 0 && (labels.labelStates("init") == nil || labels.labelStates("init").Empty()) {
		labels.errorAtEnd(`found no state with the label "init", wanted at least one`)
	}
	return labels, nil
}

// readNames reads the names of the labels, such as 0="init" 1="deadlock", from the current line.
func (l *labFile) readNames(numStates int) {
	rest := l.text
	column := 0
	for len(bytes.TrimLeft(rest, " \t")) > 0 && len(l.errs) == 0 {
		trimmed := bytes.TrimLeft(rest, " \t")
		column += len(rest) - len(trimmed)
		rest = trimmed
		open := bytes.Index(rest, []byte(`="`))
		end := -1
		if open >= 0 {
			end = bytes.IndexByte(rest[open+2:], '"')
		}
		if end <= 0 {
			l.errorAt(column, `found %s, wanted a label such as %d="name"`, quote(rest), len(l.names))
			return
		}
		number, ok := l.parseCount(field{rest[:open], column}, "number of a label")
		name := string(rest[open+2 : open+2+end])
		switch {
		case !ok:
		case number != len(l.names):
			l.errorAt(column, "found label %d, wanted %d: labels in order", number, len(l.names))
		case l.labelStates(name) != nil:
			l.errorAt(column, "found label %q again, wanted each once", name)
		}
		l.names, l.sets = append(l.names, name), append(l.sets, sparse.NewSet(numStates))
		numStates := open + 2 + end + 1
		rest, column = rest[numStates:], column+numStates
	}
}

// labelStates returns the states with a label; nil if there is no such label.
func (l *labFile) labelStates(name string) *sparse.Set {
	for i, s := range l.names {
		if s == name {
			return l.sets[i]
		}
	}
	return nil
}

// readState reads the labels of a state, such as 3: 0 2, and returns the state. last is the state
// of the line before. After an error it returns last.
func (l *labFile) readState(last, numStates int) int {
	colon := bytes.IndexByte(l.text, ':')
	if colon < 0 {
		l.errorAt(0, "found %s, wanted a state and its labels, such as 3: 0 2", quote(l.text))
		return last
	}
	column := l.fields[0].column
	state, ok := l.parseIndex(field{bytes.TrimSpace(l.text[:colon]), column}, "state", numStates)
	if !ok {
		return last
	}
	if state <= last {
		l.errorAt(column, "found state %d after state %d, wanted states in order and each once", state, last)
		return last
	}
	l.text = bytes.Clone(l.text)
	for j := range l.text[:colon+1] {
		l.text[j] = ' '
	}
	for _, field := range l.splitFields() {
		label, ok := l.parseIndex(field, "label", len(l.sets))
		switch {
		case !ok:
		case l.sets[label].Has(state):
			l.errorAt(field.column, "found label %d again for state %d, wanted each once", label, state)
		default:
			l.sets[label].Add(state)
		}
	}
	return state
}

// declaredSets returns the sets, with the predefined labels init and deadlock in their own fields.
func (l *labFile) declaredSets() declaredSets {
	var declared declaredSets
	for i, name := range l.names {
		switch name {
		case "init":
			declared.init = l.sets[i]
		case "deadlock":
			declared.deadlock = l.sets[i]
		default:
			declared.labels = append(declared.labels, sparse.Label{Name: name, States: l.sets[i]})
		}
	}
	return declared
}
