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
	if vector.Several != nil {
		for _, objective := range vector.Several.Objectives {
			s.addSet(objective.Left)
			s.addSet(objective.Right)
		}
	}
}

// renumber builds the new certificate: the selected sets and vectors in their old order, with new indices.
func (s *selection) renumber(claims []int) *certificate.File {
	out := &certificate.File{Model: s.source.Model}
	newIndices := func(n int, has map[int]bool) []int {
		at, next := make([]int, n), 0
		for i := range at {
			if at[i] = next; has[i] {
				next++
			}
		}
		return at
	}
	newSet, newVector := newIndices(len(s.source.Sets), s.sets), newIndices(len(s.source.Vectors), s.vectors)
	for i, x := range s.source.Sets {
		if !s.sets[i] {
			continue
		}
		x.Sets = slices.Clone(x.Sets)
		for k, j := range x.Sets {
			x.Sets[k] = newSet[j]
		}
		if x.Compares() {
			x.Vector = newVector[x.Vector]
		}
		out.Sets = append(out.Sets, x)
	}
	for i, vector := range s.source.Vectors {
		if s.vectors[i] {
			vector.Left, vector.Right = newSet[vector.Left], newSet[vector.Right]
			vector.Maximizer = newSet[vector.Maximizer] // 0 stays 0
			if vector.Automaton != nil {
				a := *vector.Automaton
				a.Sets = slices.Clone(a.Sets)
				for k, j := range a.Sets {
					a.Sets[k] = newSet[j]
				}
				vector.Automaton = &a
			}
			if vector.Several != nil {
				x := *vector.Several
				x.Objectives = slices.Clone(x.Objectives)
				for k := range x.Objectives {
					objective := &x.Objectives[k]
					objective.Left, objective.Right = newSet[objective.Left], newSet[objective.Right]
				}
				vector.Several = &x
			}
			out.Vectors = append(out.Vectors, vector)
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
		out.Claims = append(out.Claims, claim)
	}
	return out
}
