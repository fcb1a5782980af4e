package native

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/confluence"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// checkFocused checks a property F or U of an MDP or a Markov automaton on the states that matter for it: the target states are not explored, and
// confluent steps are executed at once. ok is false if the model has no such steps for the property.
func (partial *partialStates) checkFocused(ctx context.Context, property *checkedProperty) (verdict result.Verdict, ok bool) {
	program := property.Program
	path := focus(&property.Instance)
	if path == nil {
		return verdict, false
	}
	right := definitionOf(program, path.Right)
	steps := confluence.Find(program, definitionOf(program, path.Left), right)
	if len(steps) == 0 {
		return verdict, false
	}
	compiled, err := compile.Compile(withoutCommandsIn(program, right), compile.Options{})
	if err != nil {
		return verdict, false
	}
	opts := partial.build
	opts.Steps = steps
	space, err := explicit.Build(ctx, compiled, opts)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Build, partial.file, syntax.Pos{})}, true
	}
	verdict = partial.newExploredModel(space, nil).check(ctx, property)
	note := fmt.Sprintf("states behind the target were not explored; %s whose order does not matter %s executed at once, and the states between them are not counted",
		noun.Count(len(steps), "command"), noun.Verb(len(steps), "was", "were"))
	verdict.Warnings = append(slices.Clip(verdict.Warnings), note)
	return verdict, true
}

// focus returns the path formula of a property whose value depends only on which states are reached before a target, and on
// the time: P or the expected time of F or U. It returns nil for other properties.
func focus(property *logic.Property) *logic.Path {
	formula := logic.Of(property.X)
	path := formula.Path
	if formula.Kind == logic.Reward {
		path = formula.Objective.Path
	}
	if !formula.Measure() || !formula.Query() || path == nil || path.Negated || !logic.IgnoresStuttering(property) {
		return nil
	}
	if path.Form == logic.CostBounded && upperBoundsOnly(path.Costs) || path.Reaches() {
		return path
	}
	return nil
}

// upperBoundsOnly reports whether bounds on costs have no lower bounds.
func upperBoundsOnly(costs []sema.Cost) bool {
	return !slices.ContainsFunc(costs, func(cost sema.Cost) bool { return cost.Bound.Low != nil })
}

// definitionOf returns the expression of a label, and other expressions unchanged.
func definitionOf(program *sema.Program, expr sema.Expr) sema.Expr {
	if label, ok := expr.(*sema.Label); ok && label.Index >= 0 {
		return program.Labels[label.Index].X
	}
	return expr
}

// withoutCommandsIn returns a program whose commands are disabled in the states that satisfy a formula.
func withoutCommandsIn(program *sema.Program, target sema.Expr) *sema.Program {
	changed := *program
	changed.Modules = slices.Clone(program.Modules)
	for i := range changed.Modules {
		module := &changed.Modules[i]
		module.Commands = slices.Clone(module.Commands)
		for j := range module.Commands {
			guard := &module.Commands[j].Guard
			base := sema.Base{ValueType: sema.Bool, Position: (*guard).Pos()}
			*guard = &sema.Binary{Base: base, Op: syntax.OpAnd, X: logic.Not(target), Y: *guard}
		}
	}
	return &changed
}
