package crosscheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Kind says what two state spaces differ in.
type Kind string

// The kinds.
const (
	Refused     Kind = "model" // only one tool accepts the model
	ModelType   Kind = "model type"
	Variables   Kind = "variables"
	Initial     Kind = "initial states"
	States      Kind = "state"
	Choices     Kind = "choice"
	Probability Kind = "probability" // or rate
	Labels      Kind = "label"
	Rewards     Kind = "reward"
)

// Difference is the first difference between two state spaces in breadth-first order: all earlier states are the same.
type Difference struct {
	Kind  Kind
	State string // "(x=1,y=0)"; empty if the difference is not about a state
	What  string // what differs: "choice [left], to (x=2,y=0)"
	// First and Second are the values in the first and in the second space.
	First, Second string
	// Made lists the commands, labels or rewards of the models that cause the difference.
	Made []Origin
}

// Origin is a place in a model: a command, unless What names something else.
type Origin struct {
	Model   string // Diagnosis.First or Second
	File    string
	Pos     syntax.Pos
	What    string // `label "l"`, `reward "r"`
	Action  string // empty for none
	Enabled bool   // the command is enabled in the state of the difference
}

// String returns "file:line:col: command [left]", and notes if the command is not enabled.
func (o *Origin) String() string {
	e := syntax.Error{File: o.File, Pos: o.Pos, Msg: cmp.Or(o.What, "command ["+o.Action+"]")}
	if o.What == "" && !o.Enabled {
		e.Msg += ", not enabled here"
	}
	return e.Error()
}

// String returns the difference as a sentence, without the commands.
func (d *Difference) String() string {
	text := string(d.Kind)
	if d.State != "" {
		text += " in state " + d.State
	}
	if d.What != "" {
		text += ", " + d.What
	}
	return text + ": " + d.First + " against " + d.Second
}

// Side is a state space to compare, with a name. For an imported space, Told says which parts of the model it includes.
type Side struct {
	Name string
	explicit.ToolSpace
}

// builtSide returns the side of a space that was built from a model and so includes everything.
func builtSide(name string, space *explicit.Space) Side {
	return Side{name, explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, AllActions: true}}
}

// Diff compares two state spaces by valuation and returns the first difference; nil if there is none. It compares
// fractions if both spaces have them, otherwise float64 numbers. The numbers of states and the order of variables,
// choices and transitions do not matter, and equal choices of a state count once.
//
// The first space must be built, not imported. If the second is imported, parts that it does not include are
// compared only as far as both have them. It may lack variables that never change, because Storm does not write those.
//
// The error is ctx.Err(), or a label or reward that cannot be evaluated.
func Diff(ctx context.Context, first, second Side) (*Difference, error) {
	d := &spaceComparison{a: newView(first), b: newView(second)}
	d.exact = d.a.exact() && d.b.exact()
	if x := d.compareTypes(); x != nil {
		return x, nil
	}
	if x := d.compareVariables(); x != nil {
		return x, nil
	}
	d.namedActions = second.AllActions || d.a.hasActions() && d.b.hasActions()
	if err := d.matchStates(ctx); err != nil {
		return nil, err
	}
	if x := d.compareInitial(); x != nil {
		return x, nil
	}
	return d.compareStates(ctx)
}

// view is a space seen through the variables of the first space.
type view struct {
	Side
	model *sparse.Model
	// slots has this space's slot for each of the first space's variables; -1 if
	// this space lacks it.
	slots []int
	state []int32
	// inFirst is the first space's number of each state; a state that it lacks has a negative one, -1-number.
	inFirst []int32
}

func newView(s Side) *view { return &view{Side: s, model: s.Space.Model()} }

// exact reports whether the weights are fractions that were not rounded.
func (v *view) exact() bool { return v.model.Exact() && !v.Space.Rounded() }

func (v *view) hasActions() bool {
	return slices.ContainsFunc(v.model.Actions, func(a sparse.Action) bool { return a != sparse.NoAction })
}

func (v *view) action(i int) string {
	if v.model.Actions == nil || v.model.Actions[i] == sparse.NoAction {
		return ""
	}
	return v.Space.Program().Actions[v.model.Actions[i]-1]
}

// spaceComparison compares two views.
type spaceComparison struct {
	a, b                *view
	namedActions, exact bool
	// constants has the values of the variables that b lacks.
	constants []int32
	// inSecond is b's number of each state of a; -1 if b lacks it.
	inSecond []int32
}

func (d *spaceComparison) compareTypes() *Difference {
	a, b := d.a.Space.Program().Type, d.b.Space.Program().Type
	if d.a.model.Kind == d.b.model.Kind && (a == syntax.LTS) == (b == syntax.LTS) {
		return nil
	}
	return &Difference{Kind: ModelType, First: a.String(), Second: b.String()}
}

// compareVariables maps the variables of one space to those of the other.
func (d *spaceComparison) compareVariables() *Difference {
	a, b := d.a.Space.Program().Vars, d.b.Space.Program().Vars
	d.constants = make([]int32, len(a))
	found := 0
	for i, v := range a {
		slot := slices.IndexFunc(b, func(w sema.Variable) bool { return w.Name == v.Name })
		d.a.slots, d.b.slots = append(d.a.slots, i), append(d.b.slots, slot)
		if slot >= 0 {
			found++
			continue
		}
		value, fixed := d.a.constantValue(i)
		if !fixed || !d.b.Space.Imported() {
			return missing(Variables, "variable "+v.Name, true)
		}
		d.constants[i] = value
	}
	if found < len(b) {
		extra := slices.IndexFunc(b, func(w sema.Variable) bool {
			return !slices.ContainsFunc(a, func(v sema.Variable) bool { return v.Name == w.Name })
		})
		return missing(Variables, "variable "+b[extra].Name, false)
	}
	return nil
}

// missing returns the difference that one space lacks something.
func missing(kind Kind, what string, fromSecond bool) *Difference {
	out := &Difference{Kind: kind, What: what, First: "there", Second: "not there"}
	if !fromSecond {
		out.First, out.Second = out.Second, out.First
	}
	return out
}

// constantValue returns the value of a variable that has the same value in all states.
func (v *view) constantValue(slot int) (int32, bool) {
	value := v.Space.State(nil, 0)[slot]
	var state []int32
	for i := range v.model.NumStates() {
		if state = v.Space.State(state, i); state[slot] != value {
			return 0, false
		}
	}
	return value, true
}

// valuation returns state i of v as a valuation of the first space's variables.
func (d *spaceComparison) valuation(v *view, i int) []int32 {
	v.state = v.Space.State(v.state, i)
	out := make([]int32, len(v.slots))
	for k, slot := range v.slots {
		if slot < 0 {
			out[k] = d.constants[k]
			continue
		}
		out[k] = v.state[slot]
	}
	return out
}

// matchStates maps the states of b to those of a with the same valuation.
func (d *spaceComparison) matchStates(ctx context.Context) error {
	d.inSecond = slices.Repeat([]int32{-1}, d.a.model.NumStates())
	d.a.inFirst, d.b.inFirst = make([]int32, len(d.inSecond)), make([]int32, d.b.model.NumStates())
	for i := range d.a.inFirst {
		d.a.inFirst[i] = int32(i)
	}
	for j := range d.b.inFirst {
		if j&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		d.b.inFirst[j] = int32(-1 - j)
		if i, ok := d.a.Space.Find(d.valuation(d.b, j)); ok {
			d.b.inFirst[j], d.inSecond[i] = int32(i), int32(j)
		}
	}
	return nil
}

// stateText returns the text of a state, numbered as in view.inFirst.
func (d *spaceComparison) stateText(of int32) string {
	return d.a.Space.Compiled().StateText(d.valuationOf(of))
}

// valuationOf returns the valuation of a state, numbered as in view.inFirst.
func (d *spaceComparison) valuationOf(of int32) []int32 {
	if of < 0 {
		return d.valuation(d.b, int(-1-of))
	}
	return d.valuation(d.a, int(of))
}

func (d *spaceComparison) compareInitial() *Difference {
	var other []int32
	for _, j := range d.b.model.Initial {
		other = append(other, d.b.inFirst[j])
	}
	for _, i := range d.a.model.Initial {
		k := slices.Index(other, int32(i))
		if k < 0 {
			return &Difference{Kind: Initial, First: d.stateText(int32(i)), Second: d.stateList(other)}
		}
		other = slices.Delete(other, k, k+1)
	}
	if len(other) > 0 {
		return &Difference{Kind: Initial, First: "no such state", Second: d.stateList(other)}
	}
	return nil
}

func (d *spaceComparison) stateList(states []int32) string {
	if len(states) == 0 {
		return "no such state"
	}
	out := d.stateText(states[0])
	if len(states) > 1 {
		out += fmt.Sprintf(" and %d more", len(states)-1)
	}
	return out
}

// compareStates compares the choices, labels and rewards of one state after another. The states of a are in breadth-first
// order, so as long as no difference was found, b has every state seen so far.
func (d *spaceComparison) compareStates(ctx context.Context) (*Difference, error) {
	extras, x, err := d.newLabelsAndRewards()
	if x != nil || err != nil {
		return x, err
	}
	for i, j := range d.inSecond {
		if i&0xff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if j < 0 {
			return &Difference{Kind: States, State: d.stateText(int32(i)), First: "there", Second: "not there"}, nil
		}
		x, pairs := d.compareChoices(i, int(j))
		if x == nil {
			x = extras.compare(i, int(j), pairs)
		}
		if x != nil {
			x.State = d.stateText(int32(i))
			return x, nil
		}
	}
	if j := slices.IndexFunc(d.b.inFirst, func(of int32) bool { return of < 0 }); j >= 0 {
		return &Difference{Kind: States, State: d.stateText(d.b.inFirst[j]), First: "not there", Second: "there"}, nil
	}
	return nil, nil
}

// choice is a choice of a state; a state of a Markov chain has one.
type choice struct {
	index       int
	action      string
	transitions []transition
}

// transition combines the transitions of a choice that have the same target and, in a Markov chain, the same action.
type transition struct {
	action string
	target int32 // as in view.inFirst
	weight quantity
	high   quantity // for interval models: the upper end; weight is the lower end
	// weightedReward is the sum of the transitions' rewards times their weights.
	weightedReward quantity
}

// choicesOf returns the choices of a state.
func (d *spaceComparison) choicesOf(v *view, i int) []choice {
	var out []choice
	first, end := v.model.Choices(i)
	for c := first; c < end; c++ {
		m := choice{index: c, transitions: d.transitionsOf(v, c, nil)}
		if v.model.Kind == sparse.MDP && d.namedActions {
			m.action = v.action(c)
		}
		out = append(out, m)
	}
	return out
}

// transitionsOf returns the transitions of a choice, sorted by target and action.
func (d *spaceComparison) transitionsOf(v *view, c int, reward func(t int) quantity) []transition {
	lo, hi := v.model.Row(c)
	out := make([]transition, 0, hi-lo)
	for t := lo; t < hi; t++ {
		e := transition{target: v.inFirst[v.model.Target[t]]}
		if d.exact {
			e.weight.r = v.model.Rat(t)
		} else {
			e.weight.f = v.model.Prob(t)
		}
		switch {
		case !v.model.Intervals():
		case d.exact:
			e.high.r = v.model.HighRat(t)
		default:
			e.high.f = v.model.Weights[v.model.High[t]]
		}
		if v.model.Kind != sparse.MDP && d.namedActions {
			e.action = v.action(t)
		}
		if reward != nil {
			e.weightedReward = e.weight.times(reward(t))
		}
		k, there := slices.BinarySearchFunc(out, e, transition.compare)
		if !there {
			out = slices.Insert(out, k, e)
			continue
		}
		if v.model.Intervals() {
			out[k].high = out[k].high.plus(e.high)
		}
		out[k].weight, out[k].weightedReward = out[k].weight.plus(e.weight), out[k].weightedReward.plus(e.weightedReward)
	}
	return out
}

func (e transition) compare(f transition) int {
	return cmp.Or(cmp.Compare(e.target, f.target), strings.Compare(e.action, f.action))
}

func (m *choice) equal(o *choice) bool {
	return m.action == o.action && slices.EqualFunc(m.transitions, o.transitions, func(e, f transition) bool {
		return e.compare(f) == 0 && e.weight.equal(f.weight) && e.high.equal(f.high)
	})
}

// compareChoices compares the choices of states i of a and j of b. pairs are the numbers of equal choices.
func (d *spaceComparison) compareChoices(i, j int) (x *Difference, pairs [][2]int) {
	as, bs := d.choicesOf(d.a, i), d.choicesOf(d.b, j)
	matched := make([]bool, len(bs))
	var left []*choice
	for k := range as {
		same := false
		for l := range bs {
			if as[k].equal(&bs[l]) {
				pairs = append(pairs, [2]int{as[k].index, bs[l].index})
				same, matched[l] = true, true
			}
		}
		if !same {
			left = append(left, &as[k])
		}
	}
	var right []*choice
	for l := range bs {
		if !matched[l] {
			right = append(right, &bs[l])
		}
	}
	if len(left) == 0 && len(right) == 0 {
		return nil, pairs
	}
	return d.explainChoices(i, j, left, right), nil
}
