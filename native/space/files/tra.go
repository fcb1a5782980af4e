package files

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// header is the first comment of one of PRISM's files.
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

// data goes to the next line with data. The comment lines before it are passed
// to see, which may be nil; that of another kind of file is an error.
func (l *lines) data(what string, see func(comment string)) bool {
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
		if see != nil {
			see(string(trimmed))
		}
	}
	return false
}

// traFile reads PRISM's .tra files.
type traFile struct {
	*assembly
	typ     syntax.ModelType
	totals  [4]int // states, choices, transitions, observations
	current int    // state, -1 before the first
	choices int    // of the current state
	acting  sparse.Action
	seen    []int // what each state of a POMDP shows; -1 as long as that is not said
}

// readTransitions reads a .tra file. The model is nil after errors, and the
// file itself when not even the number of states is known.
func readTransitions(ctx context.Context, src Source, opts ReadOptions) (*traFile, *sparse.Model, *lines, error) {
	l := newLines(src)
	t := &traFile{typ: opts.Type, current: -1}
	said := syntax.TypeNone
	if !l.data("transitions", func(comment string) { said = typeOfHeader(l, comment) }) {
		if len(l.errs) == 0 {
			l.failEnd("found the end of the file, wanted the numbers of states and transitions")
		}
		return nil, nil, l, nil
	}
	if t.typ == syntax.TypeNone {
		t.typ = said
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
	most := len(src.Text) / len("0 0 1\n") // totals may lie
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

// typeOfHeader reads "# Transitions (MDP)".
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

// readTotals reads the numbers of states, choices and transitions, whose number
// tells an MDP from a Markov chain.
func (t *traFile) readTotals(l *lines) bool {
	f := l.fields
	switch {
	case len(l.errs) > 0:
		return false
	case len(f) == 4 && t.typ == syntax.TypeNone:
		t.typ = syntax.POMDP
	case t.typ == syntax.TypeNone && len(f) == 3:
		t.typ = syntax.MDP
		if l.bracket(3) {
			t.typ = syntax.IMDP
		}
	case t.typ == syntax.TypeNone && len(f) == 2 && l.bracket(2):
		t.typ = syntax.IDTMC
	case t.typ == syntax.TypeNone && len(f) == 2:
		t.typ = guess(l)
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

// bracket reports whether an entry of the first row is an interval.
func (l *lines) bracket(entry int) bool {
	ahead := *l
	ahead.fields, ahead.errs = nil, nil
	return ahead.data("transitions", nil) && len(ahead.fields) > entry && ahead.fields[entry].text[0] == '['
}

func typeName(t syntax.ModelType) string {
	if t == syntax.TypeNone {
		return "unknown"
	}
	return t.String()
}

// guess tells a CTMC from a DTMC by the first rows: a number above one is a rate.
//
// Source: PRISM's -importmodel, which looks at six rows (reference, section 6).
func guess(l *lines) syntax.ModelType {
	ahead := *l
	ahead.fields, ahead.errs = nil, nil
	for range 6 {
		if !ahead.data("transitions", nil) || len(ahead.fields) < 3 {
			break
		}
		if x, err := parseNumber(ahead.fields[2].text, false); err == nil && x.f > 1 {
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
	weighed := 1 // entries of a weight, and of what the target shows
	want := [...]string{"state, target, probability and perhaps an action", "state, choice, target, probability and perhaps an action"}[mdp]
	if t.typ == syntax.LTS {
		weighed, want = 0, "state, choice, target and perhaps an action"
	}
	if t.seen != nil {
		if f[0].String() == "-" {
			t.beginning()
			return
		}
		weighed, want = 2, "state, choice, target, probability, observation and perhaps an action"
	}
	if len(f) < 2+mdp+weighed || len(f) > 3+mdp+weighed {
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
	case weighed > 0:
		x, ok = t.value(f[2+mdp], "probability or rate", t.exact)
	}
	if !ok || t.seen != nil && !t.shows(target, f[4]) {
		return
	}
	action := sparse.NoAction
	if at := 2 + mdp + weighed; len(f) > at {
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
	t.transition(target, x, action, f[1+mdp].at, f[1+mdp+weighed].at)
}

// beginning reads what an initial state of a POMDP shows, which no transition need lead to.
func (t *traFile) beginning() {
	if f := t.fields; len(f) != 5 {
		t.fail(0, "found %d entries, wanted -, -, an initial state, - and its observation", len(f))
	} else if s, ok := t.index(f[2], "state", t.states); ok {
		t.shows(s, f[4])
	}
}

// shows notes what a state shows, which is always the same.
func (t *traFile) shows(s int, f field) bool {
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

// advance goes to the row of choice j of state s.
func (t *traFile) advance(s, j int, action sparse.Action) bool {
	begins := s != t.current
	if s < t.current {
		t.fail(t.fields[0].at, "found state %d after state %d, wanted rows in the order of states", s, t.current)
		return false
	}
	if begins {
		t.state(s)
		t.current, t.choices = s, 0
	}
	last := t.choices - 1
	switch {
	case t.kind != sparse.MDP:
		if begins {
			t.choices = 1
			t.choice(sparse.NoAction, t.pos(0))
		}
		return true
	case j == t.choices:
		t.choices++
		t.acting = action
		t.choice(action, t.pos(0))
		return true
	case j != last:
		t.fail(t.fields[1].at, "found choice %d of state %d, wanted %d or %d: choices in order", j, s, max(last, 0), t.choices)
		return false
	case action != t.acting:
		t.fail(0, "found another action for choice %d of state %d, wanted one", j, s)
		return false
	}
	return true
}

// end compares the totals.
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
