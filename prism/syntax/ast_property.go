package syntax

// Properties is a properties file: constants, labels and properties in source order.
type Properties struct {
	File     string
	Items    []PropItem
	Trailing Doc
	Span
}

// PropItem is a *ConstDecl, *LabelDecl or *Property.
type PropItem interface {
	Node
	propItem()
}

// Property is one property, with its optional name and the comment block above
// it, where `// RESULT:` annotations live.
type Property struct {
	Doc  Doc
	Name *Ident // nil when unnamed
	X    Expr
	Notes
	Span
}

func (*ConstDecl) propItem() {}
func (*LabelDecl) propItem() {}
func (*Property) propItem()  {}

// TemporalOp is a temporal operator.
type TemporalOp uint8

// The temporal operators; Until, WeakUntil and Release take two operands.
const (
	Next TemporalOp = iota
	Future
	Globally
	Until
	WeakUntil
	Release
)

// String returns the operator's letter.
func (op TemporalOp) String() string { return [...]string{"X", "F", "G", "U", "W", "R"}[op] }

// Temporal is a temporal operator with an optional time or step bound.
// X is nil for the unary operators.
type Temporal struct {
	Op    TemporalOp
	X, Y  Expr
	Bound *TimeBound // nil when unbounded
	// Costs are further bounds, which must all hold. In Storm's dialect F and U can have them.
	Costs []*CostBound
	Span
}

// CostBound is a bound on the reward or the number of steps of a path: `rew{"r"}<=b` or
// `steps<=k`.
type CostBound struct {
	Word   string // rew, steps or time
	Struct Expr   // a *Quoted; nil for the first structure, and without rewards
	Bound  *TimeBound
	// Timed says that the bound is on the time of a Markov automaton in JANI. It does not occur in the text.
	Timed bool
	Span
}

// TimeBound is the bound of a temporal operator: `<=e`, `<e`, `>=e`, `>e`,
// `=e` or `[lo,hi]`. A nil Low or High means that there is none on that side;
// `=e` has Equal set and the same expression on both sides.
type TimeBound struct {
	Low, High                 Expr
	IsLowStrict, IsHighStrict bool
	Equal                     bool
	Span
}

// Extremum says how an operator resolves nondeterminism: min or max, or minmax and so on for models
// with two kinds of nondeterminism.
type Extremum uint8

// The extrema. NoExtremum is `P=?` or a bounded operator.
const (
	NoExtremum Extremum = iota
	Min
	Max
	MinMin
	MinMax
	MaxMin
	MaxMax
)

// String returns the word as written, empty for NoExtremum.
func (e Extremum) String() string {
	return [...]string{"", "min", "max", "minmin", "minmax", "maxmin", "maxmax"}[e]
}

// Threshold is the text between an operator's letter and its brackets: `=?`, `min=?`, `>=p` and so
// on. Rel is OpNone for a query (`=?`), otherwise OpLt, OpLe, OpGt or OpGe with a Bound that is
// not nil.
type Threshold struct {
	Extremum Extremum
	Rel      Op
	Bound    Expr
}

// Prob is the P operator. Modifier is the optional `P(modifier)`.
type Prob struct {
	Modifier *Ident
	Threshold
	Path   Expr
	Filter *OldFilter
	Span
}

// Steady is the S operator.
type Steady struct {
	Modifier *Ident
	Threshold
	X      Expr
	Filter *OldFilter
	Span
}

// Reward is the R operator. Struct is nil for the default structure, a *Quoted
// for a named one, and otherwise an integer expression (1-based index). DivisorStruct is
// the second structure of a ratio `R{"a"}/{"b"}`.
//
// Time is set for Storm's T operator, the expected time; then Struct is TimeRewards.
type Reward struct {
	Modifier              *Ident
	IsTimeReward          bool
	Struct, DivisorStruct Expr
	Threshold
	Path   Expr // *RewardPath, or a path formula
	Filter *OldFilter
	Span
}

// RewardPathKind is the kind of a reward objective other than a path formula.
type RewardPathKind uint8

// The reward objectives.
const (
	Cumulative        RewardPathKind = iota // C<=t, or total C when Bound is nil
	Instantaneous                           // I=t
	LongRun                                 // S
	UntilReached                            // Fc: the reward until the target; all of it on a path that never reaches it
	ZeroUnlessReached                       // F0: the same, but 0 on a path that never reaches it
)

// RewardPath is `C`, `C<=t`, `I=t` or `S` inside an R operator, or, of PRISM-games, `Fc target` or
// `F0 target`.
type RewardPath struct {
	Kind   RewardPathKind
	Bound  Expr
	Target Expr // nil unless Kind is UntilReached or ZeroUnlessReached
	// Costs are upper bounds on the rewards of other structures, which C can have in Storm's dialect
	// instead of Bound.
	Costs []*CostBound
	// Discount is the discount factor of Cdiscount=d and of C<=t discount=d in Storm's dialect; nil for none.
	Discount Expr
	Span
}

// Conditional is `X || Condition` in the brackets of a P or R operator: the value of X over the paths that
// satisfy Condition. Only Storm's dialect has it.
type Conditional struct {
	X         Expr // a path formula, or in R a reward objective
	Condition Expr // a path formula
	Span
}

// Quant is the CTL operator `E [ … ]` or `A [ … ]`.
type Quant struct {
	All  bool
	Path Expr
	Span
}

// Strategy is `<<coalition>> X` or `[[coalition]] X`.
type Strategy struct {
	IsBox     bool     // [[ ]]
	All       bool     // *
	Coalition []*Ident // names of players, or their numbers from 1
	X         Expr
	Span
}

// Filter is `filter(op, X, States)`. States is nil when omitted.
type Filter struct {
	Op     string
	OpPos  Pos
	X      Expr
	States Expr
	Span
}

// OldFilter is the old `{states}{min}{max}` at the end of P, S and R.
type OldFilter struct {
	States   Expr
	Min, Max bool
	Span
}

// Op returns the operator op for which filter(op, ..., states) means the same as this filter {states}{min}{max} in an operator with the given
// threshold. "state" requires that exactly one state satisfies the filter. "forall" requires that the bound of the threshold holds in all states
// of the filter.
func (f *OldFilter) Op(threshold Threshold) string {
	switch {
	case threshold.Rel != OpNone:
		return "forall"
	case f.Min && f.Max:
		return "range"
	case f.Min:
		return "min"
	case f.Max:
		return "max"
	}
	return "state"
}

func (*Temporal) exprNode()    {}
func (*Prob) exprNode()        {}
func (*Steady) exprNode()      {}
func (*Reward) exprNode()      {}
func (*RewardPath) exprNode()  {}
func (*Conditional) exprNode() {}
func (*Quant) exprNode()       {}
func (*Strategy) exprNode()    {}
func (*Filter) exprNode()      {}
