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
func (m *Model) NewPackedMachine(ctx context.Context, p *Packing) (PackedExpander, error) {
	return m.assemblePackedMachine(ctx, p, false)
}

// NewPackedLister is NewPackedMachine without weights. Each choice has all Alternatives of its move as separate transitions, including
// those with weight zero and those with equal targets. If the code cannot expand a state, the number of its choices is GivenUp.
func (m *Model) NewPackedLister(ctx context.Context, p *Packing) (PackedExpander, error) {
	return m.assemblePackedMachine(ctx, p, true)
}

// assemblePackedMachine compiles the model to code that expands states; for NewPackedLister if asLister is set.
func (m *Model) assemblePackedMachine(ctx context.Context, p *Packing, asLister bool) (PackedExpander, error) {
	code, moves, err := m.assembleExpander(p, asLister)
	if err != nil {
		return nil, err
	}
	x, err := newInstance(ctx, code)
	if err != nil {
		return nil, err
	}
	return newPackedMachine(x, m.newPackedInterpreter(p, moves), asLister), nil
}

// newPackedMachine returns a PackedExpander for an instance of the code. slow expands the states on which the code gives up.
func newPackedMachine(x instance, slow *packedInterpreter, asLister bool) *packedMachine {
	words := slow.packing.Words
	return &packedMachine{instance: x, words: words, outputStart: 8 * expandBatch * words, isLister: asLister, interpreter: slow}
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
		for i, w := range part {
			binary.LittleEndian.PutUint64(x.memory[8*i:], w)
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
	at := x.outputStart
	for ; len(states) > 0; states = states[x.words:] {
		numChoices := x.word(at)
		at += 8
		if int64(numChoices) == gaveUp && x.isLister {
			out.Choices = append(out.Choices, GivenUp)
			continue
		}
		if int64(numChoices) == gaveUp {
			if err := x.interpreter.expandState(states[:x.words], out); err != nil {
				return err
			}
			continue
		}
		out.Choices = append(out.Choices, uint32(numChoices))
		for range numChoices {
			at = x.readChoice(at, out)
		}
	}
	return nil
}

// word returns the word at an address in the memory of the instance.
func (x *packedMachine) word(at int) uint64 { return binary.LittleEndian.Uint64(x.memory[at:]) }

// readChoice appends the choice at an address and returns the address after it.
func (x *packedMachine) readChoice(at int, out *PackedChoices) int {
	head := x.word(at)
	at += 8
	numTransitions, first := int(head>>32), len(out.Weights)
	record := 8 + 8*x.words
	bytes := x.memory[at : at+numTransitions*record]
	for ; len(bytes) > 0; bytes = bytes[record:] {
		out.Weights = append(out.Weights, math.Float64frombits(binary.LittleEndian.Uint64(bytes)))
		for w := 8; w < record; w += 8 {
			out.Targets = append(out.Targets, binary.LittleEndian.Uint64(bytes[w:]))
		}
	}
	if numTransitions > 1 && !x.isLister {
		out.mergeEqualTargets(first, x.words)
	}
	out.Moves = append(out.Moves, uint32(head))
	out.Transitions = append(out.Transitions, uint32(len(out.Weights)-first))
	return at + numTransitions*record
}
