package prove

import (
	"slices"

	"tilecheck/certify/certificate"
)

// Only returns a certificate with some claims of another certificate, given by their indexes, and with the sets and vectors that they use. It
// shares the columns with the original.
func Only(file *certificate.File, claims ...int) *certificate.File {
	selection := &selection{source: file, isSelectedSet: make(map[int]bool), isSelectedVector: make(map[int]bool)}
	selection.addSet(initialStates) // unused fields of claims and vectors refer to the first two sets
	selection.addSet(allStates)
	for _, claimIndex := range claims {
		claim := file.Claims[claimIndex]
		selection.addSet(claim.OverSet)
		if claim.Vector >= 0 {
			selection.addVector(claim.Vector)
		} else {
			selection.addSet(claim.Set)
		}
	}
	return selection.renumber(claims)
}

// selection collects the sets and vectors that some claims depend on.
type selection struct {
	source                          *certificate.File
	isSelectedSet, isSelectedVector map[int]bool
}

// addSet selects a set, and all sets and vectors on which it depends.
func (selection *selection) addSet(index int) {
	if selection.isSelectedSet[index] {
		return
	}
	selection.isSelectedSet[index] = true
	set := &selection.source.Sets[index]
	for _, operand := range set.Sets {
		selection.addSet(operand)
	}
	if set.DependsOnValues() {
		selection.addVector(set.Vector)
	}
}

// addVector selects a vector, and all sets and vectors on which it depends.
func (selection *selection) addVector(index int) {
	if selection.isSelectedVector[index] {
		return
	}
	selection.isSelectedVector[index] = true
	vector := &selection.source.Vectors[index]
	selection.addSet(vector.Left)
	selection.addSet(vector.Right)
	selection.addSet(vector.Maximizer)
	if vector.Automaton != nil {
		for _, set := range vector.Automaton.Sets {
			selection.addSet(set)
		}
	}
	for _, share := range vector.Shares {
		selection.addVector(share.Vector)
	}
	if vector.Several != nil {
		for _, objective := range vector.Several.Objectives {
			selection.addSet(objective.Left)
			selection.addSet(objective.Right)
		}
	}
}

// renumber returns a certificate with the given claims, and with the selected sets and vectors. Sets and vectors keep their order and get new
// indices.
func (selection *selection) renumber(claims []int) *certificate.File {
	result := &certificate.File{Model: selection.source.Model, Symmetry: selection.source.Symmetry}
	newSets := newIndices(len(selection.source.Sets), selection.isSelectedSet)
	newVectors := newIndices(len(selection.source.Vectors), selection.isSelectedVector)
	for i, set := range selection.source.Sets {
		if selection.isSelectedSet[i] {
			result.Sets = append(result.Sets, renumberedSet(set, newSets, newVectors))
		}
	}
	for i, vector := range selection.source.Vectors {
		if selection.isSelectedVector[i] {
			vector.Shares = slices.Clone(vector.Shares)
			for index := range vector.Shares {
				vector.Shares[index].Vector = newVectors[vector.Shares[index].Vector]
			}
			result.Vectors = append(result.Vectors, withSets(vector, newSets))
		}
	}
	for _, i := range claims {
		result.Claims = append(result.Claims, renumberedClaim(selection.source.Claims[i], newSets, newVectors))
	}
	return result
}

// renumberedSet returns a copy of a set that refers to set newSets[i] and vector newVectors[i] in place of set and vector i.
func renumberedSet(set certificate.Set, newSets, newVectors []int) certificate.Set {
	set.Sets = replaceIndices(set.Sets, newSets)
	if set.DependsOnValues() {
		set.Vector = newVectors[set.Vector]
	}
	return set
}

// renumberedClaim returns a copy of a claim that refers to set newSets[i] and vector newVectors[i] in place of set and vector i.
func renumberedClaim(claim certificate.Claim, newSets, newVectors []int) certificate.Claim {
	claim.OverSet = newSets[claim.OverSet]
	if claim.Vector >= 0 {
		claim.Vector = newVectors[claim.Vector]
	} else {
		claim.Set = newSets[claim.Set]
	}
	return claim
}

// newIndices returns, for each index of a list with the given length, the number of selected elements before it. This is the new index of a selected
// element after all others have been removed.
func newIndices(length int, isSelected map[int]bool) []int {
	indices, nextIndex := make([]int, length), 0
	for i := range indices {
		indices[i] = nextIndex
		if isSelected[i] {
			nextIndex++
		}
	}
	return indices
}

// replaceIndices returns a copy of a list of indices that has newIndices[i] in place of each index i.
func replaceIndices(indices, newIndices []int) []int {
	result := slices.Clone(indices)
	for position, index := range result {
		result[position] = newIndices[index]
	}
	return result
}

// withSets returns a copy of a vector that refers to set newSets[i] in place of each set i.
func withSets(vector certificate.Vector, newSets []int) certificate.Vector {
	vector.Left, vector.Right = newSets[vector.Left], newSets[vector.Right]
	vector.Maximizer = newSets[vector.Maximizer] // 0 stands for none, and stays 0
	if vector.Automaton != nil {
		automaton := *vector.Automaton
		automaton.Sets = replaceIndices(automaton.Sets, newSets)
		vector.Automaton = &automaton
	}
	if vector.Several != nil {
		several := *vector.Several
		several.Objectives = slices.Clone(several.Objectives)
		for number := range several.Objectives {
			objective := &several.Objectives[number]
			objective.Left, objective.Right = newSets[objective.Left], newSets[objective.Right]
		}
		vector.Several = &several
	}
	return vector
}
