package prove

import (
	"slices"

	"tilecheck/certify/certificate"
)

// Only returns a certificate of some of the claims of another one, with the sets and
// vectors that they rest on. Columns are shared.
func Only(f *certificate.File, claims ...int) *certificate.File {
	s := &selection{from: f, sets: make(map[int]bool), vectors: make(map[int]bool)}
	s.set(initial) // what a field that does not matter says
	s.set(all)
	for _, i := range claims {
		c := f.Claims[i]
		s.set(c.Over)
		if c.Vector >= 0 {
			s.vector(c.Vector)
		} else {
			s.set(c.Set)
		}
	}
	return s.collect(claims)
}

type selection struct {
	from          *certificate.File
	sets, vectors map[int]bool
}

func (s *selection) set(i int) {
	if s.sets[i] {
		return
	}
	s.sets[i] = true
	x := &s.from.Sets[i]
	for _, j := range x.Sets {
		s.set(j)
	}
	if x.Compares() {
		s.vector(x.Vector)
	}
}

func (s *selection) vector(i int) {
	if !s.vectors[i] {
		s.vectors[i] = true
		v := &s.from.Vectors[i]
		s.set(v.Left)
		s.set(v.Right)
		if v.Automaton != nil {
			for _, j := range v.Automaton.Sets {
				s.set(j)
			}
		}
		if v.Several != nil {
			for _, o := range v.Several.Objectives {
				s.set(o.Left)
				s.set(o.Right)
			}
		}
	}
}

// collect numbers what was selected, in the same order.
func (s *selection) collect(claims []int) *certificate.File {
	out := &certificate.File{Model: s.from.Model}
	numbers := func(n int, has map[int]bool) []int {
		at, next := make([]int, n), 0
		for i := range at {
			if at[i] = next; has[i] {
				next++
			}
		}
		return at
	}
	set, vector := numbers(len(s.from.Sets), s.sets), numbers(len(s.from.Vectors), s.vectors)
	for i, x := range s.from.Sets {
		if !s.sets[i] {
			continue
		}
		x.Sets = slices.Clone(x.Sets)
		for k, j := range x.Sets {
			x.Sets[k] = set[j]
		}
		if x.Compares() {
			x.Vector = vector[x.Vector]
		}
		out.Sets = append(out.Sets, x)
	}
	for i, v := range s.from.Vectors {
		if s.vectors[i] {
			v.Left, v.Right = set[v.Left], set[v.Right]
			if v.Automaton != nil {
				a := *v.Automaton
				a.Sets = slices.Clone(a.Sets)
				for k, j := range a.Sets {
					a.Sets[k] = set[j]
				}
				v.Automaton = &a
			}
			if v.Several != nil {
				x := *v.Several
				x.Objectives = slices.Clone(x.Objectives)
				for k := range x.Objectives {
					o := &x.Objectives[k]
					o.Left, o.Right = set[o.Left], set[o.Right]
				}
				v.Several = &x
			}
			out.Vectors = append(out.Vectors, v)
		}
	}
	for _, i := range claims {
		c := s.from.Claims[i]
		c.Over = set[c.Over]
		if c.Vector >= 0 {
			c.Vector = vector[c.Vector]
		} else {
			c.Set = set[c.Set]
		}
		out.Claims = append(out.Claims, c)
	}
	return out
}
