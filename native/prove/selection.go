package prove

import (
	"slices"

	"tilecheck/certify/certificate"
)

// Only returns a certificate with some of the claims of a certificate, and with the sets and vectors that
// they use. It shares the columns of the original.
func Only(file *certificate.File, claims ...int) *certificate.File {
	s := &selection{source: file, sets: make(map[int]bool), vectors: make(map[int]bool)}
	s.addSet(initialStates) // fields that a claim or vector does not use refer to the first two sets
	s.addSet(allStates)
	for _, i := range claims {
		claim := file.Claims[i]
		s.addSet(claim.Over)
		if claim.Vector >= 0 {
			s.addVector(claim.Vector)
		} else {
			s.addSet(claim.Set)
		}
	}
	return s.renumber(claims)
}

// selection collects the sets and vectors that some claims depend on.
type selection struct {
	source        *certificate.File
	sets, vectors map[int]bool
}

// addSet selects a set, and the sets and vectors that it refers to.
func (s *selection) addSet(i int) {
	if s.sets[i] {
		return
	}
	s.sets[i] = true
	set := &s.source.Sets[i]
	for _, operand := range set.Sets {
		s.addSet(operand)
	}
	if set.Compares() {
		s.addVector(set.Vector)
	}
}

// addVector selects a vector, and the sets that it refers to.
func (s *selection) addVector(i int) {
	if s.vectors[i] {
		return
	}
	s.vectors[i] = true
	vector := &s.source.Vectors[i]
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

// renumber builds the new certificate: the selected sets and vectors in their old order, with new indices.
func (s *selection) renumber(claims []int) *certificate.File {
	result := &certificate.File{Model: s.source.Model}
	newSet := newIndices(len(s.source.Sets), s.sets)
	newVector := newIndices(len(s.source.Vectors), s.vectors)
	for i, set := range s.source.Sets {
		if !s.sets[i] {
			continue
		}
		set.Sets = replaced(set.Sets, newSet)
		if set.Compares() {
			set.Vector = newVector[set.Vector]
		}
		result.Sets = append(result.Sets, set)
	}
	for i, vector := range s.source.Vectors {
		if s.vectors[i] {
			vector.Shares = slices.Clone(vector.Shares)
			for k := range vector.Shares {
				vector.Shares[k].Vector = newVector[vector.Shares[k].Vector]
			}
			result.Vectors = append(result.Vectors, withSets(vector, newSet))
		}
	}
	for _, i := range claims {
		claim := s.source.Claims[i]
		claim.Over = newSet[claim.Over]
		if claim.Vector >= 0 {
			claim.Vector = newVector[claim.Vector]
		} else {
			claim.Set = newSet[claim.Set]
		}
		result.Claims = append(result.Claims, claim)
	}
	return result
}

// newIndices returns, for each of n elements, its index among the selected elements.
func newIndices(n int, selected map[int]bool) []int {
	indices, next := make([]int, n), 0
	for i := range indices {
		indices[i] = next
		if selected[i] {
			next++
		}
	}
	return indices
}

// replaced returns a copy of a list of indices, in which index i is replaced by newIndex[i].
func replaced(indices, newIndex []int) []int {
	result := slices.Clone(indices)
	for k, i := range result {
		result[k] = newIndex[i]
	}
	return result
}

// withSets returns a copy of a vector, in which the index i of a set is replaced by newSet[i].
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
		for k := range several.Objectives {
			objective := &several.Objectives[k]
			objective.Left, objective.Right = newSet[objective.Left], newSet[objective.Right]
		}
		vector.Several = &several
	}
	return vector
}
