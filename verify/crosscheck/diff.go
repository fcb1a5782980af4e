package crosscheck

import (
	"context"
	"fmt"
	"math"
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
	// Made lists the commands that made what is there.
	Made []Origin
}

// Origin is a command of a model.
type Origin struct {
	Model   string // whose model it is, as Diagnosis.First or Second
	File    string
	Pos     syntax.Pos
	Action  string // empty for none
	Enabled bool   // in the state of the difference
}

// String returns "file:line:col: command [left]", and says if it is not enabled.
func (o *Origin) String() string {
	e := syntax.Error{File: o.File, Pos: o.Pos, Msg: "command [" + o.Action + "]"}
	if !o.Enabled {
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

// Side is a state space to compare and what to call it.
type Side struct {
	Name  string
	Space *explicit.Space
}

// probabilityTolerance is how far equal probabilities may be apart, relatively:
// what writing them into a file, and adding them up in another order, can do.
const probabilityTolerance = 1e-9

// Diff compares two state spaces by valuation and returns the first difference,
// nil if there is none. Neither the numbers of states nor the order of variables,
// choices and transitions matter; of choices that are alike one counts. Labels
// and rewards are compared if both spaces have them under the same name. The
// first space is one that was built. If the second is imported, its rewards are
// not compared, its actions only if both have any, and it may lack variables that
// never change: Storm writes no such.
//
// The error is the context's, or that of a label or reward which cannot be evaluated.
func Diff(ctx context.Context, first, second Side) (*Difference, error) {
	d := &differ{a: newView(first), b: newView(second)}
	if x := d.types(); x != nil {
		return x, nil
	}
	if x := d.variables(); x != nil {
		return x, nil
	}
	d.actions = !second.Space.Imported() || d.a.named() && d.b.named()
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
}

func newView(s Side) *view { return &view{Side: s, model: s.Space.Model()} }

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
	a, b    *view
	actions bool
	// constant has the value of those variables that b lacks.
	constant []int32
}

func (d *differ) types() *Difference {
	if d.a.model.Kind == d.b.model.Kind {
		return nil
	}
	return &Difference{Kind: ModelType, First: d.a.model.Kind.String(), Second: d.b.model.Kind.String()}
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
			return d.lacks(v.Name, true)
		}
		d.constant[i] = value
	}
	if found < len(b) {
		extra := slices.IndexFunc(b, func(w sema.Variable) bool {
			return !slices.ContainsFunc(a, func(v sema.Variable) bool { return v.Name == w.Name })
		})
		return d.lacks(b[extra].Name, false)
	}
	return nil
}

func (d *differ) lacks(name string, second bool) *Difference {
	out := &Difference{Kind: Variables, What: "variable " + name, First: "there", Second: "not there"}
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

// find returns the state of b with a valuation in terms of a.
func (d *differ) find(valuation []int32) (int, bool) {
	state := make([]int32, len(d.b.Space.Program().Vars))
	for k, slot := range d.b.slots {
		switch {
		case slot >= 0:
			state[slot] = valuation[k]
		case valuation[k] != d.constant[k]:
			return 0, false
		}
	}
	return d.b.Space.Find(state)
}

func (d *differ) text(valuation []int32) string { return d.a.Space.Compiled().StateText(valuation) }

func (d *differ) initial() *Difference {
	var other [][]int32
	for _, i := range d.b.model.Initial {
		other = append(other, d.valuation(d.b, int(i)))
	}
	for _, i := range d.a.model.Initial {
		v := d.valuation(d.a, int(i))
		k := slices.IndexFunc(other, func(w []int32) bool { return slices.Equal(v, w) })
		if k < 0 {
			return &Difference{Kind: Initial, First: d.text(v), Second: d.list(other)}
		}
		other = slices.Delete(other, k, k+1)
	}
	if len(other) > 0 {
		return &Difference{Kind: Initial, First: "no such state", Second: d.list(other)}
	}
	return nil
}

func (d *differ) list(states [][]int32) string {
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
	extras, err := d.extras()
	if err != nil {
		return nil, err
	}
	for i := range d.a.model.NumStates() {
		if i&0xff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		v := d.valuation(d.a, i)
		j, ok := d.find(v)
		if !ok {
			return &Difference{Kind: States, State: d.text(v), First: "there", Second: "not there"}, nil
		}
		x, pairs := d.choices(i, j)
		if x != nil {
			x.State = d.text(v)
			return x, nil
		}
		if x := extras.compare(i, j, pairs); x != nil {
			x.State = d.text(v)
			return x, nil
		}
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
	target []int32
	weight float64
}

// moves lists the choices of a state. Edges are sorted by target.
func (d *differ) moves(v *view, i int) []move {
	var out []move
	first, end := v.model.Choices(i)
	for c := first; c < end; c++ {
		m := move{index: c}
		mdp := v.model.Kind == sparse.MDP
		if mdp && d.actions {
			m.action = v.action(c)
		}
		lo, hi := v.model.Row(c)
		for t := lo; t < hi; t++ {
			e := edge{target: d.valuation(v, int(v.model.Target[t])), weight: v.model.Prob(t)}
			if !mdp && d.actions {
				e.action = v.action(t)
			}
			m.add(e)
		}
		slices.SortFunc(m.edges, edge.compare)
		out = append(out, m)
	}
	return out
}

func (e edge) compare(f edge) int {
	if c := slices.Compare(e.target, f.target); c != 0 {
		return c
	}
	return strings.Compare(e.action, f.action)
}

func (m *move) add(e edge) {
	for i := range m.edges {
		if m.edges[i].compare(e) == 0 {
			m.edges[i].weight += e.weight
			return
		}
	}
	m.edges = append(m.edges, e)
}

func (m *move) equal(o *move) bool {
	return m.action == o.action && slices.EqualFunc(m.edges, o.edges, func(e, f edge) bool {
		return e.compare(f) == 0 && near(e.weight, f.weight)
	})
}

func near(x, y float64) bool {
	return x == y || math.Abs(x-y) <= probabilityTolerance*max(math.Abs(x), math.Abs(y))
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
