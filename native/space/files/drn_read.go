package files

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// rateTolerance is the largest accepted relative difference between the exit rate of a state and
// the sum of its rates: by default Storm writes six digits.
const rateTolerance = 1e-5

// noLabel is Storm's name for a missing action.
const noLabel = "__NOLABEL__"

// ReadDRN reads a model in Storm's format. The valuations are only comments there, so states have
// one variable x, their number. Errors are as for Read. Intervals, parameters, placeholders,
// Markov automata and partially observable models are rejected by name.
//
// Source: Storm's DirectEncodingParser.
func ReadDRN(ctx context.Context, src Source, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	d := &drnFile{l: newLines(src), opts: opts, labels: map[string]*sparse.Set{}}
	if !d.preamble() {
		return nil, d.l.errs.Err()
	}
	if err := opts.limit(d.declaredStates); err != nil {
		return nil, err
	}
	if err := d.body(ctx); err != nil {
		return nil, err
	}
	return d.finish()
}

// drnFile reads a .drn file.
type drnFile struct {
	*assembly
	l     *lines
	opts  ReadOptions
	typ   syntax.ModelType
	names []string // of reward structures
	open  bool     // a last structure without a name may follow

	declaredStates  int
	declaredChoices int // -1 if not declared

	current   int // state, -1 before the first
	hasAction bool
	rate      number
	rateAt    syntax.Pos
	rowAction sparse.Action // the action of the current row
	reward    []number      // rewards of the action

	order  []string // labels in order of appearance
	empty  []string // labels that hold in no state, from a comment
	labels map[string]*sparse.Set

	stateRewards []*column
	rowRewards   [][]number // of the action, for every transition
}

// preamble reads everything up to @model.
func (d *drnFile) preamble() bool {
	d.declaredChoices = -1
	for d.l.next() {
		text := string(d.l.text)
		key, value, _ := strings.Cut(text, ":")
		switch {
		case strings.HasPrefix(text, emptyLabels):
			d.emptyLabels(strings.TrimPrefix(text, emptyLabels))
		case strings.TrimSpace(text) == "" || strings.HasPrefix(text, "//"):
		case key == "@type":
			d.readType(strings.TrimSpace(value))
		case key == "@value_type":
			d.valueType(strings.TrimSpace(value))
		case text == "@model":
			return d.declared()
		case text[0] != '@':
			d.l.fail(0, "found %s, wanted a keyword such as @type: or @model", quote(d.l.text))
			return false
		default:
			d.section(text)
		}
	}
	if len(d.l.errs) == 0 {
		d.l.failEnd("found the end of the file, wanted @model")
	}
	return false
}

// emptyLabels reads the comment with the labels that hold in no state.
func (d *drnFile) emptyLabels(text string) {
	for i, name := range strings.Split(text, `"`) {
		if i%2 == 1 && name != "" && name != "init" && name != "deadlock" {
			d.empty = append(d.empty, name)
		}
	}
}

func (d *drnFile) readType(name string) {
	typ := syntax.TypeNone
	switch strings.ToUpper(name) {
	case "DTMC":
		typ = syntax.DTMC
	case "MDP":
		typ = syntax.MDP
	case "CTMC":
		typ = syntax.CTMC
	default:
		d.l.fail(0, "found a model of type %s, only DTMCs, MDPs and CTMCs can be read", quote([]byte(name)))
		return
	}
	switch {
	case d.typ != syntax.TypeNone:
		d.l.fail(0, "found a second @type, wanted one")
	case d.opts.Type != syntax.TypeNone && d.opts.Type != typ:
		d.l.fail(0, "found a model of type %s, wanted a %s as asked for", typ, d.opts.Type)
	}
	d.typ = typ
}

func (d *drnFile) valueType(name string) {
	switch name {
	case "double", "rational":
	case "double-interval", "rational-interval", "parametric":
		d.l.fail(0, "found values of type %s, which are not supported, wanted double or rational", name)
	default:
		d.l.fail(0, "found values of type %s, wanted double or rational", quote([]byte(name)))
	}
}

// section reads a keyword and the line after it.
func (d *drnFile) section(key string) {
	switch key {
	case "@parameters", "@reward_models", "@nr_states", "@nr_choices":
	case "@placeholders":
		d.l.fail(0, "found @placeholders, which are not supported")
		return
	default:
		d.l.fail(0, "found %s, wanted a keyword such as @type: or @model", quote([]byte(key)))
		return
	}
	if !d.l.next() {
		return
	}
	f := d.l.split()
	switch {
	case key == "@parameters":
		if len(f) > 0 {
			d.l.fail(f[0].at, "found the parameter %s: parametric models are not supported", quote(f[0].text))
		}
	case key == "@reward_models":
		d.rewardNames(string(d.l.text))
	case len(f) != 1:
		d.l.fail(0, "found %s, wanted a number", quote(d.l.text))
	case key == "@nr_states":
		d.declaredStates, _ = d.l.count(f[0], "number of states")
	default:
		if n, ok := d.l.count(f[0], "number of choices"); ok {
			d.declaredChoices = n
		}
	}
}

// rewardNames splits the names of the reward structures. A space at the end of the line is Storm's
// habit, or stands before a last structure with an empty name: open leaves both possible.
func (d *drnFile) rewardNames(text string) {
	text, d.open = strings.CutSuffix(text, " ")
	d.open = d.open || text == ""
	if text != "" {
		d.names = strings.Split(text, " ")
	}
}

// declared checks that the preamble is complete.
func (d *drnFile) declared() bool {
	switch {
	case len(d.l.errs) > 0:
	case d.typ == syntax.TypeNone:
		d.l.fail(0, "found no @type, wanted one before @model")
	case d.declaredStates == 0:
		d.l.fail(0, "found no states, wanted @nr_states before @model with at least one")
	}
	return len(d.l.errs) == 0
}

func (d *drnFile) body(ctx context.Context) error {
	d.assembly = newAssembly(d.l, kindOf(d.typ), d.declaredStates, d.opts)
	d.current = -1
	for n := 0; d.next(); n++ {
		if n&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		text := bytes.TrimLeft(d.text, " \t")
		c := &cursor{drnFile: d, at: len(d.text) - len(text)}
		switch {
		case len(text) == 0 || bytes.HasPrefix(text, []byte("//")):
		case c.word("state"):
			c.state()
		case c.word("action"):
			c.choice()
		default:
			c.transition()
		}
	}
	return nil
}

// cursor is a position in the current line.
type cursor struct {
	*drnFile
	at int
}

func (c *cursor) rest() []byte { return c.text[c.at:] }

func (c *cursor) blank() {
	for c.at < len(c.text) && (c.text[c.at] == ' ' || c.text[c.at] == '\t') {
		c.at++
	}
}

// word skips a word and the blanks after it, and reports whether the word was there.
func (c *cursor) word(w string) bool {
	rest, ok := bytes.CutPrefix(c.rest(), []byte(w))
	if !ok || len(rest) == 0 || rest[0] != ' ' && rest[0] != '\t' {
		return false
	}
	c.at += len(w)
	c.blank()
	return true
}

// field returns the text up to the next blank, and moves the cursor behind the blanks.
func (c *cursor) field() field {
	f := field{c.rest(), c.at}
	if i := bytes.IndexAny(f.text, " \t"); i >= 0 {
		f.text = f.text[:i]
	}
	c.at += len(f.text)
	c.blank()
	return f
}

// state reads "0 !2.5 [1, 0] init "two words"" after the keyword.
func (c *cursor) state() {
	f := c.field()
	i, ok := c.index(f, "state", c.states)
	if !ok {
		return
	}
	if i != c.current+1 {
		c.fail(f.at, "found state %d, wanted state %d: every state once and in order", i, c.current+1)
		if i <= c.current {
			return
		}
	}
	c.endState()
	c.assembly.state(i)
	c.current, c.hasAction = i, false
	c.exitRate()
	if values, ok := c.tuple(); ok {
		for j, x := range values {
			c.stateReward(j).put(i, x)
		}
	}
	for c.at < len(c.text) && len(c.errs) < maxErrors {
		c.label(i)
	}
}

// exitRate reads the exit rate of a state of a CTMC, "!2.5".
func (c *cursor) exitRate() {
	has := bytes.HasPrefix(c.rest(), []byte("!"))
	if has != (c.kind == sparse.CTMC) {
		c.fail(c.at, "found %s, wanted the exit rate, such as !2.5, in a CTMC and only there", quote(c.rest()))
		return
	}
	if has {
		c.rateAt = c.pos(c.at)
		c.at++
		c.rate, _ = c.value(c.field(), "rate", c.exact)
	}
}

// tuple reads rewards, "[1, 0]", if there are any.
func (c *cursor) tuple() ([]number, bool) {
	if !bytes.HasPrefix(c.rest(), []byte("[")) {
		return nil, false
	}
	begin := c.at
	end := bytes.IndexByte(c.rest(), ']')
	if end < 0 {
		c.fail(begin, "found no ], wanted one after the rewards")
		c.at = len(c.text)
		return nil, false
	}
	c.at += end + 1
	c.blank()
	var out []number
	at := begin + 1
	for _, part := range bytes.Split(c.text[at:begin+end], []byte(",")) {
		trimmed := bytes.TrimLeft(part, " ")
		f := field{bytes.TrimRight(trimmed, " "), at + len(part) - len(trimmed)}
		x, ok := c.value(f, "reward", c.exact)
		if ok && x.f < 0 {
			c.fail(f.at, "found reward %s, wanted none below 0", quote(f.text))
			ok = false
		}
		if !ok {
			return nil, false
		}
		out = append(out, x)
		at += len(part) + 1
	}
	if c.open && len(out) == len(c.drnFile.names)+1 {
		c.drnFile.names = append(c.drnFile.names, "")
	}
	c.open = false
	if len(out) != len(c.drnFile.names) {
		c.fail(begin, "found %d rewards, wanted %d: one per name after @reward_models", len(out), len(c.drnFile.names))
		return nil, false
	}
	return out, true
}

func (d *drnFile) stateReward(j int) *column {
	for len(d.stateRewards) <= j {
		d.stateRewards = append(d.stateRewards, newColumn(d.states, d.exact))
	}
	return d.stateRewards[j]
}

// label reads a label, which may be in quotes.
func (c *cursor) label(i int) {
	f := c.field()
	if f.text[0] == '"' {
		end := bytes.IndexByte(c.text[f.at+1:], '"')
		if end <= 0 {
			c.fail(f.at, "found %s, wanted a label with a quote at both ends", quote(c.text[f.at:]))
			c.at = len(c.text)
			return
		}
		f.text = c.text[f.at+1 : f.at+1+end]
		c.at = f.at + end + 2
		c.blank()
	}
	name := string(f.text)
	set := c.labels[name]
	if set == nil {
		set = sparse.NewSet(c.states)
		c.labels[name] = set
		c.order = append(c.order, name)
	}
	if set.Has(i) {
		c.fail(f.at, "found label %s again, wanted each once", quote(f.text))
	}
	set.Add(i)
}

// choice reads the name and rewards of an action, "left [1, 0]".
func (c *cursor) choice() {
	f := c.field()
	switch {
	case c.current < 0:
		c.fail(f.at, "found an action, wanted a state before it")
		return
	case len(f.text) == 0:
		c.fail(f.at, "found no name, wanted that of an action")
		return
	case c.hasAction && c.kind != sparse.MDP:
		c.fail(f.at, "found a second action, wanted one per state in a %s", c.typ)
		return
	}
	c.emptyRow()
	name := f.String()
	if name == noLabel || allDigits(name) {
		name = ""
	}
	if name != "" && !isWord(name) {
		c.fail(f.at, "found %s, wanted the name of an action", quote(f.text))
	}
	c.hasAction = true
	c.rowAction = c.assembly.action(name)
	c.assembly.choice(c.rowAction, c.pos(f.at))
	c.reward, _ = c.tuple()
	if c.at < len(c.text) && len(c.errs) == 0 {
		c.fail(c.at, "found %s, wanted the end of the line", quote(c.rest()))
	}
}

// allDigits reports whether a name is the number of a choice.
func allDigits(name string) bool {
	for _, r := range name {
		if r < '0' || r > '9' {
			return false
		}
	}
	return true
}

// emptyRow reports an error for an action without transitions.
func (d *drnFile) emptyRow() {
	if d.hasAction && len(d.targets.all) == 0 {
		d.failAt(d.assembly.at, "found an action without transitions, wanted at least one")
	}
}

// transition reads a transition, "3 : 0.25".
func (c *cursor) transition() {
	if c.current < 0 || !c.hasAction {
		c.fail(c.at, "found %s, wanted a state and an action before transitions", quote(c.rest()))
		return
	}
	before, after, ok := bytes.Cut(c.rest(), []byte(":"))
	if !ok {
		c.fail(c.at, "found %s, wanted state, action or a transition such as 3 : 0.25", quote(c.rest()))
		return
	}
	to := field{bytes.TrimRight(before, " \t"), c.at}
	trimmed := bytes.TrimLeft(after, " \t")
	w := field{bytes.TrimRight(trimmed, " \t"), len(c.text) - len(trimmed)}
	target, ok := c.index(to, "state", c.states)
	if !ok {
		return
	}
	x, ok := c.value(w, "probability or rate", c.exact)
	if !ok {
		return
	}
	action := c.rowAction
	if c.kind == sparse.MDP {
		action = sparse.NoAction
	}
	c.assembly.transition(target, x, action, to.at, w.at)
	c.rowRewards = append(c.rowRewards, c.reward)
}

// endState checks the last row of a state and its exit rate.
func (d *drnFile) endState() {
	if d.current < 0 {
		return
	}
	d.emptyRow()
	if !d.hasAction {
		d.failAt(d.pos(0), "found no action in state %d, wanted at least one", d.current)
	}
	if d.kind != sparse.CTMC || len(d.errs) > 0 {
		return
	}
	deviation := math.Abs(d.rate.f-d.sum.f) / d.sum.f
	if !(deviation <= rateTolerance) {
		d.failAt(d.rateAt, "found exit rate %v, wanted %v, the sum of the rates", d.rate.f, d.sum.f)
	}
}

func (d *drnFile) finish() (*explicit.Space, error) {
	d.endState()
	if len(d.errs) == 0 && d.current+1 != d.states {
		d.failEnd("found %d states, wanted %d as @nr_states says", d.current+1, d.states)
	}
	if n := d.assembly.choices; len(d.errs) == 0 && d.declaredChoices >= 0 && n != d.declaredChoices {
		d.failEnd("found %d choices, wanted %d as @nr_choices says", n, d.declaredChoices)
	}
	model := d.assembly.finish()
	if model == nil {
		return nil, d.errs.Err()
	}
	sets, err := d.sets()
	if err != nil {
		return nil, err
	}
	d.complete(model, sets)
	in := &explicit.Imported{File: d.src.Name, Type: d.typ, Actions: d.assembly.names, Model: model, Warnings: d.warnings(), Normalised: d.normalised}
	in.Vars, in.Valuation = numbered(d.states)
	d.addRewards(in)
	return explicit.Import(in)
}

// sets returns the labels, the initial states and the deadlocks.
func (d *drnFile) sets() (declared, error) {
	l := labFile{lines: d.lines}
	for _, name := range d.empty {
		if !slices.Contains(d.order, name) {
			d.order, d.labels[name] = append(d.order, name), sparse.NewSet(d.states)
		}
	}
	l.names = d.order
	for _, name := range d.order {
		l.sets = append(l.sets, d.labels[name])
	}
	sets := l.declared()
	if sets.init == nil {
		return sets, syntax.ErrorList{{File: d.src.Name, Msg: `found no state with the label init, wanted at least one`}}
	}
	if sets.deadlock != nil {
		for s := range sets.deadlock.Minus(d.selfLoops).All() {
			return sets, syntax.ErrorList{{File: d.src.Name, Msg: fmt.Sprintf("state %d has the label deadlock and transitions to other states", s)}}
		}
	}
	return sets, nil
}

// addRewards adds the reward structures to the import. The reward of an action is that of each of
// its transitions.
func (d *drnFile) addRewards(in *explicit.Imported) {
	for j, name := range d.names {
		var state, trans *column
		if j < len(d.stateRewards) {
			state = d.stateRewards[j]
		}
		for t, row := range d.rowRewards {
			if len(row) == 0 {
				continue
			}
			if trans == nil {
				trans = newColumn(in.Model.NumTransitions(), d.exact)
			}
			trans.put(t, row[j])
		}
		r, each := structure(in.Model, name, state, trans)
		in.Model.Rewards = append(in.Model.Rewards, r)
		in.TransitionRewards = append(in.TransitionRewards, each)
	}
}
