package explicit

import (
	"slices"

	"tilecheck/prism/symmetry"
)

// canonicaliser replaces packed states by representatives: the states of interchangeable modules are sorted, or the least image under a group of
// permutations is taken. States have the same representative exactly if they differ only by a permutation.
type canonicaliser struct {
	codec        *codec
	classes      []symmetry.Class
	permutations []symmetry.Permutation
	states       [][]uint64 // scratch space: the local states of the modules of a class
	image, least []uint64   // scratch space: packed states
}

// newCanonicaliser returns the canonicaliser for the symmetry in the options, or nil without symmetry. Only one of Options.Symmetry and
// Options.Permutations may be given.
func newCanonicaliser(codec *codec, opts *Options) *canonicaliser {
	if len(opts.Symmetry) == 0 && len(opts.Permutations) == 0 {
		return nil
	}
	return &canonicaliser{
		codec: codec, classes: opts.Symmetry, permutations: opts.Permutations,
		image: make([]uint64, codec.words), least: make([]uint64, codec.words),
	}
}

// replaceByRepresentatives replaces each packed state in a list by its representative. It does nothing without symmetry (nil).
func (canonical *canonicaliser) replaceByRepresentatives(packed []uint64) {
	if canonical == nil {
		return
	}
	for i := 0; i < len(packed); i += canonical.codec.words {
		state := packed[i : i+canonical.codec.words]
		for _, class := range canonical.classes {
			canonical.sortModules(state, class)
		}
		if len(canonical.permutations) > 0 {
			canonical.replaceByLeastImage(state)
		}
	}
}

// replaceByLeastImage replaces a packed state by the least of its images under the permutations.
func (canonical *canonicaliser) replaceByLeastImage(state []uint64) {
	copy(canonical.least, state)
	for _, permutation := range canonical.permutations {
		clear(canonical.image)
		for slot, to := range permutation {
			from, field := &canonical.codec.fields[slot], &canonical.codec.fields[to]
			canonical.image[field.Word] |= (state[from.Word] >> from.Shift & from.Mask) << field.Shift
		}
		if slices.Compare(canonical.image, canonical.least) < 0 {
			copy(canonical.least, canonical.image)
		}
	}
	copy(state, canonical.least)
}

// sortModules sorts the local states of the interchangeable modules of a class within a packed state.
func (canonical *canonicaliser) sortModules(state []uint64, class symmetry.Class) {
	for len(canonical.states) < len(class.Slots) {
		canonical.states = append(canonical.states, nil)
	}
	localStates := canonical.states[:len(class.Slots)]
	for i, slots := range class.Slots {
		localStates[i] = localStates[i][:0]
		for _, slot := range slots {
			field := &canonical.codec.fields[slot]
			localStates[i] = append(localStates[i], state[field.Word]>>field.Shift&field.Mask)
		}
	}
	if slices.IsSortedFunc(localStates, slices.Compare) {
		return
	}
	slices.SortFunc(localStates, slices.Compare)
	for i, slots := range class.Slots {
		for j, slot := range slots {
			field := &canonical.codec.fields[slot]
			state[field.Word] = state[field.Word]&^(field.Mask<<field.Shift) | localStates[i][j]<<field.Shift
		}
	}
}
