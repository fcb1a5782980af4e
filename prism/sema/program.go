package sema

import (
	"math/big"

	"tilecheck/prism/syntax"
)

// Type is the type of an expression.
type Type uint8

// The types. Int casts to Double and nothing else casts. Path is the type of a
// path formula, which only P, R, E and A accept; Interval is the value of a
// range over several states, Void the Pareto curve of a multi-objective property, or its optima in the order of their importance.
const (
	Invalid Type = iota
	Bool
	Int
	Double
	Clock
	Path
	Interval
	Void
)

// String returns the name PRISM uses.
func (t Type) String() string {
	return [...]string{"invalid", "bool", "int", "double", "clock", "path formula", "interval", "void"}[t]
}

// Value is a value of a constant or expression. Type says which field holds it: Bool, Int (of 32
// bits, as PRISM's int) or Float. Rat is the exact value of a number that was computed by exact
// operations only (0.1 is 1/10), and nil otherwise, for example after log or for infinities. Float is
// PRISM's double for the number; if that suffers from cancellation or overflow, it is the float64
// next to Rat.
type Value struct {
	Type      Type
	Bool      bool
	Int       int32
	Float     float64 // also set for an Int
	Rat       *big.Rat
	enclosure *enclosure // bounds of a Double without Rat; nil if Float is exact
}

// Expr is a resolved expression or formula: names are resolved, constants are folded, and every
// sub-expression has a type. Expressions are immutable and may be shared.
type Expr interface {
	Type() Type
	Pos() syntax.Pos
}

// Base is the type and the position of an expression.
type Base struct {
	ValueType Type
	Position  syntax.Pos
}

// Type returns the type of the expression.
func (b Base) Type() Type { return b.ValueType }

// Pos returns the position at which the expression starts in its source. For an expanded formula it
// is the position of the formula's body.
func (b Base) Pos() syntax.Pos { return b.Position }

type (
	// Const is a literal or a constant's value.
	Const struct {
		Base
		Val Value
	}
	// Param is a constant without a value, see [Model.InstantiateOpen].
	Param struct {
		Base
		Name string
	}
	// Var is the current value of Program.Vars[Slot].
	Var struct {
		Base
		Slot int
	}
	// Unary is a prefix operator: OpNot or OpNeg.
	Unary struct {
		Base
		Op syntax.Op
		X  Expr
	}
	// Binary is an infix operator. An Int operand of a Double operation is
	// converted first; OpPow on two Ints is integer power with its errors;
	// OpDiv is always a Double division; OpAnd, OpOr and OpImplies short-circuit
	// from left to right; OpEq and OpNe compare doubles as PRISM's explicit
	// engine does (reference, section 1.5: NaN equals NaN, 0.0 differs from -0.0).
	Binary struct {
		Base
		Op   syntax.Op
		X, Y Expr
	}
	// Cond is `C ? A : B`; only the chosen branch is evaluated.
	Cond struct {
		Base
		Condition, Then, Else Expr
	}
	// Call is a built-in function. Min and Max have at least one argument.
	Call struct {
		Base
		Func Func
		Args []Expr
		// Array describes the array whose index is outside if the call is evaluated; see syntax.Call.
		Array string
	}
)

// Func is a built-in function of state expressions.
type Func uint8

// The built-in functions. PRISM's semantics of each: reference, section 1.5.
const (
	FuncMin Func = iota
	FuncMax
	FuncFloor
	FuncCeil
	FuncRound
	FuncPow
	FuncMod
	FuncLog
)

// String returns the function's name.
func (f Func) String() string {
	return [...]string{"min", "max", "floor", "ceil", "round", "pow", "mod", "log"}[f]
}

// Property operators. They occur only in properties; all are Exprs.
type (
	// Label is `"name"`: Program.Labels[Index], or one of the two built-in
	// labels when Index is LabelInit or LabelDeadlock.
	Label struct {
		Base
		Name  string
		Index int
	}
	// Temporal is a path formula; its operands are state formulas or, in LTL,
	// path formulas. X is nil for the unary operators.
	Temporal struct {
		Base
		Op    syntax.TemporalOp
		X, Y  Expr
		Bound *Bound
	}
	// CostBounded is F (X is nil) or U with bounds on the rewards that the path has collected
	// when Y holds. Its operands are state formulas.
	CostBounded struct {
		Base
		X, Y  Expr
		Costs []Cost
	}
	// Prob is the P operator.
	Prob struct {
		Base
		Threshold
		Path Expr
	}
	// Steady is the S operator.
	Steady struct {
		Base
		Threshold
		X Expr
	}
	// Reward is the R operator over Program.Rewards[Struct]. Path is a
	// *RewardPath or a path formula. Struct is -1 if the number of the structure is wrong, which
	// PRISM reports only when it checks the property; StructErr is that error.
	Reward struct {
		Base
		Threshold
		Struct        int
		DivisorStruct int // -1 unless a ratio R{"a"}/{"b"}
		StructErr     error
		Path          Expr
		// index and divisorIndex are the expressions for the structures' numbers, before Instantiate.
		index, divisorIndex Expr
	}
	// RewardPath is the objective C, C<=t, I=t or S. Costs are upper bounds on rewards, which C can have instead of Bound.
	RewardPath struct {
		Base
		Kind  syntax.RewardPathKind
		Bound Expr // nil for total C and for S
		// IsTime says that Bound is a time of a Markov automaton.
		IsTime bool
		// Target is the target of Fc and F0; nil for others.
		Target Expr
		Costs  []Cost
		// Discount is the discount factor of C; nil for none.
		Discount Expr
	}
	// Conditional is X || Condition in P or R: the value of X, a path formula or a *RewardPath, over the paths
	// that satisfy the path formula Condition.
	Conditional struct {
		Base
		X, Condition Expr
	}
	// Quant is E or A.
	Quant struct {
		Base
		All  bool
		Path Expr
	}
	// Strategy is <<coalition>> or [[coalition]]. Players are the indices of the coalition in
	// Program.Players if the model is a game.
	Strategy struct {
		Base
		IsBox, All bool
		Coalition  []string
		Players    []int
		X          Expr
	}
	// Filter is filter(op, X, States); States is nil when omitted. Op is the full
	// name: sum, forall and exists for + & and |. An old-style P=?[…{states}] is
	// one too.
	Filter struct {
		Base
		Op     string
		X      Expr
		States Expr
	}
	// Multi is multi(args…).
	Multi struct {
		Base
		// IsLexicographic says that it is multilex(args…).
		IsLexicographic bool
		Args            []Expr
	}
	// Quantile is quantile(bounds…, X): the extremal bounds with which X, a P operator with a threshold, holds.
	Quantile struct {
		Base
		Bounds []*QuantileBound
		X      Expr
	}
	// QuantileBound is a reward bound that a Quantile asks for. Extremum is what its text says, which does not decide.
	QuantileBound struct {
		Base
		Name     string
		Extremum syntax.Extremum
	}
)

// Indices of the built-in labels.
const (
	LabelInit     = -1
	LabelDeadlock = -2
)

// Threshold says whether an operator asks for its value (Rel is OpNone) or compares it with Bound,
// a constant expression.
type Threshold struct {
	Extremum syntax.Extremum
	Rel      syntax.Op
	Bound    Expr // nil for a query
}

// IsQuery reports whether the operator asks for its value (=?).
func (t Threshold) IsQuery() bool { return t.Rel == syntax.OpNone }

// IsMinimum reports whether an operator in a nondeterministic model needs the schedulers that minimise
// its value. For a query that is the min or max of the operator; ok is false without one. A bound
// must hold for all schedulers, or, if existential is set, for some scheduler.
func (t Threshold) IsMinimum(existential bool) (least, ok bool) {
	if t.IsQuery() {
		return t.Extremum == syntax.Min, t.Extremum == syntax.Min || t.Extremum == syntax.Max
	}
	return (t.Rel == syntax.OpGt || t.Rel == syntax.OpGe) != existential, true
}

// Cost is a bound on the reward that a path has collected in structure Struct, or on its number of
// steps if Struct is negative. Time says that the bound is on the time of a Markov automaton.
type Cost struct {
	Struct int
	IsTime bool
	Bound  *Bound
}

// Bound is a time or step bound with constant expressions; a nil side is open.
type Bound struct {
	Low, High                 Expr
	IsLowStrict, IsHighStrict bool
	Pos                       syntax.Pos
}

// Program is a model with every constant known and every name resolved. It is
// immutable and safe for concurrent use.
type Program struct {
	File string
	Type syntax.ModelType // never TypeNone
	// Consts are the model's constants in file order, with values.
	Consts []NamedValue
	// Vars are the variables: globals in file order, then the locals of each
	// module in module order. A variable's index is its slot in the valuation of a state.
	Vars    []Variable
	Modules []Module
	// Actions are the action names in order of first appearance in the modules'
	// commands (module order, then command order), followed by actions that only the
	// renamings of a system block introduce.
	Actions []string
	// Rate is the exit rate of a state of a Markov automaton, 0 for an immediate state or a deadlock; nil for other models, and if the
	// states were read from a file.
	Rate    Expr
	Labels  []LabelDef // file order; labels of a properties file are appended by Properties.Instantiate
	Rewards []RewardStruct
	// Init is nil when there is one initial state, given by the variables'
	// initial values; otherwise every valuation that satisfies it is initial.
	Init Expr
	// System is nil for the parallel composition of all modules on all common actions.
	System      System
	Observables []Observable
	// Players are the players of a stochastic game, in file order; nil for other models.
	Players  []Player
	Warnings []error
	// Differs says that a warning reports an expression that PRISM's float64 arithmetic
	// evaluates to another value.
	Differs bool
	// Parameters are the constants without a value, in file order, see [Model.InstantiateOpen].
	Parameters []*Param
	// HasParameters says that an expression mentions a parameter.
	HasParameters bool

	model     *Model
	constants map[*constant]Expr // values, see folder
}

// NamedValue is a constant and its value.
type NamedValue struct {
	Name string
	Val  Value
}

// Variable is one slot of the state vector. A Bool is stored as 0 or 1.
// Low and High are the declared range, inclusive (0 and 1 for a Bool); for an
// unbounded int, Bounded is false and the range is that of 32 bits, for a Clock
// its part from 0 up.
type Variable struct {
	Name      string
	Type      Type // Bool, Int or Clock
	IsBounded bool
	Low, High int32
	Init      int32
	// LowExpr, HighExpr and InitExpr replace the numbers if the range or the initial value depends on a parameter: see
	// [Model.InstantiateSymbolic]. They are nil in all other programs.
	LowExpr, HighExpr, InitExpr Expr
	Module                      int // index into Program.Modules; -1 for a global
	Pos                         syntax.Pos
}

// Module is a module after renaming.
type Module struct {
	Name      string
	Base      string // the module it renames; empty for a plain one
	Vars      []int  // slots of its local variables
	Alphabet  []int  // indices into Program.Actions it mentions, in order of first appearance
	Commands  []Command
	Invariant Expr // nil when absent
	Pos       syntax.Pos
}

// Unlabelled is the action index of a command without an action.
const Unlabelled = -1

// Command is one guarded command.
type Command struct {
	Action  int // index into Program.Actions, or Unlabelled
	Guard   Expr
	Updates []Update
	Pos     syntax.Pos
}

// Update is one probabilistic alternative. Prob is a probability, or a rate in
// a CTMC; 1 when it was omitted. ProbHigh is not nil for an interval.
type Update struct {
	Prob     Expr
	ProbHigh Expr
	Assigns  []Assign
	Pos      syntax.Pos
}

// Assign sets a slot; every Value reads the state before the transition.
// An Int is never assigned to a Bool or the other way round.
type Assign struct {
	Slot  int
	Value Expr
	Pos   syntax.Pos
}

// LabelDef is a named set of states.
type LabelDef struct {
	Name string
	Expr Expr
}

// RewardStruct is a reward structure; Name is empty when it has none.
type RewardStruct struct {
	Name  string
	Items []RewardItem
	Pos   syntax.Pos
}

// UnknownAction is the action index of a reward item whose action no command has;
// such an item never applies. PRISM 4.10 refuses it, and so does CheckModel.
const UnknownAction = -2

// RewardItem earns Value in every state that satisfies Guard (per step, or per
// unit of time in a CTMC), or, when Transition is set, on every transition
// from there whose action is Action.
type RewardItem struct {
	IsTransition bool
	Action       int // index into Program.Actions, Unlabelled or UnknownAction
	Guard        Expr
	Value        Expr
	Pos          syntax.Pos
}

// Observable is an expression a partially observable model reveals.
type Observable struct {
	Name string
	X    Expr
}

// System is a resolved process-algebra term; references are expanded.
type System interface{ isSystem() }

type (
	// SysModule is Program.Modules[Index].
	SysModule struct{ Index int }
	// SysParallel synchronises its operands on Actions, or, if Alphabetised is set,
	// on all the actions that at least two of them have in common.
	SysParallel struct {
		Operands       []System
		IsAlphabetised bool
		Actions        []int
	}
	// SysHide turns Actions into unlabelled ones.
	SysHide struct {
		X       System
		Actions []int
	}
	// SysRename renames action From[i] to To[i], all at once.
	SysRename struct {
		X        System
		From, To []int
	}
)

func (SysModule) isSystem()    {}
func (*SysParallel) isSystem() {}
func (*SysHide) isSystem()     {}
func (*SysRename) isSystem()   {}

// Property is one property with every constant known.
type Property struct {
	Name string // empty when unnamed
	Text string // as PRISM echoes it, without the name
	Expr Expr
	Pos  syntax.Pos
}
