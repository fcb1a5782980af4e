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
	wordsPerState int
	outputStart   int  // address of the choices that the code writes
	isLister      bool // see NewPackedLister
	stack         [1]uint64
	interpreter   *packedInterpreter
}

// NewPackedMachine compiles the model to WebAssembly code that expands states. The error is an *UnsupportedError for models
// that only the interpreter can expand.
func (m *Model) NewPackedMachine(ctx context.Context, packing *Packing) (PackedExpander, error) {
	return m.assemblePackedMachine(ctx, packing, false)
}

// NewPackedLister is NewPackedMachine without weights. Each choice has all Alternatives of its move as transitions, also with weight zero or
// equal targets. The number of choices is GivenUp for a state that the code cannot expand.
func (m *Model) NewPackedLister(ctx context.Context, packing *Packing) (PackedExpander, error) {
	return m.assemblePackedMachine(ctx, packing, true)
}

// assemblePackedMachine compiles the model to WebAssembly code that expands packed states. With omitsWeights, the code does not compute weights.
func (m *Model) assemblePackedMachine(ctx context.Context, packing *Packing, omitsWeights bool) (PackedExpander, error) {
	code, moves, err := m.assembleExpander(packing, omitsWeights)
	if err != nil {
		return nil, err
	}
	firstInstance, err := newInstance(ctx, code)
	if err != nil {
		return nil, err
	}
	return newPackedMachine(firstInstance, m.newPackedInterpreter(packing, moves), omitsWeights), nil
}

// newPackedMachine returns a PackedExpander for an instance of the code. fallback expands the states on which the code gives up.
func newPackedMachine(code instance, fallback *packedInterpreter, asLister bool) *packedMachine {
	words := fallback.packing.Words
	return &packedMachine{instance: code, wordsPerState: words, outputStart: 8 * expandBatchSize * words, isLister: asLister, interpreter: fallback}
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
	model, packing, moves := x.interpreter.expander.model, x.interpreter.packing, x.interpreter.moves
	return newPackedMachine(fork, model.newPackedInterpreter(packing, moves), x.isLister), nil
}

// Expand implements PackedExpander: it appends the choices of the states to choices. It expands the states in batches, and returns the error of
// ctx between two batches.
func (x *packedMachine) Expand(ctx context.Context, states []uint64, choices *PackedChoices) error {
	x.interpreter.expander.ctx = ctx
	for len(states) > 0 {
		batch := states[:min(len(states), expandBatchSize*x.wordsPerState)]
		numExpanded, err := x.runCode(ctx, batch)
		if err != nil {
			return err
		}
		expanded := batch[:numExpanded*x.wordsPerState]
		if err := x.readChoices(expanded, choices); err != nil {
			return err
		}
		states = states[len(expanded):]
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// runCode calls the compiled code on a batch of packed states. It returns the number of expanded states. This is less than the batch if the
// memory for the output is full.
func (x *packedMachine) runCode(ctx context.Context, batch []uint64) (numExpanded int, err error) {
	for i, word := range batch {
		binary.LittleEndian.PutUint64(x.memory[8*i:], word)
	}
	// The only parameter is the number of states. The result replaces it.
	x.stack[0] = uint64(len(batch) / x.wordsPerState)
	if err := x.run.CallWithStack(ctx, x.stack[:]); err != nil {
		return 0, fmt.Errorf("run WebAssembly: %w", err)
	}
	return int(x.stack[0]), nil
}

// readChoices appends to choices the choices that the code wrote to memory for some packed states. If the code gave up on a state, the interpreter
// expands the state. A machine that omits weights (isLister) appends GivenUp for this state instead.
func (x *packedMachine) readChoices(states []uint64, choices *PackedChoices) error {
	address := x.outputStart
	for ; len(states) > 0; states = states[x.wordsPerState:] {
		numChoices := x.word(address)
		address += 8
		hasGivenUp := int64(numChoices) == gaveUp
		switch {
		case hasGivenUp && x.isLister:
			choices.Choices = append(choices.Choices, GivenUp)
		case hasGivenUp:
			if err := x.interpreter.expandState(states[:x.wordsPerState], choices); err != nil {
				return err
			}
		default:
			choices.Choices = append(choices.Choices, uint32(numChoices))
			for range numChoices {
				address = x.readChoice(address, choices)
			}
		}
	}
	return nil
}

// word returns the word at an address in the memory of the instance.
func (x *packedMachine) word(address int) uint64 {
	return binary.LittleEndian.Uint64(x.memory[address:])
}

// readChoice appends the choice at an address, and returns the address after it.
func (x *packedMachine) readChoice(address int, choices *PackedChoices) int {
	header := x.word(address) // the number of transitions in the upper half, the move in the lower half
	numTransitions, move := int(header>>32), uint32(header)
	firstTransition := len(choices.Weights)
	transitionSize := 8 + 8*x.wordsPerState // bytes of a weight and a packed target
	begin := address + 8
	end := begin + numTransitions*transitionSize
	for bytes := x.memory[begin:end]; len(bytes) > 0; bytes = bytes[transitionSize:] {
		choices.Weights = append(choices.Weights, math.Float64frombits(binary.LittleEndian.Uint64(bytes)))
		for offset := 8; offset < transitionSize; offset += 8 {
			choices.Targets = append(choices.Targets, binary.LittleEndian.Uint64(bytes[offset:]))
		}
	}
	if numTransitions > 1 && !x.isLister {
		choices.mergeEqualTargets(firstTransition, x.wordsPerState)
	}
	choices.Moves = append(choices.Moves, move)
	choices.Transitions = append(choices.Transitions, uint32(len(choices.Weights)-firstTransition))
	return end
}
