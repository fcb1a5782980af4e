package compile

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
)

// PackedExpander lists the choices of packed states. The interpreter and the machine implement it, with the same results as Expander, bit
// for bit and in the same order. The machine is about ten to thirty times as fast. A PackedExpander is not safe for concurrent use.
type PackedExpander interface {
	// Expand appends the choices of states, Packing.Words words each. It stops
	// at the first state for which Expander.Expand has a *StateError, and returns
	// it; the choices of the states before are then in out. Another error is a
	// failure of the WebAssembly runtime.
	Expand(ctx context.Context, states []uint64, out *PackedChoices) error
	// Moves lists the combinations of commands to which PackedChoices.Moves
	// refers. Expand may append more.
	Moves() []Move
	// Fork returns an expander of the same model for another goroutine, at
	// little cost. Each must be closed.
	Fork(ctx context.Context) (PackedExpander, error)
	Close() error
	// Name returns the implementation: "machine" or "interpreter".
	Name() string
}

// Move is a combination of commands that may be a choice of some state; see Choice.
type Move struct {
	Action   int
	Module   int
	Commands []CommandRef
	// Alternatives are the combinations of updates, one index for each command, that a
	// NewPackedLister writes as transitions; they are the same in every state. Nil for other expanders.
	Alternatives [][]int
}

// GivenUp is the number of choices that a lister returns for a state that it cannot expand.
const GivenUp = math.MaxUint32

// PackedChoices are the choices of successive states in flat lists. State i has
// Choices[i] choices. Choice j is by the move Moves[j] and has Transitions[j]
// transitions. A transition has a weight and Packing.Words words of Targets.
type PackedChoices struct {
	Choices     []uint32
	Moves       []uint32
	Transitions []uint32
	Weights     []float64
	Targets     []uint64
}

// Reset removes all choices but keeps the memory.
func (c *PackedChoices) Reset() {
	c.Choices, c.Moves, c.Transitions = c.Choices[:0], c.Moves[:0], c.Transitions[:0]
	c.Weights, c.Targets = c.Weights[:0], c.Targets[:0]
}

// mergeEqualTargets merges transitions with equal targets and adds their weights. It changes the transitions from the index firstTransition on. A
// target has targetWords words.
func (c *PackedChoices) mergeEqualTargets(firstTransition, targetWords int) {
	end := firstTransition // the transitions in [firstTransition, end) have different targets
	for transition := firstTransition; transition < len(c.Weights); transition++ {
		sameTarget := c.findTarget(firstTransition, end, transition, targetWords)
		if sameTarget < end {
			c.Weights[sameTarget] += c.Weights[transition]
			continue
		}
		if end < transition {
			c.Weights[end] = c.Weights[transition]
			copy(c.Targets[end*targetWords:(end+1)*targetWords], c.Targets[transition*targetWords:])
		}
		end++
	}
	c.Weights, c.Targets = c.Weights[:end], c.Targets[:end*targetWords]
}

// findTarget returns the first of the transitions in [firstTransition, end) with the same target as the given transition; end if there is none. A
// target has targetWords words.
func (c *PackedChoices) findTarget(firstTransition, end, transition, targetWords int) int {
	if targetWords == 1 { // the fast path
		for candidate, otherTarget := range c.Targets[firstTransition:end] {
			if otherTarget == c.Targets[transition] {
				return firstTransition + candidate
			}
		}
		return end
	}
	target := c.Targets[transition*targetWords : (transition+1)*targetWords]
	for candidate := firstTransition; candidate < end; candidate++ {
		if slices.Equal(c.Targets[candidate*targetWords:(candidate+1)*targetWords], target) {
			return candidate
		}
	}
	return end
}

// packedInterpreter is a PackedExpander that uses an expander.
type packedInterpreter struct {
	expander    *expander
	packing     *Packing
	state       []int32
	moves       []Move
	moveIndices map[string]uint32 // of moves, by their action and commands
	keyBuffer   []byte
}

// NewPackedInterpreter returns a PackedExpander that interprets the model.
func (m *Model) NewPackedInterpreter(packing *Packing) PackedExpander {
	return m.newPackedInterpreter(packing, nil)
}

// newPackedInterpreter returns a packedInterpreter with the given moves.
func (m *Model) newPackedInterpreter(packing *Packing, moves []Move) *packedInterpreter {
	interpreter := &packedInterpreter{
		expander: newExpander(m), packing: packing, state: make([]int32, len(m.program.Vars)),
		moves: slices.Clone(moves), moveIndices: map[string]uint32{},
	}
	for i, move := range moves {
		interpreter.moveIndices[string(interpreter.moveKey(move.Action, move.Commands))] = uint32(i)
	}
	return interpreter
}

// Name implements PackedExpander.
func (x *packedInterpreter) Name() string { return "interpreter" }

// Moves implements PackedExpander.
func (x *packedInterpreter) Moves() []Move { return x.moves }

// Close implements PackedExpander.
func (x *packedInterpreter) Close() error { return nil }

// Fork implements PackedExpander.
func (x *packedInterpreter) Fork(context.Context) (PackedExpander, error) {
	return x.expander.model.NewPackedInterpreter(x.packing), nil
}

// Expand implements PackedExpander: it appends the choices of the states to packedChoices.
func (x *packedInterpreter) Expand(ctx context.Context, states []uint64, packedChoices *PackedChoices) error {
	x.expander.ctx = ctx
	for state := range slices.Chunk(states, x.packing.Words) {
		if err := x.expandState(state, packedChoices); err != nil {
			return err
		}
	}
	return nil
}

// expandState appends the choices of one packed state, with their moves, weights and packed targets, to packedChoices.
func (x *packedInterpreter) expandState(packed []uint64, packedChoices *PackedChoices) error {
	x.packing.Unpack(x.state, packed)
	choices, err := x.expander.Expand(x.state)
	if err != nil {
		return err
	}
	packedChoices.Choices = append(packedChoices.Choices, uint32(len(choices.List)))
	for i := range choices.List {
		choice := &choices.List[i]
		packedChoices.Moves = append(packedChoices.Moves, x.moveIndex(choice))
		packedChoices.Transitions = append(packedChoices.Transitions, uint32(len(choice.Transitions)))
		for _, transition := range choice.Transitions {
			packedChoices.Weights = append(packedChoices.Weights, transition.Weight)
			numWords := len(packedChoices.Targets)
			packedChoices.Targets = slices.Grow(packedChoices.Targets, x.packing.Words)[:numWords+x.packing.Words]
			x.packing.Pack(packedChoices.Targets[numWords:], transition.Target)
		}
	}
	return nil
}

// moveIndex returns the index of a choice's move in x.moves. It appends the move if it is not in the list.
func (x *packedInterpreter) moveIndex(choice *Choice) uint32 {
	key := x.moveKey(choice.Action, choice.Commands)
	index, ok := x.moveIndices[string(key)]
	if !ok {
		index = uint32(len(x.moves))
		x.moves = append(x.moves, Move{Action: choice.Action, Module: choice.Module, Commands: slices.Clone(choice.Commands)})
		x.moveIndices[string(key)] = index
	}
	return index
}

// moveKey returns the action and the commands of a move as a map key. The next call overwrites the key.
func (x *packedInterpreter) moveKey(action int, commands []CommandRef) []byte {
	x.keyBuffer = binary.AppendVarint(x.keyBuffer[:0], int64(action))
	for _, reference := range commands {
		x.keyBuffer = binary.AppendUvarint(binary.AppendUvarint(x.keyBuffer, uint64(reference.Module)), uint64(reference.Command))
	}
	return x.keyBuffer
}
