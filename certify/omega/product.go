package omega

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// Product is a model whose states are those of another one, with a state of an automaton.
// Its first states are those it begins with; others follow as they are first met, choice
// by choice, and by the number of the other model's state.
type Product struct {
	*certificate.Model
	Of, Auto []uint32 // the parts of each state
	Choice   []uint32 // the choice of the other model for each choice; None for what goes nowhere
	a        *certificate.Automaton
	letter   []uint32 // what each state of the other model is read as
}

// Model is the model that a vector is about: if it asks for a path, the MDP whose choices are
// the transitions, those of each choice in the order of their targets.
func Model(m *certificate.Model, v *certificate.Vector) *certificate.Model {
	if !v.Paths {
		return m
	}
	out := &certificate.Model{
		Kind: certificate.MDP, Initial: m.Initial, First: []uint32{0}, Start: []uint32{0},
		Prob: make([]uint32, len(m.Target)), Numbers: []*big.Rat{big.NewRat(1, 1)},
	}
	for s := range m.NumStates() {
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			lo, hi := m.Row(c)
			out.Target = append(out.Target, increasing(m.Target[lo:hi])...)
		}
		out.First = append(out.First, uint32(len(out.Target)))
	}
	for i := range out.Target {
		out.Start = append(out.Start, uint32(i+1))
	}
	return out
}

// Pairs multiplies a model with the automaton that has read its states. The sets are the
// propositions; the product has no more states than the automaton says.
func Pairs(ctx context.Context, m *certificate.Model, a *certificate.Automaton, sets []certificate.Bits, coSafe bool) (*Product, error) {
	number := map[uint64]uint32{}
	for i, letter := range a.Letters {
		number[letter] = uint32(i)
	}
	letter := make([]uint32, m.NumStates())
	starts := make([][2]uint32, len(letter))
	for s := range letter {
		word := uint64(0)
		for i, set := range sets {
			if set.Has(s) {
				word |= 1 << i
			}
		}
		k, ok := number[word]
		if !ok {
			return nil, fmt.Errorf("state %d is a letter that the automaton does not have", s)
		}
		letter[s] = k
		starts[s] = [2]uint32{uint32(s), a.Next[0][k]}
	}
	stays := func(q uint32) bool { return coSafe && (a.Accepting[q] || a.Stays(q)) }
	return multiply(ctx, m, a, letter, starts, stays, a.Pairs)
}

// Runs multiplies pairs once more with the automaton, from its jumps on.
func (p *Product) Runs(ctx context.Context) (*Product, error) {
	letter := make([]uint32, len(p.Of))
	var starts [][2]uint32
	for i, s := range p.Of {
		letter[i] = p.letter[s]
		for _, d := range p.a.Jumps[p.Auto[i]] {
			starts = append(starts, [2]uint32{uint32(i), d})
		}
		if len(starts) > p.a.Runs {
			return nil, errSize
		}
	}
	stays := func(d uint32) bool { return !p.a.Accepting[d] && p.a.Stays(d) }
	return multiply(ctx, p.Model, p.a, letter, starts, stays, p.a.Runs)
}

var errSize = errors.New("the product with the automaton has more states than it says")

func multiply(ctx context.Context, m *certificate.Model, a *certificate.Automaton, letter []uint32, starts [][2]uint32, stays func(q uint32) bool, size int) (*Product, error) {
	kind := m.Kind
	if kind == certificate.CTMC { // the chain of its jumps
		kind = certificate.DTMC
	}
	out := &certificate.Model{Kind: kind, Start: []uint32{0}, Numbers: append(slices.Clip(m.Numbers), big.NewRat(1, 1))}
	p := &Product{Model: out, a: a, letter: letter}
	number := map[[2]uint32]uint32{}
	state := func(x [2]uint32) uint32 {
		k, ok := number[x]
		if !ok {
			k = uint32(len(p.Of))
			number[x] = k
			p.Of, p.Auto = append(p.Of, x[0]), append(p.Auto, x[1])
		}
		return k
	}
	for _, x := range starts {
		state(x)
	}
	if m.First != nil {
		out.First = []uint32{0}
	}
	for i := 0; i < len(p.Of); i++ { // the list grows
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s, q := int(p.Of[i]), p.Auto[i]
		first, end := m.Choices(s)
		if stays(q) {
			end = first
			p.Choice = append(p.Choice, certificate.None)
			out.Target, out.Prob = append(out.Target, uint32(i)), append(out.Prob, uint32(len(m.Numbers)))
			out.Start = append(out.Start, uint32(len(out.Target)))
		}
		for c := first; c < end; c++ {
			lo, hi := m.Row(c)
			for _, to := range increasing(m.Target[lo:hi]) {
				state([2]uint32{to, a.Next[q][letter[to]]})
			}
			for _, to := range m.Target[lo:hi] {
				out.Target = append(out.Target, state([2]uint32{to, a.Next[q][letter[to]]}))
			}
			p.Choice = append(p.Choice, uint32(c))
			out.Prob = append(out.Prob, m.Prob[lo:hi]...)
			out.Start = append(out.Start, uint32(len(out.Target)))
		}
		if m.First != nil {
			out.First = append(out.First, uint32(len(p.Choice)))
		}
		if len(p.Of) > size || len(out.Target) >= certificate.None {
			return nil, errSize
		}
	}
	return p, nil
}

// increasing are the targets in the order in which they are met, which is not that of the
// file's transitions.
func increasing(targets []uint32) []uint32 {
	if slices.IsSorted(targets) {
		return targets
	}
	return slices.Sorted(slices.Values(targets))
}

// Earned are the rewards of a model's steps, in its product.
func (p *Product) Earned(r *certificate.Rewards) *certificate.Rewards {
	out := *r
	out.Of = make([]uint32, len(p.Choice))
	out.Rats = append(slices.Clip(r.Rats), new(big.Rat))
	out.Num, out.Den = append(slices.Clip(r.Num), 0), append(slices.Clip(r.Den), 1)
	for i, c := range p.Choice {
		if out.Of[i] = uint32(len(r.Rats)); c != certificate.None {
			out.Of[i] = r.Of[c]
		}
	}
	return &out
}

// Accepts reports whether a state of the automaton is accepting.
func (p *Product) Accepts(q uint32) bool { return p.a.Accepting[q] }

// Accepting are the states of which the automaton's is.
func (p *Product) Accepting() certificate.Bits {
	out := certificate.NewBits(len(p.Of))
	for i, q := range p.Auto {
		if p.Accepts(q) {
			out.Add(i)
		}
	}
	return out
}

// Won checks the ranks and layers of a vector's runs. It returns all pairs, those with a jump
// to a run that has a rank, and the sure ones, with y >= 1.
func Won(ctx context.Context, pairs *Product, v *certificate.Vector) (all, out, sure certificate.Bits, err error) {
	n := len(pairs.Of)
	all, out, sure = certificate.NewBits(n), certificate.NewBits(n), certificate.NewBits(n)
	minus := v.Upper.Compare(big.NewRat(1, 1))
	for i := range n {
		all.Add(i)
		if minus(i) >= 0 {
			sure.Add(i)
		}
	}
	runs, err := pairs.Runs(ctx)
	if err != nil || len(runs.Of) == 0 {
		return all, out, sure, err
	}
	rank, layer, accepting := v.Won, v.Layer, runs.Accepting()
	for i := range runs.Of {
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, nil, nil, ctx.Err()
		}
		won, lost := rank[i] == certificate.None, true
		first, end := runs.Choices(i)
		for c := first; c < end; c++ {
			lo, hi := runs.Row(c)
			to := runs.Target[lo:hi]
			ranked := !slices.ContainsFunc(to, func(t uint32) bool { return rank[t] == certificate.None })
			won = won || ranked && (accepting.Has(i) || slices.ContainsFunc(to, func(t uint32) bool { return rank[t] < rank[i] }))
			lower := slices.ContainsFunc(to, func(t uint32) bool { return sure.Has(int(runs.Of[t])) || layer[t] < layer[i] })
			same := !slices.ContainsFunc(to, func(t uint32) bool { return layer[t] != layer[i] })
			lost = lost && (lower || same && !accepting.Has(i))
		}
		switch {
		case !won:
			return nil, nil, nil, fmt.Errorf("run %d: it has a rank, and no choice that keeps it won", i)
		case !lost && !sure.Has(int(runs.Of[i])):
			return nil, nil, nil, fmt.Errorf("run %d: its layer does not show that it is lost", i)
		}
	}
	at := 0 // runs begin with the jumps of the pairs, in their order
	for i, q := range pairs.Auto {
		for range pairs.a.Jumps[q] {
			if rank[at] != certificate.None {
				out.Add(i)
			}
			at++
		}
	}
	return all, out, sure, nil
}
