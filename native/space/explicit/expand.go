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

// batch is a group of states that one worker expands. When done receives a value, the batch holds the choices of these states: one row
// for each state of a Markov chain, the distinct choices of each state of an MDP, and no choice for a deadlock.
type batch struct {
	states []uint64
	done   chan struct{}

	err error
	compile.PackedChoices
	actions        []sparse.Action // per choice in an MDP, per transition otherwise
	fractions      []*big.Rat      // instead of Weights in exact models
	upperFractions []*big.Rat      // upper bounds in interval models; fractions are the lower bounds
	hashes         []uint32        // of Targets
	owners         []uint16        // of the states of a game; shorter if the last ones are deadlocks
	numOverlaps    int             // number of states of a DTMC with several enabled commands
	numMerged      int             // number of dropped choices, which equal an earlier choice of their state
	relErr         float64         // bound on the relative error of Weights
	rangeErr       error           // a weight outside the range of float64
	// isNormalised says that the fractions of some command, in this or an earlier batch of the same
	// worker, were divided by their sum.
	isNormalised bool
	// roundingTolerance is the relative difference that rounding may cause between equal weights;
	// isNearlyEqual says that two different weights are within this difference.
	roundingTolerance float64
	isNearlyEqual     bool
}

// reset empties the batch but keeps its memory.
func (batch *batch) reset() {
	batch.states, batch.err, batch.numOverlaps, batch.numMerged, batch.relErr, batch.rangeErr = batch.states[:0], nil, 0, 0, 0, nil
	batch.PackedChoices.Reset()
	batch.actions, batch.fractions, batch.hashes = batch.actions[:0], batch.fractions[:0], batch.hashes[:0]
	batch.upperFractions, batch.owners = batch.upperFractions[:0], batch.owners[:0]
}

// worker computes the choices of batches of states. Each worker runs in its own goroutine.
type worker struct {
	program     *sema.Program
	codec       *codec
	kind        sparse.Kind
	expander    compile.PackedExpander
	exactWorker *exactWorker // expands all batches of an exact model, nil otherwise
	// fallbackWorker expands a state if its float64 weights are not accurate enough. Its batch is
	// scratch space.
	fallbackWorker *exactWorker
	weightErrors   *weightErrors
	canonicaliser  *canonicaliser // nil without symmetry
	owners         *ownership     // nil unless the model is a game
	state          []int32        // scratch space for an unpacked state
	batch          *batch
	moves          []compile.Move
	// currentState unpacks the state of the batch with index current.
	currentState func() []int32
	currentIndex int
	// The expander's choices are rewritten in place. readChoices and readTransitions count the
	// entries that were read, writtenChoices and writtenTransitions those that were written back.
	readChoices, readTransitions, writtenChoices, writtenTransitions int
	// comparisons counts comparisons since the context was polled.
	comparisons int
}

// newWorker returns a worker that computes the choices of states with the given expander. If opts.Exact is set, the worker computes
// fractions.
func newWorker(ctx context.Context, model *compile.Model, codec *codec, expander compile.PackedExpander, opts Options) (*worker, error) {
	program := model.Program()
	if len(program.Actions) >= math.MaxUint16 {
		return nil, &compile.UnsupportedError{File: program.File, Msg: "more than 65534 actions"}
	}
	weightErrors, err := newWeightErrors(model)
	if err != nil {
		return nil, err
	}
	owners, err := newOwnership(model)
	if err != nil {
		return nil, err
	}
	worker := &worker{
		program: program, codec: codec, kind: sparseKind(program.Type), expander: expander, weightErrors: weightErrors,
		canonicaliser: newCanonicaliser(codec, &opts), owners: owners, state: make([]int32, len(program.Vars)),
	}
	worker.currentState = func() []int32 {
		codec.unpack(worker.state, worker.batch.states[worker.currentIndex*codec.wordsPerState:(worker.currentIndex+1)*codec.wordsPerState])
		return worker.state
	}
	if opts.Exact {
		worker.exactWorker = newExactWorker(ctx, model, worker, opts.Normalise)
	} else {
		worker.fallbackWorker = newRationalWorker(ctx, model, worker)
	}
	return worker, nil
}

// newExactWorker returns the part of a worker that computes exact weights. If normalise is set, it accepts probabilities of a command whose sum differs from
// 1 by rounding, and divides them by their sum.
func newExactWorker(ctx context.Context, model *compile.Model, parent *worker, normalise bool) *exactWorker {
	exact := &exactWorker{worker: parent, interpreter: newExactExpander(ctx, model, normalise)}
	exact.interpreter.owners = parent.owners
	if parent.expander.Name() == "machine" {
		exact.compiled = &compiledChoices{caches: make([]*fractionCache, len(parent.expander.Moves()))}
	}
	return exact
}

// newRationalWorker returns an expander of single states with fractions, for a model with float64 weights.
func newRationalWorker(ctx context.Context, model *compile.Model, parent *worker) *exactWorker {
	scratch := &worker{program: parent.program, codec: parent.codec, kind: parent.kind, owners: parent.owners, batch: &batch{}}
	rational := &exactWorker{worker: scratch, interpreter: newExactExpander(ctx, model, true)}
	rational.interpreter.allowEnclosures, rational.interpreter.owners = true, parent.owners
	return rational
}

// expandJobs expands the batches of jobs until the channel is closed.
func (worker *worker) expandJobs(ctx context.Context, jobs <-chan *batch) {
	for batch := range jobs {
		worker.expandBatch(ctx, batch)
		batch.done <- struct{}{}
	}
}

// expandBatch computes the choices of the states in a batch. It then replaces each target by its representative, if the model is reduced by a symmetry, and
// computes the hash of each target.
func (worker *worker) expandBatch(ctx context.Context, batch *batch) {
	worker.batch = batch
	if worker.exactWorker != nil {
		batch.err = worker.exactWorker.expandExactly(ctx)
		batch.isNormalised = worker.exactWorker.interpreter.isNormalised
	} else {
		batch.err = worker.expandFloats(ctx)
	}
	worker.canonicaliser.replaceByRepresentatives(batch.Targets)
	for i := 0; i < len(batch.Targets); i += worker.codec.wordsPerState {
		batch.hashes = append(batch.hashes, hash32(batch.Targets[i:i+worker.codec.wordsPerState]))
	}
}

// expandFloats computes the choices of the batch's states with float64 weights. It merges the choices of a Markov chain's state into one row, and drops
// duplicate choices of an MDP's state. If float64 arithmetic fails in a state, or is too inaccurate there, it computes the state with fractions.
func (worker *worker) expandFloats(ctx context.Context) error {
	batch, wordsPerState := worker.batch, worker.codec.wordsPerState
	worker.readChoices, worker.readTransitions, worker.writtenChoices, worker.writtenTransitions = 0, 0, 0, 0
	for state := 0; state < len(batch.states)/wordsPerState; {
		failure := worker.expander.Expand(ctx, batch.states[state*wordsPerState:], &batch.PackedChoices)
		worker.moves = worker.expander.Moves()
		for ; state < len(batch.Choices); state++ {
			if err := worker.mergeFloatChoices(ctx, state); err != nil {
				return worker.truncateBatch(state, err)
			}
		}
		if failure == nil {
			break
		}
		// float64 arithmetic failed in this state, for example by overflow. Try fractions.
		batch.Choices = append(batch.Choices, 0)
		_, isStateError := errors.AsType[*compile.StateError](failure)
		if !isStateError || worker.expandWithFractions(ctx, state, 0, 0) != nil {
			return worker.truncateBatch(state, cmp.Or(ctx.Err(), failure))
		}
		state++
	}
	return worker.truncateBatch(len(batch.Choices), nil)
}

// truncateBatch removes all states after the first numStates ones from the batch, and all entries that were not written back. It returns
// err.
func (worker *worker) truncateBatch(numStates int, err error) error {
	batch := worker.batch
	batch.Choices = batch.Choices[:numStates]
	batch.Moves, batch.Transitions = batch.Moves[:0], batch.Transitions[:worker.writtenChoices]
	batch.Weights, batch.Targets = batch.Weights[:worker.writtenTransitions], batch.Targets[:worker.writtenTransitions*worker.codec.wordsPerState]
	return err
}

// mergeFloatChoices rewrites the choices of a state in the batch: in a Markov chain it merges them into one row, in an MDP it drops duplicates. It computes
// the state again with fractions if the float64 weights are too inaccurate, or too close to each other to decide whether two choices are equal.
func (worker *worker) mergeFloatChoices(ctx context.Context, state int) error {
	batch := worker.batch
	numChoices := int(batch.Choices[state])
	if numChoices == 0 {
		return nil
	}
	worker.currentIndex = state
	if worker.owners != nil {
		if err := worker.findOwner(state, numChoices); err != nil {
			return err
		}
	}
	relErr, err := worker.weightErrors.boundOfState(worker.currentState, worker.moves, worker.nextChoices(numChoices))
	if _, isInaccurate := err.(needsFractionsError); isInaccurate {
		return worker.expandWithFractions(ctx, state, numChoices, worker.countTransitions(numChoices))
	}
	if err != nil {
		return err
	}
	batch.relErr = max(batch.relErr, relErr)
	firstChoice, firstTransition := worker.writtenChoices, worker.writtenTransitions
	if worker.kind != sparse.MDP {
		err = worker.mergeIntoRow(ctx, numChoices)
	} else {
		batch.roundingTolerance, batch.isNearlyEqual = 3*relErr, false
		err = worker.keepDistinctChoices(ctx, numChoices)
	}
	batch.Choices[state] = uint32(worker.writtenChoices - firstChoice)
	if err != nil || !batch.isNearlyEqual {
		return err
	}
	return worker.recomputeWithFractions(ctx, state, firstChoice, firstTransition)
}

// countTransitions returns the number of transitions of the next n choices of the batch.
func (worker *worker) countTransitions(n int) int {
	count := 0
	for _, numTransitions := range worker.batch.Transitions[worker.readChoices : worker.readChoices+n] {
		count += int(numTransitions)
	}
	return count
}

// recomputeWithFractions computes the distinct choices of a state with fractions, because rounding can make equal choices look different. If this fails, the
// float64 choices stay. They begin at firstChoice and firstTransition in the batch.
func (worker *worker) recomputeWithFractions(ctx context.Context, state, firstChoice, firstTransition int) error {
	endChoice, endTransition := worker.writtenChoices, worker.writtenTransitions
	worker.writtenChoices, worker.writtenTransitions, worker.batch.isNearlyEqual = firstChoice, firstTransition, false
	if worker.expandWithFractions(ctx, state, 0, 0) != nil { // restore the float64 choices
		worker.writtenChoices, worker.writtenTransitions = endChoice, endTransition
	}
	return ctx.Err()
}

// findOwner finds the player who owns a state of a game, and stores the player in the batch. The choices of the state are the next numChoices choices of the
// batch.
func (worker *worker) findOwner(state, numChoices int) error {
	moves := worker.batch.Moves[worker.readChoices:]
	owner, err := worker.owners.stateOwner(worker.currentState, numChoices, func(i int) ownedChoice {
		move := &worker.moves[moves[i]]
		return ownedChoice{move.Action, move.Module, move.Commands}
	})
	if err != nil {
		return err
	}
	worker.batch.setOwner(state, owner)
	return nil
}

// expandWithFractions computes the choices of a state with fractions, and writes them to the batch with the nearest float64 weights. They replace the next
// oldChoices choices, with their oldTransitions transitions, that were not read yet. After an error the batch is unchanged.
func (worker *worker) expandWithFractions(ctx context.Context, state, oldChoices, oldTransitions int) error {
	batch, exact := worker.batch, worker.fallbackWorker
	wordsPerState := worker.codec.wordsPerState
	scratch := exact.batch
	scratch.reset()
	scratch.states = append(scratch.states, batch.states[state*wordsPerState:(state+1)*wordsPerState]...)
	if err := exact.expandExactly(ctx); err != nil {
		return err
	}
	worker.readChoices += oldChoices
	worker.readTransitions += oldTransitions
	worker.writeRounded(scratch)
	batch.Choices[state] = scratch.Choices[0]
	if len(scratch.owners) > 0 {
		batch.setOwner(state, scratch.owners[0])
	}
	batch.numOverlaps += scratch.numOverlaps
	batch.numMerged += scratch.numMerged
	batch.relErr = max(batch.relErr, 2*sema.UnitRoundoff)
	if exact.interpreter.usedEnclosure {
		batch.relErr = max(batch.relErr, 3*sema.UnitRoundoff)
	}
	return nil
}

// writeRounded copies choices with fractions from the batch exact to the worker's batch, with the nearest float64 weights.
func (worker *worker) writeRounded(exact *batch) {
	batch, wordsPerState := worker.batch, worker.codec.wordsPerState
	worker.insertSpace(len(exact.Transitions), len(exact.fractions))
	for i, fraction := range exact.fractions {
		weight, _ := sparse.NormalFloat(fraction)
		if !sparse.InRange(weight) && batch.rangeErr == nil {
			batch.rangeErr = worker.rangeError(exact.states, fraction)
		}
		batch.Weights[worker.writtenTransitions+i] = weight
	}
	copy(batch.Targets[worker.writtenTransitions*wordsPerState:], exact.Targets)
	copy(batch.Transitions[worker.writtenChoices:], exact.Transitions)
	numActions := worker.writtenTransitions
	if worker.kind == sparse.MDP { // an action per choice
		numActions = worker.writtenChoices
	}
	batch.actions = append(batch.actions[:numActions], exact.actions...)
	worker.writtenTransitions += len(exact.fractions)
	worker.writtenChoices += len(exact.Transitions)
}

// insertSpace makes room in the batch for choices and transitions that are to be written. The batch is rewritten in place, so the room is between the
// entries that were written and those that were not read yet.
func (worker *worker) insertSpace(newChoices, newTransitions int) {
	batch, wordsPerState := worker.batch, worker.codec.wordsPerState
	if gap := worker.writtenChoices + newChoices - worker.readChoices; gap > 0 {
		batch.Transitions = slices.Insert(batch.Transitions, worker.readChoices, make([]uint32, gap)...)
		batch.Moves = slices.Insert(batch.Moves, worker.readChoices, make([]uint32, gap)...)
		worker.readChoices += gap
	}
	if gap := worker.writtenTransitions + newTransitions - worker.readTransitions; gap > 0 {
		batch.Weights = slices.Insert(batch.Weights, worker.readTransitions, make([]float64, gap)...)
		batch.Targets = slices.Insert(batch.Targets, worker.readTransitions*wordsPerState, make([]uint64, gap*wordsPerState)...)
		worker.readTransitions += gap
	}
}

// rangeError returns the error for a weight outside the range of float64.
func (worker *worker) rangeError(state []uint64, weight *big.Rat) error {
	quantity := "probability"
	if worker.kind == sparse.CTMC {
		quantity = "rate"
	}
	worker.codec.unpack(worker.state, state)
	model := worker.fallbackWorker.interpreter.model
	return &RangeError{File: worker.program.File, What: quantity + " " + shortRat(weight), State: model.StateText(worker.state)}
}

// shortRat returns a fraction as a decimal number with four digits.
func shortRat(value *big.Rat) string {
	return new(big.Float).SetPrec(64).SetRat(value).Text('g', 4)
}

// nextChoices returns the next n choices of the batch, as the expander wrote them.
func (worker *worker) nextChoices(n int) compile.PackedChoices {
	batch := worker.batch
	return compile.PackedChoices{
		Moves: batch.Moves[worker.readChoices : worker.readChoices+n], Transitions: batch.Transitions[worker.readChoices : worker.readChoices+n],
		Weights: batch.Weights[worker.readTransitions:],
	}
}

// sparseAction converts an index into Program.Actions, or sema.Unlabelled, to a sparse.Action.
func sparseAction(i int) sparse.Action {
	if i == sema.Unlabelled {
		return sparse.NoAction
	}
	return sparse.Action(i + 1)
}

// keepDistinctChoices removes duplicates from the next numChoices choices of the batch, which belong to one state of an MDP. It keeps each choice that
// differs from all earlier choices of the state in its action or its distribution.
//
// Source: PRISM's explicit engine (reference, section 4.7).
func (worker *worker) keepDistinctChoices(ctx context.Context, numChoices int) error {
	batch, wordsPerState := worker.batch, worker.codec.wordsPerState
	firstChoice := worker.writtenChoices // the first choice of the state that is kept
	for range numChoices {
		numTransitions := int(batch.Transitions[worker.readChoices])
		if worker.writtenTransitions < worker.readTransitions {
			copy(batch.Weights[worker.writtenTransitions:], batch.Weights[worker.readTransitions:worker.readTransitions+numTransitions])
			copy(batch.Targets[worker.writtenTransitions*wordsPerState:], batch.Targets[worker.readTransitions*wordsPerState:(worker.readTransitions+numTransitions)*wordsPerState])
		}
		worker.readTransitions += numTransitions
		action := sparseAction(worker.moves[batch.Moves[worker.readChoices]].Action)
		worker.readChoices++
		if err := worker.countWork(ctx, (worker.writtenChoices-firstChoice)*numTransitions); err != nil {
			return err
		}
		if batch.isDuplicate(firstChoice, worker.writtenChoices, worker.writtenTransitions, numTransitions, action, wordsPerState) {
			batch.numMerged++
			continue
		}
		batch.Transitions[worker.writtenChoices] = uint32(numTransitions)
		batch.actions = append(batch.actions, action)
		worker.writtenChoices++
		worker.writtenTransitions += numTransitions
	}
	return nil
}

// workPerPoll is the number of comparisons between two polls of the context, a few milliseconds.
const workPerPoll = 1 << 18

// countWork counts comparisons of transitions. After every workPerPoll comparisons it returns the error of the context, so that long computations can be
// interrupted.
func (worker *worker) countWork(ctx context.Context, comparisons int) error {
	worker.comparisons += comparisons
	if worker.comparisons < workPerPoll {
		return nil
	}
	worker.comparisons = 0
	return ctx.Err()
}

// isDuplicate reports whether one of the choices firstChoice to endChoice-1 has the given action, and the same distribution as the new transitions: the
// numTransitions transitions from firstTransition on. The transitions of choice endChoice-1 must end at firstTransition. wordsPerState is the number of
// words of a packed state.
func (batch *batch) isDuplicate(firstChoice, endChoice, firstTransition, numTransitions int, action sparse.Action, wordsPerState int) bool {
	otherFirst := firstTransition // the loop sets it to the first transition of each choice
	for choice := endChoice - 1; choice >= firstChoice; choice-- {
		otherSize := int(batch.Transitions[choice])
		otherFirst -= otherSize
		canBeEqual := otherSize == numTransitions && batch.actions[choice] == action
		if canBeEqual && batch.sameTransitions(otherFirst, firstTransition, numTransitions, wordsPerState) {
			return true
		}
	}
	return false
}

// sameTransitions reports whether two groups of count transitions, from leftFirst and from rightFirst on, have the same targets and weights
// in any order. Within a group all targets differ.
func (batch *batch) sameTransitions(leftFirst, rightFirst, count, wordsPerState int) bool {
	for left := leftFirst; left < leftFirst+count; left++ {
		right := rightFirst // becomes the transition with the same target
		for right < rightFirst+count && !equalWords(batch.packedTarget(left, wordsPerState), batch.packedTarget(right, wordsPerState)) {
			right++
		}
		if right == rightFirst+count || !batch.sameWeight(left, right) {
			return false
		}
	}
	return true
}

// packedTarget returns the packed target of transition i.
func (batch *batch) packedTarget(i, wordsPerState int) []uint64 {
	return batch.Targets[i*wordsPerState : (i+1)*wordsPerState]
}

// sameWeight reports whether two transitions have equal weights. If their float64 weights differ so little that rounding may be the reason, it returns false
// and sets isNearlyEqual.
func (batch *batch) sameWeight(first, second int) bool {
	if len(batch.fractions) > 0 {
		hasSameUpperBound := len(batch.upperFractions) == 0 || batch.upperFractions[first].Cmp(batch.upperFractions[second]) == 0
		return hasSameUpperBound && batch.fractions[first].Cmp(batch.fractions[second]) == 0
	}
	left, right := batch.Weights[first], batch.Weights[second]
	if left == right {
		return true
	}
	batch.isNearlyEqual = batch.isNearlyEqual || math.Abs(left-right) <= batch.roundingTolerance*left
	return false
}

// mergeIntoRow merges the next numChoices choices of the batch, which belong to one state of a Markov chain, into one row. Transitions with the same action
// and target become one, with the sum of their weights. In a DTMC it divides all probabilities by their sum, so that all enabled commands are equally
// likely.
//
// Source: PRISM's explicit engine (reference, sections 4.5 and 4.6).
func (worker *worker) mergeIntoRow(ctx context.Context, numChoices int) error {
	batch := worker.batch
	rowStart, total := worker.writtenTransitions, 0.0
	for i := range numChoices {
		action := sparseAction(worker.moves[batch.Moves[worker.readChoices]].Action)
		if err := worker.countWork(ctx, (worker.writtenTransitions-rowStart)*int(batch.Transitions[worker.readChoices])); err != nil {
			return err
		}
		for range batch.Transitions[worker.readChoices] {
			total += batch.Weights[worker.readTransitions]
			worker.addToRow(rowStart, action, i > 0)
			worker.readTransitions++
		}
		worker.readChoices++
	}
	if worker.kind == sparse.DTMC {
		for i := rowStart; i < worker.writtenTransitions; i++ {
			batch.Weights[i] /= total
		}
		if numChoices > 1 {
			batch.numOverlaps++
		}
	}
	batch.Transitions[worker.writtenChoices] = uint32(worker.writtenTransitions - rowStart)
	worker.writtenChoices++
	return nil
}

// addToRow moves the next transition of the batch to the row that begins at rowStart. If mayRepeat is set and the row has a transition with the same action
// and target, it adds the weight to that transition instead.
func (worker *worker) addToRow(rowStart int, action sparse.Action, mayRepeat bool) {
	batch, wordsPerState, next := worker.batch, worker.codec.wordsPerState, worker.readTransitions
	for i := rowStart; mayRepeat && i < worker.writtenTransitions; i++ {
		if batch.actions[i] == action && equalWords(batch.packedTarget(i, wordsPerState), batch.packedTarget(next, wordsPerState)) {
			batch.Weights[i] += batch.Weights[next]
			return
		}
	}
	batch.Weights[worker.writtenTransitions] = batch.Weights[next]
	copy(batch.packedTarget(worker.writtenTransitions, wordsPerState), batch.packedTarget(next, wordsPerState))
	batch.actions = append(batch.actions, action)
	worker.writtenTransitions++
}

// exactWorker expands batches with rational weights.
type exactWorker struct {
	*worker
	interpreter *exactExpander
	compiled    *compiledChoices // nil if every state is interpreted
}

// expandExactly computes the choices of the batch's states with fractions.
func (worker *exactWorker) expandExactly(ctx context.Context) error {
	if worker.state == nil {
		worker.state = make([]int32, len(worker.program.Vars))
	}
	if worker.compiled != nil {
		return worker.expandCompiled(ctx)
	}
	for i := 0; i < len(worker.batch.states); i += worker.codec.wordsPerState {
		worker.codec.unpack(worker.state, worker.batch.states[i:i+worker.codec.wordsPerState])
		if err := worker.expandInterpreted(ctx); err != nil {
			return err
		}
	}
	return nil
}

// expandInterpreted appends the choices of the current state to the batch, as the interpreter computes them: the distinct choices of a
// state of an MDP, or one row for a state of a Markov chain.
func (worker *exactWorker) expandInterpreted(ctx context.Context) error {
	batch := worker.batch
	choices, numEnabled, err := worker.interpreter.exactChoices(ctx, worker.state)
	if err != nil {
		return err
	}
	if numEnabled > 1 && worker.kind == sparse.DTMC {
		batch.numOverlaps++
	}
	if worker.owners != nil {
		batch.setOwner(len(batch.Choices), worker.interpreter.owner)
	}
	firstChoice, firstTransition := len(batch.Transitions), len(batch.fractions)
	for i := range choices {
		choice := &choices[i]
		worker.addInterpreted(choice)
		if worker.kind == sparse.MDP {
			if err := worker.countWork(ctx, (len(batch.Transitions)-firstChoice)*len(choice.targets)); err != nil {
				return err
			}
			worker.finishChoice(firstChoice, firstTransition, sparseAction(choice.action))
			firstTransition = len(batch.fractions)
		}
	}
	if worker.kind != sparse.MDP && len(choices) > 0 {
		batch.Transitions = append(batch.Transitions, uint32(len(batch.fractions)-firstTransition))
	}
	batch.Choices = append(batch.Choices, uint32(len(batch.Transitions)-firstChoice))
	return nil
}

// addInterpreted appends the transitions of a choice to the batch.
func (worker *exactWorker) addInterpreted(choice *exactChoice) {
	batch := worker.batch
	for i := range choice.targets {
		batch.fractions = append(batch.fractions, choice.weights[i])
		if choice.upperWeights != nil {
			batch.upperFractions = append(batch.upperFractions, choice.upperWeights[i])
		}
		worker.addTarget(choice.targets[i])
		if worker.kind != sparse.MDP {
			batch.actions = append(batch.actions, sparseAction(choice.action))
		}
	}
}

// addTarget appends a packed target state.
func (worker *exactWorker) addTarget(state []int32) {
	end := len(worker.batch.Targets)
	worker.batch.Targets = slices.Grow(worker.batch.Targets, worker.codec.wordsPerState)[:end+worker.codec.wordsPerState]
	worker.codec.pack(worker.batch.Targets[end:], state)
}

// finishChoice makes the transitions from firstTransition on a choice with the given action. If it is equal to an earlier choice of the state, which begin
// at firstChoice, it removes the transitions instead.
func (worker *exactWorker) finishChoice(firstChoice, firstTransition int, action sparse.Action) {
	batch := worker.batch
	numTransitions := len(batch.fractions) - firstTransition
	if batch.isDuplicate(firstChoice, len(batch.Transitions), firstTransition, numTransitions, action, worker.codec.wordsPerState) {
		batch.numMerged++
		batch.fractions, batch.Targets = batch.fractions[:firstTransition], batch.Targets[:firstTransition*worker.codec.wordsPerState]
		batch.upperFractions = batch.upperFractions[:min(firstTransition, len(batch.upperFractions))]
		return
	}
	batch.Transitions = append(batch.Transitions, uint32(numTransitions))
	batch.actions = append(batch.actions, action)
}
