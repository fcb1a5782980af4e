package explicit

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// compiledChoices combines the compiled model with exact weights: the compiled model computes the
// enabled choices and their targets, and the rational weights of the alternatives of a move come from
// a cache. A weight that is zero is nil. An empty list of weights means that the interpreter must
// expand the state.
type compiledChoices struct {
	output         compile.PackedChoices
	caches         []*fractionCache // of each move; nil before the first use
	weightLists    [][]*big.Rat     // of the choices of the current state
	sumCache       map[[2]*big.Rat]*big.Rat
	numStates      int // number of expanded states
	numInterpreted int // number of expanded states that needed the interpreter
}

// expandCompiled computes the choices of the batch's states with the compiled model and cached exact weights. For a state without cached
// weights it uses the interpreter.
func (worker *exactWorker) expandCompiled(ctx context.Context) error {
	batch, compiled := worker.batch, worker.compiled
	output, wordsPerState := &compiled.output, worker.codec.wordsPerState
	output.Reset()
	if err := worker.expander.Expand(ctx, batch.states, output); err != nil {
		return err
	}
	choice, transition := 0, 0 // the first choice and the first transition of the current state in output
	for i, numChoices := range output.Choices {
		worker.codec.unpack(worker.state, batch.states[i*wordsPerState:(i+1)*wordsPerState])
		isCompiled := numChoices != compile.GivenUp
		if !isCompiled {
			numChoices = 0
		}
		endChoice := choice + int(numChoices)
		if err := worker.expandState(ctx, isCompiled, choice, endChoice, transition); err != nil {
			return err
		}
		for ; choice < endChoice; choice++ {
			transition += int(output.Transitions[choice])
		}
	}
	compiled.numStates += len(output.Choices)
	const trialStates = 4096
	if compiled.numStates > trialStates && compiled.numInterpreted > compiled.numStates/2 {
		worker.compiled = nil // most states are interpreted anyway
	}
	return nil
}

// expandState appends the choices of the current state to the batch. They are numbers choice to endChoice-1 of the output if
// the state is compiled and has cached weights. If not, the interpreter computes them.
func (worker *exactWorker) expandState(ctx context.Context, isCompiled bool, choice, endChoice, transition int) error {
	if isCompiled && worker.findWeights(choice, endChoice) {
		return worker.addCompiled(ctx, choice, endChoice, transition)
	}
	worker.compiled.numInterpreted++
	return worker.expandInterpreted(ctx)
}

// findWeights sets weightLists to the exact weights of the choices first to end-1 of the current state. It returns false if they are not known, so that the
// interpreter must expand the state.
func (worker *exactWorker) findWeights(first, end int) bool {
	if worker.kind == sparse.DTMC && end-first > 1 {
		return false // the interpreter divides the weights of several commands by their sum
	}
	compiled := worker.compiled
	compiled.weightLists = compiled.weightLists[:0]
	for choice := first; choice < end; choice++ {
		weights := worker.cachedWeights(int(compiled.output.Moves[choice]))
		if len(weights) != int(compiled.output.Transitions[choice]) {
			return false
		}
		compiled.weightLists = append(compiled.weightLists, weights)
	}
	return true
}

// cachedWeights returns the exact weight of each transition of a move (a choice of the compiled model) in the current state. An empty list
// means that the interpreter must expand the state.
func (worker *exactWorker) cachedWeights(moveIndex int) []*big.Rat {
	move, cache := &worker.expander.Moves()[moveIndex], &worker.compiled.caches[moveIndex]
	if *cache == nil {
		var commands []*sema.Command
		for _, commandRef := range move.Commands {
			commands = append(commands, &worker.program.Modules[commandRef.Module].Commands[commandRef.Command])
		}
		var err error
		if *cache, err = worker.interpreter.newWeightCache(commands...); err != nil {
			return nil // the interpreter returns the error
		}
	}
	weights, _ := (*cache).get(worker.state, func() ([]*big.Rat, error) { return worker.alternativeWeights(move), nil })
	return weights
}

// alternativeWeights computes the weight of each alternative of a move in the current state. An alternative consists of one update of each command; its
// weight is the product of the weights of these updates, or nil for 0. An empty list means that the interpreter must expand the state.
func (worker *exactWorker) alternativeWeights(move *compile.Move) []*big.Rat {
	updateWeights, err := worker.updateWeights(move.Commands)
	if err != nil || len(move.Alternatives) == 0 {
		return []*big.Rat{}
	}
	weights := make([]*big.Rat, 0, len(move.Alternatives))
	for combination := range combinations(updateWeights) {
		weight := combinedWeight(combination, updateWeights)
		isZero := weight.Sign() == 0
		// The compiled model omits a combination of updates if its weight is zero in float64. If the exact weight is not zero, interpret the state.
		isOmitted := len(weights) == len(move.Alternatives) || !slices.Equal(combination, move.Alternatives[len(weights)])
		switch {
		case isOmitted && isZero: // there is no transition
		case isOmitted:
			return []*big.Rat{}
		case isZero:
			weights = append(weights, nil)
		default:
			weights = append(weights, weight)
		}
	}
	if len(weights) < len(move.Alternatives) {
		return []*big.Rat{}
	}
	return weights
}

// combinedWeight returns the product of the weights of the selected updates. combination[i] is the selected update
// of command i.
func combinedWeight(combination []int, updateWeights [][]*big.Rat) *big.Rat {
	product := updateWeights[0][combination[0]]
	for i := 1; i < len(combination); i++ {
		product = new(big.Rat).Mul(product, updateWeights[i][combination[i]])
	}
	return product
}

// updateWeights returns, for each command, the exact weights of its updates in the current state.
func (worker *exactWorker) updateWeights(commands []compile.CommandRef) ([][]*big.Rat, error) {
	interpreter := worker.interpreter
	modules := interpreter.model.Program().Modules
	var lists [][]*big.Rat
	for _, commandRef := range commands {
		weights, err := interpreter.commandWeights(worker.state, &modules[commandRef.Module].Commands[commandRef.Command])
		if err != nil {
			return nil, err
		}
		lists = append(lists, weights)
	}
	return lists, nil
}

// addCompiled appends the choices of the current state to the batch: the choices firstChoice to endChoice-1 of the compiled model's output,
// with the weights in weightLists. firstTransition is the index of their first transition in the output.
func (worker *exactWorker) addCompiled(ctx context.Context, firstChoice, endChoice, firstTransition int) error {
	if worker.owners != nil && endChoice > firstChoice {
		moves := worker.compiled.output.Moves[firstChoice:endChoice]
		owner, err := worker.owners.stateOwner(func() []int32 { return worker.state }, len(moves), func(i int) ownedChoice {
			move := &worker.expander.Moves()[moves[i]]
			return ownedChoice{move.Action, move.Module, move.Commands}
		})
		if err != nil {
			return err
		}
		worker.batch.setOwner(len(worker.batch.Choices), owner)
	}
	if worker.kind == sparse.MDP {
		return worker.addCompiledChoices(ctx, firstChoice, endChoice, firstTransition)
	}
	return worker.addCompiledRow(ctx, firstChoice, endChoice, firstTransition)
}

// addCompiledChoices appends the choices of an MDP state to the batch, without duplicates. They are the choices firstChoice to endChoice-1
// of the compiled model's output; transition is the index of their first transition.
func (worker *exactWorker) addCompiledChoices(ctx context.Context, firstChoice, endChoice, transition int) error {
	batch := worker.batch
	firstAdded, rowStart := len(batch.Transitions), len(batch.fractions)
	for choice := firstChoice; choice < endChoice; choice++ {
		worker.addOrMergeTransitions(rowStart, worker.compiled.weightLists[choice-firstChoice], transition)
		transition += int(worker.compiled.output.Transitions[choice])
		if err := worker.countWork(ctx, (len(batch.Transitions)-firstAdded)*(len(batch.fractions)-rowStart)); err != nil {
			return err
		}
		worker.finishChoice(firstAdded, rowStart, worker.moveAction(choice))
		rowStart = len(batch.fractions)
	}
	batch.Choices = append(batch.Choices, uint32(len(batch.Transitions)-firstAdded))
	return nil
}

// addCompiledRow merges the choices of a state of a Markov chain into one row of the batch. They are the choices firstChoice to endChoice-1
// of the compiled model's output; transition is the index of their first transition. Transitions with the same action are adjacent.
func (worker *exactWorker) addCompiledRow(ctx context.Context, firstChoice, endChoice, transition int) error {
	batch := worker.batch
	if firstChoice == endChoice { // a deadlock
		batch.Choices = append(batch.Choices, 0)
		return nil
	}
	rowStart := len(batch.fractions)
	for choice := firstChoice; choice < endChoice; choice++ {
		if action := worker.moveAction(choice); !worker.hasAction(firstChoice, choice, action) {
			weightLists := worker.compiled.weightLists[choice-firstChoice:]
			if err := worker.addActionTransitions(ctx, action, choice, weightLists, transition); err != nil {
				return err
			}
		}
		transition += int(worker.compiled.output.Transitions[choice])
	}
	batch.Transitions = append(batch.Transitions, uint32(len(batch.fractions)-rowStart))
	batch.Choices = append(batch.Choices, 1)
	return nil
}

// addActionTransitions appends the transitions with one action to the row of a Markov chain. It reads the choices of the compiled model's
// output from firstChoice on; weightLists has their weights, and transition is the index of their first transition.
func (worker *exactWorker) addActionTransitions(ctx context.Context, action sparse.Action, firstChoice int, weightLists [][]*big.Rat, transition int) error {
	batch := worker.batch
	rowStart := len(batch.fractions)
	for i, weights := range weightLists {
		choice := firstChoice + i
		if worker.moveAction(choice) == action {
			worker.addOrMergeTransitions(rowStart, weights, transition)
		}
		transition += int(worker.compiled.output.Transitions[choice])
		if err := worker.countWork(ctx, 1+len(batch.fractions)-rowStart); err != nil {
			return err
		}
	}
	for range len(batch.fractions) - rowStart {
		batch.actions = append(batch.actions, action)
	}
	return nil
}

// hasAction reports whether one of the choices from first to end-1 of the output has the given action.
func (worker *exactWorker) hasAction(first, end int, action sparse.Action) bool {
	for choice := first; choice < end; choice++ {
		if worker.moveAction(choice) == action {
			return true
		}
	}
	return false
}

// moveAction returns the action of a choice that the compiled model wrote.
func (worker *exactWorker) moveAction(choice int) sparse.Action {
	return sparseAction(worker.expander.Moves()[worker.compiled.output.Moves[choice]].Action)
}

// addOrMergeTransitions appends a transition for each weight that is not nil. weights[i] belongs to transition firstTransition+i of the compiled
// model's output. If a transition of the batch from index firstMerged on has the same target, the weight is added to that transition instead.
func (worker *exactWorker) addOrMergeTransitions(firstMerged int, weights []*big.Rat, firstTransition int) {
	batch, compiled, wordsPerState := worker.batch, worker.compiled, worker.codec.wordsPerState
	for offset, weight := range weights {
		if weight == nil {
			continue
		}
		target := compiled.output.Targets[(firstTransition+offset)*wordsPerState : (firstTransition+offset+1)*wordsPerState]
		mergedIndex := firstMerged // becomes the index of the transition with the same target, if there is one
		for mergedIndex < len(batch.fractions) && !equalWords(batch.packedTarget(mergedIndex, wordsPerState), target) {
			mergedIndex++
		}
		if mergedIndex < len(batch.fractions) {
			batch.fractions[mergedIndex] = compiled.cachedSum(batch.fractions[mergedIndex], weight)
		} else {
			batch.fractions = append(batch.fractions, weight)
			batch.Targets = append(batch.Targets, target...)
		}
	}
}

// maxSums is the largest number of sums that are cached.
const maxSums = 1 << 12

// cachedSum returns left + right. It caches the sums by the pointers of their operands, so equal sums share memory.
func (compiled *compiledChoices) cachedSum(left, right *big.Rat) *big.Rat {
	key := [2]*big.Rat{left, right}
	if cached := compiled.sumCache[key]; cached != nil {
		return cached
	}
	if compiled.sumCache == nil || len(compiled.sumCache) == maxSums {
		compiled.sumCache = make(map[[2]*big.Rat]*big.Rat)
	}
	total := new(big.Rat).Add(left, right)
	compiled.sumCache[key] = total
	return total
}
