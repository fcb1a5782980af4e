package explicit

import (
	"context"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// alternatives is how an exactWorker uses a machine: that one says which choices a state
// has and where they lead, and the fractions are those of the moves' updates, where they
// are the same in all states. Its doubles are not looked at. Other states are interpreted.
type alternatives struct {
	raw     compile.PackedChoices
	weights [][]*big.Rat // of the alternatives of each move; nil if not looked at yet, empty if not known
	sums    map[[2]*big.Rat]*big.Rat
	// states were expanded, of them so many interpreted.
	states, interpreted int
}

// lasting reports whether the weights of some command are the same in all states.
func lasting(m *compile.Model) bool {
	if intervals(m) {
		return false
	}
	for _, module := range m.Program().Modules {
		for i := range module.Commands {
			if constantWeights(&module.Commands[i]) {
				return true
			}
		}
	}
	return false
}

func constantWeights(c *sema.Command) bool {
	return !slices.ContainsFunc(c.Updates, func(u sema.Update) bool { return u.Prob != nil && !isConst(u.Prob) })
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
		for j := choice; j < end; j++ {
			last += int(raw.Transitions[j])
			known = known && len(w.known(int(raw.Moves[j]))) == int(raw.Transitions[j])
		}
		if known {
			if err := w.listed(ctx, choice, end, transition); err != nil {
				return err
			}
		} else {
			m.interpreted++
			w.codec.unpack(w.state, b.states[i*words:(i+1)*words])
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

// known returns the weights of the alternatives of a move, which are as many as the
// transitions that the machine writes, or none if the move has to be interpreted.
func (w *exactWorker) known(move int) []*big.Rat {
	m := w.machine
	if m.weights[move] == nil {
		m.weights[move] = w.weighed(&w.x.Moves()[move])
	}
	return m.weights[move]
}

// weighed computes the weights of the alternatives of a move. There are none unless
// those that the machine writes are all that are possible: a double may be zero for a
// number that is not, or not for zero. What is wrong with them the interpreter says.
func (w *exactWorker) weighed(mv *compile.Move) []*big.Rat {
	x := w.weigher
	var each [][]*big.Rat
	for _, ref := range mv.Commands {
		c := &x.m.Program().Modules[ref.Module].Commands[ref.Command]
		ws, err := x.weigh(w.state, c)
		if err != nil || !constantWeights(c) {
			return []*big.Rat{}
		}
		each = append(each, ws)
	}
	out := make([]*big.Rat, 0, len(mv.Alternatives))
	pick := make([]int, len(each))
	for more := len(mv.Alternatives) > 0; more; more = advance(pick, each) {
		p := each[0][pick[0]]
		for i, u := range pick[1:] {
			p = new(big.Rat).Mul(p, each[i+1][u])
		}
		if p.Sign() == 0 {
			continue
		}
		if len(out) == len(mv.Alternatives) || !slices.Equal(pick, mv.Alternatives[len(out)]) {
			return []*big.Rat{}
		}
		out = append(out, p)
	}
	if len(out) < len(mv.Alternatives) {
		return []*big.Rat{}
	}
	return out
}

// listed appends the choices of a state that the machine has listed, all of known
// weights, or in a Markov chain their row: its actions in the order in which they come.
func (w *exactWorker) listed(ctx context.Context, choice, end, transition int) error {
	b, raw := w.b, &w.machine.raw
	first, at := len(b.Transitions), len(b.rats)
	if w.kind == sparse.MDP {
		for j := choice; j < end; j++ {
			w.alternatives(at, j, transition)
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
				w.alternatives(from, k, t)
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
func (w *exactWorker) alternatives(at, choice, transition int) {
	b, m, words := w.b, w.machine, w.codec.words
	for k, p := range m.weights[m.raw.Moves[choice]] {
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
