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

// batch is a group of states that one worker expands. When done receives a value, the batch holds
// the choices of these states: one row for each state of a Markov chain, distinct choices for each
// state of an MDP, no choice for a deadlock.
type batch struct {
	states []uint64
	done   chan struct{}

	err error
	compile.PackedChoices
	actions  []sparse.Action // per choice in an MDP, per transition otherwise
	rats     []*big.Rat      // instead of Weights in exact models
	highs    []*big.Rat      // upper bounds in interval models; rats are the lower bounds
	hashes   []uint32        // of Targets
	overlaps int             // states of a DTMC with several commands enabled
	merged   int             // choices that were dropped because their state has an equal one
	relErr   float64         // bound on the relative error of Weights
	rangeErr error           // a weight outside the range of float64
	// normalised says that the fractions of some command, in this or an earlier batch of the same
	// worker, were divided by their sum.
	normalised bool
	// roundingTolerance is the relative difference that rounding may cause between equal weights;
	// nearlyEqual says that two different weights are within this difference.
	roundingTolerance float64
	nearlyEqual       bool
}

// reset empties the batch but keeps its memory.
func (b *batch) reset() {
	b.states, b.err, b.overlaps, b.merged, b.relErr, b.rangeErr = b.states[:0], nil, 0, 0, 0, nil
	b.PackedChoices.Reset()
	b.actions, b.rats, b.hashes = b.actions[:0], b.rats[:0], b.hashes[:0]
	b.highs = b.highs[:0]
}

// worker computes the choices of batches of states. Each worker runs in its own goroutine.
type worker struct {
	program  *sema.Program
	codec    *codec
	kind     sparse.Kind
	expander compile.PackedExpander
	exact    *exactWorker // expands all batches of an exact model, nil otherwise
	// rationalWorker expands a state if its float64 weights are not accurate enough. Its batch is
	// scratch space.
	rationalWorker *exactWorker
	weightErrors   *weightErrors
	state          []int32 // scratch space for an unpacked state
	batch          *batch
	moves          []compile.Move
	// currentState unpacks the state of the batch with index current.
	currentState func() []int32
	current      int
	// The expander's choices are rewritten in place. readChoices and readTransitions count the
	// entries that were read, keptChoices and keptTransitions those that were written back.
	readChoices, readTransitions, keptChoices, keptTransitions int
	// comparisons counts comparisons since the context was polled.
	comparisons int
}

// newWorker returns a worker that expands states with the given expander; in an exact model,
// with rational weights.
func newWorker(ctx context.Context, model *compile.Model, codec *codec, expander compile.PackedExpander, opts Options) (*worker, error) {
	program := model.Program()
	if len(program.Actions) >= math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: program.File, Msg: "more than 65534 actions"}
	}
	weightErrors, err := newWeightErrors(model)
	if err != nil {
		return nil, err
	}
	w := &worker{program: program, codec: codec, kind: sparseKind(program.Type), expander: expander, weightErrors: weightErrors, state: make([]int32, len(program.Vars))}
	w.currentState = func() []int32 {
		codec.unpack(w.state, w.batch.states[w.current*codec.words:(w.current+1)*codec.words])
		return w.state
	}
	if opts.Exact {
		tolerance := 0.0
		if opts.Normalise {
			tolerance = compile.SumTolerance
		}
		w.exact = &exactWorker{worker: w, interpreter: newExactExpander(ctx, model, tolerance)}
		if expander.Name() == "machine" {
			w.exact.compiled = &compiledChoices{caches: make([]weightCache, len(expander.Moves()))}
		}
	} else {
		scratch := &worker{program: program, codec: codec, kind: w.kind, batch: &batch{}}
		w.rationalWorker = &exactWorker{worker: scratch, interpreter: newExactExpander(ctx, model, compile.SumTolerance)}
		w.rationalWorker.interpreter.allowEnclosures = true
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
	w.batch = b
	if w.exact != nil {
		b.err = w.exact.expand(ctx)
		b.normalised = w.exact.interpreter.normalised
	} else {
		b.err = w.expandFloats(ctx)
	}
	for i := 0; i < len(b.Targets); i += w.codec.words {
		b.hashes = append(b.hashes, hash32(b.Targets[i:i+w.codec.words]))
	}
}

// expandFloats expands a batch with float64 weights. It merges the choices of each state of a
// Markov chain into a row, and drops duplicate choices of an MDP. A state for which float64
// arithmetic fails or is too inaccurate is expanded with fractions instead.
func (w *worker) expandFloats(ctx context.Context) error {
	b, words := w.batch, w.codec.words
	w.readChoices, w.readTransitions, w.keptChoices, w.keptTransitions = 0, 0, 0, 0
	for n := 0; n < len(b.states)/words; {
		failed := w.expander.Expand(ctx, b.states[n*words:], &b.PackedChoices)
		w.moves = w.expander.Moves()
		for ; n < len(b.Choices); n++ {
			if err := w.mergeFloatChoices(ctx, n); err != nil {
				return w.truncate(n, err)
			}
		}
		if failed == nil {
			break
		}
		// The expander stopped at state n. Fractions may succeed where float64 arithmetic failed.
		b.Choices = append(b.Choices, 0)
		if _, ok := errors.AsType[*compile.StateError](failed); !ok || w.expandWithFractions(ctx, n, 0, 0) != nil {
			return w.truncate(n, cmp.Or(ctx.Err(), failed))
		}
		n++
	}
	return w.truncate(len(b.Choices), nil)
}

// truncate cuts the batch to the entries that were kept. The first numStates states are complete.
func (w *worker) truncate(numStates int, err error) error {
	b := w.batch
	b.Choices = b.Choices[:numStates]
	b.Moves, b.Transitions = b.Moves[:0], b.Transitions[:w.keptChoices]
	b.Weights, b.Targets = b.Weights[:w.keptTransitions], b.Targets[:w.keptTransitions*w.codec.words]
	return err
}

// mergeFloatChoices rewrites the choices of one state of the batch as a row of a Markov chain, or
// as distinct choices of an MDP.
func (w *worker) mergeFloatChoices(ctx context.Context, state int) error {
	b := w.batch
	numChoices := int(b.Choices[state])
	if numChoices == 0 {
		return nil
	}
	w.current = state
	relErr, err := w.weightErrors.bound(w.currentState, w.moves, w.nextChoices(numChoices))
	if err != nil {
		if _, ok := err.(needsFractions); !ok {
			return err
		}
		numTransitions := 0
		for _, count := range b.Transitions[w.readChoices : w.readChoices+numChoices] {
			numTransitions += int(count)
		}
		return w.expandWithFractions(ctx, state, numChoices, numTransitions)
	}
	b.relErr = max(b.relErr, relErr)
	firstChoice, firstTransition := w.keptChoices, w.keptTransitions
	if w.kind != sparse.MDP {
		err = w.mergeIntoRow(ctx, numChoices)
	} else {
		b.roundingTolerance, b.nearlyEqual = 3*relErr, false
		err = w.keepDistinctChoices(ctx, numChoices)
	}
	b.Choices[state] = uint32(w.keptChoices - firstChoice)
	if err != nil || !b.nearlyEqual {
		return err
	}
	// Because of rounding, equal choices may look different, and different ones equal. So the
	// choices are compared as fractions; without success, the float64 result stays.
	endChoice, endTransition := w.keptChoices, w.keptTransitions
	w.keptChoices, w.keptTransitions, b.nearlyEqual = firstChoice, firstTransition, false
	if w.expandWithFractions(ctx, state, 0, 0) != nil {
		w.keptChoices, w.keptTransitions = endChoice, endTransition
	}
	return ctx.Err()
}

// expandWithFractions expands a state of the batch with fractions and stores the nearest float64
// weights. It replaces the next oldChoices choices and oldTransitions transitions of the batch.
// After an error the batch is unchanged.
func (w *worker) expandWithFractions(ctx context.Context, state, oldChoices, oldTransitions int) error {
	b, exact := w.batch, w.rationalWorker
	words := w.codec.words
	scratch := exact.batch
	scratch.reset()
	scratch.states = append(scratch.states, b.states[state*words:(state+1)*words]...)
	if err := exact.expand(ctx); err != nil {
		return err
	}
	w.readChoices, w.readTransitions = w.readChoices+oldChoices, w.readTransitions+oldTransitions
	w.makeRoom(len(scratch.Transitions), len(scratch.rats))
	for i, rat := range scratch.rats {
		weight, _ := sparse.NormalFloat(rat)
		if !sparse.InRange(weight) && b.rangeErr == nil {
			b.rangeErr = w.rangeError(scratch.states, rat)
		}
		b.Weights[w.keptTransitions+i] = weight
	}
	copy(b.Targets[w.keptTransitions*words:], scratch.Targets)
	copy(b.Transitions[w.keptChoices:], scratch.Transitions)
	if w.kind == sparse.MDP { // one action per choice, otherwise one per transition
		b.actions = append(b.actions[:w.keptChoices], scratch.actions...)
	} else {
		b.actions = append(b.actions[:w.keptTransitions], scratch.actions...)
	}
	b.Choices[state] = scratch.Choices[0]
	b.overlaps, b.merged = b.overlaps+scratch.overlaps, b.merged+scratch.merged
	b.relErr = max(b.relErr, 2*unitRoundoff)
	if exact.interpreter.usedEnclosure {
		b.relErr = max(b.relErr, 3*unitRoundoff)
	}
	w.keptTransitions, w.keptChoices = w.keptTransitions+len(scratch.rats), w.keptChoices+len(scratch.Transitions)
	return nil
}

// makeRoom makes space for the given numbers of choices and transitions between the entries that
// were kept and the entries that were not read yet.
func (w *worker) makeRoom(newChoices, newTransitions int) {
	b, words := w.batch, w.codec.words
	if gap := w.keptChoices + newChoices - w.readChoices; gap > 0 {
		b.Transitions = slices.Insert(b.Transitions, w.readChoices, make([]uint32, gap)...)
		b.Moves = slices.Insert(b.Moves, w.readChoices, make([]uint32, gap)...)
		w.readChoices += gap
	}
	if gap := w.keptTransitions + newTransitions - w.readTransitions; gap > 0 {
		b.Weights = slices.Insert(b.Weights, w.readTransitions, make([]float64, gap)...)
		b.Targets = slices.Insert(b.Targets, w.readTransitions*words, make([]uint64, gap*words)...)
		w.readTransitions += gap
	}
}

// rangeError returns the error for a weight that is outside the range of float64.
func (w *worker) rangeError(state []uint64, weight *big.Rat) error {
	quantity := "probability"
	if w.kind == sparse.CTMC {
		quantity = "rate"
	}
	w.codec.unpack(w.state, state)
	model := w.rationalWorker.interpreter.model
	return &RangeError{File: w.program.File, What: quantity + " " + shortRat(weight), State: model.StateText(w.state)}
}

// shortRat returns a fraction as a decimal number with four digits.
func shortRat(x *big.Rat) string {
	return new(big.Float).SetPrec(64).SetRat(x).Text('g', 4)
}

// nextChoices returns the next n choices of the batch, as the expander wrote them.
func (w *worker) nextChoices(n int) compile.PackedChoices {
	b := w.batch
	return compile.PackedChoices{
		Moves: b.Moves[w.readChoices : w.readChoices+n], Transitions: b.Transitions[w.readChoices : w.readChoices+n],
		Weights: b.Weights[w.readTransitions:],
	}
}

// actionOf converts an index into Program.Actions, or sema.Unlabelled, to a sparse.Action.
func actionOf(i int) sparse.Action {
	if i == sema.Unlabelled {
		return sparse.NoAction
	}
	return sparse.Action(i + 1)
}

// keepDistinctChoices reads the next n choices of a state of an MDP. It keeps a choice if no
// earlier choice of the state has the same action and the same distribution.
//
// Source: PRISM's explicit engine (reference, section 4.7).
func (w *worker) keepDistinctChoices(ctx context.Context, n int) error {
	b, words := w.batch, w.codec.words
	firstChoice := w.keptChoices
	for range n {
		numTransitions := int(b.Transitions[w.readChoices])
		if w.keptTransitions < w.readTransitions {
			copy(b.Weights[w.keptTransitions:], b.Weights[w.readTransitions:w.readTransitions+numTransitions])
			copy(b.Targets[w.keptTransitions*words:], b.Targets[w.readTransitions*words:(w.readTransitions+numTransitions)*words])
		}
		w.readTransitions += numTransitions
		action := actionOf(w.moves[b.Moves[w.readChoices]].Action)
		w.readChoices++
		if err := w.countWork(ctx, (w.keptChoices-firstChoice)*numTransitions); err != nil {
			return err
		}
		if b.isDuplicate(firstChoice, w.keptChoices, w.keptTransitions, numTransitions, action, words) {
			b.merged++
			continue
		}
		b.Transitions[w.keptChoices] = uint32(numTransitions)
		b.actions = append(b.actions, action)
		w.keptChoices++
		w.keptTransitions += numTransitions
	}
	return nil
}

// workPerPoll is the number of comparisons between two polls of the context, a few milliseconds.
const workPerPoll = 1 << 18

// countWork adds to the number of comparisons and polls the context after every workPerPoll of
// them, because the choices of a single state can take very long.
func (w *worker) countWork(ctx context.Context, comparisons int) error {
	if w.comparisons += comparisons; w.comparisons < workPerPoll {
		return nil
	}
	w.comparisons = 0
	return ctx.Err()
}

// isDuplicate reports whether one of the choices from firstChoice to endChoice has the given action
// and the same distribution as the numTransitions transitions from firstTransition on. The
// transitions of choice endChoice-1 must end at firstTransition. words is the size of a packed
// state.
func (b *batch) isDuplicate(firstChoice, endChoice, firstTransition, numTransitions int, action sparse.Action, words int) bool {
	otherFirst := firstTransition // goes back to the first transition of each choice
	for choice := endChoice - 1; choice >= firstChoice; choice-- {
		otherSize := int(b.Transitions[choice])
		otherFirst -= otherSize
		if otherSize == numTransitions && b.actions[choice] == action && b.sameTransitions(otherFirst, firstTransition, numTransitions, words) {
			return true
		}
	}
	return false
}

// sameTransitions reports whether the n transitions from first1 on equal those from first2 on, in
// any order. Targets are distinct within each group.
func (b *batch) sameTransitions(first1, first2, n, words int) bool {
	for i := first1; i < first1+n; i++ {
		found := false
		for j := first2; j < first2+n && !found; j++ {
			found = equalWords(b.target(i, words), b.target(j, words)) && b.sameWeight(i, j)
		}
		if !found {
			return false
		}
	}
	return true
}

// target returns the packed target of transition i.
func (b *batch) target(i, words int) []uint64 { return b.Targets[i*words : (i+1)*words] }

// sameWeight reports whether two transitions have equal weights. It sets nearlyEqual if two
// float64 weights are different but rounding may be the reason.
func (b *batch) sameWeight(i, j int) bool {
	if len(b.rats) > 0 {
		return b.rats[i].Cmp(b.rats[j]) == 0 && (len(b.highs) == 0 || b.highs[i].Cmp(b.highs[j]) == 0)
	}
	x, y := b.Weights[i], b.Weights[j]
	if x == y {
		return true
	}
	b.nearlyEqual = b.nearlyEqual || math.Abs(x-y) <= b.roundingTolerance*x
	return false
}

// mergeIntoRow merges the next numChoices choices of a state of a Markov chain into one row and
// sums the weights of transitions with the same action and target. In a DTMC it divides all
// probabilities by their total, so several enabled commands are equally likely.
//
// Source: PRISM's explicit engine (reference, sections 4.5 and 4.6).
func (w *worker) mergeIntoRow(ctx context.Context, numChoices int) error {
	b := w.batch
	first, total := w.keptTransitions, 0.0
	for i := range numChoices {
		action := actionOf(w.moves[b.Moves[w.readChoices]].Action)
		if err := w.countWork(ctx, (w.keptTransitions-first)*int(b.Transitions[w.readChoices])); err != nil {
			return err
		}
		for range b.Transitions[w.readChoices] {
			total += b.Weights[w.readTransitions]
			w.addToRow(first, action, i > 0)
			w.readTransitions++
		}
		w.readChoices++
	}
	if w.kind == sparse.DTMC {
		for i := first; i < w.keptTransitions; i++ {
			b.Weights[i] /= total
		}
		if numChoices > 1 {
			b.overlaps++
		}
	}
	b.Transitions[w.keptChoices] = uint32(w.keptTransitions - first)
	w.keptChoices++
	return nil
}

// addToRow adds the next transition to the row that begins at first. mayRepeat says that the row
// may already contain a transition with the same action and target.
func (w *worker) addToRow(first int, action sparse.Action, mayRepeat bool) {
	b, words, next := w.batch, w.codec.words, w.readTransitions
	for i := first; mayRepeat && i < w.keptTransitions; i++ {
		if b.actions[i] == action && equalWords(b.target(i, words), b.target(next, words)) {
			b.Weights[i] += b.Weights[next]
			return
		}
	}
	b.Weights[w.keptTransitions] = b.Weights[next]
	copy(b.target(w.keptTransitions, words), b.target(next, words))
	b.actions = append(b.actions, action)
	w.keptTransitions++
}

// exactWorker expands batches with rational weights.
type exactWorker struct {
	*worker
	interpreter *exactExpander
	compiled    *compiledChoices // nil if every state is interpreted
}

// expand fills the batch with the choices of its states.
func (w *exactWorker) expand(ctx context.Context) error {
	if w.state == nil {
		w.state = make([]int32, len(w.program.Vars))
	}
	if w.compiled != nil {
		return w.expandCompiled(ctx)
	}
	for i := 0; i < len(w.batch.states); i += w.codec.words {
		w.codec.unpack(w.state, w.batch.states[i:i+w.codec.words])
		if err := w.expandInterpreted(ctx); err != nil {
			return err
		}
	}
	return nil
}

// expandInterpreted appends the choices of the current state of an MDP, or its row in a Markov
// chain.
func (w *exactWorker) expandInterpreted(ctx context.Context) error {
	b := w.batch
	firstChoice := len(b.Transitions)
	choices, numEnabled, err := w.interpreter.expand(ctx, w.state)
	if err != nil {
		return err
	}
	if numEnabled > 1 && w.kind == sparse.DTMC {
		b.overlaps++
	}
	firstTransition := len(b.rats)
	for i := range choices {
		choice := &choices[i]
		for j := range choice.targets {
			b.rats = append(b.rats, choice.weights[j])
			if choice.upperWeights != nil {
				b.highs = append(b.highs, choice.upperWeights[j])
			}
			w.addTarget(choice.targets[j])
			if w.kind != sparse.MDP {
				b.actions = append(b.actions, actionOf(choice.action))
			}
		}
		if w.kind == sparse.MDP {
			if err := w.countWork(ctx, (len(b.Transitions)-firstChoice)*len(choice.targets)); err != nil {
				return err
			}
			w.endChoice(firstChoice, firstTransition, actionOf(choice.action))
			firstTransition = len(b.rats)
		}
	}
	if w.kind != sparse.MDP && len(choices) > 0 {
		b.Transitions = append(b.Transitions, uint32(len(b.rats)-firstTransition))
	}
	b.Choices = append(b.Choices, uint32(len(b.Transitions)-firstChoice))
	return nil
}

// addTarget appends a packed target state.
func (w *exactWorker) addTarget(state []int32) {
	end := len(w.batch.Targets)
	w.batch.Targets = slices.Grow(w.batch.Targets, w.codec.words)[:end+w.codec.words]
	w.codec.pack(w.batch.Targets[end:], state)
}

// endChoice makes the transitions from firstTransition on a choice with the given action. It drops
// them if an earlier choice of the state, from firstChoice on, is equal.
func (w *exactWorker) endChoice(firstChoice, firstTransition int, action sparse.Action) {
	b := w.batch
	numTransitions := len(b.rats) - firstTransition
	if b.isDuplicate(firstChoice, len(b.Transitions), firstTransition, numTransitions, action, w.codec.words) {
		b.merged++
		b.rats, b.Targets = b.rats[:firstTransition], b.Targets[:firstTransition*w.codec.words]
		b.highs = b.highs[:min(firstTransition, len(b.highs))]
		return
	}
	b.Transitions = append(b.Transitions, uint32(numTransitions))
	b.actions = append(b.actions, action)
}
