package syntax

// Node is any part of the tree. Pos is the first byte of the node and End the
// first byte after it; both are unknown in a tree that was built, not parsed.
type Node interface {
	Pos() Pos
	End() Pos
}

// Span holds the extent of a node; every node embeds one.
type Span struct{ Start, Stop Pos }

// Pos returns the position of the first byte of the node.
func (s Span) Pos() Pos { return s.Start }

// End returns the position of the first byte after the node.
func (s Span) End() Pos { return s.Stop }

// Doc is the block of // comments directly above an item: one element per
// line, without the slashes and one following blank. A blank line ends the block.
type Doc []string

// Notes holds the comments of an item that are not directly above it. Printing a parsed tree prints
// all comments of the text.
type Notes struct {
	// Detached holds the comment blocks further above. The last block has the comments between
	// the tokens of the item.
	Detached []Doc
	// Behind is the comment behind the item, on its last line; one line at most. In a
	// properties file such a comment belongs to the property on the next line.
	Behind Doc
}

// ModelType is the type of model that the type keyword names.
type ModelType uint8

// The model types of the PRISM language. Interval models have no keyword of their own; package sema
// determines the types IDTMC, IMDP and IPOMDP, because it knows whether a model has intervals.
const (
	TypeNone ModelType = iota // no keyword: LTS or MDP, see the reference, section 1.2
	DTMC
	MDP
	CTMC
	PTA
	POMDP
	POPTA
	LTS
	IDTMC
	IMDP
	IPOMDP
	SMG // a turn-based stochastic game of several players
	MA  // a Markov automaton, which package sema translates to its embedded MDP
)

// String returns the name of the model type in capitals, as PRISM prints it.
func (t ModelType) String() string {
	names := [...]string{"none", "DTMC", "MDP", "CTMC", "PTA", "POMDP", "POPTA", "LTS", "IDTMC", "IMDP", "IPOMDP", "SMG", "MA"}
	return names[t]
}

// Model is a model file: its items in source order. PRISM allows any order.
type Model struct {
	File  string
	Items []Item
	// Trailing holds the comments after the last item.
	Trailing Doc
	// Dialect is the dialect of the text. In Storm's dialect a range may have a single value.
	Dialect Dialect
	// Truncates says that a quotient of ints is truncated where an int is required, as in Storm.
	Truncates bool
	// Embedded says that the items are the embedded MDP of a Markov automaton.
	Embedded bool
	// Rate is then the exit rate of a state, 0 for an immediate state; nil if package sema computes it, or if the states were read from
	// a file that has it.
	Rate Expr
	// Unread says which files of states were not read; empty for a model that is not from files of states.
	Unread UnreadFiles
	Span
}

// UnreadFiles has a sentence about each file of states that was not read, for the error of a name that this file would declare. The sentences
// are empty for files that were read.
type UnreadFiles struct{ Variables, Labels, Rewards string }

// Item is a top-level declaration of a model file.
type Item interface {
	Node
	itemNode()
}

// TypeDecl is the model type keyword. Word is the keyword as written
// ("probabilistic" is the old name of "dtmc").
type TypeDecl struct {
	Doc  Doc
	Type ModelType
	Word string
	Notes
	Span
}

// ConstType is the declared type of a constant.
type ConstType uint8

// The constant types; an untyped const is an int.
const (
	ConstInt ConstType = iota
	ConstDouble
	ConstBool
)

// String returns the keyword.
func (t ConstType) String() string { return [...]string{"int", "double", "bool"}[t] }

// ConstDecl is `const [type] name [= value];` in a model or properties file.
// The old forms `rate x` and `prob x` parse as a double constant.
type ConstDecl struct {
	Doc     Doc
	Type    ConstType
	HasType bool // false for `const N = 1;`
	Name    *Ident
	Value   Expr // nil when left undefined
	Notes
	Span
}

// FormulaDecl is `formula name = expr;`.
type FormulaDecl struct {
	Doc  Doc
	Name *Ident
	X    Expr
	Notes
	Span
}

// LabelDecl is `label "name" = expr;` in a model or properties file.
type LabelDecl struct {
	Doc  Doc
	Name *Ident // without the quotes; its span is the identifier's
	X    Expr
	Notes
	Span
}

// GlobalDecl is `global` followed by a variable declaration.
type GlobalDecl struct {
	Doc Doc
	Var *VarDecl
	Notes
	Span
}

// VarType is the kind of a variable declaration.
type VarType uint8

// The variable types. RangeVar is `[low..high]`, IntVar an unbounded `int`.
const (
	RangeVar VarType = iota
	IntVar
	BoolVar
	ClockVar
)

// VarDecl is `name : type [init expr];`. Low and High are nil unless Type is RangeVar.
type VarDecl struct {
	Doc       Doc
	Name      *Ident
	Type      VarType
	TypePos   Pos // of the keyword, or of the bracket of a range
	Low, High Expr
	Init      Expr // nil when absent
	// Shared says that commands with actions may assign the variable although it is global, but
	// only one command in each step. PRISM's language cannot express this.
	Shared bool
	Notes
	Span
}

// Module is `module name … endmodule` with declarations strictly before commands.
type Module struct {
	Doc       Doc
	Name      *Ident
	Vars      []*VarDecl
	Invariant Expr // nil when absent
	// InvariantDoc holds the comments above and in the invariant.
	InvariantDoc Doc
	Commands     []*Command
	// Head is the comment behind the name, in the same line.
	Head Doc
	// Trailing holds the comments after the last command.
	Trailing Doc
	Notes
	Span
}

// RenamedModule is `module name = base [ old=new, … ] endmodule`.
type RenamedModule struct {
	Doc     Doc
	Name    *Ident
	Base    *Ident
	Renames []*Rename
	Notes
	Span
}

// Rename is one `old=new` pair; min and max may be renamed although they are keywords.
type Rename struct {
	Old, New *Ident
	Span
}

// Command is `[action] guard -> updates;`.
type Command struct {
	Doc    Doc
	Action *Ident // nil when unlabelled
	// Markovian says that the command is written with <>: its updates have rates, in a Markov automaton.
	Markovian bool
	Guard     Expr
	Updates   []*Update // source order, at least one
	Notes
	Span
}

// Update is one alternative of a command: `prob : assignments`.
// A nil Prob means 1. ProbHigh is not nil for an interval `[Prob,ProbHigh]`.
// No assignments means `true`.
type Update struct {
	Prob, ProbHigh Expr
	Assigns        []*Assign
	Span
}

// Assign is `(name'=value)`.
type Assign struct {
	Name  *Ident // without the prime; its span covers identifier and prime
	Value Expr
	Span
}

// Rewards is a reward structure. Name is nil when it is unnamed.
type Rewards struct {
	Doc   Doc
	Name  *Ident
	Items []*RewardItem
	// Head is the comment behind the name, in the same line.
	Head Doc
	// Trailing holds the comments after the last reward.
	Trailing Doc
	Notes
	Span
}

// RewardItem is `guard : value;` (a state reward) or `[action] guard : value;`
// (a transition reward, of unlabelled commands when Action is nil).
type RewardItem struct {
	Doc          Doc
	IsTransition bool
	Action       *Ident
	Guard        Expr
	Value        Expr
	Notes
	Span
}

// InitBlock is `init expr endinit`: every valuation that satisfies X is initial.
type InitBlock struct {
	Doc Doc
	X   Expr
	Notes
	Span
}

// Observables is `observables x, y endobservables`.
type Observables struct {
	Doc   Doc
	Names []*Ident
	Notes
	Span
}

// ObservableDecl is `observable "name" = expr;`.
type ObservableDecl struct {
	Doc  Doc
	Name *Ident
	X    Expr
	Notes
	Span
}

// System is `system ["name"] … endsystem`.
type System struct {
	Doc  Doc
	Name *Ident // nil when unnamed
	X    SysExpr
	Notes
	Span
}

// SysExpr is a process-algebra term of a system block.
type SysExpr interface {
	Node
	sysNode()
}

// SysModule is a module's name.
type SysModule struct {
	Name *Ident
	Span
}

// SysRef is a quoted reference to another named system block.
type SysRef struct {
	Name *Ident
	Span
}

// SysBrackets is a parenthesised term.
type SysBrackets struct {
	X SysExpr
	Span
}

// SysFull is `X1 || X2 || …`: synchronisation on all common actions.
type SysFull struct {
	Operands []SysExpr
	Span
}

// SysInterleaved is `X1 ||| X2 ||| …`: no synchronisation.
type SysInterleaved struct {
	Operands []SysExpr
	Span
}

// SysParallel is `X |[a,b]| Y`: synchronisation on the listed actions.
type SysParallel struct {
	X, Y    SysExpr
	Actions []*Ident
	Span
}

// SysHide is `X / {a,b}`.
type SysHide struct {
	X       SysExpr
	Actions []*Ident
	Span
}

// SysRename is `X {a<-b, …}`: Old becomes New.
type SysRename struct {
	X       SysExpr
	Renames []*Rename
	Span
}

func (*TypeDecl) itemNode()       {}
func (*ConstDecl) itemNode()      {}
func (*FormulaDecl) itemNode()    {}
func (*LabelDecl) itemNode()      {}
func (*GlobalDecl) itemNode()     {}
func (*Module) itemNode()         {}
func (*RenamedModule) itemNode()  {}
func (*Rewards) itemNode()        {}
func (*InitBlock) itemNode()      {}
func (*Observables) itemNode()    {}
func (*ObservableDecl) itemNode() {}
func (*System) itemNode()         {}

func (*SysModule) sysNode()      {}
func (*SysRef) sysNode()         {}
func (*SysBrackets) sysNode()    {}
func (*SysFull) sysNode()        {}
func (*SysInterleaved) sysNode() {}
func (*SysParallel) sysNode()    {}
func (*SysHide) sysNode()        {}
func (*SysRename) sysNode()      {}

// Expr is an expression or formula of either kind of file. One grammar serves
// both; the parser refuses property operators in model files as PRISM does.
type Expr interface {
	Node
	exprNode()
}

// Ident is a name that refers to a constant, formula or variable, or, outside
// expressions, declares something.
type Ident struct {
	Name string
	Span
}

// IntLit is an integer literal; Value fits 32 bits (PRISM's int).
type IntLit struct {
	Value int32
	Span
}

// DoubleLit is a literal of type double. It holds the text, because exact arithmetic needs the
// decimal number and not the nearest float64.
type DoubleLit struct {
	Text string
	Span
}

// BoolLit is true or false.
type BoolLit struct {
	Value bool
	Span
}

// Paren is an expression in parentheses. A parsed tree keeps them, so that it prints as written. A
// built tree needs none: the printer adds those that precedence requires.
type Paren struct {
	X Expr
	Span
}

// Op is an operator of a Unary or Binary expression.
type Op uint8

// Operators, loosest first. The reference, section 1.3, lists precedence and associativity.
const (
	OpNone    Op = iota
	OpImplies    // =>
	OpIff        // <=>
	OpOr         // |
	OpAnd        // &
	OpNot        // ! (prefix)
	OpEq         // =
	OpNe         // !=
	OpLt         // <
	OpLe         // <=
	OpGt         // >
	OpGe         // >=
	OpAdd        // +
	OpSub        // -
	OpMul        // *
	OpDiv        // /
	OpPow        // ^
	OpNeg        // - (prefix)
)

// String returns the operator as written.
func (op Op) String() string {
	return [...]string{"", "=>", "<=>", "|", "&", "!", "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "^", "-"}[op]
}

// Unary is a prefix operator: OpNot or OpNeg.
type Unary struct {
	Op Op
	X  Expr
	Span
}

// Binary is an infix operator. OpPos is the position of the operator itself.
type Binary struct {
	Op    Op
	X, Y  Expr
	OpPos Pos
	Span
}

// Cond is `C ? T : E`.
type Cond struct {
	Condition, Then, Else Expr
	Span
}

// Call is `name(args)` or the old `func(name, args)`. The name is not checked here.
type Call struct {
	Func *Ident
	Old  bool
	// IsLexicographic is set for multilex(...) in Storm's dialect.
	IsLexicographic bool
	// Bounds are the variables of quantile(B, property) in Storm's dialect, whose only argument is the property; nil for others.
	Bounds []*BoundVariable
	Args   []Expr
	// Array describes an array if the call is mod(i, 0*i) for an index i outside of the array, which JANI models have and PRISM's language
	// has not. The evaluation of the call fails, and says so.
	Array string
	Span
}

// BoundVariable is a reward bound that quantile(...) asks for. The extremum in front of its name may be missing.
type BoundVariable struct {
	Extremum Extremum
	Name     *Ident
}

// Quoted is `"name"`: a label or a reference to another property.
type Quoted struct {
	Name string
	Span
}

// Unparen returns an expression without the parentheses around it.
func Unparen(expr Expr) Expr {
	for {
		paren, ok := expr.(*Paren)
		if !ok {
			return expr
		}
		expr = paren.X
	}
}

func (*Ident) exprNode()     {}
func (*IntLit) exprNode()    {}
func (*DoubleLit) exprNode() {}
func (*BoolLit) exprNode()   {}
func (*Paren) exprNode()     {}
func (*Unary) exprNode()     {}
func (*Binary) exprNode()    {}
func (*Cond) exprNode()      {}
func (*Call) exprNode()      {}
func (*Quoted) exprNode()    {}
