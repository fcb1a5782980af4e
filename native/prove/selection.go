package prove

import (
	"slices"

	"tilecheck/certify/certificate"
)

// Only returns a certificate with some claims of another certificate, given by their indexes, and with the sets and vectors that they use. It
// shares the columns with the original.
func Only(file *certificate.File, claims ...int) *certificate.File {
	selection := &selection{source: file, sets: make(map[int]bool), vectors: make(map[int]bool)}
	selection.addSet(initialStates) // unused fields of claims and vectors refer to the first two sets
	selection.addSet(allStates)
	for _, claimIndex := range claims {
		claim := file.Claims[claimIndex]
		selection.addSet(claim.Over)
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
	source        *certificate.File
	sets, vectors map[int]bool
}

// addSet selects a set, and all sets and vectors on which it depends.
func (s *selection) addSet(index int) {
	if s.sets[index] {
		return
	}
	s.sets[index] = true
	set := &s.source.Sets[index]
	for _, operand := range set.Sets {
		s.addSet(operand)
	}
	if set.Compares() {
		s.addVector(set.Vector)
	}
}

// addVector selects a vector, and all sets and vectors on which it depends.
func (s *selection) addVector(index int) {
	if s.vectors[index] {
		return
	}
	s.vectors[index] = true
	vector := &s.source.Vectors[index]
	s.addSet(vector.Left)
	s.addSet(vector.Right)
	s.addSet(vector.Maximizer)
	if vector.Automaton != nil {
		for _, set := range vector.Automaton.Sets {
			s.addSet(set)
		}
	}
	for _, share := range vector.Shares {
		s.addVector(share.Vector)
	}
	if vector.Several != nil {
		for _, objective := range vector.Several.Objectives {
			s.addSet(objective.Left)
			s.addSet(objective.Right)
		}
	}
}

// renumber returns a certificate with the given claims, and with the selected sets and vectors. Sets and vectors keep their order and get new
// indices.
func (s *selection) renumber(claims []int) *certificate.File {
	renumbered := &certificate.File{Model: s.source.Model}
	newSet := newIndices(len(s.source.Sets), s.sets)
	newVector := newIndices(len(s.source.Vectors), s.vectors)
	for i, set := range s.source.Sets {
		if s.sets[i] {
			renumbered.Sets = append(renumbered.Sets, renumberedSet(set, newSet, newVector))
		}
	}
	for i, vector := range s.source.Vectors {
		if s.vectors[i] {
			vector.Shares = slices.Clone(vector.Shares)
			for k := range vector.Shares {
				vector.Shares[k].Vector = newVector[vector.Shares[k].Vector]
			}
			renumbered.Vectors = append(renumbered.Vectors, withSets(vector, newSet))
		}
	}
	for _, i := range claims {
		renumbered.Claims = append(renumbered.Claims, renumberedClaim(s.source.Claims[i], newSet, newVector))
	}
	return renumbered
}

// renumberedSet returns a copy of a set that refers to set newSet[i] and vector newVector[i] in place of set and vector i.
func renumberedSet(set certificate.Set, newSet, newVector []int) certificate.Set {
	set.Sets = replaced(set.Sets, newSet)
	if set.Compares() {
		set.Vector = newVector[set.Vector]
	}
	return set
}

// renumberedClaim returns a copy of a claim that refers to set newSet[i] and vector newVector[i] in place of set and vector i.
func renumberedClaim(claim certificate.Claim, newSet, newVector []int) certificate.Claim {
	claim.Over = newSet[claim.Over]
	if claim.Vector >= 0 {
		claim.Vector = newVector[claim.Vector]
	} else {
		claim.Set = newSet[claim.Set]
	}
	return claim
}

// newIndices returns, for each index of a list of the given length, the new index after the elements that are not selected have been removed.
func newIndices(length int, selected map[int]bool) []int {
	indices, next := make([]int, length), 0
	for i := range indices {
		indices[i] = next
		if selected[i] {
			next++
		}
	}
	return indices
}

// replaced returns a copy of a list of indices that has newIndex[i] in place of each index i.
func replaced(indices, newIndex []int) []int {
	result := slices.Clone(indices)
	for position, index := range result {
		result[position] = newIndex[index]
	}
	return result
}

// withSets returns a copy of a vector that refers to set newSet[i] in place of each set i.
func withSets(vector certificate.Vector, newSet []int) certificate.Vector {
	vector.Left, vector.Right = newSet[vector.Left], newSet[vector.Right]
	vector.Maximizer = newSet[vector.Maximizer] // 0 stays 0
	if vector.Automaton != nil {
		automaton := *vector.Automaton
		automaton.Sets = replaced(automaton.Sets, newSet)
		vector.Automaton = &automaton
	}
	if vector.Several != nil {
		several := *vector.Several
		several.Objectives = slices.Clone(several.Objectives)
		for number := range several.Objectives {
			objective := &several.Objectives[number]
			objective.Left, objective.Right = newSet[objective.Left], newSet[objective.Right]
		}
		vector.Several = &several
	}
	return vector
}
