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
		added := dependency{slot: slot, low: variable.Low, stride: numKeys}
		classes := added.classify(tests[slot], int64(variable.High)-int64(variable.Low)+1, make([]int32, len(program.Vars)))
		if classes > maxWeights/numKeys {
			return false
		}
		cache.dependencies, numKeys = append(cache.dependencies, added), numKeys*classes
	}
	return true
}

// weightTests returns, for each variable that occurs in a weight of the commands, the subexpressions that test it. order
// has these variables in order of first use.
func weightTests(program *sema.Program, commands []compile.CommandRef) (order []int, tests map[int][]sema.Expr) {
	tests = make(map[int][]sema.Expr)
	collect := func(expr sema.Expr) bool {
		slot, ok := testedVariable(expr)
		if !ok { // look at the operands
			return true
		}
		if tests[slot] == nil {
			order = append(order, slot)
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
	return order, tests
}

// testedVariable returns the slot of the only variable of an expression. ok is false unless the expression is a variable, or
// a Boolean expression with exactly one variable.
func testedVariable(expr sema.Expr) (slot int, ok bool) {
	if _, isVar := expr.(*sema.Var); !isVar && expr.Type() != sema.Bool {
		return 0, false
	}
	slot, ok = -1, true
	sema.Inspect(expr, func(expr sema.Expr) bool {
		if variable, isVar := expr.(*sema.Var); isVar {
			ok = ok && (slot < 0 || slot == variable.Slot)
			slot = variable.Slot
		}
		return ok
	})
	return slot, ok && slot >= 0
}

// classify partitions the n values of a variable into classes, so that all tests have the same results for all values of a
// class. It returns the number of classes. If a test is the variable itself or fails for some value, every value is its own
// class.
func (d *dependency) classify(tests []sema.Expr, n int64, state []int32) int64 {
	if int64(len(tests)) > maxTests/n {
		return n
	}
	classes, classOf := make([]int64, n), make(map[string]int64) // classOf is by the results of the tests
	results := make([]byte, len(tests))
	for i := range classes {
		state[d.slot] = d.low + int32(i)
		if !evaluateTests(results, tests, state) {
			return n
		}
		class, ok := classOf[string(results)]
		if !ok {
			class = int64(len(classOf))
			classOf[string(results)] = class
		}
		classes[i] = class
	}
	d.classes = classes
	return int64(len(classOf))
}

// evaluateTests stores the result of each test in a state as 0 or 1. It returns false if a test is a variable or fails.
func evaluateTests(results []byte, tests []sema.Expr, state []int32) bool {
	for k, expr := range tests {
		value, _, err := sema.EvalExact(expr, state)
		if _, isVar := expr.(*sema.Var); isVar || err != nil {
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
	choice, transition := 0, 0
	for i, n := range output.Choices {
		// A DTMC state with several commands needs the interpreter, which normalises its weights.
		cached := n != compile.GivenUp && (n <= 1 || worker.kind != sparse.DTMC)
		end, endTransition := choice, transition
		if n != compile.GivenUp {
			end += int(n)
		}
		worker.codec.unpack(worker.state, batch.states[i*words:(i+1)*words])
		compiled.weightLists = compiled.weightLists[:0]
		for j := choice; j < end; j++ {
			endTransition += int(output.Transitions[j])
			if cached {
				compiled.weightLists = append(compiled.weightLists, worker.cachedWeights(int(output.Moves[j])))
				cached = len(compiled.weightLists[j-choice]) == int(output.Transitions[j])
			}
		}
		if cached {
			if err := worker.addCompiled(ctx, choice, end, transition); err != nil {
				return err
			}
		} else {
			compiled.interpreted++
			if err := worker.expandInterpreted(ctx); err != nil {
				return err
			}
		}
		choice, transition = end, endTransition
	}
	compiled.states += len(output.Choices)
	if compiled.states > 4096 && compiled.interpreted > compiled.states/2 {
		worker.compiled = nil // most states are interpreted anyway
	}
	return nil
}

// cachedWeights returns the weights of the alternatives of a move in the current state, one for
// each transition that the compiled model writes. An empty list means that the interpreter must
// expand the state.
func (worker *exactWorker) cachedWeights(index int) []*big.Rat {
	cached, move := &worker.compiled.caches[index], &worker.expander.Moves()[index]
	if cached.lists == nil {
		cached.lists = make(map[int64][]*big.Rat)
		if !cached.findDependencies(worker.program, move.Commands) {
			cached.dependencies = nil
			cached.lists[0] = []*big.Rat{} // the only key
		}
	}
	key := cached.key(worker.state)
	weights, found := cached.lists[key]
	if !found {
		weights = worker.alternativeWeights(move)
		cached.lists[key] = weights
	}
	return weights
}

// alternativeWeights computes the weights of the alternatives of a move in the current state. The
// compiled model omits an alternative whose constant weight rounds to zero. If the exact weight of
// an omitted alternative is not zero, or after an error, the list is empty, and the interpreter
// must expand the state.
func (worker *exactWorker) alternativeWeights(move *compile.Move) []*big.Rat {
	factors, err := worker.commandFactors(move.Commands)
	if err != nil {
		return []*big.Rat{}
	}
	weights := make([]*big.Rat, 0, len(move.Alternatives))
	updates := make([]int, len(factors))
	for more := len(move.Alternatives) > 0; more; more = nextCombination(updates, factors) >= 0 {
		product := factors[0][updates[0]]
		for i, update := range updates[1:] {
			product = new(big.Rat).Mul(product, factors[i+1][update])
		}
		// isAlternative says that the compiled model has a transition for this combination of updates.
		isAlternative := len(weights) < len(move.Alternatives) && slices.Equal(updates, move.Alternatives[len(weights)])
		switch isZero := product.Sign() == 0; {
		case isAlternative && isZero:
			weights = append(weights, nil)
		case isAlternative:
			weights = append(weights, product)
		case !isZero:
			return []*big.Rat{}
		}
	}
	if len(weights) < len(move.Alternatives) {
		return []*big.Rat{}
	}
	return weights
}

// commandFactors returns the weights of the updates of each command in the current state.
func (worker *exactWorker) commandFactors(commands []compile.CommandRef) ([][]*big.Rat, error) {
	interpreter := worker.interpreter
	var factors [][]*big.Rat
	for _, ref := range commands {
		weights, err := interpreter.commandWeights(worker.state, &interpreter.model.Program().Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return nil, err
		}
		factors = append(factors, weights)
	}
	return factors, nil
}

// addCompiled appends a state to the batch: the choices from firstChoice to endChoice of the
// compiled model's output, whose transitions begin at transition. All their weights are in
// weightLists.
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
	rowStart := len(batch.rats)
	for choice := firstChoice; choice < endChoice; choice++ {
		action := worker.moveAction(choice)
		if worker.hasAction(firstChoice, choice, action) { // merged with an earlier choice
			transition += int(worker.compiled.output.Transitions[choice])
			continue
		}
		start, next := len(batch.rats), transition
		for other := choice; other < endChoice; other++ {
			if worker.moveAction(other) == action {
				worker.addTransitions(start, worker.compiled.weightLists[other-firstChoice], next)
			}
			next += int(worker.compiled.output.Transitions[other])
			if err := worker.countWork(ctx, 1+len(batch.rats)-start); err != nil {
				return err
			}
		}
		for range len(batch.rats) - start {
			batch.actions = append(batch.actions, action)
		}
		transition += int(worker.compiled.output.Transitions[choice])
	}
	numRows := uint32(0)
	if endChoice > firstChoice {
		batch.Transitions = append(batch.Transitions, uint32(len(batch.rats)-rowStart))
		numRows = 1
	}
	batch.Choices = append(batch.Choices, numRows)
	return nil
}

// hasAction reports whether one of the choices from first to end of the compiled model's output
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

// addTransitions appends transitions with the given weights and skips those with weight nil. Their
// targets are the output targets of the compiled model from index transition on. A weight is added
// to an earlier transition, from index first on, if that has the same target.
func (worker *exactWorker) addTransitions(first int, weights []*big.Rat, transition int) {
	batch, compiled, words := worker.batch, worker.compiled, worker.codec.words
	for k, weight := range weights {
		if weight == nil {
			continue
		}
		target := compiled.output.Targets[(transition+k)*words : (transition+k+1)*words]
		i := first
		for i < len(batch.rats) && !equalWords(batch.target(i, words), target) {
			i++
		}
		if i < len(batch.rats) {
			batch.rats[i] = compiled.sum(batch.rats[i], weight)
			continue
		}
		batch.rats, batch.Targets = append(batch.rats, weight), append(batch.Targets, target...)
	}
}

// maxSums is the largest number of sums that are cached, so that equal sums share memory.
const maxSums = 1 << 12

// sum returns left+right. As long as the cache holds the sum of two operands, it returns the same pointer for them.
func (m *compiledChoices) sum(left, right *big.Rat) *big.Rat {
	key := [2]*big.Rat{left, right}
	total := m.sums[key]
	if total == nil {
		total = new(big.Rat).Add(left, right)
		if m.sums == nil || len(m.sums) == maxSums {
			m.sums = make(map[[2]*big.Rat]*big.Rat)
		}
		m.sums[key] = total
	}
	return total
}
