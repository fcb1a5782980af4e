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

// readLabels reads a .lab file for n states.
func readLabels(ctx context.Context, src Source, n int) (*labFile, error) {
	l := &labFile{lines: newLines(src)}
	if !l.data("labels", nil) {
		l.failEnd(`found the end of the file, wanted the names of the labels, such as 0="init" 1="deadlock"`)
		return l, nil
	}
	l.header(n)
	last := -1
	for k := 0; l.data("labels", nil); k++ {
		if k&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return l, err
			}
		}
		last = l.state(last, n)
	}
	if len(l.errs) == 0 && (l.set("init") == nil || l.set("init").Empty()) {
		l.failEnd(`found no state with the label "init", wanted at least one`)
	}
	return l, nil
}

// header reads the names of the labels: 0="init" 1="deadlock".
func (l *labFile) header(n int) {
	rest := l.text
	at := 0
	for len(bytes.TrimLeft(rest, " \t")) > 0 && len(l.errs) == 0 {
		trimmed := bytes.TrimLeft(rest, " \t")
		at += len(rest) - len(trimmed)
		rest = trimmed
		open := bytes.Index(rest, []byte(`="`))
		end := -1
		if open >= 0 {
			end = bytes.IndexByte(rest[open+2:], '"')
		}
		if end <= 0 {
			l.fail(at, `found %s, wanted a label such as %d="name"`, quote(rest), len(l.names))
			return
		}
		i, ok := l.count(field{rest[:open], at}, "number of a label")
		name := string(rest[open+2 : open+2+end])
		switch {
		case !ok:
		case i != len(l.names):
			l.fail(at, "found label %d, wanted %d: labels in order", i, len(l.names))
		case l.set(name) != nil:
			l.fail(at, "found label %q again, wanted each once", name)
		}
		l.names, l.sets = append(l.names, name), append(l.sets, sparse.NewSet(n))
		n := open + 2 + end + 1
		rest, at = rest[n:], at+n
	}
}

// set returns the states with a label; nil if there is no such label.
func (l *labFile) set(name string) *sparse.Set {
	for i, s := range l.names {
		if s == name {
			return l.sets[i]
		}
	}
	return nil
}

// state reads the labels of a state, "3: 0 2", and returns the state.
func (l *labFile) state(last, n int) int {
	colon := bytes.IndexByte(l.text, ':')
	if colon < 0 {
		l.fail(0, "found %s, wanted a state and its labels, such as 3: 0 2", quote(l.text))
		return last
	}
	at := l.fields[0].at
	i, ok := l.index(field{bytes.TrimSpace(l.text[:colon]), at}, "state", n)
	if !ok {
		return last
	}
	if i <= last {
		l.fail(at, "found state %d after state %d, wanted states in order and each once", i, last)
		return last
	}
	l.text = bytes.Clone(l.text)
	for j := range l.text[:colon+1] {
		l.text[j] = ' '
	}
	for _, f := range l.split() {
		label, ok := l.index(f, "label", len(l.sets))
		switch {
		case !ok:
		case l.sets[label].Has(i):
			l.fail(f.at, "found label %d again for state %d, wanted each once", label, i)
		default:
			l.sets[label].Add(i)
		}
	}
	return i
}

// declared returns the sets; the predefined labels init and deadlock are separate.
func (l *labFile) declared() declared {
	var d declared
	for i, name := range l.names {
		switch name {
		case "init":
			d.init = l.sets[i]
		case "deadlock":
			d.deadlock = l.sets[i]
		default:
			d.labels = append(d.labels, sparse.Label{Name: name, States: l.sets[i]})
		}
	}
	return d
}
