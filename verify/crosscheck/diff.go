package crosscheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Kind is what two state spaces differ in.
type Kind string

// The kinds.
const (
	Refused     Kind = "model" // one is refused
	ModelType   Kind = "model type"
	Variables   Kind = "variables"
	Initial     Kind = "initial states"
	States      Kind = "state"
	Choices     Kind = "choice"
	Probability Kind = "probability" // or rate
	Labels      Kind = "label"
	Rewards     Kind = "reward"
)

// Difference is the first difference between two state spaces, in breadth-first
// order: everything before it is the same.
type Difference struct {
	Kind  Kind
	State string // "(x=1,y=0)"; empty for what is not about a state
	What  string // what it is that differs: "choice [left], to (x=2,y=0)"
	// First and Second are what there is in the one and in the other space.
	First, Second string
	// Made lists the commands, labels or rewards that made what is there.
	Made []Origin
}

// Origin is a place of a model: a command, unless What says something else.
type Origin struct {
	Model   string // whose model it is, as Diagnosis.First or Second
	File    string
	Pos     syntax.Pos
	What    string // `label "l"`, `reward "r"`
	Action  string // empty for none
	Enabled bool   // the command, in the state of the difference
}

// String returns "file:line:col: command [left]", and says if it is not enabled.
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

// Side is a state space to compare and what to call it. Of a space that was
// imported it says what the space tells of the model.
type Side struct {
	Name string
	explicit.Told
}

// ofModel is a side whose space has everything that the model has.
func ofModel(name string, space *explicit.Space) Side {
	return Side{name, explicit.Told{Space: space, Whole: true, Actions: true}}
}

// Diff compares two state spaces by valuation and returns the first difference,
// nil if there is none. Numbers are compared as fractions where both spaces have
// them. Neither the numbers of states nor the order of variables, choices and
// transitions matter; of choices that are alike one counts. The first space is one
// that was built. If the second is imported, what its side does not tell is compared
// as far as both have it, and it may lack variables that never change: Storm writes
// no such.
//
// The error is the context's, or that of a label or reward which cannot be evaluated.
func Diff(ctx context.Context, first, second Side) (*Difference, error) {
	d := &differ{a: newView(first), b: newView(second)}
	d.exact = d.a.fractions() && d.b.fractions()
	if x := d.types(); x != nil {
		return x, nil
	}
	if x := d.variables(); x != nil {
		return x, nil
	}
	d.actions = second.Actions || d.a.named() && d.b.named()
	if err := d.match(ctx); err != nil {
		return nil, err
	}
	if x := d.initial(); x != nil {
		return x, nil
	}
	return d.states(ctx)
}

// view is a space seen through the variables of the first one.
type view struct {
	Side
	model *sparse.Model
	// slots has the slot of each of the first space's variables, -1 for one
	// that this space lacks.
	slots []int
	state []int32
	// of is the first space's number of each state; of one that it lacks, -1 and less.
	of []int32
}

func newView(s Side) *view { return &view{Side: s, model: s.Space.Model()} }

// fractions reports whether numbers are to be compared as fractions.
func (v *view) fractions() bool { return v.model.Exact() && !v.Space.Rounded() }

func (v *view) named() bool {
	return slices.ContainsFunc(v.model.Actions, func(a sparse.Action) bool { return a != sparse.NoAction })
}

func (v *view) action(i int) string {
	if v.model.Actions == nil || v.model.Actions[i] == sparse.NoAction {
		return ""
	}
	return v.Space.Program().Actions[v.model.Actions[i]-1]
}

// differ compares two views.
type differ struct {
	a, b           *view
	actions, exact bool
	// constant has the value of those variables that b lacks.
	constant []int32
	// in is the number in b of each state of a, -1 for none.
	in []int32
}

func (d *differ) types() *Difference {
	a, b := d.a.Space.Program().Type, d.b.Space.Program().Type
	if d.a.model.Kind == d.b.model.Kind && (a == syntax.LTS) == (b == syntax.LTS) {
		return nil
	}
	return &Difference{Kind: ModelType, First: a.String(), Second: b.String()}
}

// variables maps the variables of one space to those of the other.
func (d *differ) variables() *Difference {
	a, b := d.a.Space.Program().Vars, d.b.Space.Program().Vars
	d.constant = make([]int32, len(a))
	found := 0
	for i, v := range a {
		slot := slices.IndexFunc(b, func(w sema.Variable) bool { return w.Name == v.Name })
		d.a.slots, d.b.slots = append(d.a.slots, i), append(d.b.slots, slot)
		if slot >= 0 {
			found++
			continue
		}
		value, fixed := d.a.fixed(i)
		if !fixed || !d.b.Space.Imported() {
			return lacks(Variables, "variable "+v.Name, true)
		}
		d.constant[i] = value
	}
	if found < len(b) {
		extra := slices.IndexFunc(b, func(w sema.Variable) bool {
			return !slices.ContainsFunc(a, func(v sema.Variable) bool { return v.Name == w.Name })
		})
		return lacks(Variables, "variable "+b[extra].Name, false)
	}
	return nil
}

// lacks says that one space, the second or the first, has not what the other has.
func lacks(kind Kind, what string, second bool) *Difference {
	out := &Difference{Kind: kind, What: what, First: "there", Second: "not there"}
	if !second {
		out.First, out.Second = out.Second, out.First
	}
	return out
}

// fixed returns the value of a variable that has the same in all states.
func (v *view) fixed(slot int) (int32, bool) {
	value := v.Space.State(nil, 0)[slot]
	var state []int32
	for i := range v.model.NumStates() {
		if state = v.Space.State(state, i); state[slot] != value {
			return 0, false
		}
	}
	return value, true
}

// valuation returns state i in terms of the first space's variables.
func (d *differ) valuation(v *view, i int) []int32 {
	v.state = v.Space.State(v.state, i)
	out := make([]int32, len(v.slots))
	for k, slot := range v.slots {
		if slot < 0 {
			out[k] = d.constant[k]
			continue
		}
		out[k] = v.state[slot]
	}
	return out
}

// match numbers the states of b as a has them.
func (d *differ) match(ctx context.Context) error {
	d.in = slices.Repeat([]int32{-1}, d.a.model.NumStates())
	d.a.of, d.b.of = make([]int32, len(d.in)), make([]int32, d.b.model.NumStates())
	for i := range d.a.of {
		d.a.of[i] = int32(i)
	}
	for j := range d.b.of {
		if j&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		d.b.of[j] = int32(-1 - j)
		if i, ok := d.a.Space.Find(d.valuation(d.b, j)); ok {
			d.b.of[j], d.in[i] = int32(i), int32(j)
		}
	}
	return nil
}

// text is the valuation of a state by its number in view.of.
func (d *differ) text(of int32) string {
	return d.a.Space.Compiled().StateText(d.target(of))
}

// target is that valuation.
func (d *differ) target(of int32) []int32 {
	if of < 0 {
		return d.valuation(d.b, int(-1-of))
	}
	return d.valuation(d.a, int(of))
}

func (d *differ) initial() *Difference {
	var other []int32
	for _, j := range d.b.model.Initial {
		other = append(other, d.b.of[j])
	}
	for _, i := range d.a.model.Initial {
		k := slices.Index(other, int32(i))
		if k < 0 {
			return &Difference{Kind: Initial, First: d.text(int32(i)), Second: d.list(other)}
		}
		other = slices.Delete(other, k, k+1)
	}
	if len(other) > 0 {
		return &Difference{Kind: Initial, First: "no such state", Second: d.list(other)}
	}
	return nil
}

func (d *differ) list(states []int32) string {
	if len(states) == 0 {
		return "no such state"
	}
	out := d.text(states[0])
	if len(states) > 1 {
		out += fmt.Sprintf(" and %d more", len(states)-1)
	}
	return out
}

// states compares the choices, and then labels and rewards, of state after
// state. Since states come in breadth-first order and all before were the same,
// b has every state of a, and no other that can be reached.
func (d *differ) states(ctx context.Context) (*Difference, error) {
	extras, x, err := d.extras()
	if x != nil || err != nil {
		return x, err
	}
	for i, j := range d.in {
		if i&0xff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if j < 0 {
			return &Difference{Kind: States, State: d.text(int32(i)), First: "there", Second: "not there"}, nil
		}
		x, pairs := d.choices(i, int(j))
		if x == nil {
			x = extras.compare(i, int(j), pairs)
		}
		if x != nil {
			x.State = d.text(int32(i))
			return x, nil
		}
	}
	if j := slices.IndexFunc(d.b.of, func(of int32) bool { return of < 0 }); j >= 0 {
		return &Difference{Kind: States, State: d.text(d.b.of[j]), First: "not there", Second: "there"}, nil
	}
	return nil, nil
}

// move is a choice, or the only one of a Markov chain's state.
type move struct {
	index  int
	action string
	edges  []edge
}

// edge is the transitions of a move that have the same action, which a move of
// an MDP leaves to itself, and the same target.
type edge struct {
	action string
	target int32 // as in view.of
	weight quantity
	high   quantity // the upper end of an interval, whose lower one is weight
	// earned is what the transitions earn, each times its weight.
	earned quantity
}

// moves lists the choices of a state.
func (d *differ) moves(v *view, i int) []move {
	var out []move
	first, end := v.model.Choices(i)
	for c := first; c < end; c++ {
		m := move{index: c, edges: d.edges(v, c, nil)}
		if v.model.Kind == sparse.MDP && d.actions {
			m.action = v.action(c)
		}
		out = append(out, m)
	}
	return out
}

// edges lists the transitions of a choice, sorted by target.
func (d *differ) edges(v *view, c int, reward func(t int) quantity) []edge {
	lo, hi := v.model.Row(c)
	out := make([]edge, 0, hi-lo)
	for t := lo; t < hi; t++ {
		e := edge{target: v.of[v.model.Target[t]]}
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
		if v.model.Kind != sparse.MDP && d.actions {
			e.action = v.action(t)
		}
		if reward != nil {
			e.earned = e.weight.times(reward(t))
		}
		k, there := slices.BinarySearchFunc(out, e, edge.compare)
		if !there {
			out = slices.Insert(out, k, e)
			continue
		}
		if v.model.Intervals() {
			out[k].high = out[k].high.plus(e.high)
		}
		out[k].weight, out[k].earned = out[k].weight.plus(e.weight), out[k].earned.plus(e.earned)
	}
	return out
}

func (e edge) compare(f edge) int {
	return cmp.Or(cmp.Compare(e.target, f.target), strings.Compare(e.action, f.action))
}

func (m *move) equal(o *move) bool {
	return m.action == o.action && slices.EqualFunc(m.edges, o.edges, func(e, f edge) bool {
		return e.compare(f) == 0 && e.weight.equal(f.weight) && e.high.equal(f.high)
	})
}

// choices compares the choices of states i of a and j of b; pairs are the
// numbers of those that are the same.
func (d *differ) choices(i, j int) (x *Difference, pairs [][2]int) {
	as, bs := d.moves(d.a, i), d.moves(d.b, j)
	matched := make([]bool, len(bs))
	var left []*move
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
	var right []*move
	for l := range bs {
		if !matched[l] {
			right = append(right, &bs[l])
		}
	}
	if len(left) == 0 && len(right) == 0 {
		return nil, pairs
	}
	return d.explain(i, j, left, right), nil
}
