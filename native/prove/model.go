package prove

import (
	"math/big"

	"tilecheck/certify/certificate"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// numbers collects the distinct numbers of a certificate's model and gives each an index.
type numbers struct {
	*certificate.Model
	byText    map[string]uint32
	byPointer map[*big.Rat]uint32 // a cache of byText, by pointer
	zero      *big.Rat
}

// maxPointers is the greatest size of byPointer.
const maxPointers = 1 << 12

// indexOf returns the index of a number, which it adds if it is new. nil is zero.
func (n *numbers) indexOf(r *big.Rat) uint32 {
	if r == nil {
		r = n.zero
	}
	if i, ok := n.byPointer[r]; ok {
		return i
	}
	key := r.RatString()
	i, ok := n.byText[key]
	if !ok {
		i = uint32(len(n.Numbers))
		n.byText[key] = i
		n.Numbers = append(n.Numbers, r)
	}
	if len(n.byPointer) < maxPointers {
		n.byPointer[r] = i
	}
	return i
}

// Model converts a state space with rational weights, and all its rewards, to the model of a certificate.
func Model(space *explicit.Space) (*certificate.Model, error) {
	p, err := New(space, Options{Ordered: true})
	if err != nil {
		return nil, err
	}
	for i := range p.Model.Rewards {
		if _, err := p.loadReward(i); err != nil {
			return nil, err
		}
	}
	return p.Model, nil
}

// buildModel converts the model, with states in the order of the certificate. loadReward adds the rewards.
func (p *Prover) buildModel() {
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
		weight[i] = p.numbers.indexOf(r)
	}
	if m.First != nil {
		out.First = append(make([]uint32, 0, m.NumStates()+1), 0)
	}
	for _, s := range p.orderedStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := m.Row(c)
			for i := lo; i < hi; i++ {
				out.Target = append(out.Target, p.indexOf(m.Target[i]))
				out.Prob = append(out.Prob, weight[m.Weight[i]])
			}
			if m.Kind == sparse.CTMC {
				p.addExitRate(s, out.Prob[len(out.Prob)-(hi-lo):])
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

// addExitRate adds the exit rate of a state of a CTMC and replaces the rates by the probabilities of the jump chain.
func (p *Prover) addExitRate(s int, rates []uint32) {
	exit := p.exitRate(s)
	for i, r := range rates {
		rates[i] = p.numbers.indexOf(new(big.Rat).Quo(p.numbers.Numbers[r], exit))
	}
	p.numbers.Exit = append(p.numbers.Exit, p.numbers.indexOf(exit))
}

// exitRate returns the exit rate of a state of a CTMC.
func (p *Prover) exitRate(s int) *big.Rat {
	sum := new(big.Rat)
	lo, hi := p.graph.Row(s)
	for i := lo; i < hi; i++ {
		sum.Add(sum, p.graph.Rat(i))
	}
	return sum
}

// loadReward returns a reward structure. The first call adds it to the model of the certificate.
func (p *Prover) loadReward(index int) (*sparse.Reward, error) {
	if r := p.rewards[index]; r != nil {
		return r, nil
	}
	r, err := p.opts.Reward(index)
	if err != nil {
		return nil, err
	}
	p.rewards[index] = r
	out := &p.Model.Rewards[index]
	for _, s := range p.orderedStates() {
		if r.StateRat != nil {
			out.State = append(out.State, p.numbers.indexOf(r.StateRat[s]))
		}
		first, end := p.graph.Choices(s)
		for c := first; c < end && r.ChoiceRat != nil; c++ {
			x := r.ChoiceRat[c]
			if p.graph.Kind == sparse.CTMC && x != nil { // the mean reward of the sojourn; ChoiceRat is per unit of time
				x = new(big.Rat).Quo(x, p.exitRate(s))
			}
			out.Choice = append(out.Choice, p.numbers.indexOf(x))
		}
	}
	return r, nil
}
