//go:build !js

package simulate

import (
	"math"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Stepwise is an objective whose paths are drawn step by step in Go, because no Monitor expresses it.
type Stepwise struct {
	kind stepwiseKind

	// Of a conditional probability: both formulas. A sample is a path that satisfies the condition. Of a conditional reward, formula has the monitor
	// of the reward.
	formula, condition negatable
	// Of a discounted reward: the factor, and the number of steps, or -1 for all.
	discountFactor float64
	maxSteps       int64
	rewardIndex    int // the index of the structure, also of a reward that is earned while bounds hold
	// Of an until formula with bounds on rewards, or of the reward that is earned while the bounds hold: then earnsReward is set, and left and right are
	// true and false.
	earnsReward bool
	left, right sema.Expr
	budgets     []budget
}

// stepwiseKind is the kind of a stepwise objective.
type stepwiseKind uint8

const (
	conditional stepwiseKind = iota
	discounted
	rewardBounded
)

// negatable is a path formula: that of a monitor, or its negation.
type negatable struct {
	compile.Monitor
	isNegated bool
}

// holds returns the truth value of the formula for an outcome of the monitor.
func (n *negatable) holds(outcome *compile.Outcome) bool {
	return (outcome.Status == compile.True) != n.isNegated
}

// budget bounds the sum of the rewards of a path, in units of unitsPerOne. reward is the index of a structure; -1 counts steps.
type budget struct {
	rewardIndex int
	low, high   int64 // the least and the greatest sum that satisfies the bound
}

// unitsPerOne is the number of units in a reward of 1. Sums of rewards are exact if every reward has at most nine decimal places.
const unitsPerOne = 1_000_000_000

// noHigh is the upper end of a bound that has none.
const noHigh = math.MaxInt64

// maxUnitSum is a sum that is never exceeded: greater ones count as this one.
const maxUnitSum = 1 << 62

// setConditional sets the formula and the condition of a conditional probability. The choices of an MDP are made at random.
func (builder *objectiveBuilder) setConditional(objective *Objective, path *logic.Path) {
	if !builder.hasSampledConditions(path.Expr) {
		return
	}
	objective.Stepwise = &Stepwise{kind: conditional, formula: builder.translateNegatable(path.Left), condition: builder.translateNegatable(path.Right)}
}

// setConditionalReward sets the objective of an expected reward under a condition: a monitor of the reward and a monitor of the condition, both of which are
// evaluated on the same path.
func (builder *objectiveBuilder) setConditionalReward(target *Objective, objective *logic.Objective) {
	if !builder.hasSampledConditions(objective.Expr) {
		return
	}
	var reward Objective
	builder.setRewardMonitor(&reward, objective.Unconditional)
	if reward.Stepwise != nil {
		builder.recordUnsupported(objective.Expr, "found %s with a condition (||), simulation wants F, C<=t or I=t", logic.Describe(objective.Unconditional.Expr))
		return
	}
	target.Stepwise = &Stepwise{kind: conditional, formula: negatable{Monitor: reward.Monitor}, condition: builder.translateNegatable(objective.Condition)}
}

// hasSampledConditions reports whether conditions are sampled in models of this kind. Otherwise it records an error.
func (builder *objectiveBuilder) hasSampledConditions(expr sema.Expr) bool {
	if kind := builder.property.Program.Type; kind == syntax.CTMC || builder.property.Program.IsDTMCOrMDP() {
		return true
	}
	builder.recordUnsupported(expr, "found %s, want a DTMC, a CTMC or an MDP, or method states", logic.Describe(expr))
	return false
}

// translateNegatable translates the formula or the condition of a conditional probability. The result is a monitor, and whether the result of the monitor
// must be negated.
func (builder *objectiveBuilder) translateNegatable(expr sema.Expr) negatable {
	path := logic.PathOf(expr)
	if path.Form == logic.Conditional || path.Form == logic.CostBounded {
		builder.recordUnsupported(expr, "found %s in a conditional probability, simulation wants path formulas with one temporal operator over states", logic.Describe(expr))
		return negatable{}
	}
	var objective Objective
	builder.setPathMonitor(&objective, path)
	return negatable{objective.Monitor, objective.Negate}
}

// setDiscounted sets the objective of a discounted reward: the discount factor, and the number of steps that earn rewards, or -1 for all steps.
func (builder *objectiveBuilder) setDiscounted(target *Objective, objective *logic.Objective) {
	if !builder.property.Program.IsDTMCOrMDP() {
		builder.recordUnsupported(objective.Expr, "found %s, want a DTMC or an MDP", logic.Describe(objective.Expr))
		return
	}
	stepwise := &Stepwise{kind: discounted, discountFactor: builder.evaluateNumber(objective.Discount), maxSteps: -1, rewardIndex: objective.Struct}
	if !(stepwise.discountFactor > 0 && stepwise.discountFactor < 1) {
		builder.recordFailure(result.TypeError, objective.Discount.Pos(), "discount factor %v, want a number above 0 and below 1", stepwise.discountFactor)
	}
	if objective.At != nil {
		steps := builder.evaluateTime(objective.At, objective.Letter())
		if steps < 0 {
			builder.recordFailure(result.TypeError, objective.At.Pos(), "time bound %v of the %s operator, want a finite number of at least 0", steps, objective.Letter())
		}
		stepwise.maxSteps = int64(steps)
	}
	target.Stepwise = stepwise
}

// setRewardBounded sets the objective of F or U with bounds on rewards.
func (builder *objectiveBuilder) setRewardBounded(objective *Objective, path *logic.Path) {
	if !builder.property.Program.IsDTMCOrMDP() {
		builder.recordUnsupported(path.Expr, "found %s, want a DTMC or an MDP", logic.Describe(path.Expr))
		return
	}
	stepwise := &Stepwise{kind: rewardBounded, left: trueConstant()}
	if path.Left != nil {
		stepwise.left = builder.stateFormula(path.Left)
	}
	stepwise.right = builder.stateFormula(path.Right)
	builder.setBudgets(stepwise, path.Costs)
	objective.Stepwise = stepwise
}

// setRewardWithinBounds sets the objective of a reward that a path earns only as long as upper bounds on other rewards hold. The objective is an until
// formula that never becomes true, so that only the bounds end the path.
func (builder *objectiveBuilder) setRewardWithinBounds(target *Objective, objective *logic.Objective) {
	if !builder.property.Program.IsDTMCOrMDP() {
		builder.recordUnsupported(objective.Expr, "found %s, want a DTMC or an MDP", logic.Describe(objective.Expr))
		return
	}
	stepwise := &Stepwise{kind: rewardBounded, earnsReward: true, rewardIndex: objective.Struct, left: trueConstant(), right: logic.Not(trueConstant())}
	builder.setBudgets(stepwise, objective.Costs) // these costs have upper bounds only
	target.Stepwise = stepwise
}

// setBudgets sets the budgets of an objective: one for each bound of the formula on a reward or on the number of steps.
func (builder *objectiveBuilder) setBudgets(stepwise *Stepwise, costs []sema.Cost) {
	for _, cost := range costs {
		stepwise.budgets = append(stepwise.budgets, builder.newBudget(cost))
	}
}

// newBudget converts a bound on a reward, or on the number of steps, to whole units of 10^-9, which a simulation adds without rounding errors. The budget has
// the least and the greatest number of units that satisfy the bound.
func (builder *objectiveBuilder) newBudget(cost sema.Cost) budget {
	converted := budget{rewardIndex: max(cost.Struct, -1), high: noHigh}
	if cost.Bound.Low != nil {
		converted.low = builder.leastUnits(cost.Bound)
	}
	if cost.Bound.High != nil {
		converted.high = builder.greatestUnits(cost.Bound)
	}
	return converted
}

// leastUnits returns the least number of units that satisfies the lower end of a bound.
func (builder *objectiveBuilder) leastUnits(bound *sema.Bound) int64 {
	units, isWhole := builder.boundInUnits(bound.Low)
	if bound.IsLowStrict || !isWhole {
		units++
	}
	return units
}

// greatestUnits returns the greatest number of units that satisfies the upper end of a bound. It records a failure if even 0 does not satisfy it.
func (builder *objectiveBuilder) greatestUnits(bound *sema.Bound) int64 {
	units, isWhole := builder.boundInUnits(bound.High)
	if bound.IsHighStrict && isWhole {
		units--
	}
	if units < 0 {
		builder.recordFailure(result.TypeError, bound.High.Pos(), "upper bound of a cost excludes all costs, which are at least 0")
	}
	return units
}

// boundInUnits evaluates a bound in units of 10^-9, rounded down. isWhole reports whether the bound was a whole number of units.
func (builder *objectiveBuilder) boundInUnits(expr sema.Expr) (floor int64, isWhole bool) {
	value, isExact, err := sema.EvalExact(expr, nil)
	switch {
	case err != nil:
		builder.recordEvaluationError(err, expr.Pos())
		return 0, false
	case !isExact:
		builder.recordUnsupported(expr, "found a reward bound that is not a fraction")
		return 0, false
	}
	fraction := value.Rat
	if fraction == nil {
		fraction = new(big.Rat).SetInt64(int64(value.Int))
	}
	units := new(big.Rat).Mul(fraction, new(big.Rat).SetInt64(unitsPerOne))
	quotient := new(big.Int).Quo(units.Num(), units.Denom())
	if fraction.Sign() < 0 || !quotient.IsInt64() || quotient.Int64() >= maxUnitSum {
		builder.recordUnsupported(expr, "found the reward bound %s, want one from 0 to 4000000000", fraction.RatString())
		return 0, false
	}
	return quotient.Int64(), units.IsInt()
}

// needsRewards reports whether the objective depends on the rewards of a path.
func (objective *Stepwise) needsRewards() bool {
	switch objective.kind {
	case conditional:
		return objective.formula.Kind != compile.Until && objective.formula.Kind != compile.Next
	case rewardBounded:
		boundsReward := func(bound budget) bool { return bound.rewardIndex >= 0 } // a negative index stands for steps
		return objective.earnsReward || slices.ContainsFunc(objective.budgets, boundsReward)
	}
	return true
}
