//go:build !js

package compile

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// packedMachine is a PackedExpander that runs WebAssembly. If the code gives up on a state, the interpreter expands the state.
type packedMachine struct {
	instance
	words       int
	outputStart int
	isLister    bool // see NewPackedLister
	stack       [1]uint64
	interpreter *packedInterpreter
}

// NewPackedMachine compiles the model to WebAssembly code that expands states. The error is an *UnsupportedError for models
// that only the interpreter can expand.
func (m *Model) NewPackedMachine(ctx context.Context, packing *Packing) (PackedExpander, error) {
	return m.assemblePackedMachine(ctx, packing, false)
}

// NewPackedLister is NewPackedMachine without weights. Each choice has all Alternatives of its move as separate transitions, including
// those with weight zero and those with equal targets. If the code cannot expand a state, the number of its choices is GivenUp.
func (m *Model) NewPackedLister(ctx context.Context, packing *Packing) (PackedExpander, error) {
	return m.assemblePackedMachine(ctx, packing, true)
}

// assemblePackedMachine compiles the model to code that expands states; for NewPackedLister if asLister is set.
func (m *Model) assemblePackedMachine(ctx context.Context, packing *Packing, asLister bool) (PackedExpander, error) {
	code, moves, err := m.assembleExpander(packing, asLister)
	if err != nil {
		return nil, err
	}
	first, err := newInstance(ctx, code)
	if err != nil {
		return nil, err
	}
	return newPackedMachine(first, m.newPackedInterpreter(packing, moves), asLister), nil
}

// newPackedMachine returns a PackedExpander for an instance of the code. slow expands the states on which the code gives up.
func newPackedMachine(code instance, slow *packedInterpreter, asLister bool) *packedMachine {
	words := slow.packing.Words
	return &packedMachine{instance: code, words: words, outputStart: 8 * expandBatch * words, isLister: asLister, interpreter: slow}
}

// Name implements PackedExpander.
func (x *packedMachine) Name() string { return "machine" }

// Moves implements PackedExpander.
func (x *packedMachine) Moves() []Move { return x.interpreter.moves }

// Fork implements PackedExpander.
func (x *packedMachine) Fork(ctx context.Context) (PackedExpander, error) {
	fork, err := x.shared.newInstance(ctx)
	if err != nil {
		return nil, err
	}
	return newPackedMachine(fork, x.interpreter.expander.model.newPackedInterpreter(x.interpreter.packing, x.interpreter.moves), x.isLister), nil
}

// Expand implements PackedExpander.
func (x *packedMachine) Expand(ctx context.Context, states []uint64, out *PackedChoices) error {
	x.interpreter.expander.ctx = ctx
	for len(states) > 0 {
		part := states[:min(len(states), expandBatch*x.words)]
		for i, word := range part {
			binary.LittleEndian.PutUint64(x.memory[8*i:], word)
		}
		x.stack[0] = uint64(len(part) / x.words)
		if err := x.run.CallWithStack(ctx, x.stack[:]); err != nil {
			return fmt.Errorf("run WebAssembly: %w", err)
		}
		done := int(x.stack[0])
		if err := x.readChoices(part[:done*x.words], out); err != nil {
			return err
		}
		states = states[done*x.words:]
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// readChoices appends the choices that the code wrote for some states.
func (x *packedMachine) readChoices(states []uint64, out *PackedChoices) error {
	address := x.outputStart
	for ; len(states) > 0; states = states[x.words:] {
		numChoices := x.word(address)
		address += 8
		hasGivenUp := int64(numChoices) == gaveUp
		switch {
		case hasGivenUp && x.isLister:
			out.Choices = append(out.Choices, GivenUp)
		case hasGivenUp:
			if err := x.interpreter.expandState(states[:x.words], out); err != nil {
				return err
			}
		default:
			out.Choices = append(out.Choices, uint32(numChoices))
			for range numChoices {
				address = x.readChoice(address, out)
			}
		}
	}
	return nil
}

// word returns the word at an address in the memory of the instance.
func (x *packedMachine) word(address int) uint64 {
	return binary.LittleEndian.Uint64(x.memory[address:])
}

// readChoice appends the choice at an address and returns the address after it.
func (x *packedMachine) readChoice(address int, out *PackedChoices) int {
	head := x.word(address) // the number of transitions in the upper half, the move in the lower half
	numTransitions, move := int(head>>32), uint32(head)
	first := len(out.Weights)
	transitionSize := 8 + 8*x.words // the weight and the packed target
	begin := address + 8
	end := begin + numTransitions*transitionSize
	for bytes := x.memory[begin:end]; len(bytes) > 0; bytes = bytes[transitionSize:] {
		out.Weights = append(out.Weights, math.Float64frombits(binary.LittleEndian.Uint64(bytes)))
		for offset := 8; offset < transitionSize; offset += 8 {
			out.Targets = append(out.Targets, binary.LittleEndian.Uint64(bytes[offset:]))
		}
	}
	if numTransitions > 1 && !x.isLister {
		out.mergeEqualTargets(first, x.words)
	}
	out.Moves = append(out.Moves, move)
	out.Transitions = append(out.Transitions, uint32(len(out.Weights)-first))
	return end
}
