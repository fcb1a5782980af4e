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
// enabled choices and their targets, and the rational weights come from a cache. The cache has a
// list of weights for each move and each valuation of the variables on which its weights depend.
// A state whose weights cannot be cached is expanded by the interpreter.
type compiledChoices struct {
	output      compile.PackedChoices
	caches      []weightCache
	weightLists [][]*big.Rat // of the choices of the current state
	sums        map[[2]*big.Rat]*big.Rat
	states      int // number of expanded states
	interpreted int // number of expanded states that needed the interpreter
}

// weightCache caches the rational weights of the alternatives of one move. The map key encodes the
// values of the variables on which the weights depend. A weight that is zero is nil. An empty
// list means that the interpreter must expand the state.
type weightCache struct {
	lists        map[int64][]*big.Rat // nil before the first use
	dependencies []dependency
}

// dependency is a variable on which the weights of a move depend. If the weights use the variable
// only in tests, such as x>3, then values with equal test results form a class.
type dependency struct {
	slot    int
	low     int32
	stride  int64
	classes []int64 // of each value, from low on; nil if each value has its own
}

const (
	// maxWeights is the largest number of keys for which the weights of a move are cached.
	maxWeights = 1 << 18
	// maxTests is the largest number of evaluations of the tests of a variable.
	maxTests = 1 << 16
)

// findDependencies finds the variables on which the weights of the commands depend. It returns
// false if these variables have too many valuations to cache a list of weights for each.
func (cache *weightCache) findDependencies(program *sema.Program, commands []compile.CommandRef) bool {
	order, tests := weightTests(program, commands)
	numKeys := int64(1)
	for _, slot := range order {
		variable := &program.Vars[slot]
		numValues := int64(variable.High) - int64(variable.Low) + 1
		added := dependency{slot: slot, low: variable.Low, stride: numKeys}
		numClasses := added.classify(tests[slot], numValues, make([]int32, len(program.Vars)))
		if numClasses > maxWeights/numKeys {
			return false
		}
		cache.dependencies = append(cache.dependencies, added)
		numKeys *= numClasses
	}
	return true
}

// weightTests returns the variables that occur in weights of the commands, in order of first use, and for each variable the subexpressions
// that test it.
func weightTests(program *sema.Program, commands []compile.CommandRef) (variables []int, tests map[int][]sema.Expr) {
	tests = make(map[int][]sema.Expr)
	collect := func(expr sema.Expr) bool {
		slot, ok := testedVariable(expr)
		if !ok { // look at the operands
			return true
		}
		if tests[slot] == nil {
			variables = append(variables, slot)
		}
		tests[slot] = append(tests[slot], expr)
		return false
	}
	for _, ref := range commands {
		for _, update := range program.Modules[ref.Module].Commands[ref.Command].Updates {
			if update.Prob != nil {
				sema.Inspect(update.Prob, collect)
			}
		}
	}
	return variables, tests
}

// testedVariable returns the slot of the only variable of an expression. ok is false unless the expression is a variable, or
// a Boolean expression with exactly one variable.
func testedVariable(expr sema.Expr) (slot int, ok bool) {
	if variable, isVar := expr.(*sema.Var); isVar {
		return variable.Slot, true
	}
	if expr.Type() != sema.Bool {
		return 0, false
	}
	slots := make(map[int]bool)
	sema.Inspect(expr, func(part sema.Expr) bool {
		if variable, isVar := part.(*sema.Var); isVar {
			slot = variable.Slot
			slots[slot] = true
		}
		return len(slots) <= 1
	})
	return slot, len(slots) == 1
}

// classify partitions the n values of the variable into classes, so that all tests have the same results for all values of a
// class. It returns the number of classes. If a test is the variable itself or cannot be evaluated for some value, or if there
// are too many evaluations, every value is its own class. state is a valuation that classify may change.
func (d *dependency) classify(tests []sema.Expr, n int64, state []int32) int64 {
	if int64(len(tests)) > maxTests/n {
		return n
	}
	classes := make([]int64, n)
	classByResults := make(map[string]int64) // the keys are the results of all tests, one byte each
	results := make([]byte, len(tests))
	for i := range classes {
		state[d.slot] = d.low + int32(i)
		if !evaluateTests(results, tests, state) {
			return n
		}
		class, found := classByResults[string(results)]
		if !found {
			class = int64(len(classByResults))
			classByResults[string(results)] = class
		}
		classes[i] = class
	}
	d.classes = classes
	return int64(len(classByResults))
}

// evaluateTests stores the result of each test in a state as 0 or 1. It returns false if a test is a variable or fails.
func evaluateTests(results []byte, tests []sema.Expr, state []int32) bool {
	for k, expr := range tests {
		if _, isVariable := expr.(*sema.Var); isVariable {
			return false
		}
		value, _, err := sema.EvalExact(expr, state)
		if err != nil {
			return false
		}
		results[k] = 0
		if value.Bool {
			results[k] = 1
		}
	}
	return true
}

// key encodes the classes of the current values of all dependencies in mixed radix.
func (cache *weightCache) key(state []int32) int64 {
	key := int64(0)
	for i := range cache.dependencies {
		used := &cache.dependencies[i]
		offset := int64(state[used.slot]) - int64(used.low)
		if used.classes != nil {
			offset = used.classes[offset]
		}
		key += used.stride * offset
	}
	return key
}

// expandCompiled expands the states of the batch with the compiled model and cached weights. A
// state with a weight that cannot be cached is expanded by the interpreter, with the same result.
func (worker *exactWorker) expandCompiled(ctx context.Context) error {
	batch, compiled := worker.batch, worker.compiled
	output, words := &compiled.output, worker.codec.words
	output.Reset()
	if err := worker.expander.Expand(ctx, batch.states, output); err != nil {
		return err
	}
	choice, transition := 0, 0 // the first ones of the current state in output
	for i, numChoices := range output.Choices {
		worker.codec.unpack(worker.state, batch.states[i*words:(i+1)*words])
		isCompiled := numChoices != compile.GivenUp
		endChoice := choice
		if isCompiled {
			endChoice += int(numChoices)
		}
		var err error
		if isCompiled && worker.findWeights(choice, endChoice) {
			err = worker.addCompiled(ctx, choice, endChoice, transition)
		} else {
			compiled.interpreted++
			err = worker.expandInterpreted(ctx)
		}
		if err != nil {
			return err
		}
		for ; choice < endChoice; choice++ {
			transition += int(output.Transitions[choice])
		}
	}
	compiled.states += len(output.Choices)
	if compiled.states > 4096 && compiled.interpreted > compiled.states/2 {
		worker.compiled = nil // most states are interpreted anyway
	}
	return nil
}

// findWeights sets weightLists to the exact weights of the choices from first to end-1 of the compiled model's output, which
// belong to the current state. It returns false if the interpreter must expand the state instead.
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

// cachedWeights returns the weights of the alternatives of a move in the current state, one for
// each transition that the compiled model writes. move is the index of the move. An empty list means that the interpreter
// must expand the state.
func (worker *exactWorker) cachedWeights(move int) []*big.Rat {
	cache, commands := &worker.compiled.caches[move], worker.expander.Moves()[move].Commands
	if cache.lists == nil {
		cache.lists = make(map[int64][]*big.Rat)
		if !cache.findDependencies(worker.program, commands) {
			// Without dependencies the key of every state is 0, so the interpreter expands every state with this move.
			cache.dependencies = nil
			cache.lists[0] = []*big.Rat{}
		}
	}
	key := cache.key(worker.state)
	weights, found := cache.lists[key]
	if !found {
		weights = worker.alternativeWeights(&worker.expander.Moves()[move])
		cache.lists[key] = weights
	}
	return weights
}

// alternativeWeights computes the weights of the alternatives of a move in the current state. An alternative is a combination
// of updates, one of each command, and its weight is the product of the weights of these updates. A weight of zero is nil. The
// compiled model omits combinations whose constant weight rounds to zero. If the exact weight of an omitted combination is not
// zero, or if a weight cannot be computed, the list is empty, and the interpreter must expand the state.
func (worker *exactWorker) alternativeWeights(move *compile.Move) []*big.Rat {
	updateWeights, err := worker.updateWeights(move.Commands)
	if err != nil || len(move.Alternatives) == 0 {
		return []*big.Rat{}
	}
	weights := make([]*big.Rat, 0, len(move.Alternatives))
	combination := make([]int, len(updateWeights)) // the index of an update of each command
	for more := true; more; more = nextCombination(combination, updateWeights) >= 0 {
		weight := combinedWeight(combination, updateWeights)
		isZero := weight.Sign() == 0
		isOmitted := len(weights) == len(move.Alternatives) || !slices.Equal(combination, move.Alternatives[len(weights)])
		switch {
		case isOmitted && isZero: // there is no such transition
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

// combinedWeight returns the product of the weights of one update of each command: of update combination[i] of command i.
func combinedWeight(combination []int, updateWeights [][]*big.Rat) *big.Rat {
	product := updateWeights[0][combination[0]]
	for i := 1; i < len(combination); i++ {
		product = new(big.Rat).Mul(product, updateWeights[i][combination[i]])
	}
	return product
}

// updateWeights returns a list for each command: the weights of its updates in the current state.
func (worker *exactWorker) updateWeights(commands []compile.CommandRef) ([][]*big.Rat, error) {
	interpreter := worker.interpreter
	modules := interpreter.model.Program().Modules
	var lists [][]*big.Rat
	for _, ref := range commands {
		weights, err := interpreter.commandWeights(worker.state, &modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return nil, err
		}
		lists = append(lists, weights)
	}
	return lists, nil
}

// addCompiled appends the current state to the batch. Its choices are those from firstChoice to endChoice-1 of the compiled
// model's output. transition is the index of their first transition there. Their weights are in weightLists.
func (worker *exactWorker) addCompiled(ctx context.Context, firstChoice, endChoice, transition int) error {
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
		return worker.addCompiledChoices(ctx, firstChoice, endChoice, transition)
	}
	return worker.addCompiledRow(ctx, firstChoice, endChoice, transition)
}

// addCompiledChoices adds a state of an MDP, like addCompiled. It drops choices that are equal to earlier ones.
func (worker *exactWorker) addCompiledChoices(ctx context.Context, firstChoice, endChoice, transition int) error {
	batch := worker.batch
	firstKept, start := len(batch.Transitions), len(batch.rats)
	for choice := firstChoice; choice < endChoice; choice++ {
		worker.addTransitions(start, worker.compiled.weightLists[choice-firstChoice], transition)
		transition += int(worker.compiled.output.Transitions[choice])
		if err := worker.countWork(ctx, (len(batch.Transitions)-firstKept)*(len(batch.rats)-start)); err != nil {
			return err
		}
		worker.endChoice(firstKept, start, worker.moveAction(choice))
		start = len(batch.rats)
	}
	batch.Choices = append(batch.Choices, uint32(len(batch.Transitions)-firstKept))
	return nil
}

// addCompiledRow adds a state of a Markov chain, like addCompiled. It merges the choices into one row. The row
// is ordered by action: first the transitions of the action of the first choice, then the transitions of the next action, and so on.
func (worker *exactWorker) addCompiledRow(ctx context.Context, firstChoice, endChoice, transition int) error {
	batch := worker.batch
	if firstChoice == endChoice { // a deadlock
		batch.Choices = append(batch.Choices, 0)
		return nil
	}
	rowStart := len(batch.rats)
	for choice := firstChoice; choice < endChoice; choice++ {
		if action := worker.moveAction(choice); !worker.hasAction(firstChoice, choice, action) {
			weightLists := worker.compiled.weightLists[choice-firstChoice:]
			if err := worker.addActionTransitions(ctx, action, choice, weightLists, transition); err != nil {
				return err
			}
		}
		transition += int(worker.compiled.output.Transitions[choice])
	}
	batch.Transitions = append(batch.Transitions, uint32(len(batch.rats)-rowStart))
	batch.Choices = append(batch.Choices, 1)
	return nil
}

// addActionTransitions appends the transitions of the current state that have the given action to the row of a Markov chain.
// weightLists has the weights of the choices from firstChoice on, whose transitions in the compiled model's output begin at
// transition.
func (worker *exactWorker) addActionTransitions(ctx context.Context, action sparse.Action, firstChoice int, weightLists [][]*big.Rat, transition int) error {
	batch := worker.batch
	start := len(batch.rats)
	for i, weights := range weightLists {
		choice := firstChoice + i
		if worker.moveAction(choice) == action {
			worker.addTransitions(start, weights, transition)
		}
		transition += int(worker.compiled.output.Transitions[choice])
		if err := worker.countWork(ctx, 1+len(batch.rats)-start); err != nil {
			return err
		}
	}
	for range len(batch.rats) - start {
		batch.actions = append(batch.actions, action)
	}
	return nil
}

// hasAction reports whether one of the choices from first to end-1 of the compiled model's output
// has the given action.
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
	return actionOf(worker.expander.Moves()[worker.compiled.output.Moves[choice]].Action)
}

// addTransitions appends transitions with the given weights to the batch. It skips weights that are nil. The targets are those of
// the transitions from index transition on in the compiled model's output. If a transition of the batch from index first on has
// the same target, addTransitions adds the weight to it.
func (worker *exactWorker) addTransitions(first int, weights []*big.Rat, transition int) {
	batch, compiled, words := worker.batch, worker.compiled, worker.codec.words
	for k, weight := range weights {
		if weight == nil {
			continue
		}
		target := compiled.output.Targets[(transition+k)*words : (transition+k+1)*words]
		same := first // the transition with the same target
		for same < len(batch.rats) && !equalWords(batch.target(same, words), target) {
			same++
		}
		if same < len(batch.rats) {
			batch.rats[same] = compiled.sum(batch.rats[same], weight)
		} else {
			batch.rats = append(batch.rats, weight)
			batch.Targets = append(batch.Targets, target...)
		}
	}
}

// maxSums is the largest number of sums that are cached.
const maxSums = 1 << 12

// sum returns left+right. It caches sums by the pointers of their operands, so equal sums usually share memory.
func (compiled *compiledChoices) sum(left, right *big.Rat) *big.Rat {
	key := [2]*big.Rat{left, right}
	if cached := compiled.sums[key]; cached != nil {
		return cached
	}
	if compiled.sums == nil || len(compiled.sums) == maxSums {
		compiled.sums = make(map[[2]*big.Rat]*big.Rat)
	}
	total := new(big.Rat).Add(left, right)
	compiled.sums[key] = total
	return total
}
