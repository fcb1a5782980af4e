package logic

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// RewardForm is the form of the objective of R.
type RewardForm uint8

// The forms of reward objectives.
const (
	ReachReward        RewardForm = iota // F: the reward until a state of the target is reached
	BoundedReachReward                   // F with a bound, which PRISM ignores
	Cumulative                           // C<=k: the reward of the first steps, or until a time
	Instantaneous                        // I=k: the reward of the state after so many steps, or at a time
	TotalReward                          // C
	LongRun                              // S: the long-run average
	CostBoundedReward                    // C with upper bounds on rewards: the reward while every bound holds
	Discounted                           // C with a discount factor: the total reward, or that of the first steps
	UntilReached                         // Fc: the reward until a state of the target; the total reward of a path that reaches none
	ZeroUnlessReached                    // F0: the same, but 0 for a path that reaches none
	ConditionalReward                    // another objective over the paths that satisfy a path formula
	CoSafe                               // the reward until a path formula is satisfied whatever follows
	TimedCumulative                      // C<=t of a Markov automaton: the reward until a time
	TimedInstantaneous                   // I=t of a Markov automaton: the reward of the state at a time
)

// Objective is the objective of R.
type Objective struct {
	Form RewardForm
	// Expr is the formula in the brackets.
	Expr sema.Expr
	// Struct is the index of the reward structure. Err says why there is none.
	Struct int
	Err    error
	// IsRatio says that the rewards of two structures are divided.
	IsRatio bool
	// Target are the states until which ReachReward, BoundedReachReward, UntilReached and ZeroUnlessReached count.
	Target sema.Expr
	// At is the number of steps or the time of Cumulative and Instantaneous, also of the timed ones.
	At sema.Expr
	// Discount is the discount factor of Discounted; At is its number of steps, or nil.
	Discount sema.Expr
	// Costs are the bounds of CostBoundedReward.
	Costs []sema.Cost
	// Unconditional is the objective of ConditionalReward, and Condition its path formula.
	Unconditional *Objective
	Condition     sema.Expr
	// Path is the path formula of ReachReward, BoundedReachReward and CoSafe; otherwise nil.
	Path *Path
}

// objectiveOf returns the form of the objective of an operator R, such as F, C or I, and its operands.
func objectiveOf(expr *sema.Reward) *Objective {
	objective := &Objective{Form: CoSafe, Expr: expr.Path, Struct: expr.Struct, Err: expr.StructErr, IsRatio: expr.DivisorStruct >= 0}
	if conditional, ok := expr.Path.(*sema.Conditional); ok {
		unconditional := *expr
		unconditional.Path = conditional.X
		objective.Form, objective.Unconditional, objective.Condition = ConditionalReward, objectiveOf(&unconditional), conditional.Condition
		return objective
	}
	if rewardPath, ok := expr.Path.(*sema.RewardPath); ok {
		objective.Form = rewardForm(rewardPath)
		objective.At, objective.Costs, objective.Target, objective.Discount = rewardPath.Bound, rewardPath.Costs, rewardPath.Target, rewardPath.Discount
		return objective
	}
	path := PathOf(expr.Path)
	objective.Path = path
	if path.Form != Until || path.IsNegated || path.Op != syntax.Future {
		return objective
	}
	objective.Form, objective.Target = ReachReward, path.Right
	if path.Bound != nil {
		objective.Form = BoundedReachReward
	}
	return objective
}

// rewardForm returns the form of a reward objective that is not a path formula.
func rewardForm(path *sema.RewardPath) RewardForm {
	if path.Discount != nil {
		return Discounted
	}
	switch path.Kind {
	case syntax.UntilReached:
		return UntilReached
	case syntax.ZeroUnlessReached:
		return ZeroUnlessReached
	case syntax.LongRun:
		return LongRun
	case syntax.Instantaneous:
		if path.IsTime {
			return TimedInstantaneous
		}
		return Instantaneous
	}
	switch {
	case path.IsTime:
		return TimedCumulative
	case path.Bound != nil:
		return Cumulative
	case len(path.Costs) > 0:
		return CostBoundedReward
	}
	return TotalReward
}

// Letter returns the letter of a reward objective: C, I or S; "" if the objective is a path formula.
func (o *Objective) Letter() string {
	switch o.Form {
	case Cumulative, CostBoundedReward, TotalReward, Discounted, TimedCumulative:
		return "C"
	case Instantaneous, TimedInstantaneous:
		return "I"
	case LongRun:
		return "S"
	}
	return ""
}
