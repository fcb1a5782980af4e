package crosscheck_test

import (
	"math/rand/v2"
	"strconv"

	"tilecheck/prism/syntax"
)

func text(n int64) string { return strconv.FormatInt(n, 10) }

// shuffler changes the order of a model and not its meaning.
type shuffler struct{ *rand.Rand }

func (s *shuffler) changes() []func(*syntax.Model) {
	return []func(*syntax.Model){s.commands, s.updates, s.conjuncts, s.variables, s.modules, s.rename, s.inline}
}

// permute makes sure that something changes where it can: the rotation of a
// random permutation is not what was there.
func permute[T any](s *shuffler, list []T) {
	if len(list) < 2 {
		return
	}
	list[0], list[len(list)-1] = list[len(list)-1], list[0]
	s.Shuffle(len(list)-1, func(i, j int) { list[i+1], list[j+1] = list[j+1], list[i+1] })
}

func modulesOf(m *syntax.Model) []*syntax.Module {
	var out []*syntax.Module
	for _, item := range m.Items {
		if x, ok := item.(*syntax.Module); ok {
			out = append(out, x)
		}
	}
	return out
}

func (s *shuffler) commands(m *syntax.Model) {
	for _, x := range modulesOf(m) {
		permute(s, x.Commands)
	}
}

func (s *shuffler) variables(m *syntax.Model) {
	for _, x := range modulesOf(m) {
		permute(s, x.Vars)
	}
	permute(s, m.Items[1:]) // of a prototype each module has one variable
}

func (s *shuffler) updates(m *syntax.Model) {
	for _, x := range modulesOf(m) {
		for _, c := range x.Commands {
			permute(s, c.Updates)
			for _, u := range c.Updates {
				permute(s, u.Assigns)
			}
		}
	}
}

// conjuncts turns round the operands of every "and" and "or" of the guards.
func (s *shuffler) conjuncts(m *syntax.Model) {
	for _, x := range modulesOf(m) {
		for _, c := range x.Commands {
			c.Guard = syntax.Rewrite(c.Guard, func(x syntax.Expr) syntax.Expr {
				if b, ok := x.(*syntax.Binary); ok && (b.Op == syntax.OpAnd || b.Op == syntax.OpOr) {
					return &syntax.Binary{Op: b.Op, X: &syntax.Paren{X: b.Y}, Y: b.X}
				}
				return x
			})
		}
	}
}

// modules moves everything behind the type of the model.
func (s *shuffler) modules(m *syntax.Model) { permute(s, m.Items[1:]) }

func (s *shuffler) rename(m *syntax.Model) {
	names := make(map[string]string)
	for i, x := range modulesOf(m) {
		names[x.Name.Name] = "part_" + strconv.Itoa(i)
		x.Name = &syntax.Ident{Name: names[x.Name.Name]}
	}
	for _, item := range m.Items {
		if x, ok := item.(*syntax.RenamedModule); ok {
			x.Base = &syntax.Ident{Name: names[x.Base.Name]}
		}
	}
}

// inline writes formulas out wherever they are used.
func (s *shuffler) inline(m *syntax.Model) {
	bodies := make(map[string]syntax.Expr)
	for _, item := range m.Items {
		if f, ok := item.(*syntax.FormulaDecl); ok {
			bodies[f.Name.Name] = f.X
		}
	}
	var out func(x syntax.Expr) syntax.Expr
	out = func(x syntax.Expr) syntax.Expr {
		return syntax.Rewrite(x, func(x syntax.Expr) syntax.Expr {
			if id, ok := x.(*syntax.Ident); ok && bodies[id.Name] != nil {
				return &syntax.Paren{X: out(bodies[id.Name])}
			}
			return x
		})
	}
	var items []syntax.Item
	for _, item := range m.Items {
		switch x := item.(type) {
		case *syntax.FormulaDecl:
			continue
		case *syntax.LabelDecl:
			x.X = out(x.X)
		case *syntax.Module:
			for _, c := range x.Commands {
				c.Guard = out(c.Guard)
				for _, u := range c.Updates {
					if u.Prob != nil {
						u.Prob = out(u.Prob)
					}
					for _, a := range u.Assigns {
						a.Value = out(a.Value)
					}
				}
			}
		}
		items = append(items, item)
	}
	m.Items = items
}
