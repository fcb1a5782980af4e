package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/quotient"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Reduced is a bisimulation quotient: its states are blocks of states that some properties do not
// distinguish.
type Reduced struct {
	Space     *explicit.Space
	Partition *quotient.Partition
}

// Reduce returns the quotient of an exact space by the coarsest strong bisimulation that respects
// the formulas over variables, the labels and the reward structures of the properties. The
// partition is checked. The error is a *result.Failure of class Unsupported if a property has an
// operator that the quotient does not preserve, such as a filter that counts states.
//
// If a partition is given, it is checked and used instead; it may be finer than the coarsest one.
func Reduce(ctx context.Context, compiled *compile.Model, space *explicit.Space, properties []*Property, given *quotient.Partition) (*Reduced, error) {
	o, err := observeProperties(ctx, compiled, space, properties)
	if err != nil {
		return nil, err
	}
	return o.build(ctx, given)
}

// observeProperties records which states the properties distinguish.
func observeProperties(ctx context.Context, compiled *compile.Model, space *explicit.Space, properties []*Property) (*quotientBuilder, error) {
	program := compiled.Program()
	switch {
	case program.Type == syntax.SMG: // a block may contain states of different players
		return nil, &result.Failure{Class: result.Unsupported, File: program.File, Message: "found an SMG, want a model without players to reduce"}
	case program.Type == syntax.POMDP || space.Model().Intervals():
		return nil, &result.Failure{Class: result.Unsupported, File: program.File, Message: fmt.Sprintf("found %s, want a model without observations and intervals to reduce", noun.WithArticle(program.Type.String()))}
	}
	result := &quotientBuilder{Checker: New(compiled, space, Options{}), space: space, rewards: map[int]*sparse.Reward{}}
	result.block = make([]uint32, space.Model().NumStates())
	for _, property := range properties {
		if err := result.addProperty(ctx, property); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// build returns the quotient by the given partition or, if it is nil, by the coarsest partition that respects the
// observations.
func (o *quotientBuilder) build(ctx context.Context, given *quotient.Partition) (*Reduced, error) {
	space := o.space
	var rewards []*sparse.Reward
	indices := slices.Sorted(maps.Keys(o.rewards))
	for _, i := range indices {
		rewards = append(rewards, o.rewards[i])
	}
	partition := given
	if partition == nil {
		var err error
		partition, err = quotient.Refine(ctx, space.Model(), o.block, rewards)
		if err != nil {
			return nil, err
		}
	}
	err := partition.Check(ctx, space.Model(), o.block, rewards)
	if mistake, ok := errors.AsType[*quotient.MistakeError](err); ok {
		stateText := func(s int) string { return space.Compiled().StateText(space.State(nil, s)) }
		return nil, fmt.Errorf("states %s and %s are in one block, and %s", stateText(mistake.States[0]), stateText(mistake.States[1]), mistake.Why)
	}
	if err != nil {
		return nil, err
	}
	quotientModel, keptChoices, err := partition.Model(space.Model(), rewards)
	if err != nil {
		return nil, err
	}
	quotientRewards := map[int]*sparse.Reward{}
	for position, i := range indices {
		quotientRewards[i] = partition.Reward(rewards[position], keptChoices)
	}
	return &Reduced{space.Quotient(partition.First, quotientModel, quotientRewards), partition}, nil
}

// quotientBuilder collects the sets of states and the reward structures of properties.
type quotientBuilder struct {
	*Checker
	space   *explicit.Space
	block   []uint32               // the block of each state in the partition by the sets so far
	rewards map[int]*sparse.Reward // by index of the structure
}

// addProperty collects the sets and reward structures of a property.
func (o *quotientBuilder) addProperty(ctx context.Context, property *Property) error {
	e := &evaluation{model: o.bounds, request: request{ctx: ctx, property: property, exact: true}, results: results{accuracy: result.Exact}}
	return o.addFormula(e, property.X)
}

// blockwise are the filters that have the same value over the blocks as over the states.
var blockwise = []string{"min", "max", "range", "forall", "exists"}

// addFormula collects what a quotient must preserve for a formula: the sets of states and the reward structures that occur in it. It is
// an error if a quotient does not preserve the formula.
func (o *quotientBuilder) addFormula(evaluator *evaluation, expr sema.Expr) error {
	switch formula := logic.Of(expr); formula.Kind {
	case logic.Objectives, logic.Lexicographic, logic.Quantile:
		return evaluator.unsupported(expr, "found %s, which speaks about more than a reduced model has", logic.Describe(expr))
	case logic.PathFormula, logic.RewardFormula:
		if hasCosts(expr) {
			return evaluator.unsupported(expr, "found %s, which speaks about more than a reduced model has", logic.Describe(expr))
		}
	case logic.SteadyState:
		if evaluator.property.Program.Model().IsMarkovAutomaton() {
			return evaluator.unsupported(expr, "found a long-run average of a Markov automaton, whose sojourn times a reduced model does not have")
		}
	case logic.Filter:
		if !slices.Contains(blockwise, formula.Op) {
			return evaluator.unsupported(expr, "found a filter %s, which speaks about more than a reduced model has", formula.Op)
		}
	case logic.Label:
		if formula.Index >= 0 && !sema.Stateless(evaluator.property.Program.Labels[formula.Index].X) {
			return o.addFormula(evaluator, evaluator.property.Program.Labels[formula.Index].X)
		}
		return o.splitByFormula(evaluator, expr)
	case logic.Reward:
		if formula.Objective.Form == logic.LongRun && evaluator.property.Program.Model().IsMarkovAutomaton() {
			return evaluator.unsupported(expr, "found a long-run average of a Markov automaton, whose sojourn times a reduced model does not have")
		}
		if formula.Objective.Form == logic.ConditionalReward {
			return evaluator.unsupported(expr, "found %s, which speaks about more than a reduced model has", logic.Describe(formula.Objective.X))
		}
		if formula.Objective.Err != nil || formula.Objective.Ratio {
			return evaluator.unsupported(expr, "found %s, want the rewards of one structure", logic.Describe(expr))
		}
		reward, err := o.bounds.reward(formula.Objective.Struct)
		if err != nil {
			if _, negative := evaluator.signedStructure(formula.Objective.Struct); negative {
				return evaluator.unsupported(expr, "found negative rewards, which a reduced model does not have")
			}
			return err
		}
		o.rewards[formula.Objective.Struct] = reward
	}
	if sema.Stateless(expr) && expr.Type() != sema.Path {
		return o.splitByFormula(evaluator, expr)
	}
	var first error
	sema.Operands(expr, func(operand sema.Expr) {
		if first == nil {
			first = o.addFormula(evaluator, operand)
		}
	})
	return first
}

// hasCosts reports whether a formula has bounds on rewards.
func hasCosts(expr sema.Expr) bool {
	switch x := expr.(type) {
	case *sema.CostBounded:
		return true
	case *sema.RewardPath:
		return len(x.Costs) > 0
	}
	return false
}

// splitByFormula refines the partition by the truth of a Boolean expression.
func (o *quotientBuilder) splitByFormula(e *evaluation, expr sema.Expr) error {
	if _, constant := expr.(*sema.Const); constant {
		return nil
	}
	if expr.Type() != sema.Bool {
		return e.unsupported(expr, "found the number %s of a state, which a reduced model does not keep", logic.Describe(expr))
	}
	set, err := e.states(expr)
	if err != nil {
		return err
	}
	o.splitBySet(set)
	return nil
}

// splitBySet refines the partition: it separates the states in the set from the states outside.
func (o *quotientBuilder) splitBySet(set *sparse.Set) {
	type key struct {
		block uint32
		inSet bool
	}
	number := map[key]uint32{}
	for s := range o.block {
		blockKey := key{o.block[s], set.Has(s)}
		index, found := number[blockKey]
		if !found {
			index = uint32(len(number))
			number[blockKey] = index
		}
		o.block[s] = index
	}
}
