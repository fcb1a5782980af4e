package sema

import (
	"slices"

	"tilecheck/prism/syntax"
)

// selectSystem selects the system block: the one without a name, otherwise the first. It returns
// false if there is none or references are cyclic.
func (c *checker) selectSystem() bool {
	names := make(map[string]int)
	unnamed := 0
	for i, s := range c.items.systems {
		switch {
		case s.Name == nil:
			if unnamed++; unnamed > 1 {
				c.add(phaseSystem, s.X.Pos(), "there can be at most one unnamed system...endsystem construct")
				return false
			}
			c.system = s
		default:
			if _, ok := names[s.Name.Name]; ok {
				c.add(phaseSystem, s.X.Pos(), "duplicated system...endsystem name %q", s.Name.Name)
				return false
			}
			names[s.Name.Name] = i
		}
	}
	if c.system == nil && len(c.items.systems) > 0 {
		c.system = c.items.systems[0]
	}
	deps := make([][]int, len(c.items.systems))
	for i, s := range c.items.systems {
		eachSys(s.X, func(x syntax.SysExpr) {
			if ref, ok := x.(*syntax.SysRef); ok {
				if j, ok := names[ref.Name.Name]; ok {
					deps[i] = append(deps[i], j)
				}
			}
		})
	}
	if i := firstCycle(deps); i >= 0 {
		s := c.items.systems[i]
		c.add(phaseSystem, s.X.Pos(), "cyclic dependency from references in system...endsystem definition %q", s.Name.Name)
		c.system = nil
	}
	return c.system != nil
}

// eachSys calls f for a term, then for its operands.
func eachSys(x syntax.SysExpr, f func(syntax.SysExpr)) {
	f(x)
	for _, y := range sysOperands(x) {
		eachSys(y, f)
	}
}

func sysOperands(x syntax.SysExpr) []syntax.SysExpr {
	switch x := x.(type) {
	case *syntax.SysBrackets:
		return []syntax.SysExpr{x.X}
	case *syntax.SysFull:
		return x.Operands
	case *syntax.SysInterleaved:
		return x.Operands
	case *syntax.SysParallel:
		return []syntax.SysExpr{x.X, x.Y}
	case *syntax.SysHide:
		return []syntax.SysExpr{x.X}
	case *syntax.SysRename:
		return []syntax.SysExpr{x.X}
	}
	return nil
}

// expanded returns a term, or the one that a reference to a system block stands for.
func (c *checker) expanded(x syntax.SysExpr) (syntax.SysExpr, bool) {
	ref, ok := x.(*syntax.SysRef)
	if !ok {
		return x, true
	}
	for _, s := range c.items.systems {
		if s.Name != nil && s.Name.Name == ref.Name.Name {
			return s.X, true
		}
	}
	return nil, false
}

// addRenamedActions calls add for the actions that renamings introduce.
func (c *checker) addRenamedActions(x syntax.SysExpr, add func(string)) {
	x, ok := c.expanded(x)
	if !ok {
		return
	}
	if x, ok := x.(*syntax.SysRename); ok {
		for _, r := range x.Renames {
			add(r.New.Name)
		}
	}
	for _, y := range sysOperands(x) {
		c.addRenamedActions(y, add)
	}
}

// checkSystem checks the actions and references of the system block. Like PRISM it does not check
// the blocks that are referred to.
func (c *checker) checkSystem(x syntax.SysExpr) {
	for _, y := range sysOperands(x) {
		c.checkSystem(y)
	}
	switch x := x.(type) {
	case *syntax.SysRef:
		if _, ok := c.expanded(x); !ok {
			c.r.semantic(x, "reference to system %s which does not exist", x.Name.Name)
		}
	case *syntax.SysParallel:
		c.sysActions(x, x.Actions)
	case *syntax.SysHide:
		c.sysActions(x, x.Actions)
	case *syntax.SysRename:
		var from []*syntax.Ident
		for _, r := range x.Renames {
			from = append(from, r.Old)
		}
		c.sysActions(x, from)
	}
}

func (c *checker) sysActions(x syntax.SysExpr, actions []*syntax.Ident) {
	for i, a := range actions {
		switch {
		case c.actionIndex(a.Name) == UnknownAction:
			c.r.semantic(x, "invalid action %q in \"system\" construct", a.Name)
		case slices.ContainsFunc(actions[:i], func(b *syntax.Ident) bool { return a.Name == b.Name }):
			c.r.semantic(x, "duplicated action %q in parallel composition in \"system\" construct", a.Name)
		}
	}
}

// systemModules resolves the system block and checks that each module appears once.
func (c *checker) systemModules() {
	count := make([]int, len(c.modules))
	sys := c.resolveSystem(c.system.X, count)
	for i, m := range c.modules {
		switch {
		case count[i] == 0:
			c.r.semantic(c.system.X, "module %s does not appear in the \"system\" construct", m.name.Name)
		case count[i] > 1:
			c.r.semantic(c.system.X, "module %s appears more than once in the \"system\" construct", m.name.Name)
		}
	}
	c.m.system = sys
}

// resolveSystem resolves a term; nil if something in it does not exist. Actions that no command
// has are dropped, because they have no effect.
func (c *checker) resolveSystem(x syntax.SysExpr, count []int) System {
	x, ok := c.expanded(x)
	if !ok {
		return nil
	}
	if m, ok := x.(*syntax.SysModule); ok {
		i := slices.IndexFunc(c.modules, func(o *module) bool { return o.name.Name == m.Name.Name })
		if i < 0 {
			c.add(phaseOurs, m.Pos(), "no such module %s in the \"system\" construct", m.Name.Name)
			return nil
		}
		count[i]++
		return SysModule{i}
	}
	var operands []System
	for _, y := range sysOperands(x) {
		operands = append(operands, c.resolveSystem(y, count))
	}
	switch x := x.(type) {
	case *syntax.SysFull:
		return &SysParallel{Operands: operands, Full: true}
	case *syntax.SysInterleaved:
		return &SysParallel{Operands: operands}
	case *syntax.SysParallel:
		return &SysParallel{Operands: operands, Actions: c.actionIndices(x.Actions)}
	case *syntax.SysHide:
		return &SysHide{operands[0], c.actionIndices(x.Actions)}
	case *syntax.SysRename:
		r := &SysRename{X: operands[0]}
		for _, p := range x.Renames {
			if from := c.actionIndex(p.Old.Name); from >= 0 {
				r.From, r.To = append(r.From, from), append(r.To, c.actionIndex(p.New.Name))
			}
		}
		return r
	}
	return operands[0] // brackets
}

func (c *checker) actionIndices(names []*syntax.Ident) []int {
	var out []int
	for _, a := range names {
		if i := c.actionIndex(a.Name); i >= 0 {
			out = append(out, i)
		}
	}
	return out
}
