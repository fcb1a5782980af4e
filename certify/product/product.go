package product

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// Memory describes the states of a product. S is a state of the product: a state of the model with what a path remembers there.
type Memory[S comparable] struct {
	// Name says what is remembered, for the error of a product that is too large.
	Name string
	// ModelState returns the state of the model.
	ModelState func(s S) uint32
	// Next returns the state after a transition of a choice of the model to one of its states.
	Next func(source S, choice int, target uint32) S
	// IsDecided reports whether a state has only a self-loop instead of the choices of the model; nil if no state has.
	IsDecided func(s S) bool
}

// Product is the product of a model with a memory. It has no initial states, labels and rewards.
type Product[S comparable] struct {
	*certificate.Model
	States []S
	Choice []uint32 // the model's choice of each choice; certificate.None for the loop of a decided state
}

// builder explores a product breadth-first.
type builder[S comparable] struct {
	*Product[S]
	memory   *Memory[S]
	model    *certificate.Model
	oneIndex uint32 // the index of the number 1
	index    map[S]uint32
}

// Build returns the product of a model with a memory. Its first states are the start states; the others are reachable from them. It is an error
// if the product has more states than size, or more transitions than a certificate can number.
func Build[S comparable](ctx context.Context, source *certificate.Model, memory *Memory[S], starts []S, size int) (*Product[S], error) {
	model := &certificate.Model{Kind: source.Kind, FirstTransition: []uint32{0}, Numbers: append(slices.Clip(source.Numbers), big.NewRat(1, 1))}
	if source.FirstChoice != nil {
		model.FirstChoice = []uint32{0}
	}
	b := &builder[S]{Product: &Product[S]{Model: model}, memory: memory, model: source, oneIndex: uint32(len(source.Numbers)), index: make(map[S]uint32)}
	for _, s := range starts {
		b.indexOf(s)
	}
	for i := 0; i < len(b.States); i++ { // expand appends to States
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.expand(i)
		if len(b.States) > size || len(model.Target) >= certificate.None {
			return nil, fmt.Errorf("the product with %s has more states than it says", memory.Name)
		}
	}
	return b.Product, nil
}

// indexOf returns the index of a product state. It adds the state if it is new.
func (b *builder[S]) indexOf(s S) uint32 {
	i, isKnown := b.index[s]
	if !isKnown {
		i = uint32(len(b.States))
		b.index[s], b.States = i, append(b.States, s)
	}
	return i
}

// expand adds the choices of state i to the product. If the memory says that the state is decided, it gets a self-loop instead.
func (b *builder[S]) expand(i int) {
	s := b.States[i]
	if b.memory.IsDecided != nil && b.memory.IsDecided(s) {
		b.Target, b.Prob = append(b.Target, uint32(i)), append(b.Prob, b.oneIndex)
		b.endChoice(certificate.None)
	} else {
		first, end := b.model.Choices(int(b.memory.ModelState(s)))
		for choice := first; choice < end; choice++ {
			b.addChoice(s, choice)
		}
	}
	if b.FirstChoice != nil {
		b.FirstChoice = append(b.FirstChoice, uint32(len(b.Choice)))
	}
}

// addChoice adds a choice of the model to the choices of state s. New states are numbered in the order of the states of the model.
func (b *builder[S]) addChoice(s S, choice int) {
	first, end := b.model.Row(choice)
	targets := b.model.Target[first:end]
	for _, target := range SortedTargets(targets) {
		b.indexOf(b.memory.Next(s, choice, target))
	}
	for _, target := range targets {
		b.Target = append(b.Target, b.indexOf(b.memory.Next(s, choice, target)))
	}
	b.Prob = append(b.Prob, b.model.Prob[first:end]...)
	b.endChoice(uint32(choice))
}

// endChoice ends a choice, after its transitions.
func (b *builder[S]) endChoice(choice uint32) {
	b.Choice, b.FirstTransition = append(b.Choice, choice), append(b.FirstTransition, uint32(len(b.Target)))
}

// SortedTargets returns the targets in increasing order: a numbering must not depend on the order of transitions in a file.
func SortedTargets(targets []uint32) []uint32 {
	if slices.IsSorted(targets) {
		return targets
	}
	return slices.Sorted(slices.Values(targets))
}

// LiftRewards returns the rewards of the choices of a product. rewards has the rewards of the model's choices; choices[c] is the choice of the
// model for choice c of the product, or None for a choice without a reward.
func LiftRewards(rewards *certificate.Rewards, choices []uint32) *certificate.Rewards {
	result := *rewards
	zero := uint32(len(rewards.Fractions)) // the index of the reward 0
	result.Fractions = append(slices.Clip(rewards.Fractions), new(big.Rat))
	result.Numerators, result.Denominators = append(slices.Clip(rewards.Numerators), 0), append(slices.Clip(rewards.Denominators), 1)
	result.FractionIndex = make([]uint32, len(choices))
	for i, modelChoice := range choices {
		result.FractionIndex[i] = zero
		if modelChoice != certificate.None {
			result.FractionIndex[i] = rewards.FractionIndex[modelChoice]
		}
	}
	return &result
}
