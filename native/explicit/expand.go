package explicit

import (
	"math"
	"math/big"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// batch is some states and, once done says so, what they lead to. Everything is
// flat: choices[i] choices of state i, transitions[j] transitions of choice j.
type batch struct {
	states []uint64
	done   chan struct{}

	err         error
	choices     []uint32
	deadlock    []bool
	transitions []uint32
	actions     []sparse.Action // per choice in an MDP, per transition otherwise
	weights     []float64
	rats        []*big.Rat // instead of weights, in exact models
	targets     []uint64
	overlaps    int // states of a DTMC with several commands enabled
	relErr      float64
}

func (b *batch) reset() {
	b.states, b.err, b.overlaps, b.relErr = b.states[:0], nil, 0, 0
	b.choices, b.deadlock, b.transitions = b.choices[:0], b.deadlock[:0], b.transitions[:0]
	b.actions, b.weights, b.rats, b.targets = b.actions[:0], b.weights[:0], b.rats[:0], b.targets[:0]
}

// worker expands batches.
type worker struct {
	m     *compile.Model
	codec *codec
	kind  sparse.Kind
	x     compile.Expander
	exact *exactExpander // nil unless fractions are wanted
	errs  *weightErrors
	state []int32
	row   []compile.MarkovTransition
	b     *batch
}

func newWorker(m *compile.Model, c *codec, exact bool) (*worker, error) {
	p := m.Program()
	if len(p.Actions) >= math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: p.File, Msg: "more than 65534 actions"}
	}
	w := &worker{m: m, codec: c, kind: kind(p.Type), x: m.NewExpander(), errs: newWeightErrors(p), state: make([]int32, len(p.Vars))}
	if exact {
		w.exact = newExactExpander(m)
	}
	return w, nil
}

func (w *worker) work(jobs <-chan *batch) {
	for b := range jobs {
		w.b = b
		for i := 0; i < len(b.states) && b.err == nil; i += w.codec.words {
			w.codec.unpack(w.state, b.states[i:i+w.codec.words])
			b.err = w.expand()
		}
		b.done <- struct{}{}
	}
}

// expand appends what the state leads to.
func (w *worker) expand() error {
	cs, err := w.x.Expand(w.state)
	if err != nil {
		return err
	}
	if w.exact != nil {
		if err := w.exact.guards(w.state); err != nil {
			return err
		}
	}
	w.b.deadlock = append(w.b.deadlock, cs.Deadlock())
	switch {
	case cs.Deadlock():
		w.loop()
		return nil
	case w.exact != nil:
		return w.exactly(cs)
	}
	e, err := w.errs.of(w.state, cs)
	w.b.relErr = max(w.b.relErr, e)
	if err != nil {
		return err
	}
	if w.kind != sparse.MDP {
		w.markov(cs)
		return nil
	}
	w.choices(cs)
	return nil
}

// loop appends the self-loop of a deadlock.
func (w *worker) loop() {
	w.b.choices = append(w.b.choices, 1)
	w.b.transitions = append(w.b.transitions, 1)
	w.b.actions = append(w.b.actions, sparse.NoAction)
	if w.exact != nil {
		w.b.rats = append(w.b.rats, big.NewRat(1, 1))
	} else {
		w.b.weights = append(w.b.weights, 1)
	}
	w.target(w.state)
}

func (w *worker) target(state []int32) {
	n := len(w.b.targets)
	for range w.codec.words {
		w.b.targets = append(w.b.targets, 0)
	}
	w.codec.pack(w.b.targets[n:], state)
}

// actionOf returns the Action of an index into Program.Actions.
func actionOf(i int) sparse.Action {
	if i == sema.Unlabelled {
		return sparse.NoAction
	}
	return sparse.Action(i + 1)
}

// markov appends the one row of a state of a Markov chain.
func (w *worker) markov(cs *compile.Choices) {
	w.row = w.m.Row(w.row[:0], cs)
	if len(cs.List) > 1 && w.kind == sparse.DTMC {
		w.b.overlaps++
	}
	for _, t := range w.row {
		w.b.actions = append(w.b.actions, actionOf(t.Action))
		w.b.weights = append(w.b.weights, t.Weight)
		w.target(t.Target)
	}
	w.b.choices = append(w.b.choices, 1)
	w.b.transitions = append(w.b.transitions, uint32(len(w.row)))
}

// choices appends the choices of a state of an MDP. A choice with the action and
// the distribution of an earlier one is dropped.
//
// Source: PRISM's explicit engine (reference, section 4.7).
func (w *worker) choices(cs *compile.Choices) {
	kept := len(w.b.transitions)
	for _, c := range cs.List {
		first := len(w.b.weights)
		for _, t := range c.Transitions {
			w.b.weights = append(w.b.weights, t.Weight)
			w.target(t.Target)
		}
		w.keep(kept, first, actionOf(c.Action))
	}
	w.b.choices = append(w.b.choices, uint32(len(w.b.transitions)-kept))
}

// keep makes the transitions from first on a choice, unless one of the choices
// from kept on is the same.
func (w *worker) keep(kept, first int, a sparse.Action) {
	b := w.b
	n := len(b.targets)/w.codec.words - first
	at := first
	for j := len(b.transitions) - 1; j >= kept; j-- {
		m := int(b.transitions[j])
		at -= m
		if m == n && b.actions[j] == a && w.same(at, first, n) {
			b.targets = b.targets[:first*w.codec.words]
			b.weights, b.rats = b.weights[:min(first, len(b.weights))], b.rats[:min(first, len(b.rats))]
			return
		}
	}
	b.transitions = append(b.transitions, uint32(n))
	b.actions = append(b.actions, a)
}

// same reports whether n transitions from i on are those from j on in some
// order. No two of either have the same target.
func (w *worker) same(i, j, n int) bool {
	for k := range n {
		found := false
		for l := 0; l < n && !found; l++ {
			found = equalWords(w.targetAt(i+k), w.targetAt(j+l)) && w.sameWeight(i+k, j+l)
		}
		if !found {
			return false
		}
	}
	return true
}

func (w *worker) targetAt(i int) []uint64 {
	return w.b.targets[i*w.codec.words : (i+1)*w.codec.words]
}

func (w *worker) sameWeight(i, j int) bool {
	if w.exact != nil {
		return w.b.rats[i].Cmp(w.b.rats[j]) == 0
	}
	return w.b.weights[i] == w.b.weights[j]
}

// exactly appends choices or a row with fractions for weights.
func (w *worker) exactly(cs *compile.Choices) error {
	kept := len(w.b.transitions)
	rows, err := w.exact.expand(w.state, cs)
	if err != nil {
		return err
	}
	chain := w.kind != sparse.MDP
	if len(cs.List) > 1 && w.kind == sparse.DTMC {
		w.b.overlaps++
	}
	first := len(w.b.rats)
	for i := range rows {
		r := &rows[i]
		if !chain {
			first = len(w.b.rats)
		}
		for j := range r.targets {
			w.b.rats = append(w.b.rats, r.weights[j])
			w.target(r.targets[j])
			if chain {
				w.b.actions = append(w.b.actions, actionOf(r.action))
			}
		}
		if !chain {
			w.keep(kept, first, actionOf(r.action))
		}
	}
	if chain {
		w.b.transitions = append(w.b.transitions, uint32(len(w.b.rats)-first))
	}
	w.b.choices = append(w.b.choices, uint32(len(w.b.transitions)-kept))
	return nil
}
