package compile

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// SumTolerance is the greatest relative difference of a sum of probabilities from 1.
//
// Source: prism/src/prism/PrismUtils.java, epsilonDouble.
const SumTolerance = 1e-12

// CommandRef names a command: Program.Modules[Module].Commands[Command].
type CommandRef struct{ Module, Command int }

// Transition is one probabilistic alternative of a choice. Weight is a
// probability, or a rate in a CTMC, and positive. Target is a valuation.
type Transition struct {
	Weight float64
	Target []int32
}

// Choice is one way to leave a state. Action is an index into Program.Actions
// or sema.Unlabelled; Module is the module of an unlabelled choice that is one
// module's own command, and -1 otherwise. Commands has one command per module
// that takes part. No two transitions have the same target.
type Choice struct {
	Action      int
	Module      int
	Commands    []CommandRef
	Transitions []Transition
}

// Choices are all choices of one state, in the order of PRISM's explicit
// engine: unlabelled commands by module and command, then the actions in order
// of first appearance, where the first module's command varies fastest. A state
// without choices is a deadlock, which the caller may fix. Choices
// are not merged, scaled or removed.
//
// The memory belongs to the Expander and is overwritten by its next call.
type Choices struct {
	List []Choice
}

// Deadlock reports whether the state has no choice.
func (c *Choices) Deadlock() bool { return len(c.List) == 0 }

// Expander lists the choices of states. Expand does not allocate once its
// buffers have grown. An Expander is not safe for concurrent use; make one per
// goroutine.
type Expander interface {
	// Expand returns the choices of a state with one value per Program.Vars,
	// or a *StateError: an error of evaluation, probabilities that are
	// negative, not finite, all zero or do not sum to one within SumTolerance,
	// or a value outside its variable's declared range (where PRISM's explicit
	// engine is silent).
	Expand(state []int32) (*Choices, error)
	// Enabled lists the same choices without transitions: no probability is
	// evaluated or checked.
	Enabled(state []int32) (*Choices, error)
	// Apply writes the valuation that the state given to Expand or Enabled last
	// turns into by the update number updates[i] of the i-th command. Its errors
	// are those of Expand.
	Apply(target []int32, commands []CommandRef, updates []int) error
}

// NewExpander returns an Expander that interprets the model.
func (m *Model) NewExpander() Expander { return newExpander(m) }

// NewExpanderUntil returns an expander that stops with the context's error when the context ends. A single state can have
// a huge number of choices.
func (m *Model) NewExpanderUntil(ctx context.Context) Expander {
	x := newExpander(m)
	x.ctx = ctx
	return x
}

type expander struct {
	m   *Model
	env env
	ctx context.Context
	// work is the work since ctx was last polled: the number of commands in combinations
	// and of values in targets. stopped is the error of ctx.
	work    int
	stopped error
	// enabled has the enabled commands, by command.participant. weights[i] has the
	// probabilities of the updates of Model.commands[i] once weighed[i] is set.
	enabled      [][]*command
	weighed      []bool
	weights      [][]float64
	combinations []combination
	members      []*command // of all combos
	updates      []int      // odometer: one update per member
	targets      []int32    // of all transitions
	flat         []Transition
	// hashSlots is a hash table of the transitions of a choice that has many, by their
	// targets, numbered from 1. hashed is the number of transitions in it.
	hashSlots []int32
	hashed    int
	refs      []CommandRef
	out       Choices
}

// combination is a choice without its transitions: the commands members[first:last].
type combination struct {
	action, first, last int
}

func newExpander(m *Model) *expander {
	x := &expander{
		m:       m,
		ctx:     context.Background(),
		enabled: make([][]*command, m.numParticipants),
		weighed: make([]bool, len(m.commands)),
		weights: make([][]float64, len(m.commands)),
	}
	for i, c := range m.commands {
		x.weights[i] = make([]float64, len(c.updates))
	}
	return x
}

// Expand implements Expander.
func (x *expander) Expand(state []int32) (*Choices, error) {
	if err := x.expand(state); err != nil {
		return nil, err
	}
	if x.stopped != nil {
		return nil, x.stopped
	}
	return &x.out, nil
}

// workPerPoll is the work between polls of the context: some milliseconds.
const workPerPoll = 1 << 17

// addWork counts work and polls the context. It reports whether to continue.
func (x *expander) addWork(work int) bool {
	if x.work += work; x.work >= workPerPoll {
		x.work = 0
		x.stopped = x.ctx.Err()
	}
	return x.stopped == nil
}

func (x *expander) expand(state []int32) *StateError {
	if err := x.listWeighed(state); err != nil {
		return err
	}
	x.targets, x.flat, x.refs = x.targets[:0], x.flat[:0], x.refs[:0]
	x.out.List = x.out.List[:0]
	for _, c := range x.combinations {
		if x.stopped != nil {
			return nil
		}
		if err := x.addChoice(c); err != nil {
			return err
		}
	}
	x.setSlices()
	return nil
}

// Enabled implements Expander.
func (x *expander) Enabled(state []int32) (*Choices, error) {
	if err := x.listCombinations(state); err != nil {
		return nil, err
	}
	x.refs, x.flat, x.out.List = x.refs[:0], x.flat[:0], x.out.List[:0]
	for _, c := range x.combinations {
		x.out.List = append(x.out.List, x.withoutTransitions(c))
	}
	if x.stopped != nil {
		return nil, x.stopped
	}
	x.setSlices()
	return &x.out, nil
}

// Apply implements Expander.
func (x *expander) Apply(target []int32, commands []CommandRef, updates []int) error {
	copy(target, x.env.state)
	for i, ref := range commands {
		if err := x.assign(target, x.m.command(ref), updates[i]); err != nil {
			return err
		}
	}
	return nil
}

// listWeighed lists the combinations of a state, and evaluates the weights of each command in them.
func (x *expander) listWeighed(state []int32) *StateError {
	if err := x.listCombinations(state); err != nil {
		return err
	}
	for _, c := range x.combinations {
		if !x.addWork(c.last - c.first) {
			return nil
		}
		for _, member := range x.members[c.first:c.last] {
			if err := x.weigh(member); err != nil {
				return err
			}
		}
	}
	return nil
}

// listCombinations evaluates the guards and lists the combinations of enabled commands.
func (x *expander) listCombinations(state []int32) *StateError {
	x.env.state = state
	x.stopped = nil
	clear(x.weighed)
	for i := range x.enabled {
		x.enabled[i] = x.enabled[i][:0]
	}
	x.m.guards.forEachCandidate(state, func(c *command) {
		if c.guard(&x.env) {
			x.enabled[c.participant] = append(x.enabled[c.participant], c)
		}
	})
	if x.env.err != nil { // report the error of the first command in order
		x.env.err = nil
		for _, c := range x.m.commands {
			c.guard(&x.env)
		}
		return x.m.takeError(&x.env)
	}
	x.combinations, x.members = x.combinations[:0], x.members[:0]
	for i := range x.m.synchronisations {
		x.addCombos(&x.m.synchronisations[i])
	}
	return nil
}

// addCombos appends the product of the participants' enabled commands, the first participant varying fastest.
func (x *expander) addCombos(g *synchronisation) {
	for _, l := range g.participants {
		if len(x.enabled[l.commands[0].participant]) == 0 {
			return
		}
	}
	start := len(x.combinations)
	for i, l := range g.participants {
		on := x.enabled[l.commands[0].participant]
		if !slices.IsSortedFunc(on, inOrder) {
			slices.SortFunc(on, inOrder)
		}
		n := len(x.combinations) - start
		for _, c := range on {
			if i > 0 {
				x.extend(start, n, c)
				continue
			}
			x.combinations = append(x.combinations, combination{g.action, len(x.members), len(x.members) + 1})
			x.members = append(x.members, c)
		}
		// Remove the combinations without this participant.
		x.combinations = slices.Delete(x.combinations, start, start+n)
	}
}

func inOrder(a, b *command) int { return a.ord - b.ord }

// extend appends copies of the n combinations from index start, each with c added.
func (x *expander) extend(start, n int, c *command) {
	for _, old := range x.combinations[start : start+n] {
		if !x.addWork(old.last - old.first) {
			return
		}
		first := len(x.members)
		x.members = append(x.members, x.members[old.first:old.last]...)
		x.members = append(x.members, c)
		x.combinations = append(x.combinations, combination{old.action, first, len(x.members)})
	}
}

// weigh evaluates and checks the probabilities or rates of a command's updates.
//
// Source: PRISM's checks, reference section 2.4.
func (x *expander) weigh(c *command) *StateError {
	if x.weighed[c.ord] {
		return nil
	}
	what := "probability"
	if x.m.continuous() {
		what = "rate"
	}
	sum := 0.0
	for i, u := range c.updates {
		p := u.prob(&x.env)
		if err := x.m.takeError(&x.env); err != nil {
			return err
		}
		switch {
		case p < 0:
			return x.m.stateError(x.env.state, u.src.Prob.Pos(), fmt.Sprintf("%s %v is negative", what, p))
		case !(p <= math.MaxFloat64):
			return x.m.stateError(x.env.state, u.src.Prob.Pos(), fmt.Sprintf("%s %v is not finite", what, p))
		}
		x.weights[c.ord][i] = p
		sum += p
	}
	switch {
	case sum == 0:
		return x.m.stateError(x.env.state, c.src.Pos, what+" of every update is zero")
	case !x.m.continuous() && !sumsToOne(sum):
		return x.m.stateError(x.env.state, c.src.Pos, fmt.Sprintf("probabilities sum to %v, not to 1", sum))
	}
	x.weighed[c.ord] = true
	return nil
}

// sumsToOne is PRISM's test, relative to the sum.
func sumsToOne(sum float64) bool { return math.Abs((sum-1)/sum) < SumTolerance }

// addChoice appends the choice of a combination: the product of its commands' updates, the first command's varying fastest. It
// leaves out combinations of weight zero and adds up those with equal targets.
func (x *expander) addChoice(c combination) *StateError {
	members := x.members[c.first:c.last]
	ch, first := x.withoutTransitions(c), len(x.flat)
	x.updates = x.updates[:0]
	for range members {
		x.updates = append(x.updates, 0)
	}
	x.hashed = 0
	for x.addWork(len(members) + len(x.env.state)) {
		if w := x.weight(members, x.updates); w > 0 {
			if err := x.addTransition(first, members, w); err != nil {
				return err
			}
		}
		if !advance(members, x.updates) {
			break
		}
	}
	ch.Transitions = x.flat[first:]
	x.out.List = append(x.out.List, ch)
	return nil
}

// withoutTransitions returns the choice of a combination without its transitions.
func (x *expander) withoutTransitions(c combination) Choice {
	members, first := x.members[c.first:c.last], len(x.refs)
	for _, cmd := range members {
		x.refs = append(x.refs, CommandRef{cmd.module, cmd.index})
	}
	return Choice{Action: c.action, Module: ownModule(c.action, members), Commands: x.refs[first:]}
}

// weight returns the product of the members' weights, multiplied in order.
func (x *expander) weight(members []*command, updates []int) float64 {
	w := x.weights[members[0].ord][updates[0]]
	for i, c := range members[1:] {
		w = float64(w * x.weights[c.ord][updates[i+1]])
	}
	return w
}

// advance moves to the next tuple of updates, the first varying fastest.
func advance(members []*command, updates []int) bool {
	for i, c := range members {
		if updates[i]++; updates[i] < len(c.updates) {
			return true
		}
		updates[i] = 0
	}
	return false
}

func (x *expander) addTransition(first int, members []*command, w float64) *StateError {
	n := len(x.env.state)
	start := len(x.targets)
	x.targets = append(x.targets, x.env.state...)
	target := x.targets[start:]
	if err := x.apply(target, members, x.updates); err != nil {
		return err
	}
	if i := x.find(first, n, target); i >= 0 {
		x.flat[i].Weight += w
		x.targets = x.targets[:start]
		return nil
	}
	x.flat = append(x.flat, Transition{Weight: w})
	return nil
}

// find returns the index of the transition, from first on, with a target of n values; -1 if there is none.
func (x *expander) find(first, n int, target []int32) int {
	const few = 16
	if len(x.flat)-first < few {
		for i := first; i < len(x.flat); i++ {
			if slices.Equal(x.targets[i*n:(i+1)*n], target) {
				return i
			}
		}
		return -1
	}
	if 2*(len(x.flat)-first) > len(x.hashSlots) {
		x.hashSlots, x.hashed = make([]int32, max(4*few, 4*len(x.hashSlots))), 0
	} else if x.hashed == 0 {
		clear(x.hashSlots)
	}
	for ; x.hashed < len(x.flat)-first; x.hashed++ {
		i := first + x.hashed
		slot, _ := x.probe(first, n, x.targets[i*n:(i+1)*n])
		x.hashSlots[slot] = int32(x.hashed + 1)
	}
	_, i := x.probe(first, n, target)
	return i
}

// probe returns the hash slot of a target, and the transition in it; -1 if the slot is empty.
func (x *expander) probe(first, n int, target []int32) (slot, transition int) {
	h := uint64(len(target))
	for _, v := range target {
		h = (h ^ uint64(uint32(v))) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	mask := len(x.hashSlots) - 1 // the table size is a power of two
	for slot = int(h) & mask; x.hashSlots[slot] != 0; slot = (slot + 1) & mask {
		i := first + int(x.hashSlots[slot]) - 1
		if slices.Equal(x.targets[i*n:(i+1)*n], target) {
			return slot, i
		}
	}
	return slot, -1
}

// apply writes the values of the chosen updates into target. All updates read the state before the transition.
func (x *expander) apply(target []int32, members []*command, updates []int) *StateError {
	for i, c := range members {
		if err := x.assign(target, c, updates[i]); err != nil {
			return err
		}
	}
	return nil
}

// assign writes the values of one update of a command.
func (x *expander) assign(target []int32, c *command, update int) *StateError {
	for _, a := range c.updates[update].assigns {
		value := a.value(&x.env)
		if err := x.m.takeError(&x.env); err != nil {
			return err
		}
		v := &x.m.prog.Vars[a.slot]
		if value < v.Low || value > v.High {
			msg := fmt.Sprintf("%s'=%s leaves [%d..%d]", v.Name, valueText(v.Type, value), v.Low, v.High)
			return x.m.stateError(x.env.state, a.src.Pos, msg)
		}
		target[a.slot] = value
	}
	return nil
}

// setSlices sets the slices that refer to buffers, after the buffers have stopped growing.
func (x *expander) setSlices() {
	n := len(x.env.state)
	for i := range x.flat {
		x.flat[i].Target = x.targets[i*n : (i+1)*n : (i+1)*n]
	}
	ref, tr := 0, 0
	for i := range x.out.List {
		c := &x.out.List[i]
		c.Commands = x.refs[ref : ref+len(c.Commands)]
		c.Transitions = x.flat[tr : tr+len(c.Transitions)]
		ref, tr = ref+len(c.Commands), tr+len(c.Transitions)
	}
}
