package native

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/stubborn"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// numSampled is the number of states that show whether executing commands at once saves many states.
const numSampled = 1000

// checkReordered checks F or U of a Markov automaton on fewer states: commands whose order does not matter are executed at once, and states that decide
// the property have no successors. ok is false if the property is not supported, or if few states would be saved.
func (partial *partialStates) checkReordered(ctx context.Context, property *checkedProperty) (verdict result.Verdict, ok bool) {
	program := property.Program
	path, reward := reachedPath(&property.Instance)
	if path == nil {
		return verdict, false
	}
	left, right := definitionOf(program, path.Left), definitionOf(program, path.Right)
	reduction := stubborn.Find(program, left, right, reward)
	if reduction == nil || !partial.isWorthReordering(reduction) {
		return verdict, false
	}
	compiled, err := compile.Compile(stoppedAt(program, left, right), compile.Options{})
	if err != nil {
		return verdict, false
	}
	opts := partial.build
	opts.Reduction = reduction
	space, err := explicit.Build(ctx, compiled, opts)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Build, partial.file, syntax.Pos{})}, true
	}
	verdict = partial.newExploredModel(space, nil).check(ctx, property)
	note := fmt.Sprintf("states behind the target were not explored, and %s executed at once where their order does not matter", noun.Count(reduction.NumCandidates(), "command"))
	verdict.Warnings = append(slices.Clip(verdict.Warnings), note)
	return verdict, true
}

// isWorthReordering reports whether a reduction changes at least half of a sample of the states that were explored first. It is true if no states were
// explored.
func (partial *partialStates) isWorthReordering(reduction *stubborn.Reduction) bool {
	if partial.firstSpace == nil {
		return true
	}
	executor := reduction.NewExecutor()
	numStates := partial.firstSpace.Model().NumStates()
	stride := max(numStates/numSampled, 1)
	numChanged, total := 0, 0
	var state, executed []int32
	for i := 0; i < numStates; i += stride {
		state = partial.firstSpace.State(state, i)
		executed = append(executed[:0], state...)
		executor.Execute(executed)
		total++
		if !slices.Equal(state, executed) {
			numChanged++
		}
	}
	return 2*numChanged >= total
}

// reachedPath returns the path formula of P [ F ] or P [ U ], with or without a time bound, or of an expected reward until a target, and the index of
// the reward structure (-1 for P). These values depend neither on later states after the formula is decided, nor on the number of steps. It returns nil
// for other properties.
func reachedPath(property *logic.Property) (path *logic.Path, reward int) {
	formula := logic.FormulaOf(property.Expr)
	path, reward = formula.Path, -1
	if formula.Kind == logic.Reward && formula.Objective.Form == logic.ReachReward && !formula.Objective.IsRatio {
		path, reward = formula.Objective.Path, formula.Objective.Struct
	}
	isSupported := path != nil && !path.IsNegated && (path.Reaches() || path.Form == logic.CostBounded && !slices.ContainsFunc(path.Costs, hasOtherBound))
	if !isSupported || !formula.Measure() {
		return nil, -1
	}
	return path, reward
}

// hasOtherBound reports whether a bound is not an upper bound on the time.
func hasOtherBound(cost sema.Cost) bool { return !cost.IsTime || cost.Bound.Low != nil }

// definitionOf returns the expression of a label, and other expressions unchanged.
func definitionOf(program *sema.Program, expr sema.Expr) sema.Expr {
	if label, ok := expr.(*sema.Label); ok && label.Index >= 0 {
		return program.Labels[label.Index].Expr
	}
	return expr
}

// stoppedAt returns a program in which each state that decides `left U right` has no transitions except a self-loop. left may be nil, which stands for
// true.
func stoppedAt(program *sema.Program, left, right sema.Expr) *sema.Program {
	base := sema.Base{ValueType: sema.Bool, Position: right.Pos()}
	isDecided := right
	if left != nil {
		isDecided = &sema.Binary{Base: base, Op: syntax.OpOr, X: right, Y: logic.Not(left)}
	}
	stopped := *program
	stopped.Modules = slices.Clone(program.Modules)
	for i := range stopped.Modules {
		module := &stopped.Modules[i]
		module.Commands = slices.Clone(module.Commands)
		for j := range module.Commands {
			guard := &module.Commands[j].Guard
			*guard = &sema.Binary{Base: base, Op: syntax.OpAnd, X: logic.Not(isDecided), Y: *guard}
		}
	}
	loop := sema.Command{Action: sema.Unlabelled, Guard: isDecided, Updates: []sema.Update{{Pos: right.Pos()}}, Pos: right.Pos()}
	stopped.Modules[0].Commands = append(stopped.Modules[0].Commands, loop)
	return &stopped
}
