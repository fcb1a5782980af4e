package bridge

import (
	"slices"

	"tilecheck/runner"

	"tilecheck/prism/syntax"
)

// asksRewards reports whether a property has an R operator, perhaps by way of
// another property.
func asksRewards(t *runner.Task) bool {
	found := false
	for _, x := range t.Source.Tree.Items {
		syntax.Inspect(x, func(n syntax.Node) bool {
			_, ok := n.(*syntax.Reward)
			found = found || ok
			return !found
		})
	}
	return found
}

// addSelfLoops adds a module whose only command is enabled in the states in which no other command is. A self-loop that Storm
// adds to a deadlock earns no state reward; a self-loop of the model does. No reward item applies to its action.
func (in *instance) addSelfLoops(names map[string]bool) {
	guard, ok := deadlockGuard(in.tree)
	if !ok {
		return
	}
	in.deadlock = freshName(names, "tilecheck_deadlock")
	none := &syntax.Ident{Name: freshName(names, "tilecheck_no_choice")}
	in.tree.Items = append(in.tree.Items,
		&syntax.FormulaDecl{Name: none, X: guard},
		&syntax.LabelDecl{Name: &syntax.Ident{Name: in.deadlock}, X: none},
		&syntax.Module{Name: &syntax.Ident{Name: freshName(names, "tilecheck_loops")}, Commands: []*syntax.Command{{
			Action: &syntax.Ident{Name: freshName(names, "tilecheck_loop")}, Guard: none, Updates: []*syntax.Update{{}},
		}}},
	)
}

// moduleGuards are the guards of a module's commands, by action.
type moduleGuards struct {
	unlabelled []syntax.Expr
	actions    []string // in order of appearance
	guards     map[string][]syntax.Expr
}

// deadlockGuard returns an expression that holds in states where no command is enabled. It returns false if there are no
// such states, or if the model has a system block.
func deadlockGuard(m *syntax.Model) (syntax.Expr, bool) {
	modules, ok := guardsOf(m)
	if !ok {
		return nil, false
	}
	var enabled []syntax.Expr
	var seen []string
	for _, g := range modules {
		enabled = append(enabled, g.unlabelled...)
		for _, a := range g.actions {
			if !slices.Contains(seen, a) {
				seen = append(seen, a)
				enabled = append(enabled, allEnabled(modules, a))
			}
		}
	}
	if slices.ContainsFunc(enabled, isTrue) {
		return nil, false
	}
	return &syntax.Unary{Op: syntax.OpNot, X: join(syntax.OpOr, enabled)}, true
}

// allEnabled returns an expression that holds if every module that knows an action has an enabled command for it.
func allEnabled(modules []*moduleGuards, action string) syntax.Expr {
	var all []syntax.Expr
	for _, g := range modules {
		if slices.Contains(g.actions, action) {
			if some := join(syntax.OpOr, g.guards[action]); !isTrue(some) {
				all = append(all, some)
			}
		}
	}
	return join(syntax.OpAnd, all)
}

// join combines expressions with & or |. For an empty list it returns the neutral element.
func join(op syntax.Op, xs []syntax.Expr) syntax.Expr {
	if op == syntax.OpOr && slices.ContainsFunc(xs, isTrue) {
		return &syntax.BoolLit{Value: true}
	}
	if len(xs) == 0 {
		return &syntax.BoolLit{Value: op == syntax.OpAnd}
	}
	out := xs[0]
	for _, x := range xs[1:] {
		out = &syntax.Binary{Op: op, X: out, Y: x}
	}
	if len(xs) > 1 {
		out = &syntax.Paren{X: out}
	}
	return out
}

// isTrue reports whether an expression is the literal true.
func isTrue(x syntax.Expr) bool {
	b, ok := syntax.Unparen(x).(*syntax.BoolLit)
	return ok && b.Value
}

// guardsOf returns the guards of all modules. It returns false for a model with a system block.
func guardsOf(m *syntax.Model) ([]*moduleGuards, bool) {
	formulas := make(map[string]syntax.Expr)
	plain := make(map[string]*syntax.Module)
	names := make(map[string]map[string]string) // by module: its composed renaming
	for _, item := range m.Items {
		switch x := item.(type) {
		case *syntax.System:
			return nil, false
		case *syntax.FormulaDecl:
			formulas[x.Name.Name] = x.X
		case *syntax.Module:
			plain[x.Name.Name] = x
		}
	}
	var out []*moduleGuards
	for _, item := range m.Items {
		switch x := item.(type) {
		case *syntax.Module:
			out = append(out, moduleGuardsOf(x, nil, nil))
		case *syntax.RenamedModule:
			renaming := make(map[string]string)
			for _, r := range x.Renames {
				renaming[r.Old.Name] = r.New.Name
			}
			base := plain[x.Base.Name]
			if base == nil {
				return nil, false // impossible in a checked model
			}
			plain[x.Name.Name], names[x.Name.Name] = base, composeRenamings(names[x.Base.Name], renaming)
			out = append(out, moduleGuardsOf(base, names[x.Name.Name], formulas))
		}
	}
	return out, true
}

// composeRenamings returns the renaming that applies first, and then the other one.
func composeRenamings(first, then map[string]string) map[string]string {
	out := make(map[string]string)
	for from, to := range then {
		out[from] = to
	}
	for from, to := range first {
		out[from] = to
		if further, ok := then[to]; ok {
			out[from] = further
		}
	}
	return out
}

// moduleGuardsOf returns the guards of a module's commands by action. Formulas are expanded, and the renaming of the module is applied.
func moduleGuardsOf(m *syntax.Module, renaming map[string]string, formulas map[string]syntax.Expr) *moduleGuards {
	g := &moduleGuards{guards: make(map[string][]syntax.Expr)}
	for _, c := range m.Commands {
		guard := syntax.Expr(&syntax.Paren{X: expandAndRename(c.Guard, renaming, formulas)})
		if c.Action == nil {
			g.unlabelled = append(g.unlabelled, guard)
			continue
		}
		a := c.Action.Name
		if to, ok := renaming[a]; ok {
			a = to
		}
		if !slices.Contains(g.actions, a) {
			g.actions = append(g.actions, a)
		}
		g.guards[a] = append(g.guards[a], guard)
	}
	return g
}

// expandAndRename expands the formulas in an expression and applies a renaming.
func expandAndRename(x syntax.Expr, renaming map[string]string, formulas map[string]syntax.Expr) syntax.Expr {
	if renaming == nil {
		return x
	}
	return syntax.Rewrite(x, func(x syntax.Expr) syntax.Expr {
		id, ok := x.(*syntax.Ident)
		if !ok {
			return x
		}
		if body, isFormula := formulas[id.Name]; isFormula {
			return &syntax.Paren{X: expandAndRename(body, renaming, formulas)}
		}
		if to, ok := renaming[id.Name]; ok {
			return &syntax.Ident{Name: to, Span: id.Span}
		}
		return id
	})
}
