package explicit

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// compiledChoices lets an exactWorker use the compiled model: that gives the enabled choices and
// their targets, and the rational weights come from a cache. The cache has a list of weights per
// move and valuation of the variables on which the weights depend. States whose weights cannot be
// cached are interpreted.
type compiledChoices struct {
	raw         compile.PackedChoices
	moves       []weights
	weightLists [][]*big.Rat // of the choices of the current state
	sums        map[[2]*big.Rat]*big.Rat
	// states counts the expanded states, interpreted those among them that were interpreted.
	states, interpreted int
}

// weights caches the weights of a move's alternatives, nil for zero, by the key of the variables
// on which they depend. An empty list means that the state must be interpreted.
type weights struct {
	cache        map[int64][]*big.Rat // nil before the first use
	dependencies []dependency
}

// dependency is a variable on which weights depend. If the weights use only tests of it, such as
// x>3, then values for which all tests agree have the same number.
type dependency struct {
	slot   int
	low    int32
	base   int64
	number []int64 // of each value, from low on; nil if each value has its own
}

const (
	// maxWeights is the largest number of keys for which the weights of a move are cached.
	maxWeights = 1 << 18
	// maxTests is the largest number of evaluations of the tests of a variable.
	maxTests = 1 << 16
)

// findDependencies finds the variables on which the weights of the commands depend. It returns
// false if they have too many valuations.
func (t *weights) findDependencies(p *sema.Program, commands []compile.CommandRef) bool {
	var order []int // slots in order of first use
	tests := make(map[int][]sema.Expr)
	for _, ref := range commands {
		c := &p.Modules[ref.Module].Commands[ref.Command]
		for i := range c.Updates {
			if c.Updates[i].Prob == nil {
				continue
			}
			sema.Inspect(c.Updates[i].Prob, func(e sema.Expr) bool {
				slot, ok := testedVariable(e)
				if !ok { // look at the operands
					return true
				}
				if tests[slot] == nil {
					order = append(order, slot)
				}
				tests[slot] = append(tests[slot], e)
				return false
			})
		}
	}
	keys := int64(1)
	for _, slot := range order {
		v := &p.Vars[slot]
		d := dependency{slot: slot, low: v.Low, base: keys}
		n := d.distinguish(tests[slot], int64(v.High)-int64(v.Low)+1, make([]int32, len(p.Vars)))
		if n > maxWeights/keys {
			return false
		}
		t.dependencies, keys = append(t.dependencies, d), keys*n
	}
	return true
}

// testedVariable returns the slot of the variable if e is a variable, or a Boolean expression of a
// single variable.
func testedVariable(e sema.Expr) (slot int, ok bool) {
	if _, isVar := e.(*sema.Var); !isVar && e.Type() != sema.Bool {
		return 0, false
	}
	slot, ok = -1, true
	sema.Inspect(e, func(e sema.Expr) bool {
		if x, isVar := e.(*sema.Var); isVar {
			ok = ok && (slot < 0 || slot == x.Slot)
			slot = x.Slot
		}
		return ok
	})
	return slot, ok && slot >= 0
}

// distinguish numbers the n values of a variable so that values with equal test results have equal
// numbers. It returns the count of numbers. If a test is the variable itself or fails for some
// value, every value gets its own number.
func (d *dependency) distinguish(tests []sema.Expr, n int64, state []int32) int64 {
	if int64(len(tests)) > maxTests/n {
		return n
	}
	number, numbers := make([]int64, n), make(map[string]int64)
	results := make([]byte, len(tests))
	for i := range number {
		state[d.slot] = d.low + int32(i)
		for k, e := range tests {
			v, _, err := sema.EvalExact(e, state)
			if _, isVar := e.(*sema.Var); isVar || err != nil {
				return n
			}
			results[k] = 0
			if v.Bool {
				results[k] = 1
			}
		}
		k, ok := numbers[string(results)]
		if !ok {
			k = int64(len(numbers))
			numbers[string(results)] = k
		}
		number[i] = k
	}
	d.number = number
	return int64(len(numbers))
}

// key returns the number of the current values of the variables on which the weights depend.
func (t *weights) key(state []int32) int64 {
	k := int64(0)
	for i := range t.dependencies {
		f := &t.dependencies[i]
		x := int64(state[f.slot]) - int64(f.low)
		if f.number != nil {
			x = f.number[x]
		}
		k += f.base * x
	}
	return k
}

// expandCompiled expands the batch with the compiled model. The result is the same as with the
// interpreter.
func (w *exactWorker) expandCompiled(ctx context.Context) error {
	b, machine := w.b, w.machine
	raw, words := &machine.raw, w.codec.words
	raw.Reset()
	if err := w.x.Expand(ctx, b.states, raw); err != nil {
		return err
	}
	choice, transition := 0, 0
	for i, n := range raw.Choices {
		cached := n != compile.GivenUp && (n <= 1 || w.kind != sparse.DTMC)
		end, endTransition := choice, transition
		if n != compile.GivenUp {
			end += int(n)
		}
		w.codec.unpack(w.state, b.states[i*words:(i+1)*words])
		machine.weightLists = machine.weightLists[:0]
		for j := choice; j < end; j++ {
			endTransition += int(raw.Transitions[j])
			if cached {
				machine.weightLists = append(machine.weightLists, w.cachedWeights(int(raw.Moves[j])))
				cached = len(machine.weightLists[j-choice]) == int(raw.Transitions[j])
			}
		}
		if cached {
			if err := w.addCompiled(ctx, choice, end, transition); err != nil {
				return err
			}
		} else {
			machine.interpreted++
			if err := w.choices(ctx); err != nil {
				return err
			}
		}
		choice, transition = end, endTransition
	}
	if machine.states += len(raw.Choices); machine.states > 4096 && machine.interpreted > machine.states/2 {
		w.machine = nil // most states are interpreted anyway
	}
	return nil
}

// cachedWeights returns the weights of a move's alternatives in the current state, one for each
// transition that the compiled model writes. An empty list means that the state must be
// interpreted.
func (w *exactWorker) cachedWeights(index int) []*big.Rat {
	cached, move := &w.machine.moves[index], &w.x.Moves()[index]
	if cached.cache == nil {
		if cached.cache = make(map[int64][]*big.Rat); !cached.findDependencies(w.p, move.Commands) {
			cached.dependencies, cached.cache[0] = nil, []*big.Rat{}
		}
	}
	key := cached.key(w.state)
	out, ok := cached.cache[key]
	if !ok {
		out = w.alternativeWeights(move)
		cached.cache[key] = out
	}
	return out
}

// alternativeWeights computes the weights of a move's alternatives in the current state. The
// compiled model omits alternatives whose constant weight rounds to zero; if such a weight is not
// zero exactly, the list is empty. It is also empty after an error, which the interpreter then
// reports.
func (w *exactWorker) alternativeWeights(move *compile.Move) []*big.Rat {
	x := w.weigher
	var factors [][]*big.Rat
	for _, ref := range move.Commands {
		ws, err := x.commandWeights(w.state, &x.m.Program().Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return []*big.Rat{}
		}
		factors = append(factors, ws)
	}
	out := make([]*big.Rat, 0, len(move.Alternatives))
	pick := make([]int, len(factors))
	for more := len(move.Alternatives) > 0; more; more = advance(pick, factors) >= 0 {
		p := factors[0][pick[0]]
		for i, u := range pick[1:] {
			p = new(big.Rat).Mul(p, factors[i+1][u])
		}
		switch written := len(out) < len(move.Alternatives) && slices.Equal(pick, move.Alternatives[len(out)]); {
		case p.Sign() == 0 && written:
			out = append(out, nil)
		case written:
			out = append(out, p)
		case p.Sign() != 0:
			return []*big.Rat{}
		}
	}
	if len(out) < len(move.Alternatives) {
		return []*big.Rat{}
	}
	return out
}

// addCompiled appends the choices from choice to end of the compiled model, whose transitions
// begin at transition and whose weights are all cached. For a Markov chain it appends a row,
// with the transitions of each action together, in the order of the actions' first choices.
func (w *exactWorker) addCompiled(ctx context.Context, choice, end, transition int) error {
	b, raw := w.b, &w.machine.raw
	first, at := len(b.Transitions), len(b.rats)
	if w.owners != nil && end > choice {
		owner, err := w.owners.ofState(func() []int32 { return w.state }, end-choice, func(i int) owned {
			m := &w.x.Moves()[raw.Moves[choice+i]]
			return owned{m.Action, m.Module, m.Commands}
		})
		if err != nil {
			return err
		}
		b.setOwner(len(b.Choices), owner)
	}
	if w.kind == sparse.MDP {
		for j := choice; j < end; j++ {
			w.addTransitions(at, w.machine.weightLists[j-choice], transition)
			transition += int(raw.Transitions[j])
			if err := w.countWork(ctx, (len(b.Transitions)-first)*(len(b.rats)-at)); err != nil {
				return err
			}
			w.endChoice(first, at, w.action(j))
			at = len(b.rats)
		}
		b.Choices = append(b.Choices, uint32(len(b.Transitions)-first))
		return nil
	}
	for j := choice; j < end; j++ {
		a, from := w.action(j), len(b.rats)
		done := false
		for k := choice; k < j && !done; k++ {
			done = w.action(k) == a
		}
		for k, t := j, transition; k < end && !done; k++ {
			if w.action(k) == a {
				w.addTransitions(from, w.machine.weightLists[k-choice], t)
			}
			t += int(raw.Transitions[k])
			if err := w.countWork(ctx, 1+len(b.rats)-from); err != nil {
				return err
			}
		}
		for range len(b.rats) - from {
			b.actions = append(b.actions, a)
		}
		transition += int(raw.Transitions[j])
	}
	if end > choice {
		b.Transitions = append(b.Transitions, uint32(len(b.rats)-at))
	}
	b.Choices = append(b.Choices, uint32(len(b.Transitions)-first))
	return nil
}

func (w *exactWorker) action(choice int) sparse.Action {
	return actionOf(w.x.Moves()[w.machine.raw.Moves[choice]].Action)
}

// addTransitions appends transitions with the given weights; their targets begin at index
// transition of the compiled choices. A target that occurs from index at on gets the sum.
func (w *exactWorker) addTransitions(at int, weights []*big.Rat, transition int) {
	b, m, words := w.b, w.machine, w.codec.words
	for k, p := range weights {
		if p == nil {
			continue
		}
		target := m.raw.Targets[(transition+k)*words : (transition+k+1)*words]
		i := at
		for i < len(b.rats) && !equalWords(b.target(i, words), target) {
			i++
		}
		if i < len(b.rats) {
			b.rats[i] = m.sum(b.rats[i], p)
			continue
		}
		b.rats, b.Targets = append(b.rats, p), append(b.Targets, target...)
	}
}

// maxSums is the largest number of sums that are cached, so that equal sums share memory.
const maxSums = 1 << 12

// sum returns x+y, from the cache if it is there.
func (m *compiledChoices) sum(x, y *big.Rat) *big.Rat {
	key := [2]*big.Rat{x, y}
	z := m.sums[key]
	if z == nil {
		z = new(big.Rat).Add(x, y)
		if m.sums == nil || len(m.sums) == maxSums {
			m.sums = make(map[[2]*big.Rat]*big.Rat)
		}
		m.sums[key] = z
	}
	return z
}
