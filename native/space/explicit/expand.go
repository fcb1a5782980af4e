package explicit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// batch is a group of states that one worker expands. After done, it holds their choices: one row
// for each state of a Markov chain, distinct choices for each state of an MDP. A deadlock has no
// choice.
type batch struct {
	states []uint64
	done   chan struct{}

	err error
	compile.PackedChoices
	actions  []sparse.Action // per choice in an MDP, per transition otherwise
	rats     []*big.Rat      // instead of Weights in exact models
	highs    []*big.Rat      // upper bounds in interval models; rats are the lower bounds
	hashes   []uint32        // of Targets
	owners   []uint16        // of the states of a game; shorter if the last ones are deadlocks
	overlaps int             // states of a DTMC with several commands enabled
	merged   int             // choices that were dropped because their state has an equal one
	relErr   float64         // bound on the relative error of Weights
	rangeErr error           // a weight outside the range of float64
	// normalised says that fractions of this or an earlier batch were divided by their sum.
	normalised bool
	// near is the relative difference that rounding may cause between equal weights;
	// nearly says that two different weights are within it.
	near   float64
	nearly bool
}

func (b *batch) reset() {
	b.states, b.err, b.overlaps, b.merged, b.relErr, b.rangeErr = b.states[:0], nil, 0, 0, 0, nil
	b.PackedChoices.Reset()
	b.actions, b.rats, b.hashes = b.actions[:0], b.rats[:0], b.hashes[:0]
	b.highs, b.owners = b.highs[:0], b.owners[:0]
}

// worker expands batches.
type worker struct {
	p     *sema.Program
	codec *codec
	kind  sparse.Kind
	x     compile.PackedExpander
	exact *exactWorker // expands all batches of an exact model, nil otherwise
	// rationalWorker expands states for which float64 weights are not accurate enough; its
	// batch is scratch space.
	rationalWorker *exactWorker
	errs           *weightErrors
	owners         *ownership // nil unless the model is a game
	state          []int32
	b              *batch
	moves          []compile.Move
	// currentState unpacks state at of the batch.
	currentState func() []int32
	at           int
	// choice and transition count the entries of the batch that were read, keptChoices and
	// kept the entries that were written back in front of them.
	choice, transition, keptChoices, kept int
	work                                  int // comparisons since the context was polled
}

func newWorker(ctx context.Context, m *compile.Model, c *codec, x compile.PackedExpander, opts Options) (*worker, error) {
	p := m.Program()
	if len(p.Actions) >= math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: p.File, Msg: "more than 65534 actions"}
	}
	errs, err := newWeightErrors(m)
	if err != nil {
		return nil, err
	}
	owners, err := newOwnership(m)
	if err != nil {
		return nil, err
	}
	w := &worker{p: p, codec: c, kind: kind(p.Type), x: x, errs: errs, owners: owners, state: make([]int32, len(p.Vars))}
	w.currentState = func() []int32 {
		c.unpack(w.state, w.b.states[w.at*c.words:(w.at+1)*c.words])
		return w.state
	}
	if opts.Exact {
		tolerance := 0.0
		if opts.Normalise {
			tolerance = compile.SumTolerance
		}
		w.exact = &exactWorker{worker: w, weigher: newExactExpander(ctx, m, tolerance)}
		w.exact.weigher.owners = owners
		if x.Name() == "machine" {
			w.exact.machine = &compiledChoices{moves: make([]weights, len(x.Moves()))}
		}
	} else {
		scratch := &worker{p: p, codec: c, kind: w.kind, owners: owners, b: &batch{}}
		w.rationalWorker = &exactWorker{worker: scratch, weigher: newExactExpander(ctx, m, compile.SumTolerance)}
		w.rationalWorker.weigher.encloses, w.rationalWorker.weigher.owners = true, owners
	}
	return w, nil
}

// run expands the batches of jobs until the channel is closed.
func (w *worker) run(ctx context.Context, jobs <-chan *batch) {
	for b := range jobs {
		w.expand(ctx, b)
		b.done <- struct{}{}
	}
}

// expand fills a batch with the choices of its states and the hashes of their targets.
func (w *worker) expand(ctx context.Context, b *batch) {
	w.b = b
	if w.exact != nil {
		b.err = w.exact.expand(ctx)
		b.normalised = w.exact.weigher.normalised
	} else {
		b.err = w.expandFloats(ctx)
	}
	for i := 0; i < len(b.Targets); i += w.codec.words {
		b.hashes = append(b.hashes, hash(b.Targets[i:i+w.codec.words]))
	}
}

// expandFloats expands a batch with float64 weights. It turns the choices of the expander into
// rows, or distinct choices, in place. A state in which float64 arithmetic fails or is too
// inaccurate is expanded with fractions instead.
func (w *worker) expandFloats(ctx context.Context) error {
	b, words := w.b, w.codec.words
	w.choice, w.transition, w.keptChoices, w.kept = 0, 0, 0, 0
	for n := 0; n < len(b.states)/words; {
		failed := w.x.Expand(ctx, b.states[n*words:], &b.PackedChoices)
		w.moves = w.x.Moves()
		for ; n < len(b.Choices); n++ {
			if err := w.floatChoices(ctx, n); err != nil {
				return w.finish(n, err)
			}
		}
		if failed == nil {
			break
		}
		b.Choices = append(b.Choices, 0)
		if _, ok := errors.AsType[*compile.StateError](failed); !ok || w.fractions(ctx, n, 0, 0) != nil {
			return w.finish(n, cmp.Or(ctx.Err(), failed))
		}
		n++
	}
	return w.finish(len(b.Choices), nil)
}

// finish cuts the batch to the entries that were kept. The first n states are complete.
func (w *worker) finish(n int, err error) error {
	b := w.b
	b.Choices = b.Choices[:n]
	b.Moves, b.Transitions = b.Moves[:0], b.Transitions[:w.keptChoices]
	b.Weights, b.Targets = b.Weights[:w.kept], b.Targets[:w.kept*w.codec.words]
	return err
}

// floatChoices turns the choices of state n of the batch into a row, or into distinct choices.
func (w *worker) floatChoices(ctx context.Context, n int) error {
	b := w.b
	choices := int(b.Choices[n])
	if choices == 0 {
		return nil
	}
	w.at = n
	if w.owners != nil {
		moves := b.Moves[w.choice:]
		owner, err := w.owners.ofState(w.currentState, choices, func(i int) owned {
			m := &w.moves[moves[i]]
			return owned{m.Action, m.Module, m.Commands}
		})
		if err != nil {
			return err
		}
		b.setOwner(n, owner)
	}
	e, err := w.errs.of(w.currentState, w.moves, w.view(choices))
	if err != nil {
		if _, ok := err.(needsFractions); !ok {
			return err
		}
		transitions := 0
		for _, m := range b.Transitions[w.choice : w.choice+choices] {
			transitions += int(m)
		}
		return w.fractions(ctx, n, choices, transitions)
	}
	b.relErr = max(b.relErr, e)
	first, kept := w.keptChoices, w.kept
	if w.kind != sparse.MDP {
		err = w.row(ctx, choices)
	} else {
		b.near, b.nearly = 3*e, false
		err = w.keepDistinct(ctx, choices)
	}
	b.Choices[n] = uint32(w.keptChoices - first)
	if err != nil || !b.nearly {
		return err
	}
	// Rounding may hide that two choices are equal or make them so: compare the fractions.
	endChoices, end := w.keptChoices, w.kept
	w.keptChoices, w.kept, b.nearly = first, kept, false
	if w.fractions(ctx, n, 0, 0) != nil {
		w.keptChoices, w.kept = endChoices, end
	}
	return ctx.Err()
}

// fractions expands state n of the batch with fractions and stores the nearest float64 values in
// place of the given numbers of choices and transitions that come next. After an error the batch
// is unchanged.
func (w *worker) fractions(ctx context.Context, n, choices, transitions int) error {
	b, x := w.b, w.rationalWorker
	words := w.codec.words
	s := x.b
	s.reset()
	s.states = append(s.states, b.states[n*words:(n+1)*words]...)
	if err := x.expand(ctx); err != nil {
		return err
	}
	w.choice, w.transition = w.choice+choices, w.transition+transitions
	w.makeRoom(len(s.Transitions), len(s.rats))
	for i, r := range s.rats {
		f, _ := sparse.NormalFloat(r)
		if !sparse.InRange(f) && b.rangeErr == nil {
			b.rangeErr = w.rangeError(s.states, r)
		}
		b.Weights[w.kept+i] = f
	}
	copy(b.Targets[w.kept*words:], s.Targets)
	copy(b.Transitions[w.keptChoices:], s.Transitions)
	if w.kind == sparse.MDP { // of choices, else of transitions
		b.actions = append(b.actions[:w.keptChoices], s.actions...)
	} else {
		b.actions = append(b.actions[:w.kept], s.actions...)
	}
	b.Choices[n] = s.Choices[0]
	if len(s.owners) > 0 {
		b.setOwner(n, s.owners[0])
	}
	b.overlaps, b.merged = b.overlaps+s.overlaps, b.merged+s.merged
	b.relErr = max(b.relErr, 2*unit)
	if x.weigher.enclosed {
		b.relErr = max(b.relErr, 3*unit)
	}
	w.kept, w.keptChoices = w.kept+len(s.rats), w.keptChoices+len(s.Transitions)
	return nil
}

// makeRoom moves the entries that were not read yet, so that the given numbers of choices and
// transitions fit in front of them.
func (w *worker) makeRoom(choices, transitions int) {
	b, words := w.b, w.codec.words
	if gap := w.keptChoices + choices - w.choice; gap > 0 {
		b.Transitions = slices.Insert(b.Transitions, w.choice, make([]uint32, gap)...)
		b.Moves = slices.Insert(b.Moves, w.choice, make([]uint32, gap)...)
		w.choice += gap
	}
	if gap := w.kept + transitions - w.transition; gap > 0 {
		b.Weights = slices.Insert(b.Weights, w.transition, make([]float64, gap)...)
		b.Targets = slices.Insert(b.Targets, w.transition*words, make([]uint64, gap*words)...)
		w.transition += gap
	}
}

func (w *worker) rangeError(state []uint64, r *big.Rat) error {
	what := "probability"
	if w.kind == sparse.CTMC {
		what = "rate"
	}
	w.codec.unpack(w.state, state)
	m := w.rationalWorker.weigher.m
	return &RangeError{File: w.p.File, What: what + " " + shortRat(r), State: m.StateText(w.state)}
}

// shortRat returns a fraction as a decimal with four digits.
func shortRat(r *big.Rat) string {
	return new(big.Float).SetPrec(64).SetRat(r).Text('g', 4)
}

// view returns the next n choices as the expander wrote them.
func (w *worker) view(n int) compile.PackedChoices {
	b := w.b
	return compile.PackedChoices{
		Moves: b.Moves[w.choice : w.choice+n], Transitions: b.Transitions[w.choice : w.choice+n],
		Weights: b.Weights[w.transition:],
	}
}

// actionOf turns an index into Program.Actions into a sparse.Action.
func actionOf(i int) sparse.Action {
	if i == sema.Unlabelled {
		return sparse.NoAction
	}
	return sparse.Action(i + 1)
}

// keepDistinct keeps those of the next n choices of a state of an MDP that differ in action or
// distribution from all earlier choices of the state.
//
// Source: PRISM's explicit engine (reference, section 4.7).
func (w *worker) keepDistinct(ctx context.Context, n int) error {
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
		if err := w.countWork(ctx, (w.keptChoices-first)*m); err != nil {
			return err
		}
		if b.isDuplicate(first, w.keptChoices, w.kept, m, a, words) {
			b.merged++
			continue
		}
		b.Transitions[w.keptChoices] = uint32(m)
		b.actions = append(b.actions, a)
		w.keptChoices++
		w.kept += m
	}
	return nil
}

// workPerPoll is the number of comparisons between two polls of the context, a few milliseconds.
const workPerPoll = 1 << 18

// countWork adds to the comparisons done and polls the context now and then: the choices of a
// single state can take very long.
func (w *worker) countWork(ctx context.Context, work int) error {
	if w.work += work; w.work < workPerPoll {
		return nil
	}
	w.work = 0
	return ctx.Err()
}

// isDuplicate reports whether one of the choices from first to end has action a and the same
// distribution as the m transitions from index at on. The transitions of choice end-1 must end at
// index at.
func (b *batch) isDuplicate(first, end, at, m int, a sparse.Action, words int) bool {
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

// same reports whether the n transitions from i on equal those from j on, in any order. Targets
// are distinct within each group.
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

// sameWeight compares two weights. It sets nearly if two float64 weights differ by no more than
// rounding explains.
func (b *batch) sameWeight(i, j int) bool {
	if len(b.rats) > 0 {
		return b.rats[i].Cmp(b.rats[j]) == 0 && (len(b.highs) == 0 || b.highs[i].Cmp(b.highs[j]) == 0)
	}
	x, y := b.Weights[i], b.Weights[j]
	if x == y {
		return true
	}
	b.nearly = b.nearly || math.Abs(x-y) <= b.near*x
	return false
}

// row merges the next n choices of a state of a Markov chain into one row. In a DTMC it divides
// every probability by their total, which resolves overlapping commands uniformly; in a CTMC rates
// add up. Transitions with the same action and target are added.
//
// Source: PRISM's explicit engine (reference, sections 4.5 and 4.6).
func (w *worker) row(ctx context.Context, n int) error {
	b := w.b
	first, total := w.kept, 0.0
	for i := range n {
		a := actionOf(w.moves[b.Moves[w.choice]].Action)
		if err := w.countWork(ctx, (w.kept-first)*int(b.Transitions[w.choice])); err != nil {
			return err
		}
		for range b.Transitions[w.choice] {
			total += b.Weights[w.transition]
			w.addToRow(first, a, i > 0)
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
	return nil
}

// addToRow adds the next transition to the row that begins at first. search says that the
// row may contain its target already.
func (w *worker) addToRow(first int, a sparse.Action, search bool) {
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

// exactWorker expands batches with rational weights.
type exactWorker struct {
	*worker
	weigher *exactExpander
	machine *compiledChoices // nil if every state is interpreted
}

func (w *exactWorker) expand(ctx context.Context) error {
	if w.state == nil {
		w.state = make([]int32, len(w.p.Vars))
	}
	if w.machine != nil {
		return w.expandCompiled(ctx)
	}
	for i := 0; i < len(w.b.states); i += w.codec.words {
		w.codec.unpack(w.state, w.b.states[i:i+w.codec.words])
		if err := w.choices(ctx); err != nil {
			return err
		}
	}
	return nil
}

// choices appends the choices of a state of an MDP, or the row of a state of a Markov chain.
func (w *exactWorker) choices(ctx context.Context) error {
	b := w.b
	first := len(b.Transitions)
	rows, n, err := w.weigher.expand(ctx, w.state)
	if err != nil {
		return err
	}
	if n > 1 && w.kind == sparse.DTMC {
		b.overlaps++
	}
	if w.owners != nil {
		b.setOwner(len(b.Choices), w.weigher.owner)
	}
	at := len(b.rats)
	for i := range rows {
		r := &rows[i]
		for j := range r.targets {
			b.rats = append(b.rats, r.weights[j])
			if r.highs != nil {
				b.highs = append(b.highs, r.highs[j])
			}
			w.addTarget(r.targets[j])
			if w.kind != sparse.MDP {
				b.actions = append(b.actions, actionOf(r.action))
			}
		}
		if w.kind == sparse.MDP {
			if err := w.countWork(ctx, (len(b.Transitions)-first)*len(r.targets)); err != nil {
				return err
			}
			w.endChoice(first, at, actionOf(r.action))
			at = len(b.rats)
		}
	}
	if w.kind != sparse.MDP && len(rows) > 0 {
		b.Transitions = append(b.Transitions, uint32(len(b.rats)-at))
	}
	b.Choices = append(b.Choices, uint32(len(b.Transitions)-first))
	return nil
}

// addTarget appends a packed target state.
func (w *exactWorker) addTarget(state []int32) {
	n := len(w.b.Targets)
	w.b.Targets = slices.Grow(w.b.Targets, w.codec.words)[:n+w.codec.words]
	w.codec.pack(w.b.Targets[n:], state)
}

// endChoice makes a choice of the transitions from index at on. It drops them if an earlier
// choice of the state, from first on, is the same.
func (w *exactWorker) endChoice(first, at int, a sparse.Action) {
	b := w.b
	m := len(b.rats) - at
	if b.isDuplicate(first, len(b.Transitions), at, m, a, w.codec.words) {
		b.merged++
		b.rats, b.Targets = b.rats[:at], b.Targets[:at*w.codec.words]
		b.highs = b.highs[:min(at, len(b.highs))]
		return
	}
	b.Transitions = append(b.Transitions, uint32(m))
	b.actions = append(b.actions, a)
}
