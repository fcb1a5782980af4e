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
	highs    []*big.Rat      // upper ends, in interval models: rats are the lower ones
	hashes   []uint32        // of Targets
	overlaps int             // states of a DTMC with several commands enabled
	merged   int             // choices that were left out, for being those of their state before
	relErr   float64
	unfit    error // a weight that doubles are no good for
	// normalised says that fractions of this batch or one before were divided by their sum.
	normalised bool
	// near is how far weights may differ that are the same but for errors, and
	// nearly says that two did.
	near   float64
	nearly bool
}

func (b *batch) reset() {
	b.states, b.err, b.overlaps, b.merged, b.relErr, b.unfit = b.states[:0], nil, 0, 0, 0, nil
	b.PackedChoices.Reset()
	b.actions, b.rats, b.hashes = b.actions[:0], b.rats[:0], b.hashes[:0]
	b.highs = b.highs[:0]
}

// worker expands batches.
type worker struct {
	p     *sema.Program
	codec *codec
	kind  sparse.Kind
	x     compile.PackedExpander
	exact *exactWorker // of whole batches, nil unless fractions are wanted
	fixer *exactWorker // of states where doubles fail; its batch is scratch
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
	done                                  int // work since the context was looked at
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
	w := &worker{p: p, codec: c, kind: kind(p.Type), x: x, errs: errs, state: make([]int32, len(p.Vars))}
	w.present = func() []int32 {
		c.unpack(w.state, w.b.states[w.at*c.words:(w.at+1)*c.words])
		return w.state
	}
	if opts.Exact {
		tolerance := 0.0
		if opts.Normalise {
			tolerance = compile.SumTolerance
		}
		w.exact = &exactWorker{worker: w, weigher: newExactExpander(ctx, m, tolerance)}
		if x.Name() == "machine" {
			w.exact.machine = &alternatives{moves: make([]weights, len(x.Moves()))}
		}
	} else {
		// An own worker, for its batch.
		scratch := &worker{p: p, codec: c, kind: w.kind, b: &batch{}}
		w.fixer = &exactWorker{worker: scratch, weigher: newExactExpander(ctx, m, compile.SumTolerance)}
		w.fixer.weigher.encloses = true
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
		b.err = w.exact.expand(ctx)
		b.normalised = w.exact.weigher.normalised
	} else {
		b.err = w.floats(ctx)
	}
	for i := 0; i < len(b.Targets); i += w.codec.words {
		b.hashes = append(b.hashes, hash(b.Targets[i:i+w.codec.words]))
	}
}

// floats expands a batch with doubles. What the expander gives is turned into
// rows or different choices in place. States in which doubles fail, or are not
// close to what the model says, are expanded with fractions instead.
func (w *worker) floats(ctx context.Context) error {
	b, words := w.b, w.codec.words
	w.choice, w.transition, w.keptChoices, w.kept = 0, 0, 0, 0
	for n := 0; n < len(b.states)/words; {
		failed := w.x.Expand(ctx, b.states[n*words:], &b.PackedChoices)
		w.moves = w.x.Moves()
		for ; n < len(b.Choices); n++ {
			if err := w.doubles(ctx, n); err != nil {
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

// finish cuts off what was not kept; the first n states are complete.
func (w *worker) finish(n int, err error) error {
	b := w.b
	b.Choices = b.Choices[:n]
	b.Moves, b.Transitions = b.Moves[:0], b.Transitions[:w.keptChoices]
	b.Weights, b.Targets = b.Weights[:w.kept], b.Targets[:w.kept*w.codec.words]
	return err
}

// doubles makes rows or different choices of state n of the batch.
func (w *worker) doubles(ctx context.Context, n int) error {
	b := w.b
	choices := int(b.Choices[n])
	if choices == 0 {
		return nil
	}
	w.at = n
	e, err := w.errs.of(w.present, w.moves, w.view(choices))
	if err != nil {
		if _, ok := err.(doubtful); !ok {
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
		err = w.different(ctx, choices)
	}
	b.Choices[n] = uint32(w.keptChoices - first)
	if err != nil || !b.nearly {
		return err
	}
	// Whether choices are the same is what the fractions say, if there are any.
	endChoices, end := w.keptChoices, w.kept
	w.keptChoices, w.kept, b.nearly = first, kept, false
	if w.fractions(ctx, n, 0, 0) != nil {
		w.keptChoices, w.kept = endChoices, end
	}
	return ctx.Err()
}

// fractions expands state n of the batch with fractions, in the place of the
// next choices and transitions, so many of each. Nothing is changed by an error.
func (w *worker) fractions(ctx context.Context, n, choices, transitions int) error {
	b, x := w.b, w.fixer
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
		if !sparse.InRange(f) && b.unfit == nil {
			b.unfit = w.outOfRange(s.states, r)
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
	b.overlaps, b.merged = b.overlaps+s.overlaps, b.merged+s.merged
	b.relErr = max(b.relErr, 2*unit)
	if x.weigher.enclosed {
		b.relErr = max(b.relErr, 3*unit)
	}
	w.kept, w.keptChoices = w.kept+len(s.rats), w.keptChoices+len(s.Transitions)
	return nil
}

// makeRoom moves what was not read yet, so that so many choices and transitions
// can be kept before it.
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

func (w *worker) outOfRange(state []uint64, r *big.Rat) error {
	what := "probability"
	if w.kind == sparse.CTMC {
		what = "rate"
	}
	w.codec.unpack(w.state, state)
	m := w.fixer.weigher.m
	return &RangeError{File: w.p.File, What: what + " " + shortRat(r), State: m.StateText(w.state)}
}

// shortRat writes about what a fraction is.
func shortRat(r *big.Rat) string {
	return new(big.Float).SetPrec(64).SetRat(r).Text('g', 4)
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
func (w *worker) different(ctx context.Context, n int) error {
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
		if err := w.did(ctx, (w.keptChoices-first)*m); err != nil {
			return err
		}
		if b.repeats(first, w.keptChoices, w.kept, m, a, words) {
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

// workPerPoll takes some milliseconds.
const workPerPoll = 1 << 18

// did notes work, in comparisons of transitions, and returns the context's error:
// a state can have more choices than anybody waits for.
func (w *worker) did(ctx context.Context, work int) error {
	if w.done += work; w.done < workPerPoll {
		return nil
	}
	w.done = 0
	return ctx.Err()
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

// sameWeight notes in nearly if two doubles differ, but may not if their errors
// are left out.
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

// row makes the next n choices, of one state of a Markov chain, one row: in a
// DTMC every probability is divided by the total, which resolves overlapping
// commands uniformly; in a CTMC rates add up. Transitions with the same action
// and target are added; those with different actions stay apart.
//
// Source: PRISM's explicit engine (reference, sections 4.5 and 4.6).
func (w *worker) row(ctx context.Context, n int) error {
	b := w.b
	first, total := w.kept, 0.0
	for i := range n {
		a := actionOf(w.moves[b.Moves[w.choice]].Action)
		if err := w.did(ctx, (w.kept-first)*int(b.Transitions[w.choice])); err != nil {
			return err
		}
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
	return nil
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
	weigher *exactExpander
	machine *alternatives // nil where everything is interpreted
}

func (w *exactWorker) expand(ctx context.Context) error {
	if w.state == nil {
		w.state = make([]int32, len(w.p.Vars))
	}
	if w.machine != nil {
		return w.faster(ctx)
	}
	for i := 0; i < len(w.b.states); i += w.codec.words {
		w.codec.unpack(w.state, w.b.states[i:i+w.codec.words])
		if err := w.choices(ctx); err != nil {
			return err
		}
	}
	return nil
}

// choices appends the choices of a state, or its row.
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
	at := len(b.rats)
	for i := range rows {
		r := &rows[i]
		for j := range r.targets {
			b.rats = append(b.rats, r.weights[j])
			if r.highs != nil {
				b.highs = append(b.highs, r.highs[j])
			}
			w.target(r.targets[j])
			if w.kind != sparse.MDP {
				b.actions = append(b.actions, actionOf(r.action))
			}
		}
		if w.kind == sparse.MDP {
			if err := w.did(ctx, (len(b.Transitions)-first)*len(r.targets)); err != nil {
				return err
			}
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
		b.merged++
		b.rats, b.Targets = b.rats[:at], b.Targets[:at*w.codec.words]
		b.highs = b.highs[:min(at, len(b.highs))]
		return
	}
	b.Transitions = append(b.Transitions, uint32(m))
	b.actions = append(b.actions, a)
}
