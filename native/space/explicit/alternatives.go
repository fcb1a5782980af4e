package explicit

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// alternatives is how an exactWorker uses a machine: that one says which choices a state
// has and where they lead, and the fractions are those of the moves' updates: one list for
// each valuation of the variables on which they depend. Other states are interpreted.
type alternatives struct {
	raw    compile.PackedChoices
	moves  []weights
	listed [][]*big.Rat // of the choices of a state
	sums   map[[2]*big.Rat]*big.Rat
	// states were expanded, of them so many interpreted.
	states, interpreted int
}

// weights are those of the alternatives of a move, nil for zero, by what they depend on, which
// is numbered in a mixed base. An empty list is of what has to be interpreted.
type weights struct {
	known  map[int64][]*big.Rat // nil if not looked at yet
	digits []digit
}

// digit is a variable that weights depend on, or what tests say of it: those of its values of
// which all tests say the same have the same number.
type digit struct {
	slot   int
	low    int32
	base   int64
	number []int64 // nil is from the lowest on, each its own
}

const (
	// maxWeights is how many valuations of variables there may be for weights to be kept.
	maxWeights = 1 << 18
	// maxTests is how often the tests of a variable are evaluated to tell its values apart.
	maxTests = 1 << 16
)

// depends finds out what the weights of some commands depend on. It is false where that
// has too many values.
func (t *weights) depends(p *sema.Program, commands []compile.CommandRef) bool {
	var order []int // the slots as they come
	tests := make(map[int][]sema.Expr)
	for _, ref := range commands {
		c := &p.Modules[ref.Module].Commands[ref.Command]
		for i := range c.Updates {
			if c.Updates[i].Prob == nil {
				continue
			}
			sema.Inspect(c.Updates[i].Prob, func(e sema.Expr) bool {
				slot, one := tested(e)
				if !one {
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
	all := int64(1)
	for _, slot := range order {
		v := &p.Vars[slot]
		f := digit{slot: slot, low: v.Low, base: all}
		n := f.distinguish(tests[slot], int64(v.High)-int64(v.Low)+1, make([]int32, len(p.Vars)))
		if n > maxWeights/all {
			return false
		}
		t.digits, all = append(t.digits, f), all*n
	}
	return true
}

// tested returns the variable that an expression is, or is a test of it alone.
func tested(e sema.Expr) (slot int, one bool) {
	if _, ok := e.(*sema.Var); !ok && e.Type() != sema.Bool {
		return 0, false
	}
	slot, one = -1, true
	sema.Inspect(e, func(e sema.Expr) bool {
		if x, ok := e.(*sema.Var); ok {
			one = one && (slot < 0 || slot == x.Slot)
			slot = x.Slot
		}
		return one
	})
	return slot, one && slot >= 0
}

// distinguish numbers the values of a variable, of which there are n, by what the tests say,
// and returns how many numbers there are. A test that has no value for one of them tells all apart.
func (f *digit) distinguish(tests []sema.Expr, n int64, state []int32) int64 {
	if int64(len(tests)) > maxTests/n {
		return n
	}
	number, known := make([]int64, n), make(map[string]int64)
	said := make([]byte, len(tests))
	for i := range number {
		state[f.slot] = f.low + int32(i)
		for k, e := range tests {
			v, _, err := sema.EvalExact(e, state)
			if _, value := e.(*sema.Var); value || err != nil {
				return n
			}
			said[k] = 0
			if v.Bool {
				said[k] = 1
			}
		}
		k, ok := known[string(said)]
		if !ok {
			k = int64(len(known))
			known[string(said)] = k
		}
		number[i] = k
	}
	f.number = number
	return int64(len(known))
}

// key numbers what weights depend on.
func (t *weights) key(state []int32) int64 {
	k := int64(0)
	for i := range t.digits {
		f := &t.digits[i]
		x := int64(state[f.slot]) - int64(f.low)
		if f.number != nil {
			x = f.number[x]
		}
		k += f.base * x
	}
	return k
}

// faster expands the batch. The result is that of interpreting all states.
func (w *exactWorker) faster(ctx context.Context) error {
	b, m := w.b, w.machine
	raw, words := &m.raw, w.codec.words
	raw.Reset()
	if err := w.x.Expand(ctx, b.states, raw); err != nil {
		return err
	}
	choice, transition := 0, 0
	for i, n := range raw.Choices {
		known := n != compile.GivenUp && (n <= 1 || w.kind != sparse.DTMC)
		end, last := choice, transition
		if n != compile.GivenUp {
			end += int(n)
		}
		w.codec.unpack(w.state, b.states[i*words:(i+1)*words])
		m.listed = m.listed[:0]
		for j := choice; j < end; j++ {
			last += int(raw.Transitions[j])
			if known {
				m.listed = append(m.listed, w.known(int(raw.Moves[j])))
				known = len(m.listed[j-choice]) == int(raw.Transitions[j])
			}
		}
		if known {
			if err := w.list(ctx, choice, end, transition); err != nil {
				return err
			}
		} else {
			m.interpreted++
			if err := w.choices(ctx); err != nil {
				return err
			}
		}
		choice, transition = end, last
	}
	if m.states += len(raw.Choices); m.states > 4096 && m.interpreted > m.states/2 {
		w.machine = nil // not worth it
	}
	return nil
}

// known returns the weights of the alternatives of a move in the state, which are as many
// as the transitions that the machine writes, or none if the move has to be interpreted.
func (w *exactWorker) known(move int) []*big.Rat {
	t, mv := &w.machine.moves[move], &w.x.Moves()[move]
	if t.known == nil {
		if t.known = make(map[int64][]*big.Rat); !t.depends(w.p, mv.Commands) {
			t.digits, t.known[0] = nil, []*big.Rat{}
		}
	}
	key := t.key(w.state)
	out, ok := t.known[key]
	if !ok {
		out = w.weighed(mv)
		t.known[key] = out
	}
	return out
}

// weighed computes the weights of the alternatives of a move in the state. There are none
// unless those that the machine writes are all that are possible: it leaves out those of
// which a constant is zero as a double. What is wrong with them the interpreter says.
func (w *exactWorker) weighed(mv *compile.Move) []*big.Rat {
	x := w.weigher
	var each [][]*big.Rat
	for _, ref := range mv.Commands {
		ws, err := x.weigh(w.state, &x.m.Program().Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return []*big.Rat{}
		}
		each = append(each, ws)
	}
	out := make([]*big.Rat, 0, len(mv.Alternatives))
	pick := make([]int, len(each))
	for more := len(mv.Alternatives) > 0; more; more = advance(pick, each) >= 0 {
		p := each[0][pick[0]]
		for i, u := range pick[1:] {
			p = new(big.Rat).Mul(p, each[i+1][u])
		}
		switch written := len(out) < len(mv.Alternatives) && slices.Equal(pick, mv.Alternatives[len(out)]); {
		case p.Sign() == 0 && written:
			out = append(out, nil)
		case written:
			out = append(out, p)
		case p.Sign() != 0:
			return []*big.Rat{}
		}
	}
	if len(out) < len(mv.Alternatives) {
		return []*big.Rat{}
	}
	return out
}

// list appends the choices of a state that the machine has listed, all of known
// weights, or in a Markov chain their row: its actions in the order in which they come.
func (w *exactWorker) list(ctx context.Context, choice, end, transition int) error {
	b, raw := w.b, &w.machine.raw
	first, at := len(b.Transitions), len(b.rats)
	if w.kind == sparse.MDP {
		for j := choice; j < end; j++ {
			w.alternatives(at, w.machine.listed[j-choice], transition)
			transition += int(raw.Transitions[j])
			if err := w.did(ctx, (len(b.Transitions)-first)*(len(b.rats)-at)); err != nil {
				return err
			}
			w.close(first, at, w.action(j))
			at = len(b.rats)
		}
		b.Choices = append(b.Choices, uint32(len(b.Transitions)-first))
		return nil
	}
	for j := choice; j < end; j++ {
		a, from := w.action(j), len(b.rats)
		again := false
		for k := choice; k < j && !again; k++ {
			again = w.action(k) == a
		}
		for k, t := j, transition; k < end && !again; k++ {
			if w.action(k) == a {
				w.alternatives(from, w.machine.listed[k-choice], t)
			}
			t += int(raw.Transitions[k])
			if err := w.did(ctx, 1+len(b.rats)-from); err != nil {
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

// alternatives appends the transitions of a choice, which begin at one of raw. Those with
// the target of one from at on are added to it.
func (w *exactWorker) alternatives(at int, weights []*big.Rat, transition int) {
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

// maxSums is how many sums are kept, so that what is the same is one number.
const maxSums = 1 << 12

func (m *alternatives) sum(x, y *big.Rat) *big.Rat {
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
