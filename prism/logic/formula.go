package logic

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// Property is a property to check, with values for its constants. Program is the model with the labels of the
// properties file appended. File is the name of the properties file, for messages.
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
	Lexicographic             // multilex(...): the optimum of each objective among the schedulers that are optimal for those before it
	Quantile                  // quantile(...)
	PathFormula               // a temporal operator or a combination of path formulas
	RewardFormula             // the reward objective C, I=k or S
)

// Formula is one operator of a property. Fields that the kind does not have are zero.
type Formula struct {
	Kind Kind
	// Expr is the expression itself.
	Expr sema.Expr
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
	// IsForAll says that the operator is A, and not E.
	IsForAll bool
	// ForSomeScheduler says that a bound inside the strategy operator must hold for some scheduler, not for all.
	ForSomeScheduler bool
	// NamesSomePlayers says that the strategy operator names some of the players, not all or none.
	NamesSomePlayers bool
	// IsBox says that the strategy operator is [[...]]. NamesAllPlayers says that it names all players (*), and Players are the indices of
	// the players of a game that it names.
	IsBox, NamesAllPlayers bool
	Players                []int
	// Objectives are the operands of multi(...) and multilex(...).
	Objectives []sema.Expr
	// Index is the index of a label in the labels of the program; negative for a built-in label.
	Index int
}

// IsMaximalReachability reports whether the formula is Pmax=? of F or U without a bound.
func (formula *Formula) IsMaximalReachability() bool {
	return formula.Kind == Probability && formula.IsQuery() && formula.Extremum == syntax.Max && formula.Path.Reaches()
}

// FormulaOf returns the kind of an expression's outermost operator, and its operands.
func FormulaOf(expr sema.Expr) *Formula {
	formula := &Formula{Kind: Expression, Expr: expr}
	switch expr := expr.(type) {
	case *sema.Label:
		formula.Kind, formula.Index = Label, expr.Index
	case *sema.Prob:
		formula.Kind, formula.Threshold, formula.Path = Probability, expr.Threshold, PathOf(expr.Path)
	case *sema.Reward:
		formula.Kind, formula.Threshold, formula.Objective = Reward, expr.Threshold, objectiveOf(expr)
	case *sema.Steady:
		formula.Kind, formula.Threshold, formula.Operand = SteadyState, expr.Threshold, expr.X
	case *sema.Quant:
		formula.Kind, formula.IsForAll, formula.Path = Quantified, expr.All, PathOf(expr.Path)
	case *sema.Strategy:
		formula.Kind, formula.Operand = Strategy, expr.X
		formula.ForSomeScheduler, formula.NamesSomePlayers = expr.All != expr.IsBox, !expr.All && len(expr.Coalition) > 0
		formula.IsBox, formula.NamesAllPlayers, formula.Players = expr.IsBox, expr.All, expr.Players
	case *sema.Filter:
		formula.Kind, formula.Op, formula.Operand, formula.States = Filter, expr.Op, expr.X, expr.States
	case *sema.Multi:
		formula.Kind, formula.Objectives = Objectives, expr.Args
		if expr.IsLexicographic {
			formula.Kind = Lexicographic
		}
	case *sema.Quantile:
		formula.Kind = Quantile
	case *sema.RewardPath:
		formula.Kind = RewardFormula
	default:
		if expr.Type() == sema.Path {
			formula.Kind = PathFormula
		}
	}
	return formula
}

// Measure reports whether the formula is a P, R or S operator, which have a threshold.
func (f *Formula) Measure() bool {
	return f.Kind == Probability || f.Kind == Reward || f.Kind == SteadyState
}

// Letter returns the letter of P, R or S.
func (f *Formula) Letter() string {
	return map[Kind]string{Probability: "P", Reward: "R", SteadyState: "S"}[f.Kind]
}

// Prints reports whether the formula is a filter that only prints or stores the value of its operand.
func (f *Formula) Prints() bool {
	return f.Kind == Filter && (f.Op == "print" || f.Op == "printall" || f.Op == "store")
}

// Pareto reports whether the formula is multi(...) with several queries, whose answer is a Pareto curve.
func (f *Formula) Pareto() bool { return f.Kind == Objectives && f.Expr.Type() == sema.Void }

// LongRun reports whether the value of the formula is a long-run average.
func (f *Formula) LongRun() bool {
	return f.Kind == SteadyState || f.Kind == Reward && f.Objective.Form == LongRun
}

// WithoutFilters returns the formula inside all enclosing filters.
func WithoutFilters(expr sema.Expr) *Formula {
	formula := FormulaOf(expr)
	for formula.Kind == Filter {
		formula = FormulaOf(formula.Operand)
	}
	return formula
}

// Nested returns the first property operator, such as P, inside a state formula. It also searches the definitions of labels. It returns nil if
// there is none.
func Nested(expr sema.Expr, labels []sema.LabelDef) sema.Expr {
	var operator sema.Expr
	sema.Inspect(expr, func(operand sema.Expr) bool {
		if operator != nil {
			return false
		}
		switch FormulaOf(operand).Kind {
		case Expression:
		case Label:
			if index := operand.(*sema.Label).Index; index >= 0 && index < len(labels) {
				operator = Nested(labels[index].Expr, labels)
			}
		default:
			operator = operand
		}
		return operator == nil
	})
	return operator
}

// IsState reports whether an operand of a temporal operator is a state formula, or nil.
func IsState(expr sema.Expr) bool { return expr == nil || expr.Type() == sema.Bool }

// Describe returns a description of an expression for a message such as "found %s".
func Describe(expr sema.Expr) string {
	switch formula := FormulaOf(expr); formula.Kind {
	case Probability:
		return "a P operator"
	case Reward:
		return "an R operator"
	case SteadyState:
		return "an S operator"
	case Quantified:
		if formula.IsForAll {
			return "an A operator"
		}
		return "an E operator"
	case Strategy:
		return "a strategy operator (<<>> or [[]])"
	case Filter:
		return "a filter"
	case Objectives:
		return "multi(...)"
	case Lexicographic:
		return "multilex(...)"
	case Quantile:
		return "quantile(...)"
	}
	switch expr := expr.(type) {
	case *sema.Temporal:
		return "the temporal operator " + expr.Op.String()
	case *sema.CostBounded:
		return "a formula with " + describeCosts(expr.Costs)
	case *sema.Conditional:
		return "a formula with a condition (||)"
	case *sema.RewardPath:
		if expr.Discount != nil {
			return "the reward objective C with a discount factor"
		}
		if len(expr.Costs) > 0 {
			return "the reward objective C with " + describeCosts(expr.Costs)
		}
		return "the reward objective " + [...]string{syntax.Cumulative: "C", syntax.Instantaneous: "I", syntax.LongRun: "S", syntax.UntilReached: "Fc", syntax.ZeroUnlessReached: "F0"}[expr.Kind]
	}
	if expr.Type() == sema.Path {
		return "a combination of path formulas"
	}
	return "an expression of type " + expr.Type().String()
}

// describeCosts describes a list of bounds for an error message: "a time bound" if all of them bound time, and "reward bounds" otherwise.
func describeCosts(costs []sema.Cost) string {
	onlyTime := true
	for _, cost := range costs {
		onlyTime = onlyTime && cost.IsTime
	}
	if onlyTime {
		return "a time bound"
	}
	return "reward bounds"
}
