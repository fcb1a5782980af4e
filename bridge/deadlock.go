package bridge

import (
	"slices"

	"tilecheck/runner"

	"tilecheck/prism/syntax"
)

// asksRewards reports whether the properties of a task's source contain an R operator.
func asksRewards(task *runner.Task) bool {
	found := false
	for _, item := range task.Source.Tree.Items {
		syntax.Inspect(item, func(node syntax.Node) bool {
			_, ok := node.(*syntax.Reward)
			found = found || ok
			return !found
		})
	}
	return found
}

// addSelfLoops adds a module whose only command is a self-loop in each deadlock. A self-loop that Storm itself adds to a deadlock earns no state reward,
// but a self-loop of the model does. The command has an action of its own, so it earns no transition reward. names has the names that the model uses.
func (instance *instance) addSelfLoops(names map[string]bool) {
	guard, ok := deadlockGuard(instance.tree)
	if !ok {
		return
	}
	instance.deadlock = freshName(names, "tilecheck_deadlock")
	noChoice := &syntax.Ident{Name: freshName(names, "tilecheck_no_choice")}
	instance.tree.Items = append(instance.tree.Items,
		&syntax.FormulaDecl{Name: noChoice, X: guard},
		&syntax.LabelDecl{Name: &syntax.Ident{Name: instance.deadlock}, X: noChoice},
		&syntax.Module{Name: &syntax.Ident{Name: freshName(names, "tilecheck_loops")}, Commands: []*syntax.Command{{
			Action: &syntax.Ident{Name: freshName(names, "tilecheck_loop")}, Guard: noChoice, Updates: []*syntax.Update{{}},
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
func deadlockGuard(model *syntax.Model) (syntax.Expr, bool) {
	modules, ok := moduleGuardsList(model)
	if !ok {
		return nil, false
	}
	var enabled []syntax.Expr
	var actions []string
	for _, module := range modules {
		enabled = append(enabled, module.unlabelled...)
		for _, action := range module.actions {
			if !slices.Contains(actions, action) {
				actions = append(actions, action)
				enabled = append(enabled, allEnabled(modules, action))
			}
		}
	}
	if slices.ContainsFunc(enabled, isTrue) {
		return nil, false
	}
	return &syntax.Unary{Op: syntax.OpNot, X: join(syntax.OpOr, enabled)}, true
}

// allEnabled returns an expression that holds if every module with commands for an action has an enabled one.
func allEnabled(modules []*moduleGuards, action string) syntax.Expr {
	var conjuncts []syntax.Expr
	for _, module := range modules {
		if slices.Contains(module.actions, action) {
			if enabled := join(syntax.OpOr, module.guards[action]); !isTrue(enabled) {
				conjuncts = append(conjuncts, enabled)
			}
		}
	}
	return join(syntax.OpAnd, conjuncts)
}

// join returns the conjunction (op is &) or the disjunction (op is |) of expressions. For an empty list it returns the neutral element: true or
// false.
func join(op syntax.Op, exprs []syntax.Expr) syntax.Expr {
	if op == syntax.OpOr && slices.ContainsFunc(exprs, isTrue) {
		return &syntax.BoolLit{Value: true}
	}
	if len(exprs) == 0 {
		return &syntax.BoolLit{Value: op == syntax.OpAnd}
	}
	joined := exprs[0]
	for _, expr := range exprs[1:] {
		joined = &syntax.Binary{Op: op, X: joined, Y: expr}
	}
	if len(exprs) > 1 {
		joined = &syntax.Paren{X: joined}
	}
	return joined
}

// isTrue reports whether an expression is the literal true.
func isTrue(expr syntax.Expr) bool {
	literal, ok := syntax.Unparen(expr).(*syntax.BoolLit)
	return ok && literal.Value
}

// moduleGuardsList returns the guards of the commands, module by module. It returns false for a model with a system block.
func moduleGuardsList(model *syntax.Model) ([]*moduleGuards, bool) {
	formulas := make(map[string]syntax.Expr)
	modules := make(map[string]*syntax.Module)
	renamings := make(map[string]map[string]string) // by module: its composed renaming
	for _, item := range model.Items {
		switch item := item.(type) {
		case *syntax.System:
			return nil, false
		case *syntax.FormulaDecl:
			formulas[item.Name.Name] = item.X
		case *syntax.Module:
			modules[item.Name.Name] = item
		}
	}
	var guards []*moduleGuards
	for _, item := range model.Items {
		switch item := item.(type) {
		case *syntax.Module:
			guards = append(guards, moduleGuardsOf(item, nil, nil))
		case *syntax.RenamedModule:
			renaming := make(map[string]string)
			for _, rename := range item.Renames {
				renaming[rename.Old.Name] = rename.New.Name
			}
			base := modules[item.Base.Name]
			if base == nil {
				return nil, false // impossible in a checked model
			}
			modules[item.Name.Name], renamings[item.Name.Name] = base, composeRenamings(renamings[item.Base.Name], renaming)
			guards = append(guards, moduleGuardsOf(base, renamings[item.Name.Name], formulas))
		}
	}
	return guards, true
}

// composeRenamings returns the composition of two renamings, which map old names to new ones: first applies first.
func composeRenamings(first, then map[string]string) map[string]string {
	composed := make(map[string]string)
	for old, new := range then {
		composed[old] = new
	}
	for old, new := range first {
		composed[old] = new
		if further, ok := then[new]; ok {
			composed[old] = further
		}
	}
	return composed
}

// moduleGuardsOf returns the guards of a module's commands by action. Formulas are expanded, and the renaming of the module is applied.
func moduleGuardsOf(module *syntax.Module, renaming map[string]string, formulas map[string]syntax.Expr) *moduleGuards {
	guards := &moduleGuards{guards: make(map[string][]syntax.Expr)}
	for _, command := range module.Commands {
		guard := syntax.Expr(&syntax.Paren{X: expandAndRename(command.Guard, renaming, formulas)})
		if command.Action == nil {
			guards.unlabelled = append(guards.unlabelled, guard)
			continue
		}
		action := command.Action.Name
		if newName, ok := renaming[action]; ok {
			action = newName
		}
		if !slices.Contains(guards.actions, action) {
			guards.actions = append(guards.actions, action)
		}
		guards.guards[action] = append(guards.guards[action], guard)
	}
	return guards
}

// expandAndRename expands the formulas in an expression and replaces names by the renaming. Without a renaming (nil) it returns the expression as it
// is.
func expandAndRename(expr syntax.Expr, renaming map[string]string, formulas map[string]syntax.Expr) syntax.Expr {
	if renaming == nil {
		return expr
	}
	return syntax.Rewrite(expr, func(expr syntax.Expr) syntax.Expr {
		identifier, ok := expr.(*syntax.Ident)
		if !ok {
			return expr
		}
		if body, isFormula := formulas[identifier.Name]; isFormula {
			return &syntax.Paren{X: expandAndRename(body, renaming, formulas)}
		}
		if newName, ok := renaming[identifier.Name]; ok {
			return &syntax.Ident{Name: newName, Span: identifier.Span}
		}
		return identifier
	})
}
