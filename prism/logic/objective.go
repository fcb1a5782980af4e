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
	UntilReached                         // Fc: the reward until a state of the target; the total reward of a path that reaches none
	ZeroUnlessReached                    // F0: the same, but 0 for a path that reaches none
	CoSafe                               // the reward until a path formula is satisfied whatever follows
)

// Objective is the objective of R.
type Objective struct {
	Form RewardForm
	// X is the formula in the brackets.
	X sema.Expr
	// Struct is the index of the reward structure. Err says why there is none.
	Struct int
	Err    error
	// Ratio says that the rewards of two structures are divided.
	Ratio bool
	// Target are the states until which ReachReward, BoundedReachReward, UntilReached and ZeroUnlessReached count.
	Target sema.Expr
	// At is the number of steps or the time of Cumulative and Instantaneous.
	At sema.Expr
	// Costs are the bounds of CostBoundedReward.
	Costs []sema.Cost
	// Path is the path formula of ReachReward, BoundedReachReward and CoSafe; otherwise nil.
	Path *Path
}

func objectiveOf(x *sema.Reward) *Objective {
	o := &Objective{Form: CoSafe, X: x.Path, Struct: x.Struct, Err: x.StructErr, Ratio: x.StructDiv >= 0}
	if p, ok := x.Path.(*sema.RewardPath); ok {
		o.At, o.Costs = p.Bound, p.Costs
		o.Target = p.Target
		switch {
		case p.Kind == syntax.UntilReached:
			o.Form = UntilReached
		case p.Kind == syntax.ZeroUnlessReached:
			o.Form = ZeroUnlessReached
		case p.Kind == syntax.LongRun:
			o.Form = LongRun
		case p.Kind == syntax.Instantaneous:
			o.Form = Instantaneous
		case p.Bound != nil:
			o.Form = Cumulative
		case len(p.Costs) > 0:
			o.Form = CostBoundedReward
		default:
			o.Form = TotalReward
		}
		return o
	}
	o.Path = PathOf(x.Path)
	if p := o.Path; p.Form == Until && !p.Negated && p.Op == syntax.Future {
		if o.Form, o.Target = ReachReward, p.Right; p.Bound != nil {
			o.Form = BoundedReachReward
		}
	}
	return o
}

// Letter returns the letter of a reward objective: C, I or S; "" if the objective is a path formula.
func (o *Objective) Letter() string {
	switch o.Form {
	case Cumulative, CostBoundedReward, TotalReward:
		return "C"
	case Instantaneous:
		return "I"
	case LongRun:
		return "S"
	}
	return ""
}
