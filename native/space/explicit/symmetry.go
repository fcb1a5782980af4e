package explicit

import (
	"slices"

	"tilecheck/prism/stubborn"
	"tilecheck/prism/symmetry"
)

// canonicaliser replaces packed states by representatives: the states of interchangeable modules are sorted, or the least image under a group of
// permutations is taken, or commands are executed whose order does not matter. With symmetry, states have the same representative exactly if they
// differ only by a permutation.
type canonicaliser struct {
	codec                  *codec
	classes                []symmetry.Class
	permutations           []symmetry.Permutation
	localStates            [][]uint64 // scratch space: the local states of the modules of a class
	imageState, leastState []uint64   // scratch space: packed states
	executor               *stubborn.Executor
	state                  []int32 // scratch space of the executor
}

// newCanonicaliser returns an object that replaces each state by the representative of its class, for the symmetry or the reduction in the options. It
// returns nil if the options have none. At most one of Options.Symmetry, Options.Permutations and Options.Reduction may be set.
func newCanonicaliser(codec *codec, opts *Options) *canonicaliser {
	if len(opts.Symmetry) == 0 && len(opts.Permutations) == 0 && opts.Reduction == nil {
		return nil
	}
	canonical := &canonicaliser{
		codec: codec, classes: opts.Symmetry, permutations: opts.Permutations,
		imageState: make([]uint64, codec.wordsPerState), leastState: make([]uint64, codec.wordsPerState),
	}
	if opts.Reduction != nil {
		canonical.executor, canonical.state = opts.Reduction.NewExecutor(), make([]int32, len(codec.fields))
	}
	return canonical
}

// replaceByRepresentatives replaces each packed state in a list by its representative. It does nothing for nil.
func (canonical *canonicaliser) replaceByRepresentatives(packed []uint64) {
	if canonical == nil {
		return
	}
	for i := 0; i < len(packed); i += canonical.codec.wordsPerState {
		state := packed[i : i+canonical.codec.wordsPerState]
		for _, class := range canonical.classes {
			canonical.sortModules(state, class)
		}
		if len(canonical.permutations) > 0 {
			canonical.replaceByLeastImage(state)
		}
		if canonical.executor != nil {
			canonical.codec.unpack(canonical.state, state)
			canonical.executor.Execute(canonical.state)
			canonical.codec.pack(state, canonical.state)
		}
	}
}

// replaceByLeastImage replaces a packed state by the least of its images under the permutations.
func (canonical *canonicaliser) replaceByLeastImage(state []uint64) {
	copy(canonical.leastState, state)
	for _, permutation := range canonical.permutations {
		clear(canonical.imageState)
		for slot, targetSlot := range permutation {
			sourceField, targetField := &canonical.codec.fields[slot], &canonical.codec.fields[targetSlot]
			canonical.imageState[targetField.Word] |= (state[sourceField.Word] >> sourceField.Shift & sourceField.Mask) << targetField.Shift
		}
		if slices.Compare(canonical.imageState, canonical.leastState) < 0 {
			copy(canonical.leastState, canonical.imageState)
		}
	}
	copy(state, canonical.leastState)
}

// sortModules sorts the interchangeable modules of a class within a packed state: it reads the local state of each module (the values of its
// variables), sorts the local states, and writes them back. So all states that differ by a permutation of the modules become the same state.
func (canonical *canonicaliser) sortModules(state []uint64, class symmetry.Class) {
	for len(canonical.localStates) < len(class.Slots) {
		canonical.localStates = append(canonical.localStates, nil)
	}
	localStates := canonical.localStates[:len(class.Slots)]
	for module, slots := range class.Slots {
		localStates[module] = localStates[module][:0]
		for _, slot := range slots {
			field := &canonical.codec.fields[slot]
			localStates[module] = append(localStates[module], state[field.Word]>>field.Shift&field.Mask)
		}
	}
	if slices.IsSortedFunc(localStates, slices.Compare) {
		return
	}
	slices.SortFunc(localStates, slices.Compare)
	for module, slots := range class.Slots {
		for position, slot := range slots {
			field := &canonical.codec.fields[slot]
			state[field.Word] = state[field.Word]&^(field.Mask<<field.Shift) | localStates[module][position]<<field.Shift
		}
	}
}
