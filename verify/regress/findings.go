package regress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/report"
	"tilecheck/verify/expect"
)

// findings returns the mistakes in annotations of all properties files, and the annotations that no test chooses, each
// once.
func (r *run) findings() []report.TestFinding {
	var out []report.TestFinding
	files := make(map[string][]*subject) // by properties file
	var order []string
	for _, s := range r.subjects {
		if s.tree == nil {
			continue
		}
		name := s.switches.Props
		if files[name] == nil {
			order = append(order, name)
		}
		files[name] = append(files[name], s)
	}
	for _, name := range order {
		out = append(out, r.findingsOf(r.opt.name(name), files[name])...)
	}
	out = append(out, r.unusedExtras()...)
	slices.SortStableFunc(out, func(a, b report.TestFinding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return out
}

// unusedExtras returns findings about expectations outside of properties files that no test chooses. An expectation of a
// test that cannot be run counts as chosen.
func (r *run) unusedExtras() []report.TestFinding {
	type place struct {
		file string
		pos  syntax.Pos
	}
	used := make(map[place]bool)
	var all []*Extra
	for _, s := range r.subjects {
		for i := range s.Extra {
			e := &s.Extra[i]
			at := place{e.File, e.Pos}
			if _, known := used[at]; !known {
				all = append(all, e)
			}
			used[at] = used[at] || s.err != nil || s.importsResults() || s.usesExtra(e)
		}
	}
	var out []report.TestFinding
	for _, e := range all {
		if !used[place{e.File, e.Pos}] {
			out = append(out, report.TestFinding{
				File: e.File, Line: int(e.Pos.Line), Col: int(e.Pos.Col), Message: fmt.Sprintf("this expectation of %q fits no test", e.Property),
			})
		}
	}
	return out
}

// usesExtra reports whether an item has chosen this expectation.
func (s *subject) usesExtra(e *Extra) bool {
	return slices.ContainsFunc(s.items, func(it *item) bool {
		return e.Result != nil && slices.Contains(it.taken, e.Result.Pos) || e.Terms != nil && slices.Contains(it.taken, e.Terms.Pos)
	})
}

// findingsOf returns the findings about one properties file, given all its tests.
func (r *run) findingsOf(name string, subjects []*subject) []report.TestFinding {
	s := subjects[0]
	var out []report.TestFinding
	mistaken := make(map[syntax.Pos]bool)
	add := func(at syntax.Pos, msg string) {
		mistaken[at] = true
		out = append(out, report.TestFinding{File: name, Line: int(at.Line), Col: int(at.Col), Message: msg})
	}
	for _, m := range expect.Check(s.props, s.tree) {
		add(m.Pos, m.Msg)
	}
	for _, item := range s.tree.Items {
		p, ok := item.(*syntax.Property)
		if !ok || !tested(subjects, p) {
			continue
		}
		chosen := chosenOf(subjects, p)
		unused := func(at, end syntax.Pos, conditions []expect.Condition) {
			inside := func(m syntax.Pos) bool { return at.Compare(m) <= 0 && m.Compare(end) < 0 }
			for m := range mistaken {
				if inside(m) {
					return
				}
			}
			if !chosen[at] {
				add(at, "this annotation fits no test"+unknownNames(subjects, conditions))
			}
		}
		for _, e := range expect.Parse(s.props, p) {
			unused(e.Pos, e.End, e.Conditions)
		}
		for _, t := range expect.ParseTerms(s.props, p) {
			unused(t.Pos, t.End, t.Conditions)
		}
	}
	return out
}

// tested reports whether every test of the file can be run and some test checks the property. Otherwise an annotation
// may be for a test that cannot be run.
func tested(subjects []*subject, p *syntax.Property) bool {
	for _, s := range subjects {
		if s.err != nil || s.importsResults() {
			return false
		}
	}
	return slices.ContainsFunc(subjects, func(s *subject) bool {
		return slices.ContainsFunc(s.items, func(it *item) bool { return it.task.Pos == p.Pos() })
	})
}

// chosenOf returns the positions of the chosen annotations of a property.
func chosenOf(subjects []*subject, p *syntax.Property) map[syntax.Pos]bool {
	out := make(map[syntax.Pos]bool)
	for _, s := range subjects {
		for _, it := range s.items {
			if it.task.Pos != p.Pos() {
				continue
			}
			if it.chosen.Result != nil && it.extra == "" {
				out[it.chosen.Result.Pos] = true
			}
			if it.chosen.Terms != nil && !slices.Contains(it.taken, it.chosen.Terms.Pos) {
				out[it.chosen.Terms.Pos] = true
			}
		}
	}
	return out
}

// unknownNames says which names in conditions are not constants of any test.
func unknownNames(subjects []*subject, conditions []expect.Condition) string {
	var unknown []string
	for _, c := range conditions {
		known := slices.ContainsFunc(subjects, func(s *subject) bool {
			return slices.ContainsFunc(s.items, func(it *item) bool { return it.knows(c.Name) })
		})
		if c.OK && !known {
			unknown = append(unknown, c.Name)
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	return fmt.Sprintf(": there is no constant %s", strings.Join(unknown, ", "))
}

// knows reports whether a constant has a value.
func (it *item) knows(name string) bool {
	for _, c := range it.rules.Constants {
		if c.Name == name {
			return true
		}
	}
	return false
}
