package prove

import (
	"slices"

	"tilecheck/certify/certificate"
)

// Only returns a certificate of some of the claims of f, with the sets and vectors that they use.
// The new certificate shares the columns of f.
func Only(f *certificate.File, claims ...int) *certificate.File {
	s := &selection{source: f, sets: make(map[int]bool), vectors: make(map[int]bool)}
	s.addSet(initial) // fields that a claim or vector does not use refer to the first two sets
	s.addSet(all)
	for _, i := range claims {
		c := f.Claims[i]
		s.addSet(c.Over)
		if c.Vector >= 0 {
			s.addVector(c.Vector)
		} else {
			s.addSet(c.Set)
		}
	}
	return s.renumber(claims)
}

// selection collects the sets and vectors that some claims depend on.
type selection struct {
	source        *certificate.File
	sets, vectors map[int]bool
}

func (s *selection) addSet(i int) {
	if s.sets[i] {
		return
	}
	s.sets[i] = true
	x := &s.source.Sets[i]
	for _, j := range x.Sets {
		s.addSet(j)
	}
	if x.Compares() {
		s.addVector(x.Vector)
	}
}

func (s *selection) addVector(i int) {
	if !s.vectors[i] {
		s.vectors[i] = true
		v := &s.source.Vectors[i]
		s.addSet(v.Left)
		s.addSet(v.Right)
		if v.Automaton != nil {
			for _, j := range v.Automaton.Sets {
				s.addSet(j)
			}
		}
		if v.Several != nil {
			for _, o := range v.Several.Objectives {
				s.addSet(o.Left)
				s.addSet(o.Right)
			}
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
	for i, v := range s.source.Vectors {
		if s.vectors[i] {
			v.Left, v.Right = newSet[v.Left], newSet[v.Right]
			if v.Automaton != nil {
				a := *v.Automaton
				a.Sets = slices.Clone(a.Sets)
				for k, j := range a.Sets {
					a.Sets[k] = newSet[j]
				}
				v.Automaton = &a
			}
			if v.Several != nil {
				x := *v.Several
				x.Objectives = slices.Clone(x.Objectives)
				for k := range x.Objectives {
					o := &x.Objectives[k]
					o.Left, o.Right = newSet[o.Left], newSet[o.Right]
				}
				v.Several = &x
			}
			out.Vectors = append(out.Vectors, v)
		}
	}
	for _, i := range claims {
		c := s.source.Claims[i]
		c.Over = newSet[c.Over]
		if c.Vector >= 0 {
			c.Vector = newVector[c.Vector]
		} else {
			c.Set = newSet[c.Set]
		}
		out.Claims = append(out.Claims, c)
	}
	return out
}
