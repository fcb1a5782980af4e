package prove

import (
	"fmt"

	"tilecheck/certify/certificate"
	"tilecheck/prism/sema"
	"tilecheck/prism/symmetry"
)

// State returns the valuation of the state at an index of the certificate. It may write it to dst.
func (prover *Prover) State(dst []int32, index int) []int32 {
	if prover.order != nil {
		index = int(prover.order[index])
	}
	return prover.space.State(dst, index)
}

// Symmetry returns the claim of a certificate that a program has a symmetry.
func Symmetry(program *sema.Program, classes []symmetry.Class, permutations []symmetry.Permutation) *certificate.Symmetry {
	claim := &certificate.Symmetry{}
	for _, class := range classes {
		var blocks certificate.Class
		for i, slots := range class.Slots {
			block := certificate.Block{}
			for _, slot := range slots {
				block.Variables = append(block.Variables, program.Vars[slot].Name)
			}
			for _, action := range program.Modules[class.Modules[i]].Alphabet {
				block.Actions = append(block.Actions, program.Actions[action])
			}
			blocks = append(blocks, block)
		}
		claim.Classes = append(claim.Classes, blocks)
	}
	for _, permutation := range permutations {
		images := certificate.Permutation{}
		for slot, image := range permutation {
			if slot != image {
				images[program.Vars[slot].Name] = program.Vars[image].Name
			}
		}
		claim.Permutations = append(claim.Permutations, images)
	}
	return claim
}

// Reduction returns the symmetry that a certificate claims in the form in which states are explored. It checks the names only, so the symmetry may be wrong.
func Reduction(program *sema.Program, claim *certificate.Symmetry) (classes []symmetry.Class, permutations []symmetry.Permutation, err error) {
	slots := map[string]int{}
	for slot := range program.Vars {
		slots[program.Vars[slot].Name] = slot
	}
	slotOf := func(name string) (int, error) {
		slot, ok := slots[name]
		if !ok {
			return 0, fmt.Errorf("the certificate has a symmetry of the variable %q, which the model does not have", name)
		}
		return slot, nil
	}
	for _, blocks := range claim.Classes {
		class := symmetry.Class{}
		for _, block := range blocks {
			var blockSlots []int
			for _, name := range block.Variables {
				slot, err := slotOf(name)
				if err != nil {
					return nil, nil, err
				}
				blockSlots = append(blockSlots, slot)
			}
			class.Slots = append(class.Slots, blockSlots)
		}
		classes = append(classes, class)
	}
	for _, images := range claim.Permutations {
		permutation := make(symmetry.Permutation, len(program.Vars))
		for slot := range permutation {
			image, isMoved := images[program.Vars[slot].Name]
			if !isMoved {
				image = program.Vars[slot].Name
			}
			if permutation[slot], err = slotOf(image); err != nil {
				return nil, nil, err
			}
		}
		permutations = append(permutations, permutation)
	}
	return classes, permutations, nil
}
