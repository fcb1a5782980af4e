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

// Reduce returns the quotient of an exact space by the coarsest strong bisimulation that preserves
// the properties. If a partition is given, it uses this partition instead. It checks the partition
// in any case. The error is a *result.Failure of class Unsupported if a quotient does not preserve
// an operator of a property, such as a filter that counts states.
func Reduce(ctx context.Context, compiled *compile.Model, space *explicit.Space, properties []*Property, given *quotient.Partition) (*Reduced, error) {
	builder, err := newQuotientBuilder(ctx, compiled, space, properties)
	if err != nil {
		return nil, err
	}
	return builder.build(ctx, given)
}

// newQuotientBuilder returns a builder for quotients that preserve the values of the properties. It is an error if the type of the model or an
// operator in a property is not supported.
func newQuotientBuilder(ctx context.Context, compiled *compile.Model, space *explicit.Space, properties []*Property) (*quotientBuilder, error) {
	program := compiled.Program()
	switch {
	case program.Type == syntax.SMG: // a block may contain states of different players
		return nil, &result.Failure{Class: result.Unsupported, File: program.File, Message: "found an SMG, want a model without players to reduce"}
	case program.Type == syntax.POMDP || space.Model().Intervals():
		return nil, &result.Failure{Class: result.Unsupported, File: program.File, Message: fmt.Sprintf("found %s, want a model without observations and intervals to reduce", noun.WithArticle(program.Type.String()))}
	}
	builder := &quotientBuilder{
		Checker: New(compiled, space, Options{}), space: space, blockOf: make([]uint32, space.Model().NumStates()), rewards: map[int]*sparse.Reward{},
	}
	for _, property := range properties {
		if err := builder.addProperty(ctx, property); err != nil {
			return nil, err
		}
	}
	return builder, nil
}

// build returns the quotient by a partition. It checks that the partition is a bisimulation. If partition is nil, it computes the coarsest
// bisimulation that preserves the builder's sets of states and rewards.
func (builder *quotientBuilder) build(ctx context.Context, partition *quotient.Partition) (*Reduced, error) {
	space := builder.space
	rewards := builder.rewardList()
	if partition == nil {
		var err error
		partition, err = quotient.Refine(ctx, space.Model(), builder.blockOf, rewards)
		if err != nil {
			return nil, err
		}
	}
	if err := builder.checkPartition(ctx, partition, rewards); err != nil {
		return nil, err
	}
	quotientModel, choicesOfQuotient, err := partition.Model(space.Model(), rewards)
	if err != nil {
		return nil, err
	}
	quotientRewards := map[int]*sparse.Reward{}
	for position, structIndex := range slices.Sorted(maps.Keys(builder.rewards)) {
		quotientRewards[structIndex] = partition.Reward(rewards[position], choicesOfQuotient)
	}
	return &Reduced{space.Quotient(partition.First, quotientModel, quotientRewards), partition}, nil
}

// rewardList returns the reward structures of the builder, in the order of their indices.
func (builder *quotientBuilder) rewardList() []*sparse.Reward {
	var rewards []*sparse.Reward
	for _, i := range slices.Sorted(maps.Keys(builder.rewards)) {
		rewards = append(rewards, builder.rewards[i])
	}
	return rewards
}

// checkPartition returns an error unless a partition is a bisimulation that preserves the rewards and the sets of states that the properties
// distinguish. The error names two states of a block that must not be in the same block.
func (builder *quotientBuilder) checkPartition(ctx context.Context, partition *quotient.Partition, rewards []*sparse.Reward) error {
	err := partition.Check(ctx, builder.space.Model(), builder.blockOf, rewards)
	mistake, isMistake := errors.AsType[*quotient.MistakeError](err)
	if !isMistake {
		return err
	}
	return builder.errorInBlock(mistake.States[0], mistake.States[1], mistake.Reason)
}

// errorInBlock returns the error that two states are wrongly in one block. why is the difference between them, as a clause.
func (builder *quotientBuilder) errorInBlock(first, second int, why string) error {
	stateText := func(s int) string { return builder.space.Compiled().StateText(builder.space.State(nil, s)) }
	return fmt.Errorf("states %s and %s are in one block, and %s", stateText(first), stateText(second), why)
}

// quotientBuilder collects what a quotient must preserve: the sets of states and the reward structures of properties.
type quotientBuilder struct {
	*Checker
	space   *explicit.Space
	blockOf []uint32               // the block of each state in the partition by the sets so far
	rewards map[int]*sparse.Reward // by index of the structure
}

// addProperty adds the sets of states and the reward structures of a property.
func (builder *quotientBuilder) addProperty(ctx context.Context, property *Property) error {
	evaluation := &evaluation{model: builder.floatModel, request: request{ctx: ctx, property: property, wantsFractions: true}, results: results{accuracy: result.Exact}}
	return builder.addFormula(evaluation, property.Expr)
}

// preservedFilters are the filters that have the same value over the blocks as over the states.
var preservedFilters = []string{"min", "max", "range", "forall", "exists"}

// addFormula makes the quotient preserve the value of a formula: it splits blocks by the state formulas in it, and adds its reward structures. It is
// an error if no quotient preserves the value.
func (builder *quotientBuilder) addFormula(evaluation *evaluation, expr sema.Expr) error {
	formula := logic.FormulaOf(expr)
	if err := checkPreserved(evaluation, formula); err != nil {
		return err
	}
	switch {
	case formula.Kind == logic.Label && formula.Index >= 0:
		definition := evaluation.property.Program.Labels[formula.Index].Expr
		if !sema.NeedsOnlyVariables(definition) {
			return builder.addFormula(evaluation, definition)
		}
		return builder.splitByFormula(evaluation, expr)
	case formula.Kind == logic.Label:
		return builder.splitByFormula(evaluation, expr)
	case formula.Kind == logic.Reward:
		if err := builder.addReward(evaluation, formula); err != nil {
			return err
		}
	}
	// A formula over variables splits the blocks. In any other formula, the operands are searched for such formulas.
	if sema.NeedsOnlyVariables(expr) && expr.Type() != sema.Path {
		return builder.splitByFormula(evaluation, expr)
	}
	var firstErr error
	sema.VisitOperands(expr, func(operand sema.Expr) {
		if firstErr == nil {
			firstErr = builder.addFormula(evaluation, operand)
		}
	})
	return firstErr
}

// checkPreserved returns an error if the outermost operator of a formula can have different values in a quotient and in the model.
func checkPreserved(evaluation *evaluation, formula *logic.Formula) error {
	isReward := formula.Kind == logic.Reward
	if isReward && (formula.Objective.Form == logic.TimedCumulative || formula.Objective.Form == logic.TimedInstantaneous) {
		return evaluation.unsupportedError(formula.Expr, "found a time bound of a Markov automaton, whose sojourn times a reduced model does not have")
	}
	isLongRun := formula.Kind == logic.SteadyState || isReward && formula.Objective.Form == logic.LongRun
	if isLongRun && evaluation.property.Program.Model().IsMarkovAutomaton() {
		return evaluation.unsupportedError(formula.Expr, "found a long-run average of a Markov automaton, whose sojourn times a reduced model does not have")
	}
	if unpreserved := unpreservedOperator(formula); unpreserved != "" {
		return evaluation.unsupportedError(formula.Expr, "found %s, which speaks about more than a reduced model has", unpreserved)
	}
	return nil
}

// unpreservedOperator returns a description of the outermost operator of a formula, for an error message, if quotients do not preserve its
// value. It returns "" for all other operators.
func unpreservedOperator(formula *logic.Formula) string {
	switch kind := formula.Kind; {
	case kind == logic.Objectives, kind == logic.Lexicographic, kind == logic.Quantile:
		return logic.Describe(formula.Expr)
	case (kind == logic.PathFormula || kind == logic.RewardFormula) && hasCosts(formula.Expr):
		return logic.Describe(formula.Expr)
	case kind == logic.Filter && !slices.Contains(preservedFilters, formula.Op):
		return "a filter " + formula.Op
	case kind == logic.Reward && formula.Objective.Form == logic.ConditionalReward:
		return logic.Describe(formula.Objective.Expr)
	}
	return ""
}

// addReward makes the quotient preserve the reward structure of an R operator. A ratio of rewards and negative rewards are errors.
func (builder *quotientBuilder) addReward(evaluation *evaluation, formula *logic.Formula) error {
	objective := formula.Objective
	if objective.Err != nil || objective.IsRatio {
		return evaluation.unsupportedError(formula.Expr, "found %s, want the rewards of one structure", logic.Describe(formula.Expr))
	}
	reward, err := builder.floatModel.reward(objective.Struct)
	if err == nil {
		builder.rewards[objective.Struct] = reward
		return nil
	}
	if _, hasNegative := evaluation.signedStructure(objective.Struct); hasNegative {
		return evaluation.unsupportedError(formula.Expr, "found negative rewards, which a reduced model does not have")
	}
	return err
}

// hasCosts reports whether a path formula or a reward objective has bounds on rewards, such as F{"time"}<=5 goal.
func hasCosts(expr sema.Expr) bool {
	switch typed := expr.(type) {
	case *sema.CostBounded:
		return true
	case *sema.RewardPath:
		return len(typed.Costs) > 0
	}
	return false
}

// splitByFormula splits each block into the states that satisfy a Boolean expression and the states that do not. A numeric expression is an
// error.
func (builder *quotientBuilder) splitByFormula(evaluation *evaluation, expr sema.Expr) error {
	if _, isConstant := expr.(*sema.Const); isConstant {
		return nil
	}
	if expr.Type() != sema.Bool {
		return evaluation.unsupportedError(expr, "found the number %s of a state, which a reduced model does not keep", logic.Describe(expr))
	}
	set, err := evaluation.decidedStates(expr)
	if err != nil {
		return err
	}
	builder.splitBySet(set)
	return nil
}

// splitBySet splits each block into its states in set and its states outside set.
func (builder *quotientBuilder) splitBySet(set *sparse.Set) {
	type newBlock struct {
		oldBlock uint32
		isInSet  bool
	}
	numbers := map[newBlock]uint32{}
	for s, oldBlock := range builder.blockOf {
		builder.blockOf[s], _ = addKey(numbers, newBlock{oldBlock, set.Has(s)})
	}
}
