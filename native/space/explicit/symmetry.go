package explicit

import (
	"slices"

	"tilecheck/prism/symmetry"
)

// canonicaliser replaces packed states by representatives: the states of interchangeable modules are sorted. States have the same
// representative exactly if they differ only by a permutation of such modules.
type canonicaliser struct {
	codec   *codec
	classes []symmetry.Class
	states  [][]uint64 // scratch space: the local states of the modules of a class
}

// newCanonicaliser returns nil if there are no classes.
func newCanonicaliser(codec *codec, classes []symmetry.Class) *canonicaliser {
	if len(classes) == 0 {
		return nil
	}
	return &canonicaliser{codec: codec, classes: classes}
}

// canonicalise replaces each packed state in a list by its representative.
func (canonical *canonicaliser) canonicalise(packed []uint64) {
	if canonical == nil {
		return
	}
	for i := 0; i < len(packed); i += canonical.codec.words {
		for _, class := range canonical.classes {
			canonical.sortModules(packed[i:i+canonical.codec.words], class)
		}
	}
}

// sortModules sorts the local states of the interchangeable modules of a class.
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
