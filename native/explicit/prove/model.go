package prove

import (
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
)

// numbers are the distinct numbers of a model of certificates.
type numbers struct {
	*certificate.Model
	of     map[string]uint32
	shared map[*big.Rat]uint32 // some of them by where they are
	zero   *big.Rat
}

// maxShared is how many are known by where they are.
const maxShared = 1 << 12

func (n *numbers) add(r *big.Rat) uint32 {
	if r == nil {
		r = n.zero
	}
	if i, ok := n.shared[r]; ok {
		return i
	}
	key := r.RatString()
	i, ok := n.of[key]
	if !ok {
		i = uint32(len(n.Numbers))
		n.of[key] = i
		n.Numbers = append(n.Numbers, r)
	}
	if len(n.shared) < maxShared {
		n.shared[r] = i
	}
	return i
}

// Model is a space with fractions as certificates have it.
func Model(space *explicit.Space) (*certificate.Model, error) {
	p, err := New(space, Options{Ordered: true})
	if err != nil {
		return nil, err
	}
	for i := range p.Model.Rewards {
		if _, err := p.reward(i); err != nil {
			return nil, err
		}
	}
	return p.Model, nil
}

// model puts a model into the order of a certificate's states. Its rewards are there
// once they are asked for.
func (p *Prover) model() {
	m := p.graph.Model
	out := &certificate.Model{
		Kind:   map[sparse.Kind]certificate.Kind{sparse.DTMC: certificate.DTMC, sparse.MDP: certificate.MDP, sparse.CTMC: certificate.CTMC}[m.Kind],
		Start:  append(make([]uint32, 0, m.NumChoices()+1), 0),
		Target: make([]uint32, 0, m.NumTransitions()), Prob: make([]uint32, 0, m.NumTransitions()),
		Rewards: make([]certificate.Reward, len(p.space.Program().Rewards)),
	}
	for i := range out.Rewards {
		out.Rewards[i].Name = p.space.Program().Rewards[i].Name
	}
	p.numbers = &numbers{out, make(map[string]uint32), make(map[*big.Rat]uint32), new(big.Rat)}
	weight := make([]uint32, len(m.Rats))
	for i, r := range m.Rats {
		weight[i] = p.numbers.add(r)
	}
	if m.First != nil {
		out.First = append(make([]uint32, 0, m.NumStates()+1), 0)
	}
	for _, s := range p.states() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := m.Row(c)
			for i := lo; i < hi; i++ {
				out.Target = append(out.Target, p.place(m.Target[i]))
				out.Prob = append(out.Prob, weight[m.Weight[i]])
			}
			if m.Kind == sparse.CTMC {
				p.jump(s, out.Prob[len(out.Prob)-(hi-lo):])
			}
			out.Start = append(out.Start, uint32(len(out.Target)))
		}
		if m.First != nil {
			out.First = append(out.First, uint32(len(out.Start)-1))
		}
	}
	p.Model = out
	initial := sparse.NewSet(m.NumStates())
	for _, s := range m.Initial {
		initial.Add(int(s))
	}
	out.Initial = p.bits(initial)
}

// jump makes the rates of a state its exit rate and probabilities.
func (p *Prover) jump(s int, rates []uint32) {
	exit := p.exit(s)
	for i, r := range rates {
		rates[i] = p.numbers.add(new(big.Rat).Quo(p.numbers.Numbers[r], exit))
	}
	p.numbers.Exit = append(p.numbers.Exit, p.numbers.add(exit))
}

// exit is the exit rate of a state of a CTMC.
func (p *Prover) exit(s int) *big.Rat {
	sum := new(big.Rat)
	lo, hi := p.graph.Row(s)
	for i := lo; i < hi; i++ {
		sum.Add(sum, p.graph.Rat(i))
	}
	return sum
}

// reward returns the rewards of a structure, which are in the model from then on.
func (p *Prover) reward(index int) (*sparse.Reward, error) {
	if r := p.rewards[index]; r != nil {
		return r, nil
	}
	r, err := p.opts.Reward(index)
	if err != nil {
		return nil, err
	}
	p.rewards[index] = r
	out := &p.Model.Rewards[index]
	for _, s := range p.states() {
		if r.StateRat != nil {
			out.State = append(out.State, p.numbers.add(r.StateRat[s]))
		}
		first, end := p.graph.Choices(s)
		for c := first; c < end && r.ChoiceRat != nil; c++ {
			x := r.ChoiceRat[c]
			if p.graph.Kind == sparse.CTMC && x != nil { // for a jump, not for a unit of time
				x = new(big.Rat).Quo(x, p.exit(s))
			}
			out.Choice = append(out.Choice, p.numbers.add(x))
		}
	}
	return r, nil
}
