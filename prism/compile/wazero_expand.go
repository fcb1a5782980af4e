//go:build !js

package compile

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// packedMachine is a PackedExpander that runs WebAssembly. The interpreter expands the states on which the code gives up.
type packedMachine struct {
	instance
	words       int
	outAt       int
	lister      bool // see NewPackedLister
	stack       [1]uint64
	interpreter *packedInterpreter
}

// NewPackedMachine compiles the model to WebAssembly code that expands states. The error is an *UnsupportedError for models
// that only the interpreter can expand.
func (m *Model) NewPackedMachine(ctx context.Context, p *Packing) (PackedExpander, error) {
	return m.packedMachine(ctx, p, false)
}

// NewPackedLister is NewPackedMachine without weights. Each choice has all Alternatives of its move as separate transitions,
// including those with weight zero and with equal targets. If the code cannot expand a state, its number of choices is GivenUp.
func (m *Model) NewPackedLister(ctx context.Context, p *Packing) (PackedExpander, error) {
	return m.packedMachine(ctx, p, true)
}

func (m *Model) packedMachine(ctx context.Context, p *Packing, apart bool) (PackedExpander, error) {
	code, moves, err := m.assembleExpander(p, apart)
	if err != nil {
		return nil, err
	}
	x, err := newInstance(ctx, code)
	if err != nil {
		return nil, err
	}
	return newPackedMachine(x, m.newPackedInterpreter(p, moves), apart), nil
}

func newPackedMachine(x instance, slow *packedInterpreter, apart bool) *packedMachine {
	words := slow.packing.Words
	return &packedMachine{instance: x, words: words, outAt: 8 * expandBatch * words, lister: apart, interpreter: slow}
}

// Name implements PackedExpander.
func (x *packedMachine) Name() string { return "machine" }

// Moves implements PackedExpander.
func (x *packedMachine) Moves() []Move { return x.interpreter.moves }

// Fork implements PackedExpander.
func (x *packedMachine) Fork(ctx context.Context) (PackedExpander, error) {
	fork, err := x.shared.instance(ctx)
	if err != nil {
		return nil, err
	}
	return newPackedMachine(fork, x.interpreter.expander.m.newPackedInterpreter(x.interpreter.packing, x.interpreter.moves), x.lister), nil
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

// readChoices appends the choices that the code wrote for states.
func (x *packedMachine) readChoices(states []uint64, out *PackedChoices) error {
	at := x.outAt
	for ; len(states) > 0; states = states[x.words:] {
		n := x.word(at)
		at += 8
		if int64(n) == gaveUp && x.lister {
			out.Choices = append(out.Choices, GivenUp)
			continue
		}
		if int64(n) == gaveUp {
			if err := x.interpreter.expandOne(states[:x.words], out); err != nil {
				return err
			}
			continue
		}
		out.Choices = append(out.Choices, uint32(n))
		for range n {
			at = x.readChoice(at, out)
		}
	}
	return nil
}

func (x *packedMachine) word(at int) uint64 { return binary.LittleEndian.Uint64(x.memory[at:]) }

// readChoice appends the choice at an address and returns the address after it.
func (x *packedMachine) readChoice(at int, out *PackedChoices) int {
	head := x.word(at)
	at += 8
	n, first := int(head>>32), len(out.Weights)
	record := 8 + 8*x.words
	b := x.memory[at : at+n*record]
	for ; len(b) > 0; b = b[record:] {
		out.Weights = append(out.Weights, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		for w := 8; w < record; w += 8 {
			out.Targets = append(out.Targets, binary.LittleEndian.Uint64(b[w:]))
		}
	}
	if n > 1 && !x.lister {
		out.merge(first, x.words)
	}
	out.Moves = append(out.Moves, uint32(head))
	out.Transitions = append(out.Transitions, uint32(len(out.Weights)-first))
	return at + n*record
}
