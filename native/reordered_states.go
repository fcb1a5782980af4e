//go:build !js

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

// numSampled is the number of states from which isWorthReordering estimates how many states a reduction saves.
const numSampled = 1000

// checkReordered checks F or U of a Markov automaton on a reduced state space: it executes commands whose order does not matter in one step, and does not
// explore the successors of states that decide the property. ok is false if the property is not supported, or if the reduction would save few states.
func (partial *partialStates) checkReordered(ctx context.Context, property *checkedProperty) (verdict result.Verdict, ok bool) {
	program := property.Program
	path, rewardIndex := reachabilityPath(&property.Instance)
	if path == nil {
		return verdict, false
	}
	left, right := definitionOf(program, path.Left), definitionOf(program, path.Right)
	reduction := stubborn.Find(program, left, right, rewardIndex)
	if reduction == nil || !partial.isWorthReordering(reduction) {
		return verdict, false
	}
	compiled, err := compile.Compile(withAbsorbingDecidedStates(program, left, right), compile.Options{})
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

// isWorthReordering reports whether at least half of a sample of the first states have a command that the reduction executes at once. It is true if no
// states were explored.
func (partial *partialStates) isWorthReordering(reduction *stubborn.Reduction) bool {
	if partial.firstSpace == nil {
		return true
	}
	executor := reduction.NewExecutor()
	numStates := partial.firstSpace.Model().NumStates()
	stride := max(numStates/numSampled, 1)
	numChanged, numSeen := 0, 0
	var state, executed []int32
	for i := 0; i < numStates; i += stride {
		state = partial.firstSpace.State(state, i)
		executed = append(executed[:0], state...)
		executor.Execute(executed)
		numSeen++
		if !slices.Equal(state, executed) {
			numChanged++
		}
	}
	return 2*numChanged >= numSeen
}

// reachabilityPath returns the path formula F or U of a property P or R, and the index of the reward structure, which is -1 for P. A formula of P may have an
// upper bound on the time. The value of such a property depends neither on the states after the formula is decided, nor on the number of steps. path is
// nil for other properties.
func reachabilityPath(property *logic.Property) (path *logic.Path, rewardIndex int) {
	formula := logic.FormulaOf(property.Expr)
	path, rewardIndex = formula.Path, -1
	if formula.Kind == logic.Reward && formula.Objective.Form == logic.ReachReward && !formula.Objective.IsRatio {
		path, rewardIndex = formula.Objective.Path, formula.Objective.Struct
	}
	if path == nil || path.IsNegated || !formula.Measure() {
		return nil, -1
	}
	hasTimeBoundsOnly := path.Form == logic.CostBounded && !slices.ContainsFunc(path.Costs, isNotUpperTimeBound)
	if !path.Reaches() && !hasTimeBoundsOnly {
		return nil, -1
	}
	return path, rewardIndex
}

// isNotUpperTimeBound reports whether a bound limits something other than the time, or has a lower end.
func isNotUpperTimeBound(cost sema.Cost) bool { return !cost.IsTime || cost.Bound.Low != nil }

// definitionOf returns the expression of a label, and other expressions unchanged.
func definitionOf(program *sema.Program, expr sema.Expr) sema.Expr {
	if label, ok := expr.(*sema.Label); ok && label.Index >= 0 {
		return program.Labels[label.Index].Expr
	}
	return expr
}

// withAbsorbingDecidedStates returns a copy of a program in which each state that decides `left U right` is absorbing: it has a self-loop and no other
// transition. left may be nil, which stands for true.
func withAbsorbingDecidedStates(program *sema.Program, left, right sema.Expr) *sema.Program {
	base := sema.Base{ValueType: sema.Bool, Position: right.Pos()}
	isDecided := right
	if left != nil {
		isDecided = &sema.Binary{Base: base, Op: syntax.OpOr, X: right, Y: logic.Not(left)}
	}
	changed := *program
	changed.Modules = slices.Clone(program.Modules)
	for i := range changed.Modules {
		module := &changed.Modules[i]
		module.Commands = slices.Clone(module.Commands)
		for j := range module.Commands {
			guard := &module.Commands[j].Guard
			*guard = &sema.Binary{Base: base, Op: syntax.OpAnd, X: logic.Not(isDecided), Y: *guard}
		}
	}
	loop := sema.Command{Action: sema.Unlabelled, Guard: isDecided, Updates: []sema.Update{{Pos: right.Pos()}}, Pos: right.Pos()}
	changed.Modules[0].Commands = append(changed.Modules[0].Commands, loop)
	return &changed
}
