package files

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// header is a comment that starts a file or a part; what names its contents.
type header struct{ text, what string }

func headers() []header {
	return []header{
		{"# Transitions", "transitions"},
		{"# States", "states"},
		{"# Labels", "labels"},
		{"# State rewards", "state rewards"},
		{"# Transition rewards", "transition rewards"},
		{"# Observations", "observations"},
	}
}

// data reads the next line with data. It passes comments to visit, unless that is nil. A header of
// another kind of file is an error.
func (l *lines) data(what string, visit func(comment string)) bool {
	for l.next() {
		trimmed := bytes.TrimSpace(l.text)
		if len(trimmed) == 0 {
			continue
		}
		if trimmed[0] != '#' {
			l.split()
			return true
		}
		for _, h := range headers() {
			if h.what != what && strings.HasPrefix(string(trimmed), h.text) {
				l.fail(0, "found the header of a file of %s, wanted %s", h.what, what)
				return false
			}
		}
		if visit != nil {
			visit(string(trimmed))
		}
	}
	return false
}

// traFile reads PRISM's .tra files.
type traFile struct {
	*assembly
	typ       syntax.ModelType
	totals    [4]int // states, choices, transitions, observations
	current   int    // state, -1 before the first
	choices   int    // of the current state
	rowAction sparse.Action
	seen      []int // the observation of each state of a POMDP; -1 if not yet known
}

// readTransitions reads a .tra file. After errors the model is nil; the traFile is nil too if the
// number of states is unknown.
func readTransitions(ctx context.Context, src Source, opts ReadOptions) (*traFile, *sparse.Model, *lines, error) {
	l := newLines(src)
	t := &traFile{typ: opts.Type, current: -1}
	headerType := syntax.TypeNone
	if !l.data("transitions", func(comment string) { headerType = typeOfHeader(l, comment) }) {
		if len(l.errs) == 0 {
			l.failEnd("found the end of the file, wanted the numbers of states and transitions")
		}
		return nil, nil, l, nil
	}
	if t.typ == syntax.TypeNone {
		t.typ = headerType
	}
	if !t.readTotals(l) {
		return nil, nil, l, nil
	}
	if err := opts.limit(t.totals[0]); err != nil {
		return nil, nil, l, err
	}
	intervals := t.typ == syntax.IDTMC || t.typ == syntax.IMDP
	opts.Exact = opts.Exact || intervals
	t.assembly = newAssembly(l, kindOf(t.typ), t.totals[0], opts)
	t.intervals = intervals
	if t.typ == syntax.POMDP {
		t.seen = slices.Repeat([]int{-1}, t.totals[0])
	}
	most := len(src.Text) / len("0 0 1\n") // the totals may be wrong
	t.builder.Grow(min(t.totals[0], most), min(t.totals[1], most), min(t.totals[2], most))
	for n := 0; l.data("transitions", nil); n++ {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, nil, l, err
			}
		}
		t.line()
	}
	return t, t.end(), l, nil
}

func kindOf(t syntax.ModelType) sparse.Kind {
	switch t {
	case syntax.DTMC, syntax.IDTMC:
		return sparse.DTMC
	case syntax.CTMC:
		return sparse.CTMC
	}
	return sparse.MDP
}

// typeOfHeader returns the type of model in a comment "# Transitions (MDP)".
func typeOfHeader(l *lines, comment string) syntax.ModelType {
	name, ok := strings.CutPrefix(comment, "# Transitions (")
	if !ok {
		return syntax.TypeNone
	}
	switch name = strings.TrimSuffix(name, ")"); name {
	case "DTMC":
		return syntax.DTMC
	case "MDP":
		return syntax.MDP
	case "CTMC":
		return syntax.CTMC
	case "LTS":
		return syntax.LTS
	case "IDTMC":
		return syntax.IDTMC
	case "IMDP":
		return syntax.IMDP
	case "POMDP":
		return syntax.POMDP
	}
	l.fail(len("# Transitions ("), "found a model of type %s, only DTMCs, MDPs, CTMCs, POMDPs, LTSs, IDTMCs and IMDPs can be read", quote([]byte(name)))
	return syntax.TypeNone
}

// readTotals reads the numbers of states, choices and transitions. An MDP has three totals, a
// Markov chain two.
func (t *traFile) readTotals(l *lines) bool {
	f := l.fields
	switch {
	case len(l.errs) > 0:
		return false
	case len(f) == 4 && t.typ == syntax.TypeNone:
		t.typ = syntax.POMDP
	case t.typ == syntax.TypeNone && len(f) == 3:
		t.typ = syntax.MDP
		if l.hasInterval(3) {
			t.typ = syntax.IMDP
		}
	case t.typ == syntax.TypeNone && len(f) == 2 && l.hasInterval(2):
		t.typ = syntax.IDTMC
	case t.typ == syntax.TypeNone && len(f) == 2:
		t.typ = guessType(l)
	}
	names := []string{"number of states", "number of choices", "number of transitions", "number of observations"}
	mdp := kindOf(t.typ) == sparse.MDP
	switch {
	case !mdp:
		names = []string{names[0], names[2]}
	case t.typ != syntax.POMDP:
		names = names[:3]
	}
	if len(f) != len(names) {
		l.fail(0, "found %s, wanted the %s: the model is of type %s", quote(bytes.TrimSpace(l.text)), strings.Join(names, " and the "), typeName(t.typ))
		return false
	}
	at := []int{0, 1, 2, 3}
	if !mdp {
		at = []int{0, 2}
	}
	for i, name := range names {
		n, ok := l.count(f[i], name)
		if !ok {
			return false
		}
		t.totals[at[i]] = n
	}
	switch {
	case t.totals[0] == 0:
		l.fail(f[0].at, "found 0 states, wanted at least one")
		return false
	case t.totals[3] > t.totals[0]:
		l.fail(f[3].at, "found %d observations of %d states, wanted no more than states", t.totals[3], t.totals[0])
		return false
	}
	return true
}

// hasInterval reports whether an entry of the first row is an interval.
func (l *lines) hasInterval(entry int) bool {
	preview := *l
	preview.fields, preview.errs = nil, nil
	return preview.data("transitions", nil) && len(preview.fields) > entry && preview.fields[entry].text[0] == '['
}

func typeName(t syntax.ModelType) string {
	if t == syntax.TypeNone {
		return "unknown"
	}
	return t.String()
}

// guessType distinguishes a CTMC from a DTMC by the first rows: a number above 1 must be a rate.
//
// Source: PRISM's -importmodel, which reads six rows (reference, section 6).
func guessType(l *lines) syntax.ModelType {
	preview := *l
	preview.fields, preview.errs = nil, nil
	for range 6 {
		if !preview.data("transitions", nil) || len(preview.fields) < 3 {
			break
		}
		if x, err := parseNumber(preview.fields[2].text, false); err == nil && x.f > 1 {
			return syntax.CTMC
		}
	}
	return syntax.DTMC
}

// line reads one transition.
func (t *traFile) line() {
	f := t.fields
	mdp := 0
	if t.kind == sparse.MDP {
		mdp = 1
	}
	extra := 1 // number of entries for the weight and the observation
	want := [...]string{"state, target, probability and perhaps an action", "state, choice, target, probability and perhaps an action"}[mdp]
	if t.typ == syntax.LTS {
		extra, want = 0, "state, choice, target and perhaps an action"
	}
	if t.seen != nil {
		if f[0].String() == "-" {
			t.initialObservation()
			return
		}
		extra, want = 2, "state, choice, target, probability, observation and perhaps an action"
	}
	if len(f) < 2+mdp+extra || len(f) > 3+mdp+extra {
		t.fail(0, "found %d entries, wanted %s", len(f), want)
		return
	}
	s, ok := t.index(f[0], "state", t.states)
	if !ok {
		return
	}
	j := 0
	if mdp == 1 {
		if j, ok = t.count(f[1], "choice"); !ok {
			return
		}
	}
	target, ok := t.index(f[1+mdp], "state", t.states)
	if !ok {
		return
	}
	var high number
	x, ok := t.one, true
	switch {
	case t.intervals:
		x, high, ok = t.interval(f[2+mdp])
	case extra > 0:
		x, ok = t.value(f[2+mdp], "probability or rate", t.exact)
	}
	if !ok || t.seen != nil && !t.setObservation(target, f[4]) {
		return
	}
	action := sparse.NoAction
	if at := 2 + mdp + extra; len(f) > at {
		known, ok := t.actions[string(f[at].text)]
		if !ok {
			if !isWord(f[at].String()) {
				t.fail(f[at].at, "found %s, wanted the name of an action", quote(f[at].text))
				return
			}
			known = t.action(f[at].String())
		}
		action = known
	}
	if !t.advance(s, j, action) {
		return
	}
	if mdp == 1 {
		action = sparse.NoAction
	}
	t.high = high
	t.transition(target, x, action, f[1+mdp].at, f[1+mdp+extra].at)
}

// initialObservation reads the observation of an initial state of a POMDP, which may have no
// incoming transition.
func (t *traFile) initialObservation() {
	if f := t.fields; len(f) != 5 {
		t.fail(0, "found %d entries, wanted -, -, an initial state, - and its observation", len(f))
	} else if s, ok := t.index(f[2], "state", t.states); ok {
		t.setObservation(s, f[4])
	}
}

// setObservation records the observation of a state and checks that it is always the same.
func (t *traFile) setObservation(s int, f field) bool {
	o, ok := t.index(f, "observation", t.totals[3])
	if !ok {
		return false
	}
	if t.seen[s] >= 0 && t.seen[s] != o {
		t.fail(f.at, "found observation %d of state %d, wanted %d as before", o, s, t.seen[s])
		return false
	}
	t.seen[s] = o
	return true
}

// advance starts state s or its choice j if necessary, and checks their order.
func (t *traFile) advance(s, j int, action sparse.Action) bool {
	isNew := s != t.current
	if s < t.current {
		t.fail(t.fields[0].at, "found state %d after state %d, wanted rows in the order of states", s, t.current)
		return false
	}
	if isNew {
		t.state(s)
		t.current, t.choices = s, 0
	}
	last := t.choices - 1
	switch {
	case t.kind != sparse.MDP:
		if isNew {
			t.choices = 1
			t.choice(sparse.NoAction, t.pos(0))
		}
		return true
	case j == t.choices:
		t.choices++
		t.rowAction = action
		t.choice(action, t.pos(0))
		return true
	case j != last:
		t.fail(t.fields[1].at, "found choice %d of state %d, wanted %d or %d: choices in order", j, s, max(last, 0), t.choices)
		return false
	case action != t.rowAction:
		t.fail(0, "found another action for choice %d of state %d, wanted one", j, s)
		return false
	}
	return true
}

// end checks the totals and returns the model.
func (t *traFile) end() *sparse.Model {
	if len(t.errs) > 0 {
		return nil
	}
	if found := t.transitions; found != t.totals[2] {
		t.failEnd("found %d transitions, wanted %d as the first line says", found, t.totals[2])
	} else if found := t.assembly.choices; t.kind == sparse.MDP && found != t.totals[1] {
		t.failEnd("found %d choices, wanted %d as the first line says", found, t.totals[1])
	} else if s := slices.Index(t.seen, -1); s >= 0 {
		t.failEnd("found no observation of state %d, wanted one for each state", s)
	}
	return t.finish()
}
