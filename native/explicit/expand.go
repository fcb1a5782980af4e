package explicit

import (
	"context"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// batch is some states and, once done says so, what they lead to: in a Markov
// chain each state has one row, in an MDP no two choices of a state are the
// same. A state without choices is a deadlock.
type batch struct {
	states []uint64
	done   chan struct{}

	err error
	compile.PackedChoices
	actions  []sparse.Action // per choice in an MDP, per transition otherwise
	rats     []*big.Rat      // instead of Weights, in exact models
	hashes   []uint32        // of Targets
	overlaps int             // states of a DTMC with several commands enabled
	relErr   float64
}

func (b *batch) reset() {
	b.states, b.err, b.overlaps, b.relErr = b.states[:0], nil, 0, 0
	b.PackedChoices.Reset()
	b.actions, b.rats, b.hashes = b.actions[:0], b.rats[:0], b.hashes[:0]
}

// worker expands batches.
type worker struct {
	p     *sema.Program
	codec *codec
	kind  sparse.Kind
	x     compile.PackedExpander
	exact *exactWorker // nil unless fractions are wanted
	errs  *weightErrors
	state []int32
	b     *batch
	moves []compile.Move
	// present unpacks state number at of the batch.
	present func() []int32
	at      int
	// What has been read of the batch's choices and transitions, and what of
	// that is kept.
	choice, transition, keptChoices, kept int
}

func newWorker(m *compile.Model, c *codec, x compile.PackedExpander, exact bool) (*worker, error) {
	p := m.Program()
	if len(p.Actions) >= math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: p.File, Msg: "more than 65534 actions"}
	}
	w := &worker{p: p, codec: c, kind: kind(p.Type), x: x, errs: newWeightErrors(p), state: make([]int32, len(p.Vars))}
	w.present = func() []int32 {
		c.unpack(w.state, w.b.states[w.at*c.words:(w.at+1)*c.words])
		return w.state
	}
	if exact {
		w.exact = &exactWorker{worker: w, expander: m.NewExpander(), weigher: newExactExpander(m)}
	}
	return w, nil
}

func (w *worker) work(ctx context.Context, jobs <-chan *batch) {
	for b := range jobs {
		w.expand(ctx, b)
		b.done <- struct{}{}
	}
}

// expand fills a batch with what its states lead to.
func (w *worker) expand(ctx context.Context, b *batch) {
	w.b = b
	if w.exact != nil {
		b.err = w.exact.expand()
	} else {
		b.err = w.floats(ctx)
	}
	for i := 0; i < len(b.Targets); i += w.codec.words {
		b.hashes = append(b.hashes, hash(b.Targets[i:i+w.codec.words]))
	}
}

// floats expands a batch with doubles. What the expander gives is turned into
// rows or different choices in place.
func (w *worker) floats(ctx context.Context) error {
	b, words := w.b, w.codec.words
	failed := w.x.Expand(ctx, b.states, &b.PackedChoices)
	w.choice, w.transition, w.keptChoices, w.kept = 0, 0, 0, 0
	w.moves = w.x.Moves()
	for i, n := range b.Choices {
		if n == 0 {
			continue
		}
		w.at = i
		e, err := w.errs.of(w.present, w.moves, w.view(int(n)))
		if err != nil {
			return err
		}
		b.relErr = max(b.relErr, e)
		first := w.keptChoices
		if w.kind == sparse.MDP {
			w.different(int(n))
		} else {
			w.row(int(n))
		}
		b.Choices[i] = uint32(w.keptChoices - first)
	}
	b.Moves, b.Transitions = b.Moves[:0], b.Transitions[:w.keptChoices]
	b.Weights, b.Targets = b.Weights[:w.kept], b.Targets[:w.kept*words]
	return failed
}

// view returns the next n choices, as the expander gave them.
func (w *worker) view(n int) compile.PackedChoices {
	b := w.b
	return compile.PackedChoices{
		Moves: b.Moves[w.choice : w.choice+n], Transitions: b.Transitions[w.choice : w.choice+n],
		Weights: b.Weights[w.transition:],
	}
}

// actionOf returns the Action of an index into Program.Actions.
func actionOf(i int) sparse.Action {
	if i == sema.Unlabelled {
		return sparse.NoAction
	}
	return sparse.Action(i + 1)
}

// different keeps those of the next n choices, of one state of an MDP, that do
// not have the action and the distribution of an earlier one.
//
// Source: PRISM's explicit engine (reference, section 4.7).
func (w *worker) different(n int) {
	b, words := w.b, w.codec.words
	first := w.keptChoices
	for range n {
		m := int(b.Transitions[w.choice])
		if w.kept < w.transition {
			copy(b.Weights[w.kept:], b.Weights[w.transition:w.transition+m])
			copy(b.Targets[w.kept*words:], b.Targets[w.transition*words:(w.transition+m)*words])
		}
		w.transition += m
		a := actionOf(w.moves[b.Moves[w.choice]].Action)
		w.choice++
		if b.repeats(first, w.keptChoices, w.kept, m, a, words) {
			continue
		}
		b.Transitions[w.keptChoices] = uint32(m)
		b.actions = append(b.actions, a)
		w.keptChoices++
		w.kept += m
	}
}

// repeats reports whether one of the choices from first to end is the choice
// with action a and m transitions from at on; the transitions of the last one
// end there.
func (b *batch) repeats(first, end, at, m int, a sparse.Action, words int) bool {
	other := at
	for j := end - 1; j >= first; j-- {
		n := int(b.Transitions[j])
		other -= n
		if n == m && b.actions[j] == a && b.same(other, at, m, words) {
			return true
		}
	}
	return false
}

// same reports whether n transitions from i on are those from j on in some
// order. No two of either have the same target.
func (b *batch) same(i, j, n, words int) bool {
	for k := i; k < i+n; k++ {
		found := false
		for l := j; l < j+n && !found; l++ {
			found = equalWords(b.target(k, words), b.target(l, words)) && b.sameWeight(k, l)
		}
		if !found {
			return false
		}
	}
	return true
}

func (b *batch) target(i, words int) []uint64 { return b.Targets[i*words : (i+1)*words] }

func (b *batch) sameWeight(i, j int) bool {
	if len(b.rats) > 0 {
		return b.rats[i].Cmp(b.rats[j]) == 0
	}
	return b.Weights[i] == b.Weights[j]
}

// row makes the next n choices, of one state of a Markov chain, one row: in a
// DTMC every probability is divided by the total, which resolves overlapping
// commands uniformly; in a CTMC rates add up. Transitions with the same action
// and target are added; those with different actions stay apart.
//
// Source: PRISM's explicit engine (reference, sections 4.5 and 4.6).
func (w *worker) row(n int) {
	b := w.b
	first, total := w.kept, 0.0
	for i := range n {
		a := actionOf(w.moves[b.Moves[w.choice]].Action)
		for range b.Transitions[w.choice] {
			total += b.Weights[w.transition]
			w.add(first, a, i > 0)
			w.transition++
		}
		w.choice++
	}
	if w.kind == sparse.DTMC {
		for i := first; i < w.kept; i++ {
			b.Weights[i] /= total
		}
		if n > 1 {
			b.overlaps++
		}
	}
	b.Transitions[w.keptChoices] = uint32(w.kept - first)
	w.keptChoices++
}

// add adds the next transition to the row that began at first. Within one
// choice there are no equal targets, and nothing to look for.
func (w *worker) add(first int, a sparse.Action, search bool) {
	b, words, at := w.b, w.codec.words, w.transition
	for i := first; search && i < w.kept; i++ {
		if b.actions[i] == a && equalWords(b.target(i, words), b.target(at, words)) {
			b.Weights[i] += b.Weights[at]
			return
		}
	}
	b.Weights[w.kept] = b.Weights[at]
	copy(b.target(w.kept, words), b.target(at, words))
	b.actions = append(b.actions, a)
	w.kept++
}

// exactWorker expands batches with fractions for weights.
type exactWorker struct {
	*worker
	expander compile.Expander
	weigher  *exactExpander
}

func (w *exactWorker) expand() error {
	for i := 0; i < len(w.b.states); i += w.codec.words {
		w.codec.unpack(w.state, w.b.states[i:i+w.codec.words])
		cs, err := w.expander.Expand(w.state)
		if err != nil {
			return err
		}
		if err := w.weigher.guards(w.state); err != nil {
			return err
		}
		if err := w.choices(cs); err != nil {
			return err
		}
	}
	return nil
}

// choices appends the choices of a state, or its row.
func (w *exactWorker) choices(cs *compile.Choices) error {
	b := w.b
	first := len(b.Transitions)
	rows, err := w.weigher.expand(w.state, cs)
	if err != nil {
		return err
	}
	if len(cs.List) > 1 && w.kind == sparse.DTMC {
		b.overlaps++
	}
	at := len(b.rats)
	for i := range rows {
		r := &rows[i]
		for j := range r.targets {
			b.rats = append(b.rats, r.weights[j])
			w.target(r.targets[j])
			if w.kind != sparse.MDP {
				b.actions = append(b.actions, actionOf(r.action))
			}
		}
		if w.kind == sparse.MDP {
			w.close(first, at, actionOf(r.action))
			at = len(b.rats)
		}
	}
	if w.kind != sparse.MDP && len(rows) > 0 {
		b.Transitions = append(b.Transitions, uint32(len(b.rats)-at))
	}
	b.Choices = append(b.Choices, uint32(len(b.Transitions)-first))
	return nil
}

func (w *exactWorker) target(state []int32) {
	n := len(w.b.Targets)
	w.b.Targets = slices.Grow(w.b.Targets, w.codec.words)[:n+w.codec.words]
	w.codec.pack(w.b.Targets[n:], state)
}

// close makes the transitions from at on a choice, unless one of the state's
// choices, which begin at first, is the same.
func (w *exactWorker) close(first, at int, a sparse.Action) {
	b := w.b
	m := len(b.rats) - at
	if b.repeats(first, len(b.Transitions), at, m, a, w.codec.words) {
		b.rats, b.Targets = b.rats[:at], b.Targets[:at*w.codec.words]
		return
	}
	b.Transitions = append(b.Transitions, uint32(m))
	b.actions = append(b.actions, a)
}
