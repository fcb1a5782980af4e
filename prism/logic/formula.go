package logic

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Property is a property to check, with values of its constants. Program is the model with the labels of the properties file
// appended, and File the name of that file in messages.
type Property struct {
	sema.Property
	Program *sema.Program
	File    string
}

// Kind is the kind of a formula.
type Kind uint8

// The kinds of formulas.
const (
	Expression    Kind = iota // variables, constants, connectives and arithmetic, whose operands may have operators
	Label                     // a named set of states
	Probability               // P
	Reward                    // R
	SteadyState               // S
	Quantified                // E or A
	Strategy                  // <<...>> or [[...]]
	Filter                    // filter(...)
	Objectives                // multi(...)
	PathFormula               // a temporal operator or a combination of path formulas
	RewardFormula             // the reward objective C, I=k or S
)

// Formula is one operator of a property. Fields that the kind does not have are zero.
type Formula struct {
	Kind Kind
	// X is the expression itself.
	X sema.Expr
	// Threshold is what P, R and S ask for: the value, or its comparison with a bound.
	sema.Threshold
	// Path is the path formula of P, E and A.
	Path *Path
	// Objective is the objective of R.
	Objective *Objective
	// Operand is the formula within S, a strategy operator or a filter.
	Operand sema.Expr
	// States are the states of a filter; nil for all.
	States sema.Expr
	// Op is the name of a filter: min, max, count, and so on.
	Op string
	// ForAll says that the operator is A, and not E.
	ForAll bool
	// Some says that a bound within the strategy operator must hold for some scheduler, and not for all.
	Some bool
	// Coalition reports whether the strategy operator names some players, and not all or none.
	Coalition bool
	// Box says that the strategy operator is [[...]]. AllPlayers says that it names all players (*), and Players are the indices of
	// those that it names of a game.
	Box, AllPlayers bool
	Players         []int
	// Objectives are the operands of multi(...).
	Objectives []sema.Expr
	// Index is the index of a label among those of the program; negative for the built-in ones.
	Index int
}

// Of returns what an expression is.
func Of(x sema.Expr) *Formula {
	f := &Formula{Kind: kindOf(x), X: x}
	switch x := x.(type) {
	case *sema.Label:
		f.Index = x.Index
	case *sema.Prob:
		f.Threshold, f.Path = x.Threshold, PathOf(x.Path)
	case *sema.Reward:
		f.Threshold, f.Objective = x.Threshold, objectiveOf(x)
	case *sema.Steady:
		f.Threshold, f.Operand = x.Threshold, x.X
	case *sema.Quant:
		f.ForAll, f.Path = x.All, PathOf(x.Path)
	case *sema.Strategy:
		f.Operand, f.Some, f.Coalition = x.X, x.All != x.Box, !x.All && len(x.Coalition) > 0
		f.Box, f.AllPlayers, f.Players = x.Box, x.All, x.Players
	case *sema.Filter:
		f.Op, f.Operand, f.States = x.Op, x.X, x.States
	case *sema.Multi:
		f.Objectives = x.Args
	}
	return f
}

func kindOf(x sema.Expr) Kind {
	switch x.(type) {
	case *sema.Label:
		return Label
	case *sema.Prob:
		return Probability
	case *sema.Reward:
		return Reward
	case *sema.Steady:
		return SteadyState
	case *sema.Quant:
		return Quantified
	case *sema.Strategy:
		return Strategy
	case *sema.Filter:
		return Filter
	case *sema.Multi:
		return Objectives
	case *sema.RewardPath:
		return RewardFormula
	}
	if x.Type() == sema.Path {
		return PathFormula
	}
	return Expression
}

// Measure reports whether the formula is an operator with a threshold: P, R or S.
func (f *Formula) Measure() bool {
	return f.Kind == Probability || f.Kind == Reward || f.Kind == SteadyState
}

// Letter returns the letter of P, R or S.
func (f *Formula) Letter() string {
	return map[Kind]string{Probability: "P", Reward: "R", SteadyState: "S"}[f.Kind]
}

// Prints reports whether the formula is a filter that prints the value of its operand and does not change it.
func (f *Formula) Prints() bool {
	return f.Kind == Filter && (f.Op == "print" || f.Op == "printall" || f.Op == "store")
}

// Pareto reports whether the formula is multi(...) with several queries, whose answer is a Pareto curve.
func (f *Formula) Pareto() bool { return f.Kind == Objectives && f.X.Type() == sema.Void }

// LongRun reports whether the value of the formula is a long-run average.
func (f *Formula) LongRun() bool {
	return f.Kind == SteadyState || f.Kind == Reward && f.Objective.Form == LongRun
}

// WithoutFilters returns the formula within all filters around it.
func WithoutFilters(x sema.Expr) *Formula {
	f := Of(x)
	for f.Kind == Filter {
		f = Of(f.Operand)
	}
	return f
}

// Nested returns the first operator within a state formula; nil if there is none. It looks into the definitions of labels that
// are given.
func Nested(x sema.Expr, labels []sema.LabelDef) (found sema.Expr) {
	sema.Inspect(x, func(y sema.Expr) bool {
		switch f := kindOf(y); {
		case found != nil || f == Expression:
		case f != Label:
			found = y
		default:
			if i := y.(*sema.Label).Index; i >= 0 && i < len(labels) {
				found = Nested(labels[i].X, labels)
			}
		}
		return found == nil
	})
	return found
}

// IsState reports whether an operand of a temporal operator is a state formula, or missing.
func IsState(x sema.Expr) bool { return x == nil || x.Type() == sema.Bool }

// Describe names an expression in a message, such as "found %s".
func Describe(x sema.Expr) string {
	switch f := Of(x); f.Kind {
	case Probability:
		return "a P operator"
	case Reward:
		return "an R operator"
	case SteadyState:
		return "an S operator"
	case Quantified:
		if f.ForAll {
			return "an A operator"
		}
		return "an E operator"
	case Strategy:
		return "a strategy operator (<<>> or [[]])"
	case Filter:
		return "a filter"
	case Objectives:
		return "multi(...)"
	}
	switch x := x.(type) {
	case *sema.Temporal:
		return "the temporal operator " + x.Op.String()
	case *sema.CostBounded:
		return "a formula with reward bounds"
	case *sema.RewardPath:
		if len(x.Costs) > 0 {
			return "the reward objective C with reward bounds"
		}
		return "the reward objective " + [...]string{syntax.Cumulative: "C", syntax.Instantaneous: "I", syntax.LongRun: "S", syntax.UntilReached: "Fc", syntax.ZeroUnlessReached: "F0"}[x.Kind]
	}
	if x.Type() == sema.Path {
		return "a combination of path formulas"
	}
	return "an expression of type " + x.Type().String()
}
